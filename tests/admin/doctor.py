"""What the tests of the doctor share: looking, repairing, and doing damage."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import time
from pathlib import Path

import apsw

from memlines.admin.doctor.examine import Examination, examine, examine_and_repair
from memlines.admin.doctor.findings import Finding
from tests.indexes import index_file, notes, silent, sync, write

WORDS_ONLY = {"embeddings.provider": "none"}

_PAGE = 4096


def make_synced(workspace: Path) -> Path:
    """Fill a workspace and index it by words."""
    write(workspace, notes(25, lines=60))
    sync(workspace)
    return workspace


def look(workspace: Path, **options: bool) -> Examination:
    return examine(workspace, WORDS_ONLY, **options)


def repair(workspace: Path, **options: bool) -> Examination:
    return examine_and_repair(workspace, WORDS_ONLY, progress=silent, **options)


def wrong(result: Examination, check: str = "") -> list[Finding]:
    """Return what is not ok, of one check or of all."""
    return [item for item in result.findings if item.level != "ok" and check in ("", item.check)]


def finding_of(workspace: Path, check: str) -> Finding:
    """Return the one finding of a check, right or wrong."""
    (finding,) = [item for item in look(workspace).findings if item.check == check]
    return finding


def only(result: Examination, check: str) -> Finding:
    """Return the one thing that a check found wrong."""
    (finding,) = wrong(result, check)
    return finding


def execute(workspace: Path, sql: str, *values: object) -> None:
    """Change the index behind our back."""
    connection = apsw.Connection(str(index_file(workspace)))
    connection.execute(sql, values)
    connection.close()


def everything(folder: Path) -> dict[str, str]:
    """Return what every file holds, but for SQLite's shared memory and an empty log of any reader."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and not path.name.endswith("-shm")
        and not (path.name.endswith("-wal") and not path.stat().st_size)
    }


def make_old(path: Path) -> None:
    an_hour_ago = time.time() - 3600
    os.utime(path, (an_hour_ago, an_hour_ago))


# Damage


def cut_off(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def middle_zeroed(path: Path) -> None:
    with path.open("r+b") as stream:
        stream.seek(_PAGE)
        stream.write(bytes(path.stat().st_size - 2 * _PAGE))


def text_instead(path: Path) -> None:
    path.write_text("this is no index\n", encoding="utf-8")


def folder_instead(path: Path) -> None:
    path.unlink()
    path.mkdir()


def foreign_instead(path: Path) -> None:
    path.unlink()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE theirs(a)")
    connection.execute("INSERT INTO theirs VALUES(zeroblob(10000))")
    connection.commit()
    connection.close()


def made_by_a_newer_version(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.pragma("user_version", 99)
    connection.close()


def words_garbled(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(
        "UPDATE chunks_fts_data SET block = substr(block, 1, 50) || zeroblob(length(block) - 50)"
        " WHERE length(block) > 200"
    )
    connection.close()
