"""The index: files, chunks and their words, read and written as plain values.

A file is written in one transaction, so a reader sees all of it or what was there before.
Its vectors come later (`vectors.py`); until then it is found by its words.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from memlines.index.store.sqlite import changes, spaces
from memlines.index.store.sqlite.changes import put_tail
from memlines.index.store.sqlite.db import (
    IN_MEMORY,
    closing_on_error,
    open_writer,
    store_errors,
    system_errors,
    transaction,
)
from memlines.index.store.sqlite.files import check_database, check_file
from memlines.index.store.sqlite.origin import mark, origin_of, refuse_foreign
from memlines.index.store.sqlite.reader import BIRTH, IDENTITY, LANGUAGES, SYNCED, IndexReader
from memlines.index.store.sqlite.schema import migrate, version_of
from memlines.text.language import language_of
from memlines.text.terms import terms_of, title_of
from memlines.types import Chunk, Document, IndexedFile, Tail


class Index(IndexReader):
    """An open index: a reader, or the one writer, which holds the writer lock."""

    @classmethod
    def writer(cls, path: Path, new_identity: Mapping[str, Any]) -> Index:
        """Open an index for writing, making it with this identity if it is new."""
        with system_errors(path):
            check_file(path)
        connection = open_writer(path)
        with closing_on_error(connection), store_errors(path), system_errors(path):
            check_database(connection, path)
            origin = origin_of(connection, path) if version_of(connection) else "new"
            refuse_foreign(origin, path)
            migrate(connection)
            with transaction(connection):
                connection.executemany(
                    "INSERT OR IGNORE INTO meta(key, value) VALUES(?, ?)",
                    [(BIRTH, uuid.uuid4().hex), (IDENTITY, json.dumps(new_identity, sort_keys=True))],
                )
                if origin == "new":
                    mark(connection, path)
            return cls(connection, path)

    @classmethod
    def in_memory(cls, identity: Mapping[str, Any]) -> Index:
        """Make an index that is on no disk and ends with this object."""
        connection = open_writer(IN_MEMORY)
        with closing_on_error(connection), store_errors(IN_MEMORY):
            migrate(connection)
            index = cls(connection, IN_MEMORY)
            index.note(BIRTH, uuid.uuid4().hex)
            index.note(IDENTITY, json.dumps(identity, sort_keys=True))
            return index

    def mark_synced(self, when: str) -> None:
        """Note that the index equals the files now."""
        self.note(SYNCED, when)

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
        language = self._language_for(document, since)
        with transaction(self.connection):
            changed = changes.compare(self.connection, document, chunks, language, since)
            new = changed.new
            spoken = {name: language or language_of(chunk.text) for name, chunk in new.items()}
            self._delete(changed.gone)
            changes.move(self.connection, changed.moved)
            self._note_languages(spoken.values())
            put_tail(self.connection, document.path, tail)
            self.put_file(
                IndexedFile(
                    document.path, document.source, document.hash, document.fingerprint, document.settled
                )
            )
            numbers = [self._put_chunk(name, document, chunk, spoken[name]) for name, chunk in new.items()]
            # Words come last: any other insert would make FTS5 write out what it gathered so far.
            self.connection.executemany(
                "INSERT INTO chunks_fts(rowid, words, title) VALUES(?, ?, ?)",
                [
                    (
                        number,
                        " ".join(terms_of(chunk.text, spoken[name])),
                        " ".join(terms_of(title_of(document.path, chunk.heading), spoken[name])),
                    )
                    for number, (name, chunk) in zip(numbers, new.items(), strict=True)
                ],
            )

    def leaving(self, document: Document, chunks: Sequence[Chunk], since: int = 0) -> list[int]:
        """Return the numbers of the chunks that go if a document is put with these ones."""
        language = self._language_for(document, since)
        return changes.compare(self.connection, document, chunks, language, since).gone

    def _language_for(self, document: Document, since: int) -> str | None:
        """Return the language of a document; nothing for facts, each of which is in its own."""
        if document.path == self.identity().get("facts_file"):
            return None
        if since:  # the rest of a conversation goes on in its language
            sql = "SELECT language FROM chunks WHERE path = ? LIMIT 1"
            known = self.connection.execute(sql, (document.path,)).get
            if known:
                return str(known)
        return language_of(document.text)

    def _note_languages(self, languages: Iterable[str]) -> None:
        known = self.state.languages
        every = dict.fromkeys([*known, *(language for language in languages if language)])
        if len(every) > len(known):
            self.note(LANGUAGES, " ".join(every))

    def _put_chunk(self, name: str, document: Document, chunk: Chunk, language: str) -> int:
        row = (
            name,
            document.path,
            document.source,
            chunk.start_line,
            chunk.end_line,
            chunk.hash,
            chunk.heading,
            language,
            chunk.text,
            changes.turns_text(chunk.turns),
            time.time_ns() // 1_000_000,
        )
        number = self.connection.execute(
            "INSERT INTO chunks(id, path, source, start_line, end_line, hash, heading, language,"
            " text, turns, updated_at) VALUES(?,?,?,?,?,?,?,?,?,?,?) RETURNING number",
            row,
        ).get
        return int(number)

    def put_problem(self, file: IndexedFile) -> None:
        """Note why a file is not indexed.

        One that is left out on purpose loses what the index held of it. One that could not be read
        keeps it, and is tried again at the next sync.
        """
        with transaction(self.connection):
            if file.problem is not None and not file.problem.failed:
                self._delete_chunks(file.path)
            self.put_file(file)

    def remove(self, path: str, staying: changes.Staying | None = None) -> None:
        """Remove every trace of a file, but for what is to stay; it is read again then."""
        with transaction(self.connection):
            if staying:
                self._delete(changes.not_staying(self.connection, path, staying))
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
        for entry in spaces.entries(self.connection):
            self._table(entry.number).delete(numbers)
        self.connection.executemany("DELETE FROM chunks_fts WHERE rowid = ?", rows)
        self.connection.executemany("DELETE FROM chunks WHERE number = ?", rows)
