"""Which operation changed which note, so that it can be taken back.

`<private>/writes.jsonl` has a line for every change of a note. It is written before the note is, so that a
killed program leaves a line without its change, which shows, and never a change without its line. A
line holds no text: sizes and hashes of what the note held before and after, where the old bytes are kept, and
the hash of the lines that are new. Forgetting removes all of it, because a hash would confirm a guess.
"""

from __future__ import annotations

import errno
import hashlib
import json
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import astuple, replace
from datetime import UTC, datetime
from typing import Any

from memlines.errors import WriteError
from memlines.files import atomic
from memlines.files.place import reading
from memlines.folders import PRIVATE_FILE
from memlines.paths import Workspace
from memlines.records import dataclass

FILE_NAME = "writes.jsonl"
MAX_BYTES = 1_000_000
FORGET = "forget"
"""The command of an operation that cannot be taken back, nor what was done before it."""

_STAMP = "%Y%m%dT%H%M%S.%fZ"
_NO_FILE = (errno.ENXIO, errno.EISDIR, errno.EINVAL)
_HASH_DIGITS = 32
_SHORT = 8
_AT_ONCE = 65_536


@dataclass(frozen=True, slots=True)
class FileState:
    """What a file held: how many bytes, and their hash."""

    size: int
    """How many bytes."""
    hash: str
    """The beginning of their SHA-256."""

    @classmethod
    def of(cls, content: bytes) -> FileState:
        """Return the state of a file that holds this."""
        return cls(len(content), digest(content))

    @classmethod
    def known(cls, size: int, sha256: str) -> FileState:
        """Return the state of a file whose SHA-256 is known."""
        return cls(size, sha256[:_HASH_DIGITS])


@dataclass(frozen=True, slots=True)
class WrittenBlock:
    """The lines that a change wrote, and the bytes of the old content that they replaced."""

    first: int
    count: int
    """How many lines."""
    hash: str
    """Their hash."""
    last: str
    """A hash of the last of them."""
    old_start: int
    """Where the bytes that they replaced begin."""
    old_end: int
    """Where these end."""


@dataclass(frozen=True, slots=True)
class NoteWrite:
    """One change of a note."""

    path: str
    before: FileState | None
    """What the note held before; `None` if there was none."""
    after: FileState | None
    """What it held then; `None` if it was removed."""
    kept: str = ""
    """Where the old bytes are: `history/NAME` or `trash/NAME`. If empty, the new ones begin with them."""
    block: WrittenBlock | None = None
    """The lines that changed; `None` if they were not compared."""
    time: str = ""


@dataclass(frozen=True, slots=True)
class Operation:
    """What one command, or one call, wrote."""

    id: str
    command: str
    time: datetime
    undoes: str = ""
    """The operation that it took back."""
    complete: bool = False
    """Whether it was finished; one that took another back counts only then."""
    writes: tuple[NoteWrite, ...] = ()
    """What it changed."""


@dataclass(slots=True)
class _Running:
    id: str
    command: str
    undoes: str
    is_new: bool = True
    made_room: bool = False


_running: ContextVar[_Running | None] = ContextVar("running operation", default=None)


@contextmanager
def operation(command: str, undoes: str = "") -> Iterator[None]:
    """Record all changes of notes inside the block as one, or as part of the operation around it."""
    if _running.get() is not None:
        yield
        return
    token = _running.set(_Running(_new_id(), command, undoes))
    try:
        yield
    finally:
        _running.reset(token)


def record(
    workspace: Workspace,
    path: str,
    before: FileState | None,
    after: FileState | None,
    kept: str = "",
    block: WrittenBlock | None = None,
) -> None:
    """Write down, inside an operation and under the lock of notes, that a note is about to be changed."""
    line: dict[str, Any] = {"path": path, "time": _now()}
    if kept:
        line["kept"] = kept
    for name, value in (("before", before), ("after", after), ("block", block)):
        if value is not None:
            line[name] = astuple(value)
    _append(workspace, line)


