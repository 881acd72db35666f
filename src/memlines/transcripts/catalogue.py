"""The clients whose transcripts are read: those of `ClientName` that have a file here."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from typing import get_args

from memlines.transcripts.finding import PREFIX, Client
from memlines.transcripts.lines import records_of
from memlines.types import ClientName

CLIENTS: dict[str, Client] = {
    name: import_module(file).CLIENT
    for name in get_args(ClientName)
    if find_spec(file := f"memlines.transcripts.{name.replace('-', '_')}")
}


def format_of(path: str) -> Client:
    """Return the client whose format a transcript has, by its name in the index.

    The transcripts in the workspace's own folder have OpenClaw's format.
    """
    name, slash, _ = path.removeprefix(PREFIX).partition("/")
    return CLIENTS[name if slash and name in CLIENTS else "openclaw"]


def recognise(lines: Iterable[str]) -> Client | None:
    """Return the client whose format lines have, by the first record that only one of them writes."""
    for record in records_of(lines):
        for client in CLIENTS.values():
            is_own_type = not client.own_types or record.get("type") in client.own_types
            if is_own_type and client.own_field in record:
                return client
    return None
