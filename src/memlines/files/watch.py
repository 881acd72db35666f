"""Listen for changes of files that the system reports: where to listen, and what was heard.

Folders are listened to one by one and not with everything below them: a workspace may be a repository
with a hundred thousand files that are not notes.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Collection, Iterator

from memlines.errors import PathError
from memlines.files.atomic import TEMPORARY_PREFIXES, TEMPORARY_SUFFIX
from memlines.files.scan import (
    IGNORED_DIRS,
    NOTES_DIR,
    ROOT_FILES,
    SESSIONS_DIR,
    USER_FILE,
    extra_roots,
)
from memlines.folders import Tree
from memlines.paths import Workspace
from memlines.types import Source

_TICK_MS = 250
_STEP_MS = 125
"""How long one wait for hints lasts, and how often it looks whether there are any: too seldom to be seen
in the use of the processor, and often enough to stop at once."""

_MODIFIED = 2
"""How the library calls a change that neither makes nor removes anything."""


class Unheard(Exception):
    """The system does not report changes; the text says why."""


class Places:
    """The folders and names of a workspace whose changes matter."""

    def __init__(
        self, workspace: Workspace, extra_paths: tuple[str, ...], sources: tuple[Source, ...]
    ) -> None:
        self._root = str(workspace.root)
        self._notes = os.path.join(self._root, NOTES_DIR)  # noqa: PTH118 (strings, like the scan)
        self._sessions = os.path.join(self._root, SESSIONS_DIR)  # noqa: PTH118
        has_notes = "memory" in sources
        self._extras = [os.path.realpath(extra) for extra in extra_roots(workspace, extra_paths) if has_notes]
        self._has_notes = has_notes
        self._has_sessions = "sessions" in sources
        self._named = {self._root, self._notes, self._sessions, *self._extras}
        self._named |= {os.path.join(self._root, name) for name in (*ROOT_FILES, USER_FILE)}  # noqa: PTH118
        self._open: frozenset[str] = frozenset()

    def folders(self) -> dict[str, int]:
        """Return the folders to listen to as they are now, with their inodes.

        A folder that was deleted and created again is another one, of which the system reports nothing.
        """
        inside: dict[str, int] = {}
        if self._has_notes:
            for top in (self._notes, *self._extras):
                inside |= dict(_folders_below(*os.path.split(top)))
        if self._has_sessions and _is_folder(self._sessions):
            inside[self._sessions] = _inode_of(self._sessions)
        self._open = frozenset(inside)
        around = {os.path.dirname(extra) for extra in self._extras if os.path.isfile(extra)}  # noqa: PTH113, PTH120
        return {folder: _inode_of(folder) for folder in (self._root, *around)} | inside

    def matters(self, path: str) -> bool:
        """Return whether a change at a path may change the index; our own temporary files do not."""
        name = os.path.basename(path)  # noqa: PTH119
        if name.startswith(TEMPORARY_PREFIXES) and name.endswith(TEMPORARY_SUFFIX):
            return False
        folder = os.path.dirname(path)  # noqa: PTH120
        return path in self._named or (folder in self._open and name not in IGNORED_DIRS)


class Hints:
    """What the system reports about changes in some folders.

    They are stale when one of these folders itself was made, moved or deleted since.
    """

    listens = True

    def __init__(self, folders: Collection[str], places: Places, stop: threading.Event) -> None:
        """Begin to listen; raise `Unheard` if the system refuses that."""
        from watchfiles import watch

        self.is_stale = False
        self._folders = frozenset(folders)
        self._places = places
        self._changes = watch(
            *sorted(folders),
            watch_filter=None,  # changes that do not matter would keep it from coming back
            debounce=_STEP_MS,
            step=_STEP_MS,
            stop_event=stop,
            rust_timeout=_TICK_MS,
            yield_on_timeout=True,
            recursive=False,
            ignore_permission_denied=True,
        )
        self._heard_early = False
        self._heard_early = self.heard()  # only the first wait begins to listen

    def heard(self) -> bool:
        """Wait for a moment; return whether something happened that matters."""
        try:
            changes = next(self._changes, set())
        except (OSError, RuntimeError) as error:
            raise Unheard(str(error)) from error
        # An inode can be given again at once, so it does not always distinguish a folder from its successor.
        self.is_stale |= any(change != _MODIFIED and path in self._folders for change, path in changes)
        early, self._heard_early = self._heard_early, False
        return early or any(self._places.matters(path) for _, path in changes)

    def close(self) -> None:
        """Listen no more."""
        self._changes.close()


class NoHints:
    """Hints of a system that reports no changes: wait as long as a report would take, and return none."""

    listens = False
    is_stale = False

    def __init__(self, stop: threading.Event) -> None:
        self._stop = stop

    def heard(self) -> bool:
        """Wait for a moment."""
        self._stop.wait(_TICK_MS / 1000)
        return False

    def close(self) -> None:
        """Do nothing."""


def _folders_below(above: str, name: str) -> Iterator[tuple[str, int]]:
    """Yield a folder and all folders in it that the scan would look into, with their inodes."""
    with Tree(above) as tree:
        pending = [(name, _inode_of(tree.path_of(name)))] if _is_folder(tree.path_of(name)) else []
        while pending:
            folder, inode = pending.pop()
            yield tree.path_of(folder), inode
            try:
                with tree.enter(folder).scan() as entries:
                    pending += [
                        (f"{folder}/{entry.name}", entry.inode())
                        for entry in entries
                        if entry.name not in IGNORED_DIRS and entry.is_dir(follow_symlinks=False)
                    ]
            except (OSError, PathError):
                continue  # gone since, or it may not be looked into; the scan reports that


def _is_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)  # noqa: PTH112, PTH114


def _inode_of(folder: str) -> int:
    try:
        return os.stat(folder).st_ino  # noqa: PTH116
    except OSError:
        return 0
