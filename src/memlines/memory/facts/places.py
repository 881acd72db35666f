"""In which places tables of a workspace's facts were ever written.

A setting can be changed at any time, and a table that nobody uses any more still holds texts, so forgetting
has to know of all of them. Each place has a small file in the private folder, which is written before the
table. A workspace also has a random name of its own, so that those of two machines never share a table even
if their paths are the same.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

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
from memlines.settings import Settings
from memlines.types import Space

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


_FORMAT = 2
_RECORD = "record.json"
_LOCK = "table.lock"
_REMOTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_SERVICES = ("s3://", "gs://")


@dataclass(frozen=True, slots=True)
class Record:
    """What a table was made of."""

    space: Space
    number: int
    """The number of the space in the index; a space that was emptied and filled again has another."""
    made_of: tuple[str, str, int]
    """Tells the state of the note in the index, as `shelf.state_of` does."""
    note: str
    """Tells the state of the facts in the note."""
    rows: str
    """Tells what the table holds."""
    count: int
    waiting: int
    """How many facts it lacks: those that had no vector yet, and those that are cut into pieces."""
    lacking: tuple[str, ...]
    """Their ids; none of them if they are too many to be compared beside the table."""
    version: int
    token: str
    """What the table has in itself; no other table has the same."""
    changes: int
    """How often it was changed since it was last tidied up."""


def uri_of(workspace: Workspace, settings: Settings) -> str:
    """Return where the table of a workspace is: a folder of its own, also where several share one place."""
    given = settings.facts.uri
    if not given:
        return default_place(workspace)
    own = own_name(workspace)
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
    """Tell whether a table is kept by a service and not in a folder of this machine."""
    return uri.startswith(_SERVICES)


def folder_of(uri: str) -> Path:
    """Return the folder of the record: that of the table, or one of this machine for a table elsewhere."""
    if is_remote(uri):
        return user_state_dir() / FOLDER / hashlib.sha256(uri.encode()).hexdigest()[:16]
    return Path(uri)


def make_folder(uri: str) -> None:
    """Make the folder of the record; a link of its name, from a cloned workspace, is not followed."""
    folder = folder_of(uri)
    refuse_link(folder)
    ensure_folder(folder)


def lock_of(uri: str) -> WriterLock:
    """Return the lock that whoever changes a table holds."""
    return WriterLock(folder_of(uri) / _LOCK, "the table of the facts")


def record_of(uri: str) -> Record | None:
    """Return what a table was made of; nothing if that is not known, or cannot be read."""
    try:
        told = json.loads((folder_of(uri) / _RECORD).read_text(encoding="utf-8"))
        return _parsed(told) if told["format"] == _FORMAT else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_record(uri: str, record: Record) -> None:
    """Say what a table was made of, once it is whole."""
    _attempt(uri, lambda file: create(file, _written(record), PRIVATE_FILE))


def remove_record(uri: str) -> None:
    """Say that a table is not to be trusted."""

    def remove(file: Path) -> None:
        with suppress(FileNotFoundError):
            file.unlink()
            sync_folder(file.parent)

    _attempt(uri, remove)


def _attempt(uri: str, work: Any) -> None:
    file = folder_of(uri) / _RECORD
    try:
        work(file)
    except OSError as error:
        raise StoreReadOnly(
            f"the folder {str(file.parent)!r} cannot be written: {reason_of(error)}",
            todo="Check its permissions and the space on the disk",
        ) from error


def _written(record: Record) -> str:
    return json.dumps({"format": _FORMAT, **asdict(record)}, indent=1) + "\n"


def _parsed(told: dict[str, Any]) -> Record:
    birth, digest, last = told["made_of"]
    return Record(
        Space(**told["space"]),
        int(told["number"]),
        (str(birth), str(digest), int(last)),
        str(told["note"]),
        str(told["rows"]),
        int(told["count"]),
        int(told["waiting"]),
        tuple(map(str, told["lacking"])),
        int(told["version"]),
        str(told["token"]),
        int(told["changes"]),
    )
