"""What `/memory` does: switch the memory on or off, tell its state, bring it up to date.

A person types this. No tool does the same, because what a model reads could then switch its memory off.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from memlines.agent import snapshot
from memlines.agent.flush import flush
from memlines.errors import UsageError
from memlines.files.place import begin_workspace
from memlines.memory.notes.settings_file import switch
from memlines.serve.rpc.workplace import Workplace
from memlines.serve.tools import call_tool
from memlines.settings import switched_off
from memlines.text.neutral import neutral_line

Messages = Sequence[Any] | None
_NAMES = {"claude-code": "/memlines", "codex": "/memlines"}
"""What the command is called where `/memory` is another one."""
_COMMAND = "{command}"
_OPTIONS = {"sync": ("--force",)}
_NONE = "This folder has no memory yet: {command} on or remembering something begins one."


class _Typed(NamedTuple):
    """A command as a person typed it, and where."""

    place: Workplace
    session: str | None
    messages: Messages
    options: frozenset[str]


def run_command(
    place: Workplace, arguments: str, session: str | None, messages: Messages, client: str = ""
) -> str:
    """Do what the words behind `/memory` say, and return what to tell about it in the client's own words."""
    name = _NAMES.get(client, "/memory")
    verb, *options = arguments.lower().split() or ["status"]
    if verb not in _VERBS or not {*options} <= {*_OPTIONS.get(verb, ())}:
        known = [" ".join([verb, *(f"[{option}]" for option in _OPTIONS.get(verb, ()))]) for verb in _VERBS]
        raise UsageError(f"{name} does not know {arguments[:60]!r}", todo=f"It knows {', '.join(known)}")
    return _VERBS[verb](_Typed(place, session, messages, frozenset(options))).replace(_COMMAND, name)


def _on(typed: _Typed) -> str:
    place = typed.place
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


def _off(typed: _Typed) -> str:
    place = typed.place
    if not place.is_active:
        return _NONE
    if not switch(place.workspace, on=False):
        return "Memory is off already."
    place.memory().close()
    return (
        "Memory is off for this project: nothing is searched, shown, kept or indexed until {command} on."
        " The notes stay where they are."
    )


def _status(typed: _Typed) -> str:
    return call_tool(typed.place.memory(), "memory_status", {}).text if typed.place.is_active else _NONE


def _sync(typed: _Typed) -> str:
    force = "--force" in typed.options
    return (
        call_tool(typed.place.memory(), "memory_sync", {"force": force}).text
        if typed.place.is_active
        else _NONE
    )


def _compact(typed: _Typed) -> str:
    """Write down what should last of the conversation, as before a compaction."""
    place, session, messages, _ = typed
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


_VERBS: Mapping[str, Callable[[_Typed], str]] = {
    "on": _on,
    "off": _off,
    "status": _status,
    "sync": _sync,
    "compact": _compact,
}
