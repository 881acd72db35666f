from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from memlines.errors import StoreBusy, StoreDamaged, StoreError, StoreFull, StoreReadOnly
from memlines.index.store.sqlite.db import (
    Connection,
    open_reader,
    open_writer,
    snapshot,
    store_errors,
    transaction,
)

PATH = Path("index.sqlite")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "index.sqlite"


@pytest.fixture
def connection(path: Path) -> Iterator[Connection]:
    connection = open_writer(path)
    connection.execute("CREATE TABLE t(x UNIQUE); CREATE VIRTUAL TABLE words USING fts5(text)")
    yield connection
    connection.close()


@pytest.mark.parametrize(
    ("raised", "ours"),
    [
        (apsw.CorruptError("malformed"), StoreDamaged),
        (apsw.NotADBError("file is not a database"), StoreDamaged),
        (apsw.BusyError("database is locked"), StoreBusy),
        (apsw.LockedError("table is locked"), StoreBusy),
        (apsw.FullError("database or disk is full"), StoreFull),
        (apsw.ReadOnlyError("attempt to write a readonly database"), StoreReadOnly),
        (apsw.PermissionsError("access permission denied"), StoreReadOnly),
        (apsw.IOError("disk I/O error"), StoreError),
        (apsw.CantOpenError("unable to open database file"), StoreError),
        (apsw.NoMemError("out of memory"), StoreError),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"), StoreDamaged),
    ],
)
def test_an_error_of_sqlite_becomes_one_of_ours(raised: Exception, ours: type[StoreError]) -> None:
    with pytest.raises(StoreError) as caught, store_errors(PATH):
        raise raised
    assert type(caught.value) is ours
    assert "index.sqlite" in caught.value.what
    assert caught.value.todo


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM missing",
        "SELECT missing FROM t",
        "INSERT INTO t(missing) VALUES(1)",
        "INSERT INTO t VALUES(1), (1)",
        "SELECT * FROM missing_module('x')",
    ],
)
def test_a_statement_that_does_not_fit_the_tables_means_damage(
    connection: Connection, path: Path, statement: str
) -> None:
    with pytest.raises(StoreDamaged), store_errors(path):
        connection.execute(statement)


def test_a_bad_expression_of_words_is_not_taken_for_damage(connection: Connection, path: Path) -> None:
    with pytest.raises(StoreError) as caught, store_errors(path):
        connection.execute("SELECT rowid FROM words WHERE words MATCH 'AND AND'").get  # noqa: B018
    assert type(caught.value) is StoreError


def test_a_writer_keeps_a_log_so_that_readers_do_not_wait(connection: Connection) -> None:
    assert connection.pragma("journal_mode") == "wal"


def test_a_reader_does_not_wait_for_a_writer(connection: Connection, path: Path) -> None:
    with transaction(connection):
        connection.execute("INSERT INTO t VALUES(1)")
        reader = open_reader(path)
        seen = reader.execute("SELECT count(*) FROM t").get
        reader.close()
    assert seen == 0


def test_a_transaction_is_undone_when_it_fails(connection: Connection) -> None:
    def interrupted() -> None:
        connection.execute("INSERT INTO t VALUES(1)")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), transaction(connection):
        interrupted()
    assert connection.execute("SELECT count(*) FROM t").get == 0


def test_a_snapshot_ends_when_its_reading_fails(connection: Connection) -> None:
    with pytest.raises(KeyboardInterrupt), snapshot(connection):
        raise KeyboardInterrupt
    assert not connection.in_transaction


def test_a_path_with_odd_characters_can_be_read(tmp_path: Path) -> None:
    odd = tmp_path / "a ?b#c%20&d=ü.sqlite"
    open_writer(odd).close()
    open_reader(odd).close()


def test_a_database_of_another_program_keeps_its_mark(path: Path) -> None:
    with closing(apsw.Connection(str(path))) as theirs:
        theirs.pragma("application_id", 1234)
    with closing(open_writer(path)) as connection:
        assert connection.pragma("application_id") == 1234


def test_a_missing_folder_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be opened"):
        open_writer(tmp_path / "missing" / "index.sqlite")


@pytest.mark.promise("P12")
def test_what_is_kept_of_a_large_database_is_bounded(path: Path) -> None:
    with closing(open_writer(path)) as new:
        new.execute("CREATE TABLE texts(text)")
        new.executemany("INSERT INTO texts VALUES(zeroblob(?))", [(10_000,)] * 6_000)
        assert new.status(apsw.SQLITE_DBSTATUS_CACHE_USED)[0] < 40_000_000
    for again in (open_writer, open_reader):
        with closing(again(path)) as connection:
            assert sum(len(text) for (text,) in connection.execute("SELECT text FROM texts")) == 60_000_000
            assert connection.status(apsw.SQLITE_DBSTATUS_CACHE_USED)[0] < 40_000_000


@pytest.mark.promise("P12")
def test_a_log_that_a_reader_made_long_is_cut_when_it_is_written_to_again(path: Path) -> None:
    with closing(open_writer(path)) as first:
        first.execute("CREATE TABLE texts(text)")
    log = path.with_name(path.name + "-wal")
    with closing(open_reader(path)) as reader:
        with snapshot(reader), closing(open_writer(path)) as writer, transaction(writer):
            assert reader.execute("SELECT count(*) FROM texts").get == 0
            writer.executemany("INSERT INTO texts VALUES(zeroblob(?))", [(100_000,)] * 700)
        assert log.stat().st_size > 70_000_000
        with closing(open_writer(path)) as writer:
            assert log.stat().st_size == 0
            writer.execute("DELETE FROM texts WHERE rowid = 1")
        assert reader.execute("SELECT count(*) FROM texts").get == 699
