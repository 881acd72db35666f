"""`Memory` keeps its index up to date, answers whatever happens, and leaves the notes alone."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import recollect
import recollect.memory
from recollect import Memory, PathError, StoreBusy, StoreFull, WorkspaceError
from recollect.store.sqlite.index import Index
from recollect.sync import run
from tests.support_search import WORDS_ONLY, FakeProvider, fake_memory, words_memory, write

NOTES = {"MEMORY.md": "# Memory\n\nWe like the heron.\n", "a.md": "The kestrel lives here.\n"}


@pytest.fixture(autouse=True)
def _always_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every search look at the files, also where the machine is so busy that it would rest."""
    monkeypatch.setattr(recollect.memory, "_QUICK_SWEEP", 3600.0)


def paths(memory: Memory, query: str) -> list[str]:
    return [hit.path for hit in memory.search(query, min_score=0)]


def index_file(workspace: Path) -> Path:
    return workspace / ".memory/index.sqlite"


# The first search


def test_a_search_makes_the_index(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        assert paths(memory, "kestrel") == ["memory/a.md"]
    assert index_file(workspace).is_file()


def test_a_search_in_an_empty_workspace_finds_nothing_and_hints(workspace: Path) -> None:
    with words_memory(workspace, {}) as memory:
        result = memory.search("kestrel")
    assert len(result) == 0
    assert "there are no notes" in result.warnings[0]
    assert "recollect init" in result.warnings[0]


def test_a_search_in_an_empty_workspace_writes_nothing(workspace: Path) -> None:
    with words_memory(workspace, {}) as memory:
        memory.search("kestrel")
    assert [entry.name for entry in workspace.iterdir()] == ["memory"]


def test_a_workspace_needs_no_memory_md(workspace: Path) -> None:
    with words_memory(workspace, {"a.md": "The kestrel.\n"}) as memory:
        assert paths(memory, "kestrel") == ["memory/a.md"]


def test_a_workspace_needs_no_memory_folder(tmp_path: Path) -> None:
    with words_memory(tmp_path, {"MEMORY.md": "The kestrel.\n"}) as memory:
        assert paths(memory, "kestrel") == ["MEMORY.md"]


def test_a_workspace_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="does not exist"):
        Memory(tmp_path / "nowhere")


def test_searching_leaves_the_notes_as_they_are(workspace: Path) -> None:
    write(workspace, NOTES)
    before = {file: (file.read_bytes(), file.stat().st_mtime_ns) for file in workspace.rglob("*.md")}
    with words_memory(workspace, {}) as memory:
        memory.search("kestrel")
        memory.sync(force=True)
    after = {file: (file.read_bytes(), file.stat().st_mtime_ns) for file in workspace.rglob("*.md")}
    assert after == before


# Changes


