"""What `/memory` does: switch the memory on or off, show its state, bring it up to date.

A person types this. No tool does the same, because what a model reads could then switch its memory off.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memlines.agent import snapshot
from memlines.agent.flush import flush
from memlines.errors import UsageError
from memlines.files.place import begin_workspace
from memlines.memory.notes.settings_file import switch
from memlines.serve.rpc.workplace import Workplace
from memlines.serve.tools import call_tool
from memlines.settings import switched_off
from memlines.text.neutral import neutral_line

VERBS = ("on", "off", "status", "sync", "compact")
_USAGE = "on, off, status, sync [--force], compact"


def run_command(
    place: Workplace, arguments: str, session: str | None, messages: Sequence[Any] | None, client: str = ""
) -> str:
    """Do what the words after `/memory` say, and describe it with the client's own command."""
    from memlines.clients.client import load_clients  # which only a typed command needs

    clients = load_clients()
    name = clients[client].command if client in clients else "/memory"
    verb, *options = arguments.lower().split() or ["status"]
    if verb not in VERBS or {*options} - ({"--force"} if verb == "sync" else set()):
        raise UsageError(f"{name} does not know {arguments[:60]!r}", todo=f"It knows {_USAGE}")
    if verb == "on":
        return _switch_on(place)
    if not place.is_active:
        return f"This folder has no memory yet: {name} on or remembering something begins one."
    if verb == "off":
        if not switch(place.workspace, on=False):
            return "Memory is off already."
        place.memory().close()
        return (
            f"Memory is off for this project: nothing is searched, shown, kept or indexed until {name} on."
            " The notes stay where they are."
        )
    if verb == "compact":
        return _compact(place, session, messages)
    given = {"force": bool(options)} if verb == "sync" else {}
    return call_tool(place.memory(), f"memory_{verb}", given).text


def _switch_on(place: Workplace) -> str:
    begun = not place.is_active
    if begun:
        begin_workspace(place.workspace.root)
    changed = switch(place.workspace, on=True)
    still_off = switched_off(place.memory().loaded)
    if still_off:
        return f"Memory stays off: {still_off}."
    place.memory().start_session()
    if begun:
        return f"Memory is on. {place.workspace.root} is a workspace now, with MEMORY.md and memory/."
    return "Memory is on again for this project." if changed else "Memory is on already."


def _compact(place: Workplace, session: str | None, messages: Sequence[Any] | None) -> str:
    """Write down what should last of the conversation, as before a compaction."""
    memory = place.memory()
    off = switched_off(memory.loaded)
    if off or not messages or not session:
        return f"Nothing was written: {off or 'there is no conversation yet'}."
    done = flush(memory, messages, session=session)
    snapshot.take(memory, session, messages)
    lines = [f"- {neutral_line(entry.text)} ({entry.citation})" for entry in done.written]
    head = "Written down:" if lines else "There was nothing new to write down."
    warnings = [f"Note: {warning}" for warning in done.warnings]
    return "\n".join([head, *lines, *warnings, "The client's own /compact now loses nothing of it."])
