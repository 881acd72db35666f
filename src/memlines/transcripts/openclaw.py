"""Read the transcripts of OpenClaw: JSON Lines, one record a line.

    {"type": "session", "timestamp": "2026-03-01T09:30:00Z", "cwd": "/home/ada/shop"}
    {"type": "message", "timestamp": …, "message": {"role": "user", "content": "…", "timestamp": …}}

`content` is a text or a list of blocks, and only blocks of type `text` are read: what was said, not what
tools were called with or gave back. Summaries of compactions are left out, since what they sum up is there.

Newer versions keep a living session as rows of a database and write lines only when it is deleted or reset;
a row holds exactly what a line would.
"""

from __future__ import annotations

import os
import re

from memlines.transcripts.finding import Client, Header, Look, Query
from memlines.transcripts.lines import Began, Meaning, Record, Said, blocks, names, table, time_of, words

_SESSIONS = """
SELECT session_id,
    (SELECT count(*) FROM transcript_events AS line WHERE line.session_id = session.session_id),
    coalesce(transcript_updated_at, updated_at),
    (SELECT event_json FROM transcript_events AS line WHERE line.session_id = session.session_id ORDER BY seq)
FROM session_windows AS session WHERE spawned_by IS NULL ORDER BY session_id
"""
"""Asks the database of an agent for sessions: id, number of lines, last change in ms, first line."""

_FILE = re.compile(r".+\.jsonl(?:\.(?:reset|deleted)\.\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?Z)?", re.DOTALL)
"""A session's file, or one that a reset or a deletion of the session set aside; not its backups."""

_LINES = "SELECT event_json FROM transcript_events WHERE session_id = ? ORDER BY seq"
"""Asks for the lines of a session; one that was compressed comes as nothing."""


def read_session(query: Query, database: str, session: str) -> list[str]:
    """Return a session out of a database as the lines of a transcript."""
    rows = query(database, _LINES, (session,))
    return [text.replace("\n", " ") if isinstance(text, str) else "" for (text,) in rows]


def _read(record: Record) -> Meaning:
    if record.get("type") == "session":
        return Began(time_of(record.get("timestamp")))
    message = table(record.get("message"))
    role = message.get("role")
    if record.get("type") != "message" or role not in ("user", "assistant"):
        return None
    parts = blocks(message.get("content"))
    called = [part.get("name") for part in parts if part.get("type") == "toolCall"]
    time = time_of(message.get("timestamp")) or time_of(record.get("timestamp"))
    return Said(role, words(parts, "text"), time, names(called) if role == "assistant" else ())


def _search(look: Look) -> None:
    """Find `agents/<agent>/sessions/*.jsonl` of one agent, and the sessions in its database."""
    agent = look.agent
    for folder in look.entries(look.home("OPENCLAW_STATE_DIR", ".openclaw") / "agents"):
        if folder.name != agent or not look.is_folder(folder):
            continue
        for entry in look.entries(os.path.join(folder.path, "sessions")):  # noqa: PTH118
            if _FILE.fullmatch(entry.name):
                look.consider(entry, f"{agent}/{entry.name}")
        database = os.path.join(folder.path, "agent", "openclaw-agent.sqlite")  # noqa: PTH118
        for session, lines, updated, first in look.rows(database, _SESSIONS, ()):
            if look.is_ours(look.client.head([str(first)])):
                look.take_row(f"{agent}/", database, str(session), lines, updated)


def _header_of(record: Record) -> Header | None:
    if record.get("type") != "session":
        return None
    return Header(record.get("id"), record.get("cwd"), client=record.get("client"))


CLIENT = Client(
    "openclaw", _read, _header_of, _search, "type", ("session", "message"), read_session=read_session
)
