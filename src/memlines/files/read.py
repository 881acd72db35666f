"""Read notes: whole for the index, by lines for people and agents."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO, TypeVar

from memlines.errors import PathError, reason_of
from memlines.files.scan import (
    IGNORED_DIRS,
    NOTES_DIR,
    SUFFIX,
    anchor_of,
    extra_roots,
    fingerprint_of,
    limit_for,
    root_files,
)
from memlines.folders import Tree, link_error, open_file, open_folder
from memlines.paths import Workspace, contains
from memlines.records import dataclass
from memlines.types import LONGEST_LINE, Document, Excerpt, Fingerprint, FoundFile, Problem, Tail

DEFAULT_LINES = 120
MAX_CHARACTERS = 12_000
"""What one read returns at most, so that a long note does not flood an agent's context."""

_SETTLED_NS = 2_000_000_000
"""A file changed this recently may change again without its time stamp showing it (coarse clocks,
coarse file systems), so its fingerprint is not trusted yet."""

_READ_ATTEMPTS = 3
_MARK_BYTES = 4_096
_AT_ONCE = 1024 * 1024
_LEFT_OUT = b"!"
"""Replaces a line that was not read: not a record of any client."""

Taken = TypeVar("Taken")


def read_document(file: FoundFile, max_bytes: int, tree: Tree | None = None) -> Document | Problem | None:
    """Read a note that was found; `None` if it is gone, a `Problem` if it cannot be indexed.

    If many are read, the folders of the last one stay open in `tree`.
    """
    limit, limit_in_words = limit_for(file.source, max_bytes)
    try:
        content, fingerprint, settled = _stable(file.real, file.root, partial(_read_all, limit + 1), tree)
    except FileNotFoundError:
        return None
    except (OSError, PathError) as error:
        return _unread(file, error)
    if len(content) > limit:
        return Problem(file.path, f"grew above {limit_in_words}")
    try:
        text = decode(content)
    except ValueError as error:
        return Problem(file.path, str(error))
    return Document(file.path, file.source, text, hashlib.sha256(content).hexdigest(), fingerprint, settled)


@dataclass(frozen=True, slots=True)
class Part:
    """The bytes of a transcript from a position on, and what distinguishes this state of it from another."""

    content: bytes
    position: int
    hash: str
    fingerprint: Fingerprint
    settled: bool
    left_out: tuple[tuple[int, int], ...] = ()
    """The lines that are too long to be read, counted from 0, and how many bytes each has."""


def read_from(file: FoundFile, tail: Tail | None) -> Part | Problem | None:
    """Read a transcript from its tail on, or whole if what comes before the tail changed.

    Return `None` if it is gone.
    """
    limit, limit_in_words = limit_for(file.source, 0)
    try:
        is_same = tail is not None and mark_at(file, tail.position) == tail.mark
        position = tail.position if tail and is_same else 0
        lines, fingerprint, settled = _stable(
            file.real, file.root, lambda handle, _: _lines_from(handle, position, limit)
        )
    except FileNotFoundError:
        return None
    except (OSError, PathError) as error:
        return _unread(file, error)
    if fingerprint.size > limit:
        return Problem(file.path, f"grew above {limit_in_words}")
    content, left_out = lines
    size = position + len(content) + sum(length - len(_LEFT_OUT) for _, length in left_out)
    # Of a whole file everything counts; of the end of one, what it is known to begin with as well.
    if position:
        digest = f"{size}-{mark_at(file, size)}"
    else:
        digest = hashlib.sha256(content + (repr(left_out).encode() if left_out else b"")).hexdigest()
    return Part(content, position, digest, fingerprint, settled, left_out)


def bounded_lines(stream: BinaryIO, most: int) -> tuple[bytes, tuple[tuple[int, int], ...]]:
    """Read at most so many bytes; of lines above `LONGEST_LINE` only the lengths are returned.

    Lines are counted from 0; a sign that is not a record replaces such a line, so that others keep theirs.
    """
    start = stream.read(min(most, LONGEST_LINE) + 1)
    if len(start) <= LONGEST_LINE:  # all there is
        return start, ()
    stream.seek(-len(start), os.SEEK_CUR)
    kept: list[bytes] = []
    left_out: list[tuple[int, int]] = []
    while most > 0 and (line := stream.readline(LONGEST_LINE + 1)):
        length, last = len(line), line
        while length > LONGEST_LINE and last and not last.endswith(b"\n"):
            last = stream.readline(_AT_ONCE)
            length += len(last)
        most -= length
        end = b"\n" if last.endswith(b"\n") else b""
        if length - len(end) > LONGEST_LINE:
            left_out.append((len(kept), length - len(end)))
            line = _LEFT_OUT + end
        kept.append(line)
    return b"".join(kept), tuple(left_out)


