"""The pictures of how search works show what the program finds."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from draw_search import CASES, NOTES, PICTURES, Case
from memlines import Memory
from tests.docs.pages import ROOT, text_of
from tests.memories import write

PAGE = text_of(ROOT / "docs/how-search-works.md")


def ask(memory: Memory, question: str) -> Case:
    """Return a question with its first hit, as it was on the day that its note names."""
    for hit in memory.search(question, now=datetime(2026, 11, 19, tzinfo=UTC)):
        words, meaning, days = (one or 0.0 for one in (hit.why.lexical, hit.why.vector, hit.why.days))
        return Case(question, words, meaning, days, hit.score, hit.band, hit.citation)
    return Case(question)


def test_the_picture_shows_what_the_questions_find(workspace: Path) -> None:
    write(workspace, NOTES)
    with Memory(workspace) as memory:
        found = [ask(memory, case.question) for case in CASES]
    assert [(one.band, one.citation) for one in found] == [(case.band, case.citation) for case in CASES]
    assert [one[1:5] for one in found] == [pytest.approx(case[1:5], abs=0.011) for case in CASES]


@pytest.mark.parametrize("name", PICTURES)
def test_every_picture_is_on_the_page(name: str) -> None:
    assert f"](pictures/{name}.svg)" in PAGE


def test_the_page_computes_the_evidence_of_the_first_question() -> None:
    first = CASES[0]
    doubts = (1 - first.words, 1 - first.meaning)
    (shown,) = re.findall(
        r"^For the first question that is 1 \S (\S+) \S (\S+) = (\S+)\.", PAGE, re.MULTILINE
    )
    assert shown == tuple(f"{value:.2f}" for value in (*doubts, 1 - doubts[0] * doubts[1]))
