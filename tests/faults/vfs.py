"""SQLite's own calls into the system, watched by a VFS that stands before the usual one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import TracebackType

import apsw
import pytest

Observer = Callable[[str, str, int, bytes], None]
"""Called before a call as `observer(call, file, offset or size, data)`; what it raises, the call raises."""

_NAME = "watched"


class _File(apsw.VFSFile):
    def __init__(
        self, base: str, name: str | apsw.URIFilename | None, flags: list[int], observer: Observer
    ) -> None:
        self.name = name.filename() if isinstance(name, apsw.URIFilename) else (name or "")
        self.observer = observer
        super().__init__(base, name, flags)

    def excepthook(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        """Say nothing: where SQLite can go on without an answer, it does."""
        return True

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        self.observer("read", self.name, offset, b"")
        return super().xRead(amount, offset)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        self.observer("write", self.name, offset, bytes(data))
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802
        self.observer("sync", self.name, 0, b"")
        super().xSync(flags)

    def xLock(self, level: int) -> None:  # noqa: N802
        try:
            super().xLock(level)
        except apsw.IOError:
            # A reader that closes tries for a lock that only a writer can have. SQLite shrugs at that;
            # `apsw` would raise it.
            raise apsw.BusyError from None

    def xTruncate(self, size: int) -> None:  # noqa: N802
        self.observer("truncate", self.name, size, b"")
        super().xTruncate(size)


class _Vfs(apsw.VFS):
    def __init__(self, observer: Observer) -> None:
        self.base = apsw.vfs_names()[0]
        self.observer = observer
        super().__init__(_NAME, self.base, makedefault=True)

    def excepthook(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        """Say nothing: where SQLite can go on without an answer, it does."""
        return True

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        path = name.filename() if isinstance(name, apsw.URIFilename) else (name or "")
        self.observer("open", path, 0, b"")
        return _File(self.base, name, flags, self.observer)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        self.observer("delete", filename, int(syncdir), b"")
        super().xDelete(filename, syncdir)


class _Connection(apsw.Connection):
    def close(self, force: bool = False) -> None:
        """Close as SQLite does, which ignores what fails then; `apsw` would raise what the VFS raised."""
        with suppress(apsw.FullError, apsw.IOError):
            super().close(force)


@contextmanager
def watched(observer: Observer) -> Iterator[None]:
    """Let every database that is opened in the block go through the observer."""
    vfs = _Vfs(observer)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(apsw, "Connection", _Connection)
        try:
            yield
        finally:
            vfs.unregister()
