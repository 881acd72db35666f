"""The index: files, chunks and their words, read and written as plain values.

A file is written in one transaction, so a reader sees all of it or what was there before. Its vectors come
later (`vectors.py`); until then it is found by its words.

Most chunks of a long note are the same as before. A chunk that is the same on other lines stays where it is,
with its words and vectors, and only gets the new lines. For a transcript, the
start of its last stretch is kept, so that reading continues there when it grows.
"""

from __future__ import annotations

import itertools
import json
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from memlines.embed.codec import is_sound
from memlines.index.store.sqlite import cache, db, files
from memlines.index.store.sqlite.chunks import LANGUAGE_MARK
from memlines.index.store.sqlite.days import add_days, drop_days, write_days
from memlines.index.store.sqlite.db import Connection
from memlines.index.store.sqlite.reader import BIRTH, IDENTITY, LANGUAGES, IndexReader
from memlines.index.store.sqlite.schema import migrate, version_of
from memlines.index.store.sqlite.spaces import SpaceEntry
from memlines.records import dataclass
from memlines.text.chunk import text_hash
from memlines.types import Chunk, Document, IndexedFile, Spot, Tail

_GROUP = 256
"""Chunks whose vectors are copied at once."""

Move = tuple[int, Chunk]
"""A chunk that stays: its number, and its lines and days now."""


@dataclass(frozen=True, slots=True)
class Staying:
    """What stays of a file from which lines are taken.

    If the index holds the file with this `hash`, only the chunks on the lines in `gone` go. Otherwise all go
    that are not among its future `chunks`, which takes long to find out for a long note.
    """

    hash: str
    gone: Sequence[tuple[int, int]]
    chunks: Callable[[], Sequence[Chunk]]


@dataclass(frozen=True, slots=True)
class Change:
    """What a write changes of one file, worked out before: then only the disk can stop it halfway.

    These are the numbers of the chunks that go, those that stay on other lines or get other days, and the new
    ones, each with its language and the terms of its text and its title.
    """

    document: Document
    tail: Tail | None
    gone: list[int]
    moved: list[Move]
    new: list[tuple[Chunk, str, str, str]]


def compare(
    known: Iterable[tuple[Any, ...]], document: Document, chunks: Sequence[Chunk], language: str | None
) -> tuple[list[int], list[Move], list[Chunk]]:
    """Return what changes if a document is cut into these chunks: numbers that go, moves, new ones.

    Text, headings and language make the words and vectors of a chunk: if all are the same, so are they. It
    is the language of the document; without one, each chunk is in that of its text, which is the same then.
    """
    held: dict[tuple[str, ...], deque[tuple[int, int, int, str]]] = {}
    for number, first, last, digest, heading, source, spoken, days in known:
        same = (digest, heading, source, spoken if language is not None else "")
        held.setdefault(same, deque()).append((number, first, last, days))
    # Equal pieces of one long line are one answer, not two.
    single = {(chunk.start_line, chunk.end_line, chunk.hash): chunk for chunk in reversed(chunks)}
    cut = [*reversed(single.values())]
    if not held:
        return [], [], cut
    moved: list[Move] = []
    new: list[Chunk] = []
    for chunk in cut:
        alike = held.get((chunk.hash, chunk.heading, document.source, language or ""))
        if not alike:
            new.append(chunk)
            continue
        number, *before = alike.popleft()
        if before != [chunk.start_line, chunk.end_line, write_days(chunk.days)]:
            moved.append((number, chunk))
    return [number for alike in held.values() for number, *_ in alike], moved, new


def not_staying(connection: Connection, path: str, staying: Staying) -> list[int]:
    """Return the numbers of the chunks of a file that go if some of it stays."""
    known = connection.execute("SELECT hash FROM files WHERE path = ? AND problem IS NULL", (path,)).get
    if staying.gone and known == staying.hash:
        sql = "SELECT number FROM chunks WHERE path = ? AND start_line <= ? AND end_line >= ?"
        found: set[int] = set()
        for first, last in staying.gone:
            found.update(number for (number,) in connection.execute(sql, (path, last, first)))
        return sorted(found)
    kept = {(chunk.hash, chunk.heading) for chunk in staying.chunks()}
    rows = connection.execute("SELECT number, hash, heading FROM chunks WHERE path = ?", (path,))
    return [number for number, digest, heading in rows if (digest, heading) not in kept]


def tail_of(connection: Connection, path: str) -> Tail | None:
    """Return where to continue a transcript; nothing if it has to be read whole."""
    sql = "SELECT line, position, mark, heading, secrets FROM tails WHERE path = ?"
    for line, position, mark, heading, secrets in connection.execute(sql, (path,)):
        return Tail(line, position, mark, heading, tuple(Spot(*spot) for spot in json.loads(secrets)))
    return None


