"""What the fault tests share: the acknowledged write, entries that show a tear, and what must hold after."""

from __future__ import annotations

import hashlib
import re
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import apsw

from memlines.embed.base import Provider
from memlines.files.atomic import TEMPORARY_PREFIX
from memlines.index.store.sqlite.index import Index
from memlines.memory.memory import Memory
from memlines.types import Report
from tests.indexes import assert_sound, expected, hashes, index_file, indexed, left_over, sync

PROVIDER_VARIABLE = "MEMLINES_EMBEDDINGS__PROVIDER"
PROVIDERS = ("none", "builtin")
"""The tests run with each: what heals without vectors has to heal with those of the default provider."""

_NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
_LABEL = f"- {_NOON:%Y-%m-%d}: "
_ENTRY = re.compile(rf"^{_LABEL}(?P<name>[a-z0-9-]+) (?P<body>.*) (?P<digest>[0-9a-f]{{16}})$")


def remember(workspace: Path, path: str, line: str) -> None:
    """Write an entry into a note; it is acknowledged when this returns."""
    with Memory(workspace) as memory:
        memory.remember(line.removeprefix(_LABEL), to=path, force=True, now=_NOON)


# Entries that show whether they are whole


def entry(name: str, words: int = 12) -> str:
    """Return an entry as it stands in a note; it ends with a digest of itself."""
    body = " ".join(f"{name}w{number}" for number in range(words))
    return f"{_LABEL}{name} {body} {_digest(name, body)}"


def whole_entries(text: str) -> list[str]:
    """Return the names of the entries of a note, which must be whole, under its title."""
    title, *lines = [line for line in text.split("\n") if line]
    assert title.startswith("# ")
    assert text.endswith("\n")
    return [_name_of(line) for line in lines]


def _name_of(line: str) -> str:
    found = _ENTRY.fullmatch(line)
    assert found, f"a torn entry: {line!r}"
    assert found["digest"] == _digest(found["name"], found["body"]), f"a torn entry: {line!r}"
    return found["name"]


def _digest(name: str, body: str) -> str:
    return hashlib.sha256(f"{name} {body}".encode()).hexdigest()[:16]


# What must hold after any trouble


def check_healed(workspace: Path, provider: Provider | None = None) -> Report:
    """Sync once; the index must then be sound and equal one that is made anew, the notes as they were."""
    before = hashes(workspace)
    report = synced(workspace, provider)
    assert hashes(workspace) == before
    assert report.failed == ()
    check_index(workspace)
    assert unfinished(workspace) == []
    return report


def synced(workspace: Path, provider: Provider | None = None) -> Report:
    """Sync as a user would, or with the vectors of a provider that needs no model."""
    if provider is not None:
        return sync(workspace, provider)
    with Memory(workspace) as memory:
        return memory.sync()


def check_index(workspace: Path) -> None:
    """The index is sound and holds what one holds that is made anew from the same files."""
    assert_sound(index_file(workspace))
    assert indexed(workspace) == expected(workspace)
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder) / "fresh.sqlite"
        with Memory(workspace, {"store.path": str(fresh)}) as memory:
            memory.sync()
        assert content_of(index_file(workspace)) == content_of(fresh)


def content_of(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Return what an index says of files, chunks and words, without what differs from run to run."""
    index = Index.reader(path)
    assert index is not None
    rows = index.connection.execute
    try:
        return {
            "files": list(rows("SELECT path, hash, size, mtime_ns, problem FROM files ORDER BY path")),
            "chunks": list(
                rows("SELECT path, start_line, end_line, heading, language, text FROM chunks ORDER BY 1, 2")
            ),
            "words": list(rows("SELECT term, doc, cnt FROM chunks_terms ORDER BY term")),
        }
    finally:
        index.close()


def integrity(path: Path) -> str:
    """Return what SQLite says of a database as it lies there."""
    connection = apsw.Connection(str(path))
    try:
        return str(connection.pragma("integrity_check"))
    finally:
        connection.close()


def unfinished(workspace: Path) -> list[str]:
    """Return every temporary file of the workspace."""
    return [*(path.name for path in workspace.rglob(f"{TEMPORARY_PREFIX}*")), *left_over(workspace)]
