"""Bring transcripts of any client into the workspace's own folder, without their secrets."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from memlines.errors import MemlinesError, PathError, reason_of
from memlines.files import atomic, imported
from memlines.files.read import decode_lines
from memlines.files.scan import limit_for
from memlines.files.tombstones import session_of
from memlines.memory.conversations.conversation import (
    Cleaning,
    Conversation,
    format_transcript,
    parse_conversation,
)
from memlines.paths import Workspace
from memlines.settings import Settings
from memlines.text.redaction import Rules, redact
from memlines.types import Turn

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
    """What became of a conversation: where it is now, or why it was not brought in.

    `damaged` counts lines that are no records, `redacted` the secrets that were taken out, by their kinds.
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
        return {
            "file": self.file,
            "outcome": self.outcome,
            "path": self.path,
            "client": self.client,
            "messages": self.messages,
            "damaged": self.damaged,
            "redacted": dict(self.redacted),
            "problem": self.problem,
        }


def import_transcripts(
    workspace: Workspace, settings: Settings, files: Iterable[str | os.PathLike[str]]
) -> tuple[Imported, ...]:
    """Bring transcripts in; one that cannot be takes no other with it.

    The same conversation is there once: if it has grown since, what is there is replaced.
    """
    cleaning = Cleaning.of(workspace, settings)
    done = []
    for file in files:
        name = os.fspath(file)
        try:
            one = import_conversation(workspace, _read(name), name, cleaning)
            # Who names a file and gets nothing of it should hear of that.
            done.append(replace(one, outcome="failed") if one.outcome == "left out" else one)
        except MemlinesError as error:
            done.append(Imported(name, "failed", problem=str(error)))
    return tuple(done)


def import_conversation(
    workspace: Workspace, conversation: Conversation, file: str, cleaning: Cleaning, *, dry_run: bool = False
) -> Imported:
    """Put a conversation that was read from a file into the workspace, or tell what would be done.

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
        raise PathError(f"{file!r} is no transcript of a client that is known", todo=_TODO)
    return conversation


def _name(conversation: Conversation, rules: Rules) -> str:
    """Return the name of the file for a conversation, which no system refuses and no secret is in."""
    session = conversation.session
    plain = _UNUSUAL.sub("_", session)
    if plain != session or len(plain) > _LONGEST_NAME or redact(session, rules).counts:
        plain = hashlib.sha256(session.encode("utf-8", "replace")).hexdigest()[:12]
    return f"{conversation.client}-{plain}"


def _begins(turns: Sequence[Turn], with_these: Sequence[Turn]) -> bool:
    """Tell whether a conversation begins with another one."""
    said = [(turn.role, turn.text) for turn in turns[: len(with_these)]]
    return said == [(turn.role, turn.text) for turn in with_these]
