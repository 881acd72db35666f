"""Backups that share what they have in common, and the way back.

objects/ab/<sha256>      the content of a file, once for all backups that hold it
snapshots/<id>.json      what one backup holds; written last, so an interrupted backup does not count
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from memlines.admin.backup.gather import (
    TOMBSTONES,
    Outcome,
    copy_files,
    gather,
    refuse_strange_names,
    summarize,
)
from memlines.admin.backup.manifest import (
    MAX_MANIFEST_BYTES,
    WHOLE_BYTES,
    Content,
    Damaged,
    Entry,
    Manifest,
    SourceFile,
    decode,
    digest,
    encode,
    read_through,
    verify,
)
from memlines.admin.backup.merge import Contents, Merged, merge, read_tombstones
from memlines.admin.backup.places import Folder, Place, open_place
from memlines.errors import BackupError, PathError, UsageError, WorkspaceError, reason_of
from memlines.files.journal import operation
from memlines.files.tombstones import Forgotten
from memlines.paths import Workspace, contains, expand_home
from memlines.records import dataclass
from memlines.settings import Settings
from memlines.types import Problem, Progress

OBJECTS = "objects"
SNAPSHOTS = "snapshots"

_SNAPSHOT = re.compile(rf"{SNAPSHOTS}/(?P<id>\d{{8}}T\d{{6}}\.\d{{6}}Z-[0-9a-f]{{8}})\.json")
_BATCH_FILES = 64
_BATCH_BYTES = 16_000_000
"""How much is sent at once: enough to hide the latency of the service, and little to hold in memory."""

_OTHER_CONTENT = "does not have the content that was written"


@dataclass(frozen=True, slots=True)
class BackedUp:
    """What a backup did. If nothing changed, `id` is the backup that holds all of it already.

    `new_place` says that the place held no backup before.
    """

    place: str
    id: str
    files: int
    bytes: int
    uploaded: int
    uploaded_bytes: int
    changed: bool
    settings: bool
    new_place: bool
    left_out: tuple[Problem, ...] = ()
    failed: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One backup in a list."""

    id: str
    created: str
    workspace: str
    files: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Snapshots:
    """All backups at a place, the newest first; `failed` names those whose list cannot be read."""

    place: str
    snapshots: tuple[Snapshot, ...]
    failed: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored(Merged):
    """What a restore did; `settings_object` is the name of the settings at the place."""

    place: str
    id: str
    created_at: str
    workspace: str
    settings_object: str


def backup(
    workspace: Workspace, settings: Settings, uri: str, *, everything: bool = False, progress: Progress
) -> BackedUp:
    """Copy the files that the place does not have, then write the list of what the backup holds."""
    place = open_place(uri)
    if isinstance(place, Folder) and contains(workspace.root, place.root.resolve()):
        raise UsageError(
            f"{place.shown!r} lies inside the workspace, and would be lost together with it",
            todo="Name a folder elsewhere",
        )
    files, problems = gather(workspace, settings, everything=everything)
    ids = _list_ids(place)
    upload = _Upload(place)
    manifest = copy_files(workspace, files, upload, problems, progress, "backing up")
    upload.flush()
    is_unchanged = bool(ids) and _holds_same(place, ids[-1], manifest)
    identity = ids[-1] if is_unchanged else f"{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}-{secrets.token_hex(4)}"
    if not is_unchanged:
        place.write({_name_of(identity): encode(manifest)})
    return BackedUp(
        place=place.shown,
        id=identity,
        uploaded=upload.files,
        uploaded_bytes=upload.bytes,
        changed=not is_unchanged,
        new_place=not ids,
        **summarize(manifest, problems),
    )


def list_backups(uri: str) -> Snapshots:
    """Return every backup at a place, the newest first; raise if there is no such place."""
    place = open_place(uri)
    ids = _list_ids(place)
    if not ids and not place.exists():
        raise BackupError(f"the place of backups {place.shown!r} does not exist", todo="Check the name")
    snapshots: list[Snapshot] = []
    failed: list[Problem] = []
    for identity in reversed(ids):
        try:
            manifest = _read_manifest(place, identity)
        except BackupError as error:
            failed.append(Problem(identity, error.what, failed=True))
        else:
            files = len(manifest.entries)
            snapshots.append(Snapshot(identity, manifest.created, manifest.workspace, files, manifest.size))
    return Snapshots(place.shown, tuple(snapshots), tuple(failed))


