"""What the memory knows about a message: quoted, capped, and not twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memlines import Memory
from memlines.index.search.query import NO_FILTERS, as_prose, parse_filters
from memlines.memory.context import INTRODUCTION, MOST_QUOTES, Relevant, find_relevant
from memlines.text.chunk import weigh
from tests.memories import words_memory

NOTES = {
    "birds.md": "The kestrel nests in the old church tower.\n",
    "more.md": "Another kestrel nests at the mill.\n",
}


def about(memory: Memory, message: str, **options: Any) -> Relevant:
    return find_relevant(memory, message, **options)


def quoted_lines(text: str) -> list[str]:
    return [line.removeprefix("> ") for line in text.split("\n") if line.startswith("> ")]


def test_lines_that_fit_are_quoted_with_their_citation(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        found = about(memory, "where does the kestrel nest?")
    assert "memory/birds.md#L1:\n> The kestrel nests in the old church tower." in found.text


def test_a_user_who_wants_no_citations_gets_paths(workspace: Path) -> None:
    with words_memory(workspace, NOTES, citations="off") as memory:
        found = about(memory, "kestrel")
    assert "\nmemory/birds.md:\n> The kestrel" in found.text


def test_what_is_left_out_of_a_quote_is_not_cited(workspace: Path) -> None:
    items = [f"- The kestrel of tower {number} nests {'high ' * 8}up." for number in range(8)]
    with words_memory(workspace, {"birds.md": "\n".join(items) + "\n"}) as memory:
        every = about(memory, "kestrel")
        known = about(memory, "kestrel", known=[*items[:2], items[7]])
        short = about(memory, "kestrel", max_tokens=150)
    assert every.hits[0].citation == "memory/birds.md#L1-L8"
    assert known.hits[0].citation == "memory/birds.md#L3-L7"
    assert quoted_lines(known.text) == items[2:7]
    (shown,) = short.hits
    assert shown.end_line < 8
    assert quoted_lines(short.text) == items[shown.start_line - 1 : shown.end_line]


def test_nothing_is_said_when_nothing_fits(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        assert about(memory, "quarterly revenue").text == ""


def test_nothing_takes_no_tokens() -> None:
    assert Relevant().tokens == 0


def test_what_is_known_is_not_quoted_again(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        found = about(memory, "kestrel", known=["> The kestrel nests in the old church tower."])
    assert [hit.path for hit in found.hits] == ["memory/more.md"]


@pytest.mark.parametrize("message", ["Where does the kestrel nest?", "Where does\nthe kestrel nest?"])
def test_the_message_itself_is_not_quoted_from_the_transcript_of_this_session(
    workspace: Path, message: str
) -> None:
    (workspace / "sessions").mkdir()
    turns = [("user", message), ("assistant", "The kestrel nests at the mill.")]
    lines = [
        json.dumps({"type": "message", "message": {"role": role, "content": text}}) for role, text in turns
    ]
    (workspace / "sessions" / "now.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with words_memory(workspace, NOTES, sources=["memory", "sessions"]) as memory:
        quoted = quoted_lines(about(memory, message).text)
    assert "Assistant: The kestrel nests at the mill." in quoted
    assert not [line for line in quoted if line.startswith("User:")]


def test_a_context_in_the_message_is_not_searched_with(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        earlier = about(memory, "kestrel").text
        assert about(memory, f"{earlier}\nWhat is our quarterly revenue?").text == ""


def test_nothing_is_said_when_memory_is_off(workspace: Path) -> None:
    with words_memory(workspace, NOTES, enabled=False) as memory:
        assert about(memory, "kestrel").text == ""


def test_secrets_are_not_quoted(workspace: Path) -> None:
    token = "ghp_" + "aB3dE5gH7jK9" * 3
    with words_memory(workspace, {"a.md": f"The kestrel camera uses {token}\n"}) as memory:
        text = about(memory, "kestrel camera").text
    assert "kestrel camera" in text
    assert token not in text


@pytest.mark.parametrize(
    "message", ["did the kestrel -nests", 'the "kestrel church"', "path:nowhere kestrel"]
)
def test_a_message_does_not_narrow_the_search(workspace: Path, message: str) -> None:
    with words_memory(workspace, NOTES) as memory:
        assert "memory/birds.md" in about(memory, message).text


PIECES = ['"', "-", "path:", "tag:", "after:2026", "kestrel", " ", ":", "\n", "x"]


@given(st.lists(st.sampled_from(PIECES)).map("".join))
@example('" "path:" "')
def test_no_message_narrows(message: str) -> None:
    assert parse_filters(as_prose(message))[1] == NO_FILTERS


# Repeats


def test_the_same_line_in_another_note_is_not_quoted_again(workspace: Path) -> None:
    notes = {"a.md": "- 14:32 The kestrel nests here.\n", "b.md": "* 2026-05-01 the kestrel  nests here.\n"}
    with words_memory(workspace, notes) as memory:
        found = about(memory, "where does the kestrel nest?")
    assert len(found.hits) == 1


def test_a_line_that_differs_in_a_number_is_quoted(workspace: Path) -> None:
    notes = {"a.md": "The kestrel laid 4 eggs.\n", "b.md": "The kestrel laid 5 eggs.\n"}
    with words_memory(workspace, notes) as memory:
        assert len(about(memory, "how many eggs did the kestrel lay?").hits) == 2


def test_lines_that_two_hits_share_are_quoted_once(workspace: Path) -> None:
    lines = [f"The kestrel of tower {number} flew at noon." for number in range(40)]
    notes = {"a.md": "\n".join(lines)}
    with words_memory(workspace, notes, chunking__tokens=100, chunking__overlap=40) as memory:
        found = about(memory, "kestrel tower noon", max_tokens=2_000)
    shown = quoted_lines(found.text)
    assert len(found.hits) > 1
    assert len(shown) == len(set(shown))


def test_repeats_make_room_for_others(workspace: Path) -> None:
    notes = {f"same{number}.md": "The kestrel nests here.\n" for number in range(MOST_QUOTES)}
    notes["other.md"] = "Somebody else saw a kestrel as well, over there, long ago.\n"
    with words_memory(workspace, notes) as memory:
        assert "over there, long ago" in about(memory, "kestrel").text


# Room


def crowd() -> dict[str, str]:
    return {f"{number}.md": f"The kestrel of tower {number} " + "sings " * 100 for number in range(8)}


def test_there_are_only_so_many_quotes(workspace: Path) -> None:
    with words_memory(workspace, crowd()) as memory:
        assert len(about(memory, "kestrel tower", max_tokens=100_000).hits) == MOST_QUOTES


@pytest.mark.parametrize("max_tokens", [1, 60, 90, 120, 300, 500, 800])
@pytest.mark.parametrize("filling", ["sings ", "歌う", "<b>", "a\n"])
def test_the_text_stays_within_its_tokens(workspace: Path, max_tokens: int, filling: str) -> None:
    notes = {f"{number}.md": f"The kestrel of tower {number} " + filling * 200 for number in range(5)}
    with words_memory(workspace, notes) as memory:
        found = about(memory, "kestrel tower", max_tokens=max_tokens)
    assert weigh(found.text) <= max_tokens * 4
    assert found.tokens <= max_tokens


def test_what_is_too_long_is_cut_around_the_words_that_were_asked_for(workspace: Path) -> None:
    lines = [*(f"Line {number} about the weather in May." for number in range(12)), "The kestrel came back."]
    with words_memory(workspace, {"a.md": "\n".join(lines)}) as memory:
        found = about(memory, "kestrel", max_tokens=len(INTRODUCTION) // 4 + 60)
    assert "The kestrel came back." in found.text
    assert "Line 0 " not in found.text


def test_a_short_note_still_fits_where_a_long_one_does_not(workspace: Path) -> None:
    notes = {"long.md": "kestrel " * 200, "short.md": "The kestrel sleeps.\n"}
    with words_memory(workspace, notes) as memory:
        tight = len(INTRODUCTION) // 4 + 30
        assert quoted_lines(about(memory, "kestrel", max_tokens=tight).text) == ["The kestrel sleeps."]
