"""What several test files share."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

untimed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""For property tests: a busy machine is no failure."""

_CANNOT_DROP = 77

# The superuser may read and write every file, which hides what a plain user would see. The two
# capabilities behind that are taken out of the bounding set; starting a program then loses them.
_LAUNCHER = f"""\
import ctypes, os, sys
if os.geteuid() == 0:
    prctl = ctypes.CDLL(None).prctl
    drop_from_bounding_set, dac_override, dac_read_search = 24, 1, 2
    for capability in (dac_override, dac_read_search):
        if prctl(drop_from_bounding_set, capability, 0, 0, 0) != 0:
            sys.exit({_CANNOT_DROP})
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Take away the right to write from a folder and everything in it."""
    every = [folder, *folder.rglob("*")]
    modes = {path: path.stat().st_mode for path in every}
    for path in every:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        yield
    finally:
        for path, mode in modes.items():
            if path.exists():
                path.chmod(mode)


def unprivileged_run(
    code: str | Sequence[str],
    *arguments: str | os.PathLike[str],
    env: Mapping[str, str] | None = None,
    timeout: float = 60,
) -> subprocess.CompletedProcess[str]:
    """Run Python where permission bits count, even for the superuser; skip the test if that is impossible.

    `code` is a program text or the interpreter's own arguments, such as `["-m", "memlines.cli.main"]`.
    `env` is added to the environment. The caller looks at `returncode`, `stdout` and `stderr`.
    """
    if os.name == "nt" or (os.geteuid() == 0 and not sys.platform.startswith("linux")):
        pytest.skip("permission bits cannot be made to count here")
    program = ["-c", code] if isinstance(code, str) else list(code)
    done = subprocess.run(
        [sys.executable, "-c", _LAUNCHER, *program, *(os.fspath(argument) for argument in arguments)],
        capture_output=True,
        check=False,
        encoding="utf-8",
        env={**os.environ, **(env or {})},
        timeout=timeout,
    )
    if done.returncode == _CANNOT_DROP:
        pytest.skip("capabilities cannot be dropped here")
    return done
