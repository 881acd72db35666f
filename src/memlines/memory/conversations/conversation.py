"""A conversation of any client: read from its file, cleaned, and written in the format of the workspace.

    {"type": "session", "id": "…", "timestamp": "2026-11-16T05:03:17.455Z", "client": "codex"}
    {"type": "message", "timestamp": "…", "message": {"role": "user", "content": [{"type": "text", …}]}}

It is OpenClaw's format, in which the names of tools are calls without their arguments.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from memlines.errors import SettingsError
from memlines.files.tombstones import Forgotten
from memlines.paths import Workspace
from memlines.settings import Settings
from memlines.text.redaction import Rules, add_counts, redact_together, rules_of
from memlines.transcripts.catalogue import CLIENTS, OWN_FORMAT, format_of, recognise
from memlines.transcripts.finding import PREFIX, Client
from memlines.transcripts.lines import Record, records_of, split, tidy
from memlines.types import Transcript, Turn

CHATGPT = "chatgpt"
"""Whose conversations come from an export; there are no transcripts of it to be found."""

WRITTEN_FOR = (*CLIENTS, CHATGPT)
"""The clients that a transcript of the workspace's own may name."""

_HEAD_LINES = 100


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation of a client; without a name of its own, it is known by how it began."""

    client: str
    session: str
    transcript: Transcript


def parse_conversation(text: str) -> Conversation | None:
    """Return the conversation that a file of a client holds, if it is in a format that is known."""
    for client in CLIENTS.values():
        export = client.read_export(text) if client.read_export else None
        if export is not None:
            return name_conversation(client.name, *export)
    lines = list(split(text))
    recognised = recognise(lines)
    if recognised is None:
        return None
    name, session = _session_of(recognised, records_of(islice(lines, _HEAD_LINES)))
    return name_conversation(name, session, recognised.parse(lines, 1))


def format_transcript(session: str, client: str, started: datetime | None, turns: Iterable[Turn]) -> bytes:
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


def _session_of(client: Client, records: Iterator[Record]) -> tuple[str, Any]:
    """Return the client and the session that the first lines of a transcript name."""
    for record in records:
        header = client.header_of(record)
        if header is not None:
            # The workspace's own transcripts say for which client they were written.
            written_for = header.get("client") if client is OWN_FORMAT else None
            return written_for if written_for in list(WRITTEN_FOR) else client.name, header.get("id")
    return client.name, None


def name_conversation(client: str, session: Any, transcript: Transcript) -> Conversation:
    """Return a conversation under the name of its session, or one made of how it began."""
    name = tidy(session)
    if not name:
        first = transcript.turns[:1]
        beginning = f"{client}\n{transcript.started}\n{first[0].text if first else ''}"
        name = hashlib.sha256(beginning.encode()).hexdigest()[:12]
    return Conversation(client, name, transcript)


@dataclass(frozen=True, slots=True)
class Cleaning:
    """Removes from conversations what was forgotten, and secrets."""

    forgotten: Forgotten
    rules: Rules

    @classmethod
    def of(cls, workspace: Workspace, settings: Settings) -> Cleaning:
        """Return what a workspace asks for."""
        return cls(Forgotten.load(workspace), rules_of(settings.redaction.rules))

    def clean(self, path: str, turns: Sequence[Turn]) -> tuple[Turn, ...]:
        """Return turns of a conversation as far as something is left of them."""
        return self.clean_and_count(path, turns)[0]

    def clean_and_count(self, path: str, turns: Sequence[Turn]) -> tuple[tuple[Turn, ...], dict[str, int]]:
        """Return the same, and how many secrets there were of each kind."""
        counts: dict[str, int] = {}
        kept = []
        left = self.forgotten.turns(path, turns)
        for turn, redacted in zip(
            left, redact_together([turn.text for turn in left], self.rules), strict=True
        ):
            counts = add_counts(counts, redacted.counts)
            if text := redacted.text.strip():
                kept.append(replace(turn, text=text))
        return tuple(kept), counts


SWITCH_ON = (
    "Set sources to [memory, sessions], and sessions.clients to the clients whose transcripts are to be read "
    f"({', '.join(CLIENTS)})"
)


def client_of(path: str) -> str:
    """Return the client a transcript is from; one that was brought in says so at its beginning."""
    if not path.startswith(PREFIX):
        return ""
    name = path.removeprefix(PREFIX)
    brought_in = [client for client in WRITTEN_FOR if "/" not in name and name.startswith(f"{client}-")]
    return brought_in[0] if brought_in else format_of(path).name


def refuse_unless_on(settings: Settings) -> None:
    """Raise where the settings do not ask for sessions: no conversation is read without that."""
    if "sessions" not in settings.sources:
        raise SettingsError("the setting 'sources' does not ask for sessions", todo=SWITCH_ON)
