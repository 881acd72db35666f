"""What the tests of store and sync share: making notes, syncing them, looking into the index."""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest

from memlines.embed.base import Provider, embed_documents, embed_query, to_blobs
from memlines.embed.codec import decode, encode, sentence_size
from memlines.files.scan import discover
from memlines.index.store.sqlite import files, spaces
from memlines.index.store.sqlite.chunks import match_words
from memlines.index.store.sqlite.index import Index
from memlines.index.sync import run
from memlines.index.sync.job import Job
from memlines.paths import Workspace
from memlines.settings import load
from memlines.text.chunk import chunk_text, text_hash
from memlines.text.days import log_day
from memlines.text.merges import without_repeats
from memlines.text.terms import query_terms
from memlines.types import Chunk, Document, Fingerprint, Progress, Report

REPOSITORY = Path(__file__).parent.parent
IDENTITY = {"vector_engine": "matrix"}
_LONG_AGO = 1_000_000_000

Lines = tuple[int, int, str]
"""First line, last line and text of a chunk."""


def silent(completed: int, total: int, label: str) -> None:
    """Report progress to nobody."""


# Notes


def write(workspace: Path, notes: Mapping[str, str]) -> None:
    """Write notes and give them a time so old that their fingerprints are trusted at once."""
    for name, text in notes.items():
        path = workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        settle(path)


def settle(path: Path) -> None:
    """Give a file a time of its own that is long gone."""
    when = _LONG_AGO * 10**9 + time.monotonic_ns()
    os.utime(path, ns=(when, when))


def notes(count: int, *, lines: int = 3) -> dict[str, str]:
    """Return notes that all hold the word `shared` and each a word of its own."""
    return {
        f"memory/n{number}.md": "".join(f"shared line {line} of own{number}\n" for line in range(lines))
        for number in range(count)
    }


def hashes(folder: Path) -> dict[str, str]:
    """Return what every file below a folder holds, without the private folder."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".memory" not in path.parts
    }


# Syncing


def index_file(workspace: Path) -> Path:
    """Return where the index of a workspace is."""
    return workspace / ".memory" / "index.sqlite"


def job(
    workspace: Path,
    provider: Provider | None = None,
    settings: Mapping[str, Any] | None = None,
    *,
    progress: Progress = silent,
    force: bool = False,
    embed_limit: int | None = None,
) -> Job:
    """Return what a sync of a workspace is to do."""
    place = Workspace.at(workspace)
    loaded = load(place, settings).settings
    return Job(place, loaded, provider, index_file(workspace), progress, force, embed_limit)


def sync(
    workspace: Path,
    provider: Provider | None = None,
    settings: Mapping[str, Any] | None = None,
    *,
    progress: Progress = silent,
    force: bool = False,
    embed_limit: int | None = None,
) -> Report:
    """Sync a workspace; without a provider, by words only."""
    wanted = job(workspace, provider, settings, progress=progress, force=force, embed_limit=embed_limit)
    return run.run(replace(wanted, wait_seconds=60))


def program(body: str) -> list[str]:
    """Return the command line of a program that may use this module."""
    start = f"import sys; sys.path.insert(0, {str(REPOSITORY)!r})\n"
    return [sys.executable, "-c", start + body]


@contextmanager
def one_origin() -> Iterator[None]:
    """Take every index for one that was made here, for tests that copy indexes to damage them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "_secret", lambda: b"the same everywhere")
        patch.setattr(files, "_marks", lambda secret, token, path: [token, token])
        yield


# Looking into an index


@contextmanager
def reading(workspace: Path) -> Iterator[Index]:
    """Open the index of a workspace for reading."""
    index = Index.reader(index_file(workspace))
    assert index is not None
    try:
        yield index
    finally:
        index.close()


def indexed(workspace: Path) -> dict[str, list[Lines]]:
    """Return the chunks the index holds, by file."""
    with reading(workspace) as index:
        return chunks_in(index)


def chunks_in(index: Index) -> dict[str, list[Lines]]:
    """Return the chunks of an open index, by file."""
    found: dict[str, list[Lines]] = {}
    rows = index.connection.execute(
        "SELECT path, start_line, end_line, text FROM chunks ORDER BY path, start_line, end_line, text"
    )
    for path, start, end, text in rows:
        found.setdefault(path, []).append((start, end, text))
    return found


def expected(workspace: Path, tokens: int = 400, overlap: int = 80) -> dict[str, list[Lines]]:
    """Return the chunks the index should hold, from the files alone."""
    found: dict[str, list[Lines]] = {}
    for file in discover(Workspace.at(workspace), (), 10**7).files:
        text = Path(file.real).read_text(encoding="utf-8")
        # What a daily log says twice is indexed once.
        chunks = chunk_text(without_repeats(text) if log_day(file.path) else text, tokens, overlap)
        if chunks:
            lines = [(chunk.start_line, chunk.end_line, chunk.text) for chunk in chunks]
            found[file.path] = list(dict.fromkeys(lines))
    return found


