"""Which messages were judged before, so that none is judged twice.

A fact that somebody deleted must not come back from the message it was taken from, however often a client
hands that message over. The list holds hashes only, the newest last, and lies in the private folder.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from memlines.agent.messages import Message
from memlines.errors import StoreReadOnly, reason_of
from memlines.files import atomic
from memlines.files.place import ensure_private, writing
from memlines.locks import WriterLock
from memlines.paths import Workspace

MOST_KEPT = 10_000
_FILE = "captured.json"
_LOCK = "captured.lock"
_WAIT_SECONDS = 30.0
_HASH_LENGTH = 20
_MOST_BYTES = 2_000_000


class Seen:
    """The messages of a workspace that were judged; use it inside `opened`, which keeps others out."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._path = workspace.private / _FILE
        with _file_errors(self._path):
            self._before = atomic.read(self._path, _MOST_BYTES, root=workspace.root)
        self._hashes = dict.fromkeys(_hashes_in(self._before))

    def __contains__(self, marks: Iterable[str]) -> bool:
        """Tell whether a message was judged, by any of its marks."""
        return any(mark in self._hashes for mark in marks)

    def add(self, marks: Iterable[str]) -> None:
        """Note that a message was judged; one that is met again counts as new, so that it stays known."""
        for mark in marks:
            self._hashes.pop(mark, None)
            self._hashes[mark] = None

    def save(self) -> None:
        """Write the list if it changed, without the oldest if it is too long."""
        kept = list(self._hashes)[-MOST_KEPT:]
        content = json.dumps({"judged": kept}, indent=0).encode()
        if content != self._before:
            with writing(self._workspace), _file_errors(self._path):
                atomic.replace(self._path, content, self._before, root=self._workspace.root)


def marks_of(message: Message, session: str) -> tuple[str, ...]:
    """Return what a message is known by: its session, and its time, which it keeps in a copied session."""
    marks = [_hash("session", session, message.text)]
    if message.time is not None:
        marks.append(_hash("time", message.time.isoformat(), message.text))
    return tuple(marks)


@contextmanager
def opened(workspace: Workspace) -> Iterator[Seen]:
    """Give the list to one writer at a time."""
    ensure_private(workspace)
    lock = WriterLock(workspace.private / _LOCK, "the list of messages that facts were taken from")
    with lock.held(_WAIT_SECONDS):
        yield Seen(workspace)


@contextmanager
def _file_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreReadOnly(
            f"{str(path)!r} cannot be read or written: {reason_of(error)}",
            todo="Check its permissions and the space on the disk",
        ) from error


def _hashes_in(content: bytes | None) -> list[str]:
    """Return the hashes of a list; a damaged one is begun anew, which costs a second look at messages."""
    try:
        told = json.loads(content or b"{}")
    except ValueError:
        return []
    judged = told.get("judged") if isinstance(told, dict) else None
    return [one for one in judged if isinstance(one, str)] if isinstance(judged, list) else []


def _hash(*parts: str) -> str:
    joined = "\0".join(parts).encode(errors="surrogatepass")
    return hashlib.sha256(joined).hexdigest()[:_HASH_LENGTH]
