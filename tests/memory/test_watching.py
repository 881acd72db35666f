"""While a memory is watched, its index follows the files, whatever happens to them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from memlines import Memory, StoreFull, WorkspaceError
from memlines.files import watch as hints_module
from memlines.files.watch import Hints, NoHints, Places, Unheard
from memlines.index.store.sqlite.index import Index
from memlines.index.sync import run
from memlines.memory import watching as watching_module
from memlines.paths import Workspace
from tests.indexes import chunks_in, found_by, index_file, notes, reading, write
from tests.memories import WORDS_ONLY, fake_memory
from tests.programs import MAIN, environment
from tests.providers import MeaningsProvider
from tests.waiting import Watched, eventually, is_equal, watching

QUICK = {**WORDS_ONLY, "sync.watch_debounce_ms": 20}


def paths_in(workspace: Path) -> set[str]:
    index = Index.reader(index_file(workspace))
    if index is None:
        return set()
    try:
        return set(chunks_in(index))
    finally:
        index.close()


def is_found(workspace: Path, word: str) -> bool:
    with reading(workspace) as index:
        return bool(found_by(index, word))


@pytest.fixture
def watched(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Watched:  # type: ignore[misc]
    """A watch over three notes that has seen them, and hears of changes only by the system."""
    monkeypatch.setattr(watching_module, "_SWEEP_SECONDS", 3600.0)
    write(workspace, notes(3))
    with Memory(workspace, QUICK) as memory, watching(memory) as watch:
        eventually(lambda: is_equal(workspace))
        yield watch


# What it follows


@pytest.mark.usefixtures("watched")
@pytest.mark.parametrize("name", ["memory/new.md", "MEMORY.md", "memory/a/b/c/deep.md", "memory/ü.md"])
@pytest.mark.promise("P3")
def test_a_new_note_is_indexed(workspace: Path, name: str) -> None:
    write(workspace, {name: "the okapi"})
    eventually(lambda: name in paths_in(workspace))


@pytest.mark.usefixtures("watched")
@pytest.mark.promise("P3")
def test_a_changed_note_is_indexed_again(workspace: Path) -> None:
    write(workspace, {"memory/n1.md": "the okapi"})
    eventually(lambda: is_equal(workspace))


@pytest.mark.usefixtures("watched")
@pytest.mark.promise("P3")
def test_a_deleted_note_leaves_the_index(workspace: Path) -> None:
    (workspace / "memory/n1.md").unlink()
    eventually(lambda: is_equal(workspace))


@pytest.mark.usefixtures("watched")
@pytest.mark.promise("P3")
def test_a_note_that_is_saved_by_renaming_is_indexed_again(workspace: Path) -> None:
    (workspace / "memory/n1.md~").write_text("the okapi", encoding="utf-8")
    (workspace / "memory/n1.md~").replace(workspace / "memory/n1.md")
    eventually(lambda: is_equal(workspace))


@pytest.mark.usefixtures("watched")
@pytest.mark.promise("P3")
def test_a_note_in_a_folder_that_was_made_later_is_followed(workspace: Path) -> None:
    write(workspace, {"memory/later/a.md": "the okapi"})
    eventually(lambda: is_equal(workspace))
    write(workspace, {"memory/later/a.md": "the gnu"})
    eventually(lambda: is_equal(workspace))


@pytest.mark.usefixtures("watched")
def test_an_empty_folder_is_followed(workspace: Path, tmp_path: Path) -> None:
    (workspace / "memory/later").mkdir()
    eventually(lambda: index_file(workspace).exists())
    (tmp_path / "a.md").write_text("the okapi", encoding="utf-8")
    (tmp_path / "a.md").rename(workspace / "memory/later/a.md")
    eventually(lambda: is_equal(workspace))


@pytest.mark.usefixtures("watched")
@pytest.mark.promise("P3")
def test_a_renamed_folder_is_followed(workspace: Path) -> None:
    write(workspace, {f"memory/old/n{number}.md": f"okapi{number}" for number in range(15)})
    eventually(lambda: is_equal(workspace))
    (workspace / "memory/old").rename(workspace / "memory/new")
    eventually(lambda: is_equal(workspace))
    write(workspace, {"memory/new/n3.md": "the gnu"})
    eventually(lambda: is_equal(workspace))


@pytest.mark.usefixtures("watched")
@pytest.mark.promise("P3")
def test_a_folder_deleted_and_made_again_is_followed(workspace: Path) -> None:
    shutil.rmtree(workspace / "memory")
    eventually(lambda: is_equal(workspace))
    write(workspace, notes(2))
    eventually(lambda: is_equal(workspace))
    write(workspace, {"memory/n1.md": "the gnu"})
    eventually(lambda: is_equal(workspace))


@pytest.mark.usefixtures("watched")
def test_a_folder_deleted_and_made_again_at_once_is_followed(workspace: Path) -> None:
    for turn in range(5):
        shutil.rmtree(workspace / "memory")
        write(workspace, {"memory/n0.md": f"the okapi {turn}"})
        eventually(lambda: is_equal(workspace))
        write(workspace, {"memory/n0.md": f"the gnu {turn}"})
        eventually(lambda: is_equal(workspace))


def test_a_notes_folder_that_appears_later_is_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching_module, "_SWEEP_SECONDS", 3600.0)
    with Memory(tmp_path, QUICK) as memory, watching(memory):
        eventually(lambda: index_file(tmp_path).exists())
        write(tmp_path, notes(3))
        eventually(lambda: is_equal(tmp_path))
        write(tmp_path, {"memory/n1.md": "the gnu"})
        eventually(lambda: is_equal(tmp_path))


@pytest.mark.parametrize("extra", ["extra", "extra/a.md"])
@pytest.mark.promise("P3")
def test_extra_paths_are_followed(
    workspace: Path, tmp_path: Path, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching_module, "_SWEEP_SECONDS", 3600.0)
    write(tmp_path, {"extra/a.md": "the zebra"})
    with Memory(workspace, {**QUICK, "extra_paths": [str(tmp_path / extra)]}) as memory, watching(memory):
        eventually(lambda: paths_in(workspace) == {"../extra/a.md"})
        write(tmp_path, {"extra/a.md": "the okapi"})
        eventually(lambda: is_found(workspace, "okapi"))


def test_transcripts_are_followed(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching_module, "_SWEEP_SECONDS", 3600.0)
    said = {"type": "message", "message": {"role": "user", "content": "Which okapi?"}}
    with Memory(workspace, {**QUICK, "sources": ["memory", "sessions"]}) as memory, watching(memory):
        eventually(lambda: index_file(workspace).exists())
        write(workspace, {"sessions/a.jsonl": json.dumps(said) + "\n"})
        eventually(lambda: paths_in(workspace) == {"sessions/a.jsonl"})


def test_vectors_follow_in_the_background(workspace: Path) -> None:
    memory = fake_memory(workspace, {}, MeaningsProvider({}), sync__watch_debounce_ms=20)
    write(workspace, notes(3))
    with memory, watching(memory):
        eventually(lambda: index_file(workspace).exists() and memory.status().vector["vectors"] == 3)
        write(workspace, {"memory/late.md": "the okapi"})
        eventually(lambda: memory.status().vector["vectors"] == 4)


# Storms


@pytest.mark.usefixtures("watched")
@pytest.mark.promise("P3")
def test_files_written_right_after_their_folders_are_all_indexed(workspace: Path) -> None:
    write(workspace, {f"memory/d{n % 60}/e{n % 7}/f{n}/n.md": f"own{n}" for n in range(300)})
    eventually(lambda: is_equal(workspace))


@pytest.mark.usefixtures("watched")
@pytest.mark.promise("P3")
def test_very_many_new_files_are_all_indexed(workspace: Path) -> None:
    write(workspace, {f"memory/many/n{number}.md": f"own{number}" for number in range(2000)})
    eventually(lambda: len(paths_in(workspace)) == 2003)
    assert is_equal(workspace)


def test_a_file_edited_over_and_over_is_indexed_seldom(workspace: Path, watched: Watched) -> None:
    for turn in range(2000):
        (workspace / "memory/n1.md").write_text(f"turn {turn}", encoding="utf-8")
    eventually(lambda: is_equal(workspace))
    assert len(watched.reports) < 100


@pytest.mark.usefixtures("watched")
@pytest.mark.promise("P3")
def test_many_saves_by_renaming_leave_the_last_one(workspace: Path) -> None:
    for turn in range(500):
        (workspace / "memory/.save").write_text(f"turn {turn}", encoding="utf-8")
        (workspace / "memory/.save").replace(workspace / f"memory/n{turn % 3}.md")
    eventually(lambda: is_equal(workspace))


@pytest.mark.promise("P12")
def test_a_storm_leaves_no_threads_behind(workspace: Path) -> None:
    before = threading.active_count()
    write(workspace, notes(3))
    with Memory(workspace, QUICK) as memory, watching(memory):
        write(workspace, {f"memory/d{number}/n.md": f"own{number}" for number in range(200)})
        eventually(lambda: is_equal(workspace))
    assert threading.active_count() == before


# Without hints


@pytest.fixture
def _deaf(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the system refuse to tell of changes, as it does when its limit is reached."""

    def refuse(*arguments: object, **options: object) -> None:
        raise OSError("OS file watch limit reached")

    monkeypatch.setattr("watchfiles.watch", refuse_iteration(refuse))


