"""Find the facts that are nearest to a text, to tell whether it is known already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memlines.embed.base import Provider
from memlines.errors import EmbeddingError, StoreError
from memlines.index.search.order import jaccard
from memlines.index.search.retrievers import CandidateSet, nearest
from memlines.index.search.words import find, look_up
from memlines.memory.answering import choose_embedder
from memlines.memory.background import silent
from memlines.memory.facts.recall import embed_texts, to_similarity
from memlines.memory.facts.store import cosines
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


class _Looked(NamedTuple):
    """What the index found: the facts by id, and the cosines of those that have a vector in it."""

    lines: dict[str, FactLine]
    cosines: dict[str, float]

    @property
    def unknown(self) -> list[FactLine]:
        return [line for name, line in self.lines.items() if name not in self.cosines]


def find_near(manager: Manager, text: str) -> Nearby:
    """Return the facts that are nearest to a text by meaning and by words.

    An index or a provider that cannot be used is no reason not to answer: then words alone are compared.
    """
    lines = manager.fact_table.note.lines()
    if not lines:
        return Nearby()
    manager.fact_table.prepare()
    warnings: list[str] = []

    def look() -> tuple[Provider | None, bytes | None, _Looked, Sequence[str]]:
        asked = choose_embedder(manager, "hybrid", manager.read_state())
        vector = _vector(asked.provider, text, warnings)
        return asked.provider, vector, _look(manager, text, vector, asked.space, lines), asked.doubts

    try:
        provider, vector, looked, doubts = look()
        if len(looked.unknown) > _MADE_HERE:  # the others are compared here, whatever the index lacks
            warnings += manager.refresh(silent)[0]
            provider, vector, looked, doubts = look()
    except StoreError as error:
        warnings.append(f"{_BY_WORDS_ALONE}: {error}")
        return Nearby(tuple((line, None) for line in lines), tuple(warnings))
    warnings += doubts
    unknown = looked.unknown[:_MADE_HERE]
    if vector is not None and provider is not None and unknown:
        try:
            near = cosines(vector, embed_texts(provider, [line.fact.text for line in unknown]))
            looked.cosines.update(zip((line.fact.id for line in unknown), near, strict=True))
        except EmbeddingError as error:
            warnings.append(f"not all facts could be compared by their meaning: {error}")
    found = [(line, to_similarity(looked.cosines.get(name))) for name, line in looked.lines.items()]
    found.sort(key=lambda one: -1.0 if one[1] is None else one[1], reverse=True)
    return Nearby(tuple(found), tuple(dict.fromkeys(warnings)))


def about_the_same(text: str, near: Sequence[Near]) -> tuple[FactLine, ...]:
    """Return the facts that seem to be about the same as a text, at most a few, the most alike first.

    They share half of their words with it, or their similarity is high.
    """
    ours = frozenset(terms_of(text, language_of(text)))
    found = []
    for line, similarity in near:
        theirs = line.fact.text
        shared = jaccard(ours, frozenset(terms_of(theirs, language_of(theirs))))
        if shared >= _SHARED or (similarity or 0.0) >= _SIMILAR:
            found.append((max(shared, similarity or 0.0), line))
    found.sort(key=lambda one: one[0], reverse=True)
    return tuple(line for _, line in found[:_MOST_ALIKE])


def _vector(provider: Provider | None, text: str, warnings: list[str]) -> bytes | None:
    if provider is None:
        warnings.append(f"{_BY_WORDS_ALONE}, because no provider makes vectors")
        return None
    try:
        return embed_texts(provider, [text])[0]
    except EmbeddingError as error:
        warnings.append(f"{_BY_WORDS_ALONE}: {error}")
        return None


def _look(
    manager: Manager, text: str, vector: bytes | None, space: Space | None, lines: Sequence[FactLine]
) -> _Looked:
    """Ask the index, as far as it knows the facts and its vectors are of the same space."""
    looked = _Looked({}, {})
    missing = lines
    with manager.reading:
        index = manager.open_reader()
        if index is not None:
            with index.errors(), index.snapshot():
                store, by_table = manager.fact_table.look(index, current_only=False)
                missing = store.missing
                latest = [line.fact.id for line in lines[-_LATEST:]]
                numbers = [store.numbers[name] for name in latest if name in store.numbers]
                wanted = look_up(index, query_of(text))
                found = [*find(index, wanted, _BY_WORDS, (), store.all), *numbers]
                serving = index.state.serving
                near: dict[int, float] = {}
                if vector is not None and serving is not None and serving.space == space:
                    within = CandidateSet(store.all, {}, by_table)
                    near = nearest(index, vector, _BY_MEANING, found, within)
                for number in dict.fromkeys([*near, *found]):
                    line = store.lines[number]
                    looked.lines[line.fact.id] = line
                    if number in near:
                        looked.cosines[line.fact.id] = near[number]
    looked.lines.update((line.fact.id, line) for line in missing)
    return looked
