"""Questions for what was known at a past time, and questions that only sound like it."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from memlines.index.search.query import Query, parse_query
from memlines.settings.tree import Settings
from memlines.types import Source

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)

ASKED = {
    "What did we believe in March?": "2026-03-31",
    "what did we think about the database in March?": "2026-03-31",
    "What did we know about the outage last week?": "2026-11-15",
    "what did we assume about the vendor in 2025?": "2025-12-31",
    "Who did the team think would win in May?": "2026-05-31",
    "what we assumed about the vendor in May": "2026-05-31",
    "what was believed about caching in 2025?": "2025-12-31",
    "What was known about the leak on 2026-02-03?": "2026-02-03",
    "which database, as of March 2026?": "2026-03-31",
    "As of 2026-03-01, who owns billing?": "2026-03-01",
    "billing owner as of last month": "2026-10-31",
    "state of knowledge about the leak in January": "2026-01-31",
    "Which database did we use back in 2025-03?": "2025-03-31",
    "our editor back in 2024": "2024-12-31",
    "Was haben wir im März über die Datenbank geglaubt?": "2026-03-31",
    "Was dachten wir im Mai?": "2026-05-31",
    "Was wussten wir im April 2025 über den Anbieter?": "2025-04-30",
    "Welche Datenbank, Stand März 2026?": "2026-03-31",
    "Que pensait-on de la base de données en mars ?": "2026-03-31",
    "Que savions-nous de la panne en avril 2025 ?": "2025-04-30",
    "¿Qué creíamos en marzo sobre la base de datos?": "2026-03-31",
    "¿Qué se sabía del fallo en 2025?": "2025-12-31",
    "Wat dachten we in maart over de database?": "2026-03-31",
    "Welke database per maart 2026?": "2026-03-31",
}
"""Questions for the state of knowledge, and the last day of the time they name."""

OTHERS = [
    "what did we do in March?",
    "what happened in March?",
    "What did we decide in March?",
    "what did we ship back in March?",
    "what did Anna say back in 2025?",
    "what do we know about the March outage?",
    "what do we think about tea?",
    "did you know that we moved in March?",
    "what do we believe as of today?",
    "what did we believe?",
    "what will we know in December?",
    "the meeting of last week",
    "when did we move to Postgres in 2025?",
    "notes of 2026-03-01",
    "Was haben wir im März gemacht?",
    "Was ist im März passiert?",
    "Was wissen wir über den Ausfall im März?",
    "Qu'avons-nous fait en mars ?",
    "¿Qué hicimos en marzo?",
    "¿Qué pasó en marzo?",
    "Wat hebben we in maart gedaan?",
    "Wat gebeurde er in maart?",
]
"""Questions for events, for what is known now, and for no past time."""


def parse(text: str, sources: tuple[Source, ...] = ("memory",), *, asked: bool = True) -> Query:
    query, profile = Settings().query, Settings().profile
    return parse_query(text, query, profile, mode="words", sources=sources, now=NOW, corrects=asked)


@pytest.mark.parametrize(("question", "day"), ASKED.items())
def test_a_question_for_what_was_known_names_its_day(question: str, day: str) -> None:
    assert parse(question).as_of == date.fromisoformat(day)


@pytest.mark.parametrize("question", OTHERS)
def test_any_other_question_names_none(question: str) -> None:
    assert parse(question).as_of is None


def test_the_topic_is_searched_without_the_time_and_the_believing() -> None:
    asked = parse("what did we believe about the billing database in March?")
    assert (asked.text, asked.spans) == ("what did we about the billing database ?", ())


def test_a_question_without_a_topic_is_for_the_entries_of_that_time() -> None:
    asked = parse("What did we believe in March?")
    assert (asked.is_only_days, [span.first for span in asked.spans]) == (True, [date(2026, 3, 1)])


def test_a_message_that_no_one_asked_to_be_searched_names_no_day() -> None:
    assert parse("as of March 2026 we use Postgres", asked=False).as_of is None


def test_a_search_of_conversations_alone_names_no_day() -> None:
    question = "what did we believe in March?"
    asked = [parse(question, ("sessions",)), parse(f"source:sessions {question}", ("memory", "sessions"))]
    assert [one.as_of for one in asked] == [None, None]
