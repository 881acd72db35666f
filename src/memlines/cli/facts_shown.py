"""Facts as the commands show them: on a line, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

import click

from memlines.cli.common import harmless_name
from memlines.text.facts import CAPTURE, Fact, FactLine
from memlines.types import cite

_CATEGORY_WIDTH = 10
_NO_DAY = " " * len("2026-11-16")


def citation_of(path: str, line: FactLine) -> str:
    """Return where a fact stands."""
    return cite(path, line.first, line.last)


def line_json(path: str, line: FactLine) -> dict[str, Any]:
    """Return a fact as JSON with the place it stands at."""
    return {**line.fact.to_json(), "citation": citation_of(path, line)}


def origin_of(fact: Fact) -> str:
    """Return the client and the session that a captured fact is from."""
    return fact.source.removeprefix(CAPTURE).strip() if fact.is_captured else fact.source


def newest_first(lines: Sequence[FactLine]) -> list[FactLine]:
    """Return facts by the day they were written down; of one day, what stands lower is newer.

    One without a day was written by hand, and is as new as the one above it.
    """
    days: dict[int, date] = {}
    latest = date.min
    for line in sorted(lines, key=lambda line: line.first):
        latest = days[line.first] = line.fact.created or latest
    return sorted(lines, key=lambda line: (days[line.first], line.first), reverse=True)


def shown(fact: Fact) -> str:
    """Return a fact on one line, with its id, day and category, and what else there is to say of it."""
    day = fact.created.isoformat() if fact.created else _NO_DAY
    name = click.style(fact.id, fg="cyan")
    text = click.style(harmless_name(fact.text), dim=not fact.is_current)
    more = "".join(click.style(f"  ({harmless_name(part)})", dim=True) for part in _remarks(fact))
    return f"{name}  {day}  {fact.category:<{_CATEGORY_WIDTH}}  {text}{more}"


def no_longer_true(fact: Fact) -> str:
    """Say since when a fact is no longer true, and what took its place."""
    since = f" since {fact.until.isoformat()}" if fact.until else ""
    instead = f", now {fact.superseded_by}" if fact.superseded_by else ""
    return f"no longer true{since}{instead}"


def _remarks(fact: Fact) -> list[str]:
    remarks = []
    if not fact.is_current:
        remarks.append(no_longer_true(fact))
    if fact.is_captured:
        origin = origin_of(fact)
        remarks.append(f"captured from {origin}" if origin else "captured")
    return remarks
