"""The words of a query, and which of them say nothing."""

from __future__ import annotations

import re

from memlines.text.language import language_of, stop_words, unspaced_stop_words
from memlines.text.terms import RUN, is_unspaced

_WORD = re.compile(r"\w+")
_CLIPPED = re.compile(
    r"(?<=\w)['\u2019](?:s|t|d|m|ll|ve|re)\b|\b(?:d|l|j|m|t|s|n|c|qu)['\u2019](?=\w)", re.IGNORECASE
)
"""What is left of a small word beside an apostrophe: what's, isn't, d'accord, qu'il."""


def words_of(text: str) -> list[str]:
    """Return the runs of letters, digits and underscores of a text, as they are written."""
    return _WORD.findall(text)


def telling_words(text: str) -> list[str]:
    """Return the distinct words of a query in lower case, without those that say nothing.

    Only the small words of the query's own language count as such: Ben is a name in English and
    a verb in Dutch. A query made of nothing else keeps them: "to be or not to be" is a question
    too. Where a script has no blanks between words, pairs of characters stand for them.
    """
    every, small = _distinct(text), _small(text)
    return [word for word in every if word not in small] or every


def is_small_talk(text: str) -> bool:
    """Tell whether a query has words, and all of them are small ones that say nothing."""
    every = _distinct(text)
    return bool(every) and _small(text).issuperset(every)


def _distinct(text: str) -> list[str]:
    runs = RUN.findall(_CLIPPED.sub(" ", text)) or RUN.findall(text)
    return list(dict.fromkeys(word for run in runs for word in _words_in(run)))


def _small(text: str) -> frozenset[str]:
    return stop_words(language_of(text)) | unspaced_stop_words()


def _words_in(run: str) -> list[str]:
    if is_unspaced(run) and len(run) > 2:
        return [run[at : at + 2] for at in range(len(run) - 1)]
    return [run.lower()] if run.strip("_") else []
