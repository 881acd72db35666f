"""Backups over SFTP, with a real sshd on this machine."""

from __future__ import annotations

import gc
import getpass
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from memlines.admin.backup.places import Remote
from memlines.admin.backup.snapshots import list_backups
from memlines.errors import BackupError
from tests.admin.backups import STRANGE, back_up, bring_back, fill, tree
from tests.programs import find_or_install

pytest.importorskip("fsspec", reason="needs the extra 'backup'")
pytest.importorskip("paramiko", reason="needs the extra 'backup'")

pytestmark = [
    pytest.mark.filterwarnings(f"ignore::EncodingWarning:{module}")  # where paramiko reads keys
    for module in ("paramiko.hostkeys", "paramiko.pkey", "paramiko.ed25519key")
]

RUNS_SYSTEMD = Path("/run/systemd/system").exists()
PRIVILEGE_SEPARATION = Path("/run/sshd")
CONFIG = """\
ListenAddress 127.0.0.1:{port}
HostKey {folder}/host
AuthorizedKeysFile {folder}/client.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
Subsystem sftp internal-sftp
"""


@dataclass(frozen=True, slots=True)
class Ssh:
    """The server: its port, and the folder with the keys of both sides."""

    port: int
    folder: Path

    def uri(self, place: Path) -> str:
        return f"sftp://{getpass.getuser()}@127.0.0.1:{self.port}{place}"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ssh]:
    # With systemd, installing it would open the machine to the network.
    sshd = shutil.which("sshd") if RUNS_SYSTEMD else find_or_install(["sshd"], "openssh-server")
    keygen = shutil.which("ssh-keygen")
    if not sshd or not keygen:
        pytest.skip("needs sshd and ssh-keygen")
    if os.geteuid() == 0:
        PRIVILEGE_SEPARATION.mkdir(exist_ok=True)  # which the service makes when the system starts
    folder = tmp_path_factory.mktemp("sshd")
    for name in ("host", "client"):
        command = [keygen, "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    (folder / "config").write_text(CONFIG.format(port=port, folder=folder), encoding="utf-8")
    with (
        (folder / "log").open("w", encoding="utf-8") as log,
        subprocess.Popen([sshd, "-D", "-e", "-f", str(folder / "config")], stderr=log) as process,
    ):
        try:
            _wait_for(port, process, folder)
            yield Ssh(port, folder)
        finally:
            process.terminate()


def _wait_for(port: int, process: subprocess.Popen[bytes], folder: Path) -> None:
    end = time.monotonic() + 30
    while time.monotonic() < end and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=5).close()
        except ConnectionRefusedError:
            time.sleep(0.02)
        else:
            return
    pytest.skip(f"sshd does not start here: {(folder / 'log').read_text(encoding='utf-8').strip()}")


@pytest.fixture
def ssh(server: Ssh, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Ssh]:
    """The server, a home with a key that it lets in, and with the server among the known hosts."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    own = tmp_path / "home/.ssh"
    own.mkdir(parents=True, mode=0o700)
    shutil.copy(server.folder / "client", own / "id_ed25519")
    key = (server.folder / "host.pub").read_text(encoding="ascii")
    (own / "known_hosts").write_text(f"[127.0.0.1]:{server.port} {key}", encoding="ascii")
    yield server
    gc.collect()  # a client that was not closed warns here, and not in another test


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return fill(tmp_path / "notes", STRANGE)


def test_a_restored_workspace_equals_the_source(
    ssh: Ssh, notes: Path, workspace: Path, tmp_path: Path
) -> None:
    uri = ssh.uri(tmp_path / "copies/notes")
    assert back_up(notes, uri).uploaded == len(set(STRANGE.values()))
    assert not back_up(notes, uri).changed
    bring_back(workspace, uri)
    assert tree(workspace) == tree(notes)


def test_only_what_changed_is_sent(ssh: Ssh, notes: Path, tmp_path: Path) -> None:
    uri = ssh.uri(tmp_path / "copies")
    back_up(notes, uri)
    fill(notes, {"memory/new.md": b"new"})
    assert back_up(notes, uri).uploaded == 1
    assert [snapshot.files for snapshot in list_backups(uri).snapshots] == [11, 10]


@pytest.mark.slow
def test_a_large_note_travels_in_pieces(ssh: Ssh, workspace: Path, tmp_path: Path) -> None:
    notes = fill(tmp_path / "large", {"memory/large.md": bytes(range(256)) * 80_000})
    back_up(notes, ssh.uri(tmp_path / "copies"))
    bring_back(workspace, ssh.uri(tmp_path / "copies"))
    assert tree(workspace) == tree(notes)


def test_a_damaged_object_is_named_and_the_others_restored(
    ssh: Ssh, notes: Path, workspace: Path, tmp_path: Path
) -> None:
    back_up(notes, ssh.uri(tmp_path / "copies"))
    next((tmp_path / "copies/objects").glob("*/*")).write_bytes(b"other")
    done = bring_back(workspace, ssh.uri(tmp_path / "copies"))
    assert len(done.failed) == 1
    assert len(done.created) == len(STRANGE) - 1


# Troubles


def test_a_host_that_ssh_does_not_know_is_refused(ssh: Ssh, notes: Path, tmp_path: Path) -> None:
    (tmp_path / "home/.ssh/known_hosts").unlink()
    with pytest.raises(BackupError, match=r"is not known by its key \(ed25519, SHA256:") as caught:
        back_up(notes, ssh.uri(tmp_path / "copies"))
    assert "Connect with ssh once" in caught.value.todo
    assert not (tmp_path / "copies").exists()


def test_a_host_with_another_key_is_refused(ssh: Ssh, notes: Path, tmp_path: Path) -> None:
    key = (ssh.folder / "client.pub").read_text(encoding="ascii")
    (tmp_path / "home/.ssh/known_hosts").write_text(f"[127.0.0.1]:{ssh.port} {key}", encoding="ascii")
    with pytest.raises(BackupError, match="is not known by its key"):
        back_up(notes, ssh.uri(tmp_path / "copies"))


def test_a_key_that_is_not_let_in_is_reported(ssh: Ssh, notes: Path, tmp_path: Path) -> None:
    shutil.copy(ssh.folder / "host", tmp_path / "home/.ssh/id_ed25519")
    with pytest.raises(BackupError, match="refused access") as caught:
        back_up(notes, ssh.uri(tmp_path / "copies"))
    assert "SFTP: a key or an agent of ssh" in caught.value.todo


def test_a_host_that_does_not_answer_is_reported(ssh: Ssh, notes: Path) -> None:
    with pytest.raises(BackupError, match="cannot be reached"):
        back_up(notes, "sftp://127.0.0.1:1/copies")


def test_a_host_that_says_nothing_is_given_up(ssh: Ssh, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memlines.admin.backup.services._CONNECT_SECONDS", 0.2)
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        pytest.raises(BackupError, match="cannot be reached"),
    ):
        back_up(notes, f"sftp://127.0.0.1:{silent.getsockname()[1]}/copies")


def test_a_host_that_falls_silent_is_given_up(ssh: Ssh, tmp_path: Path) -> None:
    assert Remote(ssh.uri(tmp_path / "copies"))._fs.ftp.get_channel().gettimeout() == 60


def test_a_missing_package_is_named(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "paramiko", None)
    with pytest.raises(BackupError, match="needs the package paramiko") as caught:
        back_up(notes, "sftp://127.0.0.1/copies")
    assert caught.value.todo == "Run: pip install 'memlines[backup]'"
