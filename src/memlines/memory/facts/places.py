"""Where the table of the facts is, in which places there ever was one, and what the stamp of it says.

A setting can be changed at any time, and a table that is no longer used still holds texts, so forgetting has
to know of all of them. Each place has a small file in the private folder, which is written before the table.
A workspace also has a random name of its own, so that those of two machines never share a table even if their
paths are the same.

The stamp beside a table says from which state of the index it was written. It is removed before the table is
touched and written when the table is whole again, so a table without a stamp, or of another version or
another token than its stamp says, is never trusted. The stamp of a table in a bucket is on this machine: what
another one wrote there is written again.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

from memlines.errors import PathError, SettingsError, StoreReadOnly, reason_of
from memlines.files.atomic import (
    create,
    exists,
    listing,
    make_folders,
    read,
    refuse_link,
    sync_folder,
    unlink,
)
from memlines.files.place import ensure_folder, ensure_private
from memlines.folders import PRIVATE_FILE
from memlines.locks import WriterLock
from memlines.paths import Workspace, contains, expand_home, user_state_dir
from memlines.records import dataclass
from memlines.settings import Settings

FOLDER = "facts"
"""The folder of the table in a workspace's private folder."""

_PLACES = "places"
_NAME = "workspace"
_LONGEST = 4_096
_NAMED = re.compile(r"[0-9a-f]{32}")
_OWN = re.compile(r"[/\\][0-9a-f]{12}")
_OWN_LENGTH = 13

_FORMAT = 3
_STAMP = "record.json"
_LOCK = "table.lock"
_REMOTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_SERVICES = ("s3://", "gs://")


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a table was written from."""

    state: str
    """The state of the facts and their vectors in the index (`table.state_in`)."""
    count: int
    lacking: tuple[int, ...]
    """The chunks of facts that had no vector, which are compared beside the table."""
    version: int
    token: str
    """What the table has in itself; no other table has the same."""
    time: float
    seconds: float
    """When it was written, in seconds since 1970, and how long that took."""


def make_own_name(workspace: Workspace) -> None:
    """Give a workspace its random name, if it has none."""
    _write(workspace, _NAME, secrets.token_hex(16))


def note_place(workspace: Workspace, uri: str) -> None:
    """Note that a table is about to be written to a place; the default one is always known."""
    if uri != default_place(workspace):
        _write(workspace, *_noted(workspace, uri))


def drop_place(workspace: Workspace, uri: str) -> None:
    """Note that there is no table in a place any more."""
    file = _folder(workspace) / _noted(workspace, uri)[0]
    with _writing(file), suppress(FileNotFoundError, NotADirectoryError):
        unlink(file, root=workspace.root)


def noted_places(workspace: Workspace) -> list[str]:
    """Return the places that tables were written to, except the default one.

    Only those that end with a name of ours count: a cloned workspace could name tables of others.
    """
    try:
        names = listing(_folder(workspace), root=workspace.root)
    except PathError:
        return []
    kept = (_content(workspace, name) for name in names if name != _NAME)
    own = (place for place in kept if _OWN.fullmatch(place[-_OWN_LENGTH:]))
    return [place if "://" in place else str(workspace.root / place) for place in own]


def default_place(workspace: Workspace) -> str:
    """Return where a table is if the settings do not say."""
    return str(workspace.private / FOLDER)


def _folder(workspace: Workspace) -> Path:
    return workspace.private / FOLDER / _PLACES


def _noted(workspace: Workspace, uri: str) -> tuple[str, str]:
    """Return the file that notes a place, and what it says: what lies in the workspace moves with it."""
    inside = "://" not in uri and Path(uri).is_relative_to(workspace.root)
    place = Path(uri).relative_to(workspace.root).as_posix() if inside else uri
    return hashlib.sha256(place.encode(errors="surrogatepass")).hexdigest()[:16], place


def _content(workspace: Workspace, name: str) -> str:
    try:
        content = read(_folder(workspace) / name, _LONGEST, root=workspace.root)
        return (content or b"").decode().strip()
    except (OSError, ValueError):
        return ""


def _write(workspace: Workspace, name: str, content: str) -> None:
    file = _folder(workspace) / name
    if exists(file, root=workspace.root):
        return
    ensure_private(workspace)
    with _writing(file):
        make_folders(file.parent, workspace.root)
        create(file, content + "\n", PRIVATE_FILE, root=workspace.root)


@contextmanager
def _writing(file: Path) -> Iterator[None]:
    """Raise what the system refuses inside the block as an error of ours."""
    try:
        yield
    except OSError as error:
        raise StoreReadOnly(
            f"the folder {str(file.parent)!r} cannot be written: {reason_of(error)}",
            todo="Check its permissions and the space on the disk",
        ) from error


def uri_of(workspace: Workspace, settings: Settings) -> str:
    """Return where the table of a workspace is: a folder of its own, also where several share one place."""
    given = settings.facts.uri
    if not given:
        return default_place(workspace)
    name = _content(workspace, _NAME)
    random = name if _NAMED.fullmatch(name) else ""
    own = hashlib.sha256(os.fsencode(workspace.root) + random.encode()).hexdigest()[:12]
    if _REMOTE.match(given):
        if not given.startswith(_SERVICES) or not given.partition("://")[2].strip("/"):
            raise SettingsError(
                "facts.uri names no place that a table can be kept in",
                todo="Set it to a folder, to s3://bucket/folder or to gs://bucket/folder",
            )
        return f"{given.rstrip('/')}/{own}"
    folder = (workspace.root / expand_home(given)).resolve()
    if contains(workspace.root / "memory", folder):
        raise SettingsError(f"facts.uri {given!r} names a place of notes", todo="Set it to another folder")
    return str(folder / own)


def is_remote(uri: str) -> bool:
    """Return whether a table is kept by a service and not in a folder of this machine."""
    return uri.startswith(_SERVICES)


def folder_of(uri: str) -> Path:
    """Return the folder of the stamp: that of the table, or one of this machine for a table elsewhere."""
    if is_remote(uri):
        return user_state_dir() / FOLDER / hashlib.sha256(uri.encode()).hexdigest()[:16]
    return Path(uri)


def make_folder(uri: str) -> None:
    """Make the folder of the stamp; a link of its name, from a cloned workspace, is not followed."""
    folder = folder_of(uri)
    refuse_link(folder)
    ensure_folder(folder)


def lock_of(uri: str) -> WriterLock:
    """Return the lock under which a table is changed."""
    return WriterLock(folder_of(uri) / _LOCK, "the table of the facts")


def stamp_of(uri: str) -> Stamp | None:
    """Return the stamp of a table; nothing if there is none that can be read."""
    try:
        said = json.loads((folder_of(uri) / _STAMP).read_text(encoding="utf-8"))
        if said["format"] != _FORMAT:
            return None
        version, token = int(said["version"]), str(said["token"])
        state, count, lacking = str(said["state"]), int(said["count"]), tuple(map(int, said["lacking"]))
        return Stamp(state, count, lacking, version, token, float(said["time"]), float(said["seconds"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_stamp(uri: str, stamp: Stamp) -> None:
    """Say what a table was written from, once it is whole."""
    file = folder_of(uri) / _STAMP
    with _writing(file):
        create(file, json.dumps({"format": _FORMAT, **asdict(stamp)}, indent=1) + "\n", PRIVATE_FILE)


def remove_stamp(uri: str) -> None:
    """Say that a table may not be trusted."""
    file = folder_of(uri) / _STAMP
    with _writing(file), suppress(FileNotFoundError):
        file.unlink()
        sync_folder(file.parent)
