"""The values as JSON with stable field names, the same for every interface."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import date
from typing import TYPE_CHECKING, Any

from memlines.types import Excerpt, Hit, SearchResult

if TYPE_CHECKING:
    from memlines.memory.notes.recall import Recalled
    from memlines.memory.notes.remember import Remembered

_DIGITS = 4
"""Decimals of a score; more would only look exact."""


def hit_json(hit: Hit) -> dict[str, Any]:
    """Return a hit as JSON."""
    why = asdict(hit.why)
    for leg in ("lexical", "vector", "by_words", "days", "reranked"):
        why[leg] = None if why[leg] is None else round(why[leg], _DIGITS)
    return {
        "path": hit.path,
        "start_line": hit.start_line,
        "end_line": hit.end_line,
        "score": round(hit.score, _DIGITS),
        "snippet": hit.snippet,
        "band": hit.band,
        "source": hit.source,
        "scope": hit.scope,
        "citation": hit.citation,
        "heading": hit.heading,
        "chunk_start_line": hit.chunk_start_line,
        "chunk_end_line": hit.chunk_end_line,
        "why": {**why, "words": list(hit.why.words)},
    }


def say_changes(corrections: Mapping[str, str], aliases: Mapping[str, str]) -> str:
    """Say which words of a query were corrected and which other names were searched; empty if none."""
    said = {
        "Not in the notes as written; searched instead": corrections,
        "Searched by other names too": aliases,
    }
    return ". ".join(
        f"{what}: {', '.join(f'{word} → {meant}' for word, meant in changes.items())}"
        for what, changes in said.items()
        if changes
    )


def say_day(as_of: date | None) -> str:
    """Say from which day's notes an answer is; empty if it is from the notes as they are."""
    return f"As the notes were at the end of {as_of.isoformat()}" if as_of else ""


def search_json(result: SearchResult, *, citations: str = "auto") -> dict[str, Any]:
    """Return the answer to a query as JSON; with the setting `citations` off, without its citations."""
    hits = [hit_json(hit) for hit in result]
    if citations == "off":
        for hit in hits:
            del hit["citation"]
    return {
        "results": hits,
        "confident": result.confident,
        "likelihood": round(result.likelihood, _DIGITS),
        "provider": result.provider,
        "model": result.model,
        "fallback": None if result.fallback is None else dict(result.fallback),
        "citations": citations,
        "mode": result.mode,
        "as_of": None if result.as_of is None else result.as_of.isoformat(),
        "pending": result.pending,
        "unindexed": result.unindexed,
        "corrections": dict(result.corrections),
        "aliases": dict(result.aliases),
        "missing_sources": list(result.missing_sources),
        "nearest": None if result.nearest is None else round(result.nearest, _DIGITS),
        "warnings": list(result.warnings),
    }


def excerpt_json(excerpt: Excerpt) -> dict[str, Any]:
    """Return lines of a note as JSON."""
    return {
        "path": excerpt.path,
        "text": excerpt.text,
        "from": excerpt.start,
        "lines": excerpt.lines,
        "found": excerpt.found,
        "truncated": excerpt.truncated,
        "next_from": excerpt.next_start,
        "next_column": excerpt.next_column,
        "total_lines": excerpt.total_lines,
    }


def remembered_json(remembered: Remembered) -> dict[str, Any]:
    """Return where a text is as JSON; `duplicate` is the text that was already there, if any."""
    known = remembered.duplicate
    return {
        **_lines_json(remembered),
        "created": remembered.created,
        "written": known is None,
        "duplicate": None if known is None else {**_lines_json(known), "text": known.snippet},
    }


def recalled_json(entries: Sequence[Recalled]) -> dict[str, Any]:
    """Return recalled entries as JSON; without confidence, they are only the nearest to the query."""
    return {
        "results": [
            {
                **_lines_json(entry),
                "text": entry.text,
                "day": None if entry.day is None else entry.day.isoformat(),
                "heading": entry.heading,
            }
            for entry in entries
        ],
        "confident": any(not entry.weak for entry in entries),
    }


def _lines_json(lines: Hit | Recalled | Remembered) -> dict[str, Any]:
    return {
        "path": lines.path,
        "start_line": lines.start_line,
        "end_line": lines.end_line,
        "citation": lines.citation,
    }
