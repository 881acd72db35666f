"""The items of a JSON list are read one by one, exactly as if it were read whole."""

from __future__ import annotations

import io
import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.admin.imports import json_export as items
from memlines.admin.imports.json_export import Malformed, read_items

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**15), 10**15)
    | st.floats(allow_nan=False)
    | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


class Dripping(io.RawIOBase):
    """Gives a few bytes at a time, whatever is asked for."""

    def __init__(self, content: bytes, size: int) -> None:
        super().__init__()
        self._stream = io.BytesIO(content)
        self._size = size

    def read(self, size: int = -1, /) -> bytes:
        return self._stream.read(self._size)


def read(text: str | bytes, *keys: str, size: int = 10**6) -> list[Any]:
    return list(read_items(Dripping(text.encode() if isinstance(text, str) else text, size), keys))


@given(st.lists(JSON, max_size=6), st.sampled_from([None, 0, 2]), st.integers(1, 7))
def test_a_list_is_read_as_it_is(values: list[Any], indent: int | None, size: int) -> None:
    assert read(json.dumps(values, indent=indent, ensure_ascii=False), size=size) == values


@given(st.lists(JSON, max_size=4), JSON, st.integers(1, 7))
def test_a_list_below_a_key_is_read_as_it_is(values: list[Any], other: Any, size: int) -> None:
    text = json.dumps({"count": other, "results": values, "next": other})
    assert read(text, "results", size=size) == values


@given(st.lists(JSON, min_size=1, max_size=4), st.data())
def test_a_list_that_is_cut_off_is_an_error(values: list[Any], data: st.DataObject) -> None:
    text = json.dumps(values)
    cut = data.draw(st.integers(0, len(text) - 1))
    with pytest.raises(Malformed):
        read(text[:cut])


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    with suppress(Malformed):
        read(content, "results", size=3)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "null",
        '"text"',
        "[1 2]",
        "[1,]",
        "[1]]",
        "[1] x",
        '{"results": 1}',
        '{"results": [1]',
        "[" * 100_000,
    ],
)
def test_what_is_no_list_is_refused(text: str) -> None:
    with pytest.raises(Malformed):
        read(text, "results")


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(Malformed, match="not UTF-8"):
        read(b'["\xff"]')


def test_a_byte_order_mark_is_no_part_of_it() -> None:
    assert read(b"\xef\xbb\xbf[1]") == [1]


def test_an_item_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(items, "MAX_ITEM", 100_000)
    with pytest.raises(Malformed, match="too large"):
        read(json.dumps(["x" * 10**6]), size=10_000)
