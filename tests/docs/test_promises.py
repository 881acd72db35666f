"""Every promise has tests, and what they say gets into the page."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, text_of
from write_promises import PROMISES, main, render_page


def marked() -> Iterator[str]:
    """Yield each promise that a test is marked with."""
    for file in (ROOT / "tests").rglob("test_*.py"):
        source = text_of(file)
        if "mark.promise" in source and file != Path(__file__):
            for node in ast.walk(ast.parse(source)):
                if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.promise":
                    yield from map(ast.literal_eval, node.args)


def test_every_promise_has_tests_and_every_mark_is_a_promise() -> None:
    assert set(marked()) == PROMISES.keys()


@pytest.mark.parametrize("page", ["SECURITY.md", "docs/reliability.md"])
def test_a_page_about_security_names_every_promise(page: str) -> None:
    assert set(re.findall(r"\bP\d+\b", text_of(ROOT / page))) == PROMISES.keys()


def test_every_promise_was_tested_at_the_last_run() -> None:
    rows = re.findall(r"^\| \[(P\d+)\]\(#p\d+\) \| ([\d,]+) \|", render_page(), re.MULTILINE)
    assert [name for name, tests in rows if tests != "0"] == list(PROMISES)


def test_no_promise_was_broken_at_the_last_run() -> None:
    rows = re.findall(
        r"^\| \[P\d+\]\(#p\d+\) \| [\d,]+ \| [\d,]+ \| ([\d,]+) \|", render_page(), re.MULTILINE
    )
    assert rows == ["0"] * len(PROMISES)


def test_results_are_kept_by_promise_and_file(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text(
        "import pytest\n"
        "pytestmark = pytest.mark.promise('P1')\n"
        "@pytest.mark.promise('P2')\n"
        "@pytest.mark.parametrize('number', [1, 2])\n"
        "def test_holds(number): pass\n"
        "def test_fails(): assert False\n"
        "def test_cannot_be_run(): pytest.skip('not here')\n"
        "@pytest.mark.xfail\n"
        "def test_is_a_known_limit(): assert False\n",
        encoding="utf-8",
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = promise\n", encoding="utf-8")
    subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.promises", "-p", "no:cacheprovider", "--rootdir",
         tmp_path, "-c", tmp_path / "pytest.ini", "--promises", tmp_path / "results.json", tmp_path],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        timeout=100,
        check=False,
    )  # fmt: skip
    kept = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))["promises"]
    assert kept == {
        "P1": {"test_some.py": {"passed": 2, "failed": 1, "skipped": 1, "known": 1, "tests": 4}},
        "P2": {"test_some.py": {"passed": 2, "tests": 1}},
    }


def test_the_generator_explains_itself() -> None:
    with pytest.raises(SystemExit, match="usage"):
        main([])