def put_tail(connection: Connection, path: str, tail: Tail | None) -> None:
    """Note where to continue a transcript, or that it has to be read whole; in the caller's transaction."""
    if tail is None:
        connection.execute("DELETE FROM tails WHERE path = ?", (path,))
    else:
        row = (path, *tail[:-1], json.dumps(tail.secrets))
        connection.execute("INSERT OR REPLACE INTO tails VALUES(?, ?, ?, ?, ?, ?)", row)


class Index(IndexReader):
    """An open index: a reader, or the one writer, which holds the writer lock."""

    keeps_vectors = False
    """Whether the vectors of chunks that go are put into the cache: a file that was moved or changed should
    not cost a call."""

    @classmethod
    def writer(cls, path: Path, new_identity: Mapping[str, Any]) -> Index:
        """Open an index for writing, making it with this identity if it is new."""
        with db.system_errors(path):
            files.check_file(path)
        connection = db.open_writer(path)
        with db.closing_on_error(connection), db.store_errors(path), db.system_errors(path):
            files.check_database(connection, path)
            origin = files.origin_of(connection, path) if version_of(connection) else "new"
            files.refuse_foreign(origin, path)
            migrate(connection)
            # Earlier versions kept a copy of the vectors beside the index. What is forgotten must not stay in
            # one that a power cut left, so it is looked for each time.
            with suppress(OSError):
                path.with_name(path.name + ".vectors").unlink(missing_ok=True)
            with db.transaction(connection):
                connection.executemany(
                    "INSERT OR IGNORE INTO meta(key, value) VALUES(?, ?)",
                    [(BIRTH, uuid.uuid4().hex), (IDENTITY, json.dumps(new_identity, sort_keys=True))],
                )
                if origin == "new":
                    files.mark_origin(connection, path)
            return cls(connection, path)

    @classmethod
    def in_memory(cls, identity: Mapping[str, Any]) -> Index:
        """Make an index that is on no disk and ends with this object."""
        connection = db.open_writer(db.IN_MEMORY)
        with db.closing_on_error(connection), db.store_errors(db.IN_MEMORY):
            migrate(connection)
            index = cls(connection, db.IN_MEMORY)
            index.note(BIRTH, uuid.uuid4().hex)
            index.note(IDENTITY, json.dumps(identity, sort_keys=True))
            return index

    def note(self, key: str, value: str) -> None:
        """Note something about the index as a whole."""
        self.connection.execute("INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)", (key, value))

    def put(
        self, document: Document, chunks: Sequence[Chunk], tail: Tail | None = None, since: int = 0
    ) -> None:
        """Replace everything the index holds of a file, in one transaction.

        Of a transcript that grew, only what is in the lines `since` its tail is replaced. Chunks that
        are the same as before keep their words and vectors.
        """
        self.write([self.prepare(document, chunks, tail, since)])

    def prepare(
        self,
        document: Document,
        chunks: Sequence[Chunk],
        tail: Tail | None = None,
        since: int = 0,
        *,
        is_new: bool = False,
    ) -> Change:
        """Work out what has to be written of a file; of a new one without a look into the index."""
        from memlines.text.language import language_of
        from memlines.text.terms import join_terms, title_of  # which takes time to import

        language = self._language_for(document, since)
        known: Iterable[tuple[Any, ...]] = ()
        if not is_new:
            known = self.connection.execute(
                "SELECT number, start_line, end_line, hash, heading, source, language, days FROM chunks"
                " WHERE path = ? AND start_line >= ? ORDER BY start_line, number",
                (document.path, since),
            )
        gone, moved, new = compare(known, document, chunks, language)
        rows = []
        for chunk in new:
            spoken = language or language_of(chunk.text)
            title = title_of(document.path, chunk.heading)
            rows.append((chunk, spoken, join_terms(chunk.text, spoken), join_terms(title, spoken)))
        return Change(document, tail, gone, moved, rows)

    def write(self, changes: Sequence[Change]) -> None:
        """Write what changes in some files, in one transaction."""
        with db.transaction(self.connection):
            last = self.connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'chunks'").get or 0
            numbers = itertools.count(last + 1)
            rows, words, dated = [], [], []
            spoken = dict.fromkeys(known := self.state.languages)
            for change in changes:
                document = change.document
                self._delete(change.gone)
                self._move(change.moved)
                put_tail(self.connection, document.path, change.tail)
                file = IndexedFile(
                    document.path, document.source, document.hash, document.fingerprint, document.settled
                )
                self.put_file(file)
                for chunk, language, terms, title in change.new:
                    number = next(numbers)
                    place = number, document.path, document.source, chunk.start_line, chunk.end_line
                    content = bytes.fromhex(chunk.hash), chunk.heading, language, chunk.text
                    rows.append((*place, *content, _turns_text(chunk), write_days(chunk.days)))
                    words.append((number, terms, title, LANGUAGE_MARK + language))
                    dated.append((number, chunk.days))
                    spoken[language] = None
            if len(spoken) > len(known):
                self.note(LANGUAGES, " ".join(filter(None, spoken)))
            self.connection.executemany(
                "INSERT INTO chunks(number, path, source, start_line, end_line, digest, heading, language,"
                " text, turns, days) VALUES(?,?,?,?,?,?,?,?,?,?,?)",
                rows,
            )
            add_days(self.connection, dated)
            # Words come last: any other insert would make FTS5 write out what it gathered so far. All in one
            # statement, which needs no lock of Python: another thread can work out the next files meanwhile.
            self.connection.execute(
                "INSERT INTO chunks_fts(rowid, words, title, language)"
                " SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(?)",
                (json.dumps(words, ensure_ascii=False),),
            )

    def _language_for(self, document: Document, since: int) -> str | None:
        """Return the language of a document; nothing for the note of facts, where each fact has its own."""
        if document.path == self._facts_file:
            return None
        if since:  # the rest of a conversation goes on in its language
            sql = "SELECT language FROM chunks WHERE path = ? LIMIT 1"
            known = self.connection.execute(sql, (document.path,)).get
            if known:
                return str(known)
        from memlines.text.language import language_of

        return language_of(document.text)

    @cached_property
    def _facts_file(self) -> str:
        return str(self.identity().get("facts_file"))

    def cache_vectors(
        self,
        old: IndexReader,
        numbers: Iterable[int] | None = None,
        entries: Iterable[SpaceEntry] | None = None,
    ) -> None:
        """Put vectors of an index into the cache: of all chunks or some, of all spaces or some.

        The caller holds a transaction.
        """
        for entry in old.state.spaces if entries is None else entries:
            vectors = old.vectors_in(entry.space)
            dims = entry.dims or vectors.dims() or 0
            for group in db.in_groups(vectors.chunks() if numbers is None else numbers, _GROUP):
                packed = vectors.packed(group)
                sound = {number: blob for number, blob in packed.items() if is_sound(blob, dims)}
                sql = (
                    "SELECT number, start_line, end_line, text, hash, heading FROM chunks"
                    " WHERE number IN ({marks})"
                )
                rows = [(row[0], Chunk(*row[1:])) for row in db.rows_in(old.connection, sql, sound)]
                known = {
                    text_hash(chunk.embedded_text): sound[number]
                    for number, chunk in rows
                    if text_hash(chunk.text) == chunk.hash  # a text that is damaged is not what was embedded
                }
                cache.remember(self.connection, entry.space, known, dims)

    def _move(self, moves: Sequence[Move]) -> None:
        """Give chunks their new lines and days."""
        drop_days(self.connection, [number for number, _ in moves])
        self.connection.executemany(
            "UPDATE chunks SET start_line = ?, end_line = ?, turns = ?, days = ? WHERE number = ?",
            [
                (chunk.start_line, chunk.end_line, _turns_text(chunk), write_days(chunk.days), number)
                for number, chunk in moves
            ],
        )
        add_days(self.connection, [(number, chunk.days) for number, chunk in moves])

    def put_problem(self, file: IndexedFile) -> None:
        """Note why a file is not indexed.

        One that is left out on purpose loses what the index held of it. One that could not be read
        keeps it, and is tried again at the next sync.
        """
        with db.transaction(self.connection):
            if file.problem is not None and not file.problem.failed:
                self._delete_chunks(file.path)
            self.put_file(file)

    def remove(self, path: str, staying: Staying | None = None) -> None:
        """Remove every trace of a file, or all but what is `staying`; then it is read again."""
        with db.transaction(self.connection):
            if staying:
                self._delete(not_staying(self.connection, path, staying))
                self.connection.execute("UPDATE files SET hash = '', settled = 0 WHERE path = ?", (path,))
            else:
                self._delete_chunks(path)
                self.connection.execute("DELETE FROM files WHERE path = ?", (path,))

    def put_file(self, file: IndexedFile) -> None:
        """Note what a file looks like; its chunks stay as they are."""
        self.connection.execute(
            "INSERT OR REPLACE INTO files"
            "(path, source, hash, size, mtime_ns, inode, settled, problem, failed)"
            " VALUES(?,?,?,?,?,?,?,?,?)",
            (
                file.path,
                file.source,
                file.hash,
                *file.fingerprint,
                int(file.settled),
                file.problem.reason if file.problem else None,
                int(file.problem.failed) if file.problem else 0,
            ),
        )

    def _delete_chunks(self, path: str) -> None:
        put_tail(self.connection, path, None)
        self._delete(list(self.numbers_of([path])))

    def _delete(self, numbers: Sequence[int]) -> None:
        if not numbers:
            return
        rows = [(number,) for number in numbers]
        if self.keeps_vectors:
            self.cache_vectors(self, numbers)
        for entry in self.state.spaces:
            self._table(entry.number).delete(numbers)
        drop_days(self.connection, numbers)
        self.connection.executemany("DELETE FROM chunks_fts WHERE rowid = ?", rows)
        self.connection.executemany("DELETE FROM chunks WHERE number = ?", rows)


def _turns_text(chunk: Chunk) -> str:
    """Return the lines of the turns of a chunk as JSON; an empty text for a chunk of a note."""
    return json.dumps(chunk.turns, separators=(",", ":")) if chunk.turns else ""
