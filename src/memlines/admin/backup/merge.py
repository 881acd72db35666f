"""Put the files of a copy into a workspace without overwriting anything.

A file that is missing is created, one with the same content is left alone, and where the content differs both
are kept: the one from the copy gets another name in the same folder.

What was forgotten since the copy was made stays forgotten, unless the caller asks for it. A copy holds the
tombstones of its workspace: salted hashes of what was forgotten there. They are merged into those of the
workspace it comes to. A tombstone that the copy itself holds says nothing about the notes of the copy: they
had that text nevertheless.
"""

from __future__ import annotations

import shutil
import stat
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from datetime import date
from itertools import count
from pathlib import Path, PurePosixPath
from typing import Any

from memlines.admin.backup.gather import HASHES, SALT, TOMBSTONES, beside
from memlines.admin.backup.manifest import Content, Damaged, Entry, SourceFile, entry_for, read_through
from memlines.errors import BackupError, PathError, reason_of
from memlines.files import snapshots
from memlines.files.atomic import create, exists, listing, make_folders
from memlines.files.erase import KEPT_DIRS, without_forgotten
from memlines.files.journal import FileState, operation, record, withdraw
from memlines.files.place import is_note, writing
from memlines.files.read import decode
from memlines.files.tombstones import Forgotten, adopt
from memlines.folders import PRIVATE_FILE, Tree, open_folder
from memlines.paths import PRIVATE_DIR, Workspace
from memlines.records import dataclass
from memlines.settings import Settings
from memlines.text.neutral import unseen_in
from memlines.types import Problem, Progress

MAX_TOMBSTONE_BYTES = 50_000_000
_MOST_SALTS = 100
"""Each salt means hashing every text once more; a copy of a workspace has one, and one of each that was
merged into it."""

_SNAPSHOTS = f"{PRIVATE_DIR}/{snapshots.FOLDER}/"


Contents = Callable[[Sequence[Entry]], Iterable[tuple[Entry, Content | Problem]]]
"""Yields the content of entries, in any order, or why it cannot be read; reading it may raise `Damaged`."""

_ROOM_TO_LEAVE = 10_000_000


@dataclass(frozen=True, slots=True)
class KeptBoth:
    """A file that the workspace had with another content, and what the one from the copy is called."""

    path: str
    imported_as: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """What a merge did, or would do if `dry_run`.

    `forgotten` names the passages of the copy that were forgotten since it was made and therefore left out,
    `unchecked` the files that could not be searched for such passages.
    """

    created: tuple[str, ...] = ()
    kept_both: tuple[KeptBoth, ...] = ()
    same: int = 0
    failed: tuple[Problem, ...] = ()
    forgotten: tuple[str, ...] = ()
    unchecked: tuple[Problem, ...] = ()
    dry_run: bool = False

    def values(self) -> dict[str, Any]:
        """Return the fields by their names, to build a result that holds more."""
        return {one.name: getattr(self, one.name) for one in fields(Merged)}


@operation("import")
def merge(
    workspace: Workspace,
    settings: Settings,
    entries: Sequence[Entry],
    contents: Contents,
    *,
    dry_run: bool,
    progress: Progress,
    with_forgotten: bool = False,
    later: Forgotten | None = None,
) -> Merged:
    """Bring every entry into the workspace; `dry_run` reads and checks all of it, and writes nothing.

    `later` is what a newer copy of the same workspace says was forgotten. With `with_forgotten` that comes
    back as well.
    """
    files = [entry for entry in entries if entry.path not in TOMBSTONES]
    stones = [entry for entry in entries if entry.path in TOMBSTONES]
    theirs = read_tombstones(stones, contents(stones))
    known = Forgotten.load(workspace).merge(later or Forgotten(()))
    work = _Merge(workspace, files, known.beyond(theirs), settings.files.max_bytes)
    for entry in files:
        work.plan(entry)
    total = len(work.targets)
    if not dry_run:
        needed, free = sum(entry.size for entry in work.targets), shutil.disk_usage(workspace.root).free
        if total and needed + _ROOM_TO_LEAVE > free:
            raise BackupError(
                f"{needed / 1e6:.1f} MB must be written, and the disk of {str(workspace.root)!r} has"
                f" {free / 1e6:.1f} MB free; nothing was changed",
                todo="Make room, or choose another folder",
            )
        adopt(workspace, theirs.merge(known))
    for done, (entry, content) in enumerate(contents(list(work.targets)), 1):
        if isinstance(content, Problem):
            work.fail(entry, content.reason)
        else:
            try:
                work.bring(entry, content, dry_run=dry_run, with_forgotten=with_forgotten)
            except Damaged as error:
                work.fail(entry, error.what)
        progress(done, total, "merging")
    made = {entry.path: target for entry, target in work.targets.items()}
    return Merged(
        created=tuple(path for path, target in made.items() if path == target),
        kept_both=tuple(KeptBoth(path, target) for path, target in made.items() if path != target),
        same=work.same,
        failed=tuple(work.failed),
        forgotten=tuple(work.left_out),
        unchecked=tuple(work.unchecked),
        dry_run=dry_run,
    )


