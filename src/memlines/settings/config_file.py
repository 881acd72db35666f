"""Reads the bytes of a settings file, refusing what cannot be one."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from memlines.beneath import open_file
from memlines.errors import PathError, SettingsError, reason_of

MAX_BYTES = 1_000_000
"""No settings file is longer; one that is was put there by mistake or to do harm."""


def read_user_file(path: Path) -> bytes | None:
    """Return the user's file, or None if there is none; it may be a link, as dotfiles often are."""
    return _read(path, links=True)


def read_project_file(path: Path) -> bytes | None:
    """Return a project's file, or None if there is none.

    Neither it nor its folder may be a link: a cloned repository could point one at any
    file of the user, and messages about that file would then quote it.
    """
    folder_mode = _mode(path.parent, links=False)
    if folder_mode is not None and stat.S_ISLNK(folder_mode):
        raise SettingsError(
            f"the folder {str(path.parent)!r} is a symbolic link, so the settings in it are not read",
            todo="Replace the link by a real folder",
        )
    return _read(path, links=False)


def _read(path: Path, *, links: bool) -> bytes | None:
    """Read a small regular file."""
    mode = _mode(path, links=links)
    if mode is None:
        return None
    if stat.S_ISLNK(mode):
        raise _linked(path)
    if not stat.S_ISREG(mode):
        raise SettingsError(
            f"settings file {str(path)!r} is not a regular file", todo="Remove it, or put a YAML file there"
        )
    try:
        # Opened from folder to folder: what was looked at may be a link by now.
        with path.open("rb") if links else os.fdopen(open_file(path, path.parent.parent), "rb") as file:
            content = file.read(MAX_BYTES + 1)
    except PathError:
        raise _linked(path) from None
    except OSError as error:
        raise _unreadable(path, error) from error
    if len(content) > MAX_BYTES:
        raise SettingsError(
            f"settings file {str(path)!r} is larger than {MAX_BYTES} bytes",
            todo="Keep only settings in it",
        )
    return content


def _mode(path: Path, *, links: bool) -> int | None:
    """Return what kind of file a path is, or None if nothing is there."""
    try:
        return path.stat(follow_symlinks=links).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error


def _linked(path: Path) -> SettingsError:
    return SettingsError(
        f"settings file {str(path)!r} is a symbolic link, so it is not read",
        todo="Replace the link by the file itself",
    )


def _unreadable(path: Path, error: Exception) -> SettingsError:
    """Return the error for a file the system does not let us read."""
    return SettingsError(
        f"settings file {str(path)!r} cannot be read: {reason_of(error)}",
        todo="Check the path and its permissions",
    )
