"""The values as JSON, with field names that stay: the same for every interface."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from recollect.types import Excerpt, Hit, Report, SearchResult, Status

_DIGITS = 4
"""Decimals of a score; more would only look exact."""


def hit_json(hit: Hit) -> dict[str, Any]:
    """Return a hit as JSON."""
    why = asdict(hit.why)
    for leg in ("lexical", "vector"):
        why[leg] = None if why[leg] is None else round(why[leg], _DIGITS)
    return {
        "path": hit.path,
        "start_line": hit.start_line,
        "end_line": hit.end_line,
        "score": round(hit.score, _DIGITS),
        "snippet": hit.snippet,
        "source": hit.source,
        "citation": hit.citation,
        "heading": hit.heading,
        "why": {**why, "words": list(hit.why.words)},
    }


def search_json(result: SearchResult, *, citations: bool = True) -> dict[str, Any]:
    """Return the answer to a query as JSON, on request without its citations."""
    hits = [hit_json(hit) for hit in result]
    if not citations:
        for hit in hits:
            del hit["citation"]
    return {
        "results": hits,
        "provider": result.provider,
        "model": result.model,
        "mode": result.mode,
        "pending": result.pending,
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


def report_json(report: Report) -> dict[str, Any]:
    """Return what a sync did as JSON."""
    return asdict(report)


def status_json(status: Status) -> dict[str, Any]:
    """Return the state of a memory as JSON."""
    return asdict(status)
