"""Checks of what was installed into clients: its files, and the Python that the engine runs in."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from memlines.admin.doctor.findings import Checkup, Finding, list_names, ok, problem, warning
from memlines.clients.client import Client, Target, load_clients
from memlines.clients.receipt import (
    Manifest,
    Receipt,
    old_home,
    old_receipt_file,
    read_manifest,
    read_receipt,
    receipt_file,
)
from memlines.errors import PathError, WriteError, reason_of
from memlines.files.atomic import read
from memlines.paths import contains, find_program
from memlines.version import __version__

_ASK = "import memlines; print(memlines.__version__)"
_SECONDS = 10.0
_VERSION = re.compile(r"\d+\.\d+\.\d+[-+.\w]*")
_PYTHON = re.compile(r"(?:python|pypy)[0-9.]*(?:\.exe)?")


def check_clients(checkup: Checkup) -> Iterator[Finding]:
    """Look at every client that Memlines was installed into, for this project or for all."""
    found, clients = False, load_clients()
    for name, client in clients.items():
        installed = False
        for project, option in ((checkup.workspace.root, "--project"), (None, "--global")):
            if client.is_global(project):  # which is checked as --global
                continue
            folder = client.folder_of(project)
            again = f"Run 'memlines install {name} {option}'"
            receipt = read_receipt(folder)
            manifest = read_manifest(folder) or read_manifest(folder, old_home())
            if receipt is None or not receipt.is_installed():
                if manifest is not None:
                    found = True
                    yield warning(f"what came with {folder} does not know yet how to start the engine", again)
                continue
            found = True
            findings = []
            old_file = f"{old_home()}/.gitignore"
            if receipt_file(folder) == old_receipt_file(folder) or old_file in receipt.files:
                # It keeps working until it is replaced.
                findings.append(warning(f"what is installed in {folder} has the old name, Recollect", again))
            findings += [
                *_check_files(client.targets(project)[0], folder, receipt, manifest, again),
                *_check_engine(checkup, folder, client.python_of(project), again),
                *(warning(what, todo) for what, todo in client.warnings(project)),
            ]
            yield from findings or [ok(f"{client.title} in {folder}, with {len(receipt.files)} files")]
            installed = True
        if plugin := client.plugin_file(checkup.workspace.root):
            found = True
            if installed:
                yield warning(
                    f"{client.title} runs Memlines twice: as installed, and as a plugin, enabled in {plugin}",
                    f"Run '{client.remove_plugin}', or 'memlines uninstall {name}'",
                )
            else:
                yield ok(f"memlines runs as a plugin of {client.title}, enabled in {plugin}")
        if installed and client.ask_version:
            yield from _check_version(client, checkup.workspace.root)
    if not found:
        yield ok(f"not installed in a client; 'memlines install' does that, for {list_names(list(clients))}")


def _check_files(
    target: Target, folder: Path, receipt: Receipt, manifest: Manifest | None, again: str
) -> Iterator[Finding]:
    """Compare the files with the receipt or with what Git brought since, and their version with this one."""
    missing, changed = [], []
    for path, entry in receipt.files.items():
        edit = target.edit_of(path)
        try:
            content = read(target.folder / path)
            is_edited = entry.edited is not None and bool(entry.edited.cuts)
            lacks_ours = is_edited and content is not None and edit and edit.take_out(content) == content
        except (PathError, WriteError, OSError):
            changed.append(path)  # a link, no file any more, or one that cannot be understood
            continue
        if content is None:
            missing.append(path)
        elif lacks_ours:
            missing.append(f"our part of {path}")
        elif edit is None and not entry.is_ours(content) and not (manifest and manifest.holds(path, content)):
            changed.append(path)
    if missing:
        yield problem(f"missing in {folder}: {list_names(missing)}", again)
    if changed:
        yield warning(
            f"changed since they were installed in {folder}: {list_names(changed)}",
            f"Leave them so, or delete them; then {again[0].lower()}{again[1:]}",
        )
    version = next((held.version for held in (receipt, manifest) if held and held.version != __version__), "")
    if version:
        yield warning(f"{folder} is of Memlines {version}, and this is {__version__}", again)


def _check_engine(checkup: Checkup, folder: Path, python: Path | None, again: str) -> Iterator[Finding]:
    """Ask the Python that runs the engine for its Memlines."""
    if python is None:
        yield problem(f"{folder} does not say how to start the engine", again)
        return
    if not os.access(python, os.X_OK) or python.is_dir():
        yield problem(f"the Python of the engine is gone: {python}", again)
        return
    if not _may_be_run(python, checkup.workspace.root):
        return
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
        yield problem(f"{python} has no Memlines to run: {said}", again)
    elif said != __version__:
        yield warning(f"{python} runs Memlines {said}, and this is {__version__}", again)


def _check_version(client: Client, project: Path) -> Iterator[Finding]:
    """Name the version of a client, as its program prints it."""
    program = find_program(client.program)
    if program is None or _is_brought(Path(program), project):
        return
    try:
        answer = subprocess.run(
            [program, *client.ask_version],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        yield warning(f"{program} does not say its version: {error}", f"Start {client.title} once by itself")
        return
    if version := _VERSION.search(answer.stdout.decode(errors="replace")):
        yield ok(f"{client.title} {version[0]}: {program}")


def _may_be_run(python: Path, project: Path) -> bool:
    """Return whether asking is safe: a cloned project may bring settings, and a program that they name."""
    if python == Path(sys.executable):
        return True
    return python.is_absolute() and not _is_brought(python, project) and bool(_PYTHON.fullmatch(python.name))


def _is_brought(program: Path, project: Path) -> bool:
    """Return whether a program is in a project, which may be a clone from anywhere."""
    return contains(project, program.absolute()) or contains(project, program.resolve())
