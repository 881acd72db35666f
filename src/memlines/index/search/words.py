"""Find chunks by the words of a query."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import field, replace
from itertools import accumulate
from operator import attrgetter
from types import MappingProxyType

from memlines.index.search.spelling import correct
from memlines.index.store.base import SearchedIndex
from memlines.records import dataclass
from memlines.text.aliases import NO_EXPANSION, Expansion
from memlines.text.language import language_of, stop_words
from memlines.text.terms import (
    RUN,
    is_unspaced,
    joined_words,
    parts_of,
    query_terms,
    split_words,
    telling_words,
    terms_of,
    words_of,
)
from memlines.types import Source

_MOST_WORDS = 64
"""A pasted page is searched by its rarest words; more of them only cost time."""

_LOOKED_UP = 2_000

_SHORTEST_SPLIT, _LONGEST_SPLIT = 5, 30
"""Letters of a word that may be two in a note."""

_LEAST_JOINED = 0.01
"""How often two words must be written as one for each time that the first is in a chunk. What is rarer, such
as `levelsof`, is a slip."""

COMMON_PART = 0.25
_COMMON_FROM = 1_000
"""In an index of this many chunks, a word that this part of them holds is left out as long as a
rarer one remains: it costs the most time and says the least."""

_MOST_RANKED, _RANKED_PART = 8_000, 0.04
"""Chunks that are ranked, or which part of all if that is more. Each takes the same time, so the words that
bring more of them are left out too, the most common first."""

STEEPNESS = 1.2
COVERED = 1.0 - math.exp(-STEEPNESS)
"""What a chunk scores that covers the whole query once; repeating its words brings it nearer to 1."""


@dataclass(frozen=True, slots=True)
class Term:
    """A word of the query: as written, as notes may write it, and in how many chunks it is."""

    word: str
    forms: tuple[str, ...]
    """What is looked for: the word, what was probably meant, or the word as one with the one beside it."""
    keys: tuple[str, ...]
    """What the index is asked for: the terms of these that occur, each in the chunks of its languages."""
    chunks: int


@dataclass(frozen=True, slots=True)
class QueryWords:
    """The telling words of a query, and how much each of them weighs in this index."""

    terms: tuple[Term, ...]
    weights: Mapping[str, float]
    """What finding each word is worth: rare ones count more."""
    total: int
    """How many chunks the index holds."""
    searched: tuple[Term, ...] = ()
    """Those that are looked for; of the others, the index holds none or too many."""
    phrases: Sequence[Sequence[str]] = ()
    """What is searched instead of single words, if the query has small words only."""
    corrections: Mapping[str, str] = field(default_factory=dict)
    """Words that no chunk holds, and those that are searched instead."""


def look_up(
    index: SearchedIndex, query: str, *, corrects: bool = False, expansion: Expansion = NO_EXPANSION
) -> QueryWords:
    """Look up the telling words of a query in the index, and keep the rarest if there are too many.

    With `corrects`, a word that no chunk holds is searched as the one that was probably meant.
    """
    every, telling = split_words(query)
    said = [word for word in (telling or every)[:_LOOKED_UP] if word not in expansion.left_out]
    terms = _look_up(index, said, joined_words(query) if len(said) <= _MOST_WORDS else {}, expansion.same)
    unknown = [term.word for term in terms if not term.chunks]
    if unknown and (parts := _parts_of_unknown(index, query, unknown)):
        terms = [term for term in terms if term.word not in parts]
        known = {term.word for term in terms}
        new = dict.fromkeys(part for group in parts.values() for part in group if part not in known)
        terms += _look_up(index, [*new])
    if len(terms) > _MOST_WORDS:
        terms = sorted(terms, key=lambda term: (term.chunks == 0, term.chunks))[:_MOST_WORDS]
    unknown = [term.word for term in terms if not term.chunks] if corrects else []
    corrections = correct(index, unknown, language_of(query)) if unknown else {}
    if corrections:
        meant = {term.word: term for term in _look_up(index, [*dict.fromkeys(corrections.values())])}
        terms = [
            replace(meant[corrections[term.word]], word=term.word) if term.word in corrections else term
            for term in terms
        ]
    total = index.count_chunks()
    # The weight that BM25 gives to a word: its inverse document frequency.
    rare = {
        term.word: max(math.log((total - term.chunks + 0.5) / (term.chunks + 0.5)), 0.0) or 1e-6
        for term in terms
        if term.chunks
    }
    # A word that is in no chunk says nothing about how rare it is; it counts like the rarest.
    rarest = max(rare.values(), default=1.0)
    weights = {term.word: rare.get(term.word, rarest) for term in terms}
    phrases = _phrases(index, query) if every and not telling else []
    return QueryWords(tuple(terms), weights, total, _without_common(terms, total), phrases, corrections)


def _without_common(terms: Iterable[Term], total: int) -> tuple[Term, ...]:
    """Return the words to look for: those that the index holds, but too common ones only if none is rarer."""
    present = sorted([term for term in terms if term.chunks], key=attrgetter("chunks"))
    if total >= _COMMON_FROM:
        present = [term for term in present if term.chunks <= COMMON_PART * total] or present
    most = max(_MOST_RANKED, _RANKED_PART * total)
    ranked = accumulate([term.chunks for term in present])
    few = [term for term, chunks in zip(present, ranked, strict=True) if chunks <= most]
    return tuple(few or present[:1])


def find(
    index: SearchedIndex,
    words: QueryWords,
    limit: int,
    sources: Sequence[Source],
    only: Set[int] | None = None,
) -> dict[int, float]:
    """Return the chunks that hold any telling word of the query, best first; all or `only` some.

    The score is the chunk's BM25 as a part of what a chunk of average length would get that
    holds every word once. It says how much of the query a chunk covers, rare words counting
    more, and means the same in a small workspace and a large one.
    """
    if words.phrases:
        return dict.fromkeys(index.words.match_phrases(words.phrases, limit, sources, only), COVERED)
    if not words.searched:
        return {}
    complete = sum(words.weights.values())
    found = index.words.match([term.keys for term in words.searched], limit, sources, only)
    return {number: 1.0 - math.exp(-STEEPNESS * rank / complete) for number, rank in found}


def find_all(
    index: SearchedIndex, query: str, limit: int, sources: Sequence[Source], only: Set[int] | None = None
) -> dict[int, float]:
    """Return the chunks that hold every word of the query, scored as OpenClaw does."""
    terms = _look_up(index, list(dict.fromkeys(words_of(query)))[:_MOST_WORDS])
    found = index.words.match([term.keys for term in terms], limit, sources, only, every=True)
    return {number: openclaw_score(-rank) for number, rank in found}


def find_each(
    index: SearchedIndex, query: str, limit: int, sources: Sequence[Source], only: Set[int] | None = None
) -> dict[int, float]:
    """Search every keyword by itself, as OpenClaw does without vectors when all together find nothing."""
    best: dict[int, float] = {}
    for term in _look_up(index, telling_words(query)[:_MOST_WORDS]):
        for number, rank in index.words.match([term.keys], limit, sources, only):
            best[number] = max(best.get(number, 0.0), openclaw_score(-rank))
    return dict(sorted(best.items(), key=lambda item: -item[1])[:limit])


def openclaw_score(rank: float) -> float:
    """Map an FTS5 rank (negative, lower is better) to OpenClaw's score between 0 and 1."""
    if not math.isfinite(rank):
        return 0.001
    if rank < 0:
        return -rank / (1 - rank)
    return 1 / (1 + rank)


