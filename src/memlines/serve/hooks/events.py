"""Handle the events of clients. The same events have the same names in Claude Code and Codex.

    {"session_id": …, "transcript_path": …, "cwd": …, "hook_event_name": …, "prompt": …}

The answer is what the client expects: context for the model, or an empty object. No event is ever blocked.

A client that resumes a conversation sends everything that was said in it, our context included. So the names
of conversations that have their context are kept in a file, which outlives the engine. What a client did not
wait for is kept in memory, for its next event.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from memlines.errors import MemlinesError, MemoryOff, UsageError
from memlines.files import atomic
from memlines.files.place import ensure_folder
from memlines.serve.hooks import thin
from memlines.serve.rpc.engine import PROTOCOL, Engine
from memlines.settings.workspace import shares_worktrees
from memlines.text.neutral import NOTHING, Neutral
from memlines.transcripts.catalogue import CLIENTS
from memlines.types import Turn
from memlines.worktrees import is_below, main_worktree

_MOST_CONVERSATIONS = 1_000
_MOST_BYTES = 1_000_000
_MOST_MISSED = 200
_MOST_TEXTS = 3
"""How many contexts are kept for a conversation whose client did not wait, the newest."""

PARSERS = {name: client.parse for name, client in CLIENTS.items() if client.read_session is None}
"""The parser of each client that keeps its transcripts in files, as clients with hooks do."""

MOST_BYTES = 16 * 1024 * 1024
_FIRST_LOOK = 256 * 1024
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)

Given = Mapping[str, Any]
Answer = dict[str, Any]

_COMMAND = re.compile(r"/(?:(?:memlines|recollect):)?(?:memlines|recollect)(?:\s+(.*))?", re.DOTALL)
_OWN_COMMANDS = re.compile(r"/(?:(?:memlines|recollect):)?(?:remember|recall|forget)\b")
# An installation under the project's first name has its command under that name.
_LONGEST_NAME = 200
_LAST_TURNS = 40
"""More than a snapshot keeps by default: some turns hold nothing that is kept."""


class Conversations:
    """Which conversations have their context, and what some of them did not wait for."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._missed: OrderedDict[str, list[Neutral]] = OrderedDict()

    def has_context(self, name: str) -> bool:
        """Return whether a conversation was given its context."""
        return name in _parse_names(atomic.read(self._file, _MOST_BYTES))

    def note_context(self, name: str, *, given: bool = True) -> None:
        """Note that a conversation was given its context, or that it was not after all."""
        before = atomic.read(self._file, _MOST_BYTES)
        names = [known for known in _parse_names(before) if known != name]
        if given:
            names.append(name)
        content = json.dumps(names[-_MOST_CONVERSATIONS:], indent=0).encode()
        if content == before:
            return
        ensure_folder(self._file.parent)
        try:
            atomic.replace(self._file, content, before)
        except atomic.Changed:
            self.note_context(name, given=given)

    def keep_missed(self, name: str, context: Neutral) -> None:
        """Keep a context that a client did not wait for; an empty one means that of the start."""
        self._missed[name] = [*self._missed.get(name, ()), context][-_MOST_TEXTS:]
        self._missed.move_to_end(name)
        while len(self._missed) > _MOST_MISSED:
            self._missed.popitem(last=False)

    def take_missed(self, name: str) -> list[Neutral]:
        """Return what was kept for a conversation, and forget it."""
        return self._missed.pop(name, [])


def _parse_names(content: bytes | None) -> list[str]:
    """Return the names of a list; a damaged one counts as empty, so a context may be given twice."""
    try:
        names = json.loads(content or b"[]")
    except ValueError:
        return []
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def last_turns(file: Path, client: str, count: int | None = None) -> tuple[Turn, ...]:
    """Return at least `count` of the last turns of a conversation, or all of them, from at most 16 MiB.

    What is missing or not a file has none.
    """
    try:
        handle = os.open(file, _FLAGS)
    except OSError:
        return ()
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            return ()
        size = min(found.st_size, MOST_BYTES)
        look = size if count is None else min(size, _FIRST_LOOK)
        while True:
            turns = _parse_tail(handle, found.st_size - look, look, client)
            if look >= size or (count is not None and len(turns) >= count):
                return turns
            look = min(size, look * 8)
    finally:
        os.close(handle)


def _parse_tail(handle: int, begin: int, length: int, client: str) -> tuple[Turn, ...]:
    os.lseek(handle, begin, os.SEEK_SET)
    content = b""
    while len(content) < length and (piece := os.read(handle, length - len(content))):
        content += piece
    if begin:  # most likely in the middle of a line
        content = content[content.find(b"\n") + 1 :]
    return PARSERS[client](content.decode("utf-8", "surrogateescape"), 1).turns


def add_last_answer(turns: tuple[Turn, ...], answer: object) -> tuple[Turn, ...]:
    """Return turns that end with an answer; the client may not have written it to its transcript yet."""
    if not isinstance(answer, str) or not answer.strip():
        return turns
    if turns and turns[-1].role == "assistant" and turns[-1].text.strip() == answer.strip():
        return turns
    if turns and turns[-1].role == "assistant" and answer.strip().endswith(turns[-1].text.strip()):
        return (*turns[:-1], replace(turns[-1], text=answer))
    return (*turns, Turn("assistant", answer, turns[-1].line + 1 if turns else 1))


