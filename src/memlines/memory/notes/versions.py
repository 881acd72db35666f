"""List the earlier versions of a note, read one, and restore one.

A version is a kept copy, a note in the trash, or the beginning of a note to whose end something was added: of
such a change nothing has to be kept, because the old text is still there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

from memlines.errors import PathError, WriteError
from memlines.files import atomic, history, journal, trash
from memlines.files.erase import without_forgotten
from memlines.files.history import Version
from memlines.files.journal import FileState, NoteWrite
from memlines.files.place import Place, attempt, place_of, reading, writing
from memlines.files.tombstones import Forgotten
from memlines.memory.notes.undo import NoteChange, change_of, decode_note
from memlines.paths import Workspace
from memlines.records import dataclass
from memlines.text.entries import entries_of

RESTORE = "history --restore"
_MOST_GROWN = 50
"""How many beginnings of a note are listed: each is hashed to see that it still is what the note held."""

_Load = Callable[[], bytes]
"""Reads a version."""


@dataclass(frozen=True, slots=True)
class RestoredVersion:
    """A version that was restored, what that changed, and which forgotten passages were left out."""

    version: Version
    """The version that was restored."""
    change: NoteChange
    """What that changed."""
    forgotten: tuple[str, ...] = ()


def list_versions(workspace: Workspace, path: str) -> tuple[Version, ...]:
    """Return the earlier versions of a note, the newest first."""
    return tuple(version for version, _ in _versions(workspace, place_of(workspace, path)))


def read_version(workspace: Workspace, path: str, name: str) -> str:
    """Return what a version of a note says; it is named by its name or by its number, 1 being the newest."""
    _, load = _find_version(workspace, place_of(workspace, path), name)
    return decode_note(load())


def restore_version(
    workspace: Workspace, path: str, name: str, *, with_forgotten: bool = False, dry_run: bool = False
) -> RestoredVersion:
    """Make a note what it was in a version; what it holds now is kept first. See `Memory.restore_version`."""
    place = place_of(workspace, path)
    gone = Forgotten(()) if with_forgotten else Forgotten.load(workspace)

    def restore() -> RestoredVersion:
        version, load = _find_version(workspace, place, name)
        now = atomic.read(place.real, root=place.root)
        content, left_out = _without_forgotten(gone, place, now, load())
        if content != now and not dry_run:
            history.change(workspace, place, now, content)
        return RestoredVersion(version, change_of(place, now, content), tuple(left_out))

    if dry_run:
        with reading(f"{place.path!r}"):
            return restore()
    with writing(workspace), journal.operation(RESTORE):
        done = attempt(place, restore)
    if with_forgotten:
        Forgotten.load(workspace).lift(done.change.after or "")
    return done


def _without_forgotten(
    gone: Forgotten, place: Place, now: bytes | None, content: bytes
) -> tuple[bytes, list[str]]:
    """Return what may come back of a version, and what is left out of it."""
    if not gone:
        return content, []
    standing = {entry.text for entry in entries_of(decode_note(now))}
    kept: bytes | None
    try:
        kept, left_out = without_forgotten(gone, place.path, content, standing)
    except UnicodeDecodeError:
        raise WriteError(
            f"that version of {place.path!r} is not UTF-8 text, so what was forgotten cannot be found in it",
            todo="Bring it back with --with-forgotten",
        ) from None
    if kept is None or (now is None and gone.drops_file(place.path)):
        raise WriteError(
            f"all of that version of {place.path!r} was forgotten",
            todo="Bring it back with --with-forgotten if you want it again",
        )
    return kept, left_out


def _find_version(workspace: Workspace, place: Place, name: str) -> tuple[Version, _Load]:
    found = _versions(workspace, place)
    if name.isascii() and name.isdecimal() and 1 <= int(name) <= len(found):
        return found[int(name) - 1]
    for version, load in found:
        if version.name == name:
            return version, load
    if not found:
        raise PathError(f"there is no earlier version of {place.path!r}", todo="Name a note that was changed")
    raise PathError(
        f"{place.path!r} has no version {name!r}",
        todo=f"Name one of its {len(found)}: memlines history {place.path}",
    )


def _versions(workspace: Workspace, place: Place) -> list[tuple[Version, _Load]]:
    """Return the versions of a note with how to read each, the newest first."""
    with reading(f"the history of {place.path!r}"):
        writes = [
            (one.command, write)
            for one in journal.operations(workspace)
            for write in one.writes
            if write.path == place.path
        ]
        commands = {write.kept: command for command, write in writes if write.kept}
        found = dict(_kept_versions(workspace, place, commands))
        found |= dict(_grown_versions(place, writes, found))
    return sorted(found.items(), key=lambda pair: pair[0].name, reverse=True)


def _kept_versions(
    workspace: Workspace, place: Place, commands: dict[str, str]
) -> Iterator[tuple[Version, _Load]]:
    """Yield the versions that are in the history and in the trash."""
    for version in history.versions(workspace, place.path):
        command = commands.get(f"history/{version.name}", "")
        file = workspace.private / "history" / place.path / version.name
        yield replace(version, command=command), _loader(workspace, file)
    for item in trash.items(workspace):
        if item.path == place.path:
            command = commands.get(f"trash/{item.name}", "remove")
            file = workspace.private / "trash" / item.name / item.path
            yield Version(item.name, place.path, item.time, item.size, command), _loader(workspace, file)


def _grown_versions(
    place: Place, writes: list[tuple[str, NoteWrite]], kept: dict[Version, _Load]
) -> Iterator[tuple[Version, _Load]]:
    """Yield the versions that are the beginning of the next newer one, as far as they are still that."""
    by_name = {version.name: load for version, load in kept.items()}
    newer: _Load = cache(lambda: atomic.read(place.real, root=place.root) or b"")
    count = 0
    for command, write in reversed(writes):
        if write.before is None or count == _MOST_GROWN:
            continue
        if write.kept:
            newer = by_name.get(write.kept.partition("/")[2], newer)
            continue
        content, size = newer(), write.before.size
        if len(content) >= size and FileState.of(content[:size]) == write.before:
            count += 1
            name = f"{write.time}-{write.before.hash[:12]}.md"
            time = journal.time_of(write.time)
            yield Version(name, place.path, time, size, command), partial(_beginning, newer, size)


def _beginning(load: _Load, size: int) -> bytes:
    return load()[:size]


def _loader(workspace: Workspace, file: Path) -> _Load:
    @cache
    def load() -> bytes:
        with reading(f"{str(file)!r}"):
            content = atomic.read(file, root=workspace.root)
        if content is None:
            raise PathError(f"{str(file)!r} is gone", todo="List the versions again")
        return content

    return load
