"""The category of a fact is guessed by its words, in six languages and at every door."""

from __future__ import annotations

from pathlib import Path

import pytest

from memlines.memory.facts.categories import category_of
from memlines.memory.memory import Memory
from memlines.text.facts import CATEGORIES
from tests.programs import Cli

HERE = Path(__file__).parent


def labelled(name: str) -> list[list[str]]:
    rows = (HERE / name).read_text(encoding="utf-8").splitlines()
    return [row.split("\t") for row in rows if row and not row.startswith("#")]


@pytest.mark.parametrize(("language", "category", "text"), labelled("categories.tsv"))
def test_a_fact_has_the_category_that_its_words_say(language: str, category: str, text: str) -> None:
    assert category_of(text) == category


def test_nine_in_ten_of_the_unseen_facts_are_in_the_right_category() -> None:
    rows = labelled("categories_unseen.tsv")
    right = [category_of(text) == category for _, category, text in rows]
    assert len(right) >= 50
    assert sum(right) >= 0.9 * len(right)


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("I prefer tabs.", "preference"),
        ("We decided to use Kafka.", "decision"),
        ("We did not decide on a database yet", "fact"),
        ("My boss is called Ada.", "entity"),
        ("The lease ends on 30 June.", "other"),
        ("I live in Rome.", "fact"),
        ("Order 4411 was shipped from Lyon", "fact"),
        ("I'm allergic to shellfish.", "fact"),
        ("Tom", "other"),
        ("", "other"),
    ],
)
def test_a_text_has_a_category(text: str, category: str) -> None:
    assert category_of(text) == category


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("The user prefers short answers", "preference"),
        ("Lena's birthday is on 3 May", "entity"),
        ("TODO: renew the certificate", "other"),
    ],
)
def test_python_guesses_the_category_as_the_command_does(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    workspace: Path,
    tmp_path: Path,
    text: str,
    category: str,
) -> None:
    monkeypatch.setenv("MEMLINES_EMBEDDINGS__PROVIDER", "none")
    with Memory(tmp_path) as memory:
        stored = memory.facts.store(text).line.fact.category
    told = Cli(capsys)("facts", "store", "-w", workspace, text, "--json").json
    assert (stored, told["fact"]["category"]) == (category, category)


def test_a_category_that_is_given_is_kept(tmp_path: Path) -> None:
    with Memory(tmp_path, {"embeddings.provider": "none"}) as memory:
        kept = [memory.facts.store(f"Prefers {one}", category=one).line.fact.category for one in CATEGORIES]
    assert kept == list(CATEGORIES)
