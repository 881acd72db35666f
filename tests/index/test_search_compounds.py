"""What is one word here and two there is found in every spelling, and does not count twice."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from tests.memories import words_memory

FILLER = {f"filler{number}.md": f"Ordinary note {number} about nothing much.\n" for number in range(20)}
ROLLBACK = ("rollback", "roll-back", "roll back", "roll\u2011back", "rollBack", "roll_back", "Roll-Back")
RENDERER = ("invoiceRenderer", "invoice_renderer", "invoice renderer", "InvoiceRenderer", "invoice-renderer")


@pytest.mark.parametrize(("written", "asked"), [*product(ROLLBACK, ROLLBACK), *product(RENDERER, RENDERER)])
def test_every_spelling_finds_every_other(workspace: Path, written: str, asked: str) -> None:
    with words_memory(workspace, FILLER | {"a.md": f"Then comes the {written} of it.\n"}) as memory:
        result = memory.search(asked)
    assert [hit.path for hit in result] == ["memory/a.md"]
    assert result.hits[0].band != "weak"
    assert not result.corrections


@pytest.mark.parametrize(
    ("written", "asked"), [("sign up", "signup"), ("gpt-4", "gpt4"), ("gpt4", "gpt 4"), ("Backup", "back up")]
)
def test_a_small_word_or_a_number_may_come_second(workspace: Path, written: str, asked: str) -> None:
    with words_memory(workspace, FILLER | {"a.md": f"We use {written} here.\n"}) as memory:
        assert memory.search(asked).hits[0].path == "memory/a.md"


def test_the_hyphen_does_not_hide_the_word_where_others_write_it_as_one(workspace: Path) -> None:
    notes = FILLER | {"a.md": "Then comes the roll-back.\n", "b.md": "Then comes the rollback.\n"}
    with words_memory(workspace, notes) as memory:
        assert sorted(hit.path for hit in memory.search("rollback")) == ["memory/a.md", "memory/b.md"]


def test_a_word_with_a_hyphen_counts_like_its_parts(workspace: Path) -> None:
    notes = FILLER | {"a.md": "A long-term plan here.\n", "b.md": "A long term plan there.\n"}
    with words_memory(workspace, notes) as memory:
        one, other = memory.search("long-term", min_score=0)
    assert one.why.lexical == pytest.approx(other.why.lexical, abs=0.02)


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("We are not able to come.", "notable"),
        ("A back, then a roll.", "rollback"),
        ("The dl ns are.", "dLNs"),
    ],
)
def test_words_that_only_look_alike_do_not_meet(workspace: Path, written: str, asked: str) -> None:
    with words_memory(workspace, FILLER | {"a.md": f"{written}\n"}) as memory:
        assert [hit.path for hit in memory.search(asked)] == []


def test_what_matched_is_the_word_of_the_query(workspace: Path) -> None:
    with words_memory(workspace, FILLER | {"a.md": "The rollback of it.\n"}) as memory:
        assert memory.search("roll-back").hits[0].why.words == ("roll", "back")
