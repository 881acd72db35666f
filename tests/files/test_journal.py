"""The list of writes: which lines a change wrote, and where they are now."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.files.journal import FileState, block_of, locate, states

pytestmark = pytest.mark.promise("P2")

LINE = st.sampled_from([b"", b"- a", b"- b", b"# T", b"- a b"])
END = st.sampled_from([b"\n", b"\r\n"])
CONTENT = st.builds(
    lambda lines, ends, last: b"".join(line + end for line, end in zip(lines, ends, strict=False)) + last,
    st.lists(LINE, max_size=6),
    st.lists(END, min_size=6, max_size=6),
    st.sampled_from([b"", b"- end"]),
)


def bare(content: bytes) -> list[bytes]:
    lines = [line.removesuffix(b"\r") for line in content.split(b"\n")]
    return lines[:-1] if not lines[-1] else lines


@given(CONTENT, CONTENT)
def test_what_a_change_wrote_is_replaced_by_what_stood_there(old: bytes, new: bytes) -> None:
    block = block_of(old, new)
    place = locate(new, block)
    if not block.count:
        assert place is None
        return
    assert place is not None
    start, end = place
    assert bare(new[:start] + old[block.old_start : block.old_end] + new[end:]) == bare(old)


@given(CONTENT, CONTENT)
def test_it_is_found_below_what_was_put_above_it(old: bytes, new: bytes) -> None:
    block = block_of(old, new)
    moved = b"something that stands nowhere else\n" + new
    place = locate(moved, block)
    if place is not None:
        lines = bare(moved[slice(*place)])
        first = block.first - 1
        assert lines == bare(new)[first : first + block.count]


@given(CONTENT, CONTENT)
def test_the_states_are_those_of_the_contents(old: bytes, added: bytes) -> None:
    assert states(old, old + added) == (FileState.of(old), FileState.of(old + added))
    assert states(old, added) == (FileState.of(old), FileState.of(added))
    assert states(None, added) == (None, FileState.of(added))


def test_an_added_line_is_all_that_a_change_wrote() -> None:
    block = block_of(b"a\nc\n", b"a\nb\nc\n")
    assert (block.first, block.count) == (2, 1)
