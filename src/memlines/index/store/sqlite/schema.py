"""The tables, made and changed by numbered steps.

`meta`             what the index was made with
`files`            what each file looked like when it was read
`chunks`           the text, once
`chunk_days`       the days of its entries, unless its path or heading says them
`chunks_fts`       its words; without a copy of the text
`spaces`           the vector spaces it has vectors in; those of later ones are in tables with a number
`chunks_vec`       its vectors; a plain table or one of sqlite-vec
`chunks_sentences` the vectors of its sentences, two bits a number
`tails`            where the end of each transcript begins, from which it is read on
`batches`          what a provider was handed to embed and has not returned yet
`embedding_cache`  vectors of texts that no chunk has, or not yet, so that nothing is embedded twice
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from memlines.errors import StoreDamaged
from memlines.index.store.sqlite.db import APPLICATION_ID, Connection, transaction
from memlines.index.store.sqlite.shorten import drop_one_bit_vectors, shorten_vectors

_FIRST = """
CREATE TABLE meta(
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE files(
  path TEXT PRIMARY KEY,
  source TEXT NOT NULL,
  hash TEXT NOT NULL,
  size INTEGER NOT NULL,
  mtime_ns INTEGER NOT NULL,
  inode INTEGER NOT NULL,
  settled INTEGER NOT NULL,
  problem TEXT,
  failed INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;

-- AUTOINCREMENT: a number is never used twice, so words and vectors cannot point at a successor.
CREATE TABLE chunks(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  path TEXT NOT NULL,
  source TEXT NOT NULL,
  start_line INTEGER NOT NULL,
  end_line INTEGER NOT NULL,
  hash TEXT NOT NULL,
  model TEXT NOT NULL,
  heading TEXT NOT NULL,
  language TEXT NOT NULL,
  text TEXT NOT NULL,
  updated_at INTEGER NOT NULL
);
CREATE INDEX idx_chunks_path ON chunks(path);

CREATE TABLE embedding_cache(
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  provider_key TEXT NOT NULL,
  hash TEXT NOT NULL,
  embedding BLOB NOT NULL,
  dims INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY(provider, model, provider_key, hash)
);
CREATE INDEX idx_embedding_cache_updated_at ON embedding_cache(updated_at);

-- Holds the terms of text/terms.py, separated by blanks, so its own tokeniser only has to split them. The
-- terms are stems in one language, whose mark is beside them. An index that was made before there were marks
-- has two columns, and is replaced by one with three because of the version of its terms.
CREATE VIRTUAL TABLE chunks_fts USING fts5(
  words, title, language,
  content='', contentless_delete=1,
  tokenize="ascii tokenchars '_'"
);
CREATE VIRTUAL TABLE chunks_terms USING fts5vocab(chunks_fts, row);
"""

_NEEDED = frozenset({"meta", "files", "chunks", "embedding_cache", "chunks_fts", "chunks_terms"})
"""Tables of every version; where one is missing, the index is not whole."""

_SECOND = """
-- The headings of transcripts begin with their day; questions about some days look there.
CREATE INDEX idx_chunks_heading ON chunks(heading) WHERE source = 'sessions';
"""

_THIRD = """
CREATE TABLE spaces(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  provider_key TEXT NOT NULL,
  state TEXT NOT NULL CHECK(state IN ('serving', 'filling', 'kept')),
  dims INTEGER,
  answers_as TEXT NOT NULL DEFAULT '',
  note TEXT NOT NULL DEFAULT '',
  UNIQUE(provider, model, provider_key)
);

-- Until now what the index was made with named its one space; how sentences are cut was another field.
UPDATE embedding_cache SET provider_key = provider_key || (
  SELECT '+sentences' || json_extract(value, '$.sentences') FROM meta WHERE key = 'identity'
) WHERE (SELECT json_extract(value, '$.sentences') FROM meta WHERE key = 'identity') > 0;
INSERT INTO spaces(number, provider, model, provider_key, state)
SELECT 1, json_extract(value, '$.provider'), json_extract(value, '$.model'),
  json_extract(value, '$.provider_key') ||
    iif(json_extract(value, '$.sentences') > 0, '+sentences' || json_extract(value, '$.sentences'), ''),
  'serving'
FROM meta WHERE key = 'identity' AND json_extract(value, '$.provider') <> 'none';

-- A chunk is the same, whichever model makes its vector.
ALTER TABLE chunks DROP COLUMN model;

-- Where the last stretch of each transcript begins, which is read again when the transcript grows.
CREATE TABLE tails(
  path TEXT PRIMARY KEY,
  line INTEGER NOT NULL,
  position INTEGER NOT NULL,
  mark TEXT NOT NULL,
  heading TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE batches(
  token TEXT PRIMARY KEY,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  provider_key TEXT NOT NULL,
  created_at REAL NOT NULL,
  entry TEXT NOT NULL
) WITHOUT ROWID;
"""

_FOURTH = """
-- On which lines of each transcript secrets first appear. It was not recorded for the transcripts that are
-- known, so they are read whole once more.
DELETE FROM tails;
ALTER TABLE tails ADD COLUMN secrets TEXT NOT NULL DEFAULT '[]';
"""

_FIFTH = """
-- The line of its transcript that each turn of a chunk is on, as JSON; nothing for notes.
ALTER TABLE chunks ADD COLUMN turns TEXT NOT NULL DEFAULT '';
"""

_SIXTH = """
-- The days of the entries in a chunk, and which chunks have entries of a day. To find those of the chunks
-- there are, the index is rebuilt, which keeps its vectors.
ALTER TABLE chunks ADD COLUMN days TEXT NOT NULL DEFAULT '';
CREATE TABLE chunk_days(
  day TEXT NOT NULL,
  chunk INTEGER NOT NULL,
  PRIMARY KEY(day, chunk)
) WITHOUT ROWID;
"""

_EIGHTH = """
-- A chunk had a name, the hash of all that makes it, which nothing asks for.
CREATE TABLE unnamed(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  path TEXT NOT NULL,
  source TEXT NOT NULL,
  start_line INTEGER NOT NULL,
  end_line INTEGER NOT NULL,
  hash TEXT NOT NULL,
  heading TEXT NOT NULL,
  language TEXT NOT NULL,
  text TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  turns TEXT NOT NULL DEFAULT '',
  days TEXT NOT NULL DEFAULT ''
);
INSERT INTO unnamed
SELECT number, path, source, start_line, end_line, hash, heading, language, text, updated_at, turns, days
FROM chunks;
DELETE FROM sqlite_sequence WHERE name = 'unnamed';
INSERT INTO sqlite_sequence SELECT 'unnamed', seq FROM sqlite_sequence WHERE name = 'chunks';
DROP TABLE chunks;
ALTER TABLE unnamed RENAME TO chunks;
CREATE INDEX idx_chunks_path ON chunks(path);
CREATE INDEX idx_chunks_heading ON chunks(heading) WHERE source = 'sessions';
-- To find a chunk with the same text, whose vector will do.
CREATE INDEX idx_chunks_hash ON chunks(substr(hash, 1, 12));
"""

_NINTH = """
-- A hash in half of the bytes; nothing asks when a chunk was written.
CREATE TABLE shorter(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  path TEXT NOT NULL,
  source TEXT NOT NULL,
  start_line INTEGER NOT NULL,
  end_line INTEGER NOT NULL,
  digest BLOB NOT NULL,
  hash TEXT AS (lower(hex(digest))),
  heading TEXT NOT NULL,
  language TEXT NOT NULL,
  turns TEXT NOT NULL,
  days TEXT NOT NULL,
  text TEXT NOT NULL
);
INSERT INTO shorter(number, path, source, start_line, end_line, digest, heading, language, turns, days, text)
SELECT number, path, source, start_line, end_line, unhex(hash), heading, language, turns, days, text
FROM chunks;
DELETE FROM sqlite_sequence WHERE name = 'shorter';
INSERT INTO sqlite_sequence SELECT 'shorter', seq FROM sqlite_sequence WHERE name = 'chunks';
DROP TABLE chunks;
ALTER TABLE shorter RENAME TO chunks;
CREATE INDEX idx_chunks_path ON chunks(path);
CREATE INDEX idx_chunks_heading ON chunks(heading) WHERE source = 'sessions';
-- To find a chunk with the same text, whose vector will do.
CREATE INDEX idx_chunks_digest ON chunks(substr(digest, 1, 6));
"""

MIGRATIONS: tuple[str | Callable[[Connection], None], ...] = (
    _FIRST,
    _SECOND,
    _THIRD,
    _FOURTH,
    _FIFTH,
    _SIXTH,
    shorten_vectors,
    _EIGHTH,
    _NINTH,
    drop_one_bit_vectors,
)
"""Step n brings a database from version n to n + 1. Steps are only ever added."""


def migrate(connection: Connection) -> None:
    """Bring a database to the current version, in one transaction; the caller holds the writer lock."""
    if version_of(connection) == len(MIGRATIONS):
        return
    with transaction(connection):
        # Asked again inside the transaction: the first answer may have been overtaken.
        version = version_of(connection)
        for step in MIGRATIONS[version:]:
            if isinstance(step, str):
                connection.execute(step)
            else:
                step(connection)
        connection.execute(f"PRAGMA user_version={len(MIGRATIONS)}")


def version_of(connection: Connection) -> int:
    """Return the schema version of a database; 0 is a new one."""
    return int(connection.pragma("user_version"))


def check_ours(connection: Connection, path: Path) -> None:
    """Raise `StoreDamaged` unless the database is new, or an index this version understands."""
    # One statement: between two, another program may write the first tables and their version.
    ((version, application, names),) = connection.execute(
        "SELECT user_version, application_id,"
        " (SELECT group_concat(name) FROM sqlite_schema WHERE type = 'table')"
        " FROM pragma_user_version, pragma_application_id"
    )
    tables = {*names.split(",")} if names else set()
    if version > len(MIGRATIONS) and application == APPLICATION_ID:
        raise StoreDamaged(
            f"the index {str(path)!r} was made by a newer version of Memlines",
            todo="Upgrade Memlines, or run 'memlines sync' to rebuild the index with this version",
        )
    is_new = version == 0 and application in (0, APPLICATION_ID) and not tables
    is_ours = version > 0 and application == APPLICATION_ID and tables >= _NEEDED
    if not (is_new or is_ours):
        raise StoreDamaged(
            f"{str(path)!r} is a database of another program, or not whole",
            todo="Run 'memlines sync' to set it aside and build the index",
        )
