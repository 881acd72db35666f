"""A word that no note holds is searched as the one that was probably meant, and the answer says so."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines import Memory
from memlines.index.search.spelling import _slips
from tests.indexes import write
from tests.programs import Cli

WORDS_ONLY = {"embeddings.provider": "none"}
NOTES = {
    "memory/db.md": "# Billing\n\nWe picked Postgres 17 for the billing service.\n",
    "memory/graphs.md": "The dashboards moved to Grafana in May.\n",
    "memory/boiler.md": "The heating was repaired; the invoices are in the blue folder.\n",
    "memory/zahn.md": "# Gesundheit\n\nDie Zahnärztin hat uns einen Termin am Montag gegeben.\n",
}


@pytest.fixture
def notes(workspace: Path) -> Path:
    write(workspace, NOTES)
    return workspace


@pytest.mark.parametrize(
    ("query", "path", "corrections"),
    [
        ("postgress", "memory/db.md", {"postgress": "postgres"}),
        ("grafna dashboards", "memory/graphs.md", {"grafna": "grafana"}),
        ("garfana", "memory/graphs.md", {"garfana": "grafana"}),
        ("biling service", "memory/db.md", {"biling": "billing"}),
        ("where are the invioces", "memory/boiler.md", {"invioces": "invoices"}),
        ("repared heating", "memory/boiler.md", {"repared": "repaired"}),
        ("wann ist der Temrin", "memory/zahn.md", {"temrin": "termin"}),
    ],
)
def test_one_slip_is_corrected(notes: Path, query: str, path: str, corrections: dict[str, str]) -> None:
    with Memory(notes, WORDS_ONLY) as memory:
        result = memory.search(query)
    assert dict(result.corrections) == corrections
    assert result.hits[0].path == path


@pytest.mark.parametrize(
    "query", ["postgres", "mysql", "lamp", "Kubernetes", "E-4107", "17x", "数据库", "xx", "grafaxyz"]
)
def test_other_words_stay_as_they_are(notes: Path, query: str) -> None:
    with Memory(notes, WORDS_ONLY) as memory:
        assert dict(memory.search(query).corrections) == {}


def test_another_form_of_the_word_is_enough(workspace: Path) -> None:
    write(workspace, {"memory/a.md": "All meetings are on Tuesday.\n"})
    with Memory(workspace, WORDS_ONLY) as memory:
        assert dict(memory.search("meetng").corrections) == {"meetng": "meetings"}


def test_a_corrected_word_scores_below_the_right_one(notes: Path) -> None:
    with Memory(notes, WORDS_ONLY) as memory:
        right, wrong = memory.search("grafana in may"), memory.search("grafna in may")
    assert wrong[0].path == right[0].path
    assert wrong[0].score < right[0].score


def test_a_corrected_word_is_named_as_the_note_spells_it(notes: Path) -> None:
    with Memory(notes, WORDS_ONLY) as memory:
        assert memory.search("grafna dashboards").hits[0].why.words == ("grafana", "dashboards")


def test_nothing_is_corrected_in_what_nobody_asked_for(notes: Path) -> None:
    with Memory(notes, WORDS_ONLY) as memory:
        result = memory.search("grafna dashboards", strict=True)
    assert dict(result.corrections) == {}


def test_the_openclaw_profile_corrects_nothing(notes: Path) -> None:
    with Memory(notes, {**WORDS_ONLY, "profile": "openclaw"}) as memory:
        assert dict(memory.search("grafna").corrections) == {}


def test_the_command_says_what_it_searched(cli: Cli, notes: Path) -> None:
    done = cli("search", "grafna", "-w", notes)
    assert "searched instead: grafna → grafana" in done.err
    assert "memory/graphs.md" in done.out


def test_programs_are_given_the_corrections(cli: Cli, notes: Path) -> None:
    assert cli("search", "grafna", "-w", notes, "--json").json["corrections"] == {"grafna": "grafana"}


@given(st.text("abcdef", min_size=1, max_size=9))
def test_a_slip_keeps_the_first_letter_and_changes_at_most_one_length(word: str) -> None:
    for form in (form for forms in _slips(word) for form in forms):
        assert form[0] == word[0]
        assert abs(len(form) - len(word)) <= 1


@pytest.mark.parametrize(
    ("query", "path", "corrections"),
    [
        ('"billing postgres"', "memory/db.md", {'"billing postgres"': "billing postgres"}),
        ('"May  Dashboards"', "memory/graphs.md", {'"may dashboards"': "may dashboards"}),
        ('"billing service" "17 postgres"', "memory/db.md", {'"17 postgres"': "17 postgres"}),
        ('"the heating" path:boiler -grafana "no such"', "memory/boiler.md", {'"no such"': "no such"}),
    ],
)
def test_a_phrase_that_is_nowhere_is_relaxed(
    notes: Path, query: str, path: str, corrections: dict[str, str]
) -> None:
    with Memory(notes, WORDS_ONLY) as memory:
        result = memory.search(query)
    assert dict(result.corrections) == corrections
    assert result.hits[0].path == path


@pytest.mark.parametrize(
    "query",
    [
        '"billing service"',
        '"billing service" path:graphs',
        '"billing service" -postgres',
        '"the Grafana" path:db',
    ],
)
def test_a_phrase_that_is_somewhere_stays(notes: Path, query: str) -> None:
    write(notes, {"memory/more.md": "We have the Grafana of last year.\n"})
    with Memory(notes, WORDS_ONLY) as memory:
        result = memory.search(query)
    assert dict(result.corrections) == {}
    assert [hit.path for hit in result] == (["memory/db.md"] if query == '"billing service"' else [])


def test_the_other_filters_stay_when_a_phrase_is_relaxed(notes: Path) -> None:
    with Memory(notes, WORDS_ONLY) as memory:
        result = memory.search('"grafana postgres" path:graphs', min_score=0)
    assert [hit.path for hit in result] == ["memory/graphs.md"]


def test_what_is_not_asked_for_does_not_relax_a_phrase(notes: Path) -> None:
    with Memory(notes, WORDS_ONLY) as memory:
        result = memory.search('"billing postgres"', strict=True)
    assert (result.hits, dict(result.corrections)) == ((), {})


def test_the_command_says_that_a_phrase_is_relaxed(notes: Path, cli: Cli) -> None:
    done = cli("search", '"billing postgres"', "-w", notes)
    assert '"billing postgres" → billing postgres' in done.err
    assert "memory/db.md" in done.out
