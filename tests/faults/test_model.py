"""Whatever is done to the files in whatever order, after a sync the index is what the files say."""

from __future__ import annotations

import shutil
import tempfile
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from memlines.memory.memory import Memory
from tests.faults.scale import scaled
from tests.faults.support import check_index, remember
from tests.indexes import expected, indexed

pytestmark = pytest.mark.promise("P3")

FOLDERS = ("", "people/", "deep/er/")
PATHS = st.sampled_from(
    ["MEMORY.md", *(f"memory/{folder}{name}.md" for folder in FOLDERS for name in ("a", "b", "c"))]
)
BODIES = st.lists(
    st.sampled_from(
        ["# Heading", "- an item", "plain words", "", "  - nested", "ünïcödé 漢字", "long " * 300]
    ),
    max_size=6,
)


class Files(RuleBasedStateMachine):
    """A workspace, and what it should hold: the text of each note, by its path."""

    provider = "none"

    def __init__(self) -> None:
        super().__init__()
        self.workspace = Path(tempfile.mkdtemp(prefix="memlines-model-"))
        self.memory = Memory(self.workspace, {"embeddings.provider": self.provider})
        self.notes: dict[str, str] = {}
        self.numbers = count()
        self.words: list[str] = []

    def teardown(self) -> None:
        self.memory.sync()
        check_index(self.workspace)
        self.memory.close()
        shutil.rmtree(self.workspace)

    def word(self) -> str:
        """Return a word that no note holds yet, that no stemmer changes, and that begins no other."""
        letters = f"{next(self.numbers):04d}".translate(str.maketrans("0123456789", "bdfghjkmpv"))
        self.words.append(f"zq{letters}x")
        return self.words[-1]

    @initialize()
    def begin(self) -> None:
        (self.workspace / "memory").mkdir()

    @rule(path=PATHS, body=BODIES, end=st.sampled_from(["", "\n", "\n\n"]))
    def write(self, path: str, body: list[str], end: str) -> None:
        """Write a note by hand, whether it exists or not."""
        text = "\n".join([*body, self.word()]) + end
        place = self.workspace / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8", newline="")
        self.notes[path] = text

    @precondition(lambda self: self.notes)
    @rule(data=st.data())
    def swap_words(self, data: st.DataObject) -> None:
        """Change a note so that its size stays the same."""
        path = data.draw(st.sampled_from(sorted(self.notes)))
        held = [word for word in self.words if word in self.notes[path]]
        if held:
            self.notes[path] = self.notes[path].replace(held[0], self.word())
            (self.workspace / path).write_text(self.notes[path], encoding="utf-8", newline="")

    @precondition(lambda self: self.notes)
    @rule(data=st.data(), to=PATHS)
    def move(self, data: st.DataObject, to: str) -> None:
        """Rename a note, over another one if there is one."""
        path = data.draw(st.sampled_from(sorted(self.notes)))
        (self.workspace / to).parent.mkdir(parents=True, exist_ok=True)
        (self.workspace / path).replace(self.workspace / to)
        self.notes[to] = self.notes.pop(path)

    @precondition(lambda self: self.notes)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        path = data.draw(st.sampled_from(sorted(self.notes)))
        (self.workspace / path).unlink()
        del self.notes[path]

    @rule(path=PATHS)
    def remember(self, path: str) -> None:
        """Add an entry as an agent does; the rest of the note stays as it was."""
        word = self.word()
        remember(self.workspace, path, word)
        text = (self.workspace / path).read_bytes().decode("utf-8")
        assert text.startswith(self.notes.get(path, ""))
        assert word in text
        self.notes[path] = text

    @rule()
    def sync(self) -> None:
        self.memory.sync()
        assert indexed(self.workspace) == expected(self.workspace)
        assert set(indexed(self.workspace)) == {path for path, text in self.notes.items() if text.strip()}

    @rule()
    def rebuild(self) -> None:
        self.memory.sync(force=True)
        assert indexed(self.workspace) == expected(self.workspace)

    @rule()
    def restart(self) -> None:
        self.memory.close()
        self.memory = Memory(self.workspace, {"embeddings.provider": self.provider})

    @precondition(lambda self: self.words)
    @rule(data=st.data())
    def search(self, data: st.DataObject) -> None:
        """Every file that holds a word is found by it, and no other."""
        word = data.draw(st.sampled_from(self.words))
        found = self.memory.search(word, max_results=50, min_score=0.0, mode="words", strict=True)
        assert {hit.path for hit in found} == {path for path, text in self.notes.items() if word in text}
        assert all(word in hit.snippet for hit in found)

    @invariant()
    def notes_are_as_written(self) -> None:
        held = {
            path.relative_to(self.workspace).as_posix(): path.read_bytes().decode("utf-8")
            for path in [*self.workspace.glob("*.md"), *self.workspace.glob("memory/**/*.md")]
        }
        assert held == self.notes


class FilesWithVectors(Files):
    """The same with vectors of the default provider."""

    provider = "builtin"


_SETTINGS = settings(
    max_examples=scaled(10, 300),
    stateful_step_count=scaled(15, 50),
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
Files.TestCase.settings = _SETTINGS
FilesWithVectors.TestCase.settings = _SETTINGS
TestTheIndexIsWhatTheFilesSay = Files.TestCase
TestTheIndexWithVectorsIsWhatTheFilesSay = FilesWithVectors.TestCase
