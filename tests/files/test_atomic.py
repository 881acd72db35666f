"""Whole files or none; what a workspace starts with."""

from __future__ import annotations

import os
import random
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from memlines.errors import StoreReadOnly, WorkspaceError
from memlines.files.atomic import TEMPORARY_PREFIX, TEMPORARY_SUFFIX, create, sync_folder
from memlines.files.place import begin_workspace, ensure_folder, ensure_private
from memlines.files.scan import discover
from memlines.paths import Workspace
from tests.programs import unprivileged_run

KILLS = 25


def listing(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# create


@pytest.mark.promise("P1")
def test_a_new_file_is_written(tmp_path: Path) -> None:
    assert create(tmp_path / "a.md", "one\ntwo é\n")
    assert (tmp_path / "a.md").read_bytes() == "one\ntwo é\n".encode()


@pytest.mark.promise("P1")
def test_no_temporary_file_is_left(tmp_path: Path) -> None:
    create(tmp_path / "a.md", "text")
    assert listing(tmp_path) == ["a.md"]


@pytest.mark.promise("P2")
def test_an_existing_file_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("old", encoding="utf-8")
    assert not create(tmp_path / "a.md", "new")
    assert (tmp_path / "a.md").read_text(encoding="utf-8") == "old"


def test_a_refusal_leaves_no_temporary_file(tmp_path: Path) -> None:
    (tmp_path / "a.md").touch()
    create(tmp_path / "a.md", "new")
    assert listing(tmp_path) == ["a.md"]


@pytest.mark.parametrize("target", ["missing", "file"])
@pytest.mark.promise("P7")
def test_a_link_is_never_written_through(tmp_path: Path, target: str) -> None:
    (tmp_path / "file").write_text("old", encoding="utf-8")
    (tmp_path / "a.md").symlink_to(target)
    assert not create(tmp_path / "a.md", "new")
    assert (tmp_path / "file").read_text(encoding="utf-8") == "old"


@pytest.mark.promise("P1")
def test_a_text_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(UnicodeEncodeError):
        create(tmp_path / "a.md", "half a pair: \ud800")
    assert listing(tmp_path) == []


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        create(tmp_path / "no" / "a.md", "text")


@pytest.mark.promise("P1")
def test_the_content_is_durable_before_the_name_and_the_name_before_the_return(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    fsync, link = os.fsync, os.link

    def note_fsync(handle: int) -> None:
        order.append("folder" if os.path.isdir(f"/dev/fd/{handle}") else "file")  # noqa: PTH112
        fsync(handle)

    def note_link(source: str, target: str, **options: Any) -> None:
        order.append("name")
        link(source, target, **options)

    monkeypatch.setattr(os, "fsync", note_fsync)
    monkeypatch.setattr(os, "link", note_link)
    create(tmp_path / "a.md", "text")
    assert order == ["file", "name", "folder"]


def without_links(source: str, target: str, **options: object) -> None:
    raise PermissionError(1, "this file system has no hard links")


def test_a_file_system_without_links_gets_the_file_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "link", without_links)
    assert create(tmp_path / "a.md", "text")
    assert listing(tmp_path) == ["a.md"]


@pytest.mark.promise("P2")
def test_nor_is_a_file_replaced_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "link", without_links)
    (tmp_path / "a.md").write_text("old", encoding="utf-8")
    assert not create(tmp_path / "a.md", "new")
    assert (tmp_path / "a.md").read_text(encoding="utf-8") == "old"


@pytest.mark.promise("P1")
def test_of_many_at_once_exactly_one_wins(tmp_path: Path) -> None:
    code = "import sys\nfrom pathlib import Path\nfrom memlines.files.atomic import create\n"
    code += "sys.stdin.readline()\nprint(create(Path(sys.argv[1]), sys.argv[2] * 10_000))\n"
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path / "a.md"), str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        for number in range(4)
    ]
    won = [racer.communicate("go\n")[0].strip() == "True" for racer in racers]
    assert won.count(True) == 1
    assert (tmp_path / "a.md").read_text(encoding="utf-8") == str(won.index(True)) * 10_000


CREATE_UNTIL_KILLED = """\
import itertools, sys
from pathlib import Path
from memlines.files.atomic import create
folder = Path(sys.argv[1])
print("ready", flush=True)
for number in itertools.count():
    create(folder / f"{number}.md", f"{number:08d}\\n" * 20_000)
    print(number, flush=True)
"""


