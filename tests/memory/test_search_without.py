"""A search without some lines answers as if they were not in the memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memlines import Memory
from memlines.errors import PathError, UsageError
from tests.indexes import write as write_files
from tests.memories import fake_memory, words_memory
from tests.providers import MeaningsProvider
from tests.transcripts.records import HEADER, assistant, jsonl, user

PORT = "- The staging database listens on port 5433"
NOTES = {
    "ports.md": f"# Ports\n\n{PORT}\n- The mail server listens on port 25\n- Tom is the cat\n",
    "old.md": "# Old\n\n- The staging database once used port 6000\n",
    "more.md": "# More\n\n- The staging area is behind the house\n",
}
ASKED = "which port does the staging database use?"
LINE = "memory/ports.md#L3"


@pytest.fixture
def memory(workspace: Path) -> Memory:
    return words_memory(workspace, NOTES)


def shown(memory: Memory, query: str = ASKED, **options: Any) -> list[str]:
    with memory:
        return [hit.snippet for hit in memory.search(query, **options)]


def test_the_line_is_in_no_snippet(memory: Memory) -> None:
    assert any(PORT in snippet for snippet in shown(memory, min_score=0))
    assert not any("5433" in snippet for snippet in shown(memory, min_score=0, without=[LINE]))


def test_the_second_best_comes_first(memory: Memory) -> None:
    assert "port 6000" in shown(memory, without=[LINE])[0]


def test_other_lines_of_the_same_chunk_may_answer(memory: Memory) -> None:
    assert "port 25" in shown(memory, "which port does the mail server use?", without=[LINE])[0]


def test_as_many_results_are_shown_as_were_asked_for(workspace: Path) -> None:
    many = {f"n{at}.md": f"- Pond {at} is where the heron waits\n" for at in range(9)}
    memory = words_memory(workspace, many)
    left_out = [f"memory/n{at}.md#L1" for at in range(3)]
    found = shown(memory, "where does the heron wait?", max_results=5, min_score=0, without=left_out)
    assert len(found) == 5
    assert not any(f"Pond {at} " in snippet for snippet in found for at in range(3))


def test_a_memory_without_anything_else_has_no_answer(memory: Memory) -> None:
    assert shown(memory, "Tom cat", without=["memory/ports.md#L5"], strict=True) == []


def test_scores_and_order_are_nearly_those_of_a_memory_without_the_line(
    memory: Memory, tmp_path: Path
) -> None:
    fewer = tmp_path / "fewer"
    removed = NOTES | {"ports.md": NOTES["ports.md"].replace(f"{PORT}\n", "")}
    with memory, words_memory(fewer, removed) as other:
        ours, theirs = memory.search(ASKED, without=[LINE]), other.search(ASKED)
    assert ours[0].snippet == theirs[0].snippet
    assert ours[0].score == pytest.approx(theirs[0].score, abs=0.1)


def test_the_whole_of_an_entry_goes_that_a_citation_touches(workspace: Path) -> None:
    memory = words_memory(
        workspace, {"a.md": "- The owl\n  sleeps by day\n  and hunts by night\n- The owl is old\n"}
    )
    assert shown(memory, "owl", min_score=0, without=["memory/a.md#L2"]) == ["- The owl is old"]


def test_whole_chunks_are_shown_without_the_line(memory: Memory) -> None:
    (found,) = shown(memory, "mail server", full=True, strict=True, without=[LINE])
    assert found == "# Ports\n\n- The mail server listens on port 25\n- Tom is the cat"


@pytest.mark.parametrize(
    "settings", [{"profile": "openclaw"}, {"query__fusion": "rrf"}, {"query__mmr__enabled": True}]
)
def test_every_way_to_rank_leaves_the_line_out(workspace: Path, settings: dict[str, Any]) -> None:
    memory = words_memory(workspace, NOTES, **settings)
    found = shown(memory, "staging database port", min_score=0, without=[LINE])
    assert found
    assert not any("5433" in snippet for snippet in found)


@pytest.mark.parametrize("query", ["what happened on 2026-05-01?", "what did we decide on 2026-05-01?"])
def test_a_question_about_a_day_leaves_the_line_out(workspace: Path, query: str) -> None:
    memory = words_memory(
        workspace, {"2026-05-01.md": "- 10:00 We decided to count herons\n- 11:00 Lunch with Anna\n"}
    )
    found = shown(memory, query, without=["memory/2026-05-01.md#L1"])
    assert (any("Lunch" in one for one in found), any("herons" in one for one in found)) == (True, False)


def test_a_fact_is_left_out(workspace: Path) -> None:
    memory = words_memory(workspace, {"facts.md": "- Ada prefers tea\n- Grace prefers coffee\n"})
    found = shown(memory, "who prefers tea or coffee?", min_score=0, without=["memory/facts.md#L1"])
    assert found == ["Grace prefers coffee"]


def test_a_line_that_vectors_find_is_left_out(workspace: Path) -> None:
    provider = MeaningsProvider({"kitty": (1, 0, 0, 0), "tom is": (1, 0, 0, 0), "port": (0, 1, 0, 0)})
    memory = fake_memory(workspace, NOTES, provider)
    cat = shown(memory, "kitty", min_score=0, mode="vectors")
    others = shown(memory, "kitty", min_score=0, mode="vectors", without=["memory/ports.md#L5"])
    assert (any("Tom" in one for one in cat), any("Tom" in one for one in others)) == (True, False)


def test_turns_of_a_conversation_are_left_out(workspace: Path) -> None:
    said = jsonl(
        HEADER, user("Which port?"), assistant("Port 5433."), user("And mail?"), assistant("Port 25.")
    )
    write_files(workspace, {"sessions/a.jsonl": said})
    memory = words_memory(workspace, {}, sources=["sessions"])
    found = shown(memory, "port", min_score=0, without=["sessions/a.jsonl#L3"])
    assert any("25" in one for one in found)
    assert not any("5433" in one for one in found)


@pytest.mark.parametrize(
    ("wrong", "error"),
    [("ports", UsageError), ("memory/none.md#L3", PathError), ("memory/ports.md#L99", PathError)],
)
def test_a_line_that_is_not_there_is_refused(memory: Memory, wrong: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        shown(memory, without=[wrong])


def test_the_notes_stay_as_they_are(memory: Memory, workspace: Path) -> None:
    shown(memory, without=[LINE])
    assert PORT in (workspace / "memory/ports.md").read_text(encoding="utf-8")
