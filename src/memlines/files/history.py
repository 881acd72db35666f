"""What notes held before they were changed.

Before a note is changed, its old bytes are kept under `<private>/history/<path>/<time>-<hash>.md`. A change
that only adds text at the end keeps nothing: the old text is then the beginning of the new one, and is not
lost. A note that is removed whole goes to the trash instead. There is room for so many versions of a note
and so many bytes in all; the oldest go first, and the newest version of a note never goes.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from memlines.files import journal, trash
from memlines.files.atomic import (
    TEMPORARY_NAME,
    Changed,
    create,
    listing,
    make_folders,
    read,
    replace,
    sweep,
    sync_folder,
    unfinished,
    unlink,
)
from memlines.files.place import Place, attempt, place_of, reading, writing
from memlines.files.scan import NOTES_DIR, files_below, scan_below
from memlines.folders import PRIVATE_FILE
from memlines.paths import Workspace
from memlines.records import dataclass

MAX_VERSIONS = 50
MAX_BYTES = 64_000_000

_FOLDER = "history"
_NAME = re.compile(rf"(?P<stamp>{trash.STAMP})-[0-9a-f]{{12}}\.md")
_MARKERS = r"(?:(?:[-+*]|\d{1,9}[.)])[ \t]++)*+"


@dataclass(frozen=True, slots=True)
class Version:
    """What a note held until some time: the version's name, the note's path, that time, its size in bytes.

    `command` says what changed the note then, as far as that is known.
    """

    name: str
    """What `Memory.read_version` takes."""
    path: str
    time: datetime
    size: int
    """How many bytes it has."""
    command: str = ""


class _Kept(NamedTuple):
    stamp: str
    path: Path
    size: int


def versions(workspace: Workspace, path: str) -> tuple[Version, ...]:
    """List the kept versions of a note, which need not exist any more, the newest first."""
    place = place_of(workspace, path)
    with reading(f"the history of {place.path!r}"):
        kept = _versions_in(workspace, workspace.private / _FOLDER / place.path)
    return tuple(
        Version(file.path.name, place.path, trash.time_of(file.stamp), file.size) for file in reversed(kept)
    )


def every_version(workspace: Workspace) -> tuple[Version, ...]:
    """List the kept versions of all notes, those of a note together and the oldest of them first."""
    top = workspace.private / _FOLDER
    with reading("the history of the notes"):
        kept = _all_versions(workspace)
    return tuple(
        Version(
            file.path.name,
            file.path.parent.relative_to(top).as_posix(),
            trash.time_of(file.stamp),
            file.size,
        )
        for file in kept
    )


def change(workspace: Workspace, place: Place, old: bytes | None, new: bytes) -> None:
    """Write a note (`old` is `None`: a new one) after what it held is kept.

    Raise `Changed` if it does not hold `old`. The caller holds the notes' lock.
    """
    sweep(place.real.parent, root=place.root)
    loses = old is not None and not new.startswith(old)
    kept = ""
    if old is None:
        make_folders(place.real.parent, workspace.root)
    elif loses:
        kept = f"{_FOLDER}/{_keep(workspace, place, old)}"
    with journal.operation("change"):
        states = journal.states(old, new)
        journal.record(workspace, place.path, *states, kept, journal.block_of(old, new))
        try:
            replace(place.real, new, expected=old, root=place.root)
        except Changed:
            journal.withdraw(workspace, place.path)
            raise
    if loses:
        with suppress(OSError):  # the note is written; there is a next time for making room
            _prune(workspace)


def scrub(workspace: Workspace, needle: str) -> list[str]:
    """Take a text out of everything that is kept, in the history and in the trash; return what changed.

    The text is found wherever a line begins with it, whatever its indent and its list marker; of a longer
    line the rest stays. A version that held nothing else goes.
    """
    pattern = _pattern(needle)
    if pattern is None:
        return []
    changed: list[str] = []

    def without(content: bytes) -> bytes:
        text = content.decode("utf-8", "surrogateescape")
        return pattern.sub(r"\1", text).encode("utf-8", "surrogateescape")

    def scrub_all() -> None:
        remove_unfinished(workspace)
        for file in _all_versions(workspace):
            content = read(file.path, root=workspace.root) or b""
            rest = without(content)
            if rest == content:
                continue
            if rest.strip():
                new = file.path.with_name(_name_of(file.stamp, rest))
                create(new, rest, PRIVATE_FILE, root=workspace.root)
            unlink(file.path, root=workspace.root)
            changed.append(file.path.relative_to(workspace.private).as_posix())
        changed.extend(trash.scrub(workspace, without))

    with writing(workspace):
        attempt(Place(_FOLDER, workspace.private / _FOLDER, workspace.root), scrub_all)
    return changed


def _keep(workspace: Workspace, place: Place, content: bytes) -> str:
    """Keep what a note holds, durable, unless it is what was kept last; return the name of the version."""
    folder = workspace.private / _FOLDER / place.path
    make_folders(folder, workspace.root)
    sweep(folder, root=workspace.root)
    kept = _versions_in(workspace, folder)
    if kept and kept[-1].size == len(content) and read(kept[-1].path, root=workspace.root) == content:
        sync_folder(folder, root=workspace.root)  # its writer may have been killed before that
        return kept[-1].path.name
    name = _name_of(trash.next_stamp(kept[-1].stamp if kept else ""), content)
    create(folder / name, content, PRIVATE_FILE, root=workspace.root)
    return name


def _prune(workspace: Workspace) -> None:
    """Let the oldest versions go that there is no room for."""
    by_note: dict[Path, list[_Kept]] = {}
    for file in _all_versions(workspace):
        by_note.setdefault(file.path.parent, []).append(file)
    for files in by_note.values():
        for file in files[:-MAX_VERSIONS]:
            unlink(file.path, root=workspace.root, durable=False)
    total = sum(file.size for files in by_note.values() for file in files[-MAX_VERSIONS:])
    spare = [file for files in by_note.values() for file in files[-MAX_VERSIONS:-1]]
    for file in sorted(spare, key=attrgetter("stamp")):
        if total <= MAX_BYTES:
            return
        unlink(file.path, root=workspace.root, durable=False)
        total -= file.size


def remove_unfinished(workspace: Workspace) -> None:
    """Remove every unfinished file, for it may hold any text that a note once held."""
    root = workspace.root
    for path in unfinished(root, root=root):
        unlink(path, root=root, durable=False)
    for top in (root / NOTES_DIR, workspace.private):
        for folder, entries in scan_below(top, root):
            for entry in entries:
                if TEMPORARY_NAME.fullmatch(entry.name):
                    unlink(folder / entry.name, root=root, durable=False)


def _all_versions(workspace: Workspace) -> list[_Kept]:
    """List the versions of all notes, those of a note together and the oldest of them first."""
    return _versions_of(files_below(workspace.private / _FOLDER, workspace.root))


def _versions_in(workspace: Workspace, folder: Path) -> list[_Kept]:
    """List the versions in a folder, the oldest first."""
    files = listing(folder, root=workspace.root).items()
    return _versions_of((folder / name, info) for name, info in files)


def _versions_of(files: Iterable[tuple[Path, os.stat_result]]) -> list[_Kept]:
    """Return the files that are versions; unfinished ones are not."""
    return [
        _Kept(mark["stamp"], path, info.st_size)
        for path, info in files
        if (mark := _NAME.fullmatch(path.name))
        and trash.is_stamp(mark["stamp"])
        and stat.S_ISREG(info.st_mode)
    ]


def _name_of(stamp: str, content: bytes) -> str:
    return f"{stamp}-{hashlib.sha256(content).hexdigest()[:12]}.md"


def _pattern(needle: str) -> re.Pattern[str] | None:
    """Return what finds a text at the start of lines, with the rest of its last line if that is blank."""
    words = re.sub(rf"\A{_MARKERS}", "", needle.strip())
    lines = [re.escape(line.strip()) for line in words.split("\n") if line.strip()]
    if not lines:
        return None
    body = r"[ \t\r]*\n\s*".join(lines)
    return re.compile(rf"^(\ufeff?)[ \t]*+{_MARKERS}{body}(?!\w)(?:[ \t]*\r?\n|[ \t]*\Z)?", re.MULTILINE)
