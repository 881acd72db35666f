"""A memory whose vectors come from the batches of a service."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memlines import Memory
from memlines.index.store.sqlite.index import Index
from memlines.index.sync.job import space_of
from tests.embed.fake_batches import DIMS, KEY, BatchServer, blob_of, serving
from tests.indexes import assert_sound, index_file, reading
from tests.memories import write

NOTES = {f"n{number}.md": f"the okapi called name{number} sleeps" for number in range(12)}
LONG_WAY = {"embeddings.batch.wait": False}


@pytest.fixture
def server() -> Iterator[BatchServer]:
    with serving(BatchServer("openai")) as server:
        yield server


def opened(workspace: Path, server: BatchServer, **more: Any) -> Memory:
    write(workspace, NOTES)
    settings = {
        "embeddings.provider": "openai",
        "embeddings.base_url": server.url + "/v1",
        "embeddings.api_key": KEY,
        "embeddings.dimensions": DIMS,
        "embeddings.batch.enabled": True,
        "embeddings.batch.min_texts": 2,
        "embeddings.batch.poll_seconds": 0.01,
        "sync.on_search": False,
    }
    return Memory(workspace, {**settings, **more})


def vectors_in(workspace: Path) -> dict[str, bytes]:
    """Return the stored vectors by the text of their chunks."""
    with reading(workspace) as index:
        stored = dict(index.vectors.by_chunk())
        return {chunk.text: stored[number] for number, chunk in index.chunks(stored).items()}


def test_a_batch_brings_every_vector(workspace: Path, server: BatchServer) -> None:
    with opened(workspace, server) as memory:
        report = memory.sync()
    assert (report.pending, report.warnings, server.direct) == (0, (), [])
    assert vectors_in(workspace) == {text: blob_of(text) for text in NOTES.values()}
    assert_sound(index_file(workspace))


def test_status_shows_what_a_batch_saved(workspace: Path, server: BatchServer) -> None:
    with opened(workspace, server, **{"spend.prices": {"text-embedding-3-small": "100"}}) as memory:
        memory.sync()
        today = memory.status().spending["today"]
    # A batch costs half; the few passages that measure the model are embedded directly.
    assert 0 < today["saved"] < today["dollars"] < 2 * today["saved"] + 0.1


def test_the_scale_of_a_model_is_measured_although_all_vectors_came_in_a_batch(
    workspace: Path, server: BatchServer
) -> None:
    with opened(workspace, server) as memory:
        memory.sync()
    with reading(workspace) as index:
        assert index.vectors.background() is not None


def test_few_texts_are_embedded_directly(workspace: Path, server: BatchServer) -> None:
    with opened(workspace, server, **{"embeddings.batch.min_texts": 100}) as memory:
        assert memory.sync().pending == 0
    assert (len(server.direct), server.handed) == (12, [])


def test_a_sync_need_not_wait_and_a_later_one_fetches(workspace: Path, server: BatchServer) -> None:
    server.polls = 3
    with opened(workspace, server, **LONG_WAY) as memory:
        report = memory.sync()
        assert report.pending == 12
        assert report.warnings == (
            "12 chunks wait for a batch, which a later sync fetches; words find them meanwhile",
        )
        assert memory.search("name7", mode="words")[0].path == "memory/n7.md"
        left = [memory.sync().pending for _ in range(5)]
    assert left[-1] == 0
    assert sorted(server.handed) == sorted(NOTES.values())
    assert server.direct == []


def test_a_search_does_not_send_again_what_a_batch_has(workspace: Path, server: BatchServer) -> None:
    server.ends = "never"
    with opened(workspace, server, **LONG_WAY) as memory:
        memory.sync()
    with opened(workspace, server, **LONG_WAY, **{"sync.on_search": True}) as memory:
        memory.search("name7")
    assert [text for text in server.direct if text in NOTES.values()] == []


def test_a_killed_sync_is_resumed_and_hands_in_nothing_twice(workspace: Path, server: BatchServer) -> None:
    server.polls = 5

    def stop(completed: int, total: int, label: str) -> None:
        if server.batches:
            raise KeyboardInterrupt

    with opened(workspace, server) as memory, pytest.raises(KeyboardInterrupt):
        memory.sync(progress=stop)
    with opened(workspace, server) as memory:
        assert memory.sync().pending == 0
    assert sorted(server.handed) == sorted(NOTES.values())


def test_an_index_built_anew_meanwhile_keeps_the_batch(workspace: Path, server: BatchServer) -> None:
    server.polls = 4
    with opened(workspace, server, **LONG_WAY) as memory:
        memory.sync()
        memory.sync(force=True)
        while memory.sync().pending:
            pass
    assert len(server.handed) == 12
    assert vectors_in(workspace) == {text: blob_of(text) for text in NOTES.values()}


def test_after_two_failures_texts_are_embedded_directly(workspace: Path, server: BatchServer) -> None:
    server.ends = "failed"
    with opened(workspace, server) as memory:
        report = memory.sync()
        assert (report.pending, len(server.direct)) == (0, 12)
        assert any("the file is no good" in warning for warning in report.warnings)
        write(workspace, {f"more{number}.md": f"the zebra {number}" for number in range(4)})
        memory.sync()
        write(workspace, {f"last{number}.md": f"the giraffe {number}" for number in range(4)})
        memory.sync()
    assert [len(batch.texts) for batch in server.batches.values()] == [12, 4]


def test_a_text_that_is_refused_in_a_batch_is_tried_directly(workspace: Path, server: BatchServer) -> None:
    server.fails = {NOTES["n3.md"]: "no"}
    with opened(workspace, server) as memory:
        assert memory.sync().pending == 0
    assert server.direct == [NOTES["n3.md"]]


def test_a_vector_that_is_none_is_not_kept(workspace: Path, server: BatchServer) -> None:
    server.bend = lambda lines: [line.replace(b"[", b"[NaN, ", 1) for line in lines]
    with opened(workspace, server) as memory:
        assert memory.sync().pending == 0
    assert sorted(server.direct) == sorted(NOTES.values())
    assert vectors_in(workspace) == {text: blob_of(text) for text in NOTES.values()}


def test_a_text_that_changed_meanwhile_gets_the_vector_of_what_it_says_now(
    workspace: Path, server: BatchServer
) -> None:
    server.polls = 2
    with opened(workspace, server, **LONG_WAY) as memory:
        memory.sync()
        (workspace / "memory/n0.md").write_text("the okapi is awake", encoding="utf-8")
        for _ in range(5):
            memory.sync()
    expected = {**NOTES, "n0.md": "the okapi is awake"}.values()
    assert vectors_in(workspace) == {text: blob_of(text) for text in expected}


def test_batches_fill_the_space_of_another_model(workspace: Path, server: BatchServer) -> None:
    with opened(workspace, server, **{"embeddings.model": "text-embedding-3-large"}) as memory:
        memory.sync()
    with opened(workspace, server) as memory:
        report = memory.sync()
        provider = memory._manager.chosen().provider
        assert provider is not None
        index = Index.reader(index_file(workspace))
        assert index is not None
        assert index.vectors_in(space_of(provider)).count() == 12
        index.close()
    assert report.switched == "from openai (text-embedding-3-large) to openai (text-embedding-3-small)"
