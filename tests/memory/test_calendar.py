"""What happened on which day, from the files as they are."""

from __future__ import annotations

import asyncio
import os
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from memlines import AsyncMemory, Calendar, DayItem, Memory, MemoryOff
from memlines.agent.snapshot import take
from memlines.paths import personal_folder
from tests.memories import WORDS_ONLY, words_memory, write
from tests.transcripts.records import HEADER, jsonl, user

SETTINGS: dict[str, Any] = {"sources": ["memory", "sessions"], "timezone": "UTC"}
FACTS = """\
# Facts

- 2026-03-02 [preference] Prefers tabs over spaces. ^aaaaaaaaaa
- 2026-03-01 [fact] ~~Works at Acme.~~ {until: 2026-03-02, now: cccccccccc} ^bbbbbbbbbb
- 2026-03-02 [fact] Works at Globex. ^cccccccccc
- [fact] Nobody knows since when. ^dddddddddd
"""
SAID = [{"role": "user", "content": "where does the kestrel nest?"}]


def items(calendar: Calendar, kind: str = "") -> list[DayItem]:
    return [item for of_day in calendar.days.values() for item in of_day if kind in ("", item.kind)]


def targets(calendar: Calendar, kind: str = "") -> list[str]:
    return [item.target for item in items(calendar, kind)]


def test_entries_are_of_the_day_they_name_or_of_their_log(workspace: Path) -> None:
    notes = {
        "2026-03-02.md": "# 2026-03-02\n\n- 14:32 We chose Postgres\n",
        "people.md": "# People\n\n- 2026-03-01: Anna moved\n- Bob has no day\n",
    }
    with words_memory(workspace, notes) as memory:
        assert items(memory.calendar()) == [
            DayItem(date(2026, 3, 2), "note", "memory/2026-03-02.md#L3", "We chose Postgres"),
            DayItem(date(2026, 3, 1), "note", "memory/people.md#L3", "Anna moved"),
        ]


def test_read_accepts_every_target(workspace: Path) -> None:
    write(workspace, {"../workspace/sessions/talk.jsonl": jsonl(HEADER, user("hello there"))})
    notes = {"facts.md": FACTS, "people.md": "- 2026-03-01: Anna moved\n"}
    with words_memory(workspace, notes, **SETTINGS) as memory:
        found = [memory.read(item.target) for item in items(memory.calendar())]
    assert [one.found and bool(one.text) for one in found] == [True] * 5


def test_the_newest_day_is_first(workspace: Path) -> None:
    notes = {f"2026-03-0{day}.md": f"- entry {day}\n" for day in (2, 1, 3)}
    with words_memory(workspace, notes) as memory:
        assert [day.day for day in memory.calendar().days] == [3, 2, 1]


def test_facts_are_of_the_day_they_were_stored_also_those_that_no_longer_hold(workspace: Path) -> None:
    with words_memory(workspace, {"facts.md": FACTS}) as memory:
        found = items(memory.calendar())
    assert [(item.day.day, item.kind, item.target, item.title) for item in found] == [
        (2, "fact", "memory/facts.md#L5", "Works at Globex."),
        (2, "fact", "memory/facts.md#L3", "Prefers tabs over spaces."),
        (1, "fact", "memory/facts.md#L4", "Works at Acme."),
    ]


def test_a_session_is_of_the_day_it_began(workspace: Path) -> None:
    write(workspace, {"../workspace/sessions/talk.jsonl": jsonl(HEADER, user("hello there"))})
    with words_memory(workspace, {}, **SETTINGS) as memory:
        (found,) = items(memory.calendar(), "session")
    assert (found.day, found.target) == (date(2026, 3, 1), "sessions/talk.jsonl")


def test_a_session_without_a_beginning_is_of_the_day_its_file_changed(workspace: Path) -> None:
    write(workspace, {"../workspace/sessions/talk.jsonl": jsonl(user("hello there"))})
    stamp = datetime(2026, 2, 3, 12, tzinfo=UTC).timestamp()
    os.utime(workspace / "sessions/talk.jsonl", (stamp, stamp))
    with words_memory(workspace, {}, **SETTINGS) as memory:
        (found,) = items(memory.calendar(), "session")
    assert found.day == date(2026, 2, 3)


def test_without_sessions_in_the_settings_there_are_none(workspace: Path) -> None:
    write(workspace, {"../workspace/sessions/talk.jsonl": jsonl(HEADER, user("hello there"))})
    with words_memory(workspace, {}, sources=["memory"]) as memory:
        assert not items(memory.calendar(), "session")


def test_a_snapshot_is_of_the_day_it_was_taken_where_the_user_is(workspace: Path) -> None:
    late = datetime(2026, 3, 1, 23, 30, tzinfo=UTC)
    with words_memory(workspace, {}, timezone="Asia/Tokyo") as memory:
        taken = take(memory, "abc", SAID, client="codex", now=late)
        (found,) = items(memory.calendar())
    assert taken is not None
    assert found == DayItem(date(2026, 3, 2), "snapshot", taken.path, "codex abc")


