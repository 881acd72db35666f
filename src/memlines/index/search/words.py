"""Find chunks by the words of a query."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import field, replace
from itertools import accumulate
from operator import attrgetter
from types import MappingProxyType

from memlines.index.search.spelling import correct
from memlines.index.store.sqlite.chunks import (
    LANGUAGE_MARK,
    counts_beginning_with,
    document_counts,
    is_matched,
    match_words,
)
from memlines.index.store.sqlite.db import damaged
from memlines.index.store.sqlite.index import Index
from memlines.index.store.sqlite.reader import IndexState
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
_MOST_COUNTED = 50_000
"""Terms whose counts are kept, until the index changes."""

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
    expression: str
    """What FTS5 is asked for: any of the terms of these that occur, each in the chunks of its languages."""
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
    phrase: str = ""
    """What is searched instead of single words, if the query has small words only."""
    corrections: Mapping[str, str] = field(default_factory=dict)
    """Words that no chunk holds, and those that are searched instead."""


def look_up(
    index: Index, query: str, *, corrects: bool = False, expansion: Expansion = NO_EXPANSION
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
    if any(term.chunks > total for term in terms):
        raise damaged(index.path, "a word is said to be in more chunks than there are")
    # The weight that FTS5's BM25 gives to a word: its inverse document frequency.
    rare = {
        term.word: max(math.log((total - term.chunks + 0.5) / (term.chunks + 0.5)), 0.0) or 1e-6
        for term in terms
        if term.chunks
    }
    # A word that is in no chunk says nothing about how rare it is; it counts like the rarest.
    rarest = max(rare.values(), default=1.0)
    weights = {term.word: rare.get(term.word, rarest) for term in terms}
    phrase = _phrase(index, query) if every and not telling else ""
    return QueryWords(tuple(terms), weights, total, _without_common(terms, total), phrase, corrections)


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
    index: Index, words: QueryWords, limit: int, sources: Sequence[Source], only: Set[int] | None = None
) -> dict[int, float]:
    """Return the chunks that hold any telling word of the query, best first; all or `only` some.

    The score is the chunk's BM25 as a part of what a chunk of average length would get that
    holds every word once. It says how much of the query a chunk covers, rare words counting
    more, and means the same in a small workspace and a large one.
    """
    if words.phrase:
        found = match_words(index.connection, words.phrase, limit, sources, only)
        return {number: COVERED for number, _ in found}
    if not words.searched:
        return {}
    complete = sum(words.weights.values())
    expression = " OR ".join([term.expression for term in words.searched])
    found = match_words(index.connection, expression, limit, sources, only)
    return {number: 1.0 - math.exp(-STEEPNESS * -rank / complete) for number, rank in found}


def find_all(
    index: Index, query: str, limit: int, sources: Sequence[Source], only: Set[int] | None = None
) -> dict[int, float]:
    """Return the chunks that hold every word of the query, scored as OpenClaw does."""
    terms = _look_up(index, list(dict.fromkeys(words_of(query)))[:_MOST_WORDS])
    if not terms:
        return {}
    expression = " AND ".join(term.expression for term in terms)
    found = match_words(index.connection, expression, limit, sources, only)
    return {number: openclaw_score(rank) for number, rank in found}


def find_each(
    index: Index, query: str, limit: int, sources: Sequence[Source], only: Set[int] | None = None
) -> dict[int, float]:
    """Search every keyword by itself, as OpenClaw does without vectors when all together find nothing."""
    best: dict[int, float] = {}
    for term in _look_up(index, telling_words(query)[:_MOST_WORDS]):
        for number, rank in match_words(index.connection, term.expression, limit, sources, only):
            best[number] = max(best.get(number, 0.0), openclaw_score(rank))
    return dict(sorted(best.items(), key=lambda item: -item[1])[:limit])


def openclaw_score(rank: float) -> float:
    """Map an FTS5 rank (negative, lower is better) to OpenClaw's score between 0 and 1."""
    if not math.isfinite(rank):
        return 0.001
    if rank < 0:
        return -rank / (1 - rank)
    return 1 / (1 + rank)


