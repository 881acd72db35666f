"""What agents were shown of a memory: one line of JSON for every answer, and no text of notes.

`<private>/shown.jsonl` names the lines that an answer quoted, by their citation and by the hash of their
entry, and has the query as it may be kept. It is not a note: a line is appended without waiting for the disk,
and the oldest half is dropped when the file is too large. Forgetting removes what names a forgotten entry,
because a hash would confirm a guess.

Writers hold a lock from before they look at the notes until the line is written. Forgetting holds it until
the notes are changed, so that no answer is written down afterwards that was given before.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from memlines.files import atomic
from memlines.files.place import Place, attempt, reading
from memlines.folders import PRIVATE_FILE, open_folder
from memlines.locks import WriterLock
from memlines.paths import Workspace
from memlines.records import dataclass

FILE_NAME = "shown.jsonl"
MAX_BYTES = 5_000_000

CONNECTION = "mcp-"
"""What a session's name begins with if it is a connection of MCP: such clients do not name their sessions."""

_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class ShownLine(NamedTuple):
    """Lines that an answer quoted: where they were, their entry's hash, and their score if they had one.

    What is no entry of a note, such as a turn of a conversation, has no hash.
    """

    citation: str
    id: str = ""
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a client was given at once."""

    time: str
    kind: str
    """`search`, `recall`, `get` or `forget` for a tool, `note` for one that a client reads whole; `start` or
    `context` for what an agent gets unasked; `cited` for lines that it cited itself."""
    session: str
    """Empty if the client does not say in which session it is."""
    client: str
    query: str
    lines: tuple[ShownLine, ...]


def shown_lock(workspace: Workspace) -> WriterLock:
    """Return the lock of the record, whose folder must exist."""
    return WriterLock(workspace.private / "shown.lock", "the record of what agents were shown")


def append(workspace: Workspace, answer: Answer) -> None:
    """Add an answer to the record, and drop the oldest half if it is too large; the caller holds the lock."""
    # The line break comes first: a line that a power cut tore does not take the next one with it.
    data = f"\n{_line_of(answer)}".encode()
    with open_folder(workspace.private, workspace.root) as folder:
        handle = folder.open_private(FILE_NAME, _APPEND)
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise OSError(errno.EINVAL, "not a regular file", FILE_NAME)
            while data:
                data = data[os.write(handle, data) :]
            size = os.fstat(handle).st_size
        finally:
            os.close(handle)
    if size > MAX_BYTES:
        content = atomic.read(workspace.private / FILE_NAME, root=workspace.root) or b""
        _replace(workspace, content, content[content.find(b"\n", len(content) - MAX_BYTES // 2) :])


def read_answers(workspace: Workspace) -> list[Answer]:
    """Return the answers that are recorded, the oldest first; a line that is torn or foreign is left out."""
    return list(_answers_in(_read(workspace)))


def erase(workspace: Workspace, change: Callable[[Answer], Answer | None]) -> int:
    """Write every answer again as `change` returns it, or not at all; return how many changed.

    Lines that cannot be read go too. This is durable when it returns; the caller holds the lock.
    """
    content = _read(workspace)
    answers = list(_answers_in(content))
    kept = [change(answer) for answer in answers]
    new = "".join(f"\n{_line_of(answer)}" for answer in kept if answer is not None).encode()
    if new != content:
        place = Place(FILE_NAME, workspace.private / FILE_NAME, workspace.root)
        attempt(place, lambda: _replace(workspace, content, new))
    return sum(before != after for before, after in zip(answers, kept, strict=True))


def _read(workspace: Workspace) -> bytes:
    path = workspace.private / FILE_NAME
    with reading(f"what agents were shown, in {str(path)!r},"):
        return atomic.read(path, root=workspace.root) or b""


def _replace(workspace: Workspace, old: bytes, new: bytes) -> None:
    path, root = workspace.private / FILE_NAME, workspace.root
    atomic.replace(path, new, expected=old, mode=PRIVATE_FILE, root=root)


def _line_of(answer: Answer) -> str:
    return json.dumps({name: getattr(answer, name) for name in _FIELDS})


_FIELDS = ("time", "kind", "session", "client", "query", "lines")


def _answers_in(content: bytes) -> Iterator[Answer]:
    for line in content.split(b"\n"):
        try:
            data: Any = json.loads(line)
            lines = tuple([ShownLine(str(at), str(name), score) for at, name, score in data["lines"]])
            time, kind, session, client, query = [str(data[name]) for name in _FIELDS[:-1]]
        except (ValueError, TypeError, KeyError, RecursionError):
            continue
        if all(score is None or isinstance(score, int | float) for _, _, score in lines):
            yield Answer(time, kind, session, client, query, lines)
