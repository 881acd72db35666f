"""Indexes whose vectors were kept in more bytes than today."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from memlines import Memory
from tests.indexes import index_file, lengthen_vectors, near, reading, sync, write
from tests.providers import FakeProvider

NOTES = {"memory/a.md": "The zebra crosses. The okapi hides.\n", "memory/b.md": "Trains leave at nine.\n"}


@pytest.fixture
def old(workspace: Path) -> Path:
    """A workspace with an index of version 6."""
    write(workspace, NOTES)
    sync(workspace, FakeProvider(by_sentence=True))
    lengthen_vectors(index_file(workspace))
    return workspace


def test_no_vector_is_made_again(old: Path) -> None:
    provider = FakeProvider(by_sentence=True)
    report = sync(old, provider)
    assert (provider.texts, report.pending, report.rebuilt) == ([], 0, "")


def test_the_same_is_found(old: Path) -> None:
    sync(old, FakeProvider(by_sentence=True))
    with reading(old) as index:
        found = near(index, FakeProvider(), "trains leave at nine")
    assert found == pytest.approx({"Trains leave at nine.": 1.0}, abs=2e-3)


def test_sentences_stay_beside_their_chunk(old: Path) -> None:
    sync(old, FakeProvider(by_sentence=True))
    with reading(old) as index:
        assert sorted(map(len, index.vectors.sentences([1, 2]).values())) == [20, 2 * 20]


def test_a_damaged_vector_is_made_again(old: Path) -> None:
    with apsw.Connection(str(index_file(old))) as database:
        database.execute("UPDATE chunks_vec SET embedding = zeroblob(256) WHERE chunk = 2")
    provider = FakeProvider(by_sentence=True)
    sync(old, provider)
    assert set(provider.texts) == {"Trains leave at nine."}


def test_the_copy_that_was_mapped_is_removed(old: Path) -> None:
    copy = index_file(old).with_name("index.sqlite.vectors")
    copy.write_bytes(b"RCLVEC01")
    sync(old, FakeProvider(by_sentence=True))
    assert not copy.exists()


def test_vectors_whose_sentences_have_one_bit_a_number_are_made_again(workspace: Path) -> None:
    write(workspace, NOTES)
    sync(workspace, FakeProvider(by_sentence=True))
    with apsw.Connection(str(index_file(workspace))) as database:
        database.execute("UPDATE chunks_sentences SET embedding = zeroblob(length(embedding) / 20 * 12)")
        database.pragma("user_version", 9)
    provider = FakeProvider(by_sentence=True)
    report = sync(workspace, provider)
    assert ({*NOTES.values()} <= {f"{text}\n" for text in provider.texts}, report.pending) == (True, 0)


def test_a_search_waits_for_no_embedding(old: Path) -> None:
    with Memory(old, {"embeddings.provider": "none"}) as memory:
        assert memory.search("zebra").hits[0].path == "memory/a.md"
