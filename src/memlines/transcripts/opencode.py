"""Read the sessions of OpenCode, which it keeps as rows of a database, and its exports.

A session of the database is read as JSON Lines made of its rows: one line for the session, then one a
message. `opencode export` writes the same as one indented JSON document.

    {"info": {"id": "ses_…", "directory": "/home/ada/shop", "time": {"created": …}}}
    {"info": {"role": "user", "time": {"created": …}}, "parts": [{"type": "text", "text": "…"}]}

OpenCode 2 keeps its sessions beside those of OpenCode 1, in tables of its own. A session that it took over is
in both, and is read from the newer ones. Its rows become the same lines: what the user typed is the text of
one part, and an answer is its texts and tools.

Left out are the inputs and outputs of tools, reasoning, parts that the program made up (`synthetic`: files
that were attached, the word to go on after a compaction) and summaries of compactions, since what they sum
up is there. The sessions of helpers (`parent_id`) are not looked for.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

from memlines.records import dataclass
from memlines.transcripts.finding import Client, Header, Look, Query
from memlines.transcripts.lines import (
    BROKEN,
    Began,
    Meaning,
    Record,
    Said,
    blocks,
    gather,
    names,
    record_of,
    table,
    time_of,
    words,
)
from memlines.types import Transcript

_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table'"


@dataclass(frozen=True, slots=True)
class _Layout:
    """The tables in which one version of OpenCode keeps sessions, and how it is asked.

    `sessions` asks for those that people had in a folder: id, number of messages, last change in ms.
    """

    tables: frozenset[str]
    sessions: str
    session: str
    messages: str


_FIRST = _Layout(
    frozenset({"session", "message", "part"}),
    "SELECT id, (SELECT count(*) FROM message WHERE message.session_id = session.id), time_updated"
    " FROM session WHERE directory = ? AND parent_id IS NULL ORDER BY id",
    "SELECT id, directory, time_created FROM session WHERE id = ?",
    "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id",
)
_PARTS = "SELECT message_id, data FROM part WHERE session_id = ? ORDER BY message_id, id"

# A row of a message is written again while its answer grows; the session may know of that only later.
_SECOND = _Layout(
    frozenset({"session_v2", "session_message"}),
    "SELECT id, (SELECT count(*) FROM session_message WHERE session_id = session_v2.id), max(time_updated,"
    " coalesce((SELECT max(time_updated) FROM session_message WHERE session_id = session_v2.id), 0))"
    " FROM session_v2 WHERE directory = ? AND parent_id IS NULL ORDER BY id",
    "SELECT id, directory, time_created FROM session_v2 WHERE id = ?",
    "SELECT id, type, data FROM session_message"
    " WHERE session_id = ? AND type IN ('user', 'assistant') ORDER BY seq",
)

_EXPORT = re.compile(r'\s*\{\s*"info"\s*:\s*(?=\{)')
_EXPORTED_MESSAGES = re.compile(r'\s*,\s*"messages"\s*:')
_MESSAGE = re.compile(r'\{\s*"info"\s*:')
_TEXT_KEY = re.compile(r'"text"\s*:\s*')
_DECODER = json.JSONDecoder()


def read_session(query: Query, database: str, session: str) -> list[str]:
    """Return a session out of a database as the lines of a transcript; none if it is gone.

    What tools were called with and gave back, most of a session, is left out.
    """
    for layout in _layouts({name for (name,) in query(database, _TABLES, ())}):
        for number, directory, created in query(database, layout.session, (session,)):
            info = {"id": number, "directory": directory, "time": {"created": created}}
            messages = query(database, layout.messages, (session,))
            if layout is _SECOND:
                records = [_second(*row) for row in messages]
            else:
                records = _first(messages, query(database, _PARTS, (session,)))
            return [json.dumps(record, ensure_ascii=False) for record in ({"info": info}, *records)]
    return []


def _layouts(tables: Collection[str]) -> list[_Layout]:
    """Return how to ask a database, the newest way first; the oldest if it has no tables that are known."""
    return [layout for layout in (_SECOND, _FIRST) if layout.tables <= set(tables)] or [_FIRST]


def _first(messages: Iterable[Any], parts: Iterable[Any]) -> list[Record]:
    """Return messages of OpenCode 1 with their parts."""
    parts_of: dict[str, list[Record]] = {}
    for message, data in parts:
        part = record_of(data) or {}
        kept = {"type": "tool", "tool": part.get("tool")} if part.get("type") == "tool" else part
        parts_of.setdefault(message, []).append(kept)
    return [
        {"info": {**(record_of(data) or {}), "id": message}, "parts": parts_of.get(message, [])}
        for message, data in messages
    ]


def _second(message: str, role: str, data: str) -> Record:
    """Return a message of OpenCode 2 in the shape of OpenCode 1."""
    said = record_of(data) or {}
    content = blocks(said.get("text" if role == "user" else "content"))
    parts = [
        {"type": "tool", "tool": part.get("name")} if part.get("type") == "tool" else part
        for part in content
        if part.get("type") in ("text", "tool")
    ]
    return {"info": {"id": message, "role": role, "time": said.get("time")}, "parts": parts}


def read_export(text: str) -> tuple[Any, Transcript] | None:
    """Return the id and the transcript of what `opencode export` printed, if a text begins as that does.

    A message that is damaged or cut off spoils no other.
    """
    begin = _EXPORT.match(text)
    info, end = _decoded(text, begin.end()) if begin else (None, 0)
    if info is None or not _EXPORTED_MESSAGES.match(text, end):
        return None
    return info.get("id"), gather(_exported(text, info, end))


def _exported(text: str, info: Record, end: int) -> Iterator[tuple[int, Meaning]]:
    """Yield what the parts of an exported document say, and on which lines of it; `info` ends at `end`."""
    yield 1, _read({"info": info})
    line = 1
    counted = 0
    for match in _MESSAGE.finditer(text, end):
        if match.start() < end:
            continue  # inside the message before
        record, after = _decoded(text, match.start())
        end = after or end
        place = _place_of_text(text, match.start(), end, record)
        line += text.count("\n", counted, place)
        counted = place
        yield line, BROKEN if record is None else _read(record)


def _decoded(text: str, start: int) -> tuple[Record | None, int]:
    """Return the JSON object that starts at a place, and where it ends; 0 if there is none."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):  # the latter for brackets nested by the thousand
        return None, 0
    return (value, end) if isinstance(value, dict) else (None, 0)


