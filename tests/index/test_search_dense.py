"""Cosines become evidence on one scale, whatever part of their own scale a model uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines import Memory
from memlines.embed.base import embed_documents
from memlines.embed.passages import PASSAGES, background_of
from memlines.embed.select import Choice
from memlines.index.search.rank import fuse_evidence, probability
from memlines.index.search.retrievers import common_cosine, scale_of
from memlines.index.store.sqlite import spaces
from memlines.index.store.sqlite.index import Index
from memlines.index.sync.job import space_of
from tests.indexes import blob, index_file, write
from tests.memories import fake_memory
from tests.providers import FakeProvider
from tests.providers import MeaningsProvider as Meanings

if TYPE_CHECKING:
    from memlines.embed.base import Vector, Vectors

BUILTIN = "use-multilingual-v3"
QUESTION = "which okapi sleeps under the tent"
NOTES = {
    "memory/a.md": "The okapi sleeps under the old tent by the river.\n",
    "memory/b.md": "Brakes and tyres were changed on Thursday.\n",
    "memory/c.md": "Grandmother likes quinces with honey.\n",
}

cosines = st.dictionaries(st.integers(0, 50), st.floats(-1, 1), min_size=1, max_size=10)
common = st.floats(0, 0.95)


@dataclass
class Lifted(FakeProvider):
    """The same meanings, told with vectors that all share a part, so that every cosine is higher."""

    dims: int = 2048
    lift: float = 0.0

    def embed_query(self, text: str) -> Vector:
        own = super().embed_query(text)
        own[-1] = 0  # the place of what all share; words that fall there are left out
        own *= np.sqrt(1 - self.lift) / np.linalg.norm(own)
        own[-1] = np.sqrt(self.lift)
        return own


def raised(values: Mapping[int, float], lift: float) -> dict[int, float]:
    return {number: lift + (1 - lift) * cosine for number, cosine in values.items()}


# The scale


def scale(
    cosines: dict[int, float], sentences: dict[int, float], model: str, common: float | None = None
) -> dict[int, float]:
    """Return the vector scores of chunks by their cosines and those of their best sentences."""
    of_model = scale_of(model, common)
    return {one: of_model.score(cosine, sentences.get(one, cosine)) for one, cosine in cosines.items()}


@given(cosines, cosines, st.none() | common)
def test_the_builtin_model_keeps_the_scale_that_was_fitted_for_it(
    chunks: dict[int, float], sentences: dict[int, float], background: float | None
) -> None:
    for number, score in scale(chunks, sentences, BUILTIN, background).items():
        both = chunks[number] + sentences.get(number, chunks[number])
        assert score == min(1.0, max(0.0, both / (2 * 0.8)))


@given(cosines, cosines, st.none() | common)
def test_scores_lie_between_0_and_1(
    chunks: dict[int, float], sentences: dict[int, float], background: float | None
) -> None:
    assert all(0 <= score <= 1 for score in scale(chunks, sentences, "another", background).values())


@given(cosines, st.none() | common)
def test_a_higher_cosine_never_scores_lower(chunks: dict[int, float], background: float | None) -> None:
    found = scale(chunks, {}, "another", background)
    ranked = sorted(chunks, key=lambda number: chunks[number])
    assert [found[number] for number in ranked] == sorted(found.values())


@given(cosines, cosines, st.floats(0, 0.3), st.floats(0, 0.9))
def test_where_a_model_puts_unrelated_texts_does_not_matter(
    chunks: dict[int, float], sentences: dict[int, float], background: float, lift: float
) -> None:
    plain = scale(chunks, sentences, "another", background)
    high = lift + (1 - lift) * background
    assert scale(raised(chunks, lift), raised(sentences, lift), "another", high) == pytest.approx(
        plain, abs=1e-6
    )


def test_what_unrelated_texts_have_says_nothing() -> None:
    assert scale({1: 0.5, 2: 0.4, 3: 0.6}, {}, "another", 0.5) == pytest.approx({1: 0, 2: 0, 3: 0.2})


def test_only_the_same_text_is_certain() -> None:
    assert scale({1: 1.0, 2: 0.99}, {}, "another", 0.5) == pytest.approx({1: 1.0, 2: 0.98})


@given(st.lists(st.tuples(st.floats(0, 0.99), st.floats(0.5, 1)), min_size=2, max_size=10), st.floats(0, 0.5))
def test_what_is_common_to_all_texts_leaves_the_order_of_both_legs_together(
    scores: list[tuple[float, float]], background: float
) -> None:
    words = {number: score for number, (score, _) in enumerate(scores)}
    near = {number: cosine for number, (_, cosine) in enumerate(scores)}
    plain = fuse_evidence(words, scale(near, {}, "another"))
    found = fuse_evidence(words, scale(near, {}, "another", background))
    ranked = sorted(plain, key=plain.__getitem__)
    assert all(found[low] <= found[high] + 1e-9 for low, high in pairwise(ranked))


def test_cosines_are_taken_as_they_are_where_nobody_measured_what_unrelated_texts_have() -> None:
    assert scale({1: 0.6, 2: -0.2}, {}, "another", None) == {1: 0.6, 2: 0.0}


# What unrelated texts have


@pytest.mark.parametrize("lift", [0.0, 0.45, 0.72])
def test_the_background_gives_the_mean_cosine_with_the_passages(lift: float) -> None:
    provider = Lifted(lift=lift)
    query = blob(provider, QUESTION)
    each = embed_documents(provider, PASSAGES) @ np.frombuffer(query, "<f4")
    assert common_cosine(query, background_of(provider)) == pytest.approx(each.mean(), abs=1e-6)


def test_a_lifted_model_has_a_lifted_background() -> None:
    low = common_cosine(blob(Lifted(lift=0.0), QUESTION), background_of(Lifted(lift=0.0)))
    high = common_cosine(blob(Lifted(lift=0.7), QUESTION), background_of(Lifted(lift=0.7)))
    assert low is not None
    assert high == pytest.approx(0.7 + 0.3 * low, abs=1e-6)


@pytest.mark.parametrize("background", [None, b"", np.ones(3, "<f4").tobytes()])
def test_nothing_is_known_without_a_background_of_the_same_length(background: bytes | None) -> None:
    assert common_cosine(np.ones(4, "<f4").tobytes(), background) is None


@pytest.mark.parametrize(("product", "known"), [(-0.2, 0.0), (0.3, 0.3), (0.99, 0.95)])
def test_something_is_always_left_to_tell_texts_apart_by(product: float, known: float) -> None:
    query, background = np.array([1.0, 0.0], "<f4"), np.array([product, 0.0], "<f4")
    assert common_cosine(query.tobytes(), background.tobytes()) == pytest.approx(known)


def test_a_background_that_is_no_number_is_taken_for_none() -> None:
    query, background = np.array([1.0, 0.0], "<f4"), np.array([np.nan, 0.0], "<f4")
    assert common_cosine(query.tobytes(), background.tobytes()) == 0.0


def test_the_passages_are_short_enough_for_every_model() -> None:
    assert all(len(passage.encode()) <= 500 for passage in PASSAGES)


def test_the_passages_are_embedded_as_documents() -> None:
    class Recorder(FakeProvider):
        def embed_documents(self, texts: Sequence[str]) -> Vectors:
            asked.extend(texts)
            return super().embed_documents(texts)

    asked: list[str] = []
    background_of(Recorder())
    assert asked == list(PASSAGES)


# Where it is kept


@contextmanager
def writing(path: Path, engine: str = "matrix") -> Iterator[Index]:
    index = Index.writer(path, {"vector_engine": engine})
    try:
        yield index
    finally:
        index.close()


@pytest.mark.parametrize("engine", ["matrix", "sqlite-vec"])
def test_the_background_of_a_space_is_kept_with_it(tmp_path: Path, engine: str) -> None:
    with writing(tmp_path / "index.sqlite", engine) as index:
        spaces.begin(index.connection, space_of(FakeProvider()))
        index.vectors.set_background(b"\x00\x01\xff\x80")
    with writing(tmp_path / "index.sqlite", engine) as index:
        assert index.vectors.background() == b"\x00\x01\xff\x80"


def test_an_index_without_a_space_has_no_background(tmp_path: Path) -> None:
    with writing(tmp_path / "index.sqlite") as index:
        assert index.vectors.background() is None


def test_every_space_has_a_background_of_its_own(tmp_path: Path) -> None:
    old, new = (space_of(FakeProvider(model=model)) for model in ("old", "new"))
    with writing(tmp_path / "index.sqlite") as index:
        for space, vector in ((old, b"old!"), (new, b"new!")):
            spaces.begin(index.connection, space)
            index.vectors_in(space).set_background(vector)
        assert [index.vectors_in(space).background() for space in (old, new)] == [b"old!", b"new!"]


def test_the_background_of_a_space_that_is_gone_is_forgotten(tmp_path: Path) -> None:
    old, given_up, new = (space_of(FakeProvider(model=model)) for model in ("old", "given up", "new"))
    with writing(tmp_path / "index.sqlite") as index:
        for space in (old, given_up, new):
            spaces.begin(index.connection, space)
            index.vectors_in(space).set_background(b"four")
        sql = "SELECT count(*) FROM meta WHERE value = ?"
        assert index.connection.execute(sql, (b"four".hex(),)).get == 2


def test_a_damaged_background_is_as_good_as_none(tmp_path: Path) -> None:
    with writing(tmp_path / "index.sqlite") as index:
        spaces.begin(index.connection, space_of(FakeProvider()))
        index.vectors.set_background(b"four")
        index.connection.execute("UPDATE meta SET value = 'what?' WHERE value = ?", (b"four".hex(),))
        assert index.vectors.background() is None


# Searching by it


Searched = Callable[[float, Mapping[str, str]], Memory]


@pytest.fixture
def searched(tmp_path: Path) -> Iterator[Searched]:
    opened: list[Memory] = []

    def memory_of(lift: float, notes: Mapping[str, str]) -> Memory:
        folder = tmp_path / f"workspace-{lift}"
        write(folder, notes)
        provider = Lifted(lift=lift)
        memory = Memory(folder, {"sync.on_search": False})
        memory._manager.choice = Choice("fake", provider)
        memory.sync()
        with writing(index_file(folder)) as index:
            index.vectors.set_background(background_of(provider))
        opened.append(memory)
        return memory

    yield memory_of
    for memory in opened:
        memory.close()


@pytest.mark.parametrize("lift", [0.45, 0.72, 0.85])
def test_the_score_of_a_hit_does_not_depend_on_the_part_of_the_scale_a_model_uses(
    searched: Searched, lift: float
) -> None:
    plain = [(hit.path, hit.score) for hit in searched(0.0, NOTES).search(QUESTION, min_score=0)]
    high = [(hit.path, hit.score) for hit in searched(lift, NOTES).search(QUESTION, min_score=0)]
    assert [path for path, _ in high] == [path for path, _ in plain]
    assert [score for _, score in high] == pytest.approx([score for _, score in plain], abs=5e-3)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_tiny_index_answers_what_it_knows_with_any_model(searched: Searched, count: int) -> None:
    few = dict(list(NOTES.items())[:count])
    assert [hit.path for hit in searched(0.72, few).search(QUESTION)] == ["memory/a.md"]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_tiny_index_says_nothing_about_what_it_does_not_know_with_any_model(
    searched: Searched, count: int
) -> None:
    few = dict(list(NOTES.items())[:count])
    assert not searched(0.72, few).search("how tall is the lighthouse of Alexandria").hits


def test_where_words_cannot_speak_a_measured_model_is_judged_by_its_own_curve(workspace: Path) -> None:
    provider = Meanings({"question": (1.0, 0.0, 0.0, 0.0), "gist": (0.64, 0.76837, 0.0, 0.0)})
    with fake_memory(workspace, {"a.md": "The gist.\n", "b.md": "Filler.\n"}, provider) as memory:
        memory.sync()
        with writing(index_file(workspace)) as index:
            index.vectors.set_background(np.array([0.5, 0.0, 0.0, 0.0], "<f4").tobytes())
        result = memory.search("question")
    assert result[0].path == "memory/a.md"
    assert result.likelihood == pytest.approx(probability(0.28, "measured meaning"), abs=1e-2)


def test_a_model_that_was_fitted_is_not_measured(workspace: Path) -> None:
    provider = Meanings({"question": (1.0, 0.0, 0.0, 0.0), "gist": (0.48, 0.87727, 0.0, 0.0)}, model=BUILTIN)
    with fake_memory(workspace, {"a.md": "The gist.\n", "b.md": "Filler.\n"}, provider) as memory:
        memory.sync()
        with writing(index_file(workspace)) as index:
            index.vectors.set_background(np.array([0.5, 0.0, 0.0, 0.0], "<f4").tobytes())
        result = memory.search("question")
    assert result.likelihood == pytest.approx(probability(0.6, "meaning"), abs=5e-3)
