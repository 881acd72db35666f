"""Ask git what only git knows: what is staged, what is tracked, and how a file is merged.

A repository may come from anywhere, so no hook, file system monitor or pager that it names is started, and
nothing is written to it.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from memlines.errors import WorkspaceError, reason_of

_SAFELY = (
    "--no-pager",
    "--no-optional-locks",
    "--literal-pathspecs",
    *("-c", "core.fsmonitor=false"),
    *("-c", f"core.hooksPath={os.devnull}"),
)
_SECONDS = 60.0
HOOK_VARIABLE = "GIT_INDEX_FILE"
"""Is set by git for its hooks: the index that is about to be committed may be another one than usual."""


def run_git(folder: Path | None, *arguments: str, stdin: bytes = b"") -> bytes:
    """Return what git answers in a folder; without one, in the place that git started this program as a hook.

    Raise if there is no git, or if it refuses.
    """
    outside = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", *_SAFELY, *arguments],
            cwd=folder,
            env={**(os.environ if folder is None else outside), "LC_ALL": "C"},
            input=stdin,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except FileNotFoundError:
        raise WorkspaceError("git is not installed, or not found", todo="Install git") from None
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
