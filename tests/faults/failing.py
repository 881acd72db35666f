"""Let the n-th call into the system fail, or all from the n-th on: those of Python and those of SQLite."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw
import pytest

from tests.faults.vfs import watched

CALLS = (
    *("open", "read", "write", "fsync", "chmod", "mkdir", "link", "rename", "replace", "unlink", "rmdir"),
    *("scandir", "listdir", "stat", "lstat", "fstat"),
)

Fault = Callable[[], BaseException]


def _system_fault(number: int) -> Fault:
    return lambda: OSError(number, os.strerror(number))


SYSTEM_FAULTS: dict[str, Fault] = {
    "full": _system_fault(errno.ENOSPC),
    "broken": _system_fault(errno.EIO),
    "denied": _system_fault(errno.EACCES),
    "too many files": _system_fault(errno.EMFILE),
    "interrupted": KeyboardInterrupt,
}
SQLITE_FAULTS: dict[str, Fault] = {"full": apsw.FullError, "broken": apsw.IOError}


@dataclass
class Failing:
    """Counts calls, and lets one fail, or all from it on; none if the number is 0."""

    number: int
    fault: Fault
    sticky: bool = False
    seen: int = 0
    failed: list[str] = field(default_factory=list)

    def pass_by(self, name: str) -> None:
        """Count a call; raise if it is to fail."""
        self.seen += 1
        if self.number and (self.seen == self.number or (self.sticky and self.seen > self.number)):
            self.failed.append(name)
            raise self.fault()

    @contextmanager
    def in_python(self) -> Iterator[None]:
        """Let the calls of Python code pass by here."""
        with pytest.MonkeyPatch.context() as patch:
            for name in CALLS:
                patch.setattr(os, name, self._watched(name, getattr(os, name)))
            patch.setattr(io, "open", self._watched("io.open", io.open))
            yield

    def _watched(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            self.pass_by(name)
            return real(*arguments, **options)

        return call

    @contextmanager
    def in_sqlite(self) -> Iterator[None]:
        """Let the calls of SQLite pass by here."""

        def observe(call: str, path: str, offset: int, data: bytes) -> None:
            if call != "read":
                self.pass_by(f"{call} {Path(path).name}")

        with watched(observe):
            yield
