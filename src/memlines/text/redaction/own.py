"""Check the rules a user adds, before any text meets them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from memlines.errors import SettingsError
from memlines.text.redaction.rules import Rule

_KIND = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_PIECE = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\((?:\?(?:[aiLmsux-]*:|P<\w+>|<?[=!]|>))?|[)|]|.", re.DOTALL
)
_REPEAT = re.compile(r"[*+]|\{(\d*),?(\d*)\}")


def checked(pairs: Iterable[tuple[str, str]]) -> tuple[Rule, ...]:
    """Return rules from pairs of a kind and a pattern, or say which one cannot be used."""
    return tuple(_checked(kind, pattern) for kind, pattern in pairs)


def _checked(kind: str, pattern: str) -> Rule:
    if not _KIND.fullmatch(kind):
        raise _unusable(kind, "is no kind", "A kind is written in small letters, digits and hyphens")
    try:
        compiled = re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        reason = f"has the pattern {pattern!r}, which is no regular expression: {error}"
        raise _unusable(kind, reason, "Correct the pattern") from error
    if compiled.groups > 1:
        todo = "Keep one around what is to be hidden, and write the others as (?:…)"
        raise _unusable(kind, f"has the pattern {pattern!r}, with more than one group", todo)
    if compiled.match("") or compiled.search(" "):
        todo = "Write a pattern that matches secrets only"
        raise _unusable(kind, f"has the pattern {pattern!r}, which matches nothing at all or a blank", todo)
    if _repeats_repeats(pattern):
        todo = "Repeat single characters or sets such as [a-z0-9]+ instead of groups that repeat themselves"
        raise _unusable(kind, f"has the pattern {pattern!r}, which some texts would keep busy for ever", todo)
    return Rule(kind, "", pattern, None)


def _unusable(kind: str, reason: str, todo: str) -> SettingsError:
    return SettingsError(f"The rule {kind!r} of redaction.rules {reason}", todo=todo)


def _repeats_repeats(pattern: str) -> bool:
    """Tell whether a group that repeats something, or chooses, is itself repeated without need.

    Such a pattern has many ways to match the same text and may try all of them before it gives up.
    """
    inside = [False]
    place = 0
    while piece := _PIECE.match(pattern, place):
        place = piece.end()
        if piece[0][0] == "(":
            inside.append(False)
            continue
        ambiguous = piece[0] == ")" and len(inside) > 1 and inside.pop()
        repeat = _REPEAT.match(pattern, place)
        often = repeat is not None and _is_often(repeat)
        if often and ambiguous:
            return True
        inside[-1] |= often or ambiguous or (piece[0] == "|" and len(inside) > 1)
    return False


def _is_often(repeat: re.Match[str]) -> bool:
    """Tell whether a repetition has no end, or one that is far away."""
    if repeat[0] in "*+":
        return True
    low, high = repeat[1], repeat[2]
    last = high or (low if "," not in repeat[0] else "")
    return not last or int(last) > 10
