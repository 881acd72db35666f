"""Changing a text by lines leaves everything else as it was."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memlines.text.edits import add, cut, locate, put, split, tidy
from memlines.text.entries import own_text_of, session_in
from tests.text.test_entries import MARKDOWN

ANY_TEXT = st.one_of(MARKDOWN, st.text())
BLOCK = st.one_of(
    st.sampled_from(["- new", "new", "- new\n  with more", "1. new", "```\nnew\n```", "# new"]),
    st.text(min_size=1).map(tidy).filter(bool),
)

EXAMPLE = "<!-- session s -->\n- a\n<!-- /session -->\n"


def words_of(text: str) -> list[str]:
    return [line.strip("\r") for line in text.split("\n") if line.strip()]


def lines_at(text: str, first: int, last: int) -> str:
    """Return some lines of a text with plain line ends."""
    return "\n".join(line.rstrip("\r\n") for line in split(text)[first - 1 : last])


# add


@pytest.mark.parametrize(
    ("text", "block", "expected"),
    [
        ("", "- a", "- a\n"),
        ("- a\n", "- b", "- a\n- b\n"),
        ("- a", "- b", "- a\n- b\n"),
        ("- a\n  - n\n", "- b", "- a\n  - n\n- b\n"),
        ("# T\n", "- a", "# T\n\n- a\n"),
        ("text\n", "- a", "text\n\n- a\n"),
        ("text", "more", "text\n\nmore\n"),
        ("- a\n", "text", "- a\n\ntext\n"),
        ("- a\n\n", "- b", "- a\n\n- b\n"),
        ("```\nx\n```\n", "- a", "```\nx\n```\n\n- a\n"),
        ("---\na: 1\n---\n", "- a", "---\na: 1\n---\n\n- a\n"),
        ("- a\r\n- b\r\n", "- c\n  d", "- a\r\n- b\r\n- c\r\n  d\r\n"),
        ("# T\r\n", "- a", "# T\r\n\r\n- a\r\n"),
    ],
)
def test_a_block_at_the_end(text: str, block: str, expected: str) -> None:
    assert add(text, block).text == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# A\n- a\n\n# B\n- b\n", "# A\n- a\n- x\n\n# B\n- b\n"),
        ("# A\n# B\n", "# A\n\n- x\n\n# B\n"),
        ("# A\n\n## Deep\n- d\n", "# A\n\n- x\n\n## Deep\n- d\n"),
        ("# A\ntext\n\n\n# B\n", "# A\ntext\n\n- x\n\n\n# B\n"),
        ("# A\n- a", "# A\n- a\n- x\n"),
        ("# B\n- b\n", "# B\n- b\n\n## A\n\n- x\n"),
        ("", "## A\n\n- x\n"),
        ("# A\r\n- a\r\n# B\r\n", "# A\r\n- a\r\n- x\r\n\r\n# B\r\n"),
    ],
)
def test_a_block_under_a_heading(text: str, expected: str) -> None:
    assert add(text, "- x", "A").text == expected


def test_a_heading_that_was_made_is_found_again() -> None:
    first = add("", "- x", "Plans and C #").text
    assert add(first, "- y", "plans AND c").text == "## Plans and C\n\n- x\n- y\n"


@pytest.mark.parametrize("text", ["```\nopen", "```\nopen\n", "- ```\n  open\n"])
def test_nor_is_it_made_inside_of_code(text: str) -> None:
    headed = add(text, "- x", "Plans").text
    assert headed.startswith(text)
    assert add(headed, "- y", "Plans").text == headed + "- y\n"


@given(ANY_TEXT, BLOCK)
def test_what_is_added_at_the_end_only_adds(text: str, block: str) -> None:
    assert add(text, block).text.startswith(text)


@given(ANY_TEXT, BLOCK, st.sampled_from([None, "A", "B", "new"]))
def test_every_old_line_stays_in_order(text: str, block: str, under: str | None) -> None:
    edited = add(text, block, under)
    rest = iter(words_of(edited.text))
    assert all(line in rest for line in words_of(text))


@given(ANY_TEXT, BLOCK, st.sampled_from([None, "A", "B", "new"]))
def test_the_lines_that_are_named_are_the_block(text: str, block: str, under: str | None) -> None:
    edited = add(text, block, under)
    assert lines_at(edited.text, edited.first, edited.last) == block


@given(ANY_TEXT, BLOCK)
def test_taking_out_what_was_added_gives_the_text_back(text: str, block: str) -> None:
    edited = add(text, block)
    assert cut(edited.text, edited.first, edited.last).rstrip() == text.rstrip()


@given(ANY_TEXT, BLOCK, st.sampled_from(["A", "B"]))
def test_under_a_heading_too_but_for_blank_lines(text: str, block: str, under: str) -> None:
    headed = f"# A\n{text}\n# B\n"
    assume(own_text_of(headed, under) is not None)
    edited = add(headed, block, under)
    assert words_of(cut(edited.text, edited.first, edited.last)) == words_of(headed)


# put and cut


@pytest.mark.parametrize(
    ("text", "first", "last", "block", "expected"),
    [
        ("a\nb\nc\n", 2, 2, "x", "a\nx\nc\n"),
        ("a\nb\nc\n", 1, 2, "x\ny\nz", "x\ny\nz\nc\n"),
        ("a\nb", 2, 2, "x", "a\nx"),
        ("a\r\nb\r\n", 1, 1, "x\ny", "x\r\ny\r\nb\r\n"),
    ],
)
def test_lines_are_replaced(text: str, first: int, last: int, block: str, expected: str) -> None:
    edited = put(text, first, last, block)
    assert (edited.text, lines_at(edited.text, edited.first, edited.last)) == (expected, block)


@pytest.mark.parametrize(
    ("text", "first", "last", "expected"),
    [
        ("- a\n- b\n- c\n", 2, 2, "- a\n- c\n"),
        ("a\n\nb\n\nc\n", 3, 3, "a\n\nc\n"),
        ("a\n\n\nb\n\nc\n", 4, 4, "a\n\n\nc\n"),
        ("# T\n\n- a\n", 3, 3, "# T\n"),
        ("a\n\nb\n", 1, 1, "b\n"),
        ("a\n", 1, 1, ""),
        ("a\nb", 2, 2, "a\n"),
        ("a\r\n\r\nb\r\n\r\nc", 3, 3, "a\r\n\r\nc"),
        (
            "<!-- session s -->\n- a\n- b\n<!-- /session -->\n",
            3,
            3,
            "<!-- session s -->\n- a\n<!-- /session -->\n",
        ),
        ("x\n\n<!-- session s -->\r\n- a\n- b\n<!-- /session -->\n\ny\n", 4, 5, "x\n\ny\n"),
        ("<!-- session s -->\n- a\n<!-- session t -->\n", 2, 2, "<!-- session s -->\n<!-- session t -->\n"),
        (f"```\n{EXAMPLE}```\n", 3, 3, "```\n<!-- session s -->\n<!-- /session -->\n```\n"),
    ],
)
def test_lines_are_taken_out(text: str, first: int, last: int, expected: str) -> None:
    assert cut(text, first, last) == expected


@given(ANY_TEXT.filter(lambda text: bool(split(text))), st.data())
def test_only_the_lines_that_are_named_lose_words(text: str, data: st.DataObject) -> None:
    lines = split(text)
    first = data.draw(st.integers(1, len(lines)))
    last = data.draw(st.integers(first, len(lines)))
    left = "".join(lines[: first - 1] + lines[last:])
    shown = [line for line in words_of(left) if session_in(line) is None]
    assert [line for line in words_of(cut(text, first, last)) if session_in(line) is None] == shown


# locate


@pytest.mark.parametrize(
    ("text", "expected", "place"),
    [
        ("a\nb\nc\n", "b", (2, 2)),
        ("new\na\nb\nc\n", "b", (3, 3)),
        ("b\n", "b\n", (1, 1)),
        ("a\r\nb\r\n", "b", (2, 2)),
        ("b\nb\n", "b", (2, 2)),
        ("b\nx\nb\n", "b", None),
        ("a\nB\n", "b", None),
        ("a\nbb\n", "b", None),
        ("", "b", None),
        ("x\n1\n2\n", "1\n2", (2, 3)),
        ("x\n1\n\n2\n", "1\n2", None),
    ],
)
def test_where_lines_stand_by_now(text: str, expected: str, place: tuple[int, int] | None) -> None:
    assert locate(text, 2, 2, expected) == place


@pytest.mark.parametrize(("first", "last"), [(0, 0), (-1, 1), (3, 2), (7, 9)])
def test_a_place_that_cannot_be_is_looked_for(first: int, last: int) -> None:
    assert locate("a\nb\n", first, last, "b") == (2, 2)


@given(ANY_TEXT)
def test_lines_are_all_of_a_text(text: str) -> None:
    assert "".join(split(text)) == text


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("\n\na\r\n b\n\n", "a\n b"),
        ("  a", "  a"),
        (" \n", ""),
        ("", ""),
        ("a\rb", "a\nb"),
        ("```\nx", "```\nx\n```"),
        ("- ~~~ py\n  x\n", "- ~~~ py\n  x\n  ~~~"),
        ("```\nx\n```", "```\nx\n```"),
    ],
)
def test_a_block_is_tidied(block: str, expected: str) -> None:
    assert tidy(block) == expected


@given(ANY_TEXT)
def test_what_is_tidied_stays_so(block: str) -> None:
    assert tidy(tidy(block)) == tidy(block)


@given(
    st.text(alphabet="a -#`\n\r\t1.", max_size=30),
    st.sampled_from(["- x", "words", "# T", "- x\n  y", "1. z"]),
)
def test_what_is_added_at_the_end_is_on_the_lines_that_are_named(text: str, block: str) -> None:
    added = add(text, block)
    assert lines_at(added.text, added.first, added.last) == block
    assert added.last == len(split(added.text))