class _Merge:
    """One merge: where each entry goes, and what became of it.

    `left_out` lists what was removed from the files because it was forgotten since, `unchecked` the files
    that could not be searched for that.
    """

    def __init__(
        self, workspace: Workspace, entries: Sequence[Entry], forgotten: Forgotten, max_bytes: int
    ) -> None:
        self.workspace = workspace
        self.root = workspace.root
        self.targets: dict[Entry, str] = {}
        self.same = 0
        self.failed: list[Problem] = []
        self.left_out: list[str] = []
        self.unchecked: list[Problem] = []
        self._forgotten = forgotten
        self._max_bytes = max_bytes
        self._taken = {entry.path for entry in entries}
        self._made: set[Path] = set()
        self._listed: dict[str, list[str]] = {}

    def plan(self, entry: Entry) -> None:
        """Decide where an entry goes, if anywhere."""
        if unseen := unseen_in(entry.path):
            self.fail(entry, f"has {unseen} in its name, which cannot be seen")
            return
        try:
            target = self._target(entry)
        except BackupError as error:
            self.fail(entry, error.what)
        except (OSError, PathError) as error:
            self.fail(entry, f"cannot be compared: {reason_of(error)}")
        else:
            if target is None:
                self.same += 1
            else:
                self.targets[entry] = target

    def bring(self, entry: Entry, content: Content, *, dry_run: bool, with_forgotten: bool) -> None:
        """Write an entry's file without what was forgotten, if anything is left and is not there already."""
        if with_forgotten:
            if not dry_run and self._forgotten and entry.size <= self._max_bytes:
                # The caller asked for it, so it may be remembered again.
                Forgotten.load(self.workspace).lift(b"".join(content).decode("utf-8", "replace"))
        else:
            clean = self._clean(entry, content)
            if clean is not content:
                del self.targets[entry]
                if clean is None:
                    return
                entry, content = entry_for(entry.path, b"".join(clean), entry.mtime_ns), clean
                self.plan(entry)
        if dry_run:
            read_through(content)
        elif entry in self.targets:
            with writing(self.workspace):
                self._write(entry, content)

    def _clean(self, entry: Entry, content: Content) -> Content | None:
        """Return a file without what was forgotten, the same object if nothing was.

        `None` if nothing of it is left.
        """
        path, forgotten = entry.path, self._forgotten
        if not forgotten:
            return content
        if forgotten.drops_file(_note_of(path)) or forgotten.drops_session(path):
            self.left_out.append(path)
            return None
        if entry.size > self._max_bytes:
            self.unchecked.append(Problem(path, "is too large to be searched for what was forgotten"))
            return content
        whole = b"".join(content)
        try:
            decode(whole)
        except ValueError as error:
            self.unchecked.append(Problem(path, f"{error}, and was not searched for what was forgotten"))
            return content
        if path.startswith(_SNAPSHOTS):
            clean: bytes | None = snapshots.without_texts(whole, forgotten.drops)
            self.left_out += [path] if clean != whole else []
        else:
            clean, left_out = without_forgotten(forgotten, path, whole)
            self.left_out += left_out
        return content if clean == whole else None if clean is None else [clean]

    def _write(self, entry: Entry, content: Content) -> None:
        """Write an entry's file; if something has taken its name meanwhile, under another."""
        try:
            target: str | None = self.targets[entry]
            while target is not None:
                place = self.root / target
                if place.parent not in self._made:
                    make_folders(place.parent, self.root)
                    self._made.add(place.parent)
                mode = PRIVATE_FILE if target.startswith(f"{PRIVATE_DIR}/") else None
                is_recorded = is_note(self.workspace, target)
                if is_recorded:
                    record(self.workspace, target, None, FileState.known(entry.size, entry.sha256))
                if create(place, content, mode, root=self.root, mtime_ns=entry.mtime_ns):
                    self.targets[entry] = target
                    return
                if is_recorded:
                    withdraw(self.workspace, target)
                target = self._target(entry)
        except (OSError, PathError) as error:
            raise BackupError(
                f"{entry.path!r} cannot be written: {reason_of(error)}",
                todo="Check the permissions and the space on the disk, and run the same command again",
            ) from error
        self.same += 1
        del self.targets[entry]

    def fail(self, entry: Entry, reason: str) -> None:
        """Note that an entry cannot be brought in."""
        self.failed.append(Problem(entry.path, reason, failed=True))
        self.targets.pop(entry, None)

    def _target(self, entry: Entry) -> str | None:
        """Return the name an entry gets, or None if its content is there already."""
        _refuse_blocked(self.root, entry.path)
        if not exists(self.root / entry.path, root=self.root):
            return entry.path
        if self._is_same(entry.path, entry):
            return None
        folder, start, end = beside(entry.path)
        _refuse_blocked(self.root, f"{folder}/x")
        for name in self._names(folder):
            if name.startswith(start) and name.endswith(end) and self._is_same(f"{folder}/{name}", entry):
                return None
        today = date.today().isoformat()
        tags = (today if number == 1 else f"{today}-{number}" for number in count(1))
        paths = (f"{folder}/{start}{tag}{end}" for tag in tags)
        free = next(
            path for path in paths if path not in self._taken and not exists(self.root / path, root=self.root)
        )
        self._taken.add(free)
        return free

    def _names(self, folder: str) -> list[str]:
        """Return the names in a folder as they were when it was first asked for."""
        if folder not in self._listed:
            self._listed[folder] = list(listing(self.root / folder, root=self.root))
        return self._listed[folder]

    def _is_same(self, path: str, entry: Entry) -> bool:
        """Return whether a file has the content of an entry."""
        place = self.root / path
        try:
            with open_folder(place.parent, self.root) as folder:
                info = folder.look(place.name)
        except FileNotFoundError:
            return False
        if not stat.S_ISREG(info.st_mode) or info.st_size != entry.size:
            return False
        there = SourceFile(entry.path, place, self.root)
        read_through(there)
        return there.entry is not None and there.entry.sha256 == entry.sha256


