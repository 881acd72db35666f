"""Memory speaks up by itself when the notes answer, and is silent when they do not."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.recall_gate import DATA, measure

from memlines import Memory
from memlines.index.search.query import without_code
from memlines.memory.context import Relevant, find_relevant
from tests.memories import words_memory, write

FILLER = {f"filler{number}.md": f"Ordinary note {number} about nothing much.\n" for number in range(20)}
NOTES = {
    **FILLER,
    "staging.md": "# Staging\n\nThe API of staging answers on port 8443.\n",
    "tools.md": "# Tools\n\nDependencies are locked with uv, never with poetry.\n",
    "people.md": "# People\n\nMarieke de Wit leads the product.\n",
}


def unasked(memory: Memory, message: str) -> Relevant:
    return find_relevant(memory, message, unasked=True)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which port does staging use?", "memory/staging.md#L3"),
        ("Who is Marieke?", "memory/people.md#L3"),
        ("do we use poetry or uv?", "memory/tools.md#L3"),
        ("which port does `staging` use?", "memory/staging.md#L3"),
    ],
)
def test_a_question_that_a_note_answers_brings_it(workspace: Path, question: str, answer: str) -> None:
    with words_memory(workspace, NOTES) as memory:
        assert [hit.citation for hit in unasked(memory, question).hits] == [answer]


@pytest.mark.parametrize(
    "prompt",
    [
        "fix the failing test in utils.py",
        "add a retry to the http client",
        "explain this regex: ^(?:\\d{3}-)?\\d{4}$",
        "what does `git rebase staging --onto uv` do?",
        "```\nport = staging.port  # Marieke\n```\nwhy is this None?",
        "stop",
        "what is that?",
    ],
)
def test_a_coding_prompt_brings_nothing(workspace: Path, prompt: str) -> None:
    with words_memory(workspace, NOTES) as memory:
        assert unasked(memory, prompt).text == ""


def test_what_is_only_similar_is_quoted_only_if_it_is_asked_for(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        message = "rename the port of the adapter in the old desktop client, and in staging"
        assert unasked(memory, message).text == ""
        assert find_relevant(memory, message).text != ""


def test_facts_are_left_to_their_own_recall(workspace: Path) -> None:
    write(workspace, {"facts.md": "# Facts\n\n- The parking code is kept by Ingrid.\n"})
    with words_memory(workspace, FILLER) as memory:
        assert find_relevant(memory, "who keeps the parking code?").hits
        assert not unasked(memory, "who keeps the parking code?").hits


@pytest.mark.parametrize("settings", [{"profile": "openclaw"}, {"query__fusion": "rrf"}])
def test_scores_that_are_no_probabilities_never_speak_up(workspace: Path, settings: dict[str, str]) -> None:
    with words_memory(workspace, NOTES, **settings) as memory:
        assert unasked(memory, "Which port does staging use?").text == ""


@pytest.mark.parametrize(
    ("message", "left"),
    [
        ("why `a b` fails", "why   fails"),
        ("is `uv` used?", "is `uv` used?"),
        ("call f(x) now", "call   now"),
        ("who (if anybody) knows?", "who (if anybody) knows?"),
        ("see\n```\ncode", "see\n "),
    ],
)
def test_code_is_not_searched_with(message: str, left: str) -> None:
    assert without_code(message) == left


@pytest.mark.parametrize(("warm", "least", "most"), [(True, 60, 2), (False, 50, 3)])
def test_the_prompts_that_thresholds_were_chosen_on(
    monkeypatch: pytest.MonkeyPatch, warm: bool, least: int, most: int
) -> None:
    monkeypatch.setenv("MEMLINES_HOME", "replaced and put back")
    figures = measure("dev", warm=warm)
    assert (figures["questions"], figures["prompts"]) == (67, 67)
    assert figures["spoke"] >= least
    assert figures["false"] <= most


def test_every_expected_note_exists() -> None:
    from bench.recall_gate import SETS, prompts_of

    for name in SETS:
        rows = prompts_of(name) if (DATA / f"{name}.jsonl").exists() else []
        for row in rows:
            expected = row.get("expect", [])
            for path in [expected] if isinstance(expected, str) else expected:
                assert (DATA / "notes" / path).is_file()
