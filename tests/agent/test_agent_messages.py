"""Messages of any client become what was said."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.agent.messages import Message, parse_messages
from memlines.types import Turn

TIME = datetime(2026, 11, 16, 9, 30, tzinfo=UTC)
HI = Message("user", "hi")
SHAPES: dict[str, Any] = {
    "a message": HI,
    "a turn": Turn("user", "hi", 3),
    "a model's": {"role": "user", "content": "hi"},
    "blocks": {"role": "user", "content": [{"type": "text", "text": "hi"}]},
    "OpenAI's blocks": {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
    "a transcript's": {"type": "user", "message": {"role": "user", "content": "hi"}},
    "OpenCode's": {"info": {"role": "user"}, "parts": [{"type": "text", "text": "hi"}]},
}
SILENT: dict[str, Any] = {
    "nothing": None,
    "a number": 3,
    "a list": ["hi"],
    "a tool's": {"role": "tool", "content": "hi"},
    "the system's": {"role": "system", "content": "hi"},
    "no role": {"content": "hi"},
    "no text": {"role": "user", "content": None},
    "a picture": {"role": "user", "content": [{"type": "image", "source": {"data": "hi"}}]},
    "a tool's result": {"role": "user", "content": [{"type": "tool_result", "content": "hi"}]},
    "a thought": {"role": "assistant", "content": [{"type": "thinking", "thinking": "hi"}]},
    "a client's own": {
        "info": {"role": "user"},
        "parts": [{"type": "text", "text": "hi", "synthetic": True}],
    },
    "injected": {"role": "user", "content": "<memlines-context>hi</memlines-context>"},
}
TIMES: dict[str, Any] = {
    "ISO": {"timestamp": "2026-11-16T09:30:00Z"},
    "another zone": {"timestamp": "2026-11-16T10:30:00+01:00"},
    "seconds": {"timestamp": TIME.timestamp()},
    "milliseconds": {"timestamp": TIME.timestamp() * 1000},
    "a moment": {"time": TIME},
    "OpenCode's": {"time": {"created": TIME.timestamp() * 1000}},
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_every_known_shape_is_read(shape: Any) -> None:
    assert list(parse_messages([shape])) == [HI]


@pytest.mark.parametrize("shape", SILENT.values(), ids=SILENT)
def test_what_nobody_said_is_left_out(shape: Any) -> None:
    assert list(parse_messages([shape])) == []


@pytest.mark.parametrize("time", TIMES.values(), ids=TIMES)
def test_the_time_is_known_in_any_form(time: dict[str, Any]) -> None:
    assert [one.time for one in parse_messages([{"role": "user", "content": "hi", **time}])] == [TIME]


@pytest.mark.parametrize("time", ["soon", -1e300, True, [], "9999-12-31T23:59:59-12:00", float("nan")])
def test_a_time_that_is_none_does_no_harm(time: Any) -> None:
    assert [one.time for one in parse_messages([{"role": "user", "content": "hi", "timestamp": time}])] == [
        None
    ]


def test_characters_that_no_file_can_hold_are_replaced() -> None:
    assert [one.text for one in parse_messages([{"role": "user", "content": "a\0b\ud800c"}])] == ["ab\ufffdc"]


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["role", "content", "message", "info", "parts", "text", "type", "time"]), inner
        )
    ),
    max_leaves=10,
)


@given(st.lists(json_values, max_size=4))
def test_any_values_are_messages_or_none(given_values: list[Any]) -> None:
    list(parse_messages(given_values))
