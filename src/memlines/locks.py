"""One writer at a time, across processes.

The lock is the operating system's: it dies with its process, so a killed writer never
leaves it behind. What the locked file says about its holder is for error messages only.
"""

from __future__ import annotations

import errno
import json
import os
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from memlines.errors import PathError, StoreBusy, StoreReadOnly, reason_of
from memlines.folders import open_private

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

if TYPE_CHECKING:
    from concurrent.futures import Future

_Result = TypeVar("_Result")

_A_MOMENT = 1.0
_POLL = 0.005
"""How often a lock is tried: a process that holds it in a tight loop releases it for a moment only."""

_MOST_BYTES = 200
"""How much of a lock is read to learn who holds it."""

_BEGINNING = b' {"pid": '
"""How what a lock says of its holder begins."""


class WriterLock:
    """The lock that every writer of an index, or of the notes, holds."""

    def __init__(self, path: Path, what: str = "") -> None:
        """Name the lock file, whose folder must exist, and what it guards if that is not an index."""
        self.path = path
        self._what = what or f"the index {path.with_suffix('').name}"

    @contextmanager
    def held(self, wait_seconds: float, waiting: Callable[[str], None] | None = None) -> Iterator[None]:
        """Hold the lock, or raise `StoreBusy` after waiting so long (0 = do not wait).

        `waiting` is called with who holds it, if that takes more than a moment.
        """
        with ExitStack() as stack:  # the lock goes free whatever happens, also if the caller keeps an error
            try:
                self._refuse_odd_file()
                lock = acquire(self.path, min(wait_seconds, _A_MOMENT))
                if lock is None and wait_seconds > _A_MOMENT:
                    if waiting is not None:
                        waiting(self.holder())
                    lock = acquire(self.path, wait_seconds - _A_MOMENT)
                if lock is None:
                    raise StoreBusy(
                        f"{self._what} is being written by {self.holder()}",
                        todo="Wait for it to finish and try again",
                    )
                stack.callback(release, lock)
            except (OSError, PathError) as error:
                raise StoreReadOnly(
                    f"the folder {str(self.path.parent)!r} cannot be written: {reason_of(error)}",
                    todo="Check its permissions and the space on the disk",
                ) from error
            with suppress(OSError):  # who holds it only words a message
                since = datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="seconds")
                _write_holder(lock, b" " + json.dumps({"pid": os.getpid(), "since": since}).encode())
            try:
                yield
            finally:
                with suppress(OSError):
                    _write_holder(lock, b"")

    def holder(self) -> str:
        """Say in words who holds the lock and since when, as far as known."""
        try:
            if not stat.S_ISREG(self.path.lstat().st_mode):
                return "another process"
            with self.path.open("rb", buffering=0) as file:
                file.seek(1)  # Windows lets nobody else read the byte that is locked
                holder = json.loads(file.read(_MOST_BYTES))
            return f"process {int(holder['pid'])} since {holder['since']}"
        except (OSError, ValueError, OverflowError, KeyError, TypeError):
            return "another process"

    def _refuse_odd_file(self) -> None:
        """Refuse a lock that is a link, a pipe or a folder."""
        with suppress(FileNotFoundError):
            if not stat.S_ISREG(self.path.lstat().st_mode):
                raise StoreReadOnly(f"{str(self.path)!r} is not a regular file", todo="Remove it")


def _write_holder(lock: int, text: bytes) -> None:
    """Replace what a lock says of its holder, or what a killed one left; another text is someone's own."""
    os.lseek(lock, 0, os.SEEK_SET)
    if not _BEGINNING.startswith(os.read(lock, len(_BEGINNING))):
        return  # `store.path` may lead to a lock of another program, such as uv.lock
    os.ftruncate(lock, 0)
    os.lseek(lock, 0, os.SEEK_SET)
    os.write(lock, text)


def acquire(path: Path, wait_seconds: float = 0.0) -> int | None:
    """Lock a file for this process; return its descriptor, or nothing if another holds it for so long."""
    until = time.monotonic() + wait_seconds
    while True:
        handle = open_private(path)
        try:
            is_ours = _try_lock(handle)
            while not is_ours and time.monotonic() < until:
                time.sleep(_POLL)
                is_ours = _try_lock(handle)
            # A file that was removed meanwhile, with another in its place, locks nothing.
            if is_ours and os.fstat(handle).st_nlink:
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)
        if not is_ours:
            return None


def release(handle: int) -> None:
    """Free a lock."""
    if sys.platform == "win32":
        os.lseek(handle, 0, os.SEEK_SET)  # where it was locked
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)
    os.close(handle)


def _try_lock(handle: int) -> bool:
    try:
        if sys.platform == "win32":
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EAGAIN):
            raise
        return False
    return True


def eval_lock(folder: Path) -> WriterLock:
    """Return the lock of the private test set, in the private folder or in the cache.

    Forgetting holds it until the notes are changed: questions that were made before are not written after.
    """
    return WriterLock(folder / "eval.lock", "the private test set")


def past_lock(folder: Path) -> WriterLock:
    """Return the lock of the indexes of earlier days, in the private folder or in the cache."""
    return WriterLock(folder / "past.lock", "the index of an earlier day")


def qmd_lock(folder: Path) -> WriterLock:
    """Return the lock of what the program qmd keeps, in the private folder."""
    return WriterLock(folder / "qmd.lock", "the index of qmd")


def start_daemon(work: Callable[[], _Result], name: str) -> Future[_Result]:
    """Do work in a thread that the program does not wait for when it ends, because the work may hang."""
    from concurrent.futures import Future

    future: Future[_Result] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 (the caller gets it with the result)
            future.set_exception(error)

    threading.Thread(target=run, name=name, daemon=True).start()
    return future
