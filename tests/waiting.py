"""Wait for what happens in another thread or process, with a deadline that no busy machine reaches."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from memlines import Memory, Report
from memlines.index.store.sqlite.index import Index
from tests.indexes import chunks_in, expected, index_file

_DEADLINE = 60.0


def eventually(condition: Callable[[], object]) -> None:
    """Return as soon as a condition holds; fail if it never does."""
    end = time.monotonic() + _DEADLINE
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def background_threads() -> list[threading.Thread]:
    """Return the threads that memories have running in this process."""
    return [thread for thread in threading.enumerate() if thread.name == "memlines"]


class Watched:
    """What a watch told, and whether it ended with an error."""

    def __init__(self) -> None:
        self.reports: list[Report] = []
        self.notices: list[str] = []
        self.error: Exception | None = None
        self.stop = threading.Event()
        self.thread = threading.Thread()


@contextmanager
def watching(memory: Memory) -> Iterator[Watched]:
    """Watch in another thread, and end that afterwards."""
    watched = Watched()

    def run() -> None:
        try:
            memory.watch(watched.stop, on_sync=watched.reports.append, on_notice=watched.notices.append)
        except Exception as error:  # noqa: BLE001 (shown by the test)
            watched.error = error

    watched.thread = threading.Thread(target=run)
    watched.thread.start()
    try:
        yield watched
    finally:
        watched.stop.set()
        watched.thread.join(_DEADLINE)
        assert not watched.thread.is_alive()


def is_equal(workspace: Path) -> bool:
    """Tell whether there is an index that holds what the files hold."""
    index = Index.reader(index_file(workspace))
    if index is None:
        return False
    try:
        return chunks_in(index) == expected(workspace)
    finally:
        index.close()
