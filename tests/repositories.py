"""Make git repositories with commits of chosen days, and write notes on chosen days."""

from __future__ import annotations

import os
import shutil
import subprocess
from datetime import UTC, date, datetime, time
from functools import partial
from pathlib import Path

import pytest

from memlines.files import journal, trash
from tests.memories import write

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not there")


def git(folder: Path, *arguments: str, day: str = "2026-01-01", **variables: str) -> str:
    """Run git in a folder, on a day, and return what it says."""
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always"]
    when = {"GIT_COMMITTER_DATE": f"{day}T12:00:00Z", "GIT_AUTHOR_DATE": f"{day}T12:00:00Z"}
    done = subprocess.run(
        ["git", *who, *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
        env={**os.environ, **when, **variables},
    )
    return done.stdout.decode()


def commit(folder: Path, day: str, notes: dict[str, str]) -> str:
    """Write notes and commit everything on a day; return the name of the commit."""
    write(folder, notes)
    if not (folder / ".git").exists():
        git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", "notes", day=day)
    return git(folder, "rev-parse", "HEAD").strip()


def noon(day: str) -> datetime:
    """Return the middle of a day."""
    return datetime.combine(date.fromisoformat(day), time(12), UTC)


def set_time(file: Path, day: str) -> None:
    """Make a file look as if it was last changed on a day."""
    seconds = noon(day).timestamp()
    os.utime(file, (seconds, seconds))


def set_clock(monkeypatch: pytest.MonkeyPatch, day: str) -> None:
    """Have what Memlines writes from now on noted as written on a day."""
    now = noon(day)
    stamp = partial(_next_stamp, now=now)
    monkeypatch.setattr(journal, "_now", lambda: now.strftime("%Y%m%dT%H%M%S.%fZ"))
    monkeypatch.setattr(trash, "next_stamp", stamp)


_next_stamp = trash.next_stamp
