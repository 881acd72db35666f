"""Which lines of a note come back."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.errors import PathError
from memlines.files.read import DEFAULT_LINES, MAX_CHARACTERS, excerpt_of, read_lines
from memlines.paths import Workspace
from memlines.types import Excerpt


def read(
    root: Path,
    path: str,
    *,
    start: int | None = None,
    lines: int | None = None,
    column: int | None = None,
    limit: int = 1_000_000,
) -> Excerpt:
    return read_lines(Workspace.at(root), (), path, start, lines, limit, column)


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
        "memory/long.md", "line 10\nline 11\nline 12", 10, 3, truncated=True, next_start=13, total_lines=300
    )


def test_the_last_lines(long: Path) -> None:
    assert read(long, "memory/long.md", start=299, lines=50) == Excerpt(
        "memory/long.md", "line 299\nline 300", 299, 2, total_lines=300
    )


@pytest.mark.parametrize("start", [301, 302, 10**30])
def test_past_the_end_is_empty(long: Path, start: int) -> None:
    assert read(long, "memory/long.md", start=start) == Excerpt(
        "memory/long.md", "", start, 0, total_lines=300
    )


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
    assert (len(excerpt.text), excerpt.truncated) == (MAX_CHARACTERS, True)
    assert (excerpt.next_start, excerpt.next_column) == (1, MAX_CHARACTERS + 1)


def test_the_rest_of_an_overlong_line_and_the_lines_after_it_can_be_read(workspace: Path) -> None:
    (workspace / "memory" / "a.md").write_text("x" * 12_000 + "yz\nafter\n", encoding="utf-8")
    excerpt = read(workspace, "memory/a.md", column=12_001)
    assert (excerpt.text, excerpt.truncated, excerpt.next_column) == ("yz\nafter", False, None)


def test_a_column_beyond_the_line_leaves_nothing_of_it(workspace: Path) -> None:
    (workspace / "memory" / "a.md").write_text("one\ntwo\n", encoding="utf-8")
    assert read(workspace, "memory/a.md", column=4).text == "\ntwo"


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
    st.text(alphabet="ab 你😀\r", max_size=20), st.integers(1, 3 * MAX_CHARACTERS).map("x".__mul__)
)


@given(st.lists(line_texts, max_size=40), st.integers(1, 50), st.booleans())
def test_following_next_start_and_next_column_reads_everything_once(
    lines: list[str], count: int, closed: bool
) -> None:
    text = "\n".join(lines) + ("\n" if closed else "")
    every = text.split("\n")
    if not every[-1]:
        every.pop()
    gathered: list[str] = []
    start: int | None = 1
    column: int | None = None
    while start is not None:
        excerpt = excerpt_of("a.md", text, start, count, column or 1)
        assert (excerpt.start, excerpt.total_lines) == (start, len(every))
        assert len(excerpt.text) <= MAX_CHARACTERS
        taken = excerpt.text.split("\n") if excerpt.lines else []
        if column:
            gathered[-1] += taken.pop(0)
        gathered += taken
        assert excerpt.truncated == (excerpt.next_start is not None)
        start, column = excerpt.next_start, excerpt.next_column
    assert gathered == every


@given(st.lists(st.integers(0, 30_000), max_size=10), st.integers(1, 12), st.integers(1, 12))
def test_what_is_missing_is_told(lengths: list[int], start: int, count: int) -> None:
    lines = ["x" * length for length in lengths]
    excerpt = excerpt_of("a.md", "".join(f"{line}\n" for line in lines), start, count)
    rest = "\n".join(lines[start - 1 :])
    assert excerpt.truncated == (excerpt.text != rest)
