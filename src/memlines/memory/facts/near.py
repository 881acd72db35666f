"""Find the facts that are nearest to a text, and decide whether one of them says the same.

A text that is taken for known is not written down, so a second line is preferred to a loss. The words are the
same, as they are for notes; or a vector says that both are almost the same, and word by word nothing differs
that matters: no number, date, name, address or identifier, no "not" or "only", no order ("tabs over spaces"),
and no other word that says something. What may differ: articles, "I" and "the user", "live" and "reside",
the ending that a verb has after "I" and after "she".
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from memlines.embed.base import to_blobs
from memlines.embed.codec import cosines, decode
from memlines.errors import EmbeddingError, StoreError
from memlines.index.search.reorder import jaccard
from memlines.index.search.retrievers import CandidateSet, nearest
from memlines.index.search.words import find, look_up
from memlines.memory.answering import Embedder, choose_embedder
from memlines.memory.facts.recall import embed_texts, to_similarity
from memlines.memory.facts.statements import Item, Statement, read_together
from memlines.memory.manager import Manager
from memlines.memory.notes.duplicates import same_days, same_words, turning_words
from memlines.memory.open_index import silent
from memlines.records import dataclass
from memlines.text.facts import FactLine
from memlines.text.language import language_of
from memlines.text.terms import telling_words, terms_of

_BY_MEANING = 5
_BY_WORDS = 20
_QUERY_WORDS = 40
_LATEST = 64
"""How many facts are looked at of each kind, and by how many words. The latest are always among them: their
vectors may not have been made yet, and what was said a moment ago is what is corrected most."""

_MADE_HERE = 16
"""Facts without a vector that get one only to be compared, each time again; of more, the index keeps them."""

_SHARED = 0.5
_SIMILAR = 0.7
_MOST_ALIKE = 3
"""How alike facts are that may be about the same thing, and how many of them are worth asking about."""

_BY_WORDS_ALONE = "facts were compared by their words alone"

Near = tuple[FactLine, float | None]
"""A fact and how similar it is to a text, if that is known."""


@dataclass(frozen=True, slots=True)
class Nearby:
    """The facts that are nearest to a text; those whose nearness is known come first."""

    facts: tuple[Near, ...] = ()
    warnings: tuple[str, ...] = ()


class _Looked(NamedTuple):
    """What the index found: the facts by id, and the cosines of those that have a vector in it."""

    lines: dict[str, FactLine]
    cosines: dict[str, float]
    embedder: Embedder
    vector: bytes | None

    @property
    def unknown(self) -> list[FactLine]:
        return [line for name, line in self.lines.items() if name not in self.cosines]


def find_near(manager: Manager, text: str) -> Nearby:
    """Return the facts that are nearest to a text by meaning and by words.

    A table that is not open yet is not opened for that: the vectors of the index answer as well, and sooner.
    Where an index or a provider cannot be used, words alone are compared.
    """
    lines = manager.fact_table.note.lines()
    if not lines:
        return Nearby()
    warnings: list[str] = []
    try:
        looked = _look(manager, text, lines, warnings)
        if len(looked.unknown) > _MADE_HERE:  # the others are compared here, whatever the index lacks
            warnings += manager.refresh(silent)[0]
            looked = _look(manager, text, lines, warnings)
    except StoreError as error:
        warnings.append(f"{_BY_WORDS_ALONE}: {error}")
        return Nearby(tuple((line, None) for line in lines), tuple(warnings))
    warnings += looked.embedder.doubts
    unknown, provider = looked.unknown[:_MADE_HERE], looked.embedder.provider
    if looked.vector is not None and provider is not None and unknown:
        try:
            near = cosines(looked.vector, embed_texts(provider, [line.fact.text for line in unknown]))
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


def _look(manager: Manager, text: str, lines: Sequence[FactLine], warnings: list[str]) -> _Looked:
    """Ask the index, as far as it knows the facts and its vectors are of the same space."""
    embedder = choose_embedder(manager, "hybrid", manager.read_state())
    vector = None
    if embedder.provider is None:
        warnings.append(f"{_BY_WORDS_ALONE}, because no provider makes vectors")
    else:
        try:
            (vector,) = to_blobs(decode(embed_texts(embedder.provider, [text])))
        except EmbeddingError as error:
            warnings.append(f"{_BY_WORDS_ALONE}: {error}")
    looked = _Looked({}, {}, embedder, vector)
    missing = lines
    with manager.opened() as index:
        if index is not None:
            with index.snapshot():
                store, by_table = manager.fact_table.look(index, current_only=False)
                missing = store.missing
                latest = [line.fact.id for line in lines[-_LATEST:]]
                numbers = [store.numbers[name] for name in latest if name in store.numbers]
                wanted = look_up(index, " ".join(telling_words(text)[:_QUERY_WORDS]))
                found = [*find(index, wanted, _BY_WORDS, (), store.all), *numbers]
                serving = index.state.serving
                near: dict[int, float] = {}
                if vector is not None and serving is not None and serving.space == embedder.space:
                    within = CandidateSet(store.all, {}, by_table)
                    near = nearest(index, vector, _BY_MEANING, found, within)
            for number in dict.fromkeys([*near, *found]):
                line = store.lines[number]
                looked.lines[line.fact.id] = line
                if number in near:
                    looked.cosines[line.fact.id] = near[number]
    looked.lines.update((line.fact.id, line) for line in missing)
    return looked


ALIKE = 0.95
"""The similarity from which on two texts may say the same in other words."""

_SYNONYMS = frozenset("iumobLUCDhx")
"""Tags whose words all say the same."""

_INFLECTED = frozenset({"s", "es", "e", "t", "n", "en"})
"""Endings of verbs in the present and of plurals, which the same word may have or not."""

_SHORTEST = 3


def duplicate_of(text: str, near: Sequence[Near], now: datetime) -> FactLine | None:
    """Return the current fact that says what a text says, among those near to it with their similarity.

    Days such as "tomorrow" are compared as seen from now and from the day of the fact.
    """
    same = [
        (says, -1.0 if nearness is None else nearness, line)
        for line, nearness in near
        if line.fact.is_current and (says := _sameness(text, line, nearness, now))
    ]
    return max(same, key=lambda found: found[:2])[2] if same else None


class KnownFacts:
    """Facts by their words, to look up many texts among them."""

    def __init__(self, lines: Iterable[FactLine]) -> None:
        self._by_word: dict[str, list[FactLine]] = {}
        for line in lines:
            self.add(line)

    def add(self, line: FactLine) -> None:
        """Add a fact."""
        for word in _words(line.fact.text):
            self._by_word.setdefault(word, []).append(line)

    def same_as(self, text: str, now: datetime) -> FactLine | None:
        """Return the current fact that says in the same words what a text says."""
        like = self._by_word.get(max(_words(text), key=len), ())
        return duplicate_of(text, [(line, None) for line in like], now)


def _words(text: str) -> list[str]:
    return telling_words(unicodedata.normalize("NFC", text).casefold()) or [""]


def _sameness(text: str, line: FactLine, nearness: float | None, now: datetime) -> int:
    """Return 2 if the words of a fact are the same, 1 if it says the same in other words, else 0."""
    known = line.fact.text
    if same_words(text, known) and same_words(known, text):  # neither says more than the other
        says = 2
    elif nearness is not None and nearness >= ALIKE and says_the_same(text, known):
        says = 1
    else:
        return 0
    return says if same_days(text, now, known, line.fact.created) else 0


def says_the_same(text: str, known: str) -> bool:
    """Return whether two texts say the same word by word, but for articles, endings and known synonyms."""
    if "`" in text or "`" in known:
        return False
    new, old = read_together(text, known)
    return bool(new) and len(new) == len(old) and all(map(_is_same_statement, new, old))


def _is_same_statement(new: Statement, old: Statement) -> bool:
    if new.marks != old.marks or new.doubtful or not new.items:
        return False
    ours, theirs = _without_self(new), _without_self(old)
    return len(ours) == len(theirs) and all(map(_is_same_word, ours, theirs))


def _without_self(statement: Statement) -> list[Item]:
    """Return the words without articles, and without the user as subject: "Likes tea" is "I like tea"."""
    items = [item for item in statement.items if item.tag != "x"]
    return items[1:] if items and items[0].tag == "i" and len(items) > 1 else items


def _is_same_word(one: Item, other: Item) -> bool:
    if one.word == other.word and one.tag == other.tag:
        return True
    if one.tag in "0D" or other.tag in "0D":
        return (one.tag, one.what) == (other.tag, other.what)
    if "#" in (one.tag, other.tag):
        return False
    if one.tag == other.tag and one.tag in _SYNONYMS:
        return one.what == other.what
    if one.tag == other.tag == "N":  # Peter is not Peters
        return one.word.casefold() == other.word.casefold()
    # They may differ in case and an ending, if neither turns the meaning.
    short, long = sorted((one.word.casefold(), other.word.casefold()), key=len)
    if short == long:
        return True
    if turning_words() & {short, long} or len(short) < _SHORTEST or not long.startswith(short):
        return False
    return long[len(short) :] in _INFLECTED
