"""Backups to S3, spoken over the network with a server that plays it."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from memlines.admin.backup.manifest import entry_for
from memlines.admin.backup.places import Remote
from memlines.admin.backup.snapshots import list_backups, object_of
from memlines.errors import BackupError, UsageError
from tests.admin.backups import STRANGE, back_up, bring_back, fill, tree
from tests.admin.fake_s3 import KEY, S3, SECRET, lead_to, serving
from tests.programs import Cli

pytest.importorskip("s3fs", reason="needs the extra 'backup'")
pytest.importorskip("moto", reason="needs moto, which plays S3")


@pytest.fixture(scope="module")
def server() -> Iterator[S3]:
    with serving() as started:
        yield started


@pytest.fixture
def s3(server: S3, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[S3]:
    """An empty server with one bucket, and an environment that leads to it."""
    server.request("POST", "moto-api/reset")
    server.request("PUT", "bucket")
    lead_to(server, monkeypatch, tmp_path)
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    yield server
    gc.collect()  # a client that was not closed warns here, and not in somebody else's test


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return fill(tmp_path / "notes", STRANGE)


def test_a_restored_workspace_equals_the_source(s3: S3, notes: Path, workspace: Path) -> None:
    back_up(notes, "s3://bucket/notes")
    bring_back(workspace, "s3://bucket/notes")
    assert tree(workspace) == tree(notes)


def test_a_large_note_travels_in_pieces(s3: S3, workspace: Path, tmp_path: Path) -> None:
    notes = fill(tmp_path / "large", {"memory/large.md": bytes(range(256)) * 80_000})
    assert back_up(notes, "s3://bucket/notes").uploaded == 1
    assert back_up(notes, "s3://bucket/notes").uploaded == 0
    bring_back(workspace, "s3://bucket/notes")
    assert tree(workspace) == tree(notes)


def test_everything_lies_below_the_named_prefix(s3: S3, notes: Path) -> None:
    back_up(notes, "s3://bucket/my/notes/")
    assert {key.split("/")[2] for key in s3.listing() if key.startswith("my/notes/")} == {
        "objects",
        "snapshots",
    }
    assert len(s3.listing()) == len(STRANGE) + 1


def test_a_whole_bucket_will_do(s3: S3, notes: Path, workspace: Path) -> None:
    back_up(notes, "s3://bucket")
    bring_back(workspace, "s3://bucket")
    assert tree(workspace) == tree(notes)


def test_a_second_backup_without_changes_writes_nothing(s3: S3, notes: Path) -> None:
    back_up(notes, "s3://bucket/notes")
    before = s3.listing()
    assert not back_up(notes, "s3://bucket/notes").changed
    assert s3.listing() == before


def test_only_what_changed_is_sent(s3: S3, notes: Path) -> None:
    back_up(notes, "s3://bucket/notes")
    fill(notes, {"memory/new.md": b"new"})
    assert back_up(notes, "s3://bucket/notes").uploaded == 1
    assert [snapshot.files for snapshot in list_backups("s3://bucket/notes").snapshots] == [11, 10]


@pytest.mark.slow
def test_more_than_one_listing_of_objects_is_read(s3: S3, workspace: Path) -> None:
    fill(workspace, {f"memory/{number}.md": b"%d" % number for number in range(1100)})
    back_up(workspace, "s3://bucket/many")
    assert back_up(workspace, "s3://bucket/many").uploaded == 0


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "is missing"),
        (b"# M", "has 3 bytes instead of 9"),
        (b"# Nemory\n", "does not have the content"),
    ],
    ids=["missing", "cut-off", "changed"],
)
def test_a_damaged_object_is_named_and_the_others_restored(
    s3: S3, notes: Path, workspace: Path, content: bytes | None, reason: str
) -> None:
    back_up(notes, "s3://bucket/notes")
    name = object_of(entry_for("MEMORY.md", STRANGE["MEMORY.md"], 0))
    place = Remote("s3://bucket/notes")
    if content is None:
        place._fs.rm_file(f"bucket/notes/{name}")
    else:
        place.write({name: content})
    done = bring_back(workspace, "s3://bucket/notes")
    assert [problem.path for problem in done.failed] == ["MEMORY.md"]
    assert reason in done.failed[0].reason
    assert len(done.created) == len(STRANGE) - 1


def test_an_object_that_vanishes_after_the_listing_is_named(s3: S3) -> None:
    assert Remote("s3://bucket/notes").read(["objects/aa/gone"]) == {"objects/aa/gone": "is missing"}


def test_a_missing_bucket_is_told(s3: S3, notes: Path) -> None:
    with pytest.raises(BackupError, match="'s3://nobucket/x' does not exist: The specified bucket"):
        back_up(notes, "s3://nobucket/x")


def test_a_missing_bucket_is_not_made(s3: S3, notes: Path) -> None:
    with pytest.raises(BackupError):
        back_up(notes, "s3://nobucket/x")
    assert "nobucket" not in s3.request("GET", "").decode()


def test_a_bucket_must_be_named(s3: S3, notes: Path) -> None:
    with pytest.raises(UsageError, match="names no bucket"):
        back_up(notes, "s3://")


def test_wrong_credentials_are_told_and_not_shown(s3: S3, notes: Path) -> None:
    s3.request("POST", "moto-api/reset-auth", b"0")  # from here on, only known keys may do anything
    try:
        with pytest.raises(BackupError, match="refused access") as caught:
            back_up(notes, "s3://bucket/notes")
    finally:
        s3.request("POST", "moto-api/reset-auth", b"Infinity")
    assert "AWS_ACCESS_KEY_ID" in caught.value.todo
    assert KEY not in str(caught.value)
    assert SECRET not in str(caught.value)


def test_missing_credentials_are_told(s3: S3, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    with pytest.raises(BackupError, match="needs credentials, and none were found"):
        back_up(notes, "s3://bucket/notes")


def test_an_endpoint_that_does_not_answer_is_told(
    s3: S3, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    with pytest.raises(BackupError, match="cannot be reached: Could not connect"):
        back_up(notes, "s3://bucket/notes")


def test_a_dead_network_is_not_waited_for_without_end(s3: S3) -> None:
    configured = Remote("s3://bucket/notes")._fs.config_kwargs
    assert configured == {"connect_timeout": 10, "read_timeout": 60}


def test_the_commands_reach_s3(
    s3: S3, notes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cli = Cli(capsys)
    made = cli("backup", "s3://bucket/notes", "-w", notes)
    assert made.code == 0, made.err
    assert cli("restore", "s3://bucket/notes", "--to", tmp_path / "new").code == 0
    assert tree(tmp_path / "new") == dict(STRANGE)
