"""Which fact a newer one makes untrue, in six languages."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.memory.facts.contradiction import find_contradicted
from memlines.text.facts import Category, Fact, FactLine

HERE = Path(__file__).parent


class Pair(NamedTuple):
    """Two facts, and whether the newer one replaces the older one."""

    language: str
    label: str
    old: str
    new: str


def pairs_of(name: str) -> list[Pair]:
    rows = (HERE / name).read_text(encoding="utf-8").splitlines()
    return [Pair(*row.split("\t")) for row in rows if row and not row.startswith("#")]


def line(text: str, name: str = "aaaaaaaaaa", category: Category = "other") -> FactLine:
    return FactLine(Fact(name, text, category), 1, 1, text)


def replaces(new: str, old: str) -> bool:
    return find_contradicted(new, "other", [(line(old), None)]) is not None


DEVELOPED = pairs_of("contradictions.tsv")
UNSEEN = pairs_of("contradictions_unseen.tsv")
SENTENCES = st.sampled_from([text for pair in (*DEVELOPED, *UNSEEN) for text in (pair.old, pair.new)])


@pytest.mark.parametrize("pair", [pair for pair in DEVELOPED if pair.label == "+"], ids=str)
def test_a_newer_statement_replaces_the_one_it_makes_untrue(pair: Pair) -> None:
    assert replaces(pair.new, pair.old)


@pytest.mark.parametrize("pair", [pair for pair in (*DEVELOPED, *UNSEEN) if pair.label == "-"], ids=str)
def test_what_may_be_true_beside_the_other_replaces_nothing(pair: Pair) -> None:
    assert not replaces(pair.new, pair.old)


def test_nine_in_ten_of_the_unseen_replacements_are_found() -> None:
    found = [replaces(pair.new, pair.old) for pair in UNSEEN if pair.label == "+"]

    assert sum(found) >= 0.9 * len(found)


@pytest.mark.parametrize("language", ["en", "nl", "de", "fr", "es", "cs"])
def test_every_language_has_twenty_pairs_and_half_of_them_are_traps(language: str) -> None:
    labels = [
        "-" if pair.label == "-" else "+" for pair in (*DEVELOPED, *UNSEEN) if pair.language == language
    ]

    assert min(labels.count("+"), labels.count("-")) >= 20


def test_a_fact_that_is_no_longer_true_is_not_replaced_again() -> None:
    old = line("I live in Berlin.")
    struck = replace(old, fact=old.fact.supersede("bbbbbbbbbb", date(2026, 1, 1)))

    assert find_contradicted("I live in Hamburg.", "fact", [(struck, 0.9)]) is None


def test_the_nearest_of_several_that_agree_is_replaced() -> None:
    plain, detailed = line("Works at Acme."), line("Works at Acme as an engineer.", "bbbbbbbbbb")

    assert find_contradicted("I work at Globex.", "fact", [(plain, 0.8), (detailed, 0.9)]) is detailed


def test_two_that_are_as_near_are_both_left_alone() -> None:
    near = [(line("Works at Acme."), 0.8), (line("Works at Acme as an engineer.", "bbbbbbbbbb"), 0.8)]

    assert find_contradicted("I work at Globex.", "fact", near) is None


def test_a_thing_there_are_two_of_already_is_not_replaced_by_a_third() -> None:
    near = [(line("I work at Acme."), 0.9), (line("I work at Initech.", "bbbbbbbbbb"), 0.8)]

    assert find_contradicted("I work at Globex.", "fact", near) is None


def test_a_line_that_says_two_things_is_not_struck_because_of_one() -> None:
    assert not replaces("I work at Globex.", "I work at Acme. My desk is by the window.")


def test_one_sentence_of_several_can_replace_a_fact() -> None:
    assert replaces("Big news. I work at Globex now.", "I work at Acme.")


def test_the_opposite_word_counts_only_within_a_category() -> None:
    old = line("Prefers dark mode.", category="preference")

    assert find_contradicted("Prefers light mode.", "decision", [(old, 0.9)]) is None


def test_a_text_in_another_language_can_name_the_same_thing() -> None:
    assert replaces("Ich wohne jetzt in Hamburg.", "I live in Berlin.")


def test_a_number_written_as_a_word_is_no_other_number() -> None:
    assert not replaces("I have 2 cats.", "I have two cats.")


def test_a_phone_number_with_other_blanks_is_no_other_number() -> None:
    assert not replaces("My phone number is +31612345678.", "My phone number is +31 6 1234 5678.")


def test_another_name_of_the_same_thing_is_no_other_thing() -> None:
    assert not replaces("We now use PostgreSQL.", "We use Postgres.")


@pytest.mark.parametrize("old", ["I work at Acme.", "I live in Berlin."])
def test_each_half_of_a_sentence_can_replace_a_fact(old: str) -> None:
    assert replaces("I left Acme and moved to Lisbon.", old)


def test_what_is_denied_together_with_something_else_is_not_taken_for_said() -> None:
    assert not replaces("I don't work at Acme and live in Berlin.", "I live in Hamburg.")


def test_what_may_be_done_is_no_habit_of_somebody() -> None:
    assert not replaces("Drinking coffee is fine.", "I don't drink coffee.")


def test_a_question_replaces_nothing() -> None:
    assert not replaces("Do I live in Hamburg?", "I live in Berlin.")


def test_a_town_in_another_case_is_the_same_town() -> None:
    assert not replaces("Teď bydlím v Praze, tedy Praha 6.", "Bydlím v Praze.")


@given(st.one_of(st.text(), SENTENCES))
def test_a_text_never_contradicts_itself(text: str) -> None:
    assert find_contradicted(text, "other", [(line(text), 1.0)]) is None


@given(SENTENCES)
def test_a_text_never_contradicts_itself_without_its_punctuation(text: str) -> None:
    assert not replaces(text.rstrip("."), f"  {text} ")


@given(st.text(), st.text())
def test_any_two_texts_can_be_compared(one: str, other: str) -> None:
    assert replaces(one, other) in (True, False)


@given(SENTENCES, st.lists(SENTENCES, max_size=8, unique=True), st.randoms())
def test_the_order_of_the_others_does_not_matter(text: str, known: list[str], chance: random.Random) -> None:
    near: list[tuple[FactLine, float | None]] = [
        (line(one, f"{at:a>10}"), 1 - at / 10) for at, one in enumerate(known)
    ]
    shuffled = chance.sample(near, len(near))

    assert find_contradicted(text, "other", shuffled) is find_contradicted(text, "other", near)
