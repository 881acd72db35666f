"""One writer at a time, across processes.

The lock is the operating system's: it dies with its process, so a killed writer never
leaves it behind. A small file beside it says who holds it, for the error message only.
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
from memlines.folders import CREATE_FLAGS, open_private

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


class WriterLock:
    """The lock that every writer of an index, or of the notes, holds."""

    def __init__(self, path: Path, what: str = "") -> None:
        """Name the lock file, whose folder must exist, and what it guards if that is not an index."""
        self.path = path
        self._what = what or f"the index {path.with_suffix('').name}"
        self._holder_file = path.with_name(path.name + ".holder")

    @contextmanager
    def held(self, wait_seconds: float, waiting: Callable[[str], None] | None = None) -> Iterator[None]:
        """Hold the lock, or raise `StoreBusy` after waiting so long (0 = do not wait).

        `waiting` is called with who holds it, if that takes more than a moment.
        """
        with ExitStack() as stack:  # the lock goes free whatever happens, also if the caller keeps an error
            try:
                self._refuse_odd_files()
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
                self._announce()
            except (OSError, PathError) as error:
                raise StoreReadOnly(
                    f"the folder {str(self.path.parent)!r} cannot be written: {reason_of(error)}",
                    todo="Check its permissions and the space on the disk",
                ) from error
            try:
                yield
            finally:
                with suppress(OSError):  # it only words a message
                    self._holder_file.unlink()

    def holder(self) -> str:
        """Say in words who holds the lock and since when, as far as known."""
        try:
            if not stat.S_ISREG(self._holder_file.lstat().st_mode):
                return "another process"
            holder = json.loads(self._holder_file.read_text(encoding="utf-8"))
            return f"process {int(holder['pid'])} since {holder['since']}"
        except (OSError, ValueError, KeyError, TypeError):
            return "another process"

    def _refuse_odd_files(self) -> None:
        """Refuse a lock that is a link, a pipe or a folder, and a folder where its holder should be noted."""
        for file in (self.path, self._holder_file):
            with suppress(FileNotFoundError):
                mode = file.lstat().st_mode
                if stat.S_ISDIR(mode) or (file == self.path and not stat.S_ISREG(mode)):
                    raise StoreReadOnly(f"{str(file)!r} is not a regular file", todo="Remove it")

    def _announce(self) -> None:
        since = datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="seconds")
        self._holder_file.unlink(missing_ok=True)
        # A new file: a link of this name, from a cloned workspace, is not written through.
        handle = open_private(self._holder_file, CREATE_FLAGS)
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump({"pid": os.getpid(), "since": since}, stream)


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
            if (
                is_ours and os.fstat(handle).st_nlink
            ):  # or it was removed meanwhile, and another is in its place
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
