"""A workspace that cannot be written is searched all the same: its index is kept in the user's cache."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memlines.files import place as private
from memlines.memory.memory import Memory
from memlines.paths import Workspace
from tests.indexes import hashes, notes, write
from tests.programs import MAIN, read_only, unprivileged_run

PLAIN = {"MEMLINES_EMBEDDINGS__PROVIDER": "none"}


def memlines(workspace: Path, *arguments: str, code: int = 0) -> Any:
    """Run a command where permissions count, and return what it tells in JSON."""
    words = [*arguments, "--json", "-w", str(workspace)]
    done = unprivileged_run(f"import sys; sys.argv[0] = 'memlines'; {MAIN}", *words, env=PLAIN)
    assert done.returncode == code, (done.stdout, done.stderr)
    return json.loads(done.stdout)


def found(workspace: Path, word: str) -> list[str]:
    return [hit["path"] for hit in memlines(workspace, "search", word)["results"]]


@pytest.fixture
def locked(workspace: Path) -> Iterator[Path]:
    write(workspace, notes(5))
    with read_only(workspace):
        yield workspace


def test_the_first_search_works_and_leaves_nothing_in_the_workspace(locked: Path) -> None:
    before = hashes(locked)
    assert found(locked, "own3") == ["memory/n3.md"]
    assert (hashes(locked), (locked / ".memory").exists()) == (before, False)


def test_the_index_is_closed_to_others_and_used_again(locked: Path) -> None:
    memlines(locked, "sync")
    folder = Workspace.at(locked).cached_indexes
    inode = (folder / "index.sqlite").stat().st_ino
    assert memlines(locked, "sync")["unchanged"] == 5
    assert (folder / "index.sqlite").stat().st_ino == inode
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}


def test_it_is_kept_in_sync(workspace: Path) -> None:
    write(workspace, notes(5))
    with read_only(workspace):
        assert found(workspace, "own3") == ["memory/n3.md"]
    write(workspace, {"memory/new.md": "the zeppelin hangar\n"})
    with read_only(workspace):
        assert found(workspace, "zeppelin") == ["memory/new.md"]


def test_status_says_where_it_is_and_why(locked: Path) -> None:
    memlines(locked, "sync")
    status = memlines(locked, "status")
    assert status["index_path"] == str(Workspace.at(locked).cached_indexes / "index.sqlite")
    assert (status["index_note"], status["dirty"]) == (
        "in the cache, because the workspace cannot be written or has too long a path",
        False,
    )


def test_remembering_is_refused(locked: Path) -> None:
    told = memlines(locked, "remember", "something", code=7)
    assert (told["code"], "permission denied" in told["error"]) == ("write", True)


def test_doctor_says_that_only_remembering_does_not_work(locked: Path) -> None:
    memlines(locked, "sync")
    told = memlines(locked, "doctor", code=1)["findings"]
    problems = [item["message"] for item in told if item["level"] == "problem"]
    folder = Workspace.at(locked).cached_indexes
    assert problems == [f"{locked} cannot be written, so nothing can be remembered; the index is in {folder}"]


def test_once_it_can_be_written_the_index_is_in_its_place(workspace: Path) -> None:
    write(workspace, notes(5))
    with read_only(workspace):
        memlines(workspace, "sync")
    assert memlines(workspace, "sync")["indexed"]
    assert memlines(workspace, "status")["index_path"] == str(workspace / ".memory/index.sqlite")


def test_an_index_elsewhere_needs_no_right_to_write_in_the_workspace(locked: Path, tmp_path: Path) -> None:
    done = unprivileged_run(
        f"import sys; sys.argv[0] = 'memlines'; {MAIN}",
        *("search", "own3", "-w", str(locked)),
        env={**PLAIN, "MEMLINES_STORE__PATH": str(tmp_path / "elsewhere/index.sqlite")},
    )
    assert (done.returncode, "memory/n3.md" in done.stdout) == (0, True)


def test_what_is_forgotten_goes_from_the_cache_as_well(workspace: Path) -> None:
    write(workspace, {"memory/a.md": "- the spare key is under the third flower pot\n- other words\n"})
    with read_only(workspace):
        memlines(workspace, "sync")
    file = Workspace.at(workspace).cached_indexes / "index.sqlite"
    assert b"flower pot" in file.read_bytes()
    with Memory(workspace, {"embeddings.provider": "none"}) as memory:
        receipt = memory.forget(memory.forget_candidates("memory/a.md#L1"))
    assert (receipt.complete, b"flower pot" in file.read_bytes()) == (True, False)


def test_indexes_of_workspaces_that_are_gone_do_not_stay(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone, mounted = tmp_path / "gone", tmp_path / "mounted"
    for folder in (gone, mounted):
        folder.mkdir()
        home = Workspace.at(folder)
        private.ensure_index_folder(home, home.cached_indexes / "index.sqlite")
    kept, removed = Workspace.at(mounted).cached_indexes, Workspace.at(gone).cached_indexes
    gone.rmdir()
    home = Workspace.at(workspace)
    private.ensure_index_folder(home, home.cached_indexes / "index.sqlite")
    assert removed.is_dir()  # its disk may only not be mounted today
    later = time.time() + 31 * 86_400
    monkeypatch.setattr(time, "time", lambda: later)
    (tmp_path / "other").mkdir()
    other = Workspace.at(tmp_path / "other")
    private.ensure_index_folder(other, other.cached_indexes / "index.sqlite")
    assert (kept.is_dir(), removed.exists()) == (True, False)


@pytest.mark.skipif(not sys.platform.startswith("linux") or os.geteuid() != 0, reason="needs to mount")
def test_a_read_only_file_system_is_searched(workspace: Path, tmp_path: Path) -> None:
    write(workspace, notes(5))
    script = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@"'
    command = ["unshare", "--mount", "sh", "-c", script, "sh", str(workspace)]
    words = [sys.executable, "-c", MAIN, "search", "own3", "--json", "-w", str(workspace)]
    done = subprocess.run(
        [*command, *words], capture_output=True, encoding="utf-8", env={**os.environ, **PLAIN}, check=False
    )
    if "mount" in done.stderr or "unshare" in done.stderr:
        pytest.skip("nothing can be mounted here")
    assert [hit["path"] for hit in json.loads(done.stdout)["results"]] == ["memory/n3.md"]
