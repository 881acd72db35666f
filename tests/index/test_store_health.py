"""Whatever is where the index should be: it is noticed or harmless, and the notes stay as they are."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import apsw
import pytest

from memlines.errors import StoreDamaged
from memlines.files.place import tighten
from memlines.index.store.sqlite.db import PAGE_BYTES
from memlines.index.store.sqlite.files import check_file, set_aside
from memlines.index.store.sqlite.index import Index
from memlines.memory.memory import Memory
from memlines.paths import Workspace
from memlines.types import Report, SearchResult
from tests.indexes import (
    IDENTITY,
    assert_sound,
    expected,
    hashes,
    index_file,
    indexed,
    notes,
    one_origin,
    put,
    sync,
    write,
)
from tests.providers import FakeProvider

pytestmark = pytest.mark.promise("P4")

PAGE = PAGE_BYTES
NOTES = 12

PROVIDER_VARIABLE = "MEMLINES_EMBEDDINGS__PROVIDER"

Damage = Callable[[Path], None]


class Pattern(NamedTuple):
    """A workspace, and the provider that its index was made with."""

    workspace: Path
    provider: str


def heal(workspace: Path, *, force: bool = False) -> Report:
    """Sync as a user would."""
    with Memory(workspace) as memory:
        return memory.sync(force=force)


@pytest.fixture(scope="module", autouse=True)
def _one_origin() -> Iterator[None]:
    with one_origin():
        yield


@pytest.fixture(scope="module", params=["none", "builtin"])
def pattern(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Pattern:
    """A synced workspace that is copied for every test, because making it takes longer."""
    made = Pattern(tmp_path_factory.mktemp("pattern") / "workspace", request.param)
    write(made.workspace, notes(NOTES, lines=30))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMLINES_HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv(PROVIDER_VARIABLE, made.provider)
        heal(made.workspace)
    return made


@pytest.fixture
def synced(pattern: Pattern, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(PROVIDER_VARIABLE, pattern.provider)
    shutil.copytree(pattern.workspace, tmp_path / "workspace")
    return tmp_path / "workspace"


def set_aside_files(workspace: Path) -> list[str]:
    return [
        path.name
        for path in (workspace / ".memory").glob("index.sqlite.damaged-*")
        if not path.name.endswith(("-wal", "-shm"))
    ]


def search(workspace: Path, query: str = "own7") -> SearchResult:
    with Memory(workspace) as memory:
        return memory.search(query)


# What can stand at the path of an index


def zeroed(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def random_bytes(path: Path) -> None:
    path.write_bytes(random.Random(1).randbytes(path.stat().st_size))


def text_file(path: Path) -> None:
    path.write_text("these are not the pages you are looking for\n" * 200, encoding="utf-8")


def one_byte(path: Path) -> None:
    path.write_bytes(b"S")


def magic_only(path: Path) -> None:
    path.write_bytes(b"SQLite format 3\0")


def zeroed_header(path: Path) -> None:
    path.write_bytes(bytes(100) + path.read_bytes()[100:])


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "somebody's.txt").write_text("keep me", encoding="utf-8")


def symlink(path: Path) -> None:
    elsewhere = path.parent.parent.parent / "elsewhere.sqlite"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


def dangling_symlink(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.parent / "nowhere")


def foreign_database(path: Path) -> None:
    path.unlink()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE bookmarks(url)")
    connection.commit()
    connection.close()


def newer_version(path: Path) -> None:
    run_sql(path, "PRAGMA user_version=99")


def no_chunks_table(path: Path) -> None:
    run_sql(path, "DROP TABLE chunks")


def no_words_table(path: Path) -> None:
    run_sql(path, "DROP TABLE chunks_terms; DROP TABLE chunks_fts")


def no_words_data(path: Path) -> None:
    run_sql(path, "DROP TABLE chunks_fts_data")


def no_column(path: Path) -> None:
    run_sql(path, "ALTER TABLE files RENAME COLUMN hash TO digest")


def broken_identity(path: Path) -> None:
    run_sql(path, "UPDATE meta SET value = '{' WHERE key = 'identity'")


def identity_of_another_kind(path: Path) -> None:
    run_sql(path, "UPDATE meta SET value = '7' WHERE key = 'identity'")


def invalid_text(path: Path) -> None:
    run_sql(path, "UPDATE chunks SET text = CAST(x'ff80' AS TEXT)")


def invalid_path(path: Path) -> None:
    run_sql(path, "UPDATE files SET path = CAST(x'ff80' AS TEXT) WHERE path LIKE '%n7.md'")


def foreign_log(path: Path) -> None:
    """Put the write-ahead log of another program's database beside the index."""
    other = path.with_name("other.sqlite")
    connection = sqlite3.connect(other)
    connection.execute("PRAGMA journal_mode=wal")
    connection.execute("CREATE TABLE bookmarks(url)")
    connection.execute("INSERT INTO bookmarks VALUES('x')")
    connection.commit()
    shutil.copy(f"{other}-wal", f"{path}-wal")
    connection.close()
    other.unlink()


