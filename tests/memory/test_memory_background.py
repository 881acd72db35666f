"""A memory that lives on embeds in the background what a search found without vectors."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memlines import Memory
from memlines.locks import WriterLock
from memlines.memory import manager
from tests.indexes import index_file, notes, program
from tests.memories import fake_memory, words_memory, write
from tests.providers import MeaningsProvider
from tests.waiting import background_threads, eventually

if TYPE_CHECKING:
    from memlines.embed.base import Vectors

NOTES = {"MEMORY.md": "We like the heron.\n", "a.md": "The kestrel lives here.\n"}
LATE = {f"late{number}.md": f"An okapi of number {number}.\n" for number in range(5)}


class Recording(MeaningsProvider):
    """Remembers in which threads it was asked; waits for a test to let it go on."""

    def __init__(self) -> None:
        super().__init__({})
        self.threads: list[str] = []
        self.go_on = threading.Event()
        self.go_on.set()
        self.is_asked = threading.Event()
        self.surprise: Exception | None = None

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        self.threads.append(threading.current_thread().name)
        self.is_asked.set()
        self.go_on.wait(60)
        if self.surprise is not None:
            raise self.surprise
        return super().embed_documents(texts)


def test_the_first_search_embeds_changes_itself(workspace: Path) -> None:
    provider = Recording()
    with fake_memory(workspace, NOTES, provider) as memory:
        memory.sync()
    with fake_memory(workspace, LATE, provider) as memory:
        assert memory.search("okapi").pending == 0
    assert "memlines" not in provider.threads


def test_a_later_search_answers_before_anything_is_embedded(workspace: Path) -> None:
    provider = Recording()
    with fake_memory(workspace, NOTES, provider) as memory:
        memory.search("heron")
        provider.go_on.clear()
        write(workspace, LATE)
        result = memory.search("okapi", min_score=0)
        provider.go_on.set()
        assert (result.pending, len(result) > 0) == (5, True)


def test_what_a_later_search_left_is_embedded_in_the_background(workspace: Path) -> None:
    provider = Recording()
    with fake_memory(workspace, NOTES, provider) as memory:
        memory.search("heron")
        write(workspace, LATE)
        memory.search("okapi")
        eventually(lambda: memory.status().pending == 0)
        assert provider.threads[-1] == "memlines"


def test_the_background_ends_when_there_is_nothing_left(workspace: Path) -> None:
    with fake_memory(workspace, NOTES, Recording()) as memory:
        memory.search("heron")
        write(workspace, LATE)
        memory.search("okapi")
        eventually(lambda: not background_threads())
        assert memory.status().pending == 0


def test_many_searches_start_one_thread(workspace: Path) -> None:
    provider = Recording()
    with fake_memory(workspace, NOTES, provider) as memory:
        memory.search("heron")
        provider.go_on.clear()
        write(workspace, LATE)
        for _ in range(5):
            memory.search("okapi")
        threads = len(background_threads())
        provider.go_on.set()
        assert threads == 1


def test_closing_ends_the_background(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manager, "_BACKGROUND_GROUP", 1)
    provider = Recording()
    memory = fake_memory(workspace, NOTES, provider)
    memory.search("heron")
    asked = len(provider.threads)
    provider.is_asked.clear()
    write(workspace, LATE)
    memory.search("okapi")
    provider.go_on.clear()
    if provider.is_asked.wait(60):
        threading.Timer(0.05, provider.go_on.set).start()
    memory.close()
    assert (background_threads(), memory.status().pending > 0) == ([], True)
    assert len(provider.threads) <= asked + 5
    memory.close()


def test_closing_right_after_a_search_embeds_nothing(workspace: Path) -> None:
    provider = Recording()
    with fake_memory(workspace, NOTES, provider) as memory:
        memory.search("heron")
        write(workspace, LATE)
        memory.search("okapi")
    assert "memlines" not in provider.threads


def test_without_embeddings_there_is_no_background(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        memory.search("heron")
        write(workspace, LATE)
        memory.search("okapi")
        assert background_threads() == []


def test_with_on_search_off_there_is_no_background(workspace: Path) -> None:
    provider = Recording()
    with fake_memory(workspace, NOTES, provider, sync__on_search=False) as memory:
        memory.search("heron")
        write(workspace, LATE)
        memory._manager.run(embed_limit=0)
        memory.search("okapi")
        assert background_threads() == []


@pytest.mark.parametrize(
    ("surprise", "words"),
    [
        (None, "the fake provider is out of order"),
        (ValueError("a bug"), "work in the background failed: ValueError: a bug"),
    ],
)
def test_an_error_in_the_background_is_a_warning_of_the_next_result(
    workspace: Path, surprise: Exception | None, words: str
) -> None:
    provider = Recording()
    with fake_memory(workspace, NOTES, provider) as memory:
        memory.search("heron")
        provider.surprise = surprise
        provider.failing_documents = True
        write(workspace, LATE)
        memory.search("okapi")
        eventually(lambda: not background_threads())
        assert any(words in warning for warning in memory.search("okapi").warnings)
        assert not any(words in warning for warning in memory.search("okapi").warnings)


def test_what_failed_is_not_tried_again_at_every_search(workspace: Path) -> None:
    provider = Recording()
    with fake_memory(workspace, NOTES, provider) as memory:
        memory.search("heron")
        provider.failing_documents = True
        write(workspace, LATE)
        memory.search("okapi")
        eventually(lambda: not background_threads())
        asked = len(provider.threads)
        for _ in range(3):
            memory.search("okapi")
        assert (background_threads(), len(provider.threads)) == ([], asked)


def test_what_failed_is_tried_again_with_the_next_change(workspace: Path) -> None:
    provider = Recording()
    with fake_memory(workspace, NOTES, provider) as memory:
        memory.search("heron")
        provider.failing_documents = True
        write(workspace, LATE)
        memory.search("okapi")
        eventually(lambda: not background_threads())
        provider.failing_documents = False
        write(workspace, {"new.md": "A gnu.\n"})
        memory.search("gnu")
        eventually(lambda: memory.status().pending == 0)


def test_a_background_beside_another_process_that_embeds_says_nothing(workspace: Path) -> None:
    with fake_memory(workspace, NOTES, Recording()) as memory:
        memory.search("heron")
        write(workspace, LATE)
        lock = WriterLock(index_file(workspace).with_name("index.sqlite.embedding.lock"))
        with lock.held(0):
            memory.search("okapi")
            eventually(lambda: not background_threads())
        result = memory.search("okapi")
        assert (result.pending, result.warnings) == (5, ())


def test_a_sync_does_not_leave_its_vectors_to_the_background(workspace: Path) -> None:
    provider = Recording()
    with fake_memory(workspace, NOTES, provider) as memory:
        memory.search("heron")
        write(workspace, LATE)
        memory.search("okapi")
        report = memory.sync()
        assert (report.pending, report.warnings, background_threads()) == (0, (), [])


FORGETFUL = """
import time
from pathlib import Path
from memlines import Memory
from memlines.embed.select import Choice
from memlines.memory import manager
from tests.providers import FakeProvider
manager._BACKGROUND_GROUP = 1

class Slow(FakeProvider):
    def embed_documents(self, texts):
        time.sleep(0.2)
        return super().embed_documents(texts)

memory = Memory(sys.argv[1])
memory._manager.choice = Choice("fake", Slow())
memory.search("heron")
for number in range(500):
    Path(sys.argv[1], f"memory/late{number}.md").write_text(f"An okapi, {number}.", encoding="utf-8")
memory.search("okapi")
time.sleep(1)
print(memory.status().pending)
"""


def test_a_program_that_forgets_to_close_its_memory_ends(workspace: Path) -> None:
    write(workspace, NOTES)
    done = subprocess.run(
        [*program(FORGETFUL), str(workspace)], capture_output=True, encoding="utf-8", timeout=60, check=False
    )
    assert (done.returncode, done.stderr, 0 < int(done.stdout) <= 500) == (0, "", True)


def test_the_background_works_with_the_real_model(workspace: Path) -> None:
    write(workspace, NOTES)
    with Memory(workspace) as memory:
        memory.search("heron")
        write(workspace, {name.removeprefix("memory/"): text for name, text in notes(3).items()})
        memory.search("own1")
        eventually(lambda: memory.status().pending == 0)
