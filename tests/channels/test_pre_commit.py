"""The hook of this repository, as the real pre-commit installs and runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.channels.programs import ROOT

PRE_COMMIT = "pre-commit==4.7.0"
SECONDS = 900
NOTE = "# Keys\n\n- The token is ghp_0123456789abcdefghijABCDEFGHIJ012345\n"


def run(folder: Path, *words: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in words],
        cwd=folder,
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=SECONDS,
        check=False,
    )


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with pre-commit in it; skip the tests if it cannot be installed."""
    folder = tmp_path_factory.mktemp("pre-commit") / "env"
    run(folder.parent, sys.executable, "-m", "venv", folder)
    done = run(folder.parent, folder / "bin/python", "-m", "pip", "install", "--quiet", PRE_COMMIT)
    if done.returncode:
        pytest.skip(f"pre-commit cannot be installed: {done.stdout}")
    return folder / "bin"


@pytest.mark.slow  # it makes an environment with all dependencies, from the package index
@pytest.mark.timeout(2 * SECONDS)
def test_it_refuses_a_secret_and_lets_the_rest_pass(programs: Path, tmp_path: Path) -> None:
    run(tmp_path, "git", "init", "--quiet")
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory/keys.md").write_text(NOTE, encoding="utf-8")
    run(tmp_path, "git", "add", "--all")
    attempt = [str(programs / "pre-commit"), "try-repo", str(ROOT), "memlines-check"]
    home = str(programs.parent / "home")
    refused = run(tmp_path, *attempt, PRE_COMMIT_HOME=home)
    assert (refused.returncode, "memory/keys.md:3 looks like a secret" in refused.stdout) == (1, True)
    (tmp_path / "memory/keys.md").write_text("# Keys\n\n- In the safe.\n", encoding="utf-8")
    run(tmp_path, "git", "add", "--all")
    assert run(tmp_path, *attempt, PRE_COMMIT_HOME=home).returncode == 0
