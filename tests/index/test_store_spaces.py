"""Vectors of several models in one index."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from memlines.embed.codec import encode
from memlines.index.store.sqlite import cache, schema, spaces
from memlines.index.store.sqlite.db import transaction
from memlines.index.store.sqlite.index import Index
from memlines.types import Space
from tests.indexes import blob, document, encoded, lines_of, numbers_of, put
from tests.providers import FakeProvider

A, B, C = (Space("fake", name, "") for name in "abc")


@pytest.fixture(params=["matrix", "sqlite-vec"])
def index(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Index]:
    index = Index.writer(tmp_path / "index.sqlite", {"vector_engine": request.param})
    yield index
    index.close()


def states(index: Index) -> dict[str, str]:
    return {entry.space.model: entry.state for entry in spaces.entries(index.connection)}


def fill(index: Index, space: Space) -> None:
    provider = FakeProvider(space.model)
    table = index.vectors_in(space)
    with transaction(index.connection):
        for number, chunk in index.pending(table, 0, 100):
            table.put(number, encoded(provider, chunk.text))


def test_the_first_space_serves_at_once(index: Index) -> None:
    spaces.begin(index.connection, A)
    assert states(index) == {"a": "serving"}


def test_a_second_space_is_filled_first(index: Index) -> None:
    spaces.begin(index.connection, A)
    spaces.begin(index.connection, B)
    assert states(index) == {"a": "serving", "b": "filling"}


def test_a_third_space_takes_the_place_of_the_one_that_is_filled(index: Index) -> None:
    for space in (A, B, C):
        spaces.begin(index.connection, space)
    assert states(index) == {"a": "serving", "c": "filling"}


def test_beginning_again_changes_nothing(index: Index) -> None:
    for space in (A, B, A, B):
        spaces.begin(index.connection, space)
    assert states(index) == {"a": "serving", "b": "filling"}


def test_spaces_change_places(index: Index) -> None:
    spaces.begin(index.connection, A)
    spaces.begin(index.connection, B)
    spaces.serve(index.connection, B)
    assert states(index) == {"a": "kept", "b": "serving"}


def test_a_space_that_was_kept_can_be_filled_up_again(index: Index) -> None:
    spaces.begin(index.connection, A)
    spaces.begin(index.connection, B)
    spaces.serve(index.connection, B)
    spaces.begin(index.connection, A)
    assert states(index) == {"a": "filling", "b": "serving"}


def test_a_space_that_is_not_known_cannot_serve(index: Index) -> None:
    spaces.begin(index.connection, A)
    spaces.serve(index.connection, C)
    assert states(index) == {"a": "serving"}


def test_the_space_that_serves_cannot_be_dropped(index: Index) -> None:
    spaces.begin(index.connection, A)
    spaces.drop_filling(index.connection)
    assert states(index) == {"a": "serving"}


def test_a_dropped_space_leaves_no_table(index: Index) -> None:
    put(index, "memory/a.md", "one\ntwo")
    for space in (A, B):
        spaces.begin(index.connection, space)
        fill(index, space)
    table = index.vectors_in(B).table
    spaces.drop_filling(index.connection)
    names = {row[0] for row in index.connection.execute("SELECT name FROM sqlite_schema")}
    assert not any(name.startswith(table) for name in names)


def test_each_space_has_vectors_of_its_own(index: Index) -> None:
    put(index, "memory/a.md", "one\ntwo")
    spaces.begin(index.connection, A)
    fill(index, A)
    spaces.begin(index.connection, B)
    assert (index.count_pending(A), index.count_pending(B)) == (0, 2)


def test_a_search_asks_the_space_that_serves(index: Index) -> None:
    numbers = put(index, "memory/a.md", "one\ntwo")
    for space in (A, B):
        spaces.begin(index.connection, space)
        fill(index, space)
    spaces.serve(index.connection, B)
    near = index.vectors.nearest(blob(FakeProvider("b"), "two"), 1)
    assert list(near) == numbers[1:]
    assert near[numbers[1]] == pytest.approx(1.0, abs=2e-3)


def test_a_removed_file_leaves_no_vector_in_any_space(index: Index) -> None:
    put(index, "memory/a.md", "one\ntwo")
    for space in (A, B):
        spaces.begin(index.connection, space)
        fill(index, space)
    index.remove("memory/a.md")
    assert [index.vectors_in(space).count() for space in (A, B)] == [0, 0]


def test_a_space_knows_the_length_of_its_vectors(index: Index) -> None:
    put(index, "memory/a.md", "one")
    spaces.begin(index.connection, A)
    fill(index, A)
    entry = index.state.serving
    assert entry is not None
    assert entry.dims == 64


def test_an_index_without_a_space_has_no_vectors(index: Index) -> None:
    put(index, "memory/a.md", "one")
    assert (index.vectors.count(), index.vectors.nearest(blob(FakeProvider(), "one"), 1)) == (0, {})


def test_what_is_declined_is_remembered(index: Index) -> None:
    spaces.decline(index.connection, B)
    assert index.state.declined == B
    spaces.decline(index.connection, None)
    assert index.state.declined is None


# Indexes of earlier versions


def test_an_index_of_the_version_before_keeps_its_vectors_and_its_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "index.sqlite"
    made_with = {"provider": "fake", "model": "m", "provider_key": "k", "sentences": 1}
    with monkeypatch.context() as patch:
        patch.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:2])
        patch.setattr("memlines.index.store.sqlite.reader.MIGRATIONS", schema.MIGRATIONS)
        old = Index.writer(path, made_with)
    vector = blob(FakeProvider(), "one")
    with transaction(old.connection):
        old.connection.execute(
            "INSERT INTO chunks(id, path, source, start_line, end_line, hash, model, heading, language, text,"
            " updated_at) VALUES('x', 'memory/a.md', 'memory', 1, 1, '', 'm', '', '', 'one', 0)"
        )
        old.connection.execute(
            "CREATE TABLE chunks_vec(number INTEGER PRIMARY KEY AUTOINCREMENT,"
            " chunk INTEGER NOT NULL UNIQUE, embedding BLOB NOT NULL)"
        )
        old.connection.execute(
            "CREATE TABLE chunks_sentences(chunk INTEGER PRIMARY KEY, embedding BLOB NOT NULL)"
        )
        old.connection.execute("INSERT INTO chunks_vec(chunk, embedding) VALUES(1, ?)", (vector,))
        cache.remember(old.connection, Space("fake", "m", "k"), {"hash": vector}, 64)
    old.close()
    assert Index.reader(path) is None, "a reader leaves it to the next writer"
    index = Index.writer(path, {})
    space = Space("fake", "m", "k+sentences1")
    now = index.state.serving
    found = index.vectors.count(), cache.cached(index.connection, space, ["hash"], 64)
    index.close()
    assert now is not None
    assert (now.space, found) == (space, (1, {"hash": encode(np.frombuffer(vector, "<f4")[None])[0]}))


def test_a_file_can_be_put_again_after_the_change(index: Index) -> None:
    spaces.begin(index.connection, A)
    index.put(document("memory/a.md", "one\ntwo"), lines_of("one\ntwo"))
    fill(index, A)
    index.put(document("memory/a.md", "one\nthree"), lines_of("one\nthree"))
    assert (len(numbers_of(index, "memory/a.md")), index.count_pending(A)) == (2, 1)
