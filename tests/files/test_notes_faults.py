"""When the n-th call into the system fails, a note is as it was or as it should be, and nothing is lost."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from memlines.errors import MemlinesError, WriteError
from memlines.files import history, trash
from memlines.files.atomic import TEMPORARY_PREFIX, TEMPORARY_SUFFIX
from memlines.files.notes import append
from memlines.memory.notes import versions
from memlines.memory.notes.undo import undo
from memlines.paths import Workspace
from tests.faults.scale import scaled
from tests.note_changes import delete, edit, remove_note, restore_note

pytestmark = pytest.mark.promise("P1", "P2")

DAY = "memory/2026-11-16.md"
NEW = "memory/people/anna.md"
OLD_TEXT = b"# Day\n\n- a\n- b\n"
CALLS = (
    *("open", "read", "write", "fsync", "chmod", "mkdir", "link", "rename", "replace", "unlink", "rmdir"),
    "scandir",
)
FAULTS = {
    "full": OSError(errno.ENOSPC, "No space left on device"),
    "broken": OSError(errno.EIO, "Input/output error"),
    "interrupted": KeyboardInterrupt(),
    "denied": PermissionError(errno.EACCES, "Permission denied"),
}
USUAL = [("full", False), ("broken", True), ("interrupted", False)]
CASES = [
    pytest.param(fault, sticky, marks=[] if (fault, sticky) in USUAL else pytest.mark.slow)
    for fault in FAULTS
    for sticky in (False, True)
]


def restore_version(home: Workspace) -> None:
    versions.restore_version(home, DAY, history.versions(home, DAY)[-1].name)


OPERATIONS: dict[str, Callable[[Workspace], object]] = {
    "append": lambda home: append(home, DAY, "- c"),
    "append under": lambda home: append(home, DAY, "- c", under="New"),
    "create": lambda home: append(home, NEW, "- c", title="Anna"),
    "edit": lambda home: edit(home, DAY, 3, 3, "- x", "- a"),
    "delete": lambda home: delete(home, DAY, 3, 3, "- a"),
    "remove": lambda home: remove_note(home, DAY),
    "restore a version": restore_version,
    "restore a note": lambda home: restore_note(home, trash.items(home)[0]),
    "undo": undo,
    "undo twice": lambda home: (undo(home), undo(home)),
    "scrub": lambda home: history.scrub(home, "- secret"),
}


@dataclass
class Faults:
    """Lets the n-th call fail, or all from the n-th on."""

    number: int
    error: BaseException
    sticky: bool
    seen: int = 0
    failed: list[str] = field(default_factory=list)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            for name in CALLS:
                patch.setattr(os, name, self._watched(name, getattr(os, name)))
            yield

    def _watched(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            self.seen += 1
            if self.seen == self.number or (self.sticky and self.seen > self.number):
                self.failed.append(name)
                raise self.error
            return real(*arguments, **options)

        return call


def prepared(folder: Path) -> Workspace:
    """Make a workspace with a note, a version of it that holds a secret, and a note in the trash."""
    (folder / "memory").mkdir(parents=True)
    home = Workspace.at(folder)
    (home.root / DAY).write_bytes(OLD_TEXT + b"- secret\n")
    delete(home, DAY, 5, 5, "- secret")
    (home.root / "memory/gone.md").write_bytes(b"- gone\n- secret\n")
    remove_note(home, "memory/gone.md")
    (home.private / "history" / DAY / f"{TEMPORARY_PREFIX}{'0' * 32}{TEMPORARY_SUFFIX}").write_bytes(
        b"- secret"
    )
    return home


def state(home: Workspace) -> dict[str, bytes]:
    """Return what every note holds, without unfinished files."""
    return {
        path.relative_to(home.root).as_posix(): path.read_bytes()
        for path in [*home.root.glob("*.md"), *(home.root / "memory").rglob("*.md")]
    }


def everything(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in folder.rglob("*.md") if path.is_file()]


def unfinished(home: Workspace) -> list[str]:
    return [path.name for path in home.root.rglob(f"{TEMPORARY_PREFIX}*")]


@pytest.mark.parametrize(("fault", "sticky"), CASES)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_any_call_may_fail(tmp_path: Path, operation: str, fault: str, sticky: bool) -> None:
    change = OPERATIONS[operation]
    before = prepared(tmp_path / "before")
    after = Workspace.at(shutil.copytree(before.root, tmp_path / "after"))
    change(after)
    step = scaled(small=3, full=1)  # each case begins at another call, so together they try all
    for number in range(1 + [*FAULTS].index(fault) % step, 500, step):
        home = Workspace.at(shutil.copytree(before.root, tmp_path / str(number)))
        faults = Faults(number, FAULTS[fault], sticky)
        error = outcome(faults, lambda home=home: change(home))  # type: ignore[misc]
        if operation == "scrub" and error is None:
            check_forgotten(home)
        check(home, before, after, error)
        shutil.rmtree(home.root)
        if not faults.failed:
            assert error is None
            return
    pytest.fail("the operation never got through")


def outcome(faults: Faults, change: Callable[[], object]) -> BaseException | None:
    with faults.at_work():
        try:
            change()
        except (MemlinesError, KeyboardInterrupt) as error:
            return error
    return None


def check(home: Workspace, before: Workspace, after: Workspace, error: BaseException | None) -> None:
    """Look at what a failure left, and that the next change clears away what is unfinished."""
    held, old, new = state(home), state(before), state(after)
    if error is None:
        assert held == new
    for path in {*held, *old, *new}:
        assert held.get(path) in (old.get(path), new.get(path))
    assert any(kept.startswith(OLD_TEXT) for kept in everything(home.root))
    for path in held:
        append(home, path, "- next")
    history.scrub(home, "- secret")
    check_forgotten(home)
    assert unfinished(home) == []


def check_forgotten(home: Workspace) -> None:
    files = [path for path in home.private.rglob("*") if path.is_file()]
    assert [path for path in files if b"- secret" in path.read_bytes()] == []


@pytest.mark.parametrize(
    ("fault", "advice"),
    [
        ("full", "Free some space on the disk and try again; the note is as it was"),
        ("denied", "Check the permissions of the note and its folder; the note is as it was"),
        ("broken", "Check the disk and try again; the note is as it was"),
    ],
)
def test_the_error_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str, advice: str
) -> None:
    home = prepared(tmp_path / "workspace")

    def fail(handle: int, data: bytes) -> int:
        raise FAULTS[fault]

    monkeypatch.setattr(os, "write", fail)
    with pytest.raises(WriteError) as error:
        append(home, DAY, "- c")
    assert (error.value.todo, (home.root / DAY).read_bytes()) == (advice, OLD_TEXT)


def test_a_change_that_is_there_but_not_confirmed_is_told_as_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = prepared(tmp_path / "workspace")
    monkeypatch.setattr("memlines.folders.Folder.sync", lambda _: (_ for _ in ()).throw(FAULTS["broken"]))
    with pytest.raises(WriteError, match="was changed, but the disk did not confirm it: input/output error"):
        append(home, DAY, "- c")


APPEND_UNTIL_KILLED = """\
import itertools, sys
from memlines.files.notes import append, rewrite
from memlines.paths import Workspace
home = Workspace.at(sys.argv[1])
path = "memory/2026-11-16.md"
for number in itertools.count():
    append(home, path, f"- {number}", title="Day")
    if number % 3 == 1:
        rewrite(home, path, lambda text: (text.replace(f"- {number}\\n", f"- {number} edited\\n"), None))
    print(number, flush=True)
"""
KILLS = 10


def test_a_kill_at_any_moment_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    for run in range(KILLS):
        (tmp_path / str(run)).mkdir()
        home = Workspace.at(tmp_path / str(run))
        with subprocess.Popen(
            [sys.executable, "-c", APPEND_UNTIL_KILLED, str(home.root)],
            stdout=subprocess.PIPE,
            encoding="utf-8",
        ) as process:
            assert process.stdout is not None
            acknowledged = [int(process.stdout.readline()) for _ in range(3 + run)]
            process.kill()
            acknowledged += [int(line) for line in process.stdout.read().split()]
        append(home, DAY, "- next")
        lines = (home.root / DAY).read_text(encoding="utf-8").splitlines()
        expected = [f"- {number} edited" if number % 3 == 1 else f"- {number}" for number in acknowledged]
        assert lines[2 : 2 + len(expected)] == expected
        assert unfinished(home) == []
