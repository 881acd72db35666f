"""Turn a transcript of any client into the format of the workspace's own ones, and back.

    {"type": "session", "id": "…", "timestamp": "2026-11-16T05:03:17.455Z", "client": "codex"}
    {"type": "message", "timestamp": "…", "message": {"role": "user", "content": [{"type": "text", …}]}}

It is OpenClaw's format, in which the names of tools stand as calls without their arguments.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from memlines.transcripts.hosts import HOSTS, recognise
from memlines.transcripts.lines import Record, records_of, split, table, tidy
from memlines.transcripts.opencode import parse_export
from memlines.types import Transcript, Turn

_EXPORT = re.compile(r'\s*\{\s*"info"\s*:\s*(?=\{)')
_EXPORTED_MESSAGES = re.compile(r'\s*,\s*"messages"\s*:')
_DECODER = json.JSONDecoder()
CHATGPT = "chatgpt"
"""Whose conversations come from an export; there are no transcripts of it to be found."""

WRITTEN_FOR = (*HOSTS, CHATGPT)
"""The clients that a transcript of the workspace's own may name."""

_HEAD_LINES = 100


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation of a client; without a name of its own, it is known by how it began."""

    client: str
    session: str
    transcript: Transcript


def conversation_in(text: str) -> Conversation | None:
    """Return the conversation that a file of a client holds, if it is in a format that is known."""
    info = _exported(text)
    if info is not None:
        return named("opencode", info.get("id"), parse_export(text))
    lines = list(split(text))
    host = recognise(lines)
    if host is None:
        return None
    client, session = _told(host, records_of(islice(lines, _HEAD_LINES)))
    return named(client, session, HOSTS[host].parse(lines, 1))


def written(session: str, client: str, started: datetime | None, turns: Iterable[Turn]) -> bytes:
    """Return a conversation in the format of the workspace's own transcripts."""
    header = {"type": "session", "id": session, **_time(started), "client": client}
    records = [header, *(_message(turn) for turn in turns)]
    return "".join([f"{json.dumps(record, ensure_ascii=False)}\n" for record in records]).encode()


def _message(turn: Turn) -> Record:
    content: list[Record] = [{"type": "text", "text": turn.text}]
    content += [{"type": "toolCall", "name": tool} for tool in turn.tools]
    return {"type": "message", **_time(turn.time), "message": {"role": turn.role, "content": content}}


def _time(time: datetime | None) -> dict[str, str]:
    if time is None:
        return {}
    return {"timestamp": time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")}


def _exported(text: str) -> Record | None:
    """Return what `opencode export` tells about a session, if a text begins as its output does."""
    begin = _EXPORT.match(text)
    try:
        info, end = _DECODER.raw_decode(text, begin.end()) if begin else (None, 0)
    except (ValueError, RecursionError):  # the latter for brackets nested by the thousand
        return None
    return info if isinstance(info, dict) and _EXPORTED_MESSAGES.match(text, end) else None


def _told(host: str, records: Iterator[Record]) -> tuple[str, Any]:
    """Return the client and the session that the first lines of a transcript name."""
    for record in records:
        kind = record.get("type")
        if host == "claude-code" and record.get("sessionId"):
            return host, record["sessionId"]
        if host == "codex" and kind == "session_meta":
            return host, table(record.get("payload")).get("id")
        if host == "opencode" and "parts" not in record:
            return host, table(record.get("info")).get("id")
        if host == "openclaw" and kind == "session":
            client = record.get("client")
            return client if client in list(WRITTEN_FOR) else host, record.get("id")
    return host, None


def named(client: str, session: Any, transcript: Transcript) -> Conversation:
    """Return a conversation under the name of its session, or one made of how it began."""
    name = tidy(session)
    if not name:
        first = transcript.turns[:1]
        beginning = f"{client}\n{transcript.started}\n{first[0].text if first else ''}"
        name = hashlib.sha256(beginning.encode()).hexdigest()[:12]
    return Conversation(client, name, transcript)
