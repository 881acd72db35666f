"""Lines of results: whatever they hold, the good ones come through and nothing is raised."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.embed.batches.base import Answer, ResultReader
from memlines.embed.batches.services import BatchApi, GeminiBatches
from memlines.embed.remote.errors import quote_message
from memlines.embed.remote.services import Gemini, OpenAI

TEXTS = {"one": "the first text of them all", "two": "the second text"}


def openai_line(key: str, vector: Any, **more: Any) -> str:
    body = {"data": [{"index": 0, "embedding": vector}], "usage": {"total_tokens": 5}}
    return json.dumps(
        {"custom_id": key, "response": {"status_code": 200, "body": body}, "error": None} | more
    )


def gemini_line(key: str, vector: Any) -> str:
    return json.dumps({"key": key, "response": {"embedding": {"values": vector}}})


def openai_answers(*lines: str, dims: int | None = 2, texts: Mapping[str, str] = TEXTS) -> list[Answer]:
    return list(ResultReader("openai", dims, BatchApi.read_line, OpenAI().reply).answers(lines, texts))


def gemini_answers(*lines: str) -> list[Answer]:
    return list(ResultReader("gemini", 2, GeminiBatches.read_line, Gemini().reply).answers(lines, TEXTS))


def test_a_good_line_is_a_unit_vector_with_its_tokens() -> None:
    (answer,) = openai_answers(openai_line("one", [3.0, 4.0]))
    assert (answer.key, answer.tokens, answer.reason) == ("one", 5, "")
    assert answer.vector is not None
    np.testing.assert_allclose(answer.vector, [0.6, 0.8], rtol=1e-6)


def test_a_good_line_of_gemini_is_a_unit_vector() -> None:
    (answer,) = gemini_answers(gemini_line("two", [0, 2]))
    assert answer.vector is not None
    assert answer.vector.tolist() == [0, 1]


@pytest.mark.parametrize(
    "vector",
    [[], None, "text", [1.0], [1, 2, 3], [0, 0], [1, None], [1, "2"], [1, [2]], [[1, 2]], [True, 1], {}],
)
def test_something_that_is_no_vector_is_an_error_of_its_line(vector: Any) -> None:
    bad, good = openai_answers(openai_line("one", vector), openai_line("two", [1, 0]))
    assert bad.key == "one"
    assert bad.vector is None
    assert bad.reason
    assert good.vector is not None


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "1" + "0" * 5000])
def test_a_number_that_is_not_finite_is_an_error_of_its_line(number: str) -> None:
    line = openai_line("one", [1.0, 7.5]).replace("7.5", number)
    bad, good = openai_answers(line, openai_line("two", [1, 0]))
    assert "not finite" in bad.reason
    assert good.vector is not None


def test_an_error_line_says_the_reason() -> None:
    (answer,) = openai_answers(openai_line("one", [1, 2], error={"code": "x", "message": "no such thing."}))
    assert answer == Answer("one", None, "openai refused the text: no such thing")


def test_a_status_from_400_on_is_an_error_whatever_the_body_holds() -> None:
    body = {"data": [{"index": 0, "embedding": [1, 0]}], "error": {"message": "too much"}}
    line = json.dumps({"custom_id": "one", "response": {"status_code": 429, "body": body}})
    assert openai_answers(line) == [Answer("one", None, "openai refused the text: too much")]


def test_an_error_line_of_gemini_says_the_reason() -> None:
    line = json.dumps({"key": "one", "error": {"code": 3, "message": "bad"}})
    assert gemini_answers(line) == [Answer("one", None, "gemini refused the text: bad")]


def test_an_unknown_id_belongs_to_no_text() -> None:
    (answer,) = openai_answers(openai_line("three", [1, 0]))
    assert (answer.key, answer.vector) == (None, None)


def test_only_the_first_vector_for_an_id_counts() -> None:
    first, second = openai_answers(openai_line("one", [1, 0]), openai_line("one", [0, 1]))
    assert first.vector is not None
    assert (second.key, second.vector) == (None, None)


def test_a_vector_after_an_error_for_the_same_id_counts() -> None:
    _, second = openai_answers(openai_line("one", [0, 0]), openai_line("one", [0, 1]))
    assert second.vector is not None


def test_a_truncated_last_line_takes_nothing_from_the_others() -> None:
    good, cut = openai_answers(openai_line("one", [1, 0]), openai_line("two", [1, 0])[:40])
    assert good.vector is not None
    assert (cut.key, cut.vector) == (None, None)


def test_without_a_known_length_the_first_vector_decides() -> None:
    _, other = openai_answers(openai_line("one", [1, 0]), openai_line("two", [1, 0, 0]), dims=None)
    assert other.vector is None


def test_empty_lines_are_nothing() -> None:
    assert openai_answers("", "  ", "\r") == []


def test_a_line_nested_too_deeply_is_broken() -> None:
    assert openai_answers("[" * 100_000) == [Answer(None, None, "a line is broken")]


NAMES = ["custom_id", "key", "response", "body", "data", "embedding", "values", "error", "message"]
COUNTS = ["status_code", "usage", "total_tokens", "usageMetadata", "promptTokenCount", "index"]

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*NAMES, *COUNTS]), inner, max_size=4)
    ),
    max_leaves=12,
)


@st.composite
def near_misses(draw: st.DrawFn) -> str:
    value = draw(json_values)
    key = draw(st.sampled_from(["one", "two", "three"]))
    return json.dumps(value | {"custom_id": key, "key": key} if isinstance(value, dict) else value)


@given(st.lists(st.text(max_size=40) | near_misses(), max_size=5))
def test_no_line_ever_raises_and_every_vector_is_of_unit_length(lines: list[str]) -> None:
    for answer in openai_answers(*lines) + gemini_answers(*lines):
        assert (answer.vector is None) == bool(answer.reason)
        assert answer.tokens >= 0
        if answer.vector is not None:
            assert answer.key in TEXTS
            assert np.isclose(np.linalg.norm(answer.vector), 1)


@given(st.text(), st.text(max_size=30))
def test_any_message_is_quoted_in_short(message: str, text: str) -> None:
    assert len(quote_message(message, [text])) <= 200


def test_a_message_that_repeats_the_text_is_not_quoted() -> None:
    assert quote_message("cannot read 'the first text of'", [TEXTS["one"]]) == ""
    assert quote_message("cannot read it", [TEXTS["one"]]) == "cannot read it"


def test_a_long_code_in_a_message_is_hidden() -> None:
    assert quote_message("key sk-abcdefghijklmnopqrstuvwxyz is wrong") == "key … is wrong"
