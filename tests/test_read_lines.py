"""Which lines of a note come back."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import PathError
from recollect.files.read import DEFAULT_LINES, MAX_CHARACTERS, _excerpt, read_lines
from recollect.paths import Workspace
from recollect.types import Excerpt
from tests.support import untimed


def read(
    root: Path, path: str, *, start: int | None = None, lines: int | None = None, limit: int = 1_000_000
) -> Excerpt:
    return read_lines(Workspace.at(root), (), path, start, lines, limit)


@pytest.fixture
def long(workspace: Path) -> Path:
    """A workspace with a note of 300 short lines."""
    text = "".join(f"line {number}\n" for number in range(1, 301))
    (workspace / "memory" / "long.md").write_text(text, encoding="utf-8")
    return workspace


def test_by_default_120_lines(long: Path) -> None:
    excerpt = read(long, "memory/long.md")
    assert (excerpt.lines, excerpt.truncated, excerpt.next_start) == (DEFAULT_LINES, True, 121)


def test_a_slice(long: Path) -> None:
    excerpt = read(long, "memory/long.md", start=10, lines=3)
    assert excerpt == Excerpt(
        "memory/long.md", "line 10\nline 11\nline 12", 10, 3, truncated=True, next_start=13
    )


def test_the_last_lines(long: Path) -> None:
    assert read(long, "memory/long.md", start=299, lines=50) == Excerpt(
        "memory/long.md", "line 299\nline 300", 299, 2
    )


@pytest.mark.parametrize("start", [301, 302, 10**30])
def test_past_the_end_is_empty(long: Path, start: int) -> None:
    assert read(long, "memory/long.md", start=start) == Excerpt("memory/long.md", "", start, 0)


@pytest.mark.parametrize("start", [0, -1, -(10**30), None])
def test_before_the_start_is_the_start(long: Path, start: int | None) -> None:
    assert read(long, "memory/long.md", start=start, lines=1).text == "line 1"


@pytest.mark.parametrize("lines", [0, -5])
def test_at_least_one_line(long: Path, lines: int) -> None:
    assert read(long, "memory/long.md", lines=lines).text == "line 1"


def test_an_empty_note(workspace: Path) -> None:
    (workspace / "memory" / "a.md").write_text("", encoding="utf-8")
    assert read(workspace, "memory/a.md") == Excerpt("memory/a.md", "", 1, 0)


def test_windows_lines_count_as_in_the_index(workspace: Path) -> None:
    (workspace / "memory" / "a.md").write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
    assert read(workspace, "memory/a.md", start=2).text == "two"


def test_no_more_than_12_000_characters(workspace: Path) -> None:
    (workspace / "memory" / "a.md").write_text(("x" * 999 + "\n") * 20, encoding="utf-8")
    excerpt = read(workspace, "memory/a.md")
    assert (excerpt.lines, excerpt.truncated, excerpt.next_start) == (12, True, 13)


def test_an_overlong_line_is_cut(workspace: Path) -> None:
    (workspace / "memory" / "a.md").write_text("x" * 50_000, encoding="utf-8")
    excerpt = read(workspace, "memory/a.md")
    assert (len(excerpt.text), excerpt.truncated, excerpt.next_start) == (MAX_CHARACTERS, True, None)


def test_after_an_overlong_line_comes_the_next(workspace: Path) -> None:
    (workspace / "memory" / "a.md").write_text("x" * 50_000 + "\nafter\n", encoding="utf-8")
    assert read(workspace, "memory/a.md").next_start == 2


def test_a_line_of_exactly_the_limit_is_whole(workspace: Path) -> None:
    (workspace / "memory" / "a.md").write_text("x" * MAX_CHARACTERS + "\n", encoding="utf-8")
    assert not read(workspace, "memory/a.md").truncated


def test_a_note_above_the_size_limit(workspace: Path) -> None:
    (workspace / "memory" / "a.md").write_text("alpha", encoding="utf-8")
    with pytest.raises(PathError, match="above the limit"):
        read(workspace, "memory/a.md", limit=3)


@pytest.mark.parametrize(
    ("content", "reason"), [(b"\0", "is binary"), (b"ok\n\xff", r"not valid UTF-8 \(line 2\)")]
)
def test_a_note_that_is_no_text(workspace: Path, content: bytes, reason: str) -> None:
    (workspace / "memory" / "a.md").write_bytes(content)
    with pytest.raises(PathError, match=reason):
        read(workspace, "memory/a.md")


line_texts = st.one_of(
    st.text(alphabet="ab 你😀\r", max_size=20), st.integers(1, MAX_CHARACTERS).map("x".__mul__)
)


@untimed
@given(st.lists(line_texts, max_size=40), st.integers(1, 50), st.booleans())
def test_following_next_start_reads_every_line_once(lines: list[str], count: int, closed: bool) -> None:
    text = "\n".join(lines) + ("\n" if closed else "")
    every = text.split("\n")
    if not every[-1]:
        every.pop()
    gathered: list[str] = []
    start: int | None = 1
    while start is not None:
        excerpt = _excerpt("a.md", text, start, count)
        assert excerpt.start == start
        assert len(excerpt.text) <= MAX_CHARACTERS
        gathered += excerpt.text.split("\n") if excerpt.lines else []
        assert len(gathered) == start - 1 + excerpt.lines
        assert excerpt.truncated == (excerpt.next_start is not None)
        start = excerpt.next_start
    assert gathered == every


@untimed
@given(st.lists(st.integers(0, 30_000), max_size=10), st.integers(1, 12), st.integers(1, 12))
def test_what_is_missing_is_told(lengths: list[int], start: int, count: int) -> None:
    lines = ["x" * length for length in lengths]
    excerpt = _excerpt("a.md", "".join(f"{line}\n" for line in lines), start, count)
    rest = "\n".join(lines[start - 1 :])
    assert excerpt.truncated == (excerpt.text != rest)
