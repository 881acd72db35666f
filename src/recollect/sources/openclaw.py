"""Read the transcripts of OpenClaw: JSON Lines, one record a line.

    {"type": "session", "timestamp": "2026-03-01T09:30:00Z"}
    {"type": "message", "timestamp": …, "message": {"role": "user", "content": "…", "timestamp": …}}

`content` is a text or a list of blocks, of which those of type `text` are taken: what was said, not what
tools were called with or gave back. A transcript may be written to while it is read, and may have been cut
off or damaged; every line stands for itself, and one that cannot be used takes no other with it.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any

from recollect.types import Transcript, Turn

_SECONDS_BELOW = 1e11
"""Smaller numbers are seconds since 1970, larger ones milliseconds; as seconds, this is the year 5138."""

# Undecodable bytes come as lone surrogates, and JSON can name one (or NUL) by its number; neither can be
# stored as text.
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def parse(text: str) -> Transcript:
    """Return what was said in a transcript, with the lines it was said on."""
    turns: list[Turn] = []
    started: datetime | None = None
    skipped = broken = 0
    for number, line in enumerate(_lines(text), 1):
        record = _record(line)
        turn = _turn(record, number) if record else None
        if turn:
            turns.append(turn)
        elif record and record.get("type") == "session":
            started = started or _time(record.get("timestamp"))
        else:
            skipped += 1
            broken += record is None and bool(line.strip())
    if started is None:
        started = next((turn.time for turn in turns if turn.time), None)
    return Transcript(tuple(turns), started, skipped, broken)


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()  # a final line break ends the last line; it does not start another
    return lines


def _record(line: str) -> dict[str, Any] | None:
    """Return the JSON object of a line, if that is what it holds."""
    if _LONE_SURROGATE.search(line):
        return None
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):  # the latter for brackets nested by the thousand
        return None
    return value if isinstance(value, dict) else None


def _turn(record: dict[str, Any], line: int) -> Turn | None:
    message = record.get("message")
    if record.get("type") != "message" or not isinstance(message, dict):
        return None
    role = message.get("role")
    text = _said(message.get("content"))
    if role not in ("user", "assistant") or not text:
        return None
    return Turn(role, text, line, _time(message.get("timestamp")) or _time(record.get("timestamp")))


def _said(content: Any) -> str:
    """Return the text of a message's content, which may be hidden among blocks of other kinds."""
    if isinstance(content, list):
        blocks = [block for block in content if isinstance(block, dict) and block.get("type") == "text"]
        content = "\n".join([block["text"] for block in blocks if isinstance(block.get("text"), str)])
    if not isinstance(content, str):
        return ""
    lines = content.replace("\r\n", "\n").replace("\r", "\n")
    return _LONE_SURROGATE.sub("\ufffd", _CONTROL.sub(" ", lines)).strip()


def _time(value: Any) -> datetime | None:
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
