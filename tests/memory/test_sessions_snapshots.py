"""Snapshots are searched like conversations."""

from __future__ import annotations

from pathlib import Path

import pytest

from memlines import Memory
from memlines.agent.snapshot import take
from tests.transcripts.records import HEADER, jsonl, user

SETTINGS = {"embeddings.provider": "none", "sources": ["memory", "sessions"]}
SAID = [
    {"role": "user", "content": "where does the kestrel nest?"},
    {"role": "assistant", "content": "the kestrel nests in the tower"},
]


@pytest.fixture
def memory(workspace: Path) -> Memory:
    return Memory(workspace, SETTINGS)


def test_a_snapshot_is_found(memory: Memory) -> None:
    taken = take(memory, "abc", SAID)
    assert taken is not None
    assert memory.search("kestrel", min_score=0)[0].path == f"snapshots/{taken.id}.json"


def test_a_citation_of_a_snapshot_leads_to_what_was_said(memory: Memory) -> None:
    take(memory, "abc", SAID)
    hit = memory.search("kestrel", min_score=0)[0]
    excerpt = memory.read(hit.path, hit.start_line, hit.end_line - hit.start_line + 1)
    assert "the kestrel nests in the tower" in excerpt.text


def test_a_snapshot_that_was_replaced_is_found_as_it_is_now(memory: Memory) -> None:
    take(memory, "abc", SAID)
    memory.sync()
    take(memory, "abc", [*SAID, {"role": "user", "content": "and the okapi?"}])
    memory.sync()
    hits = memory.search("okapi", min_score=0)
    assert len(hits) == 1
    assert memory.status().chunks == 1


def test_a_session_with_a_transcript_is_not_indexed_twice(memory: Memory, workspace: Path) -> None:
    (workspace / "sessions").mkdir()
    transcript = jsonl(HEADER, user("where does the kestrel nest?"))
    (workspace / "sessions/abc.jsonl").write_text(transcript, encoding="utf-8")
    take(memory, "abc", SAID)
    assert {hit.path for hit in memory.search("kestrel", min_score=0)} == {"sessions/abc.jsonl"}


def test_without_sessions_snapshots_are_not_searched(workspace: Path) -> None:
    with Memory(workspace, {**SETTINGS, "sources": ["memory"]}) as memory:
        take(memory, "abc", SAID)
        assert len(memory.search("kestrel", min_score=0)) == 0