def mark_at(file: FoundFile, position: int) -> str:
    """Return a hash that shows whether a file still begins as it did up to a position, or nothing."""
    try:
        with os.fdopen(open_file(file.real, file.root), "rb") as stream:
            first = stream.read(min(_MARK_BYTES, position))
            stream.seek(max(0, position - _MARK_BYTES))
            last = stream.read(min(_MARK_BYTES, position))
    except (OSError, PathError):
        return ""
    return hashlib.sha256(first + last).hexdigest()


def _unread(file: FoundFile, error: OSError | PathError) -> Problem:
    reason = "it is or passes through a symbolic link" if isinstance(error, PathError) else reason_of(error)
    return Problem(file.path, f"cannot be read: {reason}", failed=True)


def read_line(file: FoundFile, position: int) -> str:
    """Return the line of a transcript that begins at a position.

    Raises `OSError` or `PathError` if it cannot be read.
    """
    with os.fdopen(open_file(file.real, file.root), "rb") as stream:
        stream.seek(position)
        return decode_lines(stream.readline(LONGEST_LINE)).removesuffix("\n")


def decode(content: bytes) -> str:
    """Turn the bytes of a note into text, or raise `ValueError` with the reason."""
    if b"\0" in content:
        raise ValueError("is binary (it holds NUL bytes)")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(f"is not valid UTF-8 (line {line})") from None
    return text.replace("\r\n", "\n")


def without_private_blocks(text: str) -> str:
    """Return a note without its private blocks; they may be larger than any piece it is cut into.

    Line breaks stay, so lines keep their numbers.
    """
    if "<private" not in text.lower():
        return text
    from memlines.text.redaction.apply import without_private

    return without_private(text)[0]


def decode_lines(content: bytes) -> str:
    """Turn the bytes of a transcript into text; a line with bad bytes keeps them, as lone surrogates.

    A parser leaves out the lines that cannot be text.
    """
    return content.decode("utf-8-sig", "surrogateescape")


def is_settled(fingerprint: Fingerprint) -> bool:
    """Return whether any later change of a file will show in its fingerprint."""
    return abs(time.time_ns() - fingerprint.mtime_ns) > _SETTLED_NS


def _stable(
    path: str, root: str, take: Callable[[int, int], Taken], tree: Tree | None = None
) -> tuple[Taken, Fingerprint, bool]:
    """Read a file with the fingerprint that belongs to what is taken, and whether that can be trusted.

    What takes gets the descriptor, and how many bytes the file has.
    """
    for _ in range(_READ_ATTEMPTS):
        handle = tree.open(path) if tree is not None and tree.root == root else open_file(path, root)
        try:
            before = os.fstat(handle)
            if not stat.S_ISREG(before.st_mode):
                raise OSError(0, "not a regular file")
            content = take(handle, before.st_size)
            after = os.fstat(handle)
        finally:
            os.close(handle)
        fingerprint = fingerprint_of(after)
        if fingerprint == fingerprint_of(before):
            return content, fingerprint, is_settled(fingerprint)
    return content, fingerprint, False


def _read_all(most: int, handle: int, size: int) -> bytes:
    """Return the content of an open file, or that many bytes of one that is longer."""
    content = os.read(handle, min(most, size + 1))
    while 0 < len(content) < most and len(content) != size and (more := os.read(handle, most - len(content))):
        content += more
    return content


def _lines_from(handle: int, position: int, limit: int) -> tuple[bytes, tuple[tuple[int, int], ...]]:
    with os.fdopen(handle, "rb", closefd=False) as stream:
        stream.seek(position)
        return bounded_lines(stream, limit)


