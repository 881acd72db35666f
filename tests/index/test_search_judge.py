"""A score is the probability that a hit answers the query, on one scale for every way of finding it."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.index.search.rank import _CURVES, Curve, probability
from memlines.text.language import is_foreign
from tests.memories import fake_memory, words_memory
from tests.providers import MeaningsProvider

ASKED = (1.0, 0.0, 0.0, 0.0)
FILLER = {f"filler{number}.md": f"Ordinary note {number} about nothing much.\n" for number in range(20)}
COMPARED: list[Curve] = list(_CURVES)


def near(cosine: float) -> tuple[float, float, float, float]:
    """Return a unit vector with this cosine to what is asked."""
    return (cosine, math.sqrt(1 - cosine**2), 0.0, 0.0)


@pytest.mark.parametrize("compared", COMPARED)
@given(one=st.floats(0, 1), other=st.floats(0, 1))
def test_more_evidence_is_never_less_likely(compared: Curve, one: float, other: float) -> None:
    less, more = sorted((one, other))
    assert 0 < probability(less, compared) <= probability(more, compared) < 1


@pytest.mark.parametrize("compared", COMPARED)
def test_no_evidence_is_no_answer_and_all_of_it_is_one(compared: Curve) -> None:
    assert probability(0, compared) < 0.35 < probability(1, compared)


def test_where_words_cannot_speak_meaning_needs_less(workspace: Path) -> None:
    provider = MeaningsProvider({"question": ASKED, "gist": near(0.45)})
    with fake_memory(workspace, FILLER | {"a.md": "The gist.\n"}, provider) as memory:
        result = memory.search("question")
    assert result[0].path == "memory/a.md"
    assert result.likelihood == pytest.approx(probability(0.45, "meaning"), abs=1e-4)


def test_a_chunk_that_covers_the_question_beats_one_that_repeats_a_word(workspace: Path) -> None:
    notes = FILLER | {
        "often.md": "kestrel kestrel kestrel kestrel\n",
        "both.md": "A long day: at noon some kestrel hovered above the meadow, and then we all went home.\n",
    }
    with words_memory(workspace, notes) as memory:
        assert memory.search("hovered kestrel")[0].path == "memory/both.md"


@pytest.mark.parametrize("query", ["flumptious grobble wexit", "???", "submarine", "tractor origami violin"])
def test_nonsense_gets_nothing(workspace: Path, query: str) -> None:
    with words_memory(workspace, FILLER | {"a.md": "The kestrel.\n"}) as memory:
        assert len(memory.search(query)) == 0


def test_marks_without_a_word_ask_no_provider(workspace: Path) -> None:
    provider = MeaningsProvider({})
    with fake_memory(workspace, FILLER, provider) as memory:
        assert len(memory.search("?!… ( )", min_score=0)) == 0
    assert provider.queries == []


GERMAN = "Der Vertrag mit dem Vermieter ist am ersten Mai zu Ende, und wir haben noch keine neue Wohnung."


@pytest.mark.parametrize(
    ("query", "text", "foreign"),
    [
        ("when does the lease end", GERMAN, True),
        ("wann endet der Vertrag", GERMAN, False),
        ("lease", GERMAN, False),
        ("租约什么时候到期", GERMAN, True),
        ("租约什么时候到期", "租约五月一日到期", False),
        ("when does the lease end", "租约五月一日到期", True),
        ("when does the lease end", "Lease: 1 May", False),
        ("when does the lease end", "", False),
    ],
)
def test_a_text_is_foreign_if_its_small_words_or_its_script_say_so(
    query: str, text: str, foreign: bool
) -> None:
    assert is_foreign(query, text) is foreign
