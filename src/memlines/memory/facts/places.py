"""In which places tables of a workspace's facts were ever written.

A setting can be changed at any time, and a table that nobody uses any more still holds texts, so forgetting
has to know of all of them. Each place has a small file in the private folder, which is written before the
table. A workspace also has a random name of its own, so that those of two machines never share a table even
if their paths are the same.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from contextlib import suppress
from pathlib import Path

from memlines.beneath import PRIVATE_FILE
from memlines.errors import PathError, StoreReadOnly, reason_of
from memlines.files.atomic import create, exists, listing, make_folders, read, unlink
from memlines.files.private import ensure_private
from memlines.paths import Workspace

FOLDER = "facts"
"""The folder of the table in a workspace's private folder."""

_PLACES = "places"
_NAME = "workspace"
_LONGEST = 4_096
_NAMED = re.compile(r"[0-9a-f]{32}")
_OWN = re.compile(r"[/\\][0-9a-f]{12}")
_OWN_LENGTH = 13


def own_name(workspace: Workspace) -> str:
    """Return the name of a workspace's folder in a place that several may share."""
    told = _content(workspace, _NAME)
    random = told if _NAMED.fullmatch(told) else ""
    return hashlib.sha256(os.fsencode(workspace.root) + random.encode()).hexdigest()[:12]


def make_own_name(workspace: Workspace) -> None:
    """Give a workspace its random name, if it has none."""
    _write(workspace, _NAME, secrets.token_hex(16))


def note_place(workspace: Workspace, uri: str) -> None:
    """Note that a table is about to be written to a place; the default one is always known."""
    if uri != default_place(workspace):
        _write(workspace, _file_of(workspace, uri), _kept(workspace, uri))


def drop_place(workspace: Workspace, uri: str) -> None:
    """Note that there is no table in a place any more."""
    file = _folder(workspace) / _file_of(workspace, uri)
    try:
        with suppress(FileNotFoundError, NotADirectoryError):
            unlink(file, root=workspace.root)
    except OSError as error:
        raise _unwritable(file, error) from error


def noted_places(workspace: Workspace) -> list[str]:
    """Return the places that tables were written to, but for the default one.

    Only what ends with a name as we give them is one: a cloned workspace could name tables of others.
    """
    try:
        names = listing(_folder(workspace), root=workspace.root)
    except PathError:
        return []
    told = (_content(workspace, name) for name in names if name != _NAME)
    return [_uri(workspace, kept) for kept in told if _OWN.fullmatch(kept[-_OWN_LENGTH:])]


def default_place(workspace: Workspace) -> str:
    """Return where a table is if the settings do not say."""
    return str(workspace.private / FOLDER)


def _folder(workspace: Workspace) -> Path:
    return workspace.private / FOLDER / _PLACES


def _kept(workspace: Workspace, uri: str) -> str:
    """Return a place as it is noted: what lies in the workspace moves with it."""
    inside = not _is_address(uri) and Path(uri).is_relative_to(workspace.root)
    return Path(uri).relative_to(workspace.root).as_posix() if inside else uri


def _uri(workspace: Workspace, kept: str) -> str:
    return kept if _is_address(kept) else str(workspace.root / kept)


def _is_address(uri: str) -> bool:
    return "://" in uri


def _file_of(workspace: Workspace, uri: str) -> str:
    return hashlib.sha256(_kept(workspace, uri).encode(errors="surrogatepass")).hexdigest()[:16]


def _content(workspace: Workspace, name: str) -> str:
    try:
        content = read(_folder(workspace) / name, _LONGEST, root=workspace.root)
        return (content or b"").decode().strip()
    except (OSError, ValueError):
        return ""


def _write(workspace: Workspace, name: str, content: str) -> None:
    folder = _folder(workspace)
    if exists(folder / name, root=workspace.root):
        return
    ensure_private(workspace)
    try:
        make_folders(folder, workspace.root)
        create(folder / name, content + "\n", PRIVATE_FILE, root=workspace.root)
    except OSError as error:
        raise _unwritable(folder, error) from error


def _unwritable(path: Path, error: OSError) -> StoreReadOnly:
    return StoreReadOnly(
        f"{str(path)!r} cannot be written: {reason_of(error)}",
        todo="Check its permissions and the space on the disk",
    )
