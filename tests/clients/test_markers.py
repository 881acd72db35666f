"""A block between markers goes into a Markdown file and comes out again."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.clients.edits import BEGIN, END, apply_edit, hash_of, markdown_block, undo_edit
from memlines.errors import WriteError

FILE = Path("AGENTS.md")
BLOCK = markdown_block("AGENTS.md", FILE, "# Memory\n\nSearch first.\n")
USERS = st.text(alphabet="# ab\n\r<!->:é", max_size=40).filter(lambda text: "memlines" not in text)


def put(text: bytes) -> bytes:
    return apply_edit(text, BLOCK)[0]


def test_the_block_is_the_last_paragraph() -> None:
    assert put(b"# Mine\n") == f"# Mine\n\n{BEGIN}\n# Memory\n\nSearch first.\n{END}\n".encode()


def test_a_new_file_holds_the_block_alone() -> None:
    assert put(b"") == f"{BEGIN}\n# Memory\n\nSearch first.\n{END}\n".encode()


def test_the_block_has_the_line_breaks_of_the_file() -> None:
    new = put(b"# Mine\r\n\r\nText\r\n")

    assert new.count(b"\n") == new.count(b"\r\n")


@given(USERS)
def test_what_was_put_in_comes_out_again(text: str) -> None:
    content = text.encode()

    assert BLOCK.take_out(put(content)) in (content, content + b"\n", content + b"\r\n")


@given(USERS)
def test_while_nobody_else_writes_it_comes_out_byte_for_byte(text: str) -> None:
    new, noted = apply_edit(text.encode(), BLOCK)

    assert undo_edit(new, hash_of(new), noted, BLOCK) == text.encode()


@given(USERS, USERS)
def test_what_the_user_wrote_around_it_since_stays(before: str, after: str) -> None:
    content = before.encode() + b"\n\n" + put(b"") + after.encode()

    assert BLOCK.take_out(content) == before.encode() + b"\n" + after.encode()


def test_a_changed_block_goes_with_its_markers() -> None:
    assert BLOCK.take_out(put(b"# Mine\n").replace(b"Search first.", b"Search last.")) == b"# Mine\n"


def test_a_marker_of_an_older_version_is_known() -> None:
    older = put(b"# Mine\n").replace(BEGIN.encode(), b"<!-- memlines: begin (do not edit) -->")

    assert BLOCK.take_out(older) == b"# Mine\n"


@pytest.mark.parametrize(
    "content",
    [
        put(b"# Mine\n").replace(BEGIN.encode(), b""),
        put(b"# Mine\n").replace(END.encode(), b""),
        put(b"# Mine\n") + put(b""),
        END.encode() + b"\n" + BEGIN.encode() + b"\n",
    ],
    ids=["no begin", "no end", "twice", "the wrong way round"],
)
def test_damaged_markers_are_reported(content: bytes) -> None:
    with pytest.raises(WriteError, match=r"AGENTS\.md.*damaged"):
        BLOCK.take_out(content)


def test_a_file_that_is_not_utf_8_is_refused() -> None:
    with pytest.raises(WriteError, match="not UTF-8"):
        put("# Mine\n".encode("utf-16"))