def withdraw(workspace: Workspace, path: str) -> None:
    """Note that the change which was recorded last for a note in this operation did not happen."""
    _append(workspace, {"path": path, "withdrawn": True})


def complete(workspace: Workspace) -> None:
    """Note that the running operation did everything it should."""
    _append(workspace, {"complete": True})


def clear(workspace: Workspace) -> None:
    """Remove what is known of all operations, and note that something was forgotten.

    The caller holds the notes' lock.
    """
    _write_all(workspace, [{"op": _new_id(), "command": FORGET}])


def operations(workspace: Workspace) -> tuple[Operation, ...]:
    """Return the operations that are known, in the order of their last write."""
    read: dict[str, tuple[Operation, list[NoteWrite]]] = {}
    for line in _lines(workspace):
        identity = line["op"]
        if identity in read:
            known, writes = read.pop(identity)
        elif "command" in line:
            undoes = str(line.get("undoes", ""))
            known, writes = Operation(identity, str(line["command"]), time_of(identity), undoes), []
        else:
            continue  # its beginning was dropped
        if line.get("complete"):
            known = replace(known, complete=True)
        elif line.get("withdrawn"):
            places = [at for at, write in enumerate(writes) if write.path == line.get("path")]
            if places:
                del writes[places[-1]]
        elif "path" in line:
            writes.append(_write_of(line))
        read[identity] = known, writes
    return tuple(replace(known, writes=tuple(writes)) for known, writes in read.values())


def digest(content: bytes) -> str:
    """Return the hash by which a content is known again."""
    return hashlib.sha256(content).hexdigest()[:_HASH_DIGITS]


def states(old: bytes | None, new: bytes) -> tuple[FileState | None, FileState]:
    """Return the states before and after a change; what both begin with is hashed once."""
    if old is None or not new.startswith(old):
        return None if old is None else FileState.of(old), FileState.of(new)
    running = hashlib.sha256(old)
    before = FileState(len(old), running.hexdigest()[:_HASH_DIGITS])
    running.update(memoryview(new)[len(old) :])
    return before, FileState(len(new), running.hexdigest()[:_HASH_DIGITS])


def block_of(old: bytes | None, new: bytes) -> WrittenBlock:
    """Return the lines in which a new content differs from the old one."""
    before = old or b""
    if new.startswith(before):
        start = end = len(before)
        first, last = start, len(new)
        if before and not before.endswith(b"\n"):  # the old last line was only ended
            first += len(new[start : start + 2]) - len(new[start : start + 2].lstrip(b"\r\n"))
    else:
        start = before.rfind(b"\n", 0, _common(before, new)) + 1
        tail = _common_end(before, new, start)
        first, last, end = start, len(new) - tail, len(before) - tail
    lines = [line.removesuffix(b"\r") for line in _lines_of(new[first:last])]
    number = new.count(b"\n", 0, first) + 1
    last_line = lines[-1] if lines else b""
    return WrittenBlock(number, len(lines), digest(b"\n".join(lines)), digest(last_line)[:_SHORT], start, end)


def locate(content: bytes, block: WrittenBlock) -> tuple[int, int] | None:
    """Return the span of a block, in bytes: where it was written, or at the only other place."""
    if not block.count:
        return None
    lines = _lines_of(content)
    bare = [line.removesuffix(b"\r") for line in lines]

    def is_here(at: int) -> bool:
        end = at + block.count
        return (
            0 <= at <= end <= len(bare)
            and digest(bare[end - 1])[:_SHORT] == block.last
            and digest(b"\n".join(bare[at:end])) == block.hash
        )

    found = [block.first - 1] if is_here(block.first - 1) else []
    found = found or [at for at in range(len(bare) - block.count + 1) if is_here(at)]
    if len(found) != 1:
        return None
    start = sum(len(line) + 1 for line in lines[: found[0]])
    end = start + sum(len(line) + 1 for line in lines[found[0] : found[0] + block.count])
    return start, min(end, len(content))


def _lines_of(content: bytes) -> list[bytes]:
    lines = content.split(b"\n")
    return lines if lines[-1] else lines[:-1]


