"""Let old daily logs fade, if asked to."""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime

from memlines.types import IndexedChunk

_DATED = re.compile(r"^memory/(?:.*/)?(\d{4}-\d{2}-\d{2})(?:[-_][^/]*)?\.md$")
_EVERGREEN = re.compile(r"^(?:MEMORY\.md|memory\.md|memory/.*)$")
_SECONDS_PER_DAY = 86_400


def decayed(score: float, chunk: IndexedChunk, half_life_days: float, now: datetime) -> float:
    """Return a score after the time that passed since its note was written."""
    return score * decay_factor(age_in_days(chunk, now), half_life_days)


def decay_factor(age_days: float, half_life_days: float) -> float:
    """Return what is left of a score after so many days: a half after each half-life."""
    return math.exp(-math.log(2) / half_life_days * max(0.0, age_days))


def age_in_days(chunk: IndexedChunk, now: datetime) -> float:
    """Return the age of a chunk: by the date in its name; evergreen notes have none."""
    written = dated(chunk.path)
    if written is not None:
        midnight = datetime(written.year, written.month, written.day, tzinfo=UTC)
        return (now - midnight).total_seconds() / _SECONDS_PER_DAY
    if _EVERGREEN.match(chunk.path) or chunk.mtime_ns <= 0:
        return 0.0
    return now.timestamp() / _SECONDS_PER_DAY - chunk.mtime_ns / 1e9 / _SECONDS_PER_DAY


def dated(path: str) -> date | None:
    """Return the date of a daily log, if the path is one's."""
    match = _DATED.match(path)
    if match is None:
        return None
    try:
        return date.fromisoformat(match[1])
    except ValueError:
        return None
