"""Checks of what was installed into clients: its files, and the Python that the engine runs in."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from recollect.doctor.finding import Finding, listed, ok, problem, warning
from recollect.doctor.patient import Patient
from recollect.errors import PathError, reason_of
from recollect.files.atomic import read
from recollect.hosts import opencode
from recollect.hosts.catalogue import HOSTS
from recollect.hosts.receipt import Receipt, read_receipt
from recollect.paths import contains
from recollect.version import __version__

_ASK = "import recollect; print(recollect.__version__)"
_SECONDS = 10.0
_PYTHON = re.compile(r"(?:python|pypy)[0-9.]*(?:\.exe)?")


def check_clients(patient: Patient) -> Iterator[Finding]:
    """Look at every client that Recollect was installed into, for this project or for all."""
    found = False
    for name, host in HOSTS.items():
        for project, option in ((patient.workspace.root, "--project"), (None, "--global")):
            folder = host.folder_of(project)
            receipt = read_receipt(folder)
            if receipt is None or not receipt.is_installed():
                continue
            found = True
            again = f"Run 'recollect install {name} {option}'"
            findings = [
                *_files(folder, receipt, again),
                *_engine(patient, folder, again),
                *_npm(folder, again),
            ]
            yield from findings or [ok(f"{host.title} in {folder}, with {len(receipt.files)} files")]
    if not found:
        yield ok("not installed in a client; 'recollect install opencode' does that")


def _files(folder: Path, receipt: Receipt, again: str) -> Iterator[Finding]:
    """Compare the files with the receipt, and its version with this one."""
    missing, changed = [], []
    for path, entry in receipt.files.items():
        try:
            content = read(folder / path)
        except (PathError, OSError):
            changed.append(path)  # a link, or no file any more
            continue
        if content is None:
            missing.append(path)
        elif not entry.is_ours(content):
            changed.append(path)
    if missing:
        yield problem(f"missing in {folder}: {listed(missing)}", again)
    if changed:
        yield warning(
            f"changed since they were installed in {folder}: {listed(changed)}",
            f"Leave them so, or delete them; then {again[0].lower()}{again[1:]}",
        )
    if receipt.version != __version__:
        yield warning(f"{folder} is of Recollect {receipt.version}, and this is {__version__}", again)


def _engine(patient: Patient, folder: Path, again: str) -> Iterator[Finding]:
    """Ask the Python that runs the engine for its Recollect."""
    try:
        told = json.loads(read(folder / opencode.COMMAND_FILE) or b"{}")
        python = Path(told["command"][0])
    except (PathError, OSError, ValueError, LookupError, TypeError, RecursionError):
        yield problem(f"{folder / opencode.COMMAND_FILE} does not say how to start the engine", again)
        return
    if not os.access(python, os.X_OK) or python.is_dir():
        yield problem(f"the Python of the engine is gone: {python}", again)
    elif _may_be_run(python, patient.workspace.root):
        yield from _asked(python, again)


def _may_be_run(python: Path, project: Path) -> bool:
    """Tell whether asking is safe: a cloned project may bring settings, and a program that they name."""
    if python == Path(sys.executable):
        return True
    is_brought = contains(project, python.absolute()) or contains(project, python.resolve())
    return python.is_absolute() and not is_brought and bool(_PYTHON.fullmatch(python.name))


def _asked(python: Path, again: str) -> Iterator[Finding]:
    try:
        answer = subprocess.run(
            [str(python), "-P", "-c", _ASK],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        yield problem(f"{python} did not answer within {_SECONDS:.0f} seconds", again)
        return
    except OSError as error:
        yield problem(f"{python} cannot be started: {reason_of(error)}", again)
        return
    lines = (answer.stderr if answer.returncode else answer.stdout).decode(errors="replace").split("\n")
    said = next((line.strip() for line in reversed(lines) if line.strip()), "nothing")
    if answer.returncode:
        yield problem(f"{python} has no Recollect to run: {said}", again)
    elif said != __version__:
        yield warning(f"{python} runs Recollect {said}, and this is {__version__}", again)


def _npm(folder: Path, again: str) -> Iterator[Finding]:
    for place in dict.fromkeys((folder, opencode.global_folder())):
        if opencode.waits_for_npm(place) and not opencode.gives_up_soon(place):
            yield warning(
                f"without a network, OpenCode waits for npm at each start because of {place}",
                f"{again}, or add fetch-retries=0 to its .npmrc",
            )
