"""Arguments that models give: taken if they can only mean one thing, else refused in words."""

from __future__ import annotations

import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect import UsageError
from recollect.tools import TOOLS
from recollect.tools.arguments import LONGEST, checked

SEARCH = TOOLS["memory_search"]

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@pytest.mark.parametrize(("given_value", "taken"), [(5, 5), (5.0, 5), ("5", 5), (" 7 ", 7)])
def test_a_whole_number_may_be_written_in_several_ways(given_value: Any, taken: int) -> None:
    assert checked(SEARCH, {"query": "x", "max_results": given_value})["max_results"] == taken


@pytest.mark.parametrize("value", [True, "true", " TRUE "])
def test_true_may_be_written_in_several_ways(value: Any) -> None:
    assert checked(TOOLS["memory_sync"], {"force": value}) == {"force": True}


def test_null_means_that_it_was_left_out() -> None:
    assert checked(SEARCH, {"query": "x", "max_results": None}) == {"query": "x"}


def test_no_arguments_at_all_are_none() -> None:
    assert checked(TOOLS["memory_status"], None) == {}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "query is missing"),
        ({"query": None}, "query is missing"),
        ({"query": "  "}, "query is empty"),
        ({"query": 5}, "query is 5, not text"),
        ({"query": ["x"]}, "not text"),
        ({"query": "x", "max_results": 0}, "may be 1 to 50"),
        ({"query": "x", "max_results": 1.5}, "not a whole number"),
        ({"query": "x", "max_results": True}, "not a whole number"),
        ({"query": "x", "min_score": "nan"}, "not a number"),
        ({"query": "x", "min_score": 2}, "may be 0 to 1"),
        ({"query": "x", "source": "web"}, "may be memory, sessions, all"),
        ({"query": "x", "limit": 3}, "no argument 'limit'"),
        ({"query": "x" * (LONGEST + 1)}, "characters"),
        (["x"], "not an object"),
        ("x", "not an object"),
    ],
)
def test_what_cannot_be_meant_is_named(arguments: Any, said: str) -> None:
    with pytest.raises(UsageError, match="memory_search") as refused:
        checked(SEARCH, arguments)
    assert said in str(refused.value)
    assert "query (text, required)" in refused.value.todo


@given(ANYTHING)
def test_whatever_is_given_is_taken_or_refused_in_words(value: Any) -> None:
    for tool in TOOLS.values():
        try:
            taken = checked(tool, value)
        except UsageError:
            continue
        assert set(tool.required) <= set(taken) <= set(tool.properties)


@given(st.text(alphabet=string.printable), ANYTHING)
def test_an_argument_of_the_wrong_kind_never_gets_through(query: str, limit: Any) -> None:
    try:
        taken = checked(SEARCH, {"query": query, "max_results": limit})
    except UsageError:
        return
    assert type(taken.get("max_results", 1)) is int
