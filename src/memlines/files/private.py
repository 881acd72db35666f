"""The workspace's private folder, which keeps itself out of version control."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

from memlines.beneath import (
    CREATE_FLAGS,
    PRIVATE_FILE,
    folders_below,
    make_own_folder,
    make_private_folders,
    opened,
)
from memlines.errors import PathError, StoreReadOnly, WorkspaceError, reason_of
from memlines.files.atomic import create
from memlines.paths import PRIVATE_DIR, Workspace

_IGNORE = ".gitignore"
_OF_WORKSPACE = "workspace.txt"
_KEPT_SECONDS = 30 * 86_400.0
"""How long the cache keeps the indexes of a workspace that is gone: its disk may only not be mounted."""


def ensure_private(workspace: Workspace) -> None:
    """Make the folder for derived and private files, with a `.gitignore` that hides all of it."""
    try:
        with opened(workspace.root) as root:
            if not root.has(PRIVATE_DIR):
                with suppress(FileExistsError):  # another process was quicker
                    root.mkdir(PRIVATE_DIR, private=True)
            is_shared = root.is_shared
        with opened(workspace.private, workspace.root) as folder:
            was_open = folder.tighten(shared=is_shared)
            if not folder.has(_IGNORE):
                with (
                    suppress(FileExistsError),
                    os.fdopen(folder.open_private(_IGNORE, CREATE_FLAGS), "wb") as stream,
                ):
                    stream.write(b"*\n")
        if was_open:
            tighten(workspace)
    except PathError:
        # A cloned workspace could make us write wherever its link points.
        raise WorkspaceError(
            f"{str(workspace.private)!r} is a symbolic link",
            todo="Replace it by a folder; store.path can keep the index elsewhere",
        ) from None
    except OSError as error:
        raise _unwritable(workspace.private, error) from error


def tighten(workspace: Workspace, *, dry_run: bool = False) -> list[Path]:
    """Close the private folder and all in it to others, and to its group unless that shares the workspace.

    Return what was open, or is with `dry_run`. What belongs to another user stays as it is, and so do links,
    pipes and the settings, which people write themselves.
    """
    changed: list[Path] = []
    with opened(workspace.root) as root:
        is_shared = root.is_shared
    for place in folders_below(workspace.private, workspace.root):
        with opened(place, workspace.root) as folder:
            if folder.tighten(shared=is_shared, dry_run=dry_run):
                changed.append(place)
            with folder.scan() as entries:
                names = [entry.name for entry in entries if entry.is_file(follow_symlinks=False)]
            for name in names:
                if place / name == workspace.config_file:
                    continue
                with suppress(FileNotFoundError, PermissionError):  # gone by now, or closed even to us
                    if folder.tighten_file(name, shared=is_shared, dry_run=dry_run):
                        changed.append(place / name)
    return changed


def ensure_folder(folder: Path) -> None:
    """Make a folder for derived files, closed to others; one that is there stays as it is."""
    try:
        make_private_folders(folder)
    except OSError as error:
        raise _unwritable(folder, error) from error


def ensure_index_folder(workspace: Workspace, index_file: Path) -> None:
    """Make the folder of an index, and the private folder of its workspace where that can be written."""
    if index_file.parent == workspace.cached_indexes:
        _ensure_cached(workspace, index_file.parent)
        return
    try:
        ensure_private(workspace)
    except StoreReadOnly:
        if index_file.is_relative_to(workspace.private):
            raise
    ensure_folder(index_file.parent)


def _ensure_cached(workspace: Workspace, folder: Path) -> None:
    """Make a folder for indexes in the user's cache, with a file that says of which workspace they are."""
    try:
        if not folder.is_dir():
            _remove_unused(folder.parent)
        make_own_folder(folder)
        create(folder / _OF_WORKSPACE, str(workspace.root), PRIVATE_FILE)
    except OSError as error:
        raise _unwritable(folder, error) from error


def _remove_unused(top: Path) -> None:
    """Remove indexes of workspaces that are gone and were not written for a month."""
    for folder in top.iterdir() if top.is_dir() else ():
        with suppress(OSError, UnicodeDecodeError):  # not ours; or another program removes it just now
            root = Path((folder / _OF_WORKSPACE).read_text(encoding="utf-8"))
            files = list(folder.iterdir())
            newest = max(file.lstat().st_mtime for file in files)
            if root.is_dir() or time.time() - newest < _KEPT_SECONDS:
                continue
            for file in sorted(files, key=lambda file: file.name == _OF_WORKSPACE):  # which goes last
                file.unlink()
            folder.rmdir()


def _unwritable(folder: Path, error: OSError) -> StoreReadOnly:
    return StoreReadOnly(
        f"the folder {str(folder)!r} cannot be written: {reason_of(error)}",
        todo="Check its permissions and the space on the disk",
    )