def _refuse_blocked(root: Path, path: str) -> None:
    """Raise if a folder on the way to a file is a link, which may lead anywhere, or is not a folder."""
    with Tree(root) as tree:
        for folder in reversed(PurePosixPath(path).parents[:-1]):
            try:
                tree.enter(str(folder))
            except FileNotFoundError:
                return
            except (NotADirectoryError, PathError) as error:
                what = "a symbolic link" if isinstance(error, PathError) else "not a folder"
                raise BackupError(
                    f"cannot be placed: {folder} is {what} here",
                    todo="Rename it, and run the same command again",
                ) from None


# What was forgotten


def read_tombstones(
    entries: Iterable[Entry], contents: Iterable[tuple[Entry, Content | Problem]]
) -> Forgotten:
    """Return what was forgotten where a copy was made, or refuse the copy if that cannot be read."""
    if any(entry.size > MAX_TOMBSTONE_BYTES for entry in entries):
        raise _unusable("is too long")
    read: dict[str, bytes] = {}
    for entry, content in contents:
        if isinstance(content, Problem):
            raise _unusable(content.reason)
        read[entry.path] = b"".join(content)
    salt = read.get(SALT, b"")
    if (read.get(HASHES) and not salt) or not salt.isascii():
        raise _unusable(f"cannot be used: {SALT} is missing or damaged")
    found = Forgotten.read(read.get(HASHES, b""), salt)
    if found.salts > _MOST_SALTS:
        raise _unusable(f"has more than {_MOST_SALTS} salts")
    return found


def _note_of(path: str) -> str:
    """Return the note that a kept version or a removed note was; any other path is its own."""
    parts = path.split("/")
    if len(parts) > 3 and parts[0] == PRIVATE_DIR and parts[1] in KEPT_DIRS:
        return "/".join(parts[2:-1] if parts[1] == "history" else parts[3:])
    return path


def _unusable(why: str) -> BackupError:
    return BackupError(
        f"the list of what was forgotten, {HASHES}, {why}; nothing was changed",
        todo="Use another copy; without this list, what was forgotten could come back",
    )
