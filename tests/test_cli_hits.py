"""Hits on a terminal: wrapped at its width, the words that were found highlighted, eight rows at most."""

from __future__ import annotations

import errno
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support_cli import MAIN, Cli, environment
from tests.support_search import write

NOTE = """# Birds

## Where they nest

The kestrel nests on the roof of the old town hall, which was built in 1903 and has not been painted since.
"""
STYLE = re.compile(r"\x1b\[[0-9;]*m")


def on_terminal(columns: int, *arguments: str | Path, plain: bool = False) -> list[str]:
    """Run a command on a terminal of so many columns and return the lines that it shows."""
    reading, writing = pty.openpty()
    fcntl.ioctl(writing, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    env = environment({"COLUMNS": None, "LINES": None, "NO_COLOR": "1" if plain else None, "TERM": "xterm"})
    command = [sys.executable, "-c", MAIN, *map(str, arguments)]
    with subprocess.Popen(command, stdout=writing, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, env=env):
        os.close(writing)
        shown = b""
        try:
            while part := os.read(reading, 4096):
                shown += part
        except OSError as error:
            if error.errno != errno.EIO:  # how Linux says that the other side is closed
                raise
    os.close(reading)
    return shown.decode().replace("\r\n", "\n").split("\n")


def passage(lines: Sequence[str]) -> list[str]:
    """Return the rows of the first hit's passage, without colours: those below the heading above it."""
    rows = [STYLE.sub("", line) for line in lines]
    return rows[2 : rows.index("")]


@pytest.mark.parametrize("columns", [40, 60, 80, 120])
def test_a_passage_is_wrapped_at_the_width_of_the_terminal(workspace: Path, columns: int) -> None:
    write(workspace, {"birds.md": NOTE})
    rows = passage(on_terminal(columns, "search", "-w", workspace, "kestrel"))
    assert max(map(len, rows)) <= columns
    assert " ".join(row.strip() for row in rows) == NOTE.split("\n")[4]


def test_the_heading_stands_above_the_passage(workspace: Path) -> None:
    write(workspace, {"birds.md": NOTE})
    head, heading, *_ = on_terminal(80, "search", "-w", workspace, "kestrel")
    assert STYLE.sub("", head).endswith("  memory/birds.md#L5")
    assert STYLE.sub("", heading) == "      Birds > Where they nest"


def test_the_words_that_were_found_are_highlighted_in_their_form(workspace: Path) -> None:
    write(workspace, {"birds.md": NOTE})
    shown = "\n".join(on_terminal(80, "search", "-w", workspace, "kestrels nesting"))
    assert [STYLE.sub("", word) for word in re.findall(r"\x1b\[33m\x1b\[1m.*?\x1b\[0m", shown)] == [
        "kestrel",
        "nests",
    ]


def test_no_color_is_heeded(workspace: Path) -> None:
    write(workspace, {"birds.md": NOTE})
    assert "\x1b" not in "".join(on_terminal(80, "search", "-w", workspace, "kestrel", plain=True))


def test_at_most_eight_rows_are_shown_and_only_they_are_cited(workspace: Path) -> None:
    items = [
        f"- Entry {number} says a few words more than fit on a narrow terminal." for number in range(1, 9)
    ]
    items[4] = "- The kestrel nests on the roof of the old town hall, built in 1903."
    write(workspace, {"birds.md": "# Birds\n\n" + "\n".join(items) + "\n"})
    lines = on_terminal(40, "search", "-w", workspace, "kestrel")
    rows = passage(lines)
    first, last = map(int, re.findall(r"L(\d+)", STYLE.sub("", lines[0])))
    assert len(rows) <= 8
    assert " ".join(row.strip() for row in rows) == " ".join(items[first - 3 : last - 2])


def test_a_line_longer_than_eight_rows_is_cut_around_the_word(workspace: Path) -> None:
    write(workspace, {"a.md": "# A\n\n" + "nothing here " * 20 + "kestrel " + "nor there " * 40 + "\n"})
    rows = passage(on_terminal(40, "search", "-w", workspace, "kestrel"))
    assert len(rows) == 8
    assert any("kestrel" in row for row in rows)
    assert rows[0].strip().startswith("…")
    assert rows[-1].endswith("…")


def test_wide_characters_take_two_columns(workspace: Path) -> None:
    write(workspace, {"a.md": "# 鳥\n\n" + "隼は塔に巣を作る" * 10 + "\n"})
    rows = passage(on_terminal(40, "search", "-w", workspace, "隼"))
    assert max(len(row) - 6 for row in rows) == 17


def test_all_of_the_chunk_is_shown_if_asked_for(workspace: Path) -> None:
    write(workspace, {"birds.md": "# Birds\n\n" + "- The kestrel.\n" * 20})
    lines = on_terminal(80, "search", "-w", workspace, "--full", "kestrel")
    assert STYLE.sub("", lines[0]).endswith("memory/birds.md#L1-L22")
    assert len([line for line in lines if line.strip()]) == 22


def test_a_pipe_gets_every_line_as_it_is(
    workspace: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOLLECT_EMBEDDINGS__PROVIDER", "none")
    monkeypatch.setenv("COLUMNS", "40")
    write(workspace, {"birds.md": NOTE})
    outcome = Cli(capsys)("search", "-w", workspace, "kestrel")
    head, line, *_ = outcome.out.split("\n")
    assert head.endswith("  memory/birds.md#L5  Birds > Where they nest")
    assert line == "      " + NOTE.split("\n")[4]