def run_sql(path: Path, statements: str) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(statements)
    connection.close()


NOTICED: list[Damage] = [
    zeroed,
    random_bytes,
    text_file,
    one_byte,
    magic_only,
    zeroed_header,
    folder,
    symlink,
    dangling_symlink,
    foreign_database,
    newer_version,
    no_chunks_table,
    no_words_table,
    no_words_data,
    no_column,
    broken_identity,
    identity_of_another_kind,
    invalid_text,
    invalid_path,
    foreign_log,
]


@pytest.mark.parametrize("damage", NOTICED)
def test_a_search_sets_a_damaged_index_aside_and_answers(synced: Path, damage: Damage) -> None:
    before = hashes(synced)
    damage(index_file(synced))
    found = search(synced)
    assert [hit.path for hit in found] == ["memory/n7.md"]
    assert any("set aside" in warning for warning in found.warnings)
    assert (hashes(synced), len(set_aside_files(synced))) == (before, 1)
    assert_sound(index_file(synced))
    assert indexed(synced) == expected(synced)


# A sync reads neither texts nor words, so it cannot stumble over these; a search does.
UNSEEN_BY_SYNC: list[Damage] = [invalid_text, no_words_data]


@pytest.mark.parametrize("damage", [damage for damage in NOTICED if damage not in UNSEEN_BY_SYNC])
def test_a_sync_sets_a_damaged_index_aside_and_builds_it_anew(synced: Path, damage: Damage) -> None:
    before = hashes(synced)
    damage(index_file(synced))
    report = heal(synced)
    assert report.rebuilt
    assert any("set aside" in warning for warning in report.warnings)
    assert (hashes(synced), len(set_aside_files(synced))) == (before, 1)
    assert indexed(synced) == expected(synced)


@pytest.mark.parametrize("damage", NOTICED)
def test_a_forced_sync_heals_everything(synced: Path, damage: Damage) -> None:
    damage(index_file(synced))
    heal(synced, force=True)
    assert_sound(index_file(synced))
    assert indexed(synced) == expected(synced)


@pytest.mark.parametrize("damage", NOTICED)
def test_the_status_of_a_damaged_index_is_no_error(synced: Path, damage: Damage) -> None:
    damage(index_file(synced))
    with Memory(synced) as memory:
        memory.status()


# What is harmless


def empty(path: Path) -> None:
    path.write_bytes(b"")


def absent(path: Path) -> None:
    path.unlink()


def empty_database(path: Path) -> None:
    path.unlink()
    run_sql(path, "PRAGMA journal_mode=wal")


def empty_log(path: Path) -> None:
    path.with_name(path.name + "-wal").write_bytes(b"")


def garbage_log(path: Path) -> None:
    path.with_name(path.name + "-wal").write_bytes(random.Random(1).randbytes(3 * PAGE))


def garbage_shared_memory(path: Path) -> None:
    path.with_name(path.name + "-shm").write_bytes(random.Random(1).randbytes(32_768))


def log_of_a_former_index(path: Path) -> None:
    path.with_name(path.name + "-shm").write_bytes(bytes(32_768))
    empty(path)
    garbage_log(path)


@pytest.mark.parametrize(
    "oddity",
    [
        empty,
        absent,
        empty_database,
        empty_log,
        garbage_log,
        garbage_shared_memory,
        log_of_a_former_index,
    ],
)
def test_a_harmless_oddity_is_survived_without_setting_anything_aside(synced: Path, oddity: Damage) -> None:
    before = hashes(synced)
    oddity(index_file(synced))
    assert [hit.path for hit in search(synced)] == ["memory/n7.md"]
    assert (hashes(synced), set_aside_files(synced)) == (before, [])
    assert indexed(synced) == expected(synced)


def test_what_is_only_in_the_log_is_found_without_the_shared_memory(synced: Path, tmp_path: Path) -> None:
    path = index_file(synced)
    index = Index.writer(path, IDENTITY)
    put(index, "memory/late.md", "the okapi came last")
    for companion in ("", "-wal"):
        shutil.copy(f"{path}{companion}", tmp_path / f"copy{companion}")
    index.close()
    for companion in ("", "-wal"):
        shutil.move(tmp_path / f"copy{companion}", f"{path}{companion}")
    reader = Index.reader(path)
    assert reader is not None
    found = reader.connection.execute("SELECT count(*) FROM chunks WHERE path = 'memory/late.md'").get
    reader.close()
    assert found == 1


