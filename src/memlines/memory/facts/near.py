"""Find the facts that are nearest to a text, to tell whether it is known already."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from memlines.embed.base import Provider
from memlines.errors import EmbeddingError, StoreError
from memlines.index.search.order import jaccard
from memlines.index.search.retrievers import CandidateSet, nearest
from memlines.index.search.words import find, look_up
from memlines.index.store.sqlite.index import Index
from memlines.memory.answering import choose_embedder
from memlines.memory.background import silent
from memlines.memory.facts.recall import Source, clipped, vectors_of
from memlines.memory.manager import Manager
from memlines.memory.notes.duplicates import query_of
from memlines.text.facts import FactLine
from memlines.text.language import language_of
from memlines.text.terms import terms_of
from memlines.types import Space

_BY_MEANING = 5
_BY_WORDS = 20
_LATEST = 64
"""How many facts are looked at of each kind. The latest are always among them: their vectors may not have
been made yet, and what was said a moment ago is what is corrected most."""

_MADE_HERE = 64
"""Facts without a vector that get one only to be compared; there are more only while an index is built."""

_SHARED = 0.5
_SIMILAR = 0.7
_MOST_ALIKE = 3
"""How alike facts are that may be about the same thing, and how many of them are worth asking about."""

_BY_WORDS_ALONE = "facts were compared by their words alone"

Near = tuple[FactLine, float | None]
"""A fact and how similar it is to a text, if that is known."""


@dataclass(frozen=True, slots=True)
class Nearby:
    """The facts that are nearest to a text, those of which it is known how near first."""

    facts: tuple[Near, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(slots=True)
class _Looked:
    """What the index told: cosines by fact, and the facts that it cannot tell about."""

    lines: dict[str, FactLine] = field(default_factory=dict)
    cosines: dict[str, float] = field(default_factory=dict)
    unknown: list[FactLine] = field(default_factory=list)


def nearby(
    manager: Manager, text: str, lines: Sequence[FactLine], source_in: Callable[[Index], Source]
) -> Nearby:
    """Return the facts that are nearest to a text by meaning and by words.

    An index or a provider that cannot be used is no reason not to answer: then words alone are compared.
    """
    warnings: list[str] = []
    try:
        asked = choose_embedder(manager, "hybrid", manager.read_state())
        vector = _vector(asked.provider, text, warnings)
        looked = _look(manager, text, vector, asked.space, lines, source_in)
        if len(looked.unknown) > _MADE_HERE:  # the others are compared here, whatever the index lacks
            warnings += manager.refresh(silent)[0]
            asked = choose_embedder(manager, "hybrid", manager.read_state())
            vector = _vector(asked.provider, text, warnings)
            looked = _look(manager, text, vector, asked.space, lines, source_in)
    except StoreError as error:
        told = (*warnings, f"{_BY_WORDS_ALONE}: {error}")
        return Nearby(tuple((line, None) for line in lines), told)
    warnings += asked.doubts
    if vector is not None and asked.provider is not None and looked.unknown:
        looked.cosines |= _compared(asked.provider, vector, looked.unknown[:_MADE_HERE], warnings)
    near = [(line, clipped(looked.cosines.get(name))) for name, line in looked.lines.items()]
    near.sort(key=lambda one: -1.0 if one[1] is None else one[1], reverse=True)
    return Nearby(tuple(near), tuple(dict.fromkeys(warnings)))


def about_the_same(text: str, near: Sequence[Near]) -> tuple[FactLine, ...]:
    """Return the facts that seem to be about the same as a text, at most a few, the most alike first.

    They share half of their words with it, or their similarity is high.
    """
    ours = _terms(text)
    found = []
    for line, similarity in near:
        shared = jaccard(ours, _terms(line.fact.text))
        if shared >= _SHARED or (similarity or 0.0) >= _SIMILAR:
            found.append((max(shared, similarity or 0.0), line))
    found.sort(key=lambda one: one[0], reverse=True)
    return tuple(line for _, line in found[:_MOST_ALIKE])


def _terms(text: str) -> frozenset[str]:
    return frozenset(terms_of(text, language_of(text)))


def _vector(provider: Provider | None, text: str, warnings: list[str]) -> bytes | None:
    if provider is None:
        warnings.append(f"{_BY_WORDS_ALONE}, because nobody makes vectors")
        return None
    try:
        return vectors_of(provider, [text])[0]
    except EmbeddingError as error:
        warnings.append(f"{_BY_WORDS_ALONE}: {error}")
        return None


def _look(
    manager: Manager,
    text: str,
    vector: bytes | None,
    space: Space | None,
    lines: Sequence[FactLine],
    source_in: Callable[[Index], Source],
) -> _Looked:
    """Ask the index, as far as it knows the facts and its vectors are of the same space."""
    looked = _Looked()
    missing = lines
    with manager.reading:
        index = manager.open_reader()
        if index is not None:
            with index.errors(), index.snapshot():
                now = index.state.serving
                source = source_in(index)
                missing = source.store.missing
                if now is None or now.space != space:
                    vector = None
                _ask(index, source, text, vector, lines[-_LATEST:], looked)
    looked.lines.update((line.fact.id, line) for line in missing)
    looked.unknown = [line for name, line in looked.lines.items() if name not in looked.cosines]
    return looked


def _ask(
    index: Index,
    source: Source,
    text: str,
    vector: bytes | None,
    latest: Sequence[FactLine],
    looked: _Looked,
) -> None:
    store = source.store
    new = [store.numbers[line.fact.id] for line in latest if line.fact.id in store.numbers]
    wanted = look_up(index, query_of(text))
    found = [*find(index, wanted, _BY_WORDS, (), store.all)]
    cosines: dict[int, float] = {}
    if vector is not None:
        also = [*found, *new]
        cosines = nearest(index, vector, _BY_MEANING, also, CandidateSet(store.all, {}, source.nearest))
    for number in dict.fromkeys([*cosines, *found, *new]):
        line = store.lines[number]
        looked.lines[line.fact.id] = line
        if number in cosines:
            looked.cosines[line.fact.id] = cosines[number]


def _compared(
    provider: Provider, vector: bytes, lines: Sequence[FactLine], warnings: list[str]
) -> dict[str, float]:
    """Return how near facts are that have no vector yet."""
    import numpy as np

    try:
        blobs = vectors_of(provider, [line.fact.text for line in lines])
    except EmbeddingError as error:
        warnings.append(f"not all facts could be compared by their meaning: {error}")
        return {}
    rows = np.frombuffer(b"".join(blobs), "<f4").reshape(len(blobs), -1)
    cosines = np.vecdot(rows, np.frombuffer(vector, "<f4")).tolist()
    return {line.fact.id: cosine for line, cosine in zip(lines, cosines, strict=True)}
