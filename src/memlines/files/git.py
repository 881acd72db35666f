"""Ask git what only git knows: what is staged, what is tracked, and how a file is merged.

A repository may come from anywhere, so no hook, file system monitor or pager that it names is started,
nothing is fetched, and nothing is written to it.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from memlines.errors import WorkspaceError, reason_of
from memlines.paths import find_program

SAFE_OPTIONS = (
    "--no-pager",
    "--no-optional-locks",
    "--no-replace-objects",
    "--literal-pathspecs",
    *("-c", "core.fsmonitor=false"),
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "safe.bareRepository=explicit"),  # a folder of notes may hold what looks like a repository
)
_NOTHING_FETCHED = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_SECONDS = 60.0
HOOK_VARIABLE = "GIT_INDEX_FILE"
"""Is set by git for its hooks: the index that is about to be committed may be another one than usual."""


def safe_environment(*, as_hook: bool = False) -> dict[str, str]:
    """Return the variables that git is started with: its own are left out, unless it started us as a hook."""
    given = {name: value for name, value in os.environ.items() if as_hook or not name.startswith("GIT_")}
    return {**given, **_NOTHING_FETCHED}


def run_git(folder: Path | None, *arguments: str, stdin: bytes = b"") -> bytes:
    """Return what git answers in a folder; without one, in the place that git started this program as a hook.

    Raise if there is no git, or if it refuses.
    """
    git = find_program("git")
    if git is None:
        raise WorkspaceError("git is not installed, or not found", todo="Install git")
    try:
        done = subprocess.run(
            [git, *SAFE_OPTIONS, *arguments],
            cwd=folder,
            env=safe_environment(as_hook=folder is None),
            input=stdin,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise WorkspaceError(f"git did not answer within {_SECONDS:.0f} seconds", todo="Try again") from None
    except OSError as error:
        raise WorkspaceError(f"git cannot be started: {reason_of(error)}", todo="Check it") from error
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().partition("\n")[0].removeprefix("fatal: ")
        where = str(folder or Path.cwd())
        raise WorkspaceError(
            f"git cannot be asked about {where!r}: {said}",
            todo="Check that the folder is in a git repository of yours",
        )
    return done.stdout


def is_tracked(folder: Path, *paths: str) -> bool:
    """Return whether git knows any of some paths below a folder."""
    return bool(run_git(folder, "ls-files", "-z", "--", *paths))
