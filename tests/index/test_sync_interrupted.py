"""An interrupted sync leaves nothing torn, and searches answer meanwhile."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from memlines.errors import StoreBusy
from memlines.index.sync import run
from memlines.locks import WriterLock
from memlines.memory.memory import Memory
from tests.indexes import (
    assert_sound,
    expected,
    index_file,
    indexed,
    job,
    left_over,
    notes,
    sync,
    write,
)

pytestmark = pytest.mark.promise("P3")

# Progress, interruption, the lock


def test_progress_is_told_for_every_changed_file(workspace: Path) -> None:
    write(workspace, notes(3))
    told: list[tuple[int, int, str]] = []
    sync(workspace, progress=lambda *step: told.append(step))
    assert told == [(done, 3, "indexing") for done in range(4)]


class Interrupt:
    """Progress that is interrupted by the user at the n-th step."""

    def __init__(self, after: int) -> None:
        self.left = after

    def __call__(self, completed: int, total: int, label: str) -> None:
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("after", range(6))
def test_an_interrupted_sync_leaves_nothing_torn(workspace: Path, after: int, force: bool) -> None:
    write(workspace, notes(2))
    sync(workspace)
    write(workspace, {f"memory/n{number}.md": f"changed{number}" for number in range(6)})
    with pytest.raises(KeyboardInterrupt):
        sync(workspace, progress=Interrupt(after), force=force)
    assert_sound(index_file(workspace))
    assert left_over(workspace) == []
    run.run(replace(job(workspace), wait_seconds=0))  # the lock is free
    assert indexed(workspace) == expected(workspace)


def test_an_interrupted_first_sync_keeps_the_files_it_finished(workspace: Path) -> None:
    write(workspace, notes(6))
    with pytest.raises(KeyboardInterrupt):
        sync(workspace, progress=Interrupt(3))
    assert sync(workspace).unchanged == 3


def test_a_sync_that_may_not_wait_says_who_is_writing(workspace: Path) -> None:
    write(workspace, notes(1))
    sync(workspace)
    lock = WriterLock(index_file(workspace).with_name("index.sqlite.lock"))
    with lock.held(0), pytest.raises(StoreBusy, match=f"process {os.getpid()} since"):
        run.run(replace(job(workspace), wait_seconds=0))


def test_a_search_answers_from_the_old_index_while_another_process_writes(workspace: Path) -> None:
    write(workspace, notes(2))
    sync(workspace)
    write(workspace, {"memory/late.md": "shared okapi"})
    lock = WriterLock(index_file(workspace).with_name("index.sqlite.lock"))
    with Memory(workspace, {"embeddings.provider": "none"}) as memory, lock.held(0):
        answer = memory.search("shared")
    assert len(answer) == 2
    assert "may be out of date" in answer.warnings[0]


# Status


def test_status_writes_nothing(workspace: Path) -> None:
    write(workspace, notes(3))
    sync(workspace)
    before = private_files(workspace)
    with Memory(workspace, {"embeddings.provider": "none"}) as memory:
        status = memory.status()
    assert (status.files, status.chunks, status.dirty) == (3, 3, False)
    assert private_files(workspace) == before


def test_status_of_a_workspace_without_an_index_makes_none(workspace: Path) -> None:
    write(workspace, notes(3))
    with Memory(workspace, {"embeddings.provider": "none"}) as memory:
        status = memory.status()
    assert (status.files, status.dirty, (workspace / ".memory").exists()) == (0, True, False)


def private_files(workspace: Path) -> dict[str, bytes]:
    """Return what is in the private folder, without what SQLite needs beside a database to read it."""
    return {
        path.name: path.read_bytes()
        for path in (workspace / ".memory").iterdir()
        if not path.name.endswith("-shm") and not (path.name.endswith("-wal") and path.stat().st_size == 0)
    }
