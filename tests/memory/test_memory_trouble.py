"""`Memory` answers beside other writers, threads, a full disk and a damaged index."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memlines import Memory, StoreBusy, StoreFull
from memlines.index.sync import run
from memlines.memory import manager
from tests.memories import fake_memory, words_memory, write
from tests.providers import MeaningsProvider

NOTES = {"MEMORY.md": "# Memory\n\nWe like the heron.\n", "a.md": "The kestrel lives here.\n"}


def paths(memory: Memory, query: str) -> list[str]:
    return [hit.path for hit in memory.search(query, min_score=0)]


def index_file(workspace: Path) -> Path:
    return workspace / ".memory/index.sqlite"


# Damage


def damage(workspace: Path, begin: float, end: float) -> None:
    """Overwrite a part of the index with what makes no sense."""
    file = index_file(workspace)
    size = file.stat().st_size
    with file.open("r+b") as stream:
        stream.seek(int(size * begin))
        stream.write(b"\xa5" * int(size * (end - begin)))


PLENTY = {f"{number}.md": f"Note {number}: topic{number}. {'lorem ipsum ' * 60}\n" for number in range(40)}


@pytest.mark.parametrize(("begin", "end"), [(0.0, 0.001), (0.01, 0.1), (0.3, 0.9), (0.02, 1.0)])
@pytest.mark.promise("P4")
def test_a_search_in_a_damaged_index_replaces_it_and_answers(
    workspace: Path, begin: float, end: float
) -> None:
    with words_memory(workspace, PLENTY) as memory:
        memory.sync()
    damage(workspace, begin, end)
    with words_memory(workspace, {}) as memory:
        result = memory.search("topic7")
        assert [hit.path for hit in result] == ["memory/7.md"]
        assert "set aside" in result.warnings[0]
        assert memory.search("topic8").warnings == ()


@pytest.mark.parametrize(("begin", "end"), [(0.0, 0.001), (0.3, 0.9), (0.02, 1.0)])
def test_status_of_a_damaged_index_is_a_warning(workspace: Path, begin: float, end: float) -> None:
    with words_memory(workspace, PLENTY) as memory:
        memory.sync()
    damage(workspace, begin, end)
    with words_memory(workspace, {}) as memory:
        status = memory.status()
    assert (status.dirty, status.chunks) == (True, 0)
    assert "memlines sync" in status.warnings[0]


@pytest.mark.promise("P4")
def test_damage_that_appears_while_the_index_is_open_is_repaired(workspace: Path) -> None:
    with words_memory(workspace, PLENTY, sync__on_search=False) as memory:
        memory.sync()
        damage(workspace, 0.02, 1.0)
        assert [hit.path for hit in memory.search("topic7")] == ["memory/7.md"]


@pytest.mark.promise("P4")
def test_a_foreign_file_in_the_place_of_the_index_is_set_aside(workspace: Path) -> None:
    write(workspace, NOTES)
    (workspace / ".memory").mkdir()
    index_file(workspace).write_text("not a database", encoding="utf-8")
    with words_memory(workspace, {}) as memory:
        assert paths(memory, "kestrel") == ["memory/a.md"]
    kept = list((workspace / ".memory").glob("index.sqlite.damaged-*"))
    assert [file.read_text(encoding="utf-8") for file in kept] == ["not a database"]


# Other writers

_HOLD_LOCK = """
import sys
from pathlib import Path
from memlines.locks import WriterLock
with WriterLock(Path(sys.argv[1])).held(5):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def another_writer(workspace: Path) -> Iterator[None]:
    """Let another process hold the writer lock."""
    lock = index_file(workspace).with_name("index.sqlite.lock")
    lock.parent.mkdir(exist_ok=True)
    program = [sys.executable, "-c", _HOLD_LOCK, str(lock)]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        try:
            yield
        finally:
            process.stdin.close()
            process.wait(timeout=10)


