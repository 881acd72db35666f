"""The tables of an index: made whole, brought forward whole, and no other program's touched."""

from __future__ import annotations

import subprocess
from pathlib import Path

import apsw
import pytest

from memlines.errors import StoreDamaged
from memlines.index.store.sqlite import schema
from memlines.index.store.sqlite.db import APPLICATION_ID, open_reader, open_writer
from memlines.index.store.sqlite.index import Index
from memlines.index.store.sqlite.reader import SYNCED
from tests.indexes import IDENTITY, assert_sound, index_file, indexed, notes, program, put, write

pytestmark = pytest.mark.promise("P4")

TABLES = {"meta", "files", "chunks", "embedding_cache", "chunks_fts", "chunks_terms"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "index.sqlite"


def test_a_new_database_gets_every_table(path: Path) -> None:
    connection = open_writer(path)
    schema.migrate(connection)
    names = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    connection.close()
    assert names >= TABLES


def test_a_new_database_says_what_it_is(path: Path) -> None:
    Index.writer(path, IDENTITY).close()
    connection = open_reader(path)
    said = connection.pragma("user_version"), connection.pragma("application_id")
    connection.close()
    assert said == (len(schema.MIGRATIONS), APPLICATION_ID)


def test_migrating_twice_changes_nothing(path: Path) -> None:
    connection = open_writer(path)
    schema.migrate(connection)
    before = list(connection.execute("SELECT type, name, sql FROM sqlite_schema"))
    schema.migrate(connection)
    after = list(connection.execute("SELECT type, name, sql FROM sqlite_schema"))
    connection.close()
    assert after == before


def test_an_older_database_is_brought_forward_and_keeps_its_rows(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = Index.writer(path, IDENTITY)
    put(index, "memory/a.md", "kept through the change")
    index.close()
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, "CREATE TABLE later(x)"))
    index = Index.writer(path, IDENTITY)
    version = schema.version_of(index.connection)
    later = index.connection.execute("SELECT count(*) FROM later").get
    chunks = index.count_chunks()
    index.close()
    assert (version, later, chunks) == (len(schema.MIGRATIONS), 0, 1)


def test_a_migration_that_fails_leaves_the_old_version(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connection = open_writer(path)
    schema.migrate(connection)
    steps = (*schema.MIGRATIONS, "CREATE TABLE later(x); CREATE TABLE meta(y)")
    monkeypatch.setattr(schema, "MIGRATIONS", steps)
    with pytest.raises(apsw.SQLError):
        schema.migrate(connection)
    later = connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'later'").get
    version = schema.version_of(connection)
    connection.close()
    assert (version, later) == (len(steps) - 1, None)


def test_an_empty_database_counts_as_new(path: Path) -> None:
    connection = open_writer(path)
    schema.check_ours(connection, path)
    connection.close()


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE theirs(x)",
        "PRAGMA application_id=1234",
        "PRAGMA user_version=1",
        "PRAGMA user_version=-1",
        f"PRAGMA application_id={APPLICATION_ID}; PRAGMA user_version=1",
    ],
)
def test_a_database_of_another_program_is_not_ours(path: Path, statement: str) -> None:
    connection = open_writer(path)
    connection.execute(statement)
    with pytest.raises(StoreDamaged, match="another program, or not whole"):
        schema.check_ours(connection, path)
    connection.close()


def test_a_newer_database_is_told_apart(path: Path) -> None:
    index = Index.writer(path, IDENTITY)
    index.connection.execute("PRAGMA user_version=99")
    index.close()
    with pytest.raises(StoreDamaged, match="newer version of Memlines"):
        Index.reader(path)


def test_a_reader_sees_a_new_database_without_tables_as_no_index(path: Path) -> None:
    open_writer(path).close()
    assert Index.reader(path) is None


def test_a_reader_cannot_write(path: Path) -> None:
    Index.writer(path, IDENTITY).close()
    index = Index.reader(path)
    assert index is not None
    with pytest.raises(apsw.ReadOnlyError):
        index.note(SYNCED, "now")
    index.close()


COLD_START = """
from pathlib import Path
from memlines.memory.memory import Memory
from tests.indexes import sync
import memlines.index.search.run, memlines.index.sync.run
print("ready", flush=True)
for line in sys.stdin:
    how, folder = line.split(maxsplit=1)
    workspace = Path(folder.strip())
    if how == "sync":
        sync(workspace)
    else:
        with Memory(workspace, {"embeddings.provider": "none"}) as memory:
            assert memory.search("shared").hits
    print("done", flush=True)
"""


def cold_start(tmp_path: Path, processes: int, rounds: int) -> None:
    running = [
        subprocess.Popen(program(COLD_START), stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
        for _ in range(processes)
    ]
    try:
        for process in running:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for number in range(rounds):
            workspace = tmp_path / f"round{number}"
            write(workspace, notes(12))
            for place, process in enumerate(running):
                assert process.stdin is not None
                process.stdin.write(f"{'sync' if place % 2 else 'search'} {workspace}\n")
            for process in running:
                assert process.stdin is not None
                process.stdin.flush()
            for process in running:
                assert process.stdout is not None
                assert process.stdout.readline() == "done\n"
            assert_sound(index_file(workspace))
            assert len(indexed(workspace)) == 12
    finally:
        for process in running:
            process.kill()
            process.communicate()


def test_eight_processes_that_open_a_new_index_at_once_make_one_sound_index(tmp_path: Path) -> None:
    cold_start(tmp_path, processes=8, rounds=5)


@pytest.mark.slow
def test_sixteen_processes_make_one_sound_index_many_times_over(tmp_path: Path) -> None:
    cold_start(tmp_path, processes=16, rounds=40)


def test_a_database_that_another_program_is_making_is_not_taken_for_a_foreign_one(path: Path) -> None:
    writer, reader = open_writer(path), open_writer(path)
    statements = []

    def make_before_the_second(*statement: object) -> bool:
        statements.append(statement)
        if len(statements) == 2:
            schema.migrate(writer)
        return True

    reader.exec_trace = make_before_the_second
    schema.check_ours(reader, path)  # while it is empty
    schema.check_ours(reader, path)
    writer.close()
    reader.close()
    assert len(statements) >= 2
