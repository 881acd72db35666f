"""A text that a provider refuses does not keep the others from their vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.errors import EmbeddingError, ModelFilesError
from memlines.index.sync import pending
from memlines.index.sync.pending import Embedded, embed_texts
from tests.indexes import found_by, notes, reading, serving_model, sync, write
from tests.providers import FakeProvider

if TYPE_CHECKING:
    from memlines.embed.base import Vectors

pytestmark = pytest.mark.promise("P6")


@dataclass
class Picky(FakeProvider):
    """Refuses every request that holds a text with one of some words; counts the requests."""

    words: tuple[str, ...] = ("poison",)
    error: type[EmbeddingError] = EmbeddingError
    requests: list[int] = field(default_factory=list)

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        self.requests.append(len(texts))
        if any(word in text.split() for text in texts for word in self.words):
            raise self.error("this text is refused", todo="Write another one")
        return super().embed_documents(texts)


def texts_of(*refused: int, count: int = 8) -> dict[str, str]:
    return {str(number): f"{'poison ' * (number in refused)}text {number}" for number in range(count)}


# One group


def test_only_the_refused_text_has_no_vector() -> None:
    embedded = embed_texts(Picky(), texts_of(5))
    assert sorted(embedded.vectors) == ["0", "1", "2", "3", "4", "6", "7"]
    assert str(embedded.reason) == "this text is refused. Write another one"


def test_without_a_refusal_one_request_is_enough() -> None:
    provider = Picky()
    assert (len(embed_texts(provider, texts_of()).vectors), provider.requests) == (8, [8])


def test_no_texts_are_no_request() -> None:
    provider = Picky()
    assert (embed_texts(provider, {}), provider.requests) == (Embedded(), [])


def test_a_service_that_never_works_is_asked_five_times_only() -> None:
    provider = Picky(words=("text",))
    embedded = embed_texts(provider, texts_of(count=256))
    assert (embedded.stopped, embedded.vectors) == (True, {})
    assert len(provider.requests) == 5


def test_a_missing_model_is_asked_for_once() -> None:
    provider = Picky(words=("text",), error=ModelFilesError)
    embedded = embed_texts(provider, texts_of(count=256))
    assert (embedded.stopped, type(embedded.reason)) == (True, ModelFilesError)
    assert provider.requests == [256]


def test_texts_are_embedded_although_every_quarter_holds_a_refused_one() -> None:
    embedded = embed_texts(Picky(), texts_of(1, 70, 130, 200, count=256))
    assert len(embedded.vectors) == 252


def test_the_requests_for_many_refused_texts_are_bounded() -> None:
    provider = Picky()
    assert embed_texts(provider, texts_of(*range(0, 256, 2), count=256)).vectors
    assert len(provider.requests) <= 201


@given(st.sets(st.integers(0, 39), max_size=8), st.integers(1, 40))
def test_what_is_not_refused_is_embedded(refused: set[int], count: int) -> None:
    wanted = {str(number) for number in range(count) if number not in refused}
    vectors = embed_texts(Picky(), texts_of(*refused, count=count)).vectors
    if vectors or len(refused & set(range(count))) < 2:
        assert set(vectors) == wanted


# A whole sync


def test_a_refused_chunk_stays_pending_and_is_counted_with_the_reason(workspace: Path) -> None:
    write(workspace, {**notes(6), "memory/bad.md": "shared poison okapi"})
    report = sync(workspace, Picky())
    assert report.pending == 1
    assert report.warnings == (
        "1 chunk was not embedded and can be found by words only: this text is refused. Write another one",
    )


def test_a_refused_chunk_is_found_by_its_words(workspace: Path) -> None:
    write(workspace, {**notes(6), "memory/bad.md": "shared poison okapi"})
    sync(workspace, Picky())
    with reading(workspace) as index:
        assert found_by(index, "okapi") == ["memory/bad.md"]


def test_the_groups_after_a_refused_chunk_are_embedded(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pending, "_GROUP", 3)
    write(workspace, {"memory/a.md": "poison", "memory/b.md": "another poison", **notes(9)})
    report = sync(workspace, Picky())
    assert (report.pending, "2 chunks were not embedded" in report.warnings[0]) == (2, True)


def test_a_service_that_fails_in_a_later_group_stops_the_embedding(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pending, "_GROUP", 2)
    write(workspace, notes(9))
    provider = Picky(words=("own4", "own5", "own6", "own7", "own8"))
    report = sync(workspace, provider)
    assert report.pending == 5
    assert provider.requests == [2, 2, 2, 1, 1]


def test_an_index_of_a_new_model_serves_although_a_text_is_refused(workspace: Path) -> None:
    write(workspace, {**notes(6), "memory/bad.md": "shared poison okapi"})
    sync(workspace, FakeProvider("old"))
    report = sync(workspace, Picky("new"))
    with reading(workspace) as index:
        assert (serving_model(index), index.vectors.count(), report.pending) == ("new", 6, 1)
