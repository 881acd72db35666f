"""The log of what is written through a team's server: nothing is written that it could not say."""

from __future__ import annotations

import errno
import json
import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from memlines.errors import WriteError
from memlines.paths import Workspace
from memlines.serve.mcp import audit as audit_module
from memlines.serve.mcp.audit import Audit


@pytest.fixture
def audit(workspace: Path) -> Audit:
    return Audit(Workspace.at(workspace))


def record(audit: Audit, token: str = "anna") -> None:
    audit.record(token, "a-session", "memory_remember", ["memory/x.md#L3"], "")


def logged(folder: Path, name: str = "audit.jsonl") -> list[dict[str, Any]]:
    """Return the lines of a log."""
    return [json.loads(line) for line in (folder / ".memory" / name).read_text(encoding="utf-8").splitlines()]


def test_a_line_says_who_did_what(audit: Audit, workspace: Path) -> None:
    record(audit)
    (line,) = logged(workspace)
    assert line.pop("time").endswith("+00:00")
    assert line == {
        "token": "anna",
        "session": "a-session",
        "tool": "memory_remember",
        "ok": True,
        "code": None,
        "changed": ["memory/x.md#L3"],
    }


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX system")
def test_only_its_owner_can_read_the_log(audit: Audit) -> None:
    record(audit)
    assert stat.S_IMODE(audit.file.stat().st_mode) == 0o600


def test_a_line_is_on_the_disk_when_it_is_recorded(audit: Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(os.fstat(handle).st_ino))
    record(audit)
    assert audit.file.stat().st_ino in synced


def test_lines_of_several_threads_are_all_whole(audit: Audit, workspace: Path) -> None:
    other = Audit(Workspace.at(workspace))  # as another server of the same notes
    threads = [
        threading.Thread(target=record, args=(one, str(at))) for at in range(10) for one in (audit, other)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(line["token"] for line in logged(workspace)) == sorted([*map(str, range(10))] * 2)


def test_the_log_is_bounded(audit: Audit, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_module, "MAX_BYTES", 1_000)
    for number in range(40):
        record(audit, str(number))
    kept = [*logged(workspace, "audit.1.jsonl"), *(logged(workspace) if audit.file.exists() else [])]
    tokens = [int(line["token"]) for line in kept]
    assert tokens == list(range(tokens[0], 40))
    assert 5 <= len(tokens) < 20


def test_a_line_that_a_power_cut_tore_does_not_take_the_next_one_with_it(
    audit: Audit, workspace: Path
) -> None:
    record(audit)
    with audit.file.open("ab") as stream:
        stream.write(b'{"time": "20')
    record(Audit(Workspace.at(workspace)), "next")
    assert json.loads(audit.file.read_bytes().splitlines()[-1])["token"] == "next"


# When it cannot be written


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """While this is set, the disk is full after half a line."""
    disk = threading.Event()
    write = os.write

    def fail(handle: int, data: bytes) -> int:
        if not disk.is_set() or not data.startswith(b'{"time"'):
            return write(handle, data)
        write(handle, data[:20])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "write", fail)
    return disk


def test_a_line_that_cannot_be_written_is_no_error_of_the_call(
    audit: Audit, full: threading.Event, capsys: pytest.CaptureFixture[str]
) -> None:
    full.set()
    record(audit)
    assert "the memory is not written to until it can" in capsys.readouterr().err


def test_the_next_write_is_refused_until_the_line_is_there(
    audit: Audit, workspace: Path, full: threading.Event
) -> None:
    full.set()
    record(audit)
    with pytest.raises(WriteError, match="no space left"):
        audit.check()
    full.clear()
    audit.check()
    assert [line["token"] for line in logged(workspace)] == ["anna"]


def test_a_write_is_refused_before_it_happens_if_there_can_be_no_log(audit: Audit) -> None:
    audit.file.parent.mkdir()
    audit.file.mkdir()
    with pytest.raises(WriteError, match="audit log"):
        audit.check()
