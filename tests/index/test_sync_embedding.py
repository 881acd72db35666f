"""Each chunk gets its vector once; what a provider fails to do stays pending and is found by words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memlines.index.store.sqlite import cache
from memlines.index.store.sqlite.db import transaction
from memlines.index.store.sqlite.index import Index
from memlines.index.sync import pending
from memlines.index.sync.job import space_of
from memlines.memory.memory import Memory
from memlines.text.chunk import text_hash
from tests.indexes import found_by, index_file, near, notes, reading, sync, write
from tests.providers import FakeProvider

if TYPE_CHECKING:
    from memlines.embed.base import Vectors


@pytest.fixture
def _small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pending, "_GROUP", 2)


def vectors_of(workspace: Path) -> int:
    with reading(workspace) as index:
        return index.vectors.count()


def test_a_sync_gives_every_chunk_its_vector(workspace: Path) -> None:
    write(workspace, notes(5))
    provider = FakeProvider()
    assert sync(workspace, provider).pending == 0
    with reading(workspace) as index:
        text = "shared line 0 of own3"
        assert text in next(iter(near(index, provider, text)))


def test_the_headings_above_a_chunk_are_embedded_with_it(workspace: Path) -> None:
    write(workspace, {"memory/a.md": "# Animals\n\nzebra\n"})
    provider = FakeProvider()
    sync(workspace, provider, {"chunking.tokens": 1, "chunking.overlap": 0})
    assert any("Animals" in text for text in provider.texts)


def test_a_sync_without_changes_embeds_nothing(workspace: Path) -> None:
    write(workspace, notes(5))
    sync(workspace, FakeProvider())
    provider = FakeProvider()
    sync(workspace, provider)
    assert provider.texts == []


def test_only_changed_chunks_are_embedded(workspace: Path) -> None:
    settings = {"chunking.tokens": 8, "chunking.overlap": 0}
    write(workspace, {"memory/a.md": "".join(f"a line numbered {n} of many\n" for n in range(20))})
    sync(workspace, FakeProvider(), settings)
    lines = (workspace / "memory/a.md").read_text(encoding="utf-8").splitlines()
    lines[11] = "the zebra crosses here now!"
    write(workspace, {"memory/a.md": "\n".join(lines) + "\n"})
    provider = FakeProvider()
    sync(workspace, provider, settings)
    assert provider.texts == ["the zebra crosses here now!"]


def test_renaming_a_file_embeds_nothing(workspace: Path) -> None:
    write(workspace, notes(3))
    sync(workspace, FakeProvider())
    (workspace / "memory/n1.md").rename(workspace / "memory/moved.md")
    provider = FakeProvider()
    report = sync(workspace, provider)
    assert (report.indexed, provider.texts, vectors_of(workspace)) == (("memory/moved.md",), [], 3)


def test_equal_texts_are_embedded_once(workspace: Path) -> None:
    write(workspace, {f"memory/n{number}.md": "the same text" for number in range(4)})
    provider = FakeProvider()
    sync(workspace, provider)
    assert (provider.texts, vectors_of(workspace)) == (["the same text"], 4)


def test_without_the_cache_a_renamed_file_is_embedded_again(workspace: Path) -> None:
    write(workspace, notes(1))
    sync(workspace, FakeProvider(), {"cache.enabled": False})
    (workspace / "memory/n0.md").rename(workspace / "memory/moved.md")
    provider = FakeProvider()
    sync(workspace, provider, {"cache.enabled": False})
    assert len(provider.texts) == 1


def test_the_cache_is_kept_within_its_limit(workspace: Path) -> None:
    write(workspace, notes(8))
    sync(workspace, FakeProvider(), {"cache.max_entries": 3})
    write(workspace, {path: "something else" + path for path in notes(8)})
    sync(workspace, FakeProvider(), {"cache.max_entries": 3})
    with reading(workspace) as index:
        assert (cache.count(index.connection), index.vectors.count()) == (3, 8)


def test_a_cached_vector_of_a_wrong_length_is_not_used(workspace: Path) -> None:
    write(workspace, {"memory/a.md": "the zebra"})
    sync(workspace)
    index = Index.writer(index_file(workspace), {})
    provider = FakeProvider()
    with transaction(index.connection):
        cache.remember(index.connection, space_of(provider), {text_hash("the zebra"): b"\0" * 8}, 2)
    index.close()
    sync(workspace, provider)
    assert provider.texts == ["the zebra"]


# When the provider fails


@pytest.mark.usefixtures("_small_groups")
@pytest.mark.promise("P6")
def test_a_failing_provider_leaves_the_rest_pending_with_a_warning(workspace: Path) -> None:
    write(workspace, notes(6))
    report = sync(workspace, FakeProvider(fails_after=4))
    assert (len(report.indexed), report.pending) == (6, 2)
    assert report.warnings == ("the fake provider is out of order. Repair it",)


@pytest.mark.usefixtures("_small_groups")
@pytest.mark.promise("P6")
def test_pending_chunks_are_found_by_their_words(workspace: Path) -> None:
    write(workspace, notes(6))
    sync(workspace, FakeProvider(fails_after=4))
    with reading(workspace) as index:
        assert len(found_by(index, "shared")) == 6


@pytest.mark.usefixtures("_small_groups")
@pytest.mark.promise("P6")
def test_the_next_sync_completes_what_is_pending_and_nothing_else(workspace: Path) -> None:
    write(workspace, notes(6))
    sync(workspace, FakeProvider(fails_after=4))
    provider = FakeProvider()
    report = sync(workspace, provider)
    assert (report.pending, len(provider.texts), vectors_of(workspace)) == (0, 2, 6)


@pytest.mark.promise("P6")
def test_a_provider_that_always_fails_does_not_stop_a_sync(workspace: Path) -> None:
    write(workspace, notes(2))
    report = sync(workspace, FakeProvider(fails_after=0))
    assert (len(report.indexed), report.pending, vectors_of(workspace)) == (2, 2, 0)


@dataclass
class Miscounting(FakeProvider):
    """Returns a vector too few."""

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        short: Vectors = super().embed_documents(texts)[1:]
        return short


@pytest.mark.promise("P6")
def test_an_answer_that_makes_no_sense_stores_nothing(workspace: Path) -> None:
    write(workspace, notes(3))
    report = sync(workspace, Miscounting())
    assert (report.pending, vectors_of(workspace)) == (3, 0)
    assert "returned 2 vectors for 3 texts" in report.warnings[0]


@pytest.mark.usefixtures("_small_groups")
def test_a_limit_stops_embedding_but_not_indexing(workspace: Path) -> None:
    write(workspace, notes(6))
    provider = FakeProvider()
    report = sync(workspace, provider, embed_limit=3)
    assert (len(report.indexed), report.pending, len(provider.texts)) == (6, 3, 3)


def test_a_limit_of_nothing_embeds_nothing(workspace: Path) -> None:
    write(workspace, notes(2))
    provider = FakeProvider()
    assert (sync(workspace, provider, embed_limit=0).pending, provider.texts) == (2, [])


@pytest.mark.usefixtures("_small_groups")
def test_an_interruption_keeps_what_was_embedded(workspace: Path) -> None:
    write(workspace, notes(6))

    def progress(completed: int, total: int, label: str) -> None:
        if label == "embedding" and completed == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sync(workspace, FakeProvider(), progress=progress)
    assert vectors_of(workspace) == 4


@pytest.mark.usefixtures("_small_groups")
def test_progress_counts_the_embedded_chunks(workspace: Path) -> None:
    write(workspace, notes(5))
    told: list[tuple[int, int, str]] = []
    sync(workspace, FakeProvider(), progress=lambda *step: told.append(step))
    embedding = [(done, total) for done, total, label in told if label == "embedding"]
    assert embedding == [(0, 5), (2, 5), (4, 5), (5, 5)]


# Through Memory


@pytest.fixture
def _fake_is_builtin(monkeypatch: pytest.MonkeyPatch) -> None:

    monkeypatch.setattr("memlines.embed.builtin.files.BuiltinProvider", FakeProvider)


@pytest.mark.usefixtures("_fake_is_builtin")
def test_a_search_finds_by_meaning_what_was_just_written(workspace: Path) -> None:
    write(workspace, notes(3))
    sync(workspace, FakeProvider())
    write(workspace, {"memory/late.md": "okapi forest morning"})
    with Memory(workspace, {"query.min_score": 0.1}) as memory:
        answer = memory.search("forest okapi", mode="vectors")
    assert (answer[0].path, answer.pending) == ("memory/late.md", 0)


@pytest.mark.usefixtures("_fake_is_builtin")
def test_an_open_memory_searches_the_new_vectors_after_a_rebuild(workspace: Path) -> None:
    write(workspace, notes(3))
    with Memory(workspace, {"query.min_score": 0.1}) as memory:
        memory.search("own1", mode="vectors")
        sync(workspace, FakeProvider(), {"chunking.tokens": 30}, force=True)
        sync(workspace, FakeProvider(), force=True)
        assert memory.search("shared line of own2", mode="vectors")[0].path == "memory/n2.md"


def test_the_builtin_model_finds_by_meaning(workspace: Path) -> None:
    write(
        workspace,
        {
            "memory/pets.md": "Our dog needs to see the vet in spring.",
            "memory/work.md": "The quarterly budget is approved.",
        },
    )
    with Memory(workspace, {"embeddings.provider": "builtin", "query.min_score": 0.0}) as memory:
        assert memory.sync().pending == 0
        assert memory.search("Tierarzt für den Hund", mode="vectors")[0].path == "memory/pets.md"