@operation("restore")
def restore(
    workspace: Workspace,
    settings: Settings,
    uri: str,
    *,
    at: str = "",
    dry_run: bool = False,
    with_forgotten: bool = False,
    progress: Progress,
) -> Restored:
    """Merge a backup (the newest, or the one whose id begins with `at`) into the workspace.

    Files whose content is damaged or missing at the place are named, and all others restored. What was
    forgotten since then, here or according to the newest backup, stays forgotten.
    """
    place = open_place(uri)
    identity = _choose_id(place, at)
    manifest = _read_manifest(place, identity)
    refuse_strange_names(workspace, settings, manifest.entries, f"the backup {identity}")
    contents = partial(_read_contents, place, place.sizes(OBJECTS))
    merged = merge(
        workspace,
        settings,
        manifest.entries,
        contents,
        dry_run=dry_run,
        with_forgotten=with_forgotten,
        later=_forgotten_later(place, identity, contents),
        progress=progress,
    )
    return Restored(
        **merged.values(),
        place=place.shown,
        id=identity,
        created_at=manifest.created,
        workspace=manifest.workspace,
        settings_object=object_of(manifest.settings) if manifest.settings else "",
    )


def _forgotten_later(place: Place, identity: str, contents: Contents) -> Forgotten:
    """Return what the newest backup says was forgotten; the one that is restored may be older."""
    newest = _list_ids(place)[-1]
    if newest == identity:
        return Forgotten(())
    stones = [entry for entry in _read_manifest(place, newest).entries if entry.path in TOMBSTONES]
    return read_tombstones(stones, contents(stones))


def object_of(entry: Entry) -> str:
    """Return the name under which the content of an entry is kept."""
    return f"{OBJECTS}/{entry.sha256[:2]}/{entry.sha256}"


def empty_folder(folder: Path, *, dry_run: bool) -> Workspace:
    """Return a workspace in a folder that is empty, or is made now unless this is a `dry_run`."""
    root = Path(os.path.realpath(expand_home(folder)))
    try:
        if root.exists() and any(root.iterdir()):
            raise UsageError(
                f"the folder {str(folder)!r} is not empty",
                todo="Name an empty or new one, or merge into this one with --workspace",
            )
        if not dry_run:
            root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WorkspaceError(
            f"the folder {str(folder)!r} cannot be used: {reason_of(error)}",
            todo="Check the path and its permissions",
        ) from error
    return Workspace(root)


