"""Which lines agents were shown: what is recorded of an answer, and what can be asked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from memlines import Memory
from memlines.errors import UsageError
from memlines.files.shown import ShownLine, read_answers
from memlines.files.tombstones import bury
from memlines.memory import recording
from memlines.memory.blame import (
    UNKNOWN,
    Uses,
    blame_line,
    blame_session,
    count_uses,
    find_session,
    list_sessions,
)
from memlines.memory.recording import record
from memlines.paths import Workspace
from memlines.settings import Settings, load
from memlines.text.matching import entry_id
from tests.memories import write

BIRDS = "memory/birds.md"
KESTREL = "- The kestrel nests in the old church tower"
HERON = "- The heron waits at the weir"
NOTES = {BIRDS: f"# Birds\n\n{KESTREL}\n{HERON}\n", "MEMORY.md": "Ada decides about releases.\n"}
TOKEN = "ghp_" + "aB3dE5gH7jK9" * 3


class Record:
    """A workspace whose answers are recorded one by one."""

    def __init__(self, folder: Path) -> None:
        write(folder, NOTES)
        self.place = Workspace.at(folder)

    @property
    def settings(self) -> Settings:
        return load(self.place).settings

    @property
    def memory(self) -> Memory:
        return Memory(self.place.root)

    def add(
        self, *lines: str, kind: str = "search", session: str = "one", query: str = "", client: str = ""
    ) -> None:
        shown = [ShownLine(line, score=0.5) for line in lines]
        record(self.place, self.settings, kind, shown, session=session, query=query, client=client)

    def lines(self) -> list[ShownLine]:
        return [line for answer in read_answers(self.place) for line in answer.lines]

    def query(self) -> str:
        return read_answers(self.place)[-1].query

    def seen(self, session: str = "one") -> Sequence[tuple[str, str | None]]:
        answers = blame_session(self.memory, session)
        return [(line.citation, line.now) for _, lines in answers for line in lines]


@pytest.fixture
def kept(workspace: Path) -> Record:
    return Record(workspace)


# What is recorded


def test_an_answer_names_each_entry_that_it_quotes(kept: Record) -> None:
    kept.add(f"{BIRDS}#L1-L4")
    assert kept.lines() == [
        ShownLine(f"{BIRDS}#L3", entry_id(KESTREL), 0.5),
        ShownLine(f"{BIRDS}#L4", entry_id(HERON), 0.5),
    ]


def test_a_part_of_an_entry_goes_by_the_whole_of_it(kept: Record) -> None:
    long = "- The owl\n  sleeps by day\n  and hunts by night"
    write(kept.place.root, {BIRDS: f"{long}\n"})
    kept.add(f"{BIRDS}#L2")
    assert kept.lines() == [ShownLine(f"{BIRDS}#L1-L3", entry_id(long), 0.5)]


def test_an_entry_that_is_quoted_twice_is_named_once(kept: Record) -> None:
    kept.add(f"{BIRDS}#L3", f"{BIRDS}#L3-L4")
    assert [line.citation for line in kept.lines()] == [f"{BIRDS}#L3", f"{BIRDS}#L4"]


def test_no_text_of_a_note_is_kept(kept: Record) -> None:
    kept.add(f"{BIRDS}#L1-L4", "MEMORY.md#L1")
    content = (kept.place.private / "shown.jsonl").read_text(encoding="utf-8")
    assert [word for word in ("kestrel", "heron", "Birds", "Ada") if word in content] == []


def test_a_conversation_goes_by_its_lines(kept: Record) -> None:
    kept.add("sessions/a.jsonl#L12-L14", ".memory/snapshots/b.json#L3")
    assert [line[:2] for line in kept.lines()] == [
        ("sessions/a.jsonl#L12-L14", ""),
        ("snapshots/b.json#L3", ""),
    ]


def test_a_private_entry_that_was_not_shown_is_not_named(kept: Record) -> None:
    write(kept.place.root, {BIRDS: f"{KESTREL}\n\n<private>\nThe owl is a secret\n</private>\n\n{HERON}\n"})
    kept.add(f"{BIRDS}#L1-L7")
    assert [line.id for line in kept.lines()] == [entry_id(KESTREL), entry_id(HERON)]


def test_a_large_note_is_read_in_part(kept: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "_LARGE", 1_000)
    write(kept.place.root, {BIRDS: "".join(f"- Bird number {at} is here\n" for at in range(1, 3_000))})
    kept.add(f"{BIRDS}#L2000-L2001")
    assert kept.lines() == [
        ShownLine(f"{BIRDS}#L{at}", entry_id(f"Bird number {at} is here"), 0.5) for at in (2000, 2001)
    ]


def test_an_answer_names_a_limited_number_of_entries(kept: Record) -> None:
    write(kept.place.root, {BIRDS: "".join(f"- Bird number {at} is here\n" for at in range(1, 3_000))})
    kept.add(f"{BIRDS}#L1-L2999")
    assert len(kept.lines()) == 400


def test_the_query_is_kept_short_and_without_secrets_and_private_parts(kept: Record) -> None:
    kept.add(f"{BIRDS}#L3", query=f"where <private>my wife</private> nests\n{TOKEN} " + "kestrel " * 100)
    assert kept.query().startswith("where nests [redacted:github-token] kestrel kestrel")
    assert len(kept.query()) <= 200


def test_a_query_with_forgotten_text_is_not_kept(kept: Record) -> None:
    bury(kept.place, ["The vaultkeeper hides xylophones in Lyon"])
    kept.add(f"{BIRDS}#L3", query="is it true that the vaultkeeper hides xylophones in Lyon?")
    kept.add(f"{BIRDS}#L3", query="where are the xylophones?")
    assert [one.query for one in read_answers(kept.place)] == ["", "where are the xylophones?"]


def test_a_text_that_is_forgotten_later_is_dropped_from_then_on(kept: Record) -> None:
    said = "The vaultkeeper hides xylophones in Lyon"
    kept.add(f"{BIRDS}#L3", query=said)
    bury(kept.place, ["Something else that was said at length"])
    kept.add(f"{BIRDS}#L3", query=said)
    bury(kept.place, [said])
    kept.add(f"{BIRDS}#L3", query=said)
    assert [one.query for one in read_answers(kept.place)] == [said, said, ""]


def test_nothing_is_recorded_of_a_session_that_was_forgotten(kept: Record) -> None:
    bury(kept.place, [], ["one"])
    kept.add(f"{BIRDS}#L3")
    kept.add(f"{BIRDS}#L3", session="two")
    assert [one.session for one in read_answers(kept.place)] == ["two"]


# Counting


def test_uses_are_counted_by_entry(kept: Record) -> None:
    kept.add(f"{BIRDS}#L3", session="one")
    kept.add(f"{BIRDS}#L3-L4", session="two")
    kept.add(f"{BIRDS}#L3", kind="get", session="two")
    times = [one.time for one in read_answers(kept.place)]
    assert count_uses(kept.place) == {
        entry_id(KESTREL): Uses(3, 1, times[0], times[2]),
        entry_id(HERON): Uses(1, 0, times[1], times[1]),
    }


def test_a_line_that_an_agent_cites_after_it_saw_it_is_opened_once(kept: Record) -> None:
    kept.add(f"{BIRDS}#L3")
    for _ in range(2):  # both ends of a turn report it
        kept.add(f"{BIRDS}#L3", kind="cited")
    uses = count_uses(kept.place)[entry_id(KESTREL)]
    assert (uses.shown, uses.opened) == (1, 1)


@pytest.mark.parametrize("connection", ["mcp-0123456789abcdef", ""])
def test_what_a_tool_showed_over_mcp_may_be_cited_in_any_session(kept: Record, connection: str) -> None:
    kept.add(f"{BIRDS}#L3", session=connection)
    kept.add(f"{BIRDS}#L3", kind="cited")
    assert count_uses(kept.place)[entry_id(KESTREL)].opened == 1


def test_a_line_that_an_agent_cites_without_having_seen_it_is_not_counted(kept: Record) -> None:
    kept.add(f"{BIRDS}#L3", session="another")
    kept.add(f"{BIRDS}#L3-L4", kind="cited")
    uses = count_uses(kept.place)
    assert ([*uses], uses[entry_id(KESTREL)].opened) == ([entry_id(KESTREL)], 0)


# Asking


def test_a_line_that_moved_is_found_where_it_is_now(kept: Record) -> None:
    kept.add(f"{BIRDS}#L4")
    write(kept.place.root, {BIRDS: f"# Birds\n\nA new line.\n\n{HERON}\n{KESTREL}\n"})
    assert kept.seen() == [(f"{BIRDS}#L4", f"{BIRDS}#L5")]


def test_a_line_that_moved_to_another_note_is_found_there(kept: Record) -> None:
    kept.add(f"{BIRDS}#L4")
    write(kept.place.root, {BIRDS: f"{KESTREL}\n", "memory/water.md": f"# Water\n\n{HERON}\n"})
    assert kept.seen() == [(f"{BIRDS}#L4", "memory/water.md#L3")]


def test_of_two_places_with_the_same_text_the_one_that_was_cited_counts(kept: Record) -> None:
    write(kept.place.root, {"memory/a.md": f"{HERON}\n", BIRDS: f"{HERON}\n\ntext\n\n{HERON}\n"})
    kept.add(f"{BIRDS}#L5")
    assert kept.seen() == [(f"{BIRDS}#L5", f"{BIRDS}#L5")]


def test_a_line_that_is_gone_has_no_place(kept: Record) -> None:
    kept.add(f"{BIRDS}#L4")
    write(kept.place.root, {BIRDS: f"{KESTREL}\n"})
    assert kept.seen() == [(f"{BIRDS}#L4", None)]


def test_a_turn_of_a_conversation_stays_where_it_was(kept: Record) -> None:
    kept.add("sessions/a.jsonl#L3")
    assert kept.seen() == [("sessions/a.jsonl#L3", "sessions/a.jsonl#L3")]


def test_sessions_are_listed_with_counts_the_newest_first(kept: Record) -> None:
    kept.add(f"{BIRDS}#L3-L4", session="one", client="codex")
    kept.add(f"{BIRDS}#L3", session="", kind="recall")
    kept.add(f"{BIRDS}#L3", session="one", kind="get")
    found = [
        (use.session, use.client, use.answers, use.lines, use.opened) for use in list_sessions(kept.memory)
    ]
    assert found == [("one", "codex", 2, 2, 1), (UNKNOWN, "", 1, 1, 0)]


def test_the_beginning_of_a_name_is_enough_for_one_session(kept: Record) -> None:
    for name in ("abc-1", "abd-2", "ab"):
        kept.add(f"{BIRDS}#L3", session=name)
    assert [find_session(kept.memory, name) for name in ("abc", "abd-2", "ab")] == ["abc-1", "abd-2", "ab"]


def test_a_beginning_of_two_names_is_refused(kept: Record) -> None:
    for name in ("abc-1", "abd-2"):
        kept.add(f"{BIRDS}#L3", session=name)
    with pytest.raises(UsageError, match="2 sessions begin with 'ab': abd-2, abc-1"):
        find_session(kept.memory, "ab")


def test_an_unknown_session_is_refused_with_the_nearest(kept: Record) -> None:
    kept.add(f"{BIRDS}#L3", session="ses_kestrel")
    with pytest.raises(UsageError, match="Did you mean ses_kestrel"):
        find_session(kept.memory, "ses_kestrl")


def test_a_line_is_followed_by_its_entry_to_every_answer(kept: Record) -> None:
    kept.add(f"{BIRDS}#L3-L4", session="one", query="birds?")
    write(kept.place.root, {BIRDS: f"Above.\n\n{HERON}\n"})
    kept.add(f"{BIRDS}#L3", session="two")
    kept.add("MEMORY.md#L1", session="three")
    answers = blame_line(kept.memory, f"{BIRDS}#L3")
    used = [(one.session, one.query, [line.citation for line in one.lines]) for one in answers]
    assert used == [("one", "birds?", [f"{BIRDS}#L4"]), ("two", "", [f"{BIRDS}#L3"])]


def test_a_line_that_holds_nothing_now_is_known_by_where_it_was(kept: Record) -> None:
    kept.add(f"{BIRDS}#L4")
    write(kept.place.root, {BIRDS: f"# Birds\n\n{KESTREL}\n"})
    assert [one.session for one in blame_line(kept.memory, f"{BIRDS}#L4")] == ["one"]


@pytest.mark.parametrize("wrong", ["birds", f"{BIRDS}#L0", f"{BIRDS}#L5-L2"])
def test_what_is_no_citation_is_refused(kept: Record, wrong: str) -> None:
    with pytest.raises(UsageError, match="is not a citation"):
        blame_line(kept.memory, wrong)
