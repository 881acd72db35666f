"""Run the command line as a user whom the system does not know, as containers and services do."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.programs import MAIN

STRANGER = 54_321
"""A number of a user that no system has an entry for."""

_CANNOT_CHANGE = 77

# The interpreter and the tests may lie below a folder that is closed to other users: one capability is kept,
# by which everything can be read. What may be written is as for any plain user.
_AS_STRANGER = f"""\
import ctypes, os, struct, sys
keep_capabilities, ambient, raise_one, read_search = 8, 47, 2, 2
libc = ctypes.CDLL(None)
libc.prctl(keep_capabilities, 1, 0, 0, 0)
os.setgroups([])
os.setgid({STRANGER})
os.setuid({STRANGER})
wanted = struct.pack("6I", *[1 << read_search] * 3, 0, 0, 0)
if libc.capset(struct.pack("Ii", 0x20080522, 0), wanted) or libc.prctl(ambient, raise_one, read_search, 0, 0):
    sys.exit({_CANNOT_CHANGE})
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


def as_stranger(
    *arguments: str | Path, cwd: Path, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command line as such a user, with only these variables; skip the test if that is impossible."""
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        pytest.skip("only the superuser of a Linux system can become another user")
    done = subprocess.run(
        [sys.executable, "-c", _AS_STRANGER, "-c", MAIN, *map(str, arguments)],
        cwd=cwd,
        env={"PATH": os.defpath, "MEMLINES_EMBEDDINGS__PROVIDER": "none", **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    if done.returncode == _CANNOT_CHANGE:
        pytest.skip("capabilities cannot be kept here")
    return done


def give_to_stranger(folder: Path) -> Path:
    """Let that user own a folder and all in it; return the folder."""
    if os.geteuid() != 0:
        pytest.skip("only the superuser can give files away")
    for path in (folder, *folder.rglob("*")):
        os.chown(path, STRANGER, STRANGER)
    return folder
