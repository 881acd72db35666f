"""Arguments that models give: taken if they can only mean one thing, else refused in words."""

from __future__ import annotations

import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines import UsageError
from memlines.memory.arguments import MOST_CHARACTERS, parse
from memlines.serve.tools import TOOLS, Tool

SEARCH = TOOLS["memory_search"]

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


def parsed(tool: Tool, given: Any) -> dict[str, Any]:
    return parse(tool.name, tool.arguments, given, by_model=True)


@pytest.mark.parametrize(("given_value", "taken"), [(5, 5), (5.0, 5), ("5", 5), (" 7 ", 7)])
def test_a_whole_number_may_be_written_in_several_ways(given_value: Any, taken: int) -> None:
    assert parsed(SEARCH, {"query": "x", "max_results": given_value})["max_results"] == taken


@pytest.mark.parametrize("value", [True, "true", " TRUE "])
def test_true_may_be_written_in_several_ways(value: Any) -> None:
    assert parsed(TOOLS["memory_sync"], {"force": value}) == {"force": True}


def test_null_means_that_it_was_left_out() -> None:
    assert parsed(SEARCH, {"query": "x", "max_results": None}) == {"query": "x"}


def test_no_arguments_at_all_are_none() -> None:
    assert parsed(TOOLS["memory_status"], None) == {}


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
    assert parsed(TOOLS[tool], arguments) == taken


@pytest.mark.parametrize("other", [5, "5", None])
def test_the_same_value_may_be_given_under_two_names(other: Any) -> None:
    assert parsed(SEARCH, {"query": "x", "max_results": 5, "maxResults": other})["max_results"] == 5


def test_other_names_are_not_published_and_not_forbidden() -> None:
    assert (set(SEARCH.parameters), "maxResults" in SEARCH.parameters["properties"]) == (
        {"type", "properties", "required"},
        False,
    )


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_another_name_means_one_argument_and_is_not_a_name_itself(tool: Tool) -> None:
    aliases = [alias for argument in tool.arguments.values() for alias in argument.aliases]
    assert len({*aliases, *tool.arguments}) == len(aliases) + len(tool.arguments)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "query is missing. It takes query (text, required), max_results (a whole number)"),
        ({"query": None}, "query is missing"),
        ({"query": "  "}, "query is empty. It takes text"),
        ({"query": 5}, "query is 5. It takes text"),
        ({"query": ["x"]}, "query is ['x']. It takes text"),
        ({"query": "x", "max_results": 0}, "max_results is 0. It takes a whole number from 1 to 50"),
        ({"query": "x", "max_results": 1.5}, "max_results is 1.5. It takes a whole number from 1 to 50"),
        ({"query": "x", "max_results": True}, "max_results is True"),
        ({"query": "x", "max_results": 10**400}, "It takes a whole number from 1 to 50"),
        ({"query": "x", "min_score": 10**400}, "It takes a number from 0 to 1"),
        ({"query": "x", "min_score": "nan"}, "min_score is 'nan'. It takes a number from 0 to 1"),
        ({"query": "x", "min_score": 2}, "min_score is 2. It takes a number from 0 to 1"),
        ({"query": "x", "source": "web"}, "source is 'web'. It takes one of: memory, sessions, all"),
        ({"query": "x", "colour": 3}, "no argument 'colour'. It takes query (text, required)"),
        ({"query": "x", "from": 3}, "no argument 'from'"),
        ({"query": "x", "maxResults": 0}, "max_results is 0"),
        ({"query": "x", "max_results": 3, "maxResults": 5}, "max_results and maxResults name the same"),
        ({"query": "x", "maxResults": 3, "limit": 5}, "maxResults and limit name the same"),
        ({"query": "x" * (MOST_CHARACTERS + 1)}, "query has 100,001 characters. It takes at most 100,000"),
        (["x"], "not an object. It takes query (text, required)"),
        ("x", "not an object"),
    ],
)
def test_what_makes_no_sense_is_named(arguments: Any, said: str) -> None:
    with pytest.raises(UsageError, match="memory_search") as refused:
        parsed(SEARCH, arguments)
    assert said in str(refused.value)


def test_a_number_without_an_upper_limit_is_refused_in_plain_words() -> None:
    with pytest.raises(UsageError, match=r"memory_get: from is 0\. It takes a whole number of at least 1"):
        parsed(TOOLS["memory_get"], {"path": "a.md", "from": 0})


@given(ANYTHING)
def test_whatever_is_given_is_taken_or_refused_in_words(value: Any) -> None:
    for tool in TOOLS.values():
        try:
            taken = parsed(tool, value)
        except UsageError:
            continue
        assert set(tool.parameters["required"]) <= set(taken) <= set(tool.arguments)


@given(st.text(alphabet=string.printable), ANYTHING)
def test_an_argument_of_the_wrong_kind_never_gets_through(query: str, limit: Any) -> None:
    try:
        taken = parsed(SEARCH, {"query": query, "max_results": limit})
    except UsageError:
        return
    assert type(taken.get("max_results", 1)) is int
