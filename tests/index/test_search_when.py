"""Words that say when raise the notes of those days."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memlines.index.search.query import parse_days
from tests.memories import words_memory

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)  # a Monday
DAYS = {
    f"2026-{month:02d}-{day:02d}.md": f"Talked to the plumber about pipe {month}{day}.\n"
    for month in (4, 5, 6, 11)
    for day in (3, 11, 15)
}


def first(folder: Path, query: str, **settings: object) -> str:
    """Return the path of the first hit."""
    with words_memory(folder, DAYS, **settings) as memory:
        return memory.search(query, now=NOW, min_score=0)[0].path.removeprefix("memory/").removesuffix(".md")


@pytest.mark.parametrize(
    ("query", "day"),
    [
        ("plumber yesterday", "2026-11-15"),
        ("plumber on 11 May", "2026-05-11"),
        ("what did the plumber say in April?", "2026-04-03"),
        ("wat zei de plumber gisteren", "2026-11-15"),
        ("was sagte der plumber gestern", "2026-11-15"),
        ("qu'a dit le plumber hier", "2026-11-15"),
        ("qué dijo el plumber ayer", "2026-11-15"),
    ],
)
def test_a_note_of_the_day_that_is_named_comes_first(workspace: Path, query: str, day: str) -> None:
    assert first(workspace, query) == day


def test_a_query_of_nothing_but_time_finds_the_notes_of_those_days(workspace: Path) -> None:
    with words_memory(workspace, DAYS) as memory:
        hits = memory.search("what happened last week?", now=NOW)
    assert {hit.path for hit in hits} == {"memory/2026-11-11.md", "memory/2026-11-15.md"}


def test_another_now_is_another_week(workspace: Path) -> None:
    with words_memory(workspace, DAYS) as memory:
        hits = memory.search("last week", now=datetime(2026, 5, 20, tzinfo=UTC))
    assert {hit.path for hit in hits} == {"memory/2026-05-11.md", "memory/2026-05-15.md"}


def test_words_that_only_say_when_are_not_searched_for(workspace: Path) -> None:
    notes = DAYS | {"other.md": "Last week is a magazine, and last week it was dull.\n"}
    with words_memory(workspace, notes) as memory:
        paths = [hit.path for hit in memory.search("the plumber last week", now=NOW, min_score=0)]
    assert "memory/other.md" not in paths


def test_a_session_of_the_day_that_is_named_comes_first(workspace: Path) -> None:
    folder = workspace / "sessions"
    folder.mkdir(parents=True)
    for day in ("2026-11-14", "2026-11-15"):
        turn = {"role": "user", "content": [{"type": "text", "text": "the plumber came"}]}
        lines = [
            {"type": "session", "id": day, "timestamp": f"{day}T08:00:00Z"},
            {"type": "message", "timestamp": f"{day}T08:00:00Z", "message": turn},
        ]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"{day}.jsonl").write_text(text, encoding="utf-8")
    with words_memory(workspace, {}, sources=["sessions"]) as memory:
        hit = memory.search("plumber yesterday", now=NOW)[0]
    assert hit.path == "sessions/2026-11-15.jsonl"


def test_a_classic_fusion_takes_the_words_as_they_are(workspace: Path) -> None:
    notes = DAYS | {"other.md": "plumber yesterday\n"}
    with words_memory(workspace, notes, query__fusion="weighted") as memory:
        assert memory.search("plumber yesterday", now=NOW, min_score=0)[0].path == "memory/other.md"


def test_a_month_may_stand_in_the_note_and_stays_in_the_query() -> None:
    assert parse_days("the plumber in May", NOW)[0] == "the plumber in May"


def test_where_a_query_says_only_when_its_words_stay() -> None:
    text, _, is_only_days = parse_days("and yesterday?", NOW)
    assert (is_only_days, text) == (True, "and yesterday?")
