"""What the conversations of a workspace were given: each its context once, and nothing is lost on the way.

A client that takes up a conversation again sends everything that was said in it, our context included. So the
names of those that have it are kept in a file, which outlives the engine. What a client did not wait for is
kept in memory, for its next event.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from pathlib import Path

from memlines.files import atomic
from memlines.files.private import ensure_folder
from memlines.text.neutral import Neutral

_MOST_CONVERSATIONS = 1_000
_MOST_BYTES = 1_000_000
_MOST_MISSED = 200
_MOST_TEXTS = 3
"""What is kept for a conversation whose client did not wait, the newest; the rest can be searched for."""


class Conversations:
    """Which conversations have their context, and what some of them did not wait for."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._missed: OrderedDict[str, list[Neutral]] = OrderedDict()

    def has_context(self, name: str) -> bool:
        """Tell whether a conversation was given its context."""
        return name in _names_in(self._read())

    def note_context(self, name: str, *, given: bool = True) -> None:
        """Note that a conversation was given its context, or that it was not after all."""
        before = self._read()
        names = [known for known in _names_in(before) if known != name]
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
        """Keep a context that a client did not wait for; an empty one stands for that of the start."""
        self._missed[name] = [*self._missed.get(name, ()), context][-_MOST_TEXTS:]
        self._missed.move_to_end(name)
        while len(self._missed) > _MOST_MISSED:
            self._missed.popitem(last=False)

    def take_missed(self, name: str) -> list[Neutral]:
        """Return what was kept for a conversation, which is now given to it."""
        return self._missed.pop(name, [])

    def _read(self) -> bytes | None:
        return atomic.read(self._file, _MOST_BYTES)


def _names_in(content: bytes | None) -> list[str]:
    """Return the names of a list; a damaged one is begun again, which costs a context that is given twice."""
    try:
        names = json.loads(content or b"[]")
    except ValueError:
        return []
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