def refuse_iteration(refuse: object) -> object:
    def listen(*arguments: object, **options: object) -> object:
        assert callable(refuse)
        yield refuse()

    return listen


@pytest.mark.usefixtures("_deaf")
@pytest.mark.promise("P3")
def test_where_the_system_tells_nothing_the_files_are_polled(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching_module, "_POLL_SECONDS", 0.05)
    write(workspace, notes(3))
    with Memory(workspace, QUICK) as memory, watching(memory) as watch:
        eventually(lambda: is_equal(workspace))
        write(workspace, {"memory/late.md": "the okapi"})
        eventually(lambda: is_equal(workspace))
    assert "the system does not report changes (OS file watch limit reached)" in watch.notices[0]


@pytest.mark.usefixtures("_deaf")
def test_polling_is_told_once(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching_module, "_POLL_SECONDS", 0.05)
    with Memory(workspace, QUICK) as memory, watching(memory) as watch:
        for number in range(3):
            write(workspace, {f"memory/d{number}/n.md": "the okapi"})
            eventually(lambda: is_equal(workspace))
    assert len(watch.notices) == 1


def test_with_the_setting_off_the_files_are_polled(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching_module, "_POLL_SECONDS", 0.05)
    with Memory(workspace, {**QUICK, "sync.watch": False}) as memory, watching(memory) as watch:
        write(workspace, notes(3))
        eventually(lambda: is_equal(workspace))
    assert watch.notices == []