def lengthen_vectors(path: Path) -> None:
    """Make an index as version 6 of its tables had it: four bytes a number, and one in sentences."""
    with closing(apsw.Connection(str(path))) as old:
        rows: list[Any] = old.execute("SELECT chunk, embedding FROM chunks_vec").fetchall()
        dims = len(rows[0][1])
        old.execute(
            "CREATE TABLE named(number INTEGER PRIMARY KEY AUTOINCREMENT, path, source, start_line, end_line,"
            " hash, heading, language, text, updated_at DEFAULT 0, turns, days);"
            "INSERT INTO named(number, path, source, start_line, end_line, hash, heading, language, text,"
            " turns, days) SELECT number, path, source, start_line, end_line, hash, heading, language, text,"
            " turns, days FROM chunks;"
            "DROP TABLE chunks; ALTER TABLE named RENAME TO chunks; DROP TABLE chunks_vec;"
            "CREATE TABLE chunks_vec(number INTEGER PRIMARY KEY AUTOINCREMENT,"
            " chunk INTEGER NOT NULL UNIQUE, embedding BLOB NOT NULL)"
        )
        for chunk, vector in rows:
            decoded = decode([vector])
            old.execute("INSERT INTO chunks_vec(chunk, embedding) VALUES(?, ?)", (chunk, *to_blobs(decoded)))
            small = np.round(decoded * 127).astype(np.int8).tobytes()
            count = old.execute(
                "SELECT length(embedding) FROM chunks_sentences WHERE chunk = ?", (chunk,)
            ).get
            sentences = small * (int(count or 0) // sentence_size(dims))
            old.execute("UPDATE chunks_sentences SET embedding = ? WHERE chunk = ?", (sentences, chunk))
        old.pragma("user_version", 6)


def found_by(index: Index, *query: str) -> list[str]:
    """Return the files with chunks that hold all of some words in any form, best first."""
    languages = index.state.languages or ("",)
    groups = [" OR ".join(f'"{term}"' for term in query_terms(word, languages)) for word in query]
    expression = " AND ".join(f"({group})" for group in groups)
    numbers = [number for number, _ in match_words(index.connection, expression, 10_000)]
    chunks = index.chunks(numbers)
    return list(dict.fromkeys(chunks[number].path for number in numbers))


def near(index: Index, provider: Provider, text: str, limit: int = 1) -> dict[str, float]:
    """Return the texts nearest to a text, with their cosines."""
    cosines = index.vectors.nearest(blob(provider, text), limit)
    return {chunk.text: cosines[number] for number, chunk in index.chunks(cosines).items()}


def blob(provider: Provider, text: str) -> bytes:
    """Return the vector of a text as it is asked for."""
    return to_blobs(embed_query(provider, text)[None, :])[0]


def encoded(provider: Provider, text: str) -> bytes:
    """Return the vector of a text as it is stored."""
    return encode(embed_documents(provider, [text]))[0]


def assert_sound(path: Path) -> None:
    """Check that a database is whole and its tables agree with each other."""
    connection = apsw.Connection(str(path))
    try:
        assert connection.pragma("integrity_check") == "ok"
        connection.execute("INSERT INTO chunks_fts(chunks_fts) VALUES('integrity-check')")
        chunks = [row[0] for row in connection.execute("SELECT number FROM chunks ORDER BY number")]
        worded = [row[0] for row in connection.execute("SELECT rowid FROM chunks_fts ORDER BY rowid")]
        assert worded == chunks
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema")}
        for entry in spaces.entries(connection):
            table, _ = spaces.tables_of(entry.number)
            if table in tables:
                held = {row[0] for row in connection.execute(f"SELECT chunk FROM {table}")}
                assert held <= set(chunks)
    finally:
        connection.close()


# Making an index by hand


def document(path: str, text: str) -> Document:
    """Return the text of a file as reading it would."""
    return Document(path, "memory", text, text_hash(text), Fingerprint(len(text), _LONG_AGO, 1))


def lines_of(text: str) -> list[Chunk]:
    """Return one chunk a line."""
    return [Chunk(number, number, line, text_hash(line)) for number, line in enumerate(text.splitlines(), 1)]


def serving_model(index: Index) -> str:
    """Return the model whose vectors answer."""
    now = index.state.serving
    return now.space.model if now else ""


def put(index: Index, path: str, text: str) -> list[int]:
    """Index a file with one chunk a line; return the numbers of its chunks."""
    index.put(document(path, text), lines_of(text))
    return numbers_of(index, path)


def numbers_of(index: Index, path: str) -> list[int]:
    """Return the numbers of a file's chunks."""
    rows = index.connection.execute("SELECT number FROM chunks WHERE path = ? ORDER BY number", (path,))
    return [row[0] for row in rows]


def left_over(workspace: Path, patterns: Iterable[str] = ("*.rebuild-*", "*.tmp*")) -> list[str]:
    """Return the temporary files in the private folder."""
    return [path.name for pattern in patterns for path in (workspace / ".memory").glob(pattern)]