@pytest.mark.promise("P5")
def test_a_search_beside_another_writer_answers_from_the_old_index(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        memory.sync()
        write(workspace, {"b.md": "Another kestrel.\n"})
        with another_writer(workspace):
            result = memory.search("kestrel")
        assert [hit.path for hit in result] == ["memory/a.md"]
        assert "may be out of date" in result.warnings[0]
        assert "is being written by process" in result.warnings[0]
        assert sorted(paths(memory, "kestrel")) == ["memory/a.md", "memory/b.md"]


def test_a_first_search_beside_another_writer_says_so(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manager, "_FIRST_SEARCH_WAIT", 0.05)
    busy = pytest.raises(StoreBusy, match="is being written")
    with words_memory(workspace, NOTES) as memory, another_writer(workspace), busy:
        memory.search("kestrel")


@pytest.mark.promise("P6")
def test_a_search_on_a_full_disk_answers_from_the_old_index(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(job: object) -> None:
        raise StoreFull("no room left to write the index")

    with words_memory(workspace, NOTES) as memory:
        memory.sync()
        write(workspace, {"b.md": "Another kestrel.\n"})
        monkeypatch.setattr(run, "run", no_room)
        result = memory.search("kestrel")
    assert [hit.path for hit in result] == ["memory/a.md"]
    assert "no room left" in result.warnings[0]


def test_a_sync_of_the_same_memory_is_waited_for_only_so_long(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manager, "_SYNC_WAIT", 0.05)
    refusals: list[StoreBusy] = []
    with words_memory(workspace, NOTES) as memory:

        def sync_inside(completed: int, total: int, label: str) -> None:
            def sync() -> None:
                with pytest.raises(StoreBusy) as caught:
                    memory.sync()
                refusals.append(caught.value)

            thread = threading.Thread(target=sync)
            thread.start()
            thread.join()

        memory.sync(progress=sync_inside)
    assert "is being written by process" in str(refusals[0])


# Threads


@pytest.mark.promise("P5")
def test_four_threads_search_while_one_syncs(workspace: Path) -> None:
    provider = MeaningsProvider({"kestrel": (1.0, 0.0, 0.0, 0.0)})
    failures: list[BaseException] = []
    done = threading.Event()

    def guarded(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 (shown by the test)
            failures.append(error)

    with fake_memory(workspace, PLENTY | {"bird.md": "The kestrel lives here.\n"}, provider) as memory:
        memory.sync()

        def ask() -> None:
            while not done.is_set():
                assert "memory/bird.md" in paths(memory, "kestrel")

        def change() -> None:
            for number in range(12):
                write(workspace, {f"{number}.md": f"Changed {number}, topic{number}.\n"})
                memory.sync(force=number % 5 == 4)
            done.set()

        threads = [threading.Thread(target=guarded, args=(ask,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        guarded(change)
        done.set()
        for thread in threads:
            thread.join(timeout=30)
        assert failures == []
        assert memory.search("changed topic11", mode="words")[0].path == "memory/11.md"


@pytest.mark.promise("P5")
def test_threads_that_search_first_make_one_index(workspace: Path) -> None:
    answers: list[list[str]] = []
    with words_memory(workspace, NOTES, sync__search_seconds=60) as memory:  # however busy the machine is
        threads = [
            threading.Thread(target=lambda: answers.append(paths(memory, "kestrel"))) for _ in range(6)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=30)
    assert answers == [["memory/a.md"]] * 6


@pytest.mark.promise("P4")
def test_a_changed_letter_in_the_index_is_never_shown(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        memory.sync()
    content = index_file(workspace).read_bytes()
    assert content.count(b"The kestrel lives here.") == 1
    index_file(workspace).write_bytes(content.replace(b"kestrel lives", b"kestrel dives"))
    with words_memory(workspace, {}) as memory:
        result = memory.search("kestrel")
        assert [hit.snippet for hit in result] == ["The kestrel lives here."]
        assert "damaged" in result.warnings[0]


# New settings


def test_a_small_index_is_built_anew_by_the_next_search(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        memory.sync()
    with words_memory(workspace, {}, chunking__tokens=100) as memory:
        assert paths(memory, "kestrel") == ["memory/a.md"]
        assert memory.status().warnings == ()


def test_a_large_index_serves_as_it_is_until_a_sync(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manager, "_REBUILT_BY_SEARCH", 1)
    with words_memory(workspace, NOTES) as memory:
        memory.sync()
    with words_memory(workspace, {}, chunking__tokens=100) as memory:
        result = memory.search("kestrel")
        assert [hit.path for hit in result] == ["memory/a.md"]
        assert "'memlines sync' rebuilds the index: chunk tokens was 400" in result.warnings[0]
        assert memory.sync().rebuilt == "chunk tokens was 400 and is now 100"
        assert memory.search("kestrel").warnings == ()


def test_status_right_after_a_sync_is_not_dirty(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        memory.sync()
        assert not memory.status().dirty


# A first sync that is not done yet


@pytest.mark.promise("P5")
def test_a_search_during_a_first_sync_answers_from_what_is_there(workspace: Path) -> None:
    def stop_after_one(completed: int, total: int, label: str) -> None:
        if completed == 1:
            raise KeyboardInterrupt

    with words_memory(workspace, NOTES) as memory:
        with pytest.raises(KeyboardInterrupt):
            memory.sync(progress=stop_after_one)
        with another_writer(workspace):
            result = memory.search("heron")
        assert [hit.path for hit in result] == ["MEMORY.md"]
        assert "may be out of date" in result.warnings[0]
        assert [hit.path for hit in memory.search("kestrel")] == ["memory/a.md"]