# Setting aside


@pytest.mark.promise("P12")
def test_only_the_last_set_aside_index_is_kept(synced: Path) -> None:
    for _ in range(3):
        text_file(index_file(synced))
        heal(synced)
    assert len(set_aside_files(synced)) == 1


def test_the_log_goes_aside_with_its_index(tmp_path: Path) -> None:
    path = tmp_path / ".memory/index.sqlite"
    path.parent.mkdir()
    for companion in ("", "-wal", "-shm"):
        path.with_name(path.name + companion).write_text(companion, encoding="utf-8")
    aside = set_aside(path)
    assert sorted(path.parent.iterdir()) == [aside, Path(f"{aside}-shm"), Path(f"{aside}-wal")]


def test_a_folder_that_was_set_aside_is_not_deleted(synced: Path) -> None:
    folder(index_file(synced))
    heal(synced)
    text_file(index_file(synced))
    heal(synced)
    kept = [path / "somebody's.txt" for path in (synced / ".memory").glob("*.damaged-*") if path.is_dir()]
    assert [path.read_text(encoding="utf-8") for path in kept] == ["keep me"]


def test_the_target_of_a_link_is_left_alone(synced: Path, tmp_path: Path) -> None:
    symlink(index_file(synced))
    before = (tmp_path / "elsewhere.sqlite").read_bytes()
    heal(synced)
    assert (tmp_path / "elsewhere.sqlite").read_bytes() == before
    assert not index_file(synced).is_symlink()


def test_an_open_memory_notices_that_another_process_replaced_the_index(synced: Path) -> None:
    with Memory(synced) as memory:
        memory.search("own7")
        set_aside(index_file(synced))
        heal(synced)
        write(synced, {"memory/late.md": "the okapi came last"})
        assert [hit.path for hit in memory.search("okapi")] == ["memory/late.md"]


def test_an_open_memory_heals_an_index_that_breaks_under_it(synced: Path) -> None:
    with Memory(synced) as memory:
        memory.search("own7")
        content = bytearray(index_file(synced).read_bytes())
        content[PAGE:] = bytes(len(content) - PAGE)
        index_file(synced).write_bytes(content)
        assert [hit.path for hit in memory.search("own8")] == ["memory/n8.md"]


def test_a_damaged_index_with_vectors_is_rebuilt_with_vectors(workspace: Path) -> None:
    write(workspace, notes(5))
    sync(workspace, FakeProvider())
    text_file(index_file(workspace))
    provider = FakeProvider()
    report: Report = sync(workspace, provider)
    assert (report.rebuilt, report.pending, len(provider.texts)) == ("damaged", 0, 5)


def test_a_file_that_is_not_there_is_not_damaged(tmp_path: Path) -> None:
    check_file(tmp_path / "index.sqlite")


def test_a_pipe_in_the_place_of_an_index_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "index.sqlite")
    with pytest.raises(StoreDamaged, match="not a regular file"):
        check_file(tmp_path / "index.sqlite")


def locks_on(path: Path) -> list[str]:
    inode = f":{path.stat().st_ino} "
    lines = Path("/proc/locks").read_text(encoding="utf-8").splitlines()
    own = [line for line in lines if inode in line and f" {os.getpid()} " in line]
    return [line.partition(":")[2] for line in own]  # they are numbered among the locks of all programs


def look_again(path: Path) -> None:
    other = Index.reader(path)
    assert other is not None
    other.close()


def write_again(path: Path) -> None:
    Index.writer(path, {}).close()


def close_to_others(path: Path) -> None:
    for file in path.parent.iterdir():
        file.chmod(0o644)
    tighten(Workspace.at(path.parents[1]))


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="needs a system that lists its locks")
@pytest.mark.parametrize("step", [look_again, write_again, close_to_others])
def test_the_locks_of_who_reads_an_index_stay(workspace: Path, step: Callable[[Path], None]) -> None:
    files = [index_file(workspace), index_file(workspace).with_name("index.sqlite-shm")]
    sync(workspace)
    reader = Index.reader(files[0])
    assert reader is not None
    before = [locks_on(file) for file in files]
    step(files[0])
    after = [locks_on(file) for file in files]
    reader.close()
    assert all(before)
    assert after == before
