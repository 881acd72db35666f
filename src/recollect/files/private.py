"""The workspace's private folder, which keeps itself out of version control."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from recollect.beneath import CREATE_FLAGS, opened
from recollect.errors import PathError, StoreReadOnly, WorkspaceError, reason_of
from recollect.paths import PRIVATE_DIR, Workspace

_IGNORE = ".gitignore"


def ensure_private(workspace: Workspace) -> None:
    """Make the folder for derived and private files, with a `.gitignore` that hides all of it."""
    try:
        with opened(workspace.root) as root:
            if not root.has(PRIVATE_DIR):
                with suppress(FileExistsError):  # another process was quicker
                    root.mkdir(PRIVATE_DIR)
        with opened(workspace.private, workspace.root) as folder:
            if not folder.has(_IGNORE):
                with suppress(FileExistsError), os.fdopen(folder.open(_IGNORE, CREATE_FLAGS), "wb") as stream:
                    stream.write(b"*\n")
    except PathError:
        # A cloned workspace could make us write wherever its link points.
        raise WorkspaceError(
            f"{str(workspace.private)!r} is a symbolic link",
            todo="Replace it by a folder; store.path can keep the index elsewhere",
        ) from None
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
