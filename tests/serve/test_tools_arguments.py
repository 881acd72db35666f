"""Arguments that models give: taken if they can only mean one thing, else refused in words."""

from __future__ import annotations

import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines import UsageError
from memlines.serve.tools import TOOLS
from memlines.serve.tools.arguments import LONGEST, OTHER_NAMES, checked

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
    ("tool", "arguments", "taken"),
    [
        ("memory_search", {"query": "x", "maxResults": 3}, {"query": "x", "max_results": 3}),
        ("memory_search", {"query": "x", "limit": 3}, {"query": "x", "max_results": 3}),
        ("memory_search", {"query": "x", "minScore": 0.5}, {"query": "x", "min_score": 0.5}),
        ("memory_search", {"query": "x", "corpus": "sessions"}, {"query": "x", "source": "sessions"}),
        ("memory_get", {"path": "a.md", "startLine": 3}, {"path": "a.md", "from": 3}),
        ("memory_get", {"relPath": "a.md", "from": 3, "lines": 2}, {"path": "a.md", "from": 3, "lines": 2}),
        ("memory_recall", {"limit": 3}, {"limit": 3}),
        ("memory_recall", {"maxResults": 3}, {"limit": 3}),
        ("memory_forget", {"memoryId": "k7"}, {"id": "k7"}),
        ("memory_forget", {"memory_id": "k7", "query": None}, {"id": "k7"}),
    ],
)
def test_names_of_other_memory_tools_are_understood(
    tool: str, arguments: dict[str, Any], taken: dict[str, Any]
) -> None:
    assert checked(TOOLS[tool], arguments) == taken


@pytest.mark.parametrize("other", [5, "5", None])
def test_the_same_value_may_be_given_under_two_names(other: Any) -> None:
    assert checked(SEARCH, {"query": "x", "max_results": 5, "maxResults": other})["max_results"] == 5


def test_other_names_are_not_published_and_not_forbidden() -> None:
    assert (set(SEARCH.parameters), "maxResults" in SEARCH.parameters["properties"]) == (
        {"type", "properties", "required"},
        False,
    )


@pytest.mark.parametrize("name", OTHER_NAMES.values())
def test_another_name_stands_for_one_that_a_tool_has(name: str) -> None:
    assert any(name in tool.properties for tool in TOOLS.values())


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
        ({"query": "x", "colour": 3}, "no argument 'colour'"),
        ({"query": "x", "from": 3}, "no argument 'from'"),
        ({"query": "x", "maxResults": 0}, "max_results is 0, and may be 1 to 50"),
        ({"query": "x", "max_results": 3, "maxResults": 5}, "max_results and maxResults name the same"),
        ({"query": "x", "maxResults": 3, "limit": 5}, "maxResults and limit name the same"),
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
