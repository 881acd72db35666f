"""The field names of JSON stay as they are."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from pathlib import Path

from memlines.memory.status import Status
from memlines.serve.wire import excerpt_json, hit_json, search_json
from memlines.types import Excerpt, Hit, Problem, Report, SearchResult, Why
from tests.memories import words_memory

HIT = Hit(
    path="memory/a.md",
    start_line=3,
    end_line=9,
    score=0.123456789,
    snippet="text",
    source="memory",
    heading="Top > Below",
    why=Why(("word",), 0.55555555, None, "words only"),
    chunk_start_line=1,
    chunk_end_line=12,
)


def test_a_hit() -> None:
    assert hit_json(HIT) == {
        "path": "memory/a.md",
        "start_line": 3,
        "end_line": 9,
        "score": 0.1235,
        "snippet": "text",
        "band": "weak",
        "source": "memory",
        "scope": "project",
        "citation": "memory/a.md#L3-L9",
        "heading": "Top > Below",
        "chunk_start_line": 1,
        "chunk_end_line": 12,
        "why": {
            "words": ["word"],
            "lexical": 0.5556,
            "vector": None,
            "fusion": "words only",
            "by_words": None,
            "days": None,
            "reranked": None,
        },
    }


def test_an_answer() -> None:
    fallback = {"from": "openai", "reason": "no key"}
    result = SearchResult((HIT,), "fake", "fake-1", "hybrid", 2, ("careful",), fallback=fallback)
    answer = search_json(result, citations="on")
    assert answer == {
        "results": [hit_json(HIT)],
        "confident": False,
        "likelihood": 0.0,
        "provider": "fake",
        "model": "fake-1",
        "fallback": fallback,
        "citations": "on",
        "mode": "hybrid",
        "as_of": None,
        "pending": 2,
        "unindexed": 0,
        "corrections": {},
        "aliases": {},
        "missing_sources": [],
        "nearest": None,
        "warnings": ["careful"],
    }


def test_an_answer_without_citations() -> None:
    answer = search_json(SearchResult((HIT,), "none", "", "words", 0), citations="off")
    assert set(hit_json(HIT)) - set(answer["results"][0]) == {"citation"}


def test_an_excerpt() -> None:
    assert excerpt_json(
        Excerpt("memory/a.md", "text", 3, 1, truncated=True, next_start=4, total_lines=9)
    ) == {
        "path": "memory/a.md",
        "text": "text",
        "from": 3,
        "lines": 1,
        "found": True,
        "truncated": True,
        "next_from": 4,
        "next_column": None,
        "total_lines": 9,
    }


def test_a_report() -> None:
    problem = Problem("memory/b.md", "is binary", failed=True)
    report = Report(("memory/a.md",), 1, ("memory/c.md",), 2, (), (problem,), "forced", ("careful",))
    assert json.loads(json.dumps(asdict(report))) == {
        "indexed": ["memory/a.md"],
        "unchanged": 1,
        "removed": ["memory/c.md"],
        "pending": 2,
        "skipped": [],
        "failed": [{"path": "memory/b.md", "reason": "is binary", "failed": True}],
        "rebuilt": "forced",
        "warnings": ["careful"],
        "held_back": 0,
        "switched": "",
        "unindexed": 0,
        "vectors_made": 0,
        "vectors_cached": 0,
    }


def test_a_status(workspace: Path) -> None:
    with words_memory(workspace, {"a.md": "text\n"}) as memory:
        memory.sync()
        status = json.loads(json.dumps(asdict(memory.status())))
    assert list(status) == [
        "backend",
        "provider",
        "model",
        "requested_provider",
        "sends_text_to",
        "files",
        "chunks",
        "pending",
        "dirty",
        "workspace",
        "agent",
        "index_path",
        "index_bytes",
        "sources",
        "source_counts",
        "extra_paths",
        "skipped",
        "failed",
        "cache",
        "fts",
        "vector",
        "fallback",
        "last_sync",
        "enabled",
        "warnings",
        "spaces",
        "declined",
        "spending",
        "redactions",
        "index_note",
        "probe",
        "batch",
        "rerank",
        "cluster",
        "scopes",
        "personal",
    ]
    assert list(status["cache"]) == ["enabled", "entries", "max_entries"]
    assert list(status["fts"]) == ["enabled", "available", "error"]
    assert list(status["vector"]) == [
        "enabled",
        "available",
        "engine",
        "vectors",
        "dims",
        "dimensions",
        "extension_path",
        "load_error",
    ]
    assert list(status["batch"]) == [
        "enabled",
        "wait",
        "waiting",
        "failures",
        "limit",
        "last_error",
        "last_provider",
        "paused_until",
        "concurrency",
        "poll_seconds",
        "timeout_minutes",
    ]
    assert list(status["source_counts"][0]) == ["source", "files", "chunks"]


def test_every_field_of_a_status_is_told(workspace: Path) -> None:
    with words_memory(workspace, {}) as memory:
        assert set(asdict(memory.status())) == {field.name for field in fields(Status)}


def test_a_result_behaves_like_the_sequence_of_its_hits() -> None:
    result = SearchResult((HIT, HIT), "none", "", "words", 0)
    assert (len(result), list(result), result[1]) == (2, [HIT, HIT], HIT)
