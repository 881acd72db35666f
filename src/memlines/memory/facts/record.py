"""Where the table of the facts is, and what is known of it without asking it.

The record beside a table says from which state of the note and of the index it was made. It is removed
before the table is touched and written when the table is whole again, so a table without a record, or of
another version or another token than its record says, is one that nobody may trust. A table in a bucket has
its record on this machine: what another one wrote there is made anew.
"""

from __future__ import annotations

import hashlib
import json
import re
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from memlines.beneath import PRIVATE_FILE
from memlines.errors import SettingsError, StoreReadOnly, reason_of
from memlines.files.atomic import create, refuse_link, sync_folder
from memlines.files.private import ensure_folder
from memlines.locks import WriterLock
from memlines.memory.facts.places import FOLDER, default_place, own_name
from memlines.paths import Workspace, contains, expand_home, user_state_dir
from memlines.settings import Settings
from memlines.types import Space

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
