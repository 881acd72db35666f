"""Whether a fact is known already: a second line is better than a fact that is lost."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.memory.facts.contradiction import find_contradicted
from memlines.memory.facts.near import ALIKE, duplicate_of
from memlines.text.facts import Fact, FactLine
from tests.memory.facts.test_contradiction import SENTENCES

LIKE_EVERY = 1.0
NOW = datetime(2026, 3, 9, tzinfo=UTC)


def line(text: str, name: str = "aaaaaaaaaa", created: date | None = None) -> FactLine:
    return FactLine(Fact(name, text, created=created), 1, 1, text)


def is_known(text: str, known: str, similarity: float | None = LIKE_EVERY) -> bool:
    return duplicate_of(text, [(line(known), similarity)], NOW) is not None


SAME_WORDS = [
    ("Prefers tabs over spaces.", "prefers tabs over spaces"),
    ("Ik woon in Utrecht", "Ik woon in Utrecht."),
    ("Ich mag **Kaffee**.", "Ich mag Kaffee"),
    ("J'habite à Lyon", "j'habite à Lyon !"),
    ("Vivo en Madrid", "Vivo en Madrid."),
    ("Bydlím v Praze", "Bydlím v Praze."),
]

SAME_SENSE = [
    ("I prefer tabs over spaces.", "The user prefers tabs over spaces."),
    ("I live in Berlin.", "Lives in Berlin."),
    ("I live in Berlin.", "I reside in Berlin."),
    ("My dog is called Rex.", "My dog is named Rex."),
    ("The deadline is on 5 May.", "Deadline is on 5 May."),
    ("I don't eat meat.", "I do not eat meat."),
    ("Ik gebruik Vim.", "De gebruiker gebruikt Vim."),
    ("Ich wohne in Berlin.", "Der Nutzer wohnt in Berlin."),
    ("Wir nutzen Jira für Tickets.", "Wir verwenden Jira für Tickets."),
    ("J'utilise Vim.", "L'utilisateur utilise Vim."),
    ("Vivo en Madrid.", "El usuario vive en Madrid."),
    ("Bydlím v Praze.", "Uživatel bydlí v Praze."),
]

OTHER = [
    ("Prefers tabs over spaces.", "Prefers spaces over tabs."),
    ("My phone number is 555 0100.", "My phone number is 555 0101."),
    ("The server is at 10.0.0.1.", "The server is at 10.0.0.2."),
    ("My email is a@b.test.", "My email is a@c.test."),
    ("Docs are at https://a.test/x.", "Docs are at https://a.test/y."),
    ("The config is in src/a.py.", "The config is in src/b.py."),
    ("The file is README.md.", "The file is readme.md."),
    ("The flag is `--force`.", "The flag is `--Force`."),
    ("The demo is on 5 May.", "The demo is on 5 June."),
    ("The demo is on Monday.", "The demo is on Tuesday."),
    ("Adam Peters likes tea.", "Adam Peter likes tea."),
    ("Anna works at Acme.", "Anne works at Acme."),
    ("I like coffee.", "I don't like coffee."),
    ("I like coffee.", "I only like coffee."),
    ("I eat meat.", "I no longer eat meat."),
    ("I live in Berlin.", "I lived in Berlin."),
    ("I am a smoker.", "I was a smoker."),
    ("I use tabs.", "I always use tabs."),
    ("I have two cats.", "I have three cats."),
    ("I like tea and coffee.", "I like tea or coffee."),
    ("We fly from Rome to Oslo.", "We fly from Oslo to Rome."),
    ("Deploy before the review.", "Deploy after the review."),
    ("He likes tea.", "She likes tea."),
    ("My wife likes tea.", "I like tea."),
    ("We use Vim.", "I use Vim."),
    ("The car is red.", "The car is blue."),
    ("I work at Acme since June.", "I work at Acme since July."),
    ("We might use Go.", "We use Go."),
    (
        "The trip to Rome in May with the whole family and the two old dogs is by train.",
        "The trip to Rome in May with the whole family and the two old dogs is by night train.",
    ),
    ("Ik drink koffie.", "Ik drink geen koffie."),
    ("Ik woon in Gent.", "Ik woonde in Gent."),
    ("Jan helpt Piet.", "Piet helpt Jan."),
    ("Ich mag Hunde.", "Ich mag Katzen."),
    ("Ich mag den Hund.", "Ich mag nur den Hund."),
    ("Anna ist größer als Eva.", "Eva ist größer als Anna."),
    ("Je mange de la viande.", "Je ne mange pas de viande."),
    ("Je mange de la viande.", "Je ne mange que de la viande."),
    ("Paul aide Luc.", "Luc aide Paul."),
    ("Me gusta el té.", "No me gusta el té."),
    ("Ana ayuda a Luis.", "Luis ayuda a Ana."),
    ("Mám rád kávu.", "Nemám rád kávu."),
    ("Piju kávu.", "Piju jen kávu."),
    ("Bydlím v Praze.", "Bydlel jsem v Praze."),
]


@pytest.mark.parametrize(("text", "known"), SAME_WORDS)
def test_the_same_words_are_known_without_a_vector(text: str, known: str) -> None:
    assert is_known(text, known, None)


@pytest.mark.parametrize(("text", "known"), SAME_SENSE)
def test_what_differs_in_nothing_that_matters_is_known(text: str, known: str) -> None:
    assert is_known(text, known)


@pytest.mark.parametrize(("text", "known"), SAME_SENSE)
def test_other_words_are_new_if_the_vectors_are_not_near_enough(text: str, known: str) -> None:
    assert not is_known(text, known, ALIKE - 0.01)


@pytest.mark.parametrize(("text", "known"), OTHER)
def test_what_differs_in_something_that_matters_is_new(text: str, known: str) -> None:
    assert not is_known(text, known)


@pytest.mark.parametrize(("known", "text"), OTHER)
def test_what_matters_matters_in_both_directions(known: str, text: str) -> None:
    assert not is_known(text, known)


def test_a_fact_that_is_no_longer_true_is_not_known() -> None:
    old = line("I live in Berlin.")
    struck = replace(old, fact=old.fact.supersede("bbbbbbbbbb", date(2026, 1, 1)))

    assert duplicate_of("I live in Berlin.", [(struck, LIKE_EVERY)], NOW) is None


def test_the_same_words_come_before_other_words() -> None:
    other, same = line("The user lives in Berlin."), line("I live in Berlin.", "bbbbbbbbbb")

    assert duplicate_of("I live in Berlin.", [(other, 0.99), (same, 0.98)], NOW) is same


def test_tomorrow_said_on_another_day_is_another_day() -> None:
    known = line("The demo is tomorrow.", created=date(2026, 3, 1))

    assert (
        duplicate_of("The demo is tomorrow.", [(known, LIKE_EVERY)], datetime(2026, 3, 9, tzinfo=UTC)) is None
    )


def test_tomorrow_said_on_the_same_day_is_the_same_day() -> None:
    known = line("The demo is tomorrow.", created=date(2026, 3, 1))

    assert (
        duplicate_of("The demo is tomorrow.", [(known, LIKE_EVERY)], datetime(2026, 3, 1, tzinfo=UTC))
        is known
    )


def test_tomorrow_is_new_if_the_fact_has_no_day() -> None:
    assert not is_known("The demo is tomorrow.", "The demo is tomorrow.")


@given(st.text(), st.text())
def test_any_two_texts_can_be_compared(one: str, other: str) -> None:
    assert is_known(one, other) in (True, False)


@given(SENTENCES, SENTENCES)
def test_a_known_fact_contradicts_nothing_that_says_the_same(one: str, other: str) -> None:
    assert not (is_known(one, other) and find_contradicted(one, "other", [(line(other), LIKE_EVERY)]))


@given(SENTENCES, st.lists(SENTENCES, max_size=8, unique=True), st.randoms())
def test_the_order_of_the_others_does_not_matter(text: str, known: list[str], chance: random.Random) -> None:
    near: list[tuple[FactLine, float | None]] = [
        (line(one, f"{at:a>10}"), 1 - at / 100) for at, one in enumerate(known)
    ]

    assert duplicate_of(text, chance.sample(near, len(near)), NOW) is duplicate_of(text, near, NOW)
