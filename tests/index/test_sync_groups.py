"""Many small files are written together, and a large group while the next files are read."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from memlines.errors import StoreFull
from memlines.index.store.sqlite.index import Change, Index
from memlines.index.sync import words
from tests.index.test_sync_interrupted import Interrupt
from tests.indexes import assert_sound, expected, index_file, indexed, notes, settle, sync, write


class Writes:
    """How many files each transaction wrote, and whether another thread did it; one of them may fail."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.files: list[int] = []
        self.in_thread: list[bool] = []
        self.failing = 0
        real = Index.write

        def count(index: Index, changes: Sequence[Change]) -> None:
            self.files.append(len(changes))
            self.in_thread.append(threading.current_thread() is not threading.main_thread())
            if len(self.files) == self.failing:
                raise StoreFull("no room left", todo="Free some disk space")
            real(index, changes)

        monkeypatch.setattr(Index, "write", count)


@pytest.fixture
def writes(monkeypatch: pytest.MonkeyPatch) -> Writes:
    return Writes(monkeypatch)


@pytest.fixture
def small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let two notes make a group that another thread writes."""
    monkeypatch.setattr(words, "_WRITTEN_AT_ONCE", 1 + max(map(len, notes(7).values())))


def test_small_files_are_written_in_one_transaction(workspace: Path, writes: Writes) -> None:
    write(workspace, notes(7))
    sync(workspace)
    assert (writes.files, writes.in_thread) == ([7], [False])


@pytest.mark.usefixtures("small_groups")
def test_large_groups_are_written_by_another_thread(workspace: Path, writes: Writes) -> None:
    write(workspace, notes(7))
    sync(workspace)
    assert (writes.files, writes.in_thread) == ([2, 2, 2, 1], [True, True, True, False])
    assert indexed(workspace) == expected(workspace)


@pytest.mark.usefixtures("small_groups")
def test_new_changed_and_skipped_files_in_several_groups_make_the_same_index(workspace: Path) -> None:
    write(workspace, notes(4))
    sync(workspace)
    write(workspace, notes(9) | {"memory/n1.md": "changed", "memory/n3.md": "changed too"})
    (workspace / "memory/n5.md").write_bytes(b"\xff\xfe not text")
    report = sync(workspace)
    assert [problem.path for problem in report.skipped] == ["memory/n5.md"]
    assert_sound(index_file(workspace))
    (workspace / "memory/n5.md").unlink()
    sync(workspace)
    assert indexed(workspace) == expected(workspace)


@pytest.mark.usefixtures("small_groups")
def test_an_interrupt_between_groups_keeps_every_file_that_was_finished(workspace: Path) -> None:
    write(workspace, notes(7))
    with pytest.raises(KeyboardInterrupt):
        sync(workspace, progress=Interrupt(5))
    assert sync(workspace).unchanged == 5


@pytest.mark.usefixtures("small_groups")
def test_what_fails_in_the_other_thread_is_raised_and_done_by_the_next_sync(
    workspace: Path, writes: Writes
) -> None:
    write(workspace, notes(7))
    writes.failing = 2
    with pytest.raises(StoreFull):
        sync(workspace)
    assert_sound(index_file(workspace))
    sync(workspace)
    assert indexed(workspace) == expected(workspace)


UNCHANGED = """
import sys
from memlines import Memory
with Memory(sys.argv[1], {"embeddings.provider": "none"}) as memory:
    report = memory.sync()
late = ("text.terms", "text.days", "index.search", "index.sync.words", "memory.answering", "memory.facts")
loaded = [name for name in sys.modules for part in late if name.startswith("memlines." + part)]
print(report.unchanged, loaded, "numpy" in sys.modules)
"""


def test_a_sync_without_changes_imports_nothing_that_reads_texts(workspace: Path) -> None:
    write(workspace, notes(3))
    for note in notes(3):
        settle(workspace / note)
    sync(workspace)
    run = subprocess.run(
        [sys.executable, "-c", UNCHANGED, str(workspace)], capture_output=True, encoding="utf-8", check=True
    )
    assert run.stdout == "3 [] False\n"
