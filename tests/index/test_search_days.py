"""A query about days finds the entries of those days, wherever they are written, and shows only these."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memlines import Memory, SearchResult
from tests.memories import words_memory

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)  # a Monday

DECISIONS = """# Decisions

- 2026-11-03: The plumber comes on Tuesdays.
- 2026-11-10: We chose Postgres 17 for billing.
- 2026-11-12: The heating stays as it is.
- 2026-11-15: Sailing is moved to the summer.
- Nothing is known about when this was.
"""
MEETINGS = """# Meetings

## 10 November 2026

The budget was read aloud.

## 2026-11-15 Sunday

The garden was measured.
"""
NOTES = {"decisions.md": DECISIONS, "meetings.md": MEETINGS, "MEMORY.md": "The budget is a heating budget.\n"}


def ask(folder: Path, query: str, notes: dict[str, str] = NOTES, **settings: object) -> SearchResult:
    """Return what a search by words answers."""
    with words_memory(folder, notes, **settings) as memory:
        return memory.search(query, now=NOW)


def lines(result: SearchResult) -> list[str]:
    """Return the lines that are shown."""
    return [line for hit in result for line in hit.snippet.split("\n") if line]


# Filters


def test_after_finds_an_entry_by_its_own_date_and_shows_that_one(workspace: Path) -> None:
    result = ask(workspace, "heating plumber postgres after:2026-11-11 before:2026-11-13")
    assert lines(result) == ["- 2026-11-12: The heating stays as it is."]


def test_before_leaves_out_an_entry_of_a_later_day_in_the_same_chunk(workspace: Path) -> None:
    result = ask(workspace, "sailing plumber before:2026-11-04")
    assert lines(result) == ["- 2026-11-03: The plumber comes on Tuesdays."]


def test_one_entry_has_to_fit_both_ends(workspace: Path) -> None:
    notes = {"a.md": "- 2026-11-03: the plumber came\n- 2026-11-15: the plumber left\n"}
    assert not ask(workspace, "plumber after:2026-11-05 before:2026-11-10", notes)


def test_after_leaves_out_entries_without_a_day(workspace: Path) -> None:
    assert not ask(workspace, "budget after:2026-01-01 path:MEMORY.md")


def test_after_counts_the_dates_in_headings(workspace: Path) -> None:
    assert lines(ask(workspace, "budget garden after:2026-11-15")) == ["The garden was measured."]


@pytest.mark.parametrize(
    "query",
    [
        "after:2026-11-15",
        "what happened after:2026-11-15",
        "after:2026-11-15 ?",
        "after:2026-11-15 before:2027-01-01",
    ],
)
def test_a_filter_of_days_with_nothing_to_look_for_finds_the_notes_of_those_days(
    workspace: Path, query: str
) -> None:
    expected = ["- 2026-11-15: Sailing is moved to the summer.", "The garden was measured."]
    assert lines(ask(workspace, query)) == expected


def test_a_filter_of_one_end_takes_a_month(workspace: Path) -> None:
    notes = NOTES | {"old.md": "- 2026-04-30: an old thing\n- 2026-05-01: a thing of May\n"}
    assert lines(ask(workspace, "before:2026-05", notes)) == ["- 2026-04-30: an old thing"]


# Nothing but days


YESTERDAY = ["- 2026-11-15: Sailing is moved to the summer.", "The garden was measured."]


@pytest.mark.parametrize(
    "query",
    [
        "what happened yesterday?",
        "was ist gestern passiert?",
        "wat gebeurde er gisteren?",
        "qu'est-ce qui s'est passé hier ?",
        "¿qué pasó ayer?",
        "2026-11-15",
    ],
)
def test_what_happened_on_a_day_is_answered_with_all_entries_of_that_day(workspace: Path, query: str) -> None:
    assert lines(ask(workspace, query)) == YESTERDAY


def test_the_newest_day_comes_first_and_within_a_day_the_order_of_the_notes(workspace: Path) -> None:
    notes = {
        "b.md": "- 2026-11-14: b\n- 2026-11-03: c\n",
        "a.md": "- 2026-11-14: a\n",
        "2026-11-15.md": "- 08:00 first\n- 09:00 second\n",
    }
    result = ask(workspace, "what happened in the last three days?", notes)
    assert lines(result) == ["- 08:00 first", "- 09:00 second", "- 2026-11-14: a", "- 2026-11-14: b"]


def test_the_words_of_such_a_question_do_not_change_the_order(workspace: Path) -> None:
    notes = {"a.md": "- 2026-11-15: apples\n", "b.md": "- 2026-11-15: it happened yesterday, what happened\n"}
    assert [hit.path for hit in ask(workspace, "what happened yesterday?", notes)] == [
        "memory/a.md",
        "memory/b.md",
    ]


def test_nothing_of_those_days_is_said_and_nothing_else_is_shown(workspace: Path) -> None:
    notes = NOTES | {"other.md": "It happened yesterday, said the newspaper.\n"}
    result = ask(workspace, "what happened today?", notes)
    assert (result.hits, result.warnings) == ((), ("no note is of 2026-11-16",))


def test_a_span_without_notes_is_named_by_its_ends(workspace: Path) -> None:
    notes = {"a.md": "- 2026-04-03: old\n"}
    assert ask(workspace, "what happened last week?", notes).warnings == (
        "no note is of the days from 2026-11-09 to 2026-11-15",
    )


def test_a_date_that_only_the_text_of_a_note_holds_is_found_with_a_warning(workspace: Path) -> None:
    notes = {"a.md": "The tax is due on 2026-12-31, they said.\n"}
    result = ask(workspace, "2026-12-31", notes)
    assert (len(result), result.warnings) == (1, ("no note is of 2026-12-31",))


def test_notes_of_a_date_come_before_notes_that_mention_it(workspace: Path) -> None:
    notes = {"a.md": "Due on 2026-11-15, no later than 2026-11-15.\n", "b.md": "- 2026-11-15: b\n"}
    assert [hit.path for hit in ask(workspace, "2026-11-15", notes)] == ["memory/b.md", "memory/a.md"]


def test_a_path_narrows_the_notes_of_a_day(workspace: Path) -> None:
    assert lines(ask(workspace, "what happened yesterday? path:meetings")) == ["The garden was measured."]


def test_a_thousand_chunks_of_one_span_are_all_candidates(workspace: Path) -> None:
    notes = {
        f"{day:02d}-{number}.md": f"- 2026-10-{day:02d}: entry {number} of day {day}\n"
        for day in range(1, 21)
        for number in range(50)
    }
    with words_memory(workspace, notes, query__max_results=1_000) as memory:
        memory.sync()
        found = memory.search("what happened last month?", now=NOW)
    days = [hit.snippet[2:12] for hit in found]
    assert (len(found), days) == (1_000, sorted(days, reverse=True))


def test_a_word_finds_the_oldest_note_of_a_long_span(workspace: Path) -> None:
    notes = {f"{number}.md": f"- 2026-10-20: entry {number} of many\n" for number in range(2_100)}
    notes["first.md"] = "- 2026-10-01: the kestrel nests\n"
    notes["other.md"] = "- 2026-01-01: the kestrel nests\n"
    with words_memory(workspace, notes) as memory:
        memory.sync()
        found = memory.search("kestrel last month", now=NOW, min_score=0)
    assert (found[0].path, "memory/other.md" in [hit.path for hit in found]) == ("memory/first.md", False)


# Days and other words


@pytest.mark.parametrize(
    "query",
    [
        "what did we decide last week?",
        "was haben wir letzte Woche entschieden?",
        "wat hebben we vorige week besloten?",
        "qu'avons-nous décidé la semaine dernière ?",
        "¿qué decidimos la semana pasada?",
    ],
)
def test_what_was_decided_comes_first_then_other_entries_of_those_days(workspace: Path, query: str) -> None:
    notes = {
        "log.md": "- 2026-11-11: Rain all day.\n",
        "old.md": "- 2026-11-03: We decided to decide later.\n",
        "plan.md": "- 2026-11-10: We chose Postgres 17 for billing.\n- 2026-11-10: It was cold.\n",
    }
    result = ask(workspace, query, notes)
    assert [hit.snippet for hit in result] == [
        "- 2026-11-10: We chose Postgres 17 for billing.",
        "- 2026-11-11: Rain all day.",
        "- 2026-11-10: It was cold.",
    ]


def test_an_entry_of_the_days_comes_before_a_better_match_of_another_day(workspace: Path) -> None:
    notes = {
        "a.md": "- 2026-11-03: the plumber repaired the boiler and the pipe\n",
        "b.md": "- 2026-11-12: the plumber sent a long bill for many other things that he did somewhere\n",
    }
    with words_memory(workspace, notes) as memory:
        found = memory.search("plumber boiler pipe last week", now=NOW, min_score=0)
    assert [hit.path for hit in found] == ["memory/b.md", "memory/a.md"]


def test_a_match_of_another_day_is_found_if_no_entry_of_the_days_has_the_words(workspace: Path) -> None:
    notes = {"a.md": "- 2026-11-03: the plumber came\n", "b.md": "- 2026-11-12: rain\n"}
    assert ask(workspace, "what did the plumber say last week?", notes)[0].path == "memory/a.md"


def test_the_days_count_for_one_entry_of_a_chunk_and_not_for_others(workspace: Path) -> None:
    notes = {"a.md": "- 2026-11-03: the plumber came, plumber\n- 2026-11-15: the plumber left\n- rain\n"}
    best, other = ask(workspace, "plumber yesterday", notes)
    assert best.snippet == "- 2026-11-15: the plumber left"
    assert other.score < best.score


def test_entries_of_one_day_are_shown_together_but_not_over_a_gap(workspace: Path) -> None:
    notes = {"a.md": "- 2026-11-15: one\n- 2026-11-15: two\n- 2026-11-14: between\n- 2026-11-15: three\n"}
    assert [hit.snippet for hit in ask(workspace, "what happened yesterday?", notes)] == [
        "- 2026-11-15: one\n- 2026-11-15: two",
        "- 2026-11-15: three",
    ]


def test_a_chunk_of_several_days_is_shown_by_them_the_newest_first(workspace: Path) -> None:
    notes = {"a.md": "- 2026-11-12: old\n- 2026-11-14: new\n", "b.md": "- 2026-11-13: middle\n"}
    assert lines(ask(workspace, "what happened last week?", notes)) == [
        "- 2026-11-14: new",
        "- 2026-11-13: middle",
        "- 2026-11-12: old",
    ]


# Conversations


def put_session(workspace: Path, name: str, said: list[tuple[str, str]]) -> None:
    """Write a conversation of turns with their times."""
    records = [{"type": "session", "id": name, "timestamp": said[0][0]}]
    for at, (time, text) in enumerate(said):
        message = {"role": "assistant" if at % 2 else "user", "content": [{"type": "text", "text": text}]}
        records.append({"type": "message", "timestamp": time, "message": message})  # type: ignore[dict-item]
    path = workspace / "sessions" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


def talk(workspace: Path, query: str) -> list[str]:
    """Return what is shown of conversations."""
    with Memory(workspace, {"embeddings.provider": "none", "sources": ["sessions"]}) as memory:
        return lines(memory.search(query, now=NOW))


def test_a_turn_is_of_the_day_it_was_said_not_of_the_day_the_session_began(workspace: Path) -> None:
    put_session(
        workspace,
        "long",
        [
            ("2026-11-10T08:00:00Z", "the plumber came"),
            ("2026-11-10T08:01:00Z", "noted"),
            ("2026-11-15T08:00:00Z", "the gardener came"),
            ("2026-11-15T08:01:00Z", "noted too"),
        ],
    )
    assert talk(workspace, "what happened yesterday?") == ["User: the gardener came", "Assistant: noted too"]


def test_conversations_of_a_day_come_in_the_order_they_began(workspace: Path) -> None:
    put_session(workspace, "a", [("2026-11-15T10:00:00Z", "late words")])
    put_session(workspace, "b", [("2026-11-15T08:00:00Z", "early words")])
    assert talk(workspace, "what happened yesterday?") == ["User: early words", "User: late words"]


def test_after_finds_the_later_turns_of_a_session(workspace: Path) -> None:
    put_session(
        workspace,
        "long",
        [("2026-11-10T08:00:00Z", "the plumber came"), ("2026-11-15T08:00:00Z", "the plumber left")],
    )
    assert talk(workspace, "plumber after:2026-11-14") == ["Assistant: the plumber left"]