def time_of(identity: str) -> datetime:
    """Return when an operation began."""
    return datetime.strptime(identity.partition("-")[0], _STAMP).replace(tzinfo=UTC)


def _common(old: bytes, new: bytes) -> int:
    """Return how many bytes two contents begin with alike."""
    at, most = 0, min(len(old), len(new))
    step = _AT_ONCE
    while step:
        while at + step <= most and old[at : at + step] == new[at : at + step]:
            at += step
        step //= 2
    return at


def _common_end(old: bytes, new: bytes, start: int) -> int:
    """Return how many bytes two contents end with alike, as whole lines and without a common beginning."""
    size = _common(old[start:][::-1], new[start:][::-1])
    begins = [(text, len(text) - size) for text in (old, new)]
    if all(at == start or text[at - 1 : at] == b"\n" for text, at in begins):
        return size
    line_end = new.find(b"\n", len(new) - size)
    return len(new) - line_end - 1 if line_end >= 0 else 0


def _new_id() -> str:
    return f"{_now()}-{secrets.token_hex(4)}"


def _now() -> str:
    return datetime.now(UTC).strftime(_STAMP)


def _write_of(line: dict[str, Any]) -> NoteWrite:
    before, after, block = line.get("before"), line.get("after"), line.get("block")
    return NoteWrite(
        str(line["path"]),
        FileState(*before) if before else None,
        FileState(*after) if after else None,
        str(line.get("kept", "")),
        WrittenBlock(*block) if block else None,
        str(line.get("time", "")),
    )


def _append(workspace: Workspace, fields: dict[str, Any]) -> None:
    running = _running.get()
    if running is None:
        raise RuntimeError("notes are changed inside an operation")
    line = {"op": running.id, **fields}
    if running.is_new:
        line |= {"command": running.command} | ({"undoes": running.undoes} if running.undoes else {})
    # The line break comes first: a line that a power cut tore does not take the next one with it.
    data = f"\n{json.dumps(line)}".encode()
    with _name_odd_file(workspace):
        size = atomic.append(workspace.private / FILE_NAME, data, root=workspace.root)
    running.is_new = False
    if size > MAX_BYTES and not running.made_room:
        running.made_room = True
        _drop_oldest(workspace)


@contextmanager
def _name_odd_file(workspace: Workspace) -> Iterator[None]:
    """Name this file if it is not a regular one, rather than the note that could not be written."""
    try:
        yield
    except OSError as error:
        if error.errno not in _NO_FILE:
            raise
        raise WriteError(
            f"{str(workspace.private / FILE_NAME)!r} is not a regular file", todo="Remove it and try again"
        ) from error


def _drop_oldest(workspace: Workspace) -> None:
    """Drop the oldest operations, but never the last one."""
    lines = list(_lines(workspace))
    newest = lines[-1]["op"] if lines else ""
    kept: list[dict[str, Any]] = []
    room = MAX_BYTES // 2
    for line in reversed(lines):
        room -= len(json.dumps(line))
        if room >= 0 or line["op"] == newest:
            kept.append(line)
    _write_all(workspace, reversed(kept))


def _write_all(workspace: Workspace, lines: Iterable[dict[str, Any]]) -> None:
    path, root = workspace.private / FILE_NAME, workspace.root
    data = "".join(f"\n{json.dumps(line)}" for line in lines).encode()
    with _name_odd_file(workspace):
        old = atomic.read(path, root=root)
    atomic.replace(path, data, expected=old, mode=PRIVATE_FILE, root=root)


def _lines(workspace: Workspace) -> Iterator[dict[str, Any]]:
    """Yield what the file says, but for lines that are torn or that another program wrote."""
    path = workspace.private / FILE_NAME
    with reading(f"what was written last, in {str(path)!r},"):
        content = atomic.read(path, root=workspace.root) or b""
    for line in content.split(b"\n"):
        try:
            data = json.loads(line)
            time_of(data["op"])
            if "path" in data and not data.get("withdrawn"):
                _write_of(data)
        except (ValueError, TypeError, KeyError, AttributeError):
            continue
        yield data
