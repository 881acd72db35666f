"""Cut a message into the sentences that may be kept, and tell which languages they may be in."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from memlines.paths import languages_with
from memlines.text.language import stop_words
from memlines.text.patterns import fold
from memlines.text.speech import Sentence, sentences

LANGUAGES = languages_with("capture")

_WORD = re.compile(r"(?<![\w./-])[^\W\d_]+(?![\w/])")
_TELLING = 2
"""So many small words tell a language."""
_MOST_LANGUAGES = 2
"""A short message may be in one of two; reading more of them takes long, and finds what nobody said."""

_GOES_ON = re.compile(
    r"(?:^|[\s(])(?:napr|tj|tzv|atd|tel|tlf|nar|ul|resp|cca|prof|ing|mgr|mudr|judr|str|hr|fr|dhr|mevr|av|avda|cf|env)\.$"
)
_ENDS_WITH_DAY = re.compile(r"(?:^|\s)\d{1,2}\.$")
_MONTH = re.compile(
    r"(?:jan|feb|mar|apr|mai|jun|jul|aug|sep|okt|nov|dez|led|uno|bre|dub|kve|cer|srp|zar|rij|lis|pro|geb|stock|etage|\d)"
)


def said_in(text: str) -> list[Sentence]:
    """Return the sentences of a message; a short form or the day of a date does not end one."""
    joined: list[Sentence] = []
    for one in sentences(text):
        last = joined[-1] if joined else None
        if last is not None and (
            _GOES_ON.search(last.low) or (_ENDS_WITH_DAY.search(last.low) and _MONTH.match(one.low))
        ):
            joined[-1] = Sentence(f"{last.shown} {one.shown}", f"{last.low} {one.low}")
        else:
            joined.append(one)
    return joined


def spoken(said: Iterable[Sentence]) -> list[str]:
    """Return the languages that some sentences may be in, one or two, the likeliest first."""
    words = [word for sentence in said for word in _WORD.findall(sentence.low)]
    counts = {code: sum([word in _small_words(code) for word in words]) for code in LANGUAGES}
    most = max(counts.values())
    ranked = sorted(LANGUAGES, key=counts.__getitem__, reverse=True)
    return [code for code in ranked[:_MOST_LANGUAGES] if 2 * counts[code] >= most or most < _TELLING]


@lru_cache(maxsize=len(LANGUAGES))
def _small_words(code: str) -> frozenset[str]:
    return frozenset(map(fold, stop_words(code)))
