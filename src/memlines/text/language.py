"""Read the files of the languages, and recognise the language of a text and its stop words.

`languages/<code>.toml` holds everything that is known of a language, in one section for each use, and
`languages/any.toml` what holds in any language. A language may lack sections: then that use does not know it.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from memlines.paths import LANGUAGES_DIR, languages_with

_WORD = re.compile(r"[^\W\d_]{2,}|(?<!['\u2019])[^\W\d_]|(?<=['\u2019])[^\W\d_dmst]")
"""A word, without the letter behind the apostrophe of what's and isn't: English would look like French."""
_MARKED_WORD = re.compile("['\u2019]?[^\\W\\d_]+")
_ASCII_LETTERS = "".join(chr(code) if chr(code).isalpha() or chr(code) == "'" else " " for code in range(128))
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]{2}")
_UNLEARNED = re.compile("[ěščřžůďťňđőűășțāēīūņģķļėųåø]", re.IGNORECASE)
_SURELY = 3
_LOOKED_AT = 4_000
"""Characters of a text that are enough to recognise its language."""


@cache
def section(code: str, name: str) -> dict[str, Any]:
    """Return one section of a language's file; empty if it has none.

    Only the lines of the section are parsed, because most uses need one section of a long file.
    """
    text = (LANGUAGES_DIR / f"{code}.toml").read_text(encoding="utf-8")
    start = text.find(f"\n[{name}]\n")
    if start < 0:
        return {}
    import tomllib

    end = text.find("\n[", start + 1)
    parsed: dict[str, Any] = tomllib.loads(text[start : end if end > 0 else None])[name]
    return parsed


@cache
def stop_words(code: str) -> frozenset[str]:
    """Return the words that say nothing: a query leaves them out as long as another word remains."""
    return frozenset(section(code, "words").get("stop_words", "").split())


@cache
def unspaced_stop_words() -> frozenset[str]:
    """Return the stop words of the languages that put no blanks between words."""
    codes = [code for code in languages_with("words") if section(code, "words").get("unspaced")]
    return frozenset().union(*map(stop_words, codes))


@cache
def stemmers() -> dict[str, str]:
    """Return the Snowball algorithm of every language whose words are cut to their stems."""
    found = {code: section(code, "words").get("stemmer", "") for code in languages_with("words")}
    return {code: algorithm for code, algorithm in found.items() if algorithm}


def language_of(text: str) -> str:
    """Return the language of a text among those that are stemmed; English if it does not show.

    The stop words decide: they are the most frequent ones of any text, and each language has its own. A text
    without them (a list of names, a line of code) is mostly written with English words.
    """
    counts = _count_stop_words(text)
    return max(counts, key=counts.__getitem__)


def is_foreign(query: str, text: str) -> bool:
    """Return whether a text is surely in another language than a query, so that both share few words."""
    begins = query[:_LOOKED_AT], text[:_LOOKED_AT]
    unspaced, other = [2 * len(_UNSPACED.findall(one)) > len(_WORD.findall(one)) for one in begins]
    if unspaced != other:
        return True
    # Names and quotations bring a few stop words of other languages into any text.
    asked, written = _count_stop_words(query), _count_stop_words(text)
    spoken = max(asked, key=asked.__getitem__)
    return not unspaced and asked[spoken] > 0 and max(written.values()) > _SURELY * (written[spoken] + 1)


def is_unlearned(text: str) -> bool:
    """Return whether the letters of a text are of a European language that the builtin model did not learn.

    To the model all texts of such a language, Czech for example, are similar, whatever they say.
    """
    return bool(_UNLEARNED.search(text[:_LOOKED_AT]))


def _count_stop_words(text: str) -> dict[str, int]:
    start = text[:_LOOKED_AT].lower()
    if start.isascii():  # much quicker than a pattern
        words = start.translate(_ASCII_LETTERS).replace("'", " '").split()
    else:
        words = _MARKED_WORD.findall(start)
    counts = dict.fromkeys(stemmers(), 0)
    for codes in filter(None, map(_languages_of_words().get, words)):
        for code in codes:
            counts[code] += 1
    return counts


@cache
def _languages_of_words() -> dict[str, tuple[str, ...]]:
    """Return the languages of every stop word, also with the apostrophe that may be before it."""
    words = frozenset().union(*map(stop_words, stemmers()))
    every = {word: tuple(code for code in stemmers() if word in stop_words(code)) for word in words}
    marked = {mark + word: every[word] for word in every for mark in "'\u2019" if _WORD.search(mark + word)}
    return every | marked
