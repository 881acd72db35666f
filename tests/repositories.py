"""Real git repositories, which know nothing of the settings of this machine."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def environment(**more: str) -> dict[str, str]:
    """Return an environment in which git has an author and no settings from outside."""
    outside = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    names = {"GIT_AUTHOR_NAME": "Ana", "GIT_COMMITTER_NAME": "Ana"}
    mails = {"GIT_AUTHOR_EMAIL": "ana@example.com", "GIT_COMMITTER_EMAIL": "ana@example.com"}
    alone = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    return {**outside, **names, **mails, **alone, **more}


def git(folder: Path, *arguments: str, check: bool = True, **more: str) -> subprocess.CompletedProcess[str]:
    """Run git in a folder."""
    done = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        env=environment(**more),
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


def commit(folder: Path, message: str = "Change notes") -> None:
    """Commit everything that git does not ignore."""
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", message)