class _Upload:
    """Writes objects that are not there yet, many at a time."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.files = 0
        self.bytes = 0
        self._sizes = place.sizes(OBJECTS)
        self._waiting: dict[str, bytes] = {}
        self._waiting_bytes = 0

    def add_large(self, file: SourceFile) -> Outcome:
        """Send a file in pieces unless it is there; it is read once to know that, and once to send it."""
        try:
            read_through(file)
            entry = file.entry
            assert entry is not None
            name = object_of(entry)
            if self._sizes.get(name) != entry.size:
                self.place.send(name, verify(entry, file, "it changed"), entry.size)
                self._sizes[name] = entry.size
                self.files += 1
                self.bytes += entry.size
        except FileNotFoundError:
            return None, None
        except Damaged:
            return None, file.changed_while_read()
        except (OSError, PathError) as error:
            return None, file.unreadable(error)
        return entry, None

    def add(self, entry: Entry, content: bytes) -> None:
        """Queue a content; one of the right size that is there already is not sent again."""
        name = object_of(entry)
        if self._sizes.get(name) == entry.size:
            return
        self._sizes[name] = entry.size
        self._waiting[name] = content
        self._waiting_bytes += entry.size
        if len(self._waiting) >= _BATCH_FILES or self._waiting_bytes >= _BATCH_BYTES:
            self.flush()

    def flush(self) -> None:
        """Send what is queued."""
        if self._waiting:
            self.place.write(self._waiting)
        self.files += len(self._waiting)
        self.bytes += self._waiting_bytes
        self._waiting, self._waiting_bytes = {}, 0


def _read_contents(
    place: Place, sizes: dict[str, int], entries: Sequence[Entry]
) -> Iterator[tuple[Entry, Content | Problem]]:
    """Fetch what is there in the right size, small files many at a time, and check each content."""
    wanted: list[Entry] = []
    for entry in entries:
        size = sizes.get(object_of(entry))
        if size != entry.size:
            reason = "is missing" if size is None else f"has {size} bytes instead of {entry.size}"
            yield entry, Problem(entry.path, _broken(entry, reason), failed=True)
        elif size > WHOLE_BYTES:
            yield entry, _Stored(place, entry)
        else:
            wanted.append(entry)
    for batch in _batches(wanted):
        contents = place.read(list(dict.fromkeys(object_of(entry) for entry in batch)))
        for entry in batch:
            content = contents[object_of(entry)]
            if isinstance(content, str):
                yield entry, Problem(entry.path, _broken(entry, content), failed=True)
            elif digest(content) != entry.sha256:
                yield entry, Problem(entry.path, _broken(entry, _OTHER_CONTENT), failed=True)
            else:
                yield entry, [content]


@dataclass(frozen=True, slots=True)
class _Stored:
    """A large file at a place, fetched in pieces and checked."""

    place: Place
    entry: Entry

    def __iter__(self) -> Iterator[bytes]:
        pieces = self.place.fetch(object_of(self.entry))
        yield from verify(self.entry, pieces, _broken(self.entry, _OTHER_CONTENT))


def _batches(entries: Sequence[Entry]) -> Iterator[list[Entry]]:
    batch: list[Entry] = []
    for entry in entries:
        batch.append(entry)
        if len(batch) >= _BATCH_FILES or sum(taken.size for taken in batch) >= _BATCH_BYTES:
            yield batch
            batch = []
    if batch:
        yield batch


def _broken(entry: Entry, reason: str) -> str:
    return f"cannot be restored: {object_of(entry)} {reason}"


def _list_ids(place: Place) -> list[str]:
    """Return the ids of all backups, the oldest first."""
    names = (_SNAPSHOT.fullmatch(name) for name in place.sizes(SNAPSHOTS))
    return sorted(match["id"] for match in names if match)


def _name_of(identity: str) -> str:
    return f"{SNAPSHOTS}/{identity}.json"


def _choose_id(place: Place, at: str) -> str:
    """Return the one backup that is meant."""
    ids = _list_ids(place)
    if not ids:
        raise BackupError(
            f"there are no backups at {place.shown!r}", todo="Check the address; 'memlines backup' makes one"
        )
    matching = [identity for identity in ids if identity.startswith(at)] if at else ids[-1:]
    if len(matching) != 1:
        raise BackupError(
            f"{len(matching)} backups at {place.shown!r} have an id that begins with {at!r}",
            todo="'memlines restore' with --list shows them all",
        )
    return matching[0]


def _read_manifest(place: Place, identity: str) -> Manifest:
    name = _name_of(identity)
    content = place.read([name])[name]
    if isinstance(content, str):
        raise BackupError(
            f"the backup {identity} {content}", todo="Choose another one; --list shows them all"
        )
    if len(content) > MAX_MANIFEST_BYTES:
        raise BackupError(f"the list of the backup {identity} is too long", todo="Choose another one")
    return decode(content, f"the backup {identity}")


def _holds_same(place: Place, identity: str, manifest: Manifest) -> bool:
    """Return whether a backup holds the same files of the same workspace; their times do not count."""
    try:
        before = _read_manifest(place, identity)
    except BackupError:
        return False  # it cannot be read, so a new one must be written
    same = [{(entry.path, entry.sha256) for entry in one.every_entry} for one in (before, manifest)]
    return before.workspace == manifest.workspace and same[0] == same[1]
