"""Tables that pages write by hand list what the program has, no more and no less."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import get_args

import pytest

from memlines.admin.doctor.examine import CHECKS
from memlines.admin.doctor.findings import Repair
from memlines.admin.evaluation.sets import METRICS
from memlines.files.scan import IGNORED_DIRS
from memlines.index.store.sqlite.db import open_reader
from memlines.memory.memory import Memory
from memlines.serve.http.listener import MOST_CONNECTIONS, SECONDS_FOR_BODY, SECONDS_FOR_HEADERS
from memlines.serve.mcp.offers import MOST_CHARACTERS, PAGE
from memlines.serve.mcp.server import HANDSHAKE, STATELESS
from memlines.settings.keys import known_keys
from tests.docs.pages import PAGES, ROOT, in_line, shown, text_of
from write_settings import default_of

PROJECT = tomllib.loads(text_of(ROOT / "pyproject.toml"))["project"]


def section(page: str, heading: str) -> str:
    """Return what stands below a heading."""
    return text_of(ROOT / "docs" / page).partition(f"## {heading}\n")[2].partition("\n## ")[0]


def first_cells(text: str) -> list[str]:
    """Return the first cell of every row of a table, without its head."""
    rows = re.findall(r"^\| ([^|]*?) \|", text, re.MULTILINE)
    return [name.strip("`") for row in rows[1:] for name in row.split(", ")]


def names(requirements: list[str]) -> set[str]:
    """Return the packages that requirements name."""
    return {re.split(r"[\[<>=~!]", requirement)[0] for requirement in requirements}


def test_the_page_of_the_doctor_lists_every_check_in_its_order() -> None:
    assert first_cells(section("doctor.md", "What is checked")) == [name for name, _ in CHECKS]


def test_the_page_of_the_doctor_lists_every_repair_in_its_order() -> None:
    assert first_cells(section("doctor.md", "Repairing")) == list(get_args(Repair))


def test_the_doctor_is_shown_with_every_check() -> None:
    shown_checks = re.findall(
        r"^(?:ok|warning) +([a-z-]+) ", text_of(ROOT / "docs" / "doctor.md"), re.MULTILINE
    )
    silent = {"old-name"}  # which finds nothing in a memory that began by the new one
    assert list(dict.fromkeys(shown_checks)) == [name for name, _ in CHECKS if name not in silent]


def test_every_dependency_is_explained() -> None:
    told = re.findall(r"^\| \[([^]]+)\]", section("dependencies.md", "Always installed"), re.MULTILINE)
    assert set(told) == names(PROJECT["dependencies"])


@pytest.mark.parametrize("extra", PROJECT["optional-dependencies"])
def test_every_extra_is_explained_with_its_packages(extra: str) -> None:
    rows = section("dependencies.md", "Extras")
    (row,) = re.findall(rf"^\| `{extra}` .*$", rows, re.MULTILINE)
    needed = names(PROJECT["optional-dependencies"][extra]) - {"memlines"}
    assert [name for name in sorted(needed) if not re.search(rf"(?<![\w-]){name}(?![\w-])", row)] == []


def test_every_figure_of_an_evaluation_is_explained() -> None:
    told = " ".join(first_cells(section("evaluation.md", "Figures")))
    assert set(re.findall(r"[a-z]+(?:@\w+)?", told)) >= {
        re.sub(r"(any|all|rec|line)@\d+", r"\1@k", name) for name in METRICS
    }


def test_the_folders_that_are_left_out_are_listed() -> None:
    told = re.findall(r"Left out silently: (.*?)\n\n", text_of(ROOT / "docs" / "files.md"), re.DOTALL)[0]
    assert set(re.findall(r"`([^`]+)`", told)) - {".md"} == IGNORED_DIRS


def test_the_tables_of_the_index_are_listed(workspace: Path) -> None:
    (workspace / "memory" / "a.md").write_text("We chose Postgres.\n", encoding="utf-8")
    with Memory(workspace) as memory:
        memory.sync()
    database = open_reader(workspace / ".memory" / "index.sqlite")
    made = {row[0] for row in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    database.close()
    own = {name for name in made if not name.startswith(("chunks_fts_", "sqlite_"))}
    assert set(first_cells(section("files.md", "The index"))) == own


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_every_default_that_a_page_gives_is_the_real_one(page: Path) -> None:
    tables = re.findall(r"^\| key \| default \|.*\n\|[-|]+\n((?:\|.*\n)+)", text_of(page), re.MULTILINE)
    for name, told in re.findall(r"^\| `([a-z_.]+)` \| ([^|]*) \|", "".join(tables), re.MULTILINE):
        assert told in {default_of(known_keys()[name]), ""}, name


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_every_test_that_is_named_exists(page: Path) -> None:
    for piece in in_line(page):
        file, _, name = piece.removeprefix("tests/").partition("::")
        if not re.fullmatch(r"(?:\w+/)*test_\w+\.py", file):
            continue
        places = [ROOT / "tests" / file, ROOT / "tests" / "faults" / file]
        found = [place for place in places if place.exists()]
        assert found, piece
        assert not name or re.search(rf"^(?:async )?def {name}\(", text_of(found[0]), re.MULTILINE), piece


def test_the_versions_and_limits_of_mcp_are_those_of_the_server() -> None:
    versions = re.findall(r"\b20\d\d-\d\d-\d\d\b", section("mcp.md", "Versions"))
    assert sorted(versions) == sorted([*HANDSHAKE, *STATELESS])
    told = section("mcp.md", "HTTP")
    assert f"Headers have to arrive within {SECONDS_FOR_HEADERS:g} seconds" in told
    assert f"a body within {SECONDS_FOR_BODY:g}" in told
    assert f"{MOST_CONNECTIONS} clients are served at once" in told
    resources = section("mcp.md", "Resources")
    assert f"gives {PAGE} a page" in resources
    assert f"after {MOST_CHARACTERS:,} characters" in resources


@pytest.mark.parametrize("page", ["README.md", "docs/comparison.md"])
def test_every_entry_about_another_program_has_a_source(page: str) -> None:
    text = text_of(ROOT / page)
    sources = set(re.findall(r"^\[([\w-]+)\]: https://\S+$", text, re.MULTILINE))
    table = text.partition("| | Memlines | OpenClaw |")[2].partition("\n\n")[0].splitlines()[2:]
    entries = [entry for row in table for entry in row.strip("| ").split(" | ")[2:]]
    assert len(entries) == 6 * len(table) > 0
    cited = [re.fullmatch(r"\[[^]]+\]\[([\w-]+)\]", entry) for entry in entries if entry != "\N{EN DASH}"]
    assert {link[1] if link else "" for link in cited} <= sources
