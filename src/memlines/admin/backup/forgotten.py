"""Keep what was forgotten from coming back with a copy that is older.

A copy holds the tombstones of its workspace: salted hashes of what was forgotten there. They are merged into
those of the workspace it comes to. A note comes back as it is in the copy, but for what was forgotten after
the copy was made: a tombstone that the copy itself holds says nothing about its notes, because they held
that text in spite of it.
"""

from __future__ import annotations

from collections.abc import Iterable

from memlines.admin.backup.manifest import Entry
from memlines.admin.backup.pieces import Content
from memlines.errors import BackupError
from memlines.files import snapshots, tombstones
from memlines.files.erase import KEPT_DIRS, without_forgotten
from memlines.files.read import decode
from memlines.files.tombstones import Forgotten
from memlines.paths import PRIVATE_DIR, Workspace
from memlines.types import Problem

HASHES = f"{PRIVATE_DIR}/{tombstones.FILE_NAME}"
SALT = f"{PRIVATE_DIR}/{tombstones.SALT_NAME}"
TOMBSTONES = frozenset({HASHES, SALT})

MAX_TOMBSTONE_BYTES = 50_000_000
_MOST_SALTS = 100
"""Each salt means hashing every text once more; a copy of a workspace has one, and one of each that was
merged into it."""

_SNAPSHOTS = f"{PRIVATE_DIR}/{snapshots.FOLDER}/"


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


class Guard:
    """Takes out of the files of a copy what was forgotten since, and keeps a list of that."""

    def __init__(self, gone: Forgotten, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.left_out: list[str] = []
        self.unchecked: list[Problem] = []
        self._gone = gone

    def clean(self, entry: Entry, content: Content) -> Content | None:
        """Return a file without what was forgotten, the same object if that is all of it.

        `None` if nothing of it is left.
        """
        path, gone = entry.path, self._gone
        if not gone:
            return content
        if gone.drops_file(_note_of(path)) or gone.drops_session(path):
            self.left_out.append(path)
            return None
        if entry.size > self.max_bytes:
            self.unchecked.append(Problem(path, "is too large to be searched for what was forgotten"))
            return content
        whole = b"".join(content)
        try:
            decode(whole)
        except ValueError as error:
            self.unchecked.append(Problem(path, f"{error}, and was not searched for what was forgotten"))
            return content
        clean = self._clean(path, whole)
        return content if clean == whole else None if clean is None else [clean]

    def _clean(self, path: str, content: bytes) -> bytes | None:
        gone = self._gone
        if path.startswith(_SNAPSHOTS):
            clean = snapshots.without_texts(content, gone.drops)
            if clean != content:
                self.left_out.append(path)
            return clean
        return self._clean_note(path, content)

    def lift(self, workspace: Workspace, entry: Entry, content: Content) -> None:
        """Let what a file holds be remembered again, because somebody asked for it."""
        if self._gone and entry.size <= self.max_bytes:
            Forgotten.load(workspace).lift(b"".join(content).decode("utf-8", "replace"))

    def _clean_note(self, path: str, content: bytes) -> bytes | None:
        clean, left_out = without_forgotten(self._gone, path, content)
        self.left_out.extend(left_out)
        return clean


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
