"""The memory that an engine answers from."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memlines.errors import MemlinesError, WorkspaceError
from memlines.files.place import holds_memory
from memlines.files.scan import NOTES_DIR, ROOT_FILES, SUFFIX, extra_roots
from memlines.paths import Workspace, contains, user_config_file, user_state_dir
from memlines.settings.workspace import find_workspace

if TYPE_CHECKING:
    from memlines.memory.memory import Memory

_MINUTE = 60.0


class Workplace:
    """One workspace and its memory, opened when it is first needed and again when its settings change.

    While it is open, it is synced every `sync.interval_minutes`.
    """

    def __init__(self, folder: Path, settings: Mapping[str, Any] | None = None) -> None:
        """Name the folder, and settings that count more than those of files."""
        self.workspace = Workspace.at(folder)
        self.settings = settings
        self._lock = threading.Lock()
        self._opened: _Opened | None = None
        self._seen: tuple[tuple[int, int, int] | None, ...] = ()

    @property
    def is_active(self) -> bool:
        """Whether the folder holds a memory."""
        return holds_memory(self.workspace)

    @property
    def shows_maintenance(self) -> bool:
        """Whether models are shown the tools that maintain the index; not if a setting is wrong."""
        try:
            return self.memory().settings.tools.maintenance
        except MemlinesError:  # the first tool that is called says what is wrong
            return False

    def memory(self) -> Memory:
        """Return the memory with the settings as they are now."""
        trusted = user_state_dir() / "trusted.json"
        look = tuple(_stamp(file) for file in (user_config_file(), *self.workspace.config_files, trusted))
        former = None
        with self._lock:
            if self._opened is None or look != self._seen:
                opened = _Opened(self)  # raises and keeps the former one if a setting is wrong
                former, self._opened = self._opened, opened
                self._seen = look
            memory = self._opened.memory
        if former is not None:
            former.close()
        return memory

    def close(self) -> None:
        """Stop background work and close the index."""
        with self._lock:
            opened, self._opened = self._opened, None
        if opened is not None:
            opened.close()


class _Opened:
    """An open memory, and the clock that has it synced in the background."""

    def __init__(self, place: Workplace) -> None:
        from memlines.memory.memory import Memory

        self.memory = Memory(place.workspace.root, place.settings)
        self._place = place
        self._closing = threading.Event()
        self._clock: threading.Thread | None = None
        if self.memory.settings.sync.interval_minutes:
            self._clock = threading.Thread(target=self._run_clock, name="memlines-interval", daemon=True)
            self._clock.start()

    def close(self) -> None:
        """Stop the clock and background work, and close the index."""
        self._closing.set()
        if self._clock is not None:
            self._clock.join()
        self.memory.close()

    def _run_clock(self) -> None:
        while not self._closing.wait(self.memory.settings.sync.interval_minutes * _MINUTE):
            if self._place.is_active:
                self.memory.sync_soon()


def _stamp(file: Path) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def folder_of(directory: str, worktree: str | None) -> Path:
    """Return the folder with the notes for a client that works in a directory of a worktree."""
    if "\0" in directory or "\0" in (worktree or ""):
        raise WorkspaceError("the name of a folder holds a NUL", todo="Start the client again")
    here = Path(directory).resolve()
    if not here.is_dir():
        raise WorkspaceError(f"the folder {str(here)!r} does not exist", todo="Start the client again")
    top = Path(worktree).resolve() if worktree else here
    is_above = top in here.parents and top != Path(top.anchor)
    return find_workspace(here, last_resort=top if is_above else here).folder


def is_note(memory: Memory, path: str) -> bool:
    """Return whether a file is one that the memory reads, by its name alone."""
    workspace = memory.workspace
    file = Path(os.path.normpath(workspace.root / path))
    if file.suffix != SUFFIX:
        return False
    extra = map(Path, extra_roots(workspace, memory.settings.extra_paths))
    folders = [workspace.root / NOTES_DIR, *extra]
    is_main = file.parent == workspace.root and file.name in ROOT_FILES
    return is_main or any(contains(folder, file) for folder in folders)
