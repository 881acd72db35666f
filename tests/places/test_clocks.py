"""Notes from before 1980 or far ahead, and a clock that was never set, lose nothing and stop nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.memories import write
from tests.programs import environment, program

NOTES = {"epoch.md": "# Epoch\n\nHerons of 1970.\n", "early.md": "Herons of 1950.\n", "late.md": "Of 2500.\n"}
TIMES = {"epoch.md": 0, "early.md": -630_000_000, "late.md": 16_725_225_600}

FIRST_MONTH = """\
import datetime, sys, time
class Early(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(time.time(), tz)
datetime.datetime = Early
time.time, time.time_ns = lambda: 86_400.0 * 20, lambda: 86_400 * 20 * 10**9
from memlines.cli.start import main
main()
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A workspace with notes of all times."""
    write(tmp_path / "shop", NOTES)
    for name, seconds in TIMES.items():
        os.utime(tmp_path / "shop" / "memory" / name, (seconds, seconds))
    return tmp_path / "shop"


def test_notes_of_all_times_are_found_packed_and_brought_back(shop: Path, tmp_path: Path) -> None:
    found = program("search", "-w", shop, "herons")
    assert (found.returncode, found.stderr) == (0, b"")
    packed = program("export", tmp_path / "notes.zip", "-w", shop)
    assert packed.returncode == 0, packed.stderr
    names = {Path(name).name for name in zipfile.ZipFile(tmp_path / "notes.zip").namelist()}
    assert names > set(NOTES)
    (tmp_path / "new").mkdir()
    merged = program("import", tmp_path / "notes.zip", "-w", tmp_path / "new")
    assert merged.returncode == 0, merged.stderr
    for name, text in NOTES.items():
        assert (tmp_path / "new" / "memory" / name).read_text(encoding="utf-8") == text


def test_a_clock_that_was_never_set_is_no_hindrance(shop: Path) -> None:
    def run(*arguments: str) -> str:
        words = [sys.executable, "-c", FIRST_MONTH, arguments[0], "-w", str(shop), *arguments[1:]]
        done = subprocess.run(words, env=environment({}), capture_output=True, timeout=60, check=False)
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout.decode()

    assert "memory/1970-01-21.md" in run("remember", "The kestrel nests in May")
    assert "The kestrel nests in May" in run("search", "kestrel")
    assert "undone" in run("undo").lower() or not (shop / "memory" / "1970-01-21.md").exists()
    assert {path.name for path in (shop / "memory").glob("*e*.md")} >= set(NOTES)
