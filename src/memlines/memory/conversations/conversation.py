"""A conversation of any client: read from its file, cleaned, and written in the format of the workspace.

    {"type": "session", "id": "…", "timestamp": "2026-11-16T05:03:17.455Z", "client": "codex"}
    {"type": "message", "timestamp": "…", "message": {"role": "user", "content": [{"type": "text", …}]}}

It is OpenClaw's format, in which the names of tools are calls without their arguments. An import brings
transcripts into the workspace's own folder in it, without their secrets.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, field, replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from memlines.errors import MemlinesError, PathError, SettingsError, reason_of
from memlines.files import atomic, imported
from memlines.files.read import decode_lines
from memlines.files.scan import limit_for
from memlines.files.tombstones import Forgotten, session_of
from memlines.paths import Workspace
from memlines.records import dataclass
from memlines.settings import Settings
from memlines.text.redaction import Rules, add_counts, redact, redact_together, rules_of
from memlines.transcripts.catalogue import CLIENTS, format_of, recognise
from memlines.transcripts.finding import PREFIX
from memlines.transcripts.lines import Record, records_of, split, tidy
from memlines.types import Transcript, Turn

CHATGPT = "chatgpt"
"""A client whose conversations come from an export; it has no transcripts to find."""

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
    headers = map(recognised.header_of, records_of(islice(lines, _HEAD_LINES)))
    header = next((header for header in headers if header is not None), None)
    # The workspace's own transcripts say for which client they were written.
    name = header.client if header and header.client in list(WRITTEN_FOR) else recognised.name
    return name_conversation(name, header.session if header else None, recognised.parse(lines, 1))


def format_transcript(session: str, client: str, started: datetime | None, turns: Iterable[Turn]) -> bytes:
    """Return a conversation in the format of the workspace's own transcripts."""

    def time(moment: datetime | None) -> Record:
        if moment is None:
            return {}
        written = moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return {"timestamp": written}

    records: list[Record] = [{"type": "session", "id": session, **time(started), "client": client}]
    for turn in turns:
        content = [{"type": "text", "text": turn.text}]
        content += [{"type": "toolCall", "name": tool} for tool in turn.tools]
        message = {"role": turn.role, "content": content}
        records.append({"type": "message", **time(turn.time), "message": message})
    return "".join([f"{json.dumps(record, ensure_ascii=False)}\n" for record in records]).encode()


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
    "Set sources to [memory, sessions], and sessions.clients to the clients whose transcripts to read "
    f"({', '.join(CLIENTS)})"
)


def client_of(path: str) -> str:
    """Return the client a transcript is from; the name of an imported one begins with it."""
    if not path.startswith(PREFIX):
        return ""
    name = path.removeprefix(PREFIX)
    brought_in = [client for client in WRITTEN_FOR if "/" not in name and name.startswith(f"{client}-")]
    return brought_in[0] if brought_in else format_of(path).name


def refuse_unless_on(settings: Settings) -> None:
    """Raise where the settings do not ask for sessions: no conversation is read without that."""
    if "sessions" not in settings.sources:
        raise SettingsError("the setting 'sources' does not ask for sessions", todo=SWITCH_ON)


Outcome = Literal["imported", "already there", "replaced", "left out", "failed"]

_OUTCOMES: Mapping[imported.Outcome, Outcome] = {
    "created": "imported",
    "same": "already there",
    "replaced": "replaced",
}
_UNUSUAL = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST_NAME = 100
_TODO = "Name a transcript of OpenClaw, Claude Code or Codex, or what 'opencode export' printed"


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of a conversation: where it is now, or why it was not imported.

    `damaged` counts lines that are not records, `redacted` the secrets that were taken out, by their kinds.
    """

    file: str
    outcome: Outcome
    path: str = ""
    client: str = ""
    messages: int = 0
    damaged: int = 0
    redacted: Mapping[str, int] = field(default_factory=dict)
    problem: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return it with field names that stay."""
        return asdict(self)


def import_transcripts(
    workspace: Workspace, settings: Settings, files: Iterable[str | os.PathLike[str]]
) -> tuple[Imported, ...]:
    """Import transcripts; one that fails does not stop the others.

    The same conversation is there once: if it has grown since, what is there is replaced.
    """
    cleaning = Cleaning.of(workspace, settings)
    done = []
    for file in files:
        name = os.fspath(file)
        try:
            one = import_conversation(workspace, _read(name), name, cleaning)
            # A file that was named and of which nothing is imported must be reported.
            done.append(replace(one, outcome="failed") if one.outcome == "left out" else one)
        except MemlinesError as error:
            done.append(Imported(name, "failed", problem=str(error)))
    return tuple(done)


def import_conversation(
    workspace: Workspace, conversation: Conversation, file: str, cleaning: Cleaning, *, dry_run: bool = False
) -> Imported:
    """Put a conversation that was read from a file into the workspace, or say what would be done.

    It is left out if it was forgotten, or nothing is said in it.
    """
    name = _name(conversation, cleaning.rules)
    names = (conversation.session, name, session_of(Path(file).name))
    if any(cleaning.forgotten.drops_session(one) for one in names):
        return Imported(file, "left out", problem=f"the session in {file!r} was forgotten")
    transcript = conversation.transcript
    turns, redacted = cleaning.clean_and_count(name, transcript.turns)
    if not turns:
        return Imported(file, "left out", problem=f"nothing is said in {file!r}. {_TODO}")
    session = redact(conversation.session, cleaning.rules).text
    content = format_transcript(session, conversation.client, transcript.started, turns)

    def relate(old: bytes) -> imported.Relation:
        there = parse_conversation(decode_lines(old))
        if there is None or (there.client, there.session) != (conversation.client, session):
            return "other"
        known = cleaning.clean(name, there.transcript.turns)
        if _begins(turns, known):
            return "part"
        return "whole" if _begins(known, turns) else "other"

    saved = imported.save(workspace, name, content, relate, dry_run=dry_run)
    return Imported(
        file,
        _OUTCOMES[saved.outcome],
        saved.path,
        conversation.client,
        len(turns),
        transcript.broken,
        redacted,
    )


def _read(file: str) -> Conversation:
    limit, in_words = limit_for("sessions", 0)
    try:
        content = atomic.read(Path(file), limit)
    except (OSError, ValueError) as error:  # the latter for a name with a NUL character
        raise PathError(
            f"{file!r} cannot be read: {reason_of(error)}", todo="Check its permissions"
        ) from error
    if content is None:
        raise PathError(f"there is no file {file!r}", todo="Check its name")
    if len(content) > limit:
        raise PathError(f"{file!r} is above {in_words}", todo="Import a smaller one")
    conversation = parse_conversation(decode_lines(content))
    if conversation is None:
        raise PathError(f"{file!r} is not a transcript of a known client", todo=_TODO)
    return conversation


def _name(conversation: Conversation, rules: Rules) -> str:
    """Return the name of the file for a conversation, which no system refuses and no secret is in."""
    session = conversation.session
    plain = _UNUSUAL.sub("_", session)
    if plain != session or len(plain) > _LONGEST_NAME or redact(session, rules).counts:
        plain = hashlib.sha256(session.encode("utf-8", "replace")).hexdigest()[:12]
    return f"{conversation.client}-{plain}"


def _begins(turns: Sequence[Turn], with_these: Sequence[Turn]) -> bool:
    """Return whether a conversation begins with another one."""
    said = [(turn.role, turn.text) for turn in turns[: len(with_these)]]
    return said == [(turn.role, turn.text) for turn in with_these]
