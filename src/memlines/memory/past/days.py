"""Read the day that a question about the past names."""

from __future__ import annotations

from datetime import UTC, date, datetime, time

from memlines.errors import UsageError
from memlines.memory.notes.entries import local_now
from memlines.settings import Settings
from memlines.settings.values import shown_value
from memlines.text.date_words import read_date
from memlines.text.dates import spans_of

_FIRST_YEAR = 1971
"""Before it no file and no commit has a time, and not every system can work with one."""


def parse_day(as_of: date | str, settings: Settings) -> date:
    """Return the day that `as_of` names: `2026-03-01`, or the last one of `2026-03`, `2026`, "last week"."""
    now = local_now(settings)
    if isinstance(as_of, datetime):
        return local_now(settings, as_of).date() if as_of.tzinfo else as_of.date()
    if isinstance(as_of, date):
        return as_of
    said = as_of.strip() if isinstance(as_of, str) else ""
    try:
        return date.fromisoformat(f"{said}-12-31" if len(said) == len("2026") else said)
    except ValueError:
        days = read_date(said) if said else None
    if days is not None:
        return days[1]
    spans = [span for span in spans_of(said, now) if span.text == said]
    if not spans:
        raise UsageError(
            f"as_of is {shown_value(as_of)}, which names no day",
            todo="Give a day such as 2026-03-01, or a month such as 2026-03",
        )
    return spans[0].last


def end_of_day(day: date, settings: Settings) -> datetime:
    """Return the last moment of a past day in the user's time zone."""
    last = datetime.combine(day, time.max)
    if day.year < _FIRST_YEAR:
        return last.replace(tzinfo=UTC)
    if settings.timezone is None:
        return last.astimezone()
    return last.replace(tzinfo=local_now(settings).tzinfo)


def parse_moment(as_of: date | str, settings: Settings, now: datetime) -> tuple[date, datetime]:
    """Return the day that `as_of` names, and its last moment, or now if that has not come yet."""
    day = parse_day(as_of, settings)
    return (day, end_of_day(day, settings)) if is_past(day, settings) else (day, now)


def is_past(day: date, settings: Settings) -> bool:
    """Return whether a day is over."""
    return day < local_now(settings).date()
