"""What is read out of OpenClaw's transcripts, whole or broken."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.files.read import decode_lines
from memlines.transcripts.openclaw import CLIENT
from memlines.types import Transcript, Turn
from tests.transcripts.records import HEADER, assistant, jsonl, message, user

parse = CLIENT.parse
BEGAN = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)


def said(*records: Any) -> list[str]:
    return [turn.text for turn in parse(jsonl(*records)).turns]


def time_of(value: Any) -> datetime | None:
    return parse(jsonl(message("user", "hi", timestamp=value))).turns[0].time


# Whole transcripts.


def test_a_conversation() -> None:
    text = jsonl(HEADER, user("Which port?"), "", assistant("Port 5433."))
    turns = (Turn("user", "Which port?", 2), Turn("assistant", "Port 5433.", 4))
    assert parse(text) == Transcript(turns, BEGAN, skipped=1)


def test_the_blocks_of_a_message_are_lines_of_it() -> None:
    blocks = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    assert said(assistant(blocks)) == ["one\ntwo"]


def test_only_text_is_taken_out_of_blocks() -> None:
    blocks = [
        {"type": "thinking", "text": "hidden", "thinking": "hidden"},
        {"type": "toolCall", "name": "exec", "arguments": {"command": "ls"}},
        {"type": "text", "text": "shown"},
        {"type": "text"},
        {"type": "text", "text": 7},
        "bare",
        None,
    ]
    assert said(assistant(blocks)) == ["shown"]


@pytest.mark.parametrize("role", ["system", "tool", "toolResult", "User", "", None, 1, ["user"]])
def test_other_roles_are_left_out(role: Any) -> None:
    assert said(message(role, "x"), user("kept")) == ["kept"]


@pytest.mark.parametrize("content", ["", " \n\t ", [], [{"type": "toolCall"}], None, 5, {"text": "x"}])
def test_a_message_that_says_nothing_is_left_out(content: Any) -> None:
    assert parse(jsonl(user(content))) == Transcript((), skipped=1)


@pytest.mark.parametrize(
    "record",
    [{}, {"type": "message"}, {"type": "message", "message": "x"}, {"type": "compaction", "summary": "x"}],
)
def test_other_records_are_counted(record: dict[str, Any]) -> None:
    assert parse(jsonl(record)) == Transcript((), skipped=1)


def test_line_breaks_of_any_kind_become_one_kind() -> None:
    assert said(user("a\r\nb\rc\nd")) == ["a\nb\nc\nd"]


def test_a_transcript_with_line_ends_of_windows() -> None:
    text = jsonl(HEADER, user("one"), assistant("two")).replace("\n", "\r\n")
    assert [turn.line for turn in parse(text).turns] == [2, 3]


def test_a_line_separator_inside_a_text_ends_no_line() -> None:
    text = jsonl(json.dumps(user("a\u2028b\x85c"), ensure_ascii=False), assistant("next"))
    assert [turn.line for turn in parse(text).turns] == [1, 2]


def test_a_byte_order_mark_is_no_part_of_the_first_line() -> None:
    content = b"\xef\xbb\xbf" + jsonl(user("first")).encode()
    assert parse(decode_lines(content)).turns == (Turn("user", "first", 1),)


def test_an_empty_file() -> None:
    assert parse("") == Transcript(())


# Times.


@pytest.mark.parametrize(
    "value",
    [
        "2026-03-01T09:30:00Z",
        "2026-03-01T09:30:00.000+00:00",
        " 2026-03-01 09:30 ",
        1772357400,
        1772357400000.0,
    ],
)
def test_the_forms_of_a_time(value: Any) -> None:
    assert time_of(value) == BEGAN


def test_a_time_keeps_its_zone() -> None:
    assert f"{time_of('2026-03-01T11:30:00+02:00'):%H:%M}" == "11:30"


@pytest.mark.parametrize(
    "value",
    [None, "", "yesterday", "2026-13-40", True, [], {}, 1e300, -1e300, float("nan"), float("inf"), 10**400],
)
def test_what_is_no_time(value: Any) -> None:
    assert time_of(value) is None


def test_the_time_of_a_message_goes_before_that_of_its_record() -> None:
    record = message("user", "hi", timestamp="2020-01-01T00:00:00Z")
    record["message"]["timestamp"] = BEGAN.timestamp()
    assert parse(jsonl(record)).turns[0].time == BEGAN


def test_without_a_header_a_session_begins_with_the_first_time_there_is() -> None:
    text = jsonl(user("hm"), message("assistant", "hi", timestamp=BEGAN.isoformat()))
    assert parse(text).started == BEGAN


def test_the_first_header_counts() -> None:
    assert parse(jsonl(HEADER, {"type": "session", "timestamp": "2030-01-01T00:00:00Z"})).started == BEGAN


# Broken transcripts.

GARBAGE = [
    "garbage",
    "{",
    '{"type": "message", "message": {"role": "user", "content": "cut o',
    "[]",
    "3",
    "null",
    '"text"',
    "\0\0\0",
    "[" * 100_000,
    '{"a":' * 100_000,
    "9" * 10_000,
]


@pytest.mark.parametrize("line", GARBAGE, ids=lambda line: line[:12])
def test_a_broken_line_takes_no_other_with_it(line: str) -> None:
    turns = (Turn("user", "before", 1), Turn("user", "after", 3))
    assert parse(jsonl(user("before"), line, user("after"))) == Transcript(turns, None, 1, 1)


@pytest.mark.parametrize("bad", [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80"])
def test_a_line_that_is_not_utf8_takes_no_other_with_it(bad: bytes) -> None:
    broken = jsonl(user("X")).encode().replace(b"X", bad)
    transcript = parse(decode_lines(jsonl(user("one")).encode() + broken + jsonl(user("two")).encode()))
    assert (transcript.turns, transcript.broken) == ((Turn("user", "one", 1), Turn("user", "two", 3)), 1)


def test_a_last_line_that_is_still_being_written() -> None:
    text = jsonl(user("done"), assistant("not yet"))
    assert parse(text[:-5]) == Transcript((Turn("user", "done", 1),), None, 1, 1)


def test_a_huge_line() -> None:
    assert len(parse(jsonl(user("word " * 1_000_000), assistant("ok"))).turns[0].text) == 4_999_999


def test_characters_that_cannot_be_stored_are_replaced() -> None:
    line = '{"type": "message", "message": {"role": "user", "content": "a\\u0000b\\ud800c\\ud83d\\ude00"}}'
    assert said(line) == ["a b\ufffdc😀"]


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.sampled_from(["type", "text"]), inner),
    max_leaves=8,
)
records = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["message", "session"]) | json_values,
        "timestamp": json_values,
        "message": st.fixed_dictionaries(
            {},
            optional={"role": st.sampled_from(["user", "assistant"]) | json_values, "content": json_values},
        )
        | json_values,
    },
)


@given(st.lists(records))
def test_records_of_any_shape_give_storable_text(shapes: list[dict[str, Any]]) -> None:
    for turn in parse(jsonl(*shapes)).turns:
        assert turn.text.encode().strip(b"\0")


@given(st.binary())
def test_bytes_of_any_kind_are_read(content: bytes) -> None:
    transcript = parse(decode_lines(content))
    assert transcript.broken <= transcript.skipped <= content.count(b"\n") + 1


@given(st.lists(st.sampled_from([jsonl(user("hi")), jsonl(HEADER), "\n", "x\n", jsonl(assistant("yo"))])))
def test_every_turn_stands_on_its_line(lines: list[str]) -> None:
    text = "".join(lines)
    expected = [number for number, line in enumerate(lines, 1) if "message" in line]
    assert [turn.line for turn in parse(text).turns] == expected
