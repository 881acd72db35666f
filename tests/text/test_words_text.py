"""Words of a query, and which of them tell something."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.paths import languages_with
from memlines.text.language import is_unlearned, language_of, stop_words
from memlines.text.terms import telling_words, words_of


def test_words_are_runs_of_letters_digits_and_underscores() -> None:
    assert words_of("Port 8080, max_bytes=5; naïve!") == ["Port", "8080", "max_bytes", "5", "naïve"]


@pytest.mark.parametrize("text", ["", "   ", "!?…", "😀", "\0\n"])
def test_no_words(text: str) -> None:
    assert words_of(text) == []


@pytest.mark.parametrize(
    ("question", "telling"),
    [
        ("Which database did billing pick?", ["database", "billing", "pick"]),
        ("Welke database heeft facturatie?", ["database", "facturatie"]),
        ("Welche Datenbank hat die Abrechnung?", ["datenbank", "abrechnung"]),
        ("Quelle base de données avons-nous?", ["base", "données"]),
        ("¿Qué base usamos para facturas?", ["base", "usamos", "facturas"]),
    ],
)
def test_a_question_is_left_with_what_tells(question: str, telling: list[str]) -> None:
    assert telling_words(question) == telling


def test_a_query_of_stop_words_keeps_them() -> None:
    assert telling_words("to be or not to be") == ["to", "be", "or", "not"]


def test_a_word_counts_once_whatever_its_case() -> None:
    assert telling_words("Postgres POSTGRES postgres") == ["postgres"]


EVERY_STOP_WORD = frozenset().union(*map(stop_words, languages_with("words")))


def test_a_small_word_of_another_language_is_kept() -> None:
    assert telling_words("What happened with Ben yesterday?") == ["happened", "ben", "yesterday"]


def test_order_is_as_written() -> None:
    assert telling_words("zebra apple mango") == ["zebra", "apple", "mango"]


def test_stop_words_are_in_lower_case() -> None:
    assert all(word == word.lower() for word in EVERY_STOP_WORD)


def test_every_stop_word_is_one_word() -> None:
    assert all(words_of(word) == [word] for word in EVERY_STOP_WORD)


@given(st.text())
def test_a_query_with_words_never_loses_all_of_them(text: str) -> None:
    assert telling_words(text) or not any(word.strip("_") for word in words_of(text))


@given(st.text())
def test_no_word_is_given_twice(text: str) -> None:
    telling = telling_words(text)
    assert len(telling) == len(set(telling))


@given(st.text(alphabet="ab you the_1 é"))
def test_stop_words_stay_only_where_nothing_else_is(text: str) -> None:
    telling = telling_words(text)
    kept = [word for word in telling if word in stop_words(language_of(text))]
    assert not kept or len(kept) == len(telling)


@pytest.mark.parametrize(
    ("question", "telling"),
    [
        ("what's Anneke's phone?", ["anneke", "phone"]),
        ("isn\u2019t the roof leaking?", ["roof", "leaking"]),
        ("où est l'antivol d'Emil ?", ["antivol", "emil"]),
        ("which parser is for C?", ["parser", "c"]),
    ],
)
def test_what_is_left_beside_an_apostrophe_tells_nothing(question: str, telling: list[str]) -> None:
    assert telling_words(question) == telling


def test_the_letter_of_a_genitive_does_not_make_english_french() -> None:
    assert language_of("Anneke's assistant's desk is near Rob's") == "en"


@pytest.mark.parametrize(
    ("text", "unlearned"),
    [
        ("Kdy má brněnský tým schůzku?", True),
        ("Wie heißt die Straße?", False),
        ("Où est le café ?", False),
        ("Gdzie są klucze do łazienki?", False),
    ],
)
def test_languages_that_the_builtin_model_did_not_learn(text: str, unlearned: bool) -> None:
    assert is_unlearned(text) == unlearned
