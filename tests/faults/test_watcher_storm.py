"""Whatever storm goes over the files: soon after it is quiet the index equals them."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memlines.files.scan import discover
from memlines.paths import Workspace
from tests.faults.conftest import Tell
from tests.faults.crowd import Member, crowd
from tests.faults.scale import scaled
from tests.faults.support import check_index
from tests.indexes import notes, reading, sync, write

pytest.importorskip("watchfiles")

pytestmark = [
    pytest.mark.promise("P3"),
    pytest.mark.usefixtures("each_provider"),
]

CREATES = scaled(1_000, 10_000)
FOLDERS = scaled(300, 300)
SAVES = scaled(500, 2_000)
DEADLINE = scaled(30, 300)
"""Seconds; far more than it takes, because other programs may be at work here."""

WATCH = """
import threading
from memlines.memory.memory import Memory
syncs, notices = [], []
stop = threading.Event()
memory = Memory(workspace)
watch = threading.Thread(target=memory.watch, args=[stop], kwargs={
    "on_sync": lambda report: syncs.append(len(report.indexed)), "on_notice": notices.append})
watch.start()
ready()
sys.stdin.readline()
threads = threading.active_count()
stop.set()
watch.join()
memory.close()
answer({"syncs": len(syncs), "indexed": sum(syncs), "threads": threads, "notices": notices})
"""


def create_many(workspace: Path) -> int:
    for number in range(CREATES):
        (workspace / f"memory/c{number}.md").write_text(f"shared own{number}\n", encoding="utf-8")
    return CREATES


def create_in_new_folders(workspace: Path) -> int:
    """Write notes right after their folders are made, which is when hints get lost."""
    for number in range(FOLDERS):
        folder = workspace / f"memory/d{number % 10}/e{number}/f"
        folder.mkdir(parents=True)
        (folder / "deep.md").write_text(f"shared own{number}\n", encoding="utf-8")
    return FOLDERS


def save_by_renaming(workspace: Path) -> int:
    """Save as many editors do: under another name first, which is then renamed."""
    for number in range(SAVES):
        draft = workspace / f"memory/.n{number % 20}.md.swp"
        draft.write_text(f"shared saved {number}\n", encoding="utf-8")
        draft.replace(workspace / f"memory/n{number % 20}.md")
    return SAVES


def edit_one_note(workspace: Path) -> int:
    for number in range(SAVES):
        with (workspace / "memory/n0.md").open("a", encoding="utf-8") as stream:
            stream.write(f"shared line {number}\n")
    return SAVES


def move_folders(workspace: Path) -> int:
    """Move folders about, out of sight and back."""
    write(workspace, {f"memory/g{number}/n.md": f"shared own{number}\n" for number in range(50)})
    for number in range(50):
        place = workspace / f"memory/g{number}"
        place.rename(workspace / f"g{number}" if number % 2 else workspace / f"memory/moved{number}")
    for number in range(1, 50, 4):
        (workspace / f"g{number}").rename(workspace / f"memory/back{number}")
    return 100


STORMS: list[Callable[[Path], int]] = [
    create_many,
    create_in_new_folders,
    save_by_renaming,
    edit_one_note,
    move_folders,
]


def is_equal(workspace: Path) -> bool:
    """Tell whether the index knows every file as it is now."""
    found = {file.path: file.fingerprint for file in discover(Workspace.at(workspace), (), 10**7).files}
    with reading(workspace) as index:
        return {path: known.fingerprint for path, known in index.files().items()} == found


CASES = [(storm, "none") for storm in STORMS] + [(create_many, "builtin"), (edit_one_note, "builtin")]


@pytest.mark.parametrize(("storm", "provider"), CASES, indirect=["provider"])
def test_the_index_equals_the_files_soon_after_a_storm(
    workspace: Path, tell: Tell, storm: Callable[[Path], int]
) -> None:
    write(workspace, notes(20))
    sync(workspace)
    with crowd([Member(WATCH, workspace)]) as [watcher]:
        time.sleep(1)
        changes = storm(workspace)
        quiet = time.monotonic()
        while not is_equal(workspace):
            assert time.monotonic() - quiet < DEADLINE
            time.sleep(0.1)
        took = time.monotonic() - quiet
        watcher.go()
        told = watcher.answer()
    check_index(workspace)
    assert told["notices"] == []
    assert told["threads"] <= 4
    if storm is edit_one_note:
        assert told["indexed"] < changes / 2  # not once for every change
    name = getattr(storm, "__name__", "").replace("_", " ")
    tell(
        f"watcher, {name}: {changes} changes, equal {took:.1f} s after quiet, in {told['syncs']} syncs that"
        f" indexed {told['indexed']} files"
    )
