"""Transcripts that are cut off, mixed up, damaged or made of anything at all."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.files.read import decode_lines
from memlines.transcripts import claude_code, codex, openclaw, opencode
from memlines.transcripts.catalogue import recognise
from memlines.types import Transcript
from tests.transcripts.recorded import CLAUDE_CODE, CODEX, OPENCLAW, OPENCODE_EXPORT, content, exported


class Format(NamedTuple):
    """A parser, a true transcript, and the words that mean something in it."""

    parse: Callable[..., Transcript]
    text: str
    head: Callable[..., Any]


def _messages(export: str) -> str:
    """Return an export as the lines that the database's rows make."""
    document = json.loads(export)
    lines = [{"info": document["info"]}, *document["messages"]]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


FORMATS = {
    "claude-code": Format(claude_code.CLIENT.parse, content(CLAUDE_CODE), claude_code.CLIENT.head),
    "codex": Format(codex.CLIENT.parse, content(CODEX), codex.CLIENT.head),
    "openclaw": Format(openclaw.CLIENT.parse, content(OPENCLAW), openclaw.CLIENT.head),
    "opencode": Format(opencode.CLIENT.parse, _messages(content(OPENCODE_EXPORT)), opencode.CLIENT.head),
}
each_format = pytest.mark.parametrize("form", FORMATS.values(), ids=list(FORMATS))


def check(text: str, transcript: Transcript) -> None:
    """Check what holds for any transcript: lines hold what they are said to hold, texts can be stored."""
    lines = text.split("\n")
    assert transcript.broken <= transcript.skipped <= len(lines)
    numbers = [turn.line for turn in transcript.turns]
    assert numbers == sorted(set(numbers))
    for turn in transcript.turns:
        assert turn.text.encode().strip(b"\0 \n")
        assert holds(lines[turn.line - 1], turn.text)
        assert all(name.encode() for name in getattr(turn, "tools", ()))


def holds(line: str, text: str) -> bool:
    """Tell whether the texts in a record say what a turn says, but for what cannot be stored."""
    found = squeezed("".join(texts_in(json.loads(line))))
    pieces = text.split() if "<command-" in line else text.split("\n")  # a command and its words stand apart
    return all(squeezed(piece) in found for piece in pieces)


def squeezed(text: str) -> str:
    return re.sub("[\\s\x00-\x1f\x7f\ud800-\udfff\ufffd]", "", text)


def texts_in(value: Any) -> list[str]:
    """Return every text inside a JSON value."""
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for item in inner for text in texts_in(item)]


@each_format
@given(st.data())
def test_transcripts_that_are_cut_off(form: Format, data: st.DataObject) -> None:
    text = form.text[: data.draw(st.integers(0, len(form.text)))]
    check(text, form.parse(text))


@each_format
@given(st.data())
def test_transcripts_whose_lines_are_mixed_up(form: Format, data: st.DataObject) -> None:
    lines = data.draw(st.permutations(form.text.splitlines()))
    text = "\n".join(lines)
    check(text, form.parse(text))


@each_format
@given(st.data())
def test_transcripts_with_bytes_changed(form: Format, data: st.DataObject) -> None:
    content = bytearray(form.text.encode())
    places = st.tuples(st.integers(0, len(content) - 1), st.integers(0, 255))
    for place, value in data.draw(st.lists(places, max_size=20)):
        content[place] = value
    text = decode_lines(bytes(content))
    check(text, form.parse(text))


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@each_format
@given(st.data())
def test_records_with_values_of_any_shape(form: Format, data: st.DataObject) -> None:
    records = [json.loads(line) for line in form.text.splitlines()]
    chosen = data.draw(st.lists(st.sampled_from(records), min_size=1, max_size=5))
    changed = [change(json.loads(json.dumps(record)), data) for record in chosen]
    text = "\n".join(json.dumps(record) for record in changed)
    check(text, form.parse(text))
    form.head(text.splitlines())
    recognise(text.splitlines())


def change(value: Any, data: st.DataObject) -> Any:
    """Replace one value somewhere inside a JSON value by any other."""
    place = value
    while isinstance(place, dict | list) and place:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(place[key], dict | list) or not place[key] or data.draw(st.booleans()):
            place[key] = data.draw(json_values)
            return value
        place = place[key]
    return value


@each_format
@given(st.binary(max_size=300))
def test_bytes_of_any_kind(form: Format, content: bytes) -> None:
    text = decode_lines(content)
    check(text, form.parse(text))
    form.head(text.split("\n"))


@each_format
def test_every_line_without_its_neighbours(form: Format) -> None:
    whole = {turn.line: turn.text for turn in form.parse(form.text).turns}
    lines = form.text.splitlines()
    alone = {
        turn.line: turn.text
        for number, line in enumerate(lines, 1)
        for turn in form.parse([line], number).turns
    }
    assert alone == whole


@given(st.data())
def test_exports_that_are_cut_off_or_damaged(data: st.DataObject) -> None:
    whole = content(OPENCODE_EXPORT)
    text = whole[: data.draw(st.integers(0, len(whole)))]
    for _ in range(data.draw(st.integers(0, 5))):
        place = data.draw(st.integers(0, max(0, len(text) - 1)))
        text = text[:place] + data.draw(st.text(max_size=3)) + text[place + 1 :]
    lines = text.split("\n")
    for turn in exported(text).turns:
        assert all(
            part in lines[turn.line - 1] for part in turn.text.split("\n")[0].split()[:1] if part.isalpha()
        )


@given(st.text(max_size=300))
def test_exports_of_any_text(text: str) -> None:
    exported(f'{{"info": {{}}, "messages": [{text}')
    exported(text)