def _look_up(
    index: Index,
    words: Sequence[str],
    joined: Mapping[str, Sequence[str]] = MappingProxyType({}),
    same: Mapping[str, tuple[str, ...]] = NO_EXPANSION.same,
) -> list[Term]:
    """Look up words; each may be `joined` with the one beside it, and others may mean the `same`."""
    state = index.state
    languages = state.languages or ("",)
    # Where that is written in parts, these are found by themselves.
    beside = {one for group in joined.values() for one in group}
    found = {one: query_terms(one, languages, in_parts=False) for one in beside}
    names = {word: (word, *same.get(word, ())) for word in words}
    found |= {one: query_terms(one, languages) for group in names.values() for one in group}
    every = {term for by_term in found.values() for term in by_term}
    marks = [LANGUAGE_MARK + language for language in languages]
    every.update(marks)
    counted = state.terms
    if len(counted) > _MOST_COUNTED:
        counted.clear()
    new = [term for term in every if term not in counted]  # a difference of sets would walk over all counts
    counted |= dict.fromkeys(new, 0) | document_counts(index.connection, new)
    counts = {term: counted[term] for term in every if counted[term]}
    terms = []
    for word in words:
        if not found[word]:
            continue
        if len(word) == 1 and is_unspaced(word):
            # The index keeps the characters of a script without blanks in pairs, so a single one is a prefix.
            every_one = counts_beginning_with(index.connection, word)
            chunks = min(index.count_chunks(), sum(every_one.values()))
            terms.append(Term(word, (word,), f"{_quote(word)} *", chunks))
            continue
        known = _within_languages(index, state, [found[name] for name in names[word]], counts)
        chunks = max(known.values(), default=0)
        forms = [*names[word]]
        for form in dict.fromkeys(joined.get(word, ())):
            as_one = _within_languages(index, state, [found[form]], counts)
            if as_one and max(as_one.values()) >= _LEAST_JOINED * chunks:
                forms.append(form)
                # Both words are found by it, but it counts once, for the first of them.
                known |= as_one if form.startswith(word) or not known else {}
        # A word that occurs nowhere stays as it was written.
        expression = f"({' OR '.join(known or [_quote(word)])})"
        terms.append(Term(word, tuple(forms), expression, max(known.values(), default=0)))
    return terms


def _within_languages(
    index: Index, state: IndexState, groups: Iterable[Mapping[str, Sequence[str]]], counts: Mapping[str, int]
) -> dict[str, int]:
    """Return what finds terms only in chunks of their languages, and in how many at most, if they occur.

    Stems of different languages may be the same: German cuts `bother` to `both`, which English notes hold as
    another word. `counts` has the chunks of every term and of the mark of every language.
    """
    found: dict[str, int] = {}
    for term, spoken in ((term, spoken) for group in groups for term, spoken in group.items()):
        expression, most = _quote(term), counts.get(term, 0)
        marks = {LANGUAGE_MARK + one: one in spoken for one in state.languages if most}
        own = [_quote(mark) for mark, is_own in marks.items() if is_own and mark in counts]
        others = [_quote(mark) for mark, is_own in marks.items() if not is_own and mark in counts]
        if not own and others:
            continue
        if others:
            chunks = sum(counts.get(mark, 0) for mark, is_own in marks.items() if is_own)
            foreign = sum(counts.get(mark, 0) for mark, is_own in marks.items() if not is_own)
            most = min(most, chunks)
            is_in = {}
            for group in (own, others):
                both = f"{expression} AND ({' OR '.join(group)})"
                if both not in state.terms:
                    state.terms[both] = int(is_matched(index.connection, both))
                is_in[group[0]] = state.terms[both]
            if not is_in[own[0]]:
                continue
            # Few terms are in chunks of other languages; leaving these out takes as long as all the rest.
            if is_in[others[0]]:
                # Whichever has fewer chunks is looked through sooner.
                narrow = f"NOT ({' OR '.join(others)})" if chunks > foreign else f"AND ({' OR '.join(own)})"
                expression = f"({expression} {narrow})"
        if most:
            found[expression] = most
    return found


def _parts_of_unknown(index: Index, query: str, words: Sequence[str]) -> dict[str, list[str]]:
    """Return the parts of those words that no note holds as one: of identifiers, and of `rollback`."""
    written, small = {run.lower(): run for run in RUN.findall(query)}, stop_words(language_of(query))
    found = {}
    for word in words:
        cased = parts_of(written.get(word, word))
        if min(map(len, cased), default=0) == 1:  # the letter of `iPhone` that is alone says nothing
            cased = []
        found[word] = parts_of(word) or cased or _split(index, word, small)
    return {word: parts for word, parts in found.items() if parts}


def _split(index: Index, word: str, small: Set[str]) -> list[str]:
    """Return the two words that some note holds side by side, if a query has them as one; or nothing.

    The first of them is not a small word: `notable` is not `not able`.
    """
    if not word.isalpha() or not _SHORTEST_SPLIT <= len(word) <= _LONGEST_SPLIT or is_unspaced(word):
        return []
    pairs = [(word[:at], word[at:]) for at in range(3, len(word) - 1) if word[:at] not in small]
    terms = _look_up(index, [*dict.fromkeys(half for pair in pairs for half in pair)])
    known = {term.word for term in terms if term.chunks}
    for pair in pairs:
        if known.issuperset(pair) and is_matched(index.connection, _phrase(index, " ".join(pair))):
            return [*pair]
    return []


def _phrase(index: Index, text: str) -> str:
    """Return what finds the words of a text only where they follow each other: "to be or not to be"."""
    every = [terms_of(text, language) for language in index.state.languages or ("",)]
    # Of a script without blanks only the pairs follow each other in the index.
    joined = [[term for term in terms if len(term) > 1 or term.isascii()] or terms for terms in every]
    return " OR ".join(dict.fromkeys("(" + " + ".join(map(_quote, terms)) + ")" for terms in joined))


def _quote(word: str) -> str:
    """Quote a word so that FTS5 reads it as one word, whatever it contains."""
    return '"' + word.replace('"', '""') + '"'