def _place_of_text(text: str, start: int, end: int, message: Record | None) -> int:
    """Return where the first words of a message are in the document; without any, where it starts."""
    wanted = next((part["text"] for part in _parts(message or {}) if isinstance(part.get("text"), str)), None)
    for match in _TEXT_KEY.finditer(text, start, end) if wanted else ():
        if text[match.end() : match.end() + 1] == '"' and _DECODER.raw_decode(text, match.end())[0] == wanted:
            return match.end()
    return start


def _read(record: Record) -> Meaning:
    info = table(record.get("info"))
    time = time_of(table(info.get("time")).get("created"))
    role = info.get("role")
    if "parts" not in record and "directory" in info:
        return Began(time)
    if role not in ("user", "assistant") or info.get("summary") is True:
        return None
    parts = _parts(record)
    called = [part.get("tool") for part in parts if part.get("type") == "tool"]
    return Said(role, words(parts, "text"), time, names(called) if role == "assistant" else ())


def _parts(message: Record) -> list[Record]:
    """Return the parts of a message that a person typed or the assistant said or did."""
    parts = message.get("parts")
    kept = blocks(parts) if isinstance(parts, list) else []
    return [part for part in kept if not (part.get("synthetic") or part.get("ignored"))]


def _search(look: Look) -> None:
    """Find the sessions that OpenCode's database holds for the workspace."""
    data = Path(look.environ.get("XDG_DATA_HOME") or look.home("", ".local/share"), "opencode")
    database = os.fspath(data / (look.environ.get("OPENCODE_DB") or "opencode.db"))
    tables = {name for (name,) in look.rows(database, _TABLES, ())}
    seen: set[str] = set()
    for layout in _layouts(tables) if tables else ():
        for session, messages, updated in look.rows(database, layout.sessions, (str(look.folder),)):
            if session not in seen:
                look.take_row("", database, str(session), messages, updated)
                seen.add(session)


def _header_of(record: Record) -> Header | None:
    if "parts" in record:
        return None
    info = table(record.get("info"))
    return Header(info.get("id"), info.get("directory"), bool(info.get("parentID")))


CLIENT = Client(
    "opencode", _read, _header_of, _search, "info", read_session=read_session, read_export=read_export
)
