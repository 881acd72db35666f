"""Real git repositories, which know nothing of the settings of this machine, and notes of chosen days."""

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


def environment(**more: str) -> dict[str, str]:
    """Return an environment in which git has an author and no settings from outside."""
    outside = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    names = {"GIT_AUTHOR_NAME": "Ana", "GIT_COMMITTER_NAME": "Ana"}
    mails = {"GIT_AUTHOR_EMAIL": "ana@example.com", "GIT_COMMITTER_EMAIL": "ana@example.com"}
    alone = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    return {**outside, **names, **mails, **alone, **more}


def git(
    folder: Path, *arguments: str, check: bool = True, day: str = "", **more: str
) -> subprocess.CompletedProcess[str]:
    """Run git in a folder, on a day if one is named."""
    when = {name: f"{day}T12:00:00Z" for name in ("GIT_COMMITTER_DATE", "GIT_AUTHOR_DATE") if day}
    done = subprocess.run(
        ["git", "-c", "protocol.file.allow=always", *arguments],
        cwd=folder,
        env=environment(**when, **more),
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )
    assert not check or done.returncode == 0, done.stderr
    return done


def make_repository(folder: Path) -> Path:
    """Begin a repository in a folder that exists."""
    git(folder, "init", "--quiet", "--initial-branch=main")
    return folder


def commit(folder: Path, message: str = "Change notes", day: str = "") -> None:
    """Commit everything that git does not ignore."""
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", message, day=day)


def commit_notes(folder: Path, day: str, notes: dict[str, str]) -> str:
    """Write notes and commit everything on a day, in a new repository if need be; return the commit."""
    write(folder, notes)
    if not (folder / ".git").exists():
        make_repository(folder)
    commit(folder, day=day)
    return git(folder, "rev-parse", "HEAD").stdout.strip()


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
