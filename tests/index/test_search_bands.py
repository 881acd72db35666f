"""How sure a search is: bands of hits, and the nearest lines where nothing is a confident match."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memlines import Memory
from memlines.agent.intent import about_past
from memlines.memory.context import find_relevant
from memlines.serve.tools import call_tool
from memlines.serve.tools.finding import NOTHING, UNSURE
from tests.memories import fake_memory, words_memory, write
from tests.programs import Cli
from tests.providers import MeaningsProvider, rotation

BILLING = {"db.md": "We picked Postgres 17 for the billing service.\n"}
TEA = {"tea.md": "The tea house has a good service, a garden, and cakes that one comes back for.\n"}
FULL_QUESTION = "Which Postgres, 16 or 17, did we pick for the billing service?"
NEAR_QUESTION = "which database does billing use?"
FAR_QUESTION = "who is our dentist?"
KESTRELS = {
    **{f"kestrel{number}.md": f"Kestrel {number} nests there.\n" for number in range(5)},
    **{f"filler{number}.md": f"Ordinary note {number} about nothing much.\n" for number in range(20)},
}
ONE_WORD_OF_MANY = "kestrel submarine violin tractor origami"
ASKED = (1.0, 0.0, 0.0, 0.0)


def near(cosine: float) -> tuple[float, float, float, float]:
    """Return a unit vector with this cosine to what is asked."""
    return (cosine, math.sqrt(1 - cosine**2), 0.0, 0.0)


# Bands


def test_the_best_hit_that_holds_the_whole_question_is_strong(workspace: Path) -> None:
    notes = BILLING | TEA
    with words_memory(workspace, notes) as memory:
        result = memory.search(FULL_QUESTION, min_score=0)
    assert [(hit.path, hit.band) for hit in result] == [("memory/db.md", "strong"), ("memory/tea.md", "weak")]
    assert result.confident


def bands_of(workspace: Path, best: float, other: float) -> dict[str, str]:
    provider = MeaningsProvider({"question": ASKED, "best": near(best), "other": near(other)})
    notes = {"a.md": "The best.\n", "b.md": "The best!\n", "c.md": "The other.\n"}
    with fake_memory(workspace, notes, provider) as memory:
        return {hit.path: hit.band for hit in memory.search("question", min_score=0)}


def test_what_is_far_ahead_of_the_others_is_strong(workspace: Path) -> None:
    bands = {"memory/a.md": "strong", "memory/b.md": "strong", "memory/c.md": "weak"}
    assert bands_of(workspace, 0.95, 0.6) == bands


def test_what_is_hardly_ahead_of_another_is_not_strong(workspace: Path) -> None:
    bands = {"memory/a.md": "likely", "memory/b.md": "likely", "memory/c.md": "weak"}
    assert bands_of(workspace, 0.65, 0.6) == bands


@pytest.mark.parametrize(("min_score", "confident"), [(0.2, True), (0.3, False)])
def test_a_result_is_confident_if_an_answer_is_as_likely_as_the_setting(
    workspace: Path, min_score: float, confident: bool
) -> None:
    with words_memory(workspace, KESTRELS, query__min_score=min_score) as memory:
        result = memory.search(ONE_WORD_OF_MANY)
    assert 0.2 <= result.likelihood < 0.3
    assert (result.confident, len(result)) == (confident, 5 if confident else 3)


def test_what_has_not_half_the_evidence_of_the_best_is_not_shown(workspace: Path) -> None:
    notes = BILLING | TEA
    with words_memory(workspace, notes) as memory:
        assert [hit.band for hit in memory.search(FULL_QUESTION)] == ["strong"]


# The nearest lines


@pytest.mark.parametrize("mode", ["hybrid", "words", "vectors"])
def test_a_question_that_something_is_near_to_gets_it(workspace: Path, mode: str) -> None:
    write(workspace, BILLING)
    with Memory(workspace) as memory:
        result = memory.search(NEAR_QUESTION, mode=mode)  # type: ignore[arg-type]
    assert [hit.path for hit in result] == ["memory/db.md"]


@pytest.mark.parametrize("mode", ["hybrid", "words", "vectors"])
def test_a_question_that_nothing_is_near_to_gets_nothing(workspace: Path, mode: str) -> None:
    write(workspace, BILLING)
    with Memory(workspace) as memory:
        result = memory.search(FAR_QUESTION, mode=mode)  # type: ignore[arg-type]
    assert (result.hits, result.confident) == ((), False)
    assert (result.nearest is None) is (mode == "words")


def test_at_most_three_weak_hits_are_shown(workspace: Path) -> None:
    with words_memory(workspace, KESTRELS) as memory:
        result = memory.search(ONE_WORD_OF_MANY)
        one = memory.search(ONE_WORD_OF_MANY, max_results=1)
    assert [hit.band for hit in result] == ["weak"] * 3
    assert not result.confident
    assert one.hits == result.hits[:1]
    assert result[0].why.fusion == "words only, the nearest because an answer is not likely"


def test_a_word_that_is_hardly_any_of_the_query_makes_nothing_near(workspace: Path) -> None:
    others = " ".join(f"unknown{number}" for number in range(20))
    with words_memory(workspace, KESTRELS) as memory:
        result = memory.search(f"kestrel {others}")
    assert len(result) == 0
    assert result.nearest is not None


@pytest.mark.parametrize(("cosine", "shown"), [(0.2, 1), (0.1, 0)])
def test_what_is_near_in_meaning_is_shown_though_it_holds_no_word(
    workspace: Path, cosine: float, shown: int
) -> None:
    provider = MeaningsProvider({"question": ASKED, "gist": near(cosine)})
    with fake_memory(workspace, {"a.md": "The gist.\n"}, provider) as memory:
        assert len(memory.search("question")) == shown


@pytest.mark.parametrize(("nearest", "shown"), [("Filler.\n", "memory/b.md"), ("The gist.\n", "memory/a.md")])
def test_what_is_far_behind_the_nearest_is_not_shown_beside_it(
    workspace: Path, nearest: str, shown: str
) -> None:
    provider = MeaningsProvider({"question": ASKED, "gist": near(0.28), "margin": near(0.13)})
    with fake_memory(workspace, {"a.md": nearest, "b.md": "The margin.\n"}, provider) as memory:
        assert [hit.path for hit in memory.search("question")] == [shown]


@pytest.mark.parametrize(("notes", "shown"), [(1, 1), (60, 0)])
def test_among_many_notes_meaning_must_be_nearer(workspace: Path, notes: int, shown: int) -> None:
    provider = MeaningsProvider({"question": ASKED, "gist": near(0.13)})
    filler = {f"filler{number}.md": f"Filler number {number}.\n" for number in range(notes - 1)}
    with fake_memory(workspace, {"a.md": "The gist.\n", **filler}, provider) as memory:
        assert len(memory.search("question")) == shown


def test_words_that_say_nothing_make_nothing_near(workspace: Path) -> None:
    provider = MeaningsProvider({"the of and": ASKED, "end": near(0.0)})
    with fake_memory(workspace, {"a.md": "The end of it and the way to go.\n"}, provider) as memory:
        assert len(memory.search("the of and to")) == 0


@pytest.mark.parametrize(
    "settings", [{"query__mmr__enabled": True}, {"query__temporal_decay__enabled": True}]
)
def test_the_nearest_are_shown_with_diversity_and_decay_too(
    workspace: Path, settings: dict[str, bool]
) -> None:
    with words_memory(workspace, KESTRELS, **settings) as memory:
        assert [hit.band for hit in memory.search(ONE_WORD_OF_MANY)] == ["weak"] * 3


# What was asked for exactly


def test_a_min_score_of_the_call_is_a_hard_cut(workspace: Path) -> None:
    with words_memory(workspace, KESTRELS) as memory:
        weak = memory.search(ONE_WORD_OF_MANY)[0].score
        above = memory.search(ONE_WORD_OF_MANY, min_score=weak + 0.01)
        below = memory.search(ONE_WORD_OF_MANY, min_score=weak - 0.01)
    assert (above.hits, above.nearest) == ((), weak)
    assert [hit.band for hit in below] == ["weak"] * 5
    assert not below.confident


def test_a_min_score_of_the_call_shows_weak_hits_beside_others(workspace: Path) -> None:
    notes = BILLING | TEA
    with words_memory(workspace, notes) as memory:
        result = memory.search(FULL_QUESTION, min_score=0.001)
    assert [hit.band for hit in result] == ["strong", "weak"]


# What is given unasked


def test_a_strict_search_shows_nothing_weak(workspace: Path) -> None:
    with words_memory(workspace, KESTRELS) as memory:
        result = memory.search(ONE_WORD_OF_MANY, strict=True)
    assert result.hits == ()
    assert result.nearest is not None


OPENCLAW = {"profile": "openclaw", "query__min_score": 0.9}
GIVEN: dict[str, Callable[[Memory], object]] = {
    "context": lambda memory: memory.context(ONE_WORD_OF_MANY),
    "what forget offers": lambda memory: memory.forget_candidates(ONE_WORD_OF_MANY),
    "unasked": lambda memory: find_relevant(memory, ONE_WORD_OF_MANY, unasked=True).hits,
}


@pytest.mark.parametrize("settings", [{}, {"query__fusion": "weighted"}, OPENCLAW])
@pytest.mark.parametrize("given", GIVEN)
def test_nothing_weak_is_given_or_used_unasked(workspace: Path, given: str, settings: dict[str, Any]) -> None:
    with words_memory(workspace, KESTRELS, **settings) as memory:
        assert memory.search(ONE_WORD_OF_MANY)
        assert not GIVEN[given](memory)


CHOSEN = {"decisions.md": "# decisions\n\n- 2026-11-19: We chose Postgres 17 for billing.\n"}


@pytest.mark.parametrize(
    ("message", "comes"),
    [
        ("Which Postgres does billing use?", True),
        ("Which database does billing use?", False),
        ("What did we decide about billing?", True),
    ],
)
def test_the_examples_of_the_pages_come_unasked_as_they_say(
    workspace: Path, message: str, comes: bool
) -> None:
    with words_memory(workspace, CHOSEN) as memory:
        given = find_relevant(memory, message, unasked=not about_past(message))
    assert bool(given.hits) is comes


# Classics


@pytest.mark.parametrize("fusion", ["weighted", "rrf"])
def test_a_classic_has_no_strong_hits(workspace: Path, fusion: str) -> None:
    with words_memory(workspace, BILLING, query__fusion=fusion) as memory:
        result = memory.search(FULL_QUESTION)
    assert [hit.band for hit in result] == ["likely"]
    assert result.confident


@pytest.mark.parametrize(("profile", "shown"), [("default", 3), ("openclaw", 5)])
def test_what_a_classic_shows_below_min_score_is_weak(workspace: Path, profile: str, shown: int) -> None:
    settings = {"query__min_score": 0.95, "query__fusion": "weighted", "profile": profile}
    with words_memory(workspace, KESTRELS, **settings) as memory:
        result = memory.search("kestrel")
    assert [hit.band for hit in result] == ["weak"] * shown
    assert not result.confident


# How it is said


def test_the_command_line_says_that_it_is_not_sure(cli: Cli, workspace: Path) -> None:
    write(workspace, KESTRELS)
    outcome = cli("search", "-w", workspace, ONE_WORD_OF_MANY)
    first, blank, head, *_ = outcome.out.splitlines()
    assert (outcome.code, first, blank) == (0, "No confident match. Nearest lines:", "")
    assert head.split()[1:] == ["weak", "memory/kestrel0.md#L1"]
    assert outcome.out.count(" weak ") == 3


def test_a_recall_shows_the_nearest_entries_where_nothing_is_sure(cli: Cli, workspace: Path) -> None:
    write(workspace, KESTRELS)
    outcome = cli("recall", "-w", workspace, ONE_WORD_OF_MANY)
    first, blank, _, *entries = outcome.out.splitlines()
    assert (outcome.code, first, blank) == (0, "No confident match. Nearest entries:", "")
    nests = [f"  memory/kestrel{number}.md#L1  Kestrel {number} nests there." for number in range(3)]
    assert entries == nests
    assert cli("recall", "-w", workspace, "submarine").out == "Nothing found.\n"
    assert "No confident match" not in cli("recall", "-w", workspace, "kestrel nests").out


def test_of_a_long_note_a_recall_shows_the_entry_that_is_near(workspace: Path) -> None:
    near_entry = "- It sleeps all day on the sill\n"
    text = "".join(f"- Ordinary entry {number} about nothing much\n" for number in range(12)) + near_entry
    meanings = {"pet": ASKED, "sleeps": near(0.3), "ordinary": near(0.0)}
    turns = rotation(256)[:4]  # the signs of four numbers would say little
    provider = MeaningsProvider(
        {name: (np.asarray(vector) @ turns).tolist() for name, vector in meanings.items()}
    )
    provider.dims, provider.by_sentence = 256, True
    with fake_memory(workspace, {"long.md": text}, provider) as memory:
        memory.sync()
        assert not memory.search("which pet?").confident
        entries = memory.recall("which pet?")
    assert [(entry.text, entry.weak) for entry in entries] == [(near_entry.strip(), True)]


def test_a_recall_tells_its_confidence_as_json(cli: Cli, workspace: Path) -> None:
    write(workspace, KESTRELS)
    unsure = cli("recall", "-w", workspace, "--json", ONE_WORD_OF_MANY).json
    assert (unsure["confident"], len(unsure["results"])) == (False, 3)
    assert cli("recall", "-w", workspace, "--json", "submarine").json == {"results": [], "confident": False}
    assert cli("recall", "-w", workspace, "--json", "kestrel nests").json["confident"] is True


def test_a_model_that_recalls_is_told_that_it_is_not_sure(workspace: Path) -> None:
    with words_memory(workspace, KESTRELS) as memory:
        unsure = call_tool(memory, "memory_recall", {"query": ONE_WORD_OF_MANY})
        sure = call_tool(memory, "memory_recall", {"query": "kestrel nests"})
    assert "No confident match. Nearest entries" in unsure.text
    assert (unsure.data["confident"], len(unsure.data["results"])) == (False, 3)
    assert (sure.data["confident"], "No confident match" in sure.text) == (True, False)


def test_the_command_line_names_the_band_of_each_hit(cli: Cli, workspace: Path) -> None:
    write(workspace, BILLING)
    head, *_ = cli("search", "-w", workspace, "Postgres billing service").out.splitlines()
    assert head.split()[1:] == ["strong", "memory/db.md#L1"]


def test_json_tells_bands_and_confidence(cli: Cli, workspace: Path) -> None:
    write(workspace, KESTRELS)
    unsure = cli("search", "-w", workspace, "--json", ONE_WORD_OF_MANY).json
    assert unsure["confident"] is False
    assert [hit["band"] for hit in unsure["results"]] == ["weak"] * 3
    nothing = cli("search", "-w", workspace, "--json", "submarine").json
    assert (nothing["confident"], nothing["results"]) == (False, [])
    sure = cli("search", "-w", workspace, "--json", "kestrel nests").json
    assert sure["confident"] is True


def test_a_model_is_told_that_it_is_not_sure(workspace: Path) -> None:
    with words_memory(workspace, KESTRELS) as memory:
        unsure = call_tool(memory, "memory_search", {"query": ONE_WORD_OF_MANY})
        sure = call_tool(memory, "memory_search", {"query": "kestrel nests"})
        nothing = call_tool(memory, "memory_search", {"query": "submarine"})
    assert UNSURE in " ".join(unsure.text.split())
    assert unsure.text.count("(weak, score 0.") == 3
    assert unsure.data["confident"] is False
    assert "No confident match" not in sure.text
    assert "(strong, score 0." in sure.text
    assert nothing.text.startswith(NOTHING)
