"""The processes that an engine runs for: it ends when they are gone."""

from __future__ import annotations

import os
from pathlib import Path

_GONE = b"ZX"
"""States of a process that has ended and only waits for somebody to notice."""


class Clients:
    """Which clients asked, and which of them are still there."""

    def __init__(self) -> None:
        self._began: dict[int, bytes] = {}

    def add(self, process: int) -> None:
        """Note a client; one that has ended already is not worth it."""
        began = _began(process) if process > 1 else None
        if began is not None:
            self._began[process] = began

    def any_left(self) -> bool:
        """Tell whether one of the clients is still there, and forget the others."""
        for process, began in list(self._began.items()):
            if _began(process) != began:
                self._began.pop(process, None)
        return bool(self._began)


def _began(process: int) -> bytes | None:
    """Return when a process began, as far as the system tells; nothing if it has ended.

    The number of a process is given to another one later on; when it began tells them apart.
    """
    try:
        told = Path(f"/proc/{process}/stat").read_bytes()
    except FileNotFoundError:
        return None if Path("/proc/self/stat").exists() else _answers(process)
    except OSError:
        return None
    fields = told[told.rfind(b")") + 1 :].split()
    return None if fields[0] in _GONE else fields[19]


def _answers(process: int) -> bytes | None:
    """Tell the same where there is no list of processes to read."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        return b""  # it is there, though it is not ours
    return b""
