"""Whatever happens to the files, the index equals them after a sync."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from memlines.memory.memory import Memory
from memlines.text.terms import words_of
from tests.indexes import assert_sound, expected, found_by, index_file, indexed, reading, settle, sync

WORDS = ["zebra", "okapi", "giraffe", "über", "naïve", "запись", "記憶", "x1"]
SETTINGS = {"chunking.tokens": 8, "chunking.overlap": 2, "embeddings.provider": "none"}

paths = st.sampled_from(
    ["MEMORY.md", "memory/a.md", "memory/b.md", "memory/2026-01-02.md", "memory/deep/c.md", "memory/ü b.md"]
)
# Two words fit the smallest chunk; a longer line would be cut, perhaps inside a word.
lines = st.lists(st.sampled_from([*WORDS, "zebra_crossing"]), max_size=2).map(
    lambda words: " ".join(words) + "\n"
)
texts = st.lists(lines, max_size=8).map("".join)


class Files(RuleBasedStateMachine):
    """Notes that are written, changed, renamed and deleted; a dictionary says what they hold."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="memlines-model-"))
        self.model: dict[str, str] = {}
        self.synced = False

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    @initialize()
    def make(self) -> None:
        (self.folder / "memory").mkdir()

    def _write(self, path: str, text: str) -> None:
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        self.model[path] = text
        self.synced = False

    @rule(path=paths, text=texts)
    def write_note(self, path: str, text: str) -> None:
        self._write(path, text)

    @rule(path=paths, line=lines)
    def append(self, path: str, line: str) -> None:
        self._write(path, self.model.get(path, "") + line)

    @rule(path=paths)
    def delete(self, path: str) -> None:
        (self.folder / path).unlink(missing_ok=True)
        self.model.pop(path, None)
        self.synced = False

    @rule(path=paths, other=paths)
    def rename(self, path: str, other: str) -> None:
        if path in self.model and path != other:
            (self.folder / other).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / path).replace(self.folder / other)
            self.model[other] = self.model.pop(path)
            self.synced = False

    @rule()
    def remove_folder(self) -> None:
        shutil.rmtree(self.folder / "memory/deep", ignore_errors=True)
        self.model = {path: text for path, text in self.model.items() if "deep" not in path}
        self.synced = False

    @rule()
    def let_time_pass(self) -> None:
        for path in self.model:
            settle(self.folder / path)

    @rule(force=st.booleans())
    def sync(self, force: bool) -> None:
        report = sync(self.folder, None, SETTINGS, force=force)
        assert report.unchanged + len(report.indexed) == len(self.model)
        assert not report.failed
        self.synced = True

    @rule(word=st.sampled_from(WORDS))
    def search(self, word: str) -> None:
        with Memory(self.folder, {**SETTINGS, "query.max_results": 50}) as memory:
            found = {hit.path for hit in memory.search(word)}
        assert found == self._holding(word)
        self.synced = (self.folder / ".memory").exists()

    def _holding(self, word: str) -> set[str]:
        return {
            path
            for path, text in self.model.items()
            if any(word == held or word in held.split("_") for held in words_of(text))
        }

    @invariant()
    def index_equals_files(self) -> None:
        if self.synced:
            assert indexed(self.folder) == expected(self.folder, 8, 2)
            with reading(self.folder) as index:
                assert set(index.files()) == set(self.model)
                for word in WORDS:
                    assert set(found_by(index, word)) == self._holding(word)
            assert_sound(index_file(self.folder))


def check(examples: int, steps: int) -> None:
    run_state_machine_as_test(
        Files,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_the_index_equals_the_files_after_every_sync() -> None:
    check(examples=60, steps=30)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_index_equals_the_files_after_very_many_syncs() -> None:
    check(examples=500, steps=40)
