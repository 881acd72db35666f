"""Tell an index that was made here from one that came from elsewhere.

An index that came with a cloned or copied folder may hold other text than the notes beside it. So every
index bears two marks, made with a secret that only this user on this machine has: one says that it was made
by this user, the other that it was made in this very file. A copy has the first at most.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import stat
from pathlib import Path
from typing import Literal

from memlines.errors import PathError, StoreForeign
from memlines.files.atomic import create, read
from memlines.folders import PRIVATE_FILE, make_own_folder
from memlines.index.store.sqlite.db import Connection
from memlines.paths import user_state_dir

Origin = Literal["new", "here", "shared", "moved", "elsewhere", "unknown"]
"""Where an index was made: nowhere yet, it holds nothing; in this file; by another member of the group whose
folder this is; by this user in another file; by another user; or unknown, because the secret can be
neither read nor written."""

_TOKEN = "origin"
_BY_USER = "origin_user"
_IN_FILE = "origin_file"
_KEYS = (_TOKEN, _BY_USER, _IN_FILE)
_SECRET_BYTES = 32

_secrets: dict[Path, bytes] = {}


def secret_file() -> Path:
    """Return where the secret of this user on this machine is kept."""
    return user_state_dir() / "index-secret"


def origin_of(connection: Connection, path: Path) -> Origin:
    """Tell where an index was made."""
    secret = _secret()
    if secret is None:
        return "unknown"
    # Asked before the marks are read: another process may fill a new index in between, and marks it first.
    tables = ("files", "chunks", "chunks_fts", "embedding_cache")
    holds_anything = any(connection.execute(f"SELECT 1 FROM {table} LIMIT 1").get for table in tables)
    marks = dict(connection.execute("SELECT key, value FROM meta WHERE key IN (?, ?, ?)", _KEYS))
    token = str(marks.get(_TOKEN, ""))
    if token and _is_mark(marks.get(_IN_FILE), _file_mark(secret, token, path)):
        return "here"
    if _is_shared(path):
        return "shared"
    if token and _is_mark(marks.get(_BY_USER), _mark(secret, "user", token)):
        return "moved"
    return "elsewhere" if holds_anything else "new"


def mark(connection: Connection, path: Path) -> None:
    """Mark an index as made here, in the file that has this path or will have it."""
    secret = _secret()
    if secret is None:
        return
    token = os.urandom(16).hex()
    values = (token, _mark(secret, "user", token), _file_mark(secret, token, path))
    connection.executemany(
        "INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)", list(zip(_KEYS, values, strict=True))
    )


def take_over(old: Connection, new: Connection) -> None:
    """Give a new index the marks of the one that it replaces in the same file."""
    rows = list(old.execute("SELECT key, value FROM meta WHERE key IN (?, ?, ?)", _KEYS))
    new.execute("DELETE FROM meta WHERE key IN (?, ?, ?)", _KEYS)
    new.executemany("INSERT INTO meta(key, value) VALUES(?, ?)", rows)


def refuse_foreign(origin: Origin, path: Path) -> None:
    """Raise if an index was made elsewhere."""
    if origin == "elsewhere":
        raise StoreForeign(
            f"the index {str(path)!r} was not made by this user on this machine",
            todo="Run 'memlines sync' to set it aside and build the index from the notes",
        )


def _secret() -> bytes | None:
    """Return the secret, made if there is none yet; nothing if it can be neither read nor written."""
    file = secret_file()
    known = _secrets.get(file)
    if known is not None:
        return known
    try:
        content = read(file, _SECRET_BYTES)
        if content is None:
            make_own_folder(file.parent)
            create(file, os.urandom(_SECRET_BYTES), PRIVATE_FILE)
            content = read(file, _SECRET_BYTES)
    except (OSError, PathError):
        return None
    if content is None or len(content) != _SECRET_BYTES:
        return None
    _secrets[file] = content
    return content


def _file_mark(secret: bytes, token: str, path: Path) -> str:
    """Return the mark of a file: a copy has another number, and a moved folder another path."""
    return _mark(secret, "file", token, os.path.realpath(path), str(path.stat().st_ino))


def _mark(secret: bytes, *parts: str) -> str:
    return hmac.new(secret, "\0".join(parts).encode("utf-8", "surrogateescape"), hashlib.sha256).hexdigest()


def _is_mark(found: object, wanted: str) -> bool:
    return isinstance(found, str) and hmac.compare_digest(found.encode(), wanted.encode())


def _is_shared(path: Path) -> bool:
    """Tell whether another member of one of our groups made the file, in a folder that the group writes to.

    Cloning, copying and unpacking make files of one's own, so what came that way is never taken for shared.
    """
    if os.name != "posix":
        return False
    folder, file = path.parent.stat(), path.stat()
    in_group = folder.st_gid in {os.getegid(), *os.getgroups()}
    return file.st_uid != os.geteuid() and in_group and bool(folder.st_mode & stat.S_IWGRP)
