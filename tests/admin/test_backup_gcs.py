"""Backups to Google Cloud Storage, spoken over the network with an emulator of its API."""

from __future__ import annotations

import asyncio
import gc
import socket
import sys
import types
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from memlines.admin.backup.manifest import entry_for
from memlines.admin.backup.places import Remote
from memlines.admin.backup.snapshots import list_backups, object_of
from memlines.errors import BackupError, UsageError
from tests.admin.backups import STRANGE, back_up, bring_back, fill, tree
from tests.admin.fake_gcs import Anonymous, Forbidding, Gcs, Refusing, lead_to, serving, write_credentials
from tests.programs import Cli, listening

pytest.importorskip("gcp_storage_emulator", reason="needs gcp-storage-emulator, which plays the service")
if find_spec("gcsfs") is None:  # which only Memlines may import, because it says before what it needs of it
    pytest.skip("needs the extra 'backup'", allow_module_level=True)

pytestmark = [  # about blocks of 16 MB, which gcsfs hands to aiohttp whole, and from what reads credentials
    pytest.mark.filterwarnings("ignore:Sending a large body directly:ResourceWarning"),
    *(
        pytest.mark.filterwarnings(f"ignore::EncodingWarning:{module}")
        for module in ("google.auth._default", "google.auth._service_account_info")
    ),
]

PLACE = "gs://notes/backups"


@pytest.fixture(scope="module")
def server() -> Iterator[Gcs]:
    with serving() as started:
        yield started


@pytest.fixture
def gcs(server: Gcs, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Gcs]:
    """An empty emulator with one bucket, and an environment that leads to it."""
    server.begin()
    lead_to(server.address, monkeypatch, tmp_path)
    yield server
    gc.collect()  # a client that was not closed warns here, and not in somebody else's test


