"""Begin a workspace: the folder, the first note, the private folder."""

from __future__ import annotations

import os
from pathlib import Path

from memlines.errors import StoreReadOnly, WorkspaceError, WriteError, reason_of
from memlines.files.atomic import create, exists, make_folders
from memlines.files.place import attempt, place_of, writing
from memlines.files.private import ensure_private
from memlines.files.scan import NOTES_DIR, ROOT_FILES, SUFFIX
from memlines.paths import Workspace

_FIRST_NOTE = """\
# Memory

What should be remembered for good: preferences, people, decisions, conventions.
Daily notes go to `memory/YYYY-MM-DD.md`, topics to `memory/<topic>.md`.
"""


def holds_memory(workspace: Workspace) -> bool:
    """Tell whether a folder holds a memory: a note, or the folder that is made for one."""
    if workspace.private.is_dir() or any((workspace.root / name).is_file() for name in ROOT_FILES):
        return True
    try:
        with os.scandir(workspace.root / NOTES_DIR) as notes:
            return any(entry.name.endswith(SUFFIX) for entry in notes)
    except OSError:
        return False


def begin_workspace(folder: Path) -> tuple[Workspace, list[str]]:
    """Make what a workspace needs and does not have yet; nothing that exists is changed."""
    made: list[str] = []
    try:
        if not folder.exists():
            folder.mkdir(parents=True)
            made.append(f"{folder}/")
        workspace = Workspace.at(folder)
        if not exists(workspace.root / NOTES_DIR, root=workspace.root):
            make_folders(workspace.root / NOTES_DIR, workspace.root)
            made.append(f"{NOTES_DIR}/")
    except OSError as error:
        raise WorkspaceError(
            f"workspace {str(folder)!r} cannot be made: {reason_of(error)}",
            todo="Check the path, its permissions and the space on the disk",
        ) from error
    try:
        ensure_private(workspace)
        if _begin_note(workspace):
            made.append(ROOT_FILES[0])
    except (StoreReadOnly, WriteError) as error:
        raise WorkspaceError(error.what, todo=error.todo) from error
    return workspace, made


def _begin_note(workspace: Workspace) -> bool:
    """Write the first note unless there is one; under the lock, because writers sweep unfinished files."""
    if any((workspace.root / name).exists() for name in ROOT_FILES):
        return False
    place = place_of(workspace, ROOT_FILES[0])
    with writing(workspace):
        return attempt(place, lambda: create(place.real, _FIRST_NOTE, root=place.root))
