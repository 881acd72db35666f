"""Hits on a terminal: wrapped at its width and whole, the words that were found highlighted."""

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
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.cli import hits
from tests.memories import write
from tests.programs import MAIN, Cli, environment

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


WIDTHS = [40, 60, 80, 120]


def cells(text: str) -> int:
    """Return how many columns a text takes."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


@pytest.mark.parametrize("columns", WIDTHS)
def test_a_passage_is_wrapped_at_the_width_of_the_terminal(workspace: Path, columns: int) -> None:
    write(workspace, {"birds.md": NOTE})
    rows = passage(on_terminal(columns, "search", "-w", workspace, "kestrel"))
    assert max(map(len, rows)) <= columns
    assert all(row.startswith("      ") for row in rows)
    assert " ".join(row.strip() for row in rows) == NOTE.split("\n")[4]


def test_the_heading_stands_above_the_passage(workspace: Path) -> None:
    write(workspace, {"birds.md": NOTE})
    head, heading, *_ = on_terminal(80, "search", "-w", workspace, "kestrel")
    assert STYLE.sub("", head).endswith("  memory/birds.md#L5")
    assert STYLE.sub("", heading) == "      Birds > Where they nest"


@pytest.mark.parametrize("columns", WIDTHS)
def test_score_band_and_a_long_citation_are_whole(workspace: Path, columns: int) -> None:
    path = "memory/projects/survey-of-the-northern-district/what-was-seen-in-the-spring.md"
    heading = "What the volunteers of the northern district saw in the first spring of the survey"
    write(workspace, {path: f"# {heading}\n\nThe kestrel nests.\n"})
    lines = on_terminal(columns, "search", "-w", workspace, "--why", "kestrel")
    rows = [STYLE.sub("", line) for line in lines]
    assert max(map(len, rows)) <= columns
    assert re.match(r"0\.\d\d (strong|likely)  memory/", rows[0])
    assert f"{path}#L3" in "".join(row.strip() for row in rows)
    said = " ".join(row.strip() for row in rows)
    assert heading in said
    assert "words: kestrel; lexical 0." in said


@pytest.mark.parametrize("columns", WIDTHS)
def test_that_nothing_is_sure_or_found_is_wrapped_too(workspace: Path, columns: int) -> None:
    notes = {f"filler{number}.md": f"Ordinary note {number}.\n" for number in range(9)}
    write(workspace, {"birds.md": NOTE, **notes})
    unsure = on_terminal(columns, "search", "--mode", "words", "-w", workspace, "kestrel a1 b2 c3 d4 e5")
    assert unsure[0] == "No confident match. Nearest lines:"
    nothing = on_terminal(columns, "search", "--mode", "words", "-w", workspace, "zeppelin")
    assert max(map(len, nothing)) <= columns
    assert " ".join(nothing).strip() == "Nothing in memory answers this. Try other words."


def test_the_words_that_were_found_are_highlighted_in_their_form(workspace: Path) -> None:
    write(workspace, {"birds.md": NOTE})
    shown = "\n".join(on_terminal(80, "search", "-w", workspace, "kestrels nesting"))
    assert highlighted(shown) == ["kestrel", "nests"]


def highlighted(shown: str) -> list[str]:
    """Return the parts of an output that are highlighted."""
    return [STYLE.sub("", word) for word in re.findall(r"\x1b\[33m\x1b\[1m.*?\x1b\[0m", shown)]


def test_no_color_is_heeded(workspace: Path) -> None:
    write(workspace, {"birds.md": NOTE})
    assert "\x1b" not in "".join(on_terminal(80, "search", "-w", workspace, "kestrel", plain=True))


@pytest.mark.parametrize("columns", WIDTHS)
def test_nothing_of_a_passage_is_cut_off(workspace: Path, columns: int) -> None:
    items = [
        f"- Entry {number} of the list says more than fits on a narrow terminal." for number in range(1, 9)
    ]
    items[4] = "- The kestrel nests on the roof of the old town hall, built in 1903."
    write(workspace, {"birds.md": "# Birds\n\n" + "\n".join(items) + "\n"})
    lines = on_terminal(columns, "search", "-w", workspace, "kestrel")
    first, last = map(int, re.findall(r"L(\d+)", STYLE.sub("", lines[0])))
    assert " ".join(row.strip() for row in passage(lines)) == " ".join(items[first - 3 : last - 2])


@pytest.mark.parametrize("columns", WIDTHS)
def test_the_indentation_of_a_line_is_kept(workspace: Path, columns: int) -> None:
    nested = "    - The kestrel nests on the roof of the old town hall, which was built in 1903."
    write(workspace, {"birds.md": f"# Birds\n\n- Nests:\n{nested}\n"})
    rows = passage(on_terminal(columns, "search", "-w", workspace, "kestrel"))
    at = next(at for at, row in enumerate(rows) if "kestrel" in row)
    assert rows[at].startswith("          - The kestrel")
    assert all(row.startswith("            ") and row[12] != " " for row in rows[at + 1 :])
    assert len(rows) == at + 1 or columns < 120


@pytest.mark.parametrize("columns", WIDTHS)
def test_a_word_longer_than_a_row_is_broken_and_stays_whole(workspace: Path, columns: int) -> None:
    address = "https://example.org/birds/of-the-town/kestrel/" + "0123456789abcdef" * 9
    write(workspace, {"a.md": f"# A\n\n- The kestrel: {address}, see there.\n"})
    rows = passage(on_terminal(columns, "search", "-w", workspace, "kestrel"))
    assert max(map(len, rows)) <= columns
    assert address in "".join(row.strip() for row in rows)


@pytest.mark.parametrize("columns", WIDTHS)
def test_wide_characters_take_two_columns(workspace: Path, columns: int) -> None:
    line = "Tower: " + "隼は塔に巣を作る" * 10
    write(workspace, {"a.md": f"# 鳥\n\n{line}\n"})
    shown = on_terminal(columns, "search", "-w", workspace, "塔に")
    rows = passage(shown)
    assert all(columns - 2 < cells(row) <= columns for row in rows[:-1])
    assert "".join(row.strip() for row in rows) == line
    assert "".join(highlighted("\n".join(shown))) == "塔に" * 10


def test_all_of_the_chunk_is_shown_if_asked_for(workspace: Path) -> None:
    write(workspace, {"birds.md": "# Birds\n\n" + "- The kestrel.\n" * 20})
    lines = on_terminal(80, "search", "-w", workspace, "--full", "kestrel")
    assert STYLE.sub("", lines[0]).endswith("memory/birds.md#L1-L22")
    assert len([line for line in lines if line.strip()]) == 22


def test_a_pipe_gets_every_line_as_it_is(
    workspace: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMLINES_EMBEDDINGS__PROVIDER", "none")
    monkeypatch.setenv("COLUMNS", "40")
    write(workspace, {"birds.md": NOTE})
    outcome = Cli(capsys)("search", "-w", workspace, "kestrel")
    head, line, *_ = outcome.out.split("\n")
    assert head.endswith("  memory/birds.md#L5  Birds > Where they nest")
    assert line == "      " + NOTE.split("\n")[4]


PIECES = [
    "a",
    "bird",
    " ",
    "  ",
    "- ",
    "https://example.org/a/b?c=" + "d" * 30,
    "隼",
    "は塔",
    "e\u0301",
    "👩\u200d🚀",
]


@given(st.lists(st.sampled_from(PIECES), max_size=25), st.integers(8, 60), st.integers(0, 4))
def test_rows_fit_and_hold_the_whole_text(pieces: list[str], width: int, hanging: int) -> None:
    text = "".join(pieces).rstrip()
    rows = hits._wrap(text, width, hanging)
    shown = [text[begin:end] for begin, end in rows]
    assert all(hits._cells(row) <= width - (hanging if at else 0) for at, row in enumerate(shown))
    assert "".join(shown).replace(" ", "") == text.replace(" ", "")
    assert rows == sorted(rows)
