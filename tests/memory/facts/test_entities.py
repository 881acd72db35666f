"""Who is who by the facts: "my father" and "Henk" are the same, if a fact says so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memlines import Memory
from memlines.memory.facts.categories import category_of
from memlines.memory.facts.entities import entities_in, find_meant
from memlines.text.fact_note import facts_in
from memlines.text.facts import FactLine
from tests.memory.facts.memories import facts_memory, names

FACTS = """\
- 2026-11-02 [entity] Henk is my father. ^aaaaaaaaaa
- 2026-11-02 [fact] Henk lives in Groningen. ^bbbbbbbbbb
- 2026-11-02 [fact] Anna lives in Porto. ^cccccccccc
- 2026-11-02 [entity] Coral is the warehouse pipeline. ^dddddddddd
- 2026-11-02 [fact] The nightly jobs of Coral start at 02:15. ^eeeeeeeeee
- 2026-11-02 [decision] Chose Temporal for the scheduling of Coral. ^ffffffffff
- 2026-11-02 [preference] Likes to sit at the aisle in aeroplanes. ^gggggggggg
- 2026-11-02 [fact] The office printer only accepts PDF files. ^hhhhhhhhhh
"""


@pytest.fixture
def memory(workspace: Path) -> Iterator[Memory]:
    with facts_memory(workspace, text=FACTS) as memory:
        memory.sync()
        yield memory


def lines_of(*texts: str) -> tuple[FactLine, ...]:
    return facts_in("".join(f"- [{category_of(text)}] {text}\n" for text in texts))


def meant(query: str, *facts: str) -> dict[str, str]:
    return dict(find_meant(query, lines_of(*facts)).expansion.shown)


@pytest.mark.parametrize(
    ("fact", "query"),
    [
        ("Henk is my father.", "What instrument does my father play?"),
        ("My father is called Henk", "where does my father live?"),
        ("My father's name is Henk.", "how old is my father"),
        ("My father Henk lives in Groningen.", "where does my father live?"),
        ("The user's father Henk is a retired engineer.", "what was my father's job?"),
        ("Henk is mijn vader.", "waar woont mijn vader?"),
        ("Mein Vater heißt Henk.", "wo wohnt mein Vater?"),
        ("Mon père s'appelle Henk.", "où habite mon père ?"),
        ("Mi padre se llama Henk.", "¿dónde vive mi padre?"),
        ("Můj otec se jmenuje Henk.", "kde bydlí můj otec?"),
    ],
)
def test_who_is_described_has_a_name(fact: str, query: str) -> None:
    assert [*meant(query, fact).values()] == ["Henk"]


def test_a_name_has_a_description() -> None:
    assert meant("When is Henk's birthday?", "Henk is my father.") == {"Henk": "father"}


def test_other_words_for_the_same_person_are_the_same() -> None:
    assert [*meant("Is my boss away?", "Mehmet Aydin is my manager.").values()] == ["Mehmet Aydin"]


def test_a_thing_has_a_name_too() -> None:
    found = meant("Which database does the payments API use?", "Anemone is the payments API.")
    assert found == {"payments API": "Anemone"}


def test_my_sister_is_the_younger_one_if_there_is_no_other() -> None:
    facts = ("Lotte is my younger sister.", "Nadia is Yasmin's sister.")
    assert [*meant("Where does my sister live?", *facts).values()] == ["Lotte"]
    assert [*meant("When does Yasmin's sister marry?", *facts).values()] == ["Nadia"]


def test_the_sister_of_my_wife_is_that_of_her_name() -> None:
    facts = ("Yasmin is my wife.", "Nadia is Yasmin's sister.")
    assert {*meant("When does my wife's sister marry?", *facts).values()} == {"Yasmin", "Nadia"}


@pytest.mark.parametrize(
    ("fact", "query"),
    [
        ("Mehmet is my manager.", "Which package manager should be used?"),
        ("Mehmet is my manager.", "How do I write a context manager?"),
        ("Rob Jansen is head of finance.", "who is the head of support?"),
        ("Anna is tired.", "is the tired code slow?"),
        ("Henk is not my father.", "where does my father live?"),
        ("~~Henk is my father.~~", "where does my father live?"),
        ("Henk might be my father.", "where does my mother live?"),
    ],
)
def test_no_one_is_meant_who_only_shares_a_word(fact: str, query: str) -> None:
    assert meant(query, fact) == {}


def test_of_two_that_are_described_alike_neither_is_meant() -> None:
    facts = ("Bastian is the contact at Alpenfrost.", "Joke is the contact at Noordzee.")
    assert meant("what is the phone number of the contact?", *facts) == {}


def test_an_event_names_nobody() -> None:
    assert entities_in("The retrospective moved to every second Thursday.") == ()


# Answers


def test_what_is_said_of_somebody_answers_and_who_it_is_follows(memory: Memory) -> None:
    recalled = memory.facts.recall("where does my father live?")
    assert names(recalled)[:2] == ["bbbbbbbbbb", "aaaaaaaaaa"]
    assert recalled.aliases == {"father": "Henk"}


def test_who_somebody_is_can_be_asked(memory: Memory) -> None:
    assert names(memory.facts.recall("who is my father?"))[0] == "aaaaaaaaaa"


def test_the_best_fact_leads_to_another_by_a_name_in_it(memory: Memory) -> None:
    recalled = memory.facts.recall("Which scheduler starts the jobs of 02:15?")
    assert names(recalled)[:2] == ["eeeeeeeeee", "ffffffffff"]


def test_unasked_no_fact_leads_to_another(memory: Memory) -> None:
    recalled = memory.facts.recall("Which scheduler starts the jobs of 02:15?", 3, 0.5, asked=False)
    assert "ffffffffff" not in names(recalled)


def test_a_misspelt_name_is_found_and_reported(memory: Memory) -> None:
    recalled = memory.facts.recall("where does gronnigen lie?")
    assert recalled.corrections == {"gronnigen": "groningen"}
    assert names(recalled)[0] == "bbbbbbbbbb"


def test_unasked_no_spelling_is_corrected(memory: Memory) -> None:
    assert memory.facts.recall("where does gronnigen lie?", asked=False).corrections == {}


def test_the_note_of_aliases_serves_facts(workspace: Path) -> None:
    (workspace / "memory/aliases.md").write_text("- dad = father\n", encoding="utf-8")
    with facts_memory(workspace, text=FACTS) as memory:
        recalled = memory.facts.recall("where does my dad live?")
    assert names(recalled)[:2] == ["bbbbbbbbbb", "aaaaaaaaaa"]
    assert recalled.aliases == {"dad": "father", "father": "Henk"}
