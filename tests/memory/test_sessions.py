"""Transcripts as a source: found, indexed, kept up to date and searched, if asked for."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from memlines import Memory
from memlines.files import scan
from memlines.files.scan import discover
from memlines.paths import Workspace
from memlines.types import Discovery, Problem, Source
from tests.indexes import indexed, settle, sync, write
from tests.transcripts.records import HEADER, assistant, jsonl, user

BOTH: tuple[Source, ...] = ("memory", "sessions")
SESSIONS = {"sources": ["sessions"]}
TALK = jsonl(HEADER, user("My kestrel is called Ada."), "", assistant("A fine name."))
CHUNK = "User: My kestrel is called Ada.\nAssistant: A fine name."


def look(root: Path, *sources: Source, extra: Sequence[str] = ()) -> Discovery:
    return discover(Workspace.at(root), tuple(extra), 1_000_000, sources)


def names(discovery: Discovery) -> list[str]:
    return [file.path for file in discovery.files]


def session_memory(workspace: Path, *sources: str) -> Memory:
    return Memory(workspace, {"embeddings.provider": "none", "sources": list(sources or ("sessions",))})


# Finding transcripts.


def test_transcripts_are_found_in_order_after_all_notes(workspace: Path) -> None:
    write(workspace, dict.fromkeys(("sessions/b.jsonl", "sessions/a.jsonl", "memory/z.md", "docs/y.md"), "x"))
    expected = ["memory/z.md", "docs/y.md", "sessions/a.jsonl", "sessions/b.jsonl"]
    assert names(look(workspace, *BOTH, extra=["docs"])) == expected


def test_a_transcript_has_its_source(workspace: Path) -> None:
    write(workspace, {"sessions/a.jsonl": TALK})
    assert [file.source for file in look(workspace, "sessions").files] == ["sessions"]


def test_nothing_of_a_source_that_is_not_asked_for_is_looked_at(workspace: Path) -> None:
    (workspace / "sessions").symlink_to(workspace)  # would be reported if it were looked at
    assert look(workspace, "memory") == Discovery(())


def test_without_the_source_memory_there_are_no_notes(workspace: Path) -> None:
    write(workspace, dict.fromkeys(("MEMORY.md", "memory/a.md", "docs/b.md", "sessions/c.jsonl"), "x"))
    assert names(look(workspace, "sessions", extra=["docs", "missing"])) == ["sessions/c.jsonl"]


@pytest.mark.parametrize(
    "name",
    [
        "a.jsonl",
        "a b.jsonl",
        "a.jsonl.reset.2026-03-01T09-30-00Z",
        "a.jsonl.reset.2026-03-01T09-30-00.123Z",
        "a.jsonl.deleted.2026-03-01T09-30-00.123Z",
    ],
)
def test_names_of_transcripts(workspace: Path, name: str) -> None:
    write(workspace, {f"sessions/{name}": TALK})
    assert names(look(workspace, "sessions")) == [f"sessions/{name}"]


@pytest.mark.parametrize(
    "name",
    [
        "sessions.json",
        "sessions.json.bak.1",
        "a.jsonl.bak.2026-03-01T09-30-00Z",
        "a.jsonl.reset",
        "a.jsonl.reset.yesterday",
        "a.jsonl.deleted.2026-03-01T09-30-00Z.tmp",
        "a.JSONL",
        ".jsonl",
        "a.json",
        "a.jsonl.lock",
        "a.md",
        "deeper/a.jsonl",
    ],
)
def test_other_names(workspace: Path, name: str) -> None:
    write(workspace, {f"sessions/{name}": TALK})
    assert look(workspace, *BOTH) == Discovery(())


def test_a_folder_called_like_a_transcript_is_told(workspace: Path) -> None:
    (workspace / "sessions" / "a.jsonl").mkdir(parents=True)
    problem = Problem("sessions/a.jsonl", "is a folder, not a transcript")
    assert look(workspace, "sessions") == Discovery((), (problem,))


def test_a_linked_transcript_is_reported(workspace: Path) -> None:
    write(workspace, {"elsewhere.jsonl": TALK})
    (workspace / "sessions").mkdir()
    (workspace / "sessions" / "a.jsonl").symlink_to(workspace / "elsewhere.jsonl")
    problem = Problem("sessions/a.jsonl", "is a symbolic link; links are not followed")
    assert look(workspace, "sessions") == Discovery((), (problem,))


def test_a_linked_folder_of_transcripts_is_reported(workspace: Path, tmp_path: Path) -> None:
    write(tmp_path, {"elsewhere/a.jsonl": TALK})
    (workspace / "sessions").symlink_to(tmp_path / "elsewhere")
    problem = Problem("sessions", "is a symbolic link; links are not followed")
    assert look(workspace, "sessions") == Discovery((), (problem,))


@pytest.mark.skipif(os.name == "nt", reason="needs pipes")
def test_a_pipe_is_reported(workspace: Path) -> None:
    (workspace / "sessions").mkdir()
    os.mkfifo(workspace / "sessions" / "a.jsonl")
    assert look(workspace, "sessions").problems == (Problem("sessions/a.jsonl", "is not a regular file"),)


def test_a_transcript_may_be_larger_than_a_note(workspace: Path) -> None:
    write(workspace, {"sessions/a.jsonl": TALK + jsonl(user("word " * 1000))})
    assert sync(workspace, None, {**SESSIONS, "files.max_bytes": 100}).indexed == ("sessions/a.jsonl",)


def test_a_transcript_above_its_own_limit_is_reported(workspace: Path) -> None:
    write(workspace, {"sessions/a.jsonl": TALK})
    os.truncate(workspace / "sessions" / "a.jsonl", scan.MAX_SESSION_BYTES + 1)  # a hole; it takes no room
    reason = "is 100.0 MB, above the limit of 100 MB for transcripts"
    assert sync(workspace, None, SESSIONS).skipped == (Problem("sessions/a.jsonl", reason),)


# Keeping them indexed.


def test_a_transcript_is_indexed_with_its_own_lines(workspace: Path) -> None:
    write(workspace, {"sessions/a.jsonl": TALK})
    sync(workspace, None, SESSIONS)
    assert indexed(workspace) == {"sessions/a.jsonl": [(2, 4, CHUNK)]}


def test_transcripts_are_not_indexed_unless_asked_for(workspace: Path) -> None:
    write(workspace, {"sessions/a.jsonl": TALK, "MEMORY.md": "note"})
    assert sync(workspace).indexed == ("MEMORY.md",)


def test_a_new_message_makes_a_transcript_indexed_again(workspace: Path) -> None:
    write(workspace, {"sessions/a.jsonl": TALK, "sessions/b.jsonl": TALK})
    sync(workspace, None, SESSIONS)
    write(workspace, {"sessions/a.jsonl": TALK + jsonl(user("Thanks!"))})
    assert sync(workspace, None, SESSIONS).indexed == ("sessions/a.jsonl",)
    assert indexed(workspace)["sessions/a.jsonl"] == [(2, 5, f"{CHUNK}\nUser: Thanks!")]


def test_an_unchanged_transcript_is_left_alone(workspace: Path) -> None:
    write(workspace, {"sessions/a.jsonl": TALK})
    sync(workspace, None, SESSIONS)
    settle(workspace / "sessions" / "a.jsonl")
    report = sync(workspace, None, SESSIONS)
    assert (report.indexed, report.unchanged) == ((), 1)


def test_a_deleted_transcript_leaves_the_index(workspace: Path) -> None:
    write(workspace, {"sessions/a.jsonl": TALK, "sessions/b.jsonl": TALK})
    sync(workspace, None, SESSIONS)
    (workspace / "sessions" / "a.jsonl").unlink()
    assert sync(workspace, None, SESSIONS).removed == ("sessions/a.jsonl",)
    assert list(indexed(workspace)) == ["sessions/b.jsonl"]


def test_transcripts_leave_the_index_with_their_source(workspace: Path) -> None:
    write(workspace, {"sessions/a.jsonl": TALK, "MEMORY.md": "note"})
    sync(workspace, None, {"sources": list(BOTH)})
    sync(workspace)
    assert list(indexed(workspace)) == ["MEMORY.md"]


def test_what_can_be_read_of_a_damaged_transcript_is_indexed(workspace: Path) -> None:
    write(workspace, {"sessions/a.jsonl": ""})
    content = b"\0\0\n" + TALK.encode() + b'\xff\xfe\n{"type": "mess'
    (workspace / "sessions" / "a.jsonl").write_bytes(content)
    report = sync(workspace, None, SESSIONS)
    assert (report.skipped, indexed(workspace)["sessions/a.jsonl"]) == ((), [(3, 5, CHUNK)])


def test_a_file_that_is_no_transcript_is_reported(workspace: Path) -> None:
    write(workspace, {"sessions/a.jsonl": "not JSON\n"})
    problem = Problem("sessions/a.jsonl", "is no transcript (no line of it is a message)")
    assert sync(workspace, None, SESSIONS).skipped == (problem,)
    assert sync(workspace, None, SESSIONS).skipped == (problem,)


def test_a_session_that_has_only_begun_is_no_problem(workspace: Path) -> None:
    write(workspace, {"sessions/a.jsonl": jsonl(HEADER)})
    report = sync(workspace, None, SESSIONS)
    assert (report.skipped, report.failed) == ((), ())


# Searching them.


def test_a_search_cites_the_lines_of_the_transcript(workspace: Path) -> None:
    write(workspace, {"sessions/a.jsonl": TALK})
    with session_memory(workspace) as memory:
        (hit,) = memory.search("kestrel")
    assert (hit.citation, hit.source, hit.snippet) == ("sessions/a.jsonl#L2-L4", "sessions", CHUNK)


def test_a_hit_tells_when_the_session_began(workspace: Path) -> None:
    write(workspace, {"sessions/a.jsonl": TALK})
    with session_memory(workspace) as memory:
        assert memory.search("kestrel")[0].heading == "2026-03-01 09:30"


def test_a_session_is_found_by_its_date(workspace: Path) -> None:
    write(workspace, {"sessions/a.jsonl": TALK, "sessions/b.jsonl": TALK.replace("2026-03-01", "2025-07-02")})
    with session_memory(workspace) as memory:
        assert memory.search("2025-07-02")[0].path == "sessions/b.jsonl"


def test_a_search_can_be_narrowed_to_transcripts(workspace: Path) -> None:
    write(workspace, {"sessions/a.jsonl": TALK, "MEMORY.md": "The kestrel is a falcon.\n"})
    with session_memory(workspace, *BOTH) as memory:
        assert [hit.path for hit in memory.search("kestrel", sources=["sessions"])] == ["sessions/a.jsonl"]


def test_the_status_counts_each_source(workspace: Path) -> None:
    write(workspace, {"sessions/a.jsonl": TALK, "sessions/b.jsonl": TALK, "MEMORY.md": "note"})
    with session_memory(workspace, *BOTH) as memory:
        memory.sync()
        assert list(memory.status().source_counts) == [
            {"source": "memory", "files": 1, "chunks": 1},
            {"source": "sessions", "files": 2, "chunks": 2},
        ]


def test_what_was_said_can_be_read_at_the_lines_of_a_citation(workspace: Path) -> None:
    write(workspace, {"sessions/a.jsonl": TALK})
    with session_memory(workspace) as memory:
        hit = memory.search("kestrel", min_score=0)[0]
        excerpt = memory.read(hit.path, hit.start_line, hit.end_line - hit.start_line + 1)
    assert (excerpt.found, excerpt.path) == (True, hit.path)
    assert "User: My kestrel is called Ada." in excerpt.text
