"""Backups share what they have in common, are whole or none, and bring back every byte."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from memlines.admin.backup.places import open_place, place_error
from memlines.admin.backup.snapshots import empty_folder, list_backups, object_of, restore
from memlines.errors import BackupError, UsageError, WorkspaceError
from memlines.settings import load
from memlines.text.neutral import harmless_address
from tests.admin.backups import STRANGE, TODAY, back_up, bring_back, fill, silent, tree
from tests.programs import Cli


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return fill(tmp_path / "notes", STRANGE)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "far" / "backups"


def object_with(place: Path, content: bytes) -> Path:
    return next(
        file for file in (place / "objects").rglob("*") if file.is_file() and file.read_bytes() == content
    )


# Backup


@pytest.mark.promise("P2")
def test_a_restored_workspace_equals_the_source(notes: Path, place: Path, workspace: Path) -> None:
    back_up(notes, place)
    done = bring_back(workspace, place)
    assert tree(workspace) == tree(notes)
    assert len(done.created) == len(STRANGE)


def test_an_object_is_named_by_its_content(notes: Path, place: Path) -> None:
    back_up(notes, place)
    kept = {file.read_bytes() for file in (place / "objects").rglob("*") if file.is_file()}
    assert kept == set(STRANGE.values())


def test_the_same_content_is_kept_once(workspace: Path, place: Path) -> None:
    fill(workspace, {"memory/a.md": b"same", "memory/b.md": b"same"})
    assert back_up(workspace, place).uploaded == 1


def test_a_second_backup_without_changes_writes_nothing(notes: Path, place: Path) -> None:
    first = back_up(notes, place)
    before = sorted(place.rglob("*"))
    second = back_up(notes, place)
    assert (second.changed, second.uploaded, second.id) == (False, 0, first.id)
    assert sorted(place.rglob("*")) == before


def test_only_what_changed_is_sent(notes: Path, place: Path) -> None:
    back_up(notes, place)
    fill(notes, {"memory/new.md": b"new"})
    done = back_up(notes, place)
    assert (done.uploaded, done.uploaded_bytes, done.files) == (1, 3, len(STRANGE) + 1)


def test_a_removed_note_makes_another_backup(notes: Path, place: Path) -> None:
    back_up(notes, place)
    (notes / "MEMORY.md").unlink()
    assert back_up(notes, place).changed


def test_an_object_that_was_cut_off_is_sent_again(notes: Path, place: Path, workspace: Path) -> None:
    back_up(notes, place)
    object_with(place, STRANGE["MEMORY.md"]).write_bytes(b"# M")
    assert back_up(notes, place).uploaded == 1
    assert bring_back(workspace, place).failed == ()


def test_a_folder_without_notes_is_not_backed_up(workspace: Path, place: Path) -> None:
    with pytest.raises(WorkspaceError, match="no notes"):
        back_up(workspace, place)
    assert not place.exists()


def test_a_backup_is_not_put_into_the_workspace(notes: Path) -> None:
    with pytest.raises(UsageError, match="lies inside the workspace"):
        back_up(notes, notes / ".memory")


def test_history_and_trash_are_taken_on_request(notes: Path, place: Path, workspace: Path) -> None:
    fill(notes, {".memory/history/memory/a.md/1.md": b"old", ".memory/trash/1/memory/b.md": b"gone"})
    assert back_up(notes, place).files == len(STRANGE)
    assert back_up(notes, place, everything=True).files == len(STRANGE) + 2
    bring_back(workspace, place)
    assert tree(workspace) == tree(notes)


@pytest.mark.parametrize("uri", ["", " ", "a\0b"])
def test_a_place_must_be_named(notes: Path, uri: str) -> None:
    with pytest.raises(UsageError, match="no place"):
        back_up(notes, uri)


def test_a_file_address_is_a_folder(notes: Path, place: Path) -> None:
    back_up(notes, f"file://{place}")
    assert len(list_backups(str(place)).snapshots) == 1


def test_a_place_that_is_a_file_is_told(notes: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(BackupError, match=r"the place of backups '.*file' cannot be used: not a directory"):
        back_up(notes, tmp_path / "file")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_place_is_told() -> None:
    with pytest.raises(OSError, match="No space left") as caught, Path("/dev/full").open("wb", 0) as full:
        full.write(b"x")
    told = place_error("/mnt/stick", caught.value)
    assert "'/mnt/stick' is full: no space left on device" in told.what


# Restore


@pytest.mark.promise("P2")
def test_restoring_overwrites_nothing(notes: Path, place: Path) -> None:
    back_up(notes, place)
    fill(notes, {"memory/2026-03-01.md": b"changed since"})
    done = bring_back(notes, place)
    assert [(pair.path, pair.imported_as) for pair in done.kept_both] == [
        ("memory/2026-03-01.md", f"memory/2026-03-01-imported-{TODAY}.md")
    ]
    assert (notes / "memory/2026-03-01.md").read_bytes() == b"changed since"
    assert done.same == len(STRANGE) - 1


def test_restoring_twice_changes_nothing(notes: Path, place: Path) -> None:
    back_up(notes, place)
    fill(notes, {"MEMORY.md": b"changed since"})
    bring_back(notes, place)
    before = tree(notes)
    bring_back(notes, place)
    assert tree(notes) == before


@pytest.mark.promise("P2")
def test_a_lost_note_comes_back(notes: Path, place: Path) -> None:
    back_up(notes, place)
    (notes / "MEMORY.md").unlink()
    assert bring_back(notes, place).created == ("MEMORY.md",)
    assert tree(notes) == dict(STRANGE)


def test_an_older_backup_can_be_chosen(notes: Path, place: Path, workspace: Path) -> None:
    first = back_up(notes, place)
    fill(notes, {"memory/new.md": b"new"})
    back_up(notes, place)
    bring_back(workspace, place, at=first.id)
    assert tree(workspace) == dict(STRANGE)


@pytest.mark.parametrize("at", ["19700101", "2"])
def test_an_id_must_name_one_backup(notes: Path, place: Path, workspace: Path, at: str) -> None:
    back_up(notes, place)
    fill(notes, {"memory/new.md": b"new"})
    back_up(notes, place)
    with pytest.raises(BackupError, match="have an id that begins with"):
        bring_back(workspace, place, at=at)


@pytest.mark.promise("P2")
def test_a_damaged_object_is_named_and_the_others_restored(notes: Path, place: Path, workspace: Path) -> None:
    back_up(notes, place)
    object_with(place, STRANGE["memory/2026-03-01.md"]).write_bytes(b"windows\r\nlimes\r\n")
    done = bring_back(workspace, place)
    assert [problem.path for problem in done.failed] == ["memory/2026-03-01.md"]
    assert "does not have the content that was written" in done.failed[0].reason
    assert len(done.created) == len(STRANGE) - 1
    assert not (workspace / "memory/2026-03-01.md").exists()


def test_a_missing_object_is_named_and_the_others_restored(notes: Path, place: Path, workspace: Path) -> None:
    back_up(notes, place)
    object_with(place, STRANGE["MEMORY.md"]).unlink()
    done = bring_back(workspace, place)
    assert [(problem.path, problem.reason.split()[-1]) for problem in done.failed] == [
        ("MEMORY.md", "missing")
    ]
    assert len(done.created) == len(STRANGE) - 1


def test_a_cut_off_object_is_named(notes: Path, place: Path, workspace: Path) -> None:
    back_up(notes, place)
    object_with(place, STRANGE["MEMORY.md"]).write_bytes(b"#")
    assert "has 1 bytes instead of 9" in bring_back(workspace, place).failed[0].reason


def test_a_dry_run_checks_all_and_writes_nothing(notes: Path, place: Path, tmp_path: Path) -> None:
    back_up(notes, place)
    object_with(place, STRANGE["MEMORY.md"]).write_bytes(b"#" * 9)
    target = empty_folder(tmp_path / "new", dry_run=True)
    done = restore(target, load(target).settings, str(place), dry_run=True, progress=silent)
    assert not (tmp_path / "new").exists()
    assert ([problem.path for problem in done.failed], len(done.created)) == (["MEMORY.md"], 9)


def test_a_folder_that_is_not_empty_is_refused(tmp_path: Path) -> None:
    fill(tmp_path, {"full/a.txt": b""})
    with pytest.raises(UsageError, match="is not empty"):
        empty_folder(tmp_path / "full", dry_run=False)


def test_a_place_without_backups_is_told(workspace: Path, place: Path) -> None:
    with pytest.raises(BackupError, match="there are no backups at"):
        bring_back(workspace, place)


@pytest.mark.promise("P7")
def test_a_backup_with_a_name_that_climbs_out_is_refused(notes: Path, place: Path, workspace: Path) -> None:
    done = back_up(notes, place)
    file = place / "snapshots" / f"{done.id}.json"
    manifest = json.loads(file.read_text(encoding="utf-8"))
    manifest["files"][0]["path"] = "../outside.md"
    file.write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(BackupError, match="not a name of a file inside a workspace"):
        bring_back(workspace, place)
    assert tree(workspace) == {}


# The list


def test_backups_are_listed_the_newest_first(notes: Path, place: Path) -> None:
    first = back_up(notes, place)
    fill(notes, {"memory/new.md": b"new"})
    second = back_up(notes, place)
    listed = list_backups(str(place)).snapshots
    assert [(snapshot.id, snapshot.files, snapshot.bytes) for snapshot in listed] == [
        (second.id, len(STRANGE) + 1, first.bytes + 3),
        (first.id, len(STRANGE), first.bytes),
    ]


def test_a_damaged_list_is_named_and_the_others_shown(notes: Path, place: Path) -> None:
    first = back_up(notes, place)
    fill(notes, {"memory/new.md": b"new"})
    second = back_up(notes, place)
    (place / "snapshots" / f"{second.id}.json").write_bytes(b"{")
    listed = list_backups(str(place))
    assert [snapshot.id for snapshot in listed.snapshots] == [first.id]
    assert [problem.path for problem in listed.failed] == [second.id]


def test_other_files_at_the_place_are_no_backups(notes: Path, place: Path) -> None:
    back_up(notes, place)
    fill(place, {"snapshots/.DS_Store": b"", "snapshots/readme.json": b"{}"})
    assert len(list_backups(str(place)).snapshots) == 1


def test_a_place_that_is_not_there_is_no_empty_list(cli: Cli, tmp_path: Path) -> None:
    outcome = cli("restore", tmp_path / "gone", "--list")
    assert outcome.code == 8
    assert f"the place of backups '{tmp_path / 'gone'}' does not exist" in outcome.err


def test_a_place_without_a_backup_is_said_to_have_none(cli: Cli, tmp_path: Path) -> None:
    outcome = cli("restore", tmp_path, "--list")
    assert (outcome.code, outcome.out) == (0, f"There are no backups at {tmp_path}\n")


# Through fsspec


class Breakdown:
    """When the file system below breaks."""

    def __init__(self) -> None:
        self.puts_left = 10**9


@pytest.fixture
def flaky() -> Breakdown:
    """A file system with folders, `flaky://`, that fails at a put of our choice."""
    fsspec = pytest.importorskip("fsspec")
    from fsspec.implementations.memory import MemoryFileSystem

    breakdown = Breakdown()

    class Flaky(MemoryFileSystem):  # type: ignore[misc]  # fsspec has no types
        protocol = "flaky"
        store: dict[str, Any] = {}  # noqa: RUF012 (so it is in fsspec)
        pseudo_dirs = [""]  # noqa: RUF012

        def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **options: Any) -> None:
            if breakdown.puts_left <= 0:
                raise ConnectionResetError(104, "Connection reset by peer")
            breakdown.puts_left -= 1
            super().pipe_file(path, value, mode, **options)

    fsspec.register_implementation("flaky", Flaky, clobber=True)
    return breakdown


def test_any_place_that_fsspec_knows_will_do(notes: Path, workspace: Path, flaky: Breakdown) -> None:
    back_up(notes, "flaky://box/notes")
    bring_back(workspace, "flaky://box/notes")
    assert tree(workspace) == tree(notes)


def test_a_folder_that_a_service_does_not_have_is_no_empty_list(flaky: Breakdown) -> None:
    with pytest.raises(BackupError, match="'flaky://gone' does not exist"):
        list_backups("flaky://gone")


@pytest.mark.parametrize("puts", range(len(STRANGE) + 1))
@pytest.mark.promise("P2")
def test_a_backup_that_broke_off_is_none_and_the_next_goes_on(
    notes: Path, workspace: Path, flaky: Breakdown, puts: int
) -> None:
    flaky.puts_left = puts
    with pytest.raises(BackupError, match="cannot be reached: connection reset by peer"):
        back_up(notes, "flaky://box")
    assert list_backups("flaky://box").snapshots == ()
    flaky.puts_left = 10**9
    done = back_up(notes, "flaky://box")
    assert done.uploaded == len(STRANGE) - puts
    bring_back(workspace, "flaky://box")
    assert tree(workspace) == tree(notes)


def test_many_files_go_in_several_loads(workspace: Path, tmp_path: Path, flaky: Breakdown) -> None:
    fill(workspace, {f"memory/{number}.md": b"%d" % number for number in range(200)})
    assert back_up(workspace, "flaky://box").uploaded == 200
    target = empty_folder(tmp_path / "new", dry_run=False)
    restore(target, load(target).settings, "flaky://box", progress=silent)
    assert tree(target.root) == tree(workspace)


def test_an_unknown_kind_of_place_is_told(notes: Path) -> None:
    pytest.importorskip("fsspec")
    with pytest.raises(BackupError, match="Protocol not known: nosuch"):
        back_up(notes, "nosuch://box")


def test_a_missing_extra_is_told(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(BackupError, match=r"pip install 'memlines\[backup\]'"):
        back_up(notes, "s3://bucket/notes")


def test_a_folder_needs_no_extra(notes: Path, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    assert back_up(notes, place).changed


def test_fsspec_is_imported_late() -> None:
    code = "import sys, memlines.cli.backup, memlines.admin.backup.places;print('fsspec' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, encoding="utf-8")
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("s3://bucket/notes", "s3://bucket/notes"),
        ("sftp://me:secret@host/notes", "sftp://***@host/notes"),
        ("https://host/notes?token=secret", "https://host/notes?…"),
    ],
)
def test_a_password_in_an_address_is_not_shown(address: str, shown: str) -> None:
    assert harmless_address(address) == shown


def test_an_address_on_windows_is_a_folder() -> None:
    assert open_place("C:\\backups").shown.endswith("C:\\backups")


def test_the_name_of_an_object_begins_with_its_hash(notes: Path, place: Path) -> None:
    from memlines.admin.backup.manifest import Entry

    assert object_of(Entry("a.md", 1, "ab" * 32, 0)) == f"objects/ab/{'ab' * 32}"


# The commands


def test_the_commands_back_up_list_and_restore(cli: Cli, notes: Path, place: Path, tmp_path: Path) -> None:
    made = cli("backup", place, "-w", notes)
    assert made.code == 0, made.err
    assert f"10 files backed up to {place}, a new place, as 20" in made.out
    assert "Nothing changed: 10 files are in 20" in cli("backup", place, "-w", notes).out
    listed = cli("restore", place, "--list").out
    assert listed.split()[2:] == ["10", "files", "83", "bytes", "notes"]
    restored = cli("restore", place, "--to", tmp_path / "new")
    assert restored.code == 0, restored.err
    assert tree(tmp_path / "new") == dict(STRANGE)


FIELDS: Mapping[str, set[str]] = {
    "backup": {
        *("place", "id", "files", "bytes", "uploaded", "uploaded_bytes"),
        *("changed", "settings", "new_place", "left_out", "failed"),
    },
    "list": {"place", "snapshots", "failed"},
    "restore": {
        *("place", "id", "created_at", "workspace", "created", "kept_both", "same"),
        *("failed", "forgotten", "unchecked", "settings_object", "dry_run"),
    },
}


def test_the_commands_speak_json(cli: Cli, notes: Path, place: Path) -> None:
    assert set(cli("backup", place, "-w", notes, "--json").json) == FIELDS["backup"]
    assert set(cli("restore", place, "--list", "--json").json) == FIELDS["list"]
    assert set(cli("restore", place, "-w", notes, "--dry-run", "--json").json) == FIELDS["restore"]


def test_a_restore_that_misses_something_exits_with_1(
    cli: Cli, notes: Path, place: Path, tmp_path: Path
) -> None:
    back_up(notes, place)
    object_with(place, STRANGE["MEMORY.md"]).unlink()
    outcome = cli("restore", place, "--to", tmp_path / "new")
    assert outcome.code == 1
    assert "MEMORY.md cannot be restored" in outcome.out


def test_two_targets_are_refused(cli: Cli, notes: Path, place: Path, tmp_path: Path) -> None:
    assert cli("restore", place, "--to", tmp_path / "new", "-w", notes).code == 2


def test_settings_in_a_backup_are_told_and_not_applied(
    cli: Cli, notes: Path, place: Path, tmp_path: Path
) -> None:
    fill(notes, {".memory/config.yaml": b"query:\n  max_results: 3\n"})
    back_up(notes, place)
    out = cli("restore", place, "--to", tmp_path / "new").out
    assert "settings, which were not applied" in out
    assert Path(out.split(": ")[-1].strip()).read_text(encoding="utf-8") == "query:\n  max_results: 3\n"
    assert not (tmp_path / "new/.memory/config.yaml").exists()
