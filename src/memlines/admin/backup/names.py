"""Which names of files may come in from a copy, and what a second version of a file is called."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from memlines.admin.backup.forgotten import TOMBSTONES
from memlines.admin.backup.gather import LONGEST_PATH, extras_within, kept_in_private
from memlines.admin.backup.manifest import Entry
from memlines.errors import BackupError
from memlines.files.scan import IGNORED_DIRS, NOTES_DIR, ROOT_FILES, SUFFIX, USER_FILE
from memlines.paths import PRIVATE_DIR, Workspace, is_unicode
from memlines.settings import Settings
from memlines.text.neutral import unseen_in

_LONGEST_PART = 255
_NOT_ON_WINDOWS = re.compile(r'[<>:"|?*\\\x00-\x1f]|[. ](?:/|$)')
_LONGEST_NEW_NAME = 200
"""Bytes; what is kept of a changed note has a longer name than the note, and must fit as well."""

_LONGEST_ENDING = 20
_LONGEST_TAG = "-imported-2026-01-01-99999"


def refuse_strange(workspace: Workspace, settings: Settings, entries: Iterable[Entry], origin: str) -> None:
    """Raise if a name is not that of a note or of a private file that copies hold.

    A copy may come from anybody: it must not be able to put a file anywhere else.
    """
    extras = [os.path.relpath(extra, workspace.root) for extra in extras_within(workspace, settings)]
    folders = ["" if extra == "." else extra.replace(os.sep, "/") for extra in extras]
    for entry in entries:
        path = entry.path
        if not _is_plain(path):
            raise BackupError(
                f"{origin} holds {path!r}, which is not a name of a file inside a workspace",
                todo="Do not use it unless you know who made it; nothing was changed",
            )
        if not (_is_note(path) or _is_private(path) or _is_extra(path, folders)):
            raise BackupError(
                f"{origin} holds {path!r}, which is not a note of this workspace; nothing was changed",
                todo="If you know who made it, set extra_paths to the folder of that file and try again",
            )


def refuse_unseen(entries: Iterable[Entry], origin: str) -> None:
    """Raise if a name has a character that cannot be seen: it shows another name than it is."""
    for entry in entries:
        if unseen := unseen_in(entry.path):
            raise BackupError(
                f"{origin} holds {entry.path!r}, a name with the character {unseen}, which cannot be seen",
                todo="Rename that note where the copy was made, and make the copy again; nothing was changed",
            )


def beside(path: str) -> tuple[str, str, str]:
    """Return folder, beginning and ending of the names of a file's imported versions.

    They sort next to the file, are notes if it is one, and have its date if it is a daily log.
    """
    folder, _, name = path.rpartition("/")
    stem, dot, ending = name.rpartition(".")
    if not dot or len(ending) > _LONGEST_ENDING:
        stem, dot, ending = name, "", ""
    room = _LONGEST_NEW_NAME - len(f"{_LONGEST_TAG}{dot}{ending}".encode())
    stem = stem.encode()[:room].decode("utf-8", "ignore")
    return folder or NOTES_DIR, f"{stem}-imported-", dot + ending


def _is_plain(path: str) -> bool:
    parts = path.split("/")
    if not is_unicode(path) or "\0" in path or len(path.encode()) > LONGEST_PATH:
        return False
    if any(part in ("", ".", "..") or len(part.encode()) > _LONGEST_PART for part in parts):
        return False
    return os.name != "nt" or not _NOT_ON_WINDOWS.search(path)


def _is_note(path: str) -> bool:
    if path in (*ROOT_FILES, USER_FILE):
        return True
    parts = path.split("/")
    return len(parts) > 1 and parts[0] == NOTES_DIR and _is_markdown(parts)


def _is_extra(path: str, folders: list[str]) -> bool:
    """Tell whether a file lies in an extra path of this workspace."""
    return any(
        path == folder or _is_markdown(path[len(folder) :].strip("/").split("/"))
        for folder in folders
        if path == folder or not folder or path.startswith(f"{folder}/")
    ) and path.endswith(SUFFIX)


def _is_markdown(parts: list[str]) -> bool:
    return parts[-1].endswith(SUFFIX) and not IGNORED_DIRS.intersection(parts[:-1])


def _is_private(path: str) -> bool:
    if path in TOMBSTONES:
        return True
    parts = path.split("/")
    if parts[0] != PRIVATE_DIR or len(parts) < 2 or not kept_in_private(parts[1], everything=True):
        return False
    return len(parts) > 2  # what is kept there are folders
