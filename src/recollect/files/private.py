"""The workspace's private folder, which keeps itself out of version control."""

from __future__ import annotations

import os
from pathlib import Path

from recollect.errors import StoreReadOnly, WorkspaceError, reason_of
from recollect.paths import Workspace


def ensure_private(workspace: Workspace) -> None:
    """Make the folder for derived and private files, with a `.gitignore` that hides all of it."""
    try:
        is_link = workspace.private.is_symlink()
    except OSError as error:
        raise _unwritable(workspace.private, error) from error
    if is_link:
        # A cloned workspace could make us write wherever its link points.
        raise WorkspaceError(
            f"{str(workspace.private)!r} is a symbolic link",
            todo="Replace it by a folder; store.path can keep the index elsewhere",
        )
    ensure_folder(workspace.private)
    ignore = workspace.private / ".gitignore"
    try:
        if not os.path.lexists(ignore):
            ignore.write_text("*\n", encoding="utf-8")
    except OSError as error:
        raise _unwritable(workspace.private, error) from error


def ensure_folder(folder: Path) -> None:
    """Make a folder for derived files."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(folder, error) from error


def _unwritable(folder: Path, error: OSError) -> StoreReadOnly:
    return StoreReadOnly(
        f"the folder {str(folder)!r} cannot be written: {reason_of(error)}",
        todo="Check its permissions and the space on the disk",
    )
