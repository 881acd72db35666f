"""The first name of this project, Recollect, and what it left on machines.

What was made by that name keeps working: its environment variables, the user-wide folders and what it
installed into clients are read where nothing is there by the new name. Nothing is written by the old name
except into a folder that is still in use. `memlines doctor` says what is left, and what to do.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

NAME = "recollect"
NEW_NAME = "memlines"

MARKS = {
    "config": ("config.yaml",),
    "state": ("index-secret", "trusted.json", "engines", "install.lock", "hooks.log"),
    "cache": ("indexes", "models", "builtin-*"),
}
"""What marks a user-wide folder as ours, by its kind: another program of that name may have one as well."""

in_use: dict[str, str] = {}
"""What this process read by the old name, and what it is called now; the command line says so once."""


def old_variable(name: str) -> str:
    """Return what an environment variable was called: `RECOLLECT_HOME` for `MEMLINES_HOME`."""
    return NAME.upper() + name.removeprefix(NEW_NAME.upper())


def new_variable(name: str) -> str:
    """Return what an environment variable is called now; any other variable keeps its name."""
    prefix = f"{NAME.upper()}_"
    return f"{NEW_NAME.upper()}_{name.removeprefix(prefix)}" if name.startswith(prefix) else name


def get_variable(name: str, environ: Mapping[str, str] | None = None) -> str | None:
    """Return an environment variable, by its old name if it is not set by the new one."""
    environ = os.environ if environ is None else environ
    old = old_variable(name)
    if name in environ or old not in environ:
        return environ.get(name)
    in_use[old] = name
    return environ[old]


def is_ours(folder: Path, kind: str) -> bool:
    """Return whether a user-wide folder with the old name holds something of ours."""
    return any(True for mark in MARKS[kind] for _ in folder.glob(mark))


def folder_in_use(kind: str, old: Path, new: Path) -> Path:
    """Return the user-wide folder to use: the old one only as long as there is no new one."""
    if new.exists() or not is_ours(old, kind):
        return new
    in_use[str(old)] = str(new)
    return old