class Events:
    """The events of one workspace, whichever clients they come from."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._engine = Engine(root)
        kept = Path(thin.state_folder()) / "conversations" / f"{thin.key_of(str(root))}.json"
        self._conversations = Conversations(kept)
        self._methods = self._engine.methods()
        self._call("initialize", protocol=PROTOCOL, directory=str(root))

    def close(self) -> None:
        """Stop background work."""
        self._engine.close()

    def run(self, client: str, event: str, given: Given) -> Answer:
        """Handle an event, and return the answer for the client."""
        if client not in PARSERS:
            raise UsageError(f"there is no client {client[:60]!r}", todo=f"Known are {', '.join(PARSERS)}")
        act = self._ACTS.get(event)
        return {} if act is None or self._is_separate(given) else act(self, client, given)

    def _is_separate(self, given: Given) -> bool:
        """Return whether an event is of a worktree that does not share this memory.

        The command that sent it reads no settings, and takes the main worktree's memory for that of all.
        """
        linked = main_worktree(os.path.realpath(folder)) if (folder := _text(given, "cwd")) else None
        return linked is not None and not is_below(str(self._root), linked[0]) and not shares_worktrees()

    def keep_late(self, client: str, event: str, given: Given, answer: Answer) -> None:
        """Keep what an answer quotes, for the next event of a client that did not wait for it."""
        context = answer.get("hookSpecificOutput", {}).get("additionalContext")
        name = _name(client, given)
        if context and event == "SessionStart":
            self._conversations.note_context(name, given=False)
            self._conversations.keep_missed(name, NOTHING)  # it is made again, as the notes are then
        elif context:
            self._conversations.keep_missed(name, context)

    def prepare(self) -> None:
        """Do once what makes the first answer slow; the model is loaded later."""
        self._engine.prepare()

    def _start(self, client: str, given: Given) -> Answer:
        """Give a conversation its context: once, and again after a compaction, which removed it.

        A conversation that is resumed has it already, unless it began without us.
        """
        name = _name(client, given)
        missed = [text for text in self._conversations.take_missed(name) if text]
        has_context = given.get("source") == "resume" and self._conversations.has_context(name)
        context = self._start_session(client, given, resumed=has_context)
        return _context_answer("SessionStart", [*missed, context])

    def _start_session(self, client: str, given: Given, *, resumed: bool = False) -> Neutral:
        """Begin a session, and return what its conversation starts with, if it does not have that."""
        context: Neutral = self._call(
            "session/start", session=_session(given), client=client, resumed=resumed
        )["context"]
        if context:
            self._conversations.note_context(_name(client, given))
        return context

    def _prompt(self, client: str, given: Given) -> Answer:
        text = _text(given, "prompt").strip()
        command = _COMMAND.fullmatch(text)
        if command:
            return _context_answer("UserPromptSubmit", [self._command(client, given, command[1] or "")])
        if not text or _OWN_COMMANDS.match(text):
            return {}
        late = self._conversations.take_missed(_name(client, given))
        missed = [text or self._start_session(client, given) for text in late]  # first: no quote twice
        found = self._call("session/message", session=_session(given), text=text, client=client)
        return _context_answer("UserPromptSubmit", [*missed, found["context"]])

    def _command(self, client: str, given: Given, words: str) -> Neutral:
        """Run a command that a person typed, and quote its answer for the model to repeat."""
        is_compact = words.strip().lower() == "compact"
        messages = {"messages": list(_read_turns(client, given))} if is_compact else {}
        try:
            done = self._call(
                "command/run", arguments=words, session=_session(given), client=client, **messages
            )
            text: str = done["text"]
        except MemlinesError as error:
            is_plain = isinstance(error, UsageError | MemoryOff)
            text = str(error) if is_plain else f"memory unavailable: {error}"
        return Neutral("<memlines-result>\n") + text + Neutral("\n</memlines-result>")

    def _before_compaction(self, client: str, given: Given) -> Answer:
        messages = list(_read_turns(client, given))
        self._call("session/compacting", session=_session(given), messages=messages)
        return {}

    def _end_of_turn(self, client: str, given: Given) -> Answer:
        """Keep the last messages."""
        turns = _read_turns(client, given, _LAST_TURNS)
        messages = list(add_last_answer(turns, given.get("last_assistant_message")))
        folder = _text(given, "cwd") or None
        done = self._call(
            "session/idle", session=_session(given), messages=messages, client=client, directory=folder
        )
        noted = " · ".join(fact["text"] for fact in done["captured"])
        if not noted:
            return {}
        is_personal = any(fact["personal"] for fact in done["captured"])
        review = "memlines facts review" + (", with --personal for what is about you" if is_personal else "")
        return {"systemMessage": f"Memory noted: {noted} ({review})"}

    def _call(self, method: str, **params: Any) -> Any:
        return self._methods[method].call(params)

    _ACTS: Mapping[str, Callable[[Events, str, Given], Answer]] = {
        "SessionStart": _start,
        "UserPromptSubmit": _prompt,
        "PreCompact": _before_compaction,
        "Stop": _end_of_turn,
        "SessionEnd": _end_of_turn,
    }


def _read_turns(client: str, given: Given, count: int | None = None) -> tuple[Turn, ...]:
    file = _text(given, "transcript_path")
    return last_turns(Path(file), client, count) if file and "\0" not in file else ()


def _context_answer(event: str, texts: list[Neutral]) -> Answer:
    context = Neutral("\n\n").join([text for text in texts if text])
    if not context:
        return {}
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}}


def _name(client: str, given: Given) -> str:
    """Return the name of a conversation among those of all clients."""
    return f"{client}:{_session(given)}"


def _session(given: Given) -> str:
    return _text(given, "session_id")[:_LONGEST_NAME] or "unnamed"


def _text(given: Given, name: str) -> str:
    value = given.get(name)
    return value if isinstance(value, str) else ""
