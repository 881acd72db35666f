"""Adding to JSON files and taking out again, byte for byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.clients.edits import Edit, apply_edit, undo_edit
from memlines.clients.json_text import NotJson, Place, additions, is_empty, parsed, without

ADDED: dict[str, Any] = {"servers": {"ours": {"command": "p", "args": ["a"]}}, "on": ["ours"]}


def is_ours(place: Place, value: Any) -> bool:
    return place == ("servers", "ours") or (place[:1] == ("on",) and value == "ours")


EDIT = Edit("x.json", lambda content: additions(content, ADDED), lambda c: without(c, is_ours), is_empty)

LAYOUTS = {
    "nothing": b"",
    "blank": b"\n",
    "empty": b"{}",
    "empty over two lines": b"{\n}\n",
    "one line": b'{"a": 1, "servers": {"x": {}}}',
    "two spaces": b'{\n  "servers": {\n    "x": {}\n  },\n  "b": [1, 2]\n}\n',
    "tabs": b'{\n\t"servers": {\n\t\t"x": {}\n\t}\n}\n',
    "four spaces, no line break at the end": b'{\n    "on": [\n        "x"\n    ]\n}',
    "line breaks of Windows": b'{\r\n  "servers": {}\r\n}\r\n',
    "a byte order mark": b'\xef\xbb\xbf{"a": 1}\n',
    "odd spaces": b'  {"servers"  :{ "x":{ } } ,\n"z":0 }  \n\n',
    "other languages": '{"näme": "東京 🚢", "servers": {"ü": {}}}\n'.encode(),
    "escapes": b'{"a\\"b": "}\\\\", "servers": {"\\u0078": {}}}',
    "an empty list": b'{"on": [ ], "servers": { }}\n',
}


@pytest.mark.parametrize("former", LAYOUTS.values(), ids=LAYOUTS)
def test_what_was_added_is_there_and_the_rest_too(former: bytes) -> None:
    content, _ = apply_edit(former, EDIT)
    before = json.loads(former.removeprefix(b"\xef\xbb\xbf").strip() or b"{}")
    now = json.loads(content.removeprefix(b"\xef\xbb\xbf"))
    assert now["servers"] == {**before.get("servers", {}), **ADDED["servers"]}
    assert now["on"] == [*before.get("on", []), "ours"]
    assert {key: now[key] for key in before if key not in ADDED} == {
        key: before[key] for key in before if key not in ADDED
    }


@pytest.mark.parametrize("former", LAYOUTS.values(), ids=LAYOUTS)
def test_an_unchanged_file_gets_its_former_bytes_back(former: bytes) -> None:
    content, noted = apply_edit(former, EDIT)
    assert undo_edit(content, _hash(content), noted, EDIT) == former


@pytest.mark.parametrize("former", LAYOUTS.values(), ids=LAYOUTS)
def test_a_changed_file_loses_our_part_only(former: bytes) -> None:
    content, noted = apply_edit(former, EDIT)
    changed = json.loads(content.removeprefix(b"\xef\xbb\xbf")) | {"later": True}
    left = undo_edit(json.dumps(changed, indent=3).encode(), _hash(content), noted, EDIT)
    assert left is not None
    assert b"ours" not in left
    assert json.loads(left)["later"] is True


def test_a_list_that_others_added_to_keeps_theirs() -> None:
    left = without(b'{"on": ["a", "ours", "b"]}', is_ours)
    assert left == b'{"on": ["a", "b"]}'


def test_the_first_of_several_goes_with_its_comma() -> None:
    assert without(b'{"servers": {"ours": 1, "b": 2}}', is_ours) == b'{"servers": {"b": 2}}'


def test_what_holds_nothing_else_goes_too() -> None:
    assert without(b'{"a": 1, "servers": {"ours": 1}}', is_ours) == b'{"a": 1}'


def test_a_file_without_our_part_stays_as_it_is() -> None:
    former = b'{"servers": { }, "on":[]}'
    assert without(former, is_ours) == former


def test_a_value_that_is_there_already_stays() -> None:
    assert additions(b'{"servers": {"ours": 5}, "on": ["ours"]}', ADDED) == []


def test_an_item_that_is_there_already_is_not_added_again() -> None:
    content, _ = apply_edit(b'{"on": ["ours"]}', EDIT)
    assert json.loads(content)["on"] == ["ours"]


@pytest.mark.parametrize(
    "former", [b"{", b"[1]", b'"x"', b'{"servers": []}', b'{"on": {}}', b"{} // why", b"\xff", b"[" * 5000]
)
def test_what_has_no_place_for_it_is_refused(former: bytes) -> None:
    with pytest.raises(NotJson):
        additions(former, ADDED)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)
OBJECTS = st.dictionaries(st.text(max_size=5), JSON, max_size=5)
INDENTS = st.sampled_from([None, 0, 1, 2, 4, "\t"])


@given(OBJECTS, INDENTS, st.booleans())
def test_every_value_is_found_where_it_stands(value: dict[str, Any], indent: Any, ascii_only: bool) -> None:
    text, root = parsed(json.dumps(value, indent=indent, ensure_ascii=ascii_only).encode("utf-8", "replace"))
    assert root.value == json.loads(text)
    for part in root.parts:
        assert json.loads(text[part.node.start : part.node.end]) == part.node.value


@given(OBJECTS, INDENTS)
def test_in_and_out_again_gives_the_same_bytes(value: dict[str, Any], indent: Any) -> None:
    former = json.dumps(value, indent=indent).encode()
    try:
        content, noted = apply_edit(former, EDIT)
    except NotJson:
        assert not isinstance(value.get("servers", {}), dict) or not isinstance(value.get("on", []), list)
        return
    assert json.loads(content)["on"][-1] == "ours"
    assert undo_edit(content, _hash(content), noted, EDIT) == former


@given(OBJECTS, INDENTS)
def test_taking_out_by_looking_gives_the_same_values(value: dict[str, Any], indent: Any) -> None:
    value |= {"servers": {"x": 1}, "on": ["x"]}
    former = json.dumps(value, indent=indent).encode()
    assert without(apply_edit(former, EDIT)[0], is_ours) == former


def _hash(content: bytes) -> str:
    from memlines.clients.edits import hash_of

    return hash_of(content)
