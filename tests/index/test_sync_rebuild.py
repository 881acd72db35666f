"""A rebuild replaces the index as a whole, or leaves it as it was."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from memlines.embed.base import Provider
from memlines.index.store.sqlite.cache import count
from memlines.index.store.sqlite.index import Index
from memlines.index.sync import pending
from memlines.index.sync.job import identity_of
from memlines.memory.memory import Memory
from tests.indexes import (
    assert_sound,
    blob,
    chunks_in,
    expected,
    found_by,
    index_file,
    indexed,
    left_over,
    near,
    notes,
    program,
    reading,
    serving_model,
    silent,
    sync,
    write,
)
from tests.programs import unprivileged_run
from tests.providers import FakeProvider

SMALL = {"chunking.tokens": 10, "chunking.overlap": 2}


# What makes one


@pytest.mark.parametrize(
    ("provider", "settings", "reason"),
    [
        (FakeProvider(), {"chunking.tokens": 100}, "chunk tokens was 400 and is now 100"),
        (FakeProvider(), {"chunking.overlap": 0}, "chunk overlap was 80 and is now 0"),
        (FakeProvider(), {"store.vector.engine": "sqlite-vec"}, "vector engine was 'matrix'"),
        (FakeProvider(), {"sources": ["memory", "sessions"]}, "sources was ['memory']"),
        (FakeProvider(), {"extra_paths": ["more"]}, "extra paths was [] and is now ['more']"),
    ],
)
def test_an_index_made_otherwise_is_built_anew_and_says_why(
    workspace: Path, provider: Provider | None, settings: Mapping[str, Any], reason: str
) -> None:
    write(workspace, notes(4))
    sync(workspace, FakeProvider())
    report = sync(workspace, provider, settings)
    assert report.rebuilt.startswith(reason)
    assert (len(report.indexed), report.pending) == (4, 0)
    assert sync(workspace, provider, settings).rebuilt == ""


def test_the_default_engine_by_name_is_no_change(workspace: Path) -> None:
    write(workspace, notes(1))
    sync(workspace, FakeProvider())
    assert sync(workspace, FakeProvider(), {"store.vector.engine": "matrix"}).rebuilt == ""


def test_the_order_of_the_sources_is_no_change() -> None:
    from memlines.settings import Settings

    one = identity_of(Settings(sources=("memory", "sessions")))
    other = identity_of(Settings(sources=("sessions", "memory")))
    assert one == other


def test_a_forced_sync_builds_anew(workspace: Path) -> None:
    write(workspace, notes(2))
    sync(workspace)
    report = sync(workspace, force=True)
    assert (report.rebuilt, len(report.indexed)) == ("forced", 2)


def test_forcing_the_first_sync_is_no_rebuild(workspace: Path) -> None:
    write(workspace, notes(2))
    assert sync(workspace, force=True).rebuilt == ""


@pytest.mark.parametrize("settings", [SMALL, {"store.vector.engine": "sqlite-vec"}])
def test_a_rebuilt_index_is_sound_and_equals_the_files(workspace: Path, settings: dict[str, Any]) -> None:
    write(workspace, notes(4))
    sync(workspace)
    sync(workspace, None, settings)
    assert_sound(index_file(workspace))
    assert indexed(workspace) == expected(
        workspace, settings.get("chunking.tokens", 400), settings.get("chunking.overlap", 80)
    )


def test_both_engines_can_follow_each_other(workspace: Path) -> None:
    write(workspace, notes(4))
    provider = FakeProvider()
    for engine in ("matrix", "sqlite-vec", "matrix"):
        sync(workspace, provider, {"store.vector.engine": engine})
        with reading(workspace) as index:
            assert "own2" in next(iter(near(index, provider, "own2 own2 own2")))
    assert len(provider.texts) == 4


def test_a_rebuild_takes_its_vectors_from_the_cache(workspace: Path) -> None:
    write(workspace, notes(4))
    sync(workspace, FakeProvider())
    provider = FakeProvider()
    report = sync(workspace, provider, force=True)
    assert (report.rebuilt, provider.texts, report.pending) == ("forced", [], 0)


def test_going_back_to_a_former_model_costs_nothing(workspace: Path) -> None:
    write(workspace, notes(4))
    sync(workspace, FakeProvider("first"))
    sync(workspace, FakeProvider("second"))
    provider = FakeProvider("first")
    sync(workspace, provider)
    assert provider.texts == []


def test_going_to_words_only_and_back_costs_nothing(workspace: Path) -> None:
    write(workspace, notes(4))
    sync(workspace, FakeProvider())
    sync(workspace)
    provider = FakeProvider()
    sync(workspace, provider)
    assert provider.texts == []


# When it fails


@pytest.fixture
def _small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pending, "_GROUP", 2)


@pytest.mark.usefixtures("_small_groups")
def test_a_provider_that_fails_in_a_rebuild_leaves_the_old_index(workspace: Path) -> None:
    write(workspace, notes(6))
    old = FakeProvider("old")
    sync(workspace, old)
    assert sync(workspace, FakeProvider("new", fails_after=4)).pending == 2
    with reading(workspace) as index:
        assert (serving_model(index), index.vectors.count()) == ("old", 6)
        assert "own3" in next(iter(near(index, old, "own3 own3 own3")))


@pytest.mark.usefixtures("_small_groups")
def test_what_a_failed_rebuild_embedded_is_not_embedded_again(workspace: Path) -> None:
    write(workspace, notes(6))
    sync(workspace, FakeProvider("old"))
    sync(workspace, FakeProvider("new", fails_after=4))
    provider = FakeProvider("new")
    report = sync(workspace, provider)
    assert (len(provider.texts), report.pending) == (2, 0)


@pytest.mark.usefixtures("_small_groups")
def test_what_an_interrupted_rebuild_embedded_is_not_embedded_again(workspace: Path) -> None:
    write(workspace, notes(6))
    sync(workspace, FakeProvider("old"))

    def progress(completed: int, total: int, label: str) -> None:
        if label == "embedding" and completed == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sync(workspace, FakeProvider("new"), progress=progress)
    provider = FakeProvider("new")
    sync(workspace, provider)
    assert len(provider.texts) == 2


@pytest.mark.usefixtures("_small_groups")
@pytest.mark.promise("P12")
def test_a_failed_rebuild_leaves_no_temporary_index(workspace: Path) -> None:
    write(workspace, notes(6))
    sync(workspace, FakeProvider("old"))
    sync(workspace, FakeProvider("new", fails_after=4))
    assert left_over(workspace) == []


def test_a_search_after_a_failed_rebuild_answers_by_words(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    write(workspace, notes(3))
    sync(workspace, FakeProvider("old"))
    monkeypatch.setattr("memlines.embed.builtin.files.BuiltinProvider", Failing)
    with Memory(workspace) as memory:
        answer = memory.search("own1")
    assert (answer[0].path, answer.mode) == ("memory/n1.md", "words")
    assert any("out of order" in warning for warning in answer.warnings)


class Failing(FakeProvider):
    """A new model that never works."""

    def __init__(self) -> None:
        super().__init__("new", fails_after=0)


@pytest.mark.promise("P12")
def test_what_killed_processes_left_is_swept(workspace: Path) -> None:
    write(workspace, notes(1))
    sync(workspace)
    for name in ("rebuild-77", "rebuild-77-wal", "rebuild-77-shm", "vectors.tmp-78"):
        (workspace / ".memory" / f"index.sqlite.{name}").write_text("left", encoding="utf-8")
    sync(workspace)
    assert left_over(workspace) == []


# What readers see meanwhile


def test_a_reader_that_stays_open_sees_the_new_index(workspace: Path) -> None:
    write(workspace, notes(4))
    sync(workspace)
    with reading(workspace) as index:
        chunks_in(index)
        sync(workspace, None, SMALL)
        assert chunks_in(index) == expected(workspace, 10, 2)


def test_a_rebuilt_index_has_another_birth(workspace: Path) -> None:
    write(workspace, notes(1))
    sync(workspace)
    with reading(workspace) as index:
        before = index.state.birth
        sync(workspace, force=True)
        assert index.state.birth != before


def test_a_reader_that_stays_open_does_not_use_the_vectors_of_the_old_index(workspace: Path) -> None:
    write(workspace, notes(4))
    old, new = FakeProvider("old"), FakeProvider("new")
    sync(workspace, old)
    with reading(workspace) as index:
        near(index, old, "own1")
        sync(workspace, new)
        text = chunks_in(index)["memory/n2.md"][0][2]
        assert near(index, new, text) == pytest.approx({text: 1.0}, abs=2e-3)


def test_a_reader_that_stays_open_follows_to_another_engine(workspace: Path) -> None:
    write(workspace, notes(4))
    provider = FakeProvider()
    sync(workspace, provider)
    with reading(workspace) as index:
        text = chunks_in(index)["memory/n2.md"][0][2]
        near(index, provider, text)
        for engine in ("sqlite-vec", "matrix"):
            sync(workspace, provider, {"store.vector.engine": engine})
            assert near(index, provider, text) == pytest.approx({text: 1.0}, abs=2e-3)


class Hammer(threading.Thread):
    """Reads the index over and over, and notes every state it sees."""

    def __init__(self, path: Path, providers: Mapping[str, FakeProvider]) -> None:
        super().__init__(daemon=True)
        self.path = path
        self.providers = providers
        self.done = threading.Event()
        self.first = threading.Event()
        self.states: set[tuple[str, int, float]] = set()
        self.error: Exception | None = None

    def run(self) -> None:
        try:
            index = Index.reader(self.path)
            assert index is not None
            while not self.done.is_set():
                with index.errors(), index.snapshot():
                    self.states.add(self._state(index))
                self.first.set()
            index.close()
        except Exception as error:  # noqa: BLE001 (handed to the test)
            self.error = error
            self.first.set()

    def _state(self, index: Index) -> tuple[str, int, float]:
        """Return the model, the number of chunks, and how surely a chunk finds itself."""
        model = serving_model(index)
        number, text = next(iter(index.connection.execute("SELECT number, text FROM chunks LIMIT 1")))
        found = index.vectors.nearest(blob(self.providers[model], text), 1, also=[number])
        return model, index.count_chunks(), round(found[number], 2)


def test_readers_see_vectors_of_one_model_or_of_the_other_and_nothing_between(workspace: Path) -> None:
    write(workspace, notes(30, lines=6))
    providers = {name: FakeProvider(name) for name in ("long", "short")}
    sync(workspace, providers["long"])
    hammer = Hammer(index_file(workspace), providers)
    hammer.start()
    hammer.first.wait()
    for _ in range(4):
        sync(workspace, providers["short"])
        sync(workspace, providers["long"])
    hammer.done.set()
    hammer.join()
    assert hammer.error is None
    assert hammer.states == {("long", 30, 1.0), ("short", 30, 1.0)}


READ_ON = """
import json
from pathlib import Path
from memlines.index.store.sqlite.index import Index
from memlines.index.store.sqlite.chunks import match_words
index = Index.reader(Path(sys.argv[1]))
states = set()
print("ready", flush=True)
while not Path(sys.argv[2]).exists():
    with index.errors(), index.snapshot():
        states.add((len(match_words(index.connection, "share", 10_000)), index.count_chunks()))