def read_lines(
    workspace: Workspace,
    extra_paths: tuple[str, ...],
    path: str,
    start: int | None,
    lines: int | None,
    max_bytes: int,
    column: int | None = None,
    *,
    private: bool = True,
) -> Excerpt:
    """Read some lines of a note that belongs to the memory, the first of them from a column on.

    With `private` off, lines of private blocks come out empty.
    """
    real, root = resolve_note(workspace, extra_paths, path)
    shown = Path(os.path.relpath(real, workspace.root)).as_posix()
    first = max(1, start or 1)
    try:
        with open_folder(real.parent, root) as folder:
            kind = folder.look(real.name).st_mode
        if stat.S_ISLNK(kind):
            raise link_error(real)
        if not stat.S_ISREG(kind):
            raise OSError(0, "not a regular file")
        content, _, _ = _stable(str(real), str(root), partial(_read_all, max_bytes + 1))
    except PathError:
        raise _not_part(path, "it is or passes through a symbolic link") from None
    except (FileNotFoundError, NotADirectoryError):
        return Excerpt(shown, "", first, 0, found=False)
    except OSError as error:
        raise PathError(
            f"{path!r} cannot be read: {reason_of(error)}",
            todo="Check the file's permissions",
        ) from error
    if len(content) > max_bytes:
        raise PathError(
            f"{path!r} is above the limit of {max_bytes / 1e6:g} MB", todo="Raise files.max_bytes to read it"
        )
    try:
        text = decode(content)
    except ValueError as error:
        raise PathError(f"{path!r} {error}", todo="Only UTF-8 text can be read") from None
    text = text if private else without_private_blocks(text)
    count = DEFAULT_LINES if lines is None else max(1, lines)
    return excerpt_of(shown, text, first, count, max(1, column or 1))


def excerpt_of(path: str, text: str, first: int, count: int, column: int = 1) -> Excerpt:
    """Return lines of a text, whole lines as far as the character limit allows.

    Only the first line may be cut inside, if it is longer than the limit; the next read starts at a column.
    """
    every = text.split("\n")
    if not every[-1]:
        every.pop()
    wanted = every[first - 1 : first - 1 + count]
    wanted[:1] = [line[column - 1 :] for line in wanted[:1]]
    taken: list[str] = []
    room = MAX_CHARACTERS
    for line in wanted:
        if len(line) + 1 > room and taken:
            break
        taken.append(line[:room])
        room -= len(line) + 1
        if room <= 0:
            break
    cut_inside = bool(taken) and taken[0] != wanted[0]
    following = first if cut_inside else first + len(taken)
    truncated = following <= len(every)
    return Excerpt(
        path,
        "\n".join(taken),
        first,
        len(taken),
        truncated=truncated,
        next_start=following if truncated else None,
        next_column=column + MAX_CHARACTERS if cut_inside else None,
        total_lines=len(every),
    )


def resolve_note(workspace: Workspace, extra_paths: tuple[str, ...], path: str) -> tuple[Path, Path]:
    """Return where a note is and the root below which no link may lead to it.

    A path that is not part of the memory is refused.
    """
    name = path.strip()
    if not name or "\0" in name or not is_encodable(name):
        raise PathError("no usable path was given", todo="Name a note such as MEMORY.md or memory/topic.md")
    candidate = Path(os.path.normpath(workspace.root / name))
    if not candidate.name.endswith(SUFFIX):
        raise _not_part(path, f"only {SUFFIX} files are")
    if candidate.parent == workspace.root and candidate.name in root_files(workspace):
        return candidate, workspace.root
    for folder, real, root in _note_folders(workspace, extra_paths):
        if contains(folder, candidate):
            below = candidate.relative_to(folder)
            if not IGNORED_DIRS.intersection(below.parts[:-1]):
                return real / below, root
    notes = workspace.root / NOTES_DIR
    meant = Path(os.path.normpath(notes / name))
    if contains(notes, meant) and os.path.isfile(meant):  # noqa: PTH113 (pathlib raises in a closed folder)
        inside = meant.relative_to(workspace.root).as_posix()
        raise PathError(f"{path!r} is no path of this memory", todo=f"Did you mean {inside!r}?")
    raise _not_part(path, "it lies outside MEMORY.md, memory/ and the extra paths")


def _note_folders(workspace: Workspace, extra_paths: tuple[str, ...]) -> Iterator[tuple[Path, Path, Path]]:
    """Yield the folders of notes: as a path may name each, where it is, and its root.

    An extra path may be named as it is configured and, as the index does, by where it is.
    """
    notes = workspace.root / NOTES_DIR
    yield notes, notes, workspace.root
    for extra in extra_roots(workspace, extra_paths):
        root, relative = anchor_of(workspace, extra)
        real = Path(root, relative)
        yield Path(extra), real, Path(root)
        yield real, real, Path(root)


def is_encodable(name: str) -> bool:
    """Return whether a name can be that of a file, and be cited."""
    try:
        os.fsencode(name)
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _not_part(path: str, why: str) -> PathError:
    return PathError(
        f"{path!r} is not part of this memory: {why}",
        todo="Name MEMORY.md, a file below memory/, or one in extra_paths",
    )