@pytest.mark.promise("P1")
def test_a_kill_at_any_moment_leaves_whole_files_only(tmp_path: Path) -> None:
    chance = random.Random(25)
    for run in range(KILLS):
        folder = tmp_path / str(run)
        folder.mkdir()
        with subprocess.Popen(
            [sys.executable, "-c", CREATE_UNTIL_KILLED, str(folder)], stdout=subprocess.PIPE, encoding="utf-8"
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            time.sleep(chance.uniform(0, 0.03))
            process.kill()
            acknowledged = process.stdout.read().splitlines()
        check_what_is_left(folder, acknowledged)


def check_what_is_left(folder: Path, acknowledged: list[str]) -> None:
    notes = [path for path in folder.iterdir() if path.suffix == ".md"]
    assert {path.stem for path in notes} >= {number for number in acknowledged if number}
    for path in notes:
        assert path.read_text(encoding="utf-8") == f"{int(path.stem):08d}\n" * 20_000
    others = [path.name for path in folder.iterdir() if path not in notes]
    assert len(others) <= 1
    assert all(name.startswith(TEMPORARY_PREFIX) and name.endswith(TEMPORARY_SUFFIX) for name in others)


def test_a_temporary_file_is_never_a_note(workspace: Path) -> None:
    (workspace / "memory" / f"{TEMPORARY_PREFIX}1{TEMPORARY_SUFFIX}").touch()
    assert discover(Workspace.at(workspace), (), 1000).files == ()


def permissions(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    create(tmp_path / "a.md", "text")
    mask = os.umask(0)
    os.umask(mask)
    assert permissions(tmp_path / "a.md") == 0o644 & ~mask


def test_a_new_file_can_be_closed_to_others(tmp_path: Path) -> None:
    create(tmp_path / "a.md", "text", 0o600)
    assert permissions(tmp_path / "a.md") == 0o600


def test_syncing_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        sync_folder(tmp_path / "no")


# begin_workspace


def test_a_new_workspace(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "notes"
    workspace, made = begin_workspace(folder)
    assert made == [f"{folder}/", "memory/", "MEMORY.md"]
    assert listing(workspace.root) == [".memory", "MEMORY.md", "memory"]


def test_the_first_note_is_a_note(tmp_path: Path) -> None:
    workspace, _ = begin_workspace(tmp_path)
    assert [file.path for file in discover(workspace, (), 10_000).files] == ["MEMORY.md"]


def test_beginning_twice_changes_nothing(tmp_path: Path) -> None:
    begin_workspace(tmp_path)
    (tmp_path / "MEMORY.md").write_text("mine", encoding="utf-8")
    _, made = begin_workspace(tmp_path)
    assert (made, (tmp_path / "MEMORY.md").read_text(encoding="utf-8")) == ([], "mine")


def test_a_lower_case_first_note_is_enough(tmp_path: Path) -> None:
    (tmp_path / "memory.md").write_text("mine", encoding="utf-8")
    assert begin_workspace(tmp_path)[1] == ["memory/"]


def test_a_file_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(WorkspaceError, match="is not a folder"):
        begin_workspace(tmp_path / "file")


def test_a_file_above(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(WorkspaceError, match="cannot be made: not a directory"):
        begin_workspace(tmp_path / "file" / "notes")


def test_a_link_to_nothing_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("missing")
    with pytest.raises(WorkspaceError, match="cannot be made: file exists"):
        begin_workspace(tmp_path / "link")


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    done = unprivileged_run(
        "import sys\n"
        "from pathlib import Path\n"
        "from memlines.errors import WorkspaceError\n"
        "from memlines.files.place import begin_workspace\n"
        "try: begin_workspace(Path(sys.argv[1]) / 'notes')\n"
        "except WorkspaceError as error: print(error.what.rsplit(': ', 1)[1])\n",
        tmp_path,
    )
    tmp_path.chmod(0o755)
    assert done.stdout == "permission denied\n"


# ensure_private


def test_the_private_folder_hides_itself_from_version_control(workspace: Path) -> None:
    ensure_private(Workspace.at(workspace))
    assert (workspace / ".memory" / ".gitignore").read_text(encoding="utf-8") == "*\n"


def test_a_gitignore_of_ones_own_stays(workspace: Path) -> None:
    ensure_private(Workspace.at(workspace))
    (workspace / ".memory" / ".gitignore").write_text("index*\n", encoding="utf-8")
    ensure_private(Workspace.at(workspace))
    assert (workspace / ".memory" / ".gitignore").read_text(encoding="utf-8") == "index*\n"


@pytest.mark.promise("P7")
def test_a_private_folder_that_is_a_link_is_refused(workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (workspace / ".memory").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(WorkspaceError, match="is a symbolic link"):
        ensure_private(Workspace.at(workspace))
    assert listing(tmp_path / "elsewhere") == []


@pytest.mark.promise("P7")
def test_a_planted_gitignore_link_is_not_written_through(workspace: Path, tmp_path: Path) -> None:
    (workspace / ".memory").mkdir()
    (workspace / ".memory" / ".gitignore").symlink_to(tmp_path / "planted")
    ensure_private(Workspace.at(workspace))
    assert not (tmp_path / "planted").exists()


def test_a_file_in_the_place_of_the_private_folder(workspace: Path) -> None:
    (workspace / ".memory").touch()
    with pytest.raises(StoreReadOnly, match="cannot be written: not a directory"):
        ensure_private(Workspace.at(workspace))


def test_a_workspace_that_may_only_be_read(workspace: Path) -> None:
    workspace.chmod(0o555)
    done = unprivileged_run(
        "import sys\n"
        "from memlines.errors import StoreReadOnly\n"
        "from memlines.files.place import ensure_private\n"
        "from memlines.paths import Workspace\n"
        "try: ensure_private(Workspace.at(sys.argv[1]))\n"
        "except StoreReadOnly as error: print(error.what.rsplit(': ', 1)[1])\n",
        workspace,
    )
    workspace.chmod(0o755)
    assert done.stdout == "permission denied\n"


def test_a_folder_for_derived_files_is_made_with_those_above_it(tmp_path: Path) -> None:
    ensure_folder(tmp_path / "a" / "b")
    ensure_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()
