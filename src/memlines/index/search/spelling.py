"""Find what a misspelt word of a query means, among the words that the notes have.

A word that no chunk holds is compared with those that one slip makes of it: two letters swapped, one doubled,
left out, added or replaced. Slips are looked up in the index's own vocabulary, so names and jargon count as
words, and nothing is kept beside the index. Because the index keeps stems, a slip only counts if a chunk that
holds its stem has that word or a longer form of it. The first letter is nearly always right.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import nlargest
from string import ascii_lowercase

from memlines.index.store.base import SearchedIndex
from memlines.text.terms import fold_words, stem_words, title_of, words_of

_LONGEST = 30
_SWAPPED_FROM = 4
_MISSING_FROM = 6
_REPLACED_FROM = 7
"""Letters that a word needs for each kind of slip: of a short one, many other words are one slip away."""

_MOST_CORRECTED = 5
"""Words of one query: each is looked up in some hundred forms."""

_SAME = 3
"""Letters that most slips leave alone."""

_TRIED, _READ = 6, 3
"""Slips with a known stem that are looked for in chunks, each in so many of them."""


def correct(index: SearchedIndex, words: Sequence[str], language: str) -> dict[str, str]:
    """Return for words that no chunk holds the word that was probably meant, if there is one."""
    folded = zip(words, fold_words(words), strict=True)
    wrong = [
        (word, plain)
        for word, plain in folded
        if len(plain) <= _LONGEST and plain.isascii() and plain.isalpha()
    ]
    found = {word: _closest(index, plain, language) for word, plain in wrong[:_MOST_CORRECTED]}
    return {word: meant for word, meant in found.items() if meant}


def _closest(index: SearchedIndex, word: str, language: str) -> str:
    """Return the most frequent word that one slip makes of another, usual slips first; empty without one."""
    for forms in _slips(word):
        stems = stem_words(forms, language)
        counts = index.words.count_stems({*stems}, word[:_SAME])
        known = {form: stem for form, stem in zip(forms, stems, strict=True) if stem in counts}
        for form in nlargest(_TRIED, known, key=lambda form: counts[known[form]]):
            if word_in_notes := _find(index, form, known[form]):
                return word_in_notes
    return ""


def _find(index: SearchedIndex, form: str, stem: str) -> str:
    """Return the shortest word that begins with another and has its stem, in a chunk that holds the stem."""
    for chunk in index.chunks(index.words.holding(stem, _READ)).values():
        words = fold_words(words_of(f"{title_of(chunk.path, chunk.heading)} {chunk.text}".casefold()))
        alike = {word for word in words if word.startswith(form)}
        forms = [word for word in alike if stem_words([word], chunk.language)[0] == stem]
        if forms:
            return min(forms, key=lambda word: (len(word), word))
    return ""


def _slips(word: str) -> tuple[list[str], list[str]]:
    """Return what a word may have been: two letters swapped or one doubled, and any other slip."""
    inner, usual, others = range(1, len(word)), [], []
    if len(word) >= _SWAPPED_FROM:
        usual = [word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in inner[:-1]]
        usual += [word[:at] + word[at + 1 :] for at in inner if word[at] == word[at - 1]]
        usual += [word[:at] + word[at - 1] + word[at:] for at in range(1, len(word) + 1)]
    if len(word) >= _MISSING_FROM:
        others = [word[:at] + word[at + 1 :] for at in inner]
        others += [word[:at] + one + word[at:] for at in range(1, len(word) + 1) for one in ascii_lowercase]
    if len(word) >= _REPLACED_FROM:
        others += [word[:at] + one + word[at + 1 :] for at in inner for one in ascii_lowercase]
    return [*dict.fromkeys(usual)], [*dict.fromkeys(others)]