print(json.dumps(sorted(states)))
"""


def test_another_process_sees_the_old_words_or_the_new_ones(workspace: Path, tmp_path: Path) -> None:
    write(workspace, notes(30, lines=6))
    sync(workspace)
    reader = subprocess.Popen(
        [*program(READ_ON), str(index_file(workspace)), str(tmp_path / "stop")],
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    assert reader.stdout is not None
    assert reader.stdout.readline() == "ready\n"
    for _ in range(4):
        sync(workspace, None, SMALL)
        sync(workspace)
    (tmp_path / "stop").touch()
    states = json.loads(reader.communicate(timeout=60)[0])
    chunks = sum(map(len, expected(workspace, 10, 2).values()))
    assert states == [[30, 30], [chunks, chunks]]


def test_a_rebuild_does_not_replace_the_file(workspace: Path) -> None:
    write(workspace, notes(2))
    sync(workspace)
    before = index_file(workspace).stat().st_ino
    sync(workspace, force=True)
    assert index_file(workspace).stat().st_ino == before


def test_files_that_change_during_a_rebuild_are_in_the_next_sync(workspace: Path) -> None:
    write(workspace, notes(3))
    sync(workspace)

    def progress(completed: int, total: int, label: str) -> None:
        if completed == 2:
            write(workspace, {"memory/n0.md": "changed meanwhile"})

    sync(workspace, progress=progress, force=True)
    assert sync(workspace, progress=silent).indexed == ("memory/n0.md",)


@pytest.mark.promise("P12")
def test_the_cache_stays_within_its_limit_after_a_rebuild(workspace: Path) -> None:
    write(workspace, notes(8, lines=30))
    sync(workspace, FakeProvider())
    sync(workspace, FakeProvider(), {"cache.max_entries": 5, "chunking.tokens": 64, "chunking.overlap": 0})
    with reading(workspace) as index:
        assert count(index.connection) == 5


def test_vectors_that_the_index_holds_are_not_in_the_cache_too(workspace: Path) -> None:
    write(workspace, notes(8))
    sync(workspace, FakeProvider())
    sync(workspace, FakeProvider(), force=True)
    with reading(workspace) as index:
        assert (index.vectors.count(), count(index.connection)) == (8, 0)


def test_a_rebuild_embeds_nothing_again_that_the_cache_has_forgotten(workspace: Path) -> None:
    write(workspace, notes(30))
    small_cache = {"cache.max_entries": 5}
    sync(workspace, FakeProvider(), settings=small_cache)
    provider = FakeProvider()
    report = sync(workspace, provider, force=True, settings=small_cache)
    assert (report.rebuilt, report.pending, provider.texts) == ("forced", 0, [])


def test_a_rebuild_keeps_what_was_known_of_a_file_that_cannot_be_read(workspace: Path) -> None:
    write(workspace, {"memory/a.md": "the zebra crosses", "memory/closed/b.md": "the okapi hides"})
    sync(workspace)
    (workspace / "memory/a.md").chmod(0)
    (workspace / "memory/closed").chmod(0)
    try:
        unprivileged_run(
            "import sys\n"
            "from memlines import Memory\n"
            "with Memory(sys.argv[1], {'embeddings.provider': 'none'}) as memory:\n"
            "    memory.sync(force=True)\n",
            workspace,
        )
    finally:
        (workspace / "memory/closed").chmod(0o755)
        (workspace / "memory/a.md").chmod(0o644)
    with reading(workspace) as index:
        assert (found_by(index, "zebra"), found_by(index, "okapi")) == (
            ["memory/a.md"],
            ["memory/closed/b.md"],
        )
    assert sorted(sync(workspace).indexed) == ["memory/a.md", "memory/closed/b.md"]