def test_a_changed_file_is_noticed_at_the_next_search(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        assert paths(memory, "submarine") == []
        write(workspace, {"a.md": "The submarine lives here.\n"})
        assert paths(memory, "submarine") == ["memory/a.md"]
        assert paths(memory, "kestrel") == []


def test_a_change_that_keeps_size_and_time_is_noticed_right_after_writing(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        memory.sync()
        info = (workspace / "memory/a.md").stat()
        write(workspace, {"a.md": "The bittern lives here.\n"})
        os.utime(workspace / "memory/a.md", ns=(info.st_atime_ns, info.st_mtime_ns))
        assert paths(memory, "bittern") == ["memory/a.md"]


def test_a_new_file_is_noticed_at_the_next_search(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        memory.sync()
        write(workspace, {"deep/new.md": "A submarine.\n"})
        assert paths(memory, "submarine") == ["memory/deep/new.md"]


def test_a_deleted_file_is_noticed_at_the_next_search(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        memory.sync()
        (workspace / "memory/a.md").unlink()
        assert paths(memory, "kestrel") == []


def test_a_renamed_file_is_cited_by_its_new_name(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        memory.sync()
        (workspace / "memory/a.md").rename(workspace / "memory/b.md")
        assert paths(memory, "kestrel") == ["memory/b.md"]


def test_the_last_note_gone_leaves_nothing_to_find(workspace: Path) -> None:
    with words_memory(workspace, {"a.md": "The kestrel.\n"}) as memory:
        memory.sync()
        (workspace / "memory/a.md").unlink()
        assert paths(memory, "kestrel") == []


def test_another_memory_sees_changed_new_and_deleted_files(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        memory.sync()
    write(workspace, {"MEMORY.md": "We like the submarine.\n", "b.md": "Another submarine.\n"})
    (workspace / "memory/a.md").unlink()
    with words_memory(workspace, {}) as memory:
        assert sorted(paths(memory, "submarine")) == ["MEMORY.md", "memory/b.md"]
        assert paths(memory, "kestrel") == []


def test_a_change_by_another_program_is_seen_by_an_open_memory(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory, words_memory(workspace, {}) as other:
        memory.sync()
        write(workspace, {"a.md": "A submarine.\n"})
        other.sync()
        assert paths(memory, "submarine") == ["memory/a.md"]


def test_an_index_rebuilt_by_another_program_is_opened_again(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory, words_memory(workspace, {}) as other:
        memory.search("kestrel")
        other.sync(force=True)
        assert paths(memory, "kestrel") == ["memory/a.md"]


def test_an_index_deleted_while_open_is_made_again(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        memory.search("kestrel")
        for file in (workspace / ".memory").glob("index.sqlite*"):
            file.unlink()
        assert paths(memory, "kestrel") == ["memory/a.md"]


def test_with_on_search_off_a_change_waits_for_a_sync(workspace: Path) -> None:
    with words_memory(workspace, NOTES, sync__on_search=False) as memory:
        memory.sync()
        write(workspace, {"a.md": "A submarine.\n"})
        assert paths(memory, "submarine") == []
        memory.sync()
        assert paths(memory, "submarine") == ["memory/a.md"]


def test_with_on_search_off_the_first_search_still_makes_the_index(workspace: Path) -> None:
    with words_memory(workspace, NOTES, sync__on_search=False) as memory:
        assert paths(memory, "kestrel") == ["memory/a.md"]


def test_looking_for_changes_rests_where_it_is_slow(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recollect.memory, "_QUICK_SWEEP", -1.0)
    monkeypatch.setattr(recollect.memory, "_SWEEP_SHARE", 10**9)
    with words_memory(workspace, NOTES) as memory:
        memory.sync()
        for file in workspace.rglob("*.md"):
            os.utime(file, (1, 1))  # long ago, so that their fingerprints are trusted
        memory.sync()
        assert paths(memory, "kestrel") == ["memory/a.md"]
        write(workspace, {"a.md": "A submarine.\n"})
        assert paths(memory, "submarine") == []
        memory._rest_until = 0.0
        assert paths(memory, "submarine") == ["memory/a.md"]


def test_other_settings_build_the_index_anew(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        memory.sync()
    with words_memory(workspace, {}, chunking__tokens=100) as memory:
        report = memory.sync()
    assert report.rebuilt == "chunk tokens was 400 and is now 100"


# Sync


def test_a_report_counts_what_was_done(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        first = memory.sync()
        (workspace / "memory/a.md").unlink()
        second = memory.sync()
    assert (first.indexed, first.unchanged, first.removed) == (("MEMORY.md", "memory/a.md"), 0, ())
    assert (second.indexed, second.unchanged, second.removed) == ((), 1, ("memory/a.md",))


def test_progress_is_reported(workspace: Path) -> None:
    seen: list[tuple[int, int, str]] = []
    provider = FakeProvider({})
    with fake_memory(workspace, NOTES, provider) as memory:
        memory.sync(progress=lambda completed, total, label: seen.append((completed, total, label)))
    assert seen[0] == (0, 2, "indexing")
    assert (2, 2, "indexing") in seen
    assert seen[-1] == (2, 2, "embedding")


def test_a_forced_sync_builds_the_index_anew(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        memory.sync()
        report = memory.sync(force=True)
    assert (report.rebuilt, len(report.indexed)) == ("forced", 2)


# Reading


def test_read_returns_the_lines_that_are_asked_for(workspace: Path) -> None:
    with words_memory(workspace, {"a.md": "one\ntwo\nthree\nfour\n"}) as memory:
        excerpt = memory.read("memory/a.md", start=2, lines=2)
    assert (excerpt.text, excerpt.start, excerpt.lines, excerpt.next_start) == ("two\nthree", 2, 2, 4)


def test_read_of_a_note_that_does_not_exist_is_empty(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        excerpt = memory.read("memory/none.md")
    assert (excerpt.found, excerpt.text) == (False, "")


def test_read_refuses_what_is_not_part_of_the_memory(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory, pytest.raises(PathError):
        memory.read("../outside.md")


def test_read_needs_no_index(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        assert memory.read("MEMORY.md").found
    assert not index_file(workspace).exists()


# Status


def test_status_changes_nothing(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        status = memory.status()
    assert (status.dirty, status.files, status.last_sync) == (True, 0, None)
    assert not (workspace / ".memory").exists()


def test_status_after_a_sync(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        memory.sync()
        for file in workspace.rglob("*.md"):
            os.utime(file, (1, 1))
        memory.sync()
        status = memory.status()
    assert (status.dirty, status.files, status.chunks) == (False, 2, 2)
    assert status.last_sync is not None
    assert status.source_counts == ({"source": "memory", "files": 2, "chunks": 2},)


def test_status_sees_that_a_file_changed(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        memory.sync()
        write(workspace, {"a.md": "Something else.\n"})
        assert memory.status().dirty


def test_status_counts_vectors(workspace: Path) -> None:
    with fake_memory(workspace, NOTES, FakeProvider({})) as memory:
        memory.sync()
        status = memory.status()
    assert (status.provider, status.model, status.pending) == ("fake", "fake-1", 0)
    assert (status.vector["vectors"], status.vector["dims"]) == (2, 4)


def test_status_says_that_another_model_means_a_rebuild(workspace: Path) -> None:
    with fake_memory(workspace, NOTES, FakeProvider({})) as memory:
        memory.sync()
    with fake_memory(workspace, {}, FakeProvider({}, model="fake-2")) as memory:
        status = memory.status()
    assert status.dirty
    assert "built anew: model was 'fake-1' and is now 'fake-2'" in status.warnings[0]


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
    assert "recollect sync" in status.warnings[0]


def test_damage_that_appears_while_the_index_is_open_is_repaired(workspace: Path) -> None:
    with words_memory(workspace, PLENTY, sync__on_search=False) as memory:
        memory.sync()
        damage(workspace, 0.02, 1.0)
        assert [hit.path for hit in memory.search("topic7")] == ["memory/7.md"]


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
from recollect.files.lock import WriterLock
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
    monkeypatch.setattr(recollect.memory, "_FIRST_SEARCH_WAIT", 0.05)
    busy = pytest.raises(StoreBusy, match="is being written")
    with words_memory(workspace, NOTES) as memory, another_writer(workspace), busy:
        memory.search("kestrel")


def test_a_search_on_a_full_disk_answers_from_the_old_index(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(job: object, wait_seconds: float) -> None:
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
    monkeypatch.setattr(recollect.memory, "_SYNC_WAIT", 0.05)
    with words_memory(workspace, NOTES) as memory, memory._syncing, pytest.raises(StoreBusy):
        memory._sync(wait_seconds=0.05)


# Threads


def test_four_threads_search_while_one_syncs(workspace: Path) -> None:
    provider = FakeProvider({"kestrel": (1.0, 0.0, 0.0, 0.0)})
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


def test_threads_that_search_first_make_one_index(workspace: Path) -> None:
    answers: list[list[str]] = []
    with words_memory(workspace, NOTES) as memory:
        threads = [
            threading.Thread(target=lambda: answers.append(paths(memory, "kestrel"))) for _ in range(6)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=30)
    assert answers == [["memory/a.md"]] * 6


# Closing


def test_the_context_manager_closes_the_index(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        memory.search("kestrel")
        assert isinstance(memory._reader, Index)
    assert memory._reader is None


def test_closing_twice_is_harmless(workspace: Path) -> None:
    memory = words_memory(workspace, NOTES)
    memory.search("kestrel")
    memory.close()
    memory.close()


def test_a_closed_memory_opens_again_when_it_is_used(workspace: Path) -> None:
    memory = words_memory(workspace, NOTES)
    memory.close()
    with memory:
        assert paths(memory, "kestrel") == ["memory/a.md"]


def test_a_closed_memory_holds_no_file_open(workspace: Path) -> None:
    descriptors = Path("/proc/self/fd")
    if not descriptors.is_dir():
        pytest.skip("open files cannot be listed here")
    with fake_memory(workspace, NOTES, FakeProvider({})) as memory:
        memory.search("kestrel")
    targets = [entry.resolve() for entry in descriptors.iterdir()]
    assert not [target for target in targets if workspace in target.parents]


# Places


def test_the_index_can_be_kept_elsewhere(workspace: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere/{agent}.sqlite"
    with words_memory(workspace, NOTES, store__path=str(elsewhere), agent="coder") as memory:
        assert paths(memory, "kestrel") == ["memory/a.md"]
    assert (tmp_path / "elsewhere/coder.sqlite").is_file()
    assert not index_file(workspace).exists()


def test_two_agents_have_an_index_each(workspace: Path) -> None:
    template = ".memory/{agent}.sqlite"
    for agent in ("one", "two"):
        with words_memory(workspace, NOTES, store__path=template, agent=agent) as memory:
            memory.sync()
    assert sorted(file.name for file in (workspace / ".memory").glob("*.sqlite")) == [
        "one.sqlite",
        "two.sqlite",
    ]


def test_the_memory_can_be_named_by_a_string_with_a_tilde(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    write(tmp_path / "notes", NOTES)
    with Memory("~/notes", WORDS_ONLY) as memory:
        assert paths(memory, "kestrel") == ["memory/a.md"]
