"""What `/memory` does: switch the memory on or off, tell its state, bring it up to date.

A person types this. No tool does the same, because what a model reads could then switch its memory off.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from recollect.agent import snapshot
from recollect.agent.flush import flush
from recollect.errors import UsageError
from recollect.files.begin import begin_workspace
from recollect.rpc.workplace import Workplace
from recollect.settings import switched_off
from recollect.text.neutral import neutral_line
from recollect.tools import call_tool
from recollect.writing.switch import switch

Messages = Sequence[Any] | None
_NAMES = {"claude-code": "/recollect", "codex": "/recollect"}
"""What the command is called where `/memory` is another one."""
_COMMAND = "{command}"
_NONE = "This folder has no memory yet: {command} on or remembering something begins one."


def run_command(
    place: Workplace, arguments: str, session: str | None, messages: Messages, client: str = ""
) -> str:
    """Do what the words behind `/memory` say, and return what to tell about it in the client's own words."""
    name = _NAMES.get(client, "/memory")
    words = arguments.split()
    verb = words[0].lower() if words else "status"
    if verb not in _VERBS or len(words) > 1:
        raise UsageError(f"{name} does not know {arguments[:60]!r}", todo=f"It knows {', '.join(_VERBS)}")
    return _VERBS[verb](place, session, messages).replace(_COMMAND, name)


def _on(place: Workplace, session: str | None, messages: Messages) -> str:
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


def _off(place: Workplace, session: str | None, messages: Messages) -> str:
    if not place.is_active:
        return _NONE
    if not switch(place.workspace, on=False):
        return "Memory is off already."
    place.memory().close()
    return (
        "Memory is off for this project: nothing is searched, shown, kept or indexed until {command} on."
        " The notes stay where they are."
    )


def _status(place: Workplace, session: str | None, messages: Messages) -> str:
    if not place.is_active:
        return _NONE
    return call_tool(place.memory(), "memory_status", {}).text


def _sync(place: Workplace, session: str | None, messages: Messages) -> str:
    return call_tool(place.memory(), "memory_sync", {}).text if place.is_active else _NONE


def _compact(place: Workplace, session: str | None, messages: Messages) -> str:
    """Write down what should last of the conversation, as before a compaction."""
    if not place.is_active:
        return _NONE
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


_VERBS: Mapping[str, Callable[[Workplace, str | None, Messages], str]] = {
    "on": _on,
    "off": _off,
    "status": _status,
    "sync": _sync,
    "compact": _compact,
}
