"""Checks what a caller hands over for one call, and says what would be right.

Settings are clamped, because a file is written once and serves many versions. What is asked for in one
call is refused if it cannot be meant: whoever asks is there to ask again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, get_args

from memlines.errors import UsageError
from memlines.settings.keys import known_keys
from memlines.settings.rules import shown_value
from memlines.types import Mode, Source, cited


def check_search(query: object, max_results: object, min_score: object, mode: object, sources: Any) -> None:
    """Refuse arguments of a search that cannot be meant."""
    _check_text("query", query)
    _check_in_range("max_results", max_results)
    _check_in_range("min_score", min_score)
    _check_choice("mode", mode, get_args(Mode))
    if isinstance(sources, str):
        raise _wrong("sources", sources, f"a list of: {', '.join(get_args(Source))}")
    for source in sources or ():
        _check_choice("source", source, get_args(Source))


def check_read(path: object, start: object, lines: object, column: object) -> None:
    """Refuse arguments of a read that cannot be meant."""
    _check_text("path", path)
    for name, value in (("start", start), ("lines", lines), ("column", column)):
        if value is not None and not _is_whole(value):
            raise _wrong(name, value, "a whole number")


def check_context(message: object, max_tokens: object) -> None:
    """Refuse arguments of a context that cannot be meant."""
    _check_text("message", message)
    if not isinstance(max_tokens, int) or not _is_whole(max_tokens) or max_tokens < 1:
        raise _wrong("max_tokens", max_tokens, "a whole number above 0")


def named_lines(path: str, start: int | None, lines: int | None) -> tuple[str, int | None, int | None]:
    """Return the path, the first line and how many, where the path may be a citation of them.

    What was said beside a citation counts more than its lines.
    """
    place = cited(path)
    if place is None:
        return path, start, lines
    path, first, last = place
    if not 1 <= first <= last:
        raise UsageError(f"the citation #L{first}-L{last} names no lines", todo="Lines count from 1")
    if start is not None:
        return path, start, lines
    return path, first, last - first + 1 if lines is None else lines


def check_texts(*, optional: bool = False, **values: object) -> None:
    """Refuse arguments that are not text; those that may be left out may be None."""
    for name, value in values.items():
        if not (optional and value is None):
            _check_text(name, value)


def check_chosen(chosen: object) -> None:
    """Refuse a query where the entries to forget are expected: a query never deletes."""
    if isinstance(chosen, str):
        raise UsageError("a query forgets nothing", todo="Choose among what forget_candidates returns")


def _check_text(name: str, value: object) -> None:
    if not isinstance(value, str):
        raise _wrong(name, value, "text")


def _check_in_range(name: str, value: Any) -> None:
    """Refuse a number outside the range of the setting it stands in for."""
    if value is None:
        return
    key = known_keys()[f"query.{name}"]
    fits = _is_whole(value) if key.rule.kind == "whole" else _is_number(value)
    low, high = key.rule.low, key.rule.high
    if not fits or (low is not None and value < low) or (high is not None and value > high):
        raise _wrong(name, value, key.allowed)


def _check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    if value not in choices:
        raise _wrong(name, value, f"one of: {', '.join(choices)}")


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return _is_whole(value) or (isinstance(value, float) and math.isfinite(value))


def _wrong(name: str, value: object, allowed: str) -> UsageError:
    return UsageError(f"{name} is {shown_value(value)}", todo=f"It takes {allowed}")
