"""What a query asks for, and what narrows it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.index.search.query import Filters, find_question, parse_filters
from tests.memories import fake_memory, words_memory
from tests.providers import MeaningsProvider

NOTES = {
    "people/anna.md": "Anna likes green tea.\n",
    "people/ben.md": "Ben likes black coffee.\nHe does not drink tea.\n",
    "2026-05-03.md": "Bought green tea.\n",
    "2026-06-10.md": "Tea was sold out; green light for coffee.\n",
}


@pytest.mark.parametrize(
    ("query", "text", "filters"),
    [
        ("green tea", "green tea", Filters()),
        ('the "Green  Tea" shop', "the Green  Tea shop", Filters(phrases=("green tea",))),
        ("tea -coffee", "tea", Filters(without=("coffee",))),
        ("tea path:people", "tea", Filters(paths=("people",))),
        ("tea source:sessions", "tea", Filters(sources=("sessions",))),
        ("tea after:2026-05 before:2026-06-01", "tea", Filters(after="2026-05", before="2026-06-01")),
        ("tea source:moon", "tea source:moon", Filters()),
        ("tea after:lunch", "tea after:lunch", Filters()),
        ("well-known tea", "well-known tea", Filters()),
        ("-coffee", "-coffee", Filters()),
        ("path:people", "path:people", Filters()),
        ('""', '""', Filters()),
        ('a "', 'a "', Filters()),
    ],
)
def test_a_query_taken_apart(query: str, text: str, filters: Filters) -> None:
    assert parse_filters(query) == (text, filters)


@given(st.text())
def test_any_text_can_be_taken_apart_and_keeps_some_text(query: str) -> None:
    assert bool(parse_filters(query)[0].strip()) == bool(query.strip())


@pytest.mark.parametrize(
    ("query", "paths"),
    [
        ("tea", {"people/anna.md", "people/ben.md", "2026-05-03.md", "2026-06-10.md"}),
        ('"green tea"', {"people/anna.md", "2026-05-03.md"}),
        ("tea -coffee", {"people/anna.md", "2026-05-03.md"}),
        ("tea -coffees", {"people/anna.md", "2026-05-03.md"}),
        ("tea path:people", {"people/anna.md", "people/ben.md"}),
        ("tea path:memory/*/b*.md", {"people/ben.md"}),
        ("tea after:2026-06", {"2026-06-10.md"}),
        ("tea before:2026-06", {"2026-05-03.md"}),
        ("tea after:2026-05-03 before:2026-05-04", {"2026-05-03.md"}),
        ("tea source:sessions", set()),
    ],
)
def test_a_query_narrows_the_search(workspace: Path, query: str, paths: set[str]) -> None:
    with words_memory(workspace, NOTES) as memory:
        assert {hit.path.removeprefix("memory/") for hit in memory.search(query)} == paths


def test_what_is_found_by_meaning_is_narrowed_too(workspace: Path) -> None:
    meanings = {"tea": (1.0, 0, 0, 0), "coffee": (0.9, 0.1, 0, 0), "beverage": (1.0, 0, 0, 0)}
    with fake_memory(workspace, NOTES, MeaningsProvider(meanings)) as memory:
        assert {hit.path for hit in memory.search("beverage path:anna")} == {"memory/people/anna.md"}


def test_what_narrows_is_not_embedded(workspace: Path) -> None:
    provider = MeaningsProvider({"tea": (1.0, 0, 0, 0)})
    with fake_memory(workspace, NOTES, provider) as memory:
        memory.search("tea path:people -coffee")
    assert provider.queries == ["tea"]


@pytest.mark.parametrize("engine", ["matrix", "sqlite-vec"])
def test_both_vector_engines_can_be_narrowed(workspace: Path, engine: str) -> None:
    provider = MeaningsProvider({"tea": (1.0, 0, 0, 0), "beverage": (1.0, 0, 0, 0)})
    with fake_memory(workspace, NOTES, provider, store__vector__engine=engine) as memory:
        result = memory.search("beverage path:anna")
        assert ([hit.path for hit in result], result.warnings) == (["memory/people/anna.md"], ())


# A question in a long message

TALK = "I slept badly, the train was late, and the coffee here tastes of cardboard again. " * 4


@pytest.mark.parametrize(
    ("message", "searched"),
    [
        (f"{TALK}Who feeds the cat on Monday? {TALK}", "Who feeds the cat on Monday?"),
        (f"Where is the spare key?\n{TALK}What did Anna order? Thanks!", "What did Anna order?"),
        (f"{TALK}Who feeds the cat? Right?", "Who feeds the cat?"),
        (TALK, TALK),
        ("Well. Who feeds the cat on Monday?", "Well. Who feeds the cat on Monday?"),
    ],
    ids=["in the middle", "the last one", "one with words", "no question", "short"],
)
def test_of_a_long_message_the_last_question_is_searched(message: str, searched: str) -> None:
    assert find_question(message) == searched


def test_a_question_in_small_talk_finds_what_it_finds_alone(workspace: Path) -> None:
    question = "Who likes black coffee?"
    with words_memory(workspace, NOTES | {"talk.md": f"{TALK}\n"}) as memory:
        alone, within = memory.search(question), memory.search(f"{TALK}{question} {TALK}")
    assert [hit.citation for hit in within] == [hit.citation for hit in alone]


@given(st.text())
def test_what_is_searched_of_a_message_is_a_part_of_it(message: str) -> None:
    assert find_question(message) in message
