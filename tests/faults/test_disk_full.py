"""A disk that is full: a clear error, every note as it was, and freeing space is all it takes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.faults.conftest import Tell
from tests.faults.scale import scaled
from tests.indexes import REPOSITORY, program
from tests.programs import MAIN

pytestmark = [
    pytest.mark.promise("P1", "P6"),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux"),
    pytest.mark.usefixtures("each_provider"),
]

SIZES = scaled(3, 64)
SMALLEST, LARGEST = 256, scaled(1024, 4096)
"""Kilobytes of the small disks."""

LIMITS = (0, 1, 100, 1_000, 3_000, 5_000, 10_000, 10**9)

ON_A_SMALL_DISK = """
import json, os, subprocess, shutil
from pathlib import Path
from tests.faults import full_disk
mount, sizes = Path(sys.argv[1]), json.loads(sys.argv[2])
outcomes = []
for size in sizes:
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k", "none", mount], check=True)
    free = lambda: subprocess.run(["mount", "-o", "remount,size=64m", mount], check=True)
    outcomes.append(full_disk.fill(mount, free))
    subprocess.run(["umount", mount], check=True)
print(json.dumps(outcomes))
"""

WITH_SMALL_FILES = """
import json
from pathlib import Path
from tests.faults import full_disk
print(json.dumps(full_disk.limit_files(Path(sys.argv[1]), json.loads(sys.argv[2]))))
"""


def in_own_mounts(command: list[str]) -> list[str]:
    """Return a command whose mounts nobody else sees, and that are gone when it ends."""
    unshare = shutil.which("unshare")
    if unshare is None or os.geteuid() != 0:
        pytest.skip("small disks can be mounted by the superuser only")
    return [unshare, "--mount", "--propagation", "private", *command]


def outcomes_of(command: list[str]) -> Any:
    done = subprocess.run(command, capture_output=True, check=False, encoding="utf-8", cwd=REPOSITORY)
    if "permission denied" in done.stderr.lower() or "operation not permitted" in done.stderr.lower():
        pytest.skip("mounting is not permitted here")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_disk_that_fills_up_loses_nothing(tmp_path: Path, tell: Tell) -> None:
    step = (LARGEST - SMALLEST) // (SIZES - 1)
    sizes = [SMALLEST + step * number for number in range(SIZES)]
    command = [*program(ON_A_SMALL_DISK), str(tmp_path), json.dumps(sizes)]
    outcomes = outcomes_of(in_own_mounts(command))
    assert len(outcomes) == SIZES
    for size, outcome in zip(sizes, outcomes, strict=True):
        assert outcome["problems"] == [], size
        assert set(outcome["errors"]) <= {"WriteError", "StoreFull", "StoreError", "StoreReadOnly"}
        assert "WriteError" in outcome["errors"]
    total = sum(outcome["acknowledged"] for outcome in outcomes)
    tell(f"full disks: {SIZES} sizes from {SMALLEST} to {sizes[-1]} kB, {total} entries, none lost")


def test_a_limit_of_the_size_of_files_loses_nothing(workspace: Path, tell: Tell) -> None:
    outcomes = outcomes_of([*program(WITH_SMALL_FILES), str(workspace), json.dumps(LIMITS)])
    assert [outcome["problems"] for outcome in outcomes] == [[]] * len(LIMITS)
    assert outcomes[0]["errors"] == ["WriteError"]
    assert outcomes[-1]["errors"] == []
    tell(
        f"limited files: {len(LIMITS)} limits, {sum(o['acknowledged'] for o in outcomes)} entries, none lost"
    )


@pytest.mark.parametrize("command", [["search", "own1"], ["status"], ["sync"], ["search", "own1", "--json"]])
def test_output_that_cannot_be_written_is_an_error_without_a_traceback(
    workspace: Path, command: list[str]
) -> None:
    (workspace / "memory/n1.md").write_text("shared own1\n", encoding="utf-8")
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-c", MAIN, *command, "-w", str(workspace)],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            encoding="utf-8",
        )
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
