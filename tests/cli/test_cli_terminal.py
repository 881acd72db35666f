"""What a person sees on a real terminal: a progress bar that fits, and questions that may be answered no."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from memlines.cli.output import bar_line
from memlines.memory.memory import Memory
from tests.indexes import notes, sync, write
from tests.programs import MAIN, Cli, environment, program
from tests.providers import FakeProvider


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(capsys)


def on_terminal(columns: int, *arguments: str | Path, typed: bytes = b"") -> tuple[int, str]:
    """Run a command on a terminal of so many columns; return its exit code and all that it wrote there."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    env = environment({"COLUMNS": None, "LINES": None, "TERM": "xterm"})
    command = [sys.executable, "-c", MAIN, *map(str, arguments)]
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=env)
    os.close(theirs)
    os.write(ours, typed)
    shown = b""
    while True:
        try:
            part = os.read(ours, 65_536)
        except OSError:  # how Linux says that the other end is closed
            break
        if not part:
            break
        shown += part
    os.close(ours)
    return process.wait(timeout=60), shown.decode()


def rows(shown: str) -> list[str]:
    """Return what was drawn on one row after the other, each drawing of a row by itself."""
    return [re.sub(r"\x1b\[[0-9;]*m", "", row) for row in re.split(r"[\r\n]+", shown)]


@pytest.mark.parametrize("columns", [20, 40, 41, 80, 200])
def test_the_bar_never_reaches_the_last_column(workspace: Path, columns: int) -> None:
    write(workspace, notes(60))
    code, shown = on_terminal(columns, "sync", "-w", workspace)
    drawn = [row for row in rows(shown) if row.startswith("indexing")]
    assert (code, drawn[-1].rstrip().endswith("100%")) == (0, True)
    assert max(map(len, drawn)) < columns
    assert any("[#" in row for row in drawn) == (columns >= 40)


def test_a_bar_is_drawn_over_itself(workspace: Path) -> None:
    write(workspace, notes(60))
    _, shown = on_terminal(40, "sync", "-w", workspace)
    indexing = [part for part in shown.split("\n") if "indexing" in part]
    assert len(indexing) == 1
    assert indexing[0].startswith("\rindexing")


@pytest.mark.parametrize("columns", [0, 1, 5, 20, 39, 40, 60, 80, 300])
@pytest.mark.parametrize(
    "label", ["indexing", "waiting for process 12345 since 2026-11-16T20:00:00+00:00", "a\nb"]
)
@pytest.mark.parametrize(("share", "seconds"), [(0.0, 0.0), (0.001, 59.0), (0.5, 3.0), (1.0, 100.0)])
def test_a_line_of_the_bar_fits_any_terminal(label: str, share: float, seconds: float, columns: int) -> None:
    line = bar_line(label, share, seconds, columns)
    assert "\n" not in line
    assert len(line) < columns or columns < 20


def test_a_pipe_gets_no_bar(workspace: Path) -> None:
    write(workspace, notes(20))
    done = program("sync", "-w", workspace)
    assert (done.stderr, b"\r" in done.stdout) == (b"", False)


# Vectors in the report of a sync


def test_sync_says_how_many_vectors_were_made(workspace: Path, cli: Cli) -> None:
    write(workspace, notes(3))
    assert cli("sync", "-w", workspace).out == "3 indexed, 0 unchanged, 0 removed, 3 vectors made\n"
    told = cli("sync", "--json", "-w", workspace).json
    assert (told["vectors_made"], told["vectors_cached"], told["pending"]) == (0, 0, 0)


def test_a_vector_that_is_known_comes_from_the_cache(workspace: Path) -> None:
    write(workspace, notes(3))
    first = sync(workspace, FakeProvider())
    (workspace / "memory/n1.md").unlink()
    sync(workspace, FakeProvider())
    write(workspace, {"memory/n1.md": notes(3)["memory/n1.md"], "memory/new.md": "just came\n"})
    again = sync(workspace, FakeProvider())
    assert (first.vectors_made, first.vectors_cached) == (3, 0)
    assert (again.vectors_made, again.vectors_cached) == (1, 1)


def test_the_vectors_that_wait_are_told(workspace: Path) -> None:
    write(workspace, notes(3))
    report = sync(workspace, FakeProvider(fails_after=0))
    assert (report.vectors_made, report.vectors_cached, report.pending) == (0, 0, 3)


# Questions


@pytest.mark.parametrize("answer", [b"n\n", b"no\n", b"\n", b"N\n"])
def test_no_to_forgetting_is_no_error(workspace: Path, answer: bytes) -> None:
    write(workspace, {"memory/a.md": "- the kestrel nests on the roof\n"})
    code, shown = on_terminal(80, "forget", "memory/a.md#L1", "-w", workspace, typed=answer)
    assert (code, "Nothing was forgotten." in shown) == (0, True)
    assert (workspace / "memory/a.md").read_text(encoding="utf-8") == "- the kestrel nests on the roof\n"


@pytest.mark.parametrize("answer", [b"n\n", b"no\n", b"none\n", b"\n"])
def test_none_of_several_is_no_error(workspace: Path, answer: bytes) -> None:
    write(workspace, {"memory/a.md": "- the kestrel nests on the roof\n- the kestrel eats mice\n"})
    code, shown = on_terminal(80, "forget", "kestrel", "-w", workspace, typed=answer)
    assert (code, "Nothing was forgotten." in shown) == (0, True)


def test_an_answer_that_names_nothing_is_an_error(workspace: Path) -> None:
    write(workspace, {"memory/a.md": "- the kestrel nests on the roof\n- the kestrel eats mice\n"})
    assert on_terminal(80, "forget", "kestrel", "-w", workspace, typed=b"9\n")[0] == 2


def test_no_to_forgetting_facts_is_no_error(workspace: Path) -> None:
    with Memory(workspace, {"embeddings.provider": "none"}) as memory:
        name = memory.facts.store("Prefers tabs over spaces").line.fact.id
    code, shown = on_terminal(80, "facts", "forget", name, "-w", workspace, typed=b"n\n")
    assert (code, "Nothing was forgotten." in shown) == (0, True)
