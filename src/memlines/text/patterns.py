"""Compile the word classes of a language's file to regular expressions.

A section of `languages/<code>.toml` is a table of word classes, such as the verbs that ask to remember. A
class is written as lines, any of which may match. A line that begins with `|` continues the line before it.
A line is a regular expression with these abbreviations:

- a blank may have a comma, a colon or a dash before it, because people leave them out;
- ` … ` is a blank with a few words in between, or none;
- `{name}` is another class of the section;
- `{~word}` is a word with its usual slips: a letter missing, doubled, or swapped with the next one;
- `{end}` is the end of a clause, `{colon}` a colon or a dash.

Accents may be written, and do not count. Some sections hold plain regular expressions instead, for text in
lower case with its accents; they are written in the same lines, without abbreviations, and matched in all
languages at once.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import cache, lru_cache

from memlines.paths import languages_with
from memlines.text.language import section

_NAME = re.compile(r"\{(~?)([^\W\d]+)\}")
_LINE_BREAK = re.compile(r"\n\s*\|?")
_BLANK = r"(?:[,:;]? (?:[-–—] )?)"  # noqa: RUF001
_GAP = rf"{_BLANK}(?:.{{1,60}}? )?"
_END = r"(?:(?<= )|(?!\w))"
"""A class ends between two words, or behind a blank where it looked at what follows."""
_SPACING = re.compile(r"\[[^\]]*\]| … | ")
_SPACINGS = {" … ": _GAP, " ": _BLANK}
_BUILT_IN = {"end": r"(?= ?$| ?[,.;:!?–—-])", "colon": "?(?::|-|–|—)"}  # noqa: RUF001
_SIGNS = r"[\s,:;.!?¡¿()\"'«»“”„–—-]+"  # noqa: RUF001


class WordClasses:
    """The word classes of one section of a language, each compiled when it is first used."""

    def __init__(self, code: str, table: Mapping[str, str]) -> None:
        self.code = code
        self._table = table
        self._patterns: dict[tuple[str, str], re.Pattern[str]] = {}

    def words(self, name: str) -> re.Pattern[str]:
        """Return a class as whole words."""
        return self._pattern(name, rf"(?<!\w)(?:{{}}){_END}")

    @property
    def joining(self) -> re.Pattern[str]:
        """What separates two clauses."""
        return self._pattern("joining", r"(?:[,:;()–—]+|(?<= )-) ?|(?<= )(?:{}) ")  # noqa: RUF001

    def before(self, name: str) -> re.Pattern[str]:
        """Return what is cut off the beginning of a text: signs, and the words of a class."""
        # A word that ends with an apostrophe, such as the French "qu'", is whole though a letter follows.
        return self._pattern(name, rf"(?:{_SIGNS}|(?:{{}})(?:(?<=')|(?!\w)))+")

    def behind(self, name: str) -> re.Pattern[str]:
        """Return what is cut off the end of a text, bit by bit: signs, and the words of a class."""
        return self._pattern(name, rf"(?:{_SIGNS}|(?<!\w)(?:{{}}))$")

    def _pattern(self, name: str, around: str) -> re.Pattern[str]:
        compiled = self._patterns.get((name, around))
        if compiled is None:
            # Some languages have no verbs at the end, others few adverbs: such a class never matches.
            pattern = self._expand(f"{{{name}}}") if name in self._table else "(?!)"
            plain = "".join([sign if sign.isascii() or sign == "…" else fold(sign) for sign in pattern])
            spaced = _SPACING.sub(lambda found: _SPACINGS.get(found[0], found[0]), plain)
            compiled = self._patterns[name, around] = re.compile(around.replace("{}", spaced))
        return compiled

    def _expand(self, pattern: str) -> str:
        """Replace the names of classes by what they match."""

        def expand_name(name: re.Match[str]) -> str:
            if name[1]:
                return f"(?:{'|'.join(_slips(fold(name[2])))})"
            return _BUILT_IN.get(name[2]) or f"(?:{self._expand(join_lines(self._table[name[2]]))})"

        return _NAME.sub(expand_name, pattern)


@cache
def word_classes(code: str, use: str) -> WordClasses:
    """Return the word classes that a language has for a use, such as `intent`; empty if it has none."""
    return WordClasses(code, section("any", use) | section(code, use))


@cache
def alternatives(use: str, name: str) -> str:
    """Return a class of plain regular expressions in every language at once, because people mix them."""
    sections = [section(code, use) for code in ("any", *languages_with(use))]
    return "|".join([join_lines(found[name]) for found in sections if name in found])


@cache
def any_language(use: str, name: str) -> re.Pattern[str]:
    """Return a class of plain regular expressions in every language, as whole words."""
    return re.compile(rf"(?<!\w)(?:{alternatives(use, name)})(?!\w)")


def join_lines(lines: str) -> str:
    """Return the lines of a word class as one pattern."""
    return _LINE_BREAK.sub("|", lines.strip())


def fold(text: str) -> str:
    """Return a text in lower case, without accents and odd apostrophes, and exactly as long."""
    return text.lower() if text.isascii() else "".join([_folded(character) for character in text])


@lru_cache(maxsize=1024)
def _folded(character: str) -> str:
    if character in "’‘ʼ´`":  # noqa: RUF001
        return "'"
    return unicodedata.normalize("NFD", character)[0].lower()[0]


@lru_cache(maxsize=256)
def _slips(word: str) -> tuple[str, ...]:
    """Return a word and its usual typing errors behind the first letter."""
    inner = range(1, len(word) - 1)
    missing = [word[:at] + word[at + 1 :] for at in inner]
    doubled = [word[:at] + word[at] + word[at:] for at in inner]
    swapped = [word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in inner]
    return tuple(dict.fromkeys([word, *missing, *doubled, *swapped]))
