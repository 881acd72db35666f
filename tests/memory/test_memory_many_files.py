"""Where looking at all files takes long, a search does not wait for it; what changed is found soon after."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from memlines import Memory
from memlines.memory import manager as module
from memlines.types import Discovery, Progress
from tests.memories import WORDS_ONLY, write
from tests.waiting import eventually

pytestmark = pytest.mark.promise("P12")

NOTES = {"a.md": "The heron waits.\n", "b.md": "The gecko sleeps.\n"}


class Eyes:
    """Counts the looks at all files by who looks, and can hold those of the background."""

    def __init__(self, discover: Callable[[], Discovery]) -> None:
        self._discover = discover
        self.by_search = 0
        self.by_background = 0
        self.may_look = threading.Event()
        self.may_look.set()

    def __call__(self) -> Discovery:
        if threading.current_thread() is threading.main_thread():
            self.by_search += 1
        else:
            self.by_background += 1
            self.may_look.wait(30)
        return self._discover()


@pytest.fixture
def eyes(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Memory, Eyes]:
    """A memory for which every look at the files counts as a long one."""
    monkeypatch.setattr(module, "_LONG_SWEEP", -1.0)
    write(workspace, NOTES)
    memory = Memory(workspace, WORDS_ONLY)
    memory._manager._sweep_seconds = -2.0
    looking = Eyes(memory._manager.discover)
    monkeypatch.setattr(memory._manager, "discover", looking)
    memory.search("heron")
    memory.search("heron")
    looking.by_search = looking.by_background = 0
    return memory, looking


def test_a_search_leaves_the_look_to_the_background(eyes: tuple[Memory, Eyes]) -> None:
    memory, looking = eyes
    with memory:
        looking.may_look.clear()
        assert [hit.path for hit in memory.search("heron")] == ["memory/a.md"]
        eventually(lambda: looking.by_background == 1)
        assert looking.by_search == 0
        looking.may_look.set()


def test_a_file_changed_by_another_program_is_found_soon(workspace: Path, eyes: tuple[Memory, Eyes]) -> None:
    memory, looking = eyes
    with memory:
        write(workspace, {"c.md": "The okapi runs.\n"})
        memory.search("okapi")
        eventually(lambda: bool(memory.search("okapi")))
        (workspace / "memory/c.md").unlink()
        eventually(lambda: not memory.search("okapi"))
        assert looking.by_search == 0


def test_what_this_program_wrote_is_found_at_once(eyes: tuple[Memory, Eyes]) -> None:
    memory, looking = eyes
    with memory:
        looking.may_look.clear()
        memory.remember("The walrus sings in Bergen")
        assert memory.search("walrus")
        assert looking.by_search > 0
        looking.may_look.set()


def test_an_answer_that_may_lack_something_says_so(
    workspace: Path, eyes: tuple[Memory, Eyes], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, _ = eyes
    may_sync = threading.Event()
    sync = memory._manager._sync_in_background

    def sync_later(progress: Progress, *, words_only: bool = False) -> Iterable[str]:
        may_sync.wait(30)
        return sync(progress, words_only=words_only)

    def says_so() -> bool:
        return any("are being indexed" in warning for warning in memory.search("heron").warnings)

    with memory:
        monkeypatch.setattr(memory._manager, "_sync_in_background", sync_later)
        write(workspace, {"c.md": "The okapi runs.\n"})
        eventually(says_so)
        may_sync.set()
        eventually(lambda: not says_so())