def test_every_target_can_be_read(workspace: Path) -> None:
    write(workspace, {"../workspace/sessions/talk.jsonl": jsonl(HEADER, user("hello there"))})
    notes = {"2026-03-02.md": "- 14:32 We chose Postgres\n", "facts.md": FACTS}
    with words_memory(workspace, notes, **SETTINGS) as memory:
        take(memory, "abc", SAID)
        found = items(memory.calendar())
        assert {item.kind for item in found} == {"note", "fact", "session", "snapshot"}
        assert all(memory.read(item.target.partition("#")[0]).text for item in found)


def test_the_personal_memory_is_in_it_by_its_own_citations(workspace: Path) -> None:
    write(personal_folder(), {"memory/2026-03-02.md": "- I sold the car\n", "memory/facts.md": FACTS})
    with words_memory(workspace, {"2026-03-02.md": "- We chose Postgres\n"}) as memory:
        found = items(memory.calendar())
    assert [(item.scope, item.target) for item in found if item.kind == "note"] == [
        ("project", "memory/2026-03-02.md#L1"),
        ("personal", "personal:memory/2026-03-02.md#L1"),
    ]
    assert {item.target.startswith("personal:") for item in found if item.kind == "fact"} == {True}


def test_the_personal_memory_is_left_out_if_it_is_not_asked(workspace: Path) -> None:
    write(personal_folder(), {"memory/2026-03-02.md": "- I sold the car\n"})
    with words_memory(workspace, {}, scopes=["project"]) as memory:
        assert not items(memory.calendar())


def test_it_counts_what_there_is_of_each_kind(workspace: Path) -> None:
    with words_memory(workspace, {"2026-03-02.md": "- one\n- two\n", "facts.md": FACTS}) as memory:
        assert memory.calendar().by_kind == {"note": 2, "fact": 3}


def test_an_empty_memory_has_no_days(workspace: Path) -> None:
    with words_memory(workspace, {}) as memory:
        assert memory.calendar() == Calendar({}, {})


def test_what_is_broken_is_left_out(workspace: Path) -> None:
    with words_memory(workspace, {"2026-03-02.md": "- good\n"}, **SETTINGS) as memory:
        taken = take(memory, "abc", SAID)
        assert taken is not None
        (workspace / taken.path).write_bytes(b"{")
        (workspace / "memory/2026-03-01.md").write_bytes(b"- caf\xe9\n")
        (workspace / "memory/facts.md").write_bytes(b"- 2026-03-02 [fact] caf\xe9 ^aaaaaaaaaa\n")
        (workspace / "sessions").mkdir()
        (workspace / "sessions/bad.jsonl").write_bytes(b"\xff\xfe{{{\n")
        calendar = memory.calendar()
    assert targets(calendar, "note") == ["memory/2026-03-02.md#L1"]
    assert not {"fact", "snapshot"} & set(calendar.by_kind)


@pytest.mark.parametrize("time", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "yesterday"])
def test_a_session_from_no_day_does_not_prevent_the_others(workspace: Path, time: str) -> None:
    odd = jsonl({"type": "session", "timestamp": time}, user("hello there"))
    write(
        workspace,
        {
            "../workspace/sessions/odd.jsonl": odd,
            "../workspace/sessions/talk.jsonl": jsonl(HEADER, user("hello there")),
        },
    )
    for zone in ("America/Los_Angeles", "Asia/Tokyo"):
        with words_memory(workspace, {}, **(SETTINGS | {"timezone": zone})) as memory:
            assert "sessions/talk.jsonl" in targets(memory.calendar())


def test_private_lines_and_comments_are_not_in_it(workspace: Path) -> None:
    text = "<!-- session abc -->\n- shown\n<!-- /session abc -->\n\n<private>\n- hidden\n</private>\n"
    with words_memory(workspace, {"2026-03-02.md": text}) as memory:
        assert [item.title for item in items(memory.calendar())] == ["shown"]


def test_many_facts_and_notes_are_all_in_it(workspace: Path) -> None:
    lines = [f"- 2026-03-02 [fact] Number {at} is known. ^{at:010d}" for at in range(10_000)]
    notes = {f"topics/{at}.md": f"- 2026-03-01: entry {at}\n" for at in range(1_000)}
    with words_memory(workspace, notes | {"facts.md": "\n".join(lines)}) as memory:
        assert memory.calendar().by_kind == {"note": 1_000, "fact": 10_000}


def test_a_memory_that_is_off_has_no_calendar(workspace: Path) -> None:
    with Memory(workspace, {**WORDS_ONLY, "enabled": False}) as memory, pytest.raises(MemoryOff):
        memory.calendar()


def test_it_can_be_awaited(workspace: Path) -> None:
    write(workspace, {"2026-03-02.md": "- one\n"})

    async def use() -> Calendar:
        async with AsyncMemory(workspace, WORDS_ONLY) as memory:
            return await memory.calendar()

    assert len(items(asyncio.run(use()))) == 1