@pytest.mark.promise("P3")
def test_what_was_not_heard_is_found_by_the_sweep(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching_module, "_SWEEP_SECONDS", 0.05)
    monkeypatch.setattr(Places, "matters", lambda *_: False)
    write(workspace, notes(3))
    with Memory(workspace, QUICK) as memory, watching(memory):
        eventually(lambda: is_equal(workspace))
        write(workspace, {"memory/late.md": "the okapi"})
        eventually(lambda: is_equal(workspace))


@pytest.mark.promise("P3")
def test_a_watcher_that_breaks_is_replaced(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    heard = Hints.heard
    breaks = iter([False, True])

    def break_once(hints: Hints) -> bool:
        if next(breaks, False):
            raise Unheard("the queue is gone")
        return heard(hints)

    monkeypatch.setattr(Hints, "heard", break_once)
    monkeypatch.setattr(watching_module, "_WRITER_WAIT", 0.05)
    monkeypatch.setattr(watching_module, "_SWEEP_SECONDS", 3600.0)
    with Memory(workspace, QUICK) as memory, watching(memory) as watch:
        eventually(lambda: watch.notices)
        write(workspace, notes(3))
        eventually(lambda: is_equal(workspace))
    assert watch.notices == ["listening for changes starts again: the queue is gone"]


def test_nothing_is_heard_where_nobody_listens() -> None:
    assert not NoHints(threading.Event()).heard()


# What matters


@pytest.mark.parametrize(
    ("name", "matters"),
    [
        ("MEMORY.md", True),
        ("memory.md", True),
        ("memory", True),
        ("memory/a.md", True),
        ("memory/deep", True),
        ("memory/deep/a.md", True),
        ("memory/.memlines-0123456789abcdef0123456789abcdef.tmp", False),
        ("memory/node_modules", False),
        ("README.md", False),
        (".memory", False),
        (".memory/index.sqlite-wal", False),
        ("src/main.py", False),
        ("", True),
    ],
)
def test_only_changes_of_notes_matter(workspace: Path, name: str, matters: bool) -> None:
    (workspace / "memory/deep").mkdir()
    places = Places(Workspace.at(workspace), (), ("memory",))
    places.folders()
    assert places.matters(str(workspace.resolve() / name)) is matters


def test_listened_to_are_the_folders_of_notes_only(workspace: Path, tmp_path: Path) -> None:
    for folder in ("memory/a/b", "memory/node_modules/x", ".memory", "src/deep", "sessions"):
        (workspace / folder).mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (workspace / "memory/link").symlink_to(tmp_path / "elsewhere")
    root = workspace.resolve()
    folders = Places(Workspace.at(workspace), (), ("memory",)).folders()
    assert set(folders) == {str(root / name) for name in ("", "memory", "memory/a", "memory/a/b")}


# Trouble


def test_a_sync_that_fails_is_told_and_tried_again(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = threading.Event()
    real = run.run

    def sync(*arguments: object) -> object:
        if full.is_set():
            raise StoreFull("no room left to write the index")
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(run, "run", sync)
    write(workspace, {"memory/first.md": "the zebra"})
    with Memory(workspace, QUICK) as memory, watching(memory) as watch:
        eventually(lambda: watch.reports)  # the index may be equal before the first sync has ended
        full.set()
        write(workspace, notes(3))
        eventually(lambda: watch.notices)
        full.clear()
        write(workspace, {"memory/late.md": "the okapi"})
        eventually(lambda: is_equal(workspace))
    assert watch.notices == ["no room left to write the index"]


def test_files_that_are_gone_in_a_suspicious_number_are_told_once(workspace: Path) -> None:
    write(workspace, notes(20))
    with Memory(workspace, QUICK) as memory, watching(memory) as watch:
        eventually(lambda: is_equal(workspace))
        for number in range(15):
            (workspace / f"memory/n{number}.md").unlink()
        eventually(lambda: watch.notices)
        write(workspace, {"memory/late.md": "the okapi"})
        eventually(lambda: "memory/late.md" in paths_in(workspace))
        assert "memory/n3.md" in paths_in(workspace)
    assert len([notice for notice in watch.notices if notice.startswith("15 of 20")]) == 1


@pytest.mark.parametrize("replaced", [False, True])
def test_a_workspace_that_is_moved_away_ends_the_watch(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, replaced: bool
) -> None:
    monkeypatch.setattr(watching_module, "_SWEEP_SECONDS", 0.05)
    write(workspace, notes(3))
    with Memory(workspace, QUICK) as memory, watching(memory) as watch:
        eventually(lambda: is_equal(workspace))
        workspace.rename(tmp_path / "moved")
        if replaced:
            workspace.mkdir()
        watch.thread.join(60)
    assert isinstance(watch.error, WorkspaceError)
    assert "was moved or deleted while it was watched" in str(watch.error)
    assert not (workspace / ".memory").exists()


# Two watchers


def test_a_second_watcher_says_who_is_first_and_takes_over(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching_module, "_TAKE_OVER_SECONDS", 0.05)
    write(workspace, notes(3))
    with Memory(workspace, QUICK) as one, Memory(workspace, QUICK) as two, watching(one) as first:
        eventually(lambda: is_equal(workspace))
        with watching(two) as second:
            eventually(lambda: second.notices)
            assert f"watched already by process {os.getpid()}" in second.notices[0]
            first.stop.set()
            first.thread.join(60)
            write(workspace, {"memory/late.md": "the okapi"})
            eventually(lambda: is_equal(workspace))
            assert second.reports


def test_a_second_watcher_that_waits_can_be_stopped(workspace: Path) -> None:
    with Memory(workspace, QUICK) as one, Memory(workspace, QUICK) as two, watching(one):
        eventually(lambda: index_file(workspace).exists())
        with watching(two) as second:
            eventually(lambda: second.notices)
    assert (second.reports, second.error) == ([], None)


def test_a_watch_that_is_stopped_before_it_begins_does_nothing(workspace: Path) -> None:
    stop = threading.Event()
    stop.set()
    with Memory(workspace, QUICK) as memory:
        memory.watch(stop)
    assert not index_file(workspace).exists()


# The command


def start_command(workspace: Path, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", MAIN, "watch", "-w", str(workspace), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env=environment({"MEMLINES_SYNC__WATCH_DEBOUNCE_MS": "20"}),
    )


@pytest.mark.skipif(os.name == "nt", reason="signals are others there")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_tells_of_syncs_until_a_signal_ends_it(workspace: Path, number: int) -> None:
    process = start_command(workspace, "--json")
    assert process.stdout is not None
    assert json.loads(process.stdout.readline()) == {"event": "watching", "workspace": str(workspace)}
    write(workspace, {"memory/n0.md": "the okapi"})
    told = json.loads(process.stdout.readline())
    assert (told["event"], told["indexed"], told["held_back"]) == ("sync", ["memory/n0.md"], 0)
    process.send_signal(number)
    rest, errors = process.communicate(timeout=60)
    assert (process.returncode, rest, errors) == (0, "", "")


@pytest.mark.skipif(os.name == "nt", reason="signals are others there")
def test_the_command_speaks_to_people(workspace: Path) -> None:
    process = start_command(workspace)
    assert process.stdout is not None
    assert process.stdout.readline() == f"Watching {workspace} (Ctrl-C ends)\n"
    write(workspace, {"memory/n0.md": "the okapi"})
    assert process.stdout.readline()[8:] == "  1 indexed, 0 removed\n"
    process.send_signal(signal.SIGTERM)
    assert process.communicate(timeout=60) == ("", "")


def test_the_watcher_is_imported_late() -> None:
    code = "import sys, memlines.memory.watching; print('watchfiles' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert told.stdout == "False\n"
    assert hints_module.Hints.listens
