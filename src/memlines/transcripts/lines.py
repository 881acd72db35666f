"""What the parsers of all clients share: a transcript is lines, and each line is read by itself.

A transcript may be written to while it is read, and may have been cut off or damaged; a line that cannot be
used spoils no other. A client's parser only returns what one record says.

Reading on. A line's number and text never depend on another line. The names of tools do: a line that only
calls tools adds them to the turn before it, or else to the next one, of the same exchange. So a growing file
is read on from the line of the last turn of a user, which gives what reading it whole would.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

from memlines.types import LONGEST_LINE, Role, Transcript, Turn

Record = dict[str, Any]

_SECONDS_BELOW = 1e11
"""Smaller numbers are seconds since 1970, larger ones milliseconds; as seconds, this is the year 5138."""

# Undecodable bytes come as lone surrogates, and JSON can name one (or NUL) by its number; neither can be
# stored as text.
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")

_TAG = re.compile(r"(?:^|(?<=>))[ \t]*<([A-Za-z][\w-]{2,40})>", re.MULTILINE)
"""A tag at the beginning of a line, or after another."""


class Said(NamedTuple):
    """What a record says: words, the names of the tools it calls, or both."""

    role: Role
    text: str
    time: datetime | None = None
    tools: tuple[str, ...] = ()


class Began(NamedTuple):
    """A record that says when the conversation began."""

    time: datetime | None


BROKEN: Literal["broken"] = "broken"
"""What a line says that holds no record."""

Meaning = Said | Began | Literal["broken"] | None


def gather(found: Iterable[tuple[int, Meaning]]) -> Transcript:
    """Return the conversation that numbered lines make, each given by what it says."""
    turns: list[Turn] = []
    started: datetime | None = None
    early: tuple[str, ...] = ()  # tools that were called in an exchange before the assistant said anything
    skipped = broken = 0
    for number, meaning in found:
        if isinstance(meaning, Began):
            started = started or meaning.time
        elif meaning is None or meaning == BROKEN or not (meaning.text or meaning.tools):
            skipped += 1
            broken += meaning == BROKEN
        elif meaning.role == "user":
            early = ()
            turns.append(Turn("user", meaning.text, number, meaning.time))
        elif meaning.text:
            tools = _each_once(early, meaning.tools)
            early = ()
            turns.append(Turn("assistant", meaning.text, number, meaning.time, tools))
        elif turns and turns[-1].role == "assistant":
            turns[-1] = replace(turns[-1], tools=_each_once(turns[-1].tools, meaning.tools))
        else:
            early = _each_once(early, meaning.tools)
    started = started or next((turn.time for turn in turns if turn.time), None)
    return Transcript(tuple(turns), started, skipped, broken)


def _each_once(names: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*names, *more)))


def split(lines: str | Iterable[str]) -> Iterable[str]:
    """Return the lines of a text; a final line break ends the last line and does not start another."""
    if not isinstance(lines, str):
        return lines
    parts = lines.split("\n")
    if not parts[-1]:
        parts.pop()
    return parts


def record_of(line: str) -> Record | None:
    """Return the JSON object of a line, if that is what it holds."""
    if len(line) > LONGEST_LINE or _LONE_SURROGATE.search(line):
        return None
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):  # the latter for brackets nested by the thousand
        return None
    return value if isinstance(value, dict) else None


def table(value: Any) -> Mapping[str, Any]:
    """Return a JSON object, or an empty one where there is something else."""
    return value if isinstance(value, dict) else {}


def blocks(content: Any) -> list[Record]:
    """Return the blocks of a message; a bare text is a block of its own."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def words(parts: Sequence[Record], *kinds: str) -> str:
    """Return the texts of the blocks of some kinds, tidied so that they can be stored."""
    texts = [part.get("text") for part in parts if part.get("type") in kinds]
    return tidy("\n".join([text for text in texts if isinstance(text, str)]))


def tidy(text: Any) -> str:
    """Return a text with plain line breaks and without characters that cannot be stored."""
    if not isinstance(text, str):
        return ""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return _LONE_SURROGATE.sub("\ufffd", _CONTROL.sub(" ", lines)).strip()


def names(values: Iterable[Any]) -> tuple[str, ...]:
    """Return those of some values that can be the names of tools."""
    tidied = (tidy(value) for value in values)
    return tuple(name for name in tidied if name)


def without_blocks(text: str, tags: frozenset[str]) -> str:
    """Take out what is between tags that begin a line.

    A tag at the start of the text that is never closed takes the rest with it; further on, a person may have
    written about one.
    """
    kept: list[str] = []
    end = 0
    unclosed: set[str] = set()
    for match in _TAG.finditer(text):
        tag = match[1]
        if match.start() < end or tag not in tags or tag in unclosed:
            continue
        closing = text.find(f"</{tag}>", match.end())
        if closing < 0:
            if not text[end : match.start()].strip() and not any(piece.strip() for piece in kept):
                return ""
            unclosed.add(tag)
            continue
        kept.append(text[end : match.start()])
        end = closing + len(tag) + 3
    return "".join([*kept, text[end:]]).strip()


def time_of(value: Any) -> datetime | None:
    """Return a point in time from its ISO form or a number; without a zone it counts as UTC."""
    try:
        if isinstance(value, str):
            time = datetime.fromisoformat(value.strip())
            return time if time.tzinfo else time.replace(tzinfo=UTC)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value if value < _SECONDS_BELOW else value / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def records_of(lines: Iterable[str]) -> Iterator[Record]:
    """Yield the records on lines, leaving out lines that hold none."""
    for line in lines:
        record = record_of(line)
        if record is not None:
            yield record