def _look_up(
    index: SearchedIndex,
    words: Sequence[str],
    joined: Mapping[str, Sequence[str]] = MappingProxyType({}),
    same: Mapping[str, tuple[str, ...]] = NO_EXPANSION.same,
) -> list[Term]:
    """Look up words; each may be `joined` with the one beside it, and others may mean the `same`."""
    languages = index.languages or ("",)
    # Where that is written in parts, these are found by themselves.
    beside = {one for group in joined.values() for one in group}
    terms_of_each = {one: query_terms(one, languages, in_parts=False) for one in beside}
    names = {word: (word, *same.get(word, ())) for word in words}
    terms_of_each |= {one: query_terms(one, languages) for group in names.values() for one in group}
    found = {
        one: [(term, tuple(spoken)) for term, spoken in own.items()] for one, own in terms_of_each.items()
    }
    known = index.words.look_up({term for group in found.values() for term in group})
    terms = []
    for word in words:
        if not found[word]:
            continue
        if len(word) == 1 and is_unspaced(word):
            # The index keeps the characters of a script without blanks in pairs, so a single one is a prefix.
            begun = index.words.look_up_prefix(word)
            keys, chunks = ((begun.key,), begun.chunks) if begun else ((), 0)
            terms.append(Term(word, (word,), keys, min(index.count_chunks(), chunks)))
            continue
        held = dict([known[term] for name in names[word] for term in found[name] if term in known])
        chunks = max(held.values(), default=0)
        forms = [*names[word]]
        for form in dict.fromkeys(joined.get(word, ())):
            as_one = dict([known[term] for term in found[form] if term in known])
            if as_one and max(as_one.values()) >= _LEAST_JOINED * chunks:
                forms.append(form)
                # Both words are found by it, but it counts once, for the first of them.
                held |= as_one if form.startswith(word) or not held else {}
        terms.append(Term(word, tuple(forms), tuple(held), max(held.values(), default=0)))
    return terms


def _parts_of_unknown(index: SearchedIndex, query: str, words: Sequence[str]) -> dict[str, list[str]]:
    """Return the parts of those words that no note holds as one: of identifiers, and of `rollback`."""
    written, small = {run.lower(): run for run in RUN.findall(query)}, stop_words(language_of(query))
    found = {}
    for word in words:
        cased = parts_of(written.get(word, word))
        if min(map(len, cased), default=0) == 1:  # the letter of `iPhone` that is alone says nothing
            cased = []
        found[word] = parts_of(word) or cased or _split(index, word, small)
    return {word: parts for word, parts in found.items() if parts}


def _split(index: SearchedIndex, word: str, small: Set[str]) -> list[str]:
    """Return the two words that some note holds side by side, if a query has them as one; or nothing.

    The first of them is not a small word: `notable` is not `not able`.
    """
    if not word.isalpha() or not _SHORTEST_SPLIT <= len(word) <= _LONGEST_SPLIT or is_unspaced(word):
        return []
    pairs = [(word[:at], word[at:]) for at in range(3, len(word) - 1) if word[:at] not in small]
    terms = _look_up(index, [*dict.fromkeys(half for pair in pairs for half in pair)])
    known = {term.word for term in terms if term.chunks}
    for pair in pairs:
        if known.issuperset(pair) and index.words.match_phrases(_phrases(index, " ".join(pair)), 1):
            return [*pair]
    return []


def _phrases(index: SearchedIndex, text: str) -> list[Sequence[str]]:
    """Return the terms of a text in each language, to find where they follow each other: "to be or not"."""
    every = [terms_of(text, language) for language in index.languages or ("",)]
    # Of a script without blanks only the pairs follow each other in the index.
    joined = [[term for term in terms if len(term) > 1 or term.isascii()] or terms for terms in every]
    return [*dict.fromkeys(map(tuple, joined))]
