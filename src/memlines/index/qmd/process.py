"""Run the program qmd as a child process that never outlives the call."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO, Any

from memlines.errors import QmdFailed, reason_of
from memlines.folders import open_folder
from memlines.paths import find_program
from memlines.text.shell import is_batch_file
from memlines.types import Progress

MOST_CHARACTERS = 200_000
_MOST_BYTES = 4 * MOST_CHARACTERS
_LOOK_SECONDS = 0.05
_SAID = 300


def find_qmd(command: str) -> str:
    """Return where the program is."""
    found = find_program(command)
    if found is not None and is_batch_file(found):
        todo = "Name a program in qmd.command, or use the index of Memlines"
        raise QmdFailed(f"{command!r} is a batch file, which cannot be asked safely", todo=todo)
    if found is not None:
        return found
    todo = "Install it with 'npm install -g @tobilu/qmd', or name it in qmd.command"
    raise QmdFailed(f"the program {command!r} is not there", todo=todo)


def run_program(
    command: str,
    arguments: Sequence[str],
    folder: Path,
    variables: Mapping[str, str],
    seconds: float,
    progress: Progress,
) -> str:
    """Run the program to its end and return what it printed; whatever goes wrong is raised as `QmdFailed`.

    `progress` is called while it runs; if that raises, the program is killed too.
    """
    name, deadline = f"'qmd {arguments[0]}'", time.monotonic() + seconds
    open_file = partial(tempfile.TemporaryFile, "w+", encoding="utf-8", errors="replace")
    with open_file() as output, open_file() as complaints:
        pipes: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": complaints}
        if os.name == "posix":  # what it writes down of the notes is as private as the folder
            with open_folder(folder) as place:
                pipes["umask"] = 0o007 if place.is_shared else 0o077
        line = [find_qmd(command), *arguments]
        try:  # in a group of its own, which can be killed as a whole
            process = subprocess.Popen(line, cwd=folder, env=variables, start_new_session=True, **pipes)
        except OSError as error:
            raise QmdFailed(f"{command!r} cannot be run: {reason_of(error)}") from error
        try:
            while process.poll() is None and max(_size_of(output), _size_of(complaints)) <= _MOST_BYTES:
                if time.monotonic() >= deadline:
                    raise QmdFailed(f"{name} took longer than {seconds:.3g} seconds")
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_LOOK_SECONDS)
                progress(0, 1, "qmd")
        finally:
            _kill_group(process)
        for file in (output, complaints):
            file.seek(0)
        printed, said = output.read(MOST_CHARACTERS + 1), complaints.read(MOST_CHARACTERS).strip()
        is_flood = len(printed) > MOST_CHARACTERS or _size_of(complaints) > _MOST_BYTES
    if is_flood:
        trouble = f"printed more than {MOST_CHARACTERS:,} characters"
    elif process.returncode:
        trouble = f"ended with code {process.returncode}: {said[-_SAID:] or 'it gave no reason'}"
    elif printed.strip():
        return printed
    else:
        trouble = "printed nothing"
    raise QmdFailed(f"{name} {trouble}", todo="Try 'qmd doctor'; it needs Node 22 or newer")


def _size_of(file: IO[str]) -> int:
    """Return how many bytes the program wrote into a file so far."""
    return os.fstat(file.fileno()).st_size


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """End the program and the processes of its group; one that left the group stays."""
    if os.name == "posix":
        with suppress(ProcessLookupError, PermissionError):  # which is how macOS says that none is left
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()
