"""What a check found, in words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "warning", "problem"]
Repair = Literal[
    "private",
    "permissions",
    "locks",
    "sweep",
    "model",
    "vectors",
    "orphans",
    "rebuild",
    "sync",
    "copy",
    "clean",
]
"""The names of what `doctor --repair` can do; `repairs.py` does it."""

_MOST_NAMES = 5


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: how it is, what to do about it, and the repair that does it."""

    check: str
    level: Level
    message: str
    todo: str = ""
    repair: Repair | None = None


def ok(message: str) -> Finding:
    """Return that something is as it should be; `examine` fills in the check."""
    return Finding("", "ok", message)


def warning(message: str, todo: str, repair: Repair | None = None) -> Finding:
    """Return something that may be left as it is; `examine` fills in the check."""
    return Finding("", "warning", message, todo, repair)


def problem(message: str, todo: str, repair: Repair | None = None) -> Finding:
    """Return something that is wrong; `examine` fills in the check."""
    return Finding("", "problem", message, todo, repair)


def listed(names: Iterable[str]) -> str:
    """Write names in a row, the first few of many."""
    every = list(names)
    rest = len(every) - _MOST_NAMES
    return ", ".join(every[:_MOST_NAMES]) + (f" and {rest} more" if rest > 0 else "")


def megabytes(size: float) -> str:
    """Write a number of bytes."""
    return f"{size / 1e6:,.1f} MB"
