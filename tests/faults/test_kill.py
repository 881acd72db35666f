"""A process killed at any moment loses nothing that it acknowledged, and the next one heals the rest."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memlines.files import history
from memlines.files.atomic import TEMPORARY_PREFIX, TEMPORARY_SUFFIX
from memlines.index.store.sqlite import schema
from memlines.index.store.sqlite.db import APPLICATION_ID, open_writer, transaction
from memlines.index.store.sqlite.reader import IDENTITY
from memlines.paths import Workspace
from memlines.text.terms import terms_of, title_of
from tests.faults import workloads
from tests.faults.conftest import Tell
from tests.faults.nursery import Nursery, nursery
from tests.faults.scale import chance_of, scaled
from tests.faults.support import (
    PROVIDER_VARIABLE,
    check_healed,
    check_index,
    entry,
    integrity,
    remember,
    synced,
    whole_entries,
)
from tests.indexes import index_file, notes, write
from tests.note_changes import edit
from tests.providers import FakeProvider

pytestmark = [
    pytest.mark.promise("P1", "P2", "P3", "P12"),
    pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL"),
    pytest.mark.usefixtures("each_provider", "copied_indexes"),
]

KILLS = scaled(5, 300)
FRESH_START = 20
"""After so many kills the workspace is made anew: a note that grows for ever makes every run slower."""

SEED = 20_261_116


@pytest.fixture(scope="module")
def killing(tmp_path_factory: pytest.TempPathFactory, provider: str) -> Iterator[Nursery]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMLINES_HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv(PROVIDER_VARIABLE, provider)
        with nursery(tmp_path_factory.mktemp("nursery")) as made:
            yield made


def runs(folder: Path, workload: str, first_notes: int = 0) -> Iterator[tuple[int, Path, float]]:
    """Yield the number of each run, its workspace, and how long it may live."""
    for run in range(KILLS):
        workspace = folder / f"workspace{run // FRESH_START}"
        if run % FRESH_START == 0:
            shutil.rmtree(folder / f"workspace{run // FRESH_START - 1}", ignore_errors=True)
            (workspace / "memory").mkdir(parents=True)
            write(workspace, notes(first_notes))
        seconds = chance_of(SEED, workload, run).uniform(0.02, 0.2)
        # Shown with a failure; what fails does so in the loop, not in here.
        sys.stdout.write(f"seed {SEED}, {workload}, run {run}: killed after {seconds:.3f} seconds\n")
        yield run, workspace, seconds


def check_after_kill(workspace: Path, provider: FakeProvider | None = None) -> None:
    """Whatever a kill left: what is there is sound, and the next write and the next sync heal the rest."""
    path = index_file(workspace)
    if path.exists() and path.stat().st_size:
        assert integrity(path) == "ok"
    report = check_healed(workspace, provider)
    assert not any("set aside" in warning for warning in report.warnings)


@pytest.mark.parametrize("workload", ["remembering", "remembering_and_syncing", "watching"])
def test_an_acknowledged_entry_is_there_once_and_whole(
    killing: Nursery, tmp_path: Path, tell: Tell, workload: str
) -> None:
    total = 0
    acknowledged: list[str] = []
    for run, workspace, seconds in runs(tmp_path, workload):
        if run % FRESH_START == 0:
            acknowledged = []
        new = killing.killed(workload, workspace, f"r{run}", seconds)
        acknowledged += new
        total += len(new)
        remember(workspace, workloads.KEPT_NOTE, entry(f"next{run}"))
        acknowledged.append(f"next{run}")
        found = whole_entries((workspace / workloads.KEPT_NOTE).read_text(encoding="utf-8"))
        assert [name for name in found if name in set(acknowledged)] == acknowledged
        acknowledged = found  # one more may be there: written, and killed before it could say so
        assert len(set(found)) == len(found)
        check_after_kill(workspace)
    tell(f"kill -9, {workload}: {KILLS} kills, {total} acknowledged entries, none lost")


def test_an_acknowledged_edit_is_there_and_what_it_replaced_is_kept(
    killing: Nursery, tmp_path: Path, tell: Tell
) -> None:
    total = 0
    for run, workspace, seconds in runs(tmp_path, "editing"):
        (workspace / workloads.EDITED_NOTE).unlink(missing_ok=True)
        acknowledged = ["0", *killing.killed("editing", workspace, f"r{run}", seconds)]
        home = Workspace.at(workspace)
        note = workspace / workloads.EDITED_NOTE
        if not note.exists():  # killed before the first entry was there
            remember(workspace, workloads.EDITED_NOTE, entry(f"r{run}-0"))
        last = int(acknowledged[-1].rpartition("-")[2])
        (found,) = whole_entries(note.read_text(encoding="utf-8"))
        number = int(found.rpartition("-")[2])
        assert number in (last, last + 1)
        assert number == 0 or f"r{run}-{number - 1}" in kept_entries(home)
        edit(home, workloads.EDITED_NOTE, 3, 3, entry(f"next{run}"), entry(found))
        assert found in kept_entries(home)
        total += len(acknowledged) - 1
        check_after_kill(workspace)
    tell(f"kill -9, editing: {KILLS} kills, {total} acknowledged edits, each with its old text kept")


def kept_entries(home: Workspace) -> set[str]:
    folder = home.private / "history" / workloads.EDITED_NOTE
    return {
        name
        for version in history.versions(home, workloads.EDITED_NOTE)
        for name in whole_entries((folder / version.name).read_text(encoding="utf-8"))
    }


@pytest.mark.parametrize("workload", ["syncing", "rebuilding"])
def test_a_killed_sync_is_completed_by_the_next(
    killing: Nursery, tmp_path: Path, tell: Tell, workload: str
) -> None:
    finished = 0
    for run, workspace, seconds in runs(tmp_path, workload, first_notes=workloads.CHANGING_NOTES):
        name = f"r{run}{'v' if run % 2 else ''}"
        finished += len(killing.killed(workload, workspace, name, seconds))
        check_after_kill(workspace, FakeProvider() if run % 2 else None)
    tell(f"kill -9, {workload}: {KILLS} kills after {finished} finished, each healed by the next sync")


def test_a_killed_migration_leaves_the_old_version_or_the_new_one(
    killing: Nursery, tmp_path: Path, tell: Tell
) -> None:
    pattern = tmp_path / workloads.PATTERN
    write(pattern, notes(workloads.CHANGING_NOTES))
    synced(pattern)
    make_first_version(index_file(pattern))
    (tmp_path / workloads.OLD_INDEXES).mkdir()
    done, versions = 0, {1: 0, len(schema.MIGRATIONS): 0}
    for run, _, seconds in runs(tmp_path / "unused", "migrating"):
        acknowledged = killing.killed("migrating", tmp_path, f"r{run}", seconds)
        for name in acknowledged[-1:]:
            place = tmp_path / workloads.OLD_INDEXES / name
            versions[version_at(index_file(place))] += 1
            check_after_kill(place)
            assert version_at(index_file(place)) == len(schema.MIGRATIONS)
        done += len(acknowledged)
        shutil.rmtree(tmp_path / workloads.OLD_INDEXES)
        (tmp_path / workloads.OLD_INDEXES).mkdir()
    tell(f"kill -9, migrating: {KILLS} kills, {done} migrations; left at version: {versions}")


def make_first_version(path: Path) -> None:
    """Write an index anew as the first version of the schema held it."""
    current = path.with_name("current.sqlite")
    path.rename(current)
    connection = open_writer(path)
    connection.execute(str(schema.MIGRATIONS[0]))
    connection.execute("ATTACH ? AS current", (str(current),))
    with transaction(connection):
        for table in ("meta", "files", "chunks", "embedding_cache"):
            columns = [row[1] for row in connection.execute(f"PRAGMA main.table_info({table})")]
            made_up = {"model": "'m'", "id": "hash || number", "updated_at": "0"} if table == "chunks" else {}
            values = [made_up.get(column, column) for column in columns]
            connection.execute(
                f"INSERT INTO main.{table}({', '.join(columns)})"
                f" SELECT {', '.join(values)} FROM current.{table}"
            )
        rows = list(connection.execute("SELECT number, path, heading, language, text FROM main.chunks"))
        for number, note, heading, language, text in rows:
            words = " ".join(terms_of(text, language)), " ".join(terms_of(title_of(note, heading), language))
            connection.execute(
                "INSERT INTO chunks_fts(rowid, words, title) VALUES(?, ?, ?)", (number, *words)
            )
        # It knew no days of entries, so it is rebuilt.
        connection.execute("UPDATE meta SET value = json_remove(value, '$.days') WHERE key = ?", (IDENTITY,))
        connection.execute("PRAGMA user_version=1")
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
    connection.close()
    current.unlink()


def version_at(path: Path) -> int:
    connection = open_writer(path)
    try:
        return schema.version_of(connection)
    finally:
        connection.close()


def test_the_first_version_that_is_made_here_is_one(tmp_path: Path) -> None:
    write(tmp_path, notes(3))
    synced(tmp_path)
    make_first_version(index_file(tmp_path))
    assert version_at(index_file(tmp_path)) == 1
    assert synced(tmp_path).rebuilt
    check_index(tmp_path)


@pytest.mark.promise("P14")
def test_a_killed_forgetting_is_completed_by_the_next(killing: Nursery, tmp_path: Path, tell: Tell) -> None:
    done, cut_short = 0, 0
    for run, workspace, seconds in runs(tmp_path, "forgetting"):
        told = [
            line.partition(":") for line in killing.killed("forgetting", workspace, f"r{run}", 2 * seconds)
        ]
        written = [name for kind, _, name in told if kind == "written"]
        forgotten = [name for kind, _, name in told if kind == "forgotten"]
        for name in written[len(forgotten) :]:
            cut_short += 1
            if name in entries_in(workspace / workloads.EDITED_NOTE):
                workloads.forget_entry(workspace, name)
        remember(workspace, workloads.KEPT_NOTE, entry(f"next{run}"))
        remember(workspace, workloads.EDITED_NOTE, entry(f"next{run}"))
        assert [name for name in written if traces_of(workspace, name)] == []
        kept = entries_in(workspace / workloads.KEPT_NOTE)
        assert {f"kept-{name}" for name in written} <= set(kept)
        assert len(set(kept)) == len(kept)
        check_after_kill(workspace)
        done += len(forgotten)
    tell(f"kill -9, forgetting: {KILLS} kills, {done} forgotten, {cut_short} cut short and completed")


def entries_in(note: Path) -> list[str]:
    return whole_entries(note.read_text(encoding="utf-8")) if note.exists() else []


def traces_of(workspace: Path, name: str) -> list[str]:
    """Return the files that hold a word of an entry that was forgotten."""
    word = f" {name}w7".encode()
    return [str(path) for path in workspace.rglob("*") if path.is_file() and word in path.read_bytes()]


@pytest.mark.parametrize("folder", [".memory", "memory/other"])
@pytest.mark.promise("P14")
def test_what_a_killed_writer_left_is_gone_when_something_is_forgotten(tmp_path: Path, folder: str) -> None:
    write(tmp_path, {"memory/other/n.md": "other\n"})
    remember(tmp_path, workloads.EDITED_NOTE, entry("secret"))
    synced(tmp_path)
    left = tmp_path / folder / f"{TEMPORARY_PREFIX}{'0' * 32}{TEMPORARY_SUFFIX}"
    left.write_text(entry("secret"), encoding="utf-8")
    workloads.forget_entry(tmp_path, "secret")
    assert not left.exists()
