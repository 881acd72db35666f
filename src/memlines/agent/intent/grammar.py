"""How the cues of a language are written down, and how they become patterns.

A language is a table of word classes, such as the verbs that ask to remember, or what names the time of
earlier talks. A class is written as lines, any of which may be met; a long one is broken at a `|`, because
lines are joined with it. A line is a regular expression with these abbreviations:

- a blank may have a comma, a colon or a dash before it, because people leave them out;
- ` … ` is a blank with a few words in between, or none;
- `{name}` is another class of the language;
- `{~word}` is a word with its usual slips: a letter missing, doubled, or swapped with the next one;
- `{end}` is the end of a clause, `{colon}` a colon or a dash.

Accents may be written, and do not count.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from memlines.agent.intent.speech import folded

_NAME = re.compile(r"\{(~?)([^\W\d]+)\}")
_BLANK = r"(?:[,:;]? (?:[-–—] )?)"  # noqa: RUF001
_GAP = rf"{_BLANK}(?:.{{1,60}}? )?"
_END = r"(?:(?<= )|(?!\w))"
"""A cue ends between two words, or behind a blank where it looked at what follows."""
_SPACING = re.compile(r"\[[^\]]*\]| … | ")
_SPACINGS = {" … ": _GAP, " ": _BLANK}
_BUILT_IN = {"end": r"(?= ?$| ?[,.;:!?–—-])", "colon": "?(?::|-|–|—)"}  # noqa: RUF001
_SIGNS = r"[\s,:;.!?¡¿()\"'«»“”„–—-]+"  # noqa: RUF001


class Grammar:
    """A language whose word classes become patterns when they are first looked for."""

    def __init__(self, code: str, table: Mapping[str, str]) -> None:
        self.code = code
        self._table = table
        self._patterns: dict[tuple[str, str], re.Pattern[str]] = {}

    def __contains__(self, name: object) -> bool:
        """Tell whether the language has a class: some have no verbs at the end, others few adverbs."""
        return name in self._table

    def words(self, name: str) -> re.Pattern[str]:
        """Return a class, as whole words."""
        return self._pattern(name, rf"(?<!\w)(?:{{}}){_END}")

    @property
    def joining(self) -> re.Pattern[str]:
        """What may stand between two clauses."""
        return self._pattern("joining", r"(?:[,:;()–—]+|(?<= )-) ?|(?<= )(?:{}) ")  # noqa: RUF001

    def before(self, name: str) -> re.Pattern[str]:
        """Return what is cut off the beginning of a text: signs, and the words of a class.

        A word that ends with an apostrophe, such as the French "qu'", is whole though a letter follows.
        """
        return self._pattern(name, rf"(?:{_SIGNS}|(?:{{}})(?:(?<=')|(?!\w)))+")

    def behind(self, name: str) -> re.Pattern[str]:
        """Return what is cut off the end of a text, bit by bit: signs, and the words of a class."""
        return self._pattern(name, rf"(?:{_SIGNS}|(?<!\w)(?:{{}}))$")

    def _pattern(self, name: str, around: str) -> re.Pattern[str]:
        made = self._patterns.get((name, around))
        if made is None:
            made = re.compile(around.replace("{}", _expanded(f"{{{name}}}", self._table)))
            self._patterns[name, around] = made
        return made


def _expanded(pattern: str, table: Mapping[str, str]) -> str:
    named = _named(pattern, table)
    plain = "".join([sign if sign.isascii() or sign == "…" else folded(sign) for sign in named])
    return _SPACING.sub(lambda found: _SPACINGS.get(found[0], found[0]), plain)


def _named(pattern: str, table: Mapping[str, str]) -> str:
    def replaced(name: re.Match[str]) -> str:
        if name[1]:
            return f"(?:{'|'.join(_slips(folded(name[2])))})"
        if name[2] in _BUILT_IN:
            return _BUILT_IN[name[2]]
        lines = [line.strip() for line in table[name[2]].splitlines()]
        return f"(?:{'|'.join(_named(line, table) for line in lines if line)})"

    return _NAME.sub(replaced, pattern)


@lru_cache(maxsize=256)
def _slips(word: str) -> tuple[str, ...]:
    """Return a word and what comes of it by a slip of the fingers behind its first letter."""
    inner = range(1, len(word) - 1)
    missing = [word[:at] + word[at + 1 :] for at in inner]
    doubled = [word[:at] + word[at] + word[at:] for at in inner]
    swapped = [word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in inner]
    return tuple(dict.fromkeys([word, *missing, *doubled, *swapped]))
