"""The clients whose transcripts are read: one line each."""

from __future__ import annotations

from collections.abc import Iterable

from memlines.transcripts import claude_code, codex, openclaw, opencode
from memlines.transcripts.finding import PREFIX, Client
from memlines.transcripts.lines import records_of

CLIENTS: dict[str, Client] = {
    module.CLIENT.name: module.CLIENT for module in (openclaw, claude_code, codex, opencode)
}
OWN_FORMAT = openclaw.CLIENT
"""Whose format the transcripts of the workspace's own folder have."""


def format_of(path: str) -> Client:
    """Return the client whose format a transcript has, by its name in the index."""
    name, slash, _ = path.removeprefix(PREFIX).partition("/")
    return CLIENTS.get(name, OWN_FORMAT) if slash else OWN_FORMAT


def recognise(lines: Iterable[str]) -> Client | None:
    """Return the client whose format lines have, by the first record that only one of them writes."""
    for record in records_of(lines):
        for client in reversed(CLIENTS.values()):
            if client.is_own_record(record):
                return client
    return None