@pytest.fixture
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let gcsfs try again at once, six times as always; it rests for half a minute in between otherwise."""
    from gcsfs import retry

    async def rest(seconds: float) -> None:
        await asyncio.sleep(0)

    monkeypatch.setattr(retry, "asyncio", types.SimpleNamespace(sleep=rest))


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return fill(tmp_path / "notes", STRANGE)


def test_a_restored_workspace_equals_the_source(gcs: Gcs, notes: Path, workspace: Path) -> None:
    back_up(notes, PLACE)
    bring_back(workspace, PLACE)
    assert tree(workspace) == tree(notes)


def test_a_large_note_travels_in_pieces(gcs: Gcs, workspace: Path, tmp_path: Path) -> None:
    notes = fill(tmp_path / "large", {"memory/large.md": bytes(range(256)) * 80_000})
    assert back_up(notes, PLACE).uploaded == 1
    assert back_up(notes, PLACE).uploaded == 0
    bring_back(workspace, PLACE)
    assert tree(workspace) == tree(notes)


def test_everything_lies_below_the_named_prefix(gcs: Gcs, notes: Path) -> None:
    back_up(notes, "gs://notes/my/backups/")
    assert {name.split("/")[2] for name in gcs.listing() if name.startswith("my/backups/")} == {
        "objects",
        "snapshots",
    }
    assert len(gcs.listing()) == len(STRANGE) + 1


def test_a_whole_bucket_will_do(gcs: Gcs, notes: Path, workspace: Path) -> None:
    back_up(notes, "gcs://notes")
    bring_back(workspace, "gs://notes")
    assert tree(workspace) == tree(notes)


def test_a_second_backup_without_changes_writes_nothing(gcs: Gcs, notes: Path) -> None:
    back_up(notes, PLACE)
    before = gcs.listing()
    assert not back_up(notes, PLACE).changed
    assert gcs.listing() == before


def test_only_what_changed_is_sent(gcs: Gcs, notes: Path) -> None:
    back_up(notes, PLACE)
    fill(notes, {"memory/new.md": b"new"})
    assert back_up(notes, PLACE).uploaded == 1
    assert [snapshot.files for snapshot in list_backups(PLACE).snapshots] == [11, 10]


@pytest.mark.slow
def test_more_than_one_listing_of_objects_is_read(gcs: Gcs, workspace: Path) -> None:
    fill(workspace, {f"memory/{number}.md": b"%d" % number for number in range(1100)})
    back_up(workspace, PLACE)
    assert back_up(workspace, PLACE).uploaded == 0


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
    gcs: Gcs, notes: Path, workspace: Path, content: bytes | None, reason: str
) -> None:
    back_up(notes, PLACE)
    name = object_of(entry_for("MEMORY.md", STRANGE["MEMORY.md"], 0))
    place = Remote(PLACE)
    if content is None:
        place._fs.rm_file(f"notes/backups/{name}")
    else:
        place.write({name: content})
    done = bring_back(workspace, PLACE)
    assert [problem.path for problem in done.failed] == ["MEMORY.md"]
    assert reason in done.failed[0].reason
    assert len(done.created) == len(STRANGE) - 1


def test_the_commands_reach_it(
    gcs: Gcs, notes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cli = Cli(capsys)
    made = cli("backup", PLACE, "-w", notes)
    assert made.code == 0, made.err
    checked = cli("restore", PLACE, "--to", tmp_path / "new", "--dry-run")
    assert (checked.code, f"{len(STRANGE)} created" in checked.out) == (0, True)
    assert cli("restore", PLACE, "--to", tmp_path / "new").code == 0
    assert tree(tmp_path / "new") == dict(STRANGE)


# Troubles


@pytest.mark.parametrize("work", [back_up, bring_back])
def test_a_missing_bucket_is_reported_and_not_made(gcs: Gcs, notes: Path, work: object) -> None:
    assert callable(work)
    with pytest.raises(BackupError, match="'gs://other/x' does not exist: there is no such bucket"):
        work(notes, "gs://other/x")
    assert b"other" not in gcs.request("GET", "storage/v1/b?project=x")


@pytest.mark.parametrize("uri", ["gs://", "gcs:///"])
def test_a_bucket_must_be_named(gcs: Gcs, notes: Path, uri: str) -> None:
    with pytest.raises(UsageError, match="names no bucket"):
        back_up(notes, uri)


def test_an_address_that_does_not_answer_is_reported_and_nothing_is_lost(
    gcs: Gcs, notes: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch, hurry: None
) -> None:
    back_up(notes, PLACE)
    fill(notes, {"memory/new.md": b"new"})
    before = gcs.listing()
    with monkeypatch.context() as dead:
        dead.setenv("STORAGE_EMULATOR_HOST", "http://127.0.0.1:1")
        with pytest.raises(BackupError, match="cannot be reached: connect call failed"):
            back_up(notes, PLACE)
    assert gcs.listing() == before
    assert back_up(notes, PLACE).uploaded == 1
    bring_back(workspace, PLACE)
    assert tree(workspace) == tree(notes)


def test_a_network_that_swallows_everything_is_given_up(
    gcs: Gcs, notes: Path, monkeypatch: pytest.MonkeyPatch, hurry: None
) -> None:
    limit = Remote(PLACE)._fs.requests_timeout
    assert (limit.sock_connect, limit.sock_read) == (10, 60)
    monkeypatch.setattr("memlines.admin.backup.services.READ_SECONDS", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", f"http://127.0.0.1:{silent.getsockname()[1]}")
        with pytest.raises(BackupError, match="cannot be reached"):
            back_up(notes, PLACE)


def test_missing_credentials_are_reported(
    notes: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with listening(Anonymous) as address:
        lead_to(address, monkeypatch, tmp_path)
        with pytest.raises(BackupError, match="needs credentials, and none were found") as caught:
            back_up(notes, PLACE)
    assert "GOOGLE_APPLICATION_CREDENTIALS" in caught.value.todo


def test_credentials_that_allow_too_little_are_reported(
    notes: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with listening(Forbidding) as address:
        lead_to(address, monkeypatch, tmp_path)
        with pytest.raises(BackupError, match=r"refused access: .*storage.objects.list"):
            back_up(notes, PLACE)


def test_wrong_credentials_are_reported_and_not_shown(
    notes: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    hurry: None,
    capfd: pytest.CaptureFixture[str],
) -> None:
    with listening(Refusing) as address:
        lead_to(address, monkeypatch, tmp_path)
        key = write_credentials(tmp_path / "account.json", f"{address}/token")
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "account.json"))
        with pytest.raises(BackupError, match="refused access: Invalid Credentials") as caught:
            back_up(notes, PLACE)
    assert "GOOGLE_APPLICATION_CREDENTIALS" in caught.value.todo
    assert key not in str(caught.value)
    assert capfd.readouterr() == ("", "")


def test_a_missing_package_is_named(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gcsfs", None)
    with pytest.raises(BackupError, match="needs the package gcsfs") as caught:
        back_up(notes, PLACE)
    assert caught.value.todo == "Run: pip install 'memlines[backup]'"
