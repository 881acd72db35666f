"""Return whether a text records a decision, in any language that has words for it.

One rule for what a flush writes down as a decision and for what a recall lists as one. A text that says that
nothing was decided, asks who decided, or supposes that someone decides records none. The words are in the
sections `[decisions]` and `[cues]` of the languages' files.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import NamedTuple

from memlines.text.patterns import alternatives, any_language
from memlines.text.terms import is_small_talk, words_of

_END = re.compile(r"[.!?\n]")
_NEAR = 300
"""Characters before and behind a decision that belong to its sentence at most."""


class _Patterns(NamedTuple):
    said: tuple[re.Pattern[str], ...]
    """What records a decision: verbs with any subject, and nouns that announce one ("Decision: tabs")."""
    title: re.Pattern[str]
    clause: re.Pattern[str]
    """Where a clause begins."""
    pending: re.Pattern[str]
    placeholder: re.Pattern[str]
    """What a template has where something should be written: "(none yet)", "<text>", "TBD"."""


@cache
def _patterns() -> _Patterns:
    def words(name: str) -> str:
        return f"(?:{alternatives('decisions', name)})"

    noun = words("noun")
    named = re.compile(
        rf"(?:^|[.!?;] ?)[-+*\d.:\t ]*(?:{words('articles')} )*(?:{noun}(?= ?(?:[:–—(-]|$))"  # noqa: RUF001
        rf"|{words('choice')} ?:|\[decision\](?= ))"
        rf"|(?<!\w){noun} {words('made')}(?!\w)",
        re.MULTILINE,
    )
    return _Patterns(
        (
            any_language("cues", "decision"),
            any_language("cues", "plan"),
            any_language("decisions", "recorded"),
            named,
        ),
        title=re.compile(rf"(?<!\w)(?:{noun}|{words('decided')})(?!\w)"),
        clause=re.compile(rf"[,;:.!?\n()–—]|(?<!\w){words('joining')}(?!\w)"),  # noqa: RUF001
        pending=re.compile(rf" (?:{words('still')} )?{words('pending')}(?!\w)"),
        placeholder=re.compile(
            rf"[\W_]*(?:{words('placeholder')}(?: {words('yet')})?[\W_]*){{0,4}}"
            r"|[-+* ]*[<\[{(][^<>\[\](){}]*[>\]})]\W*"
        ),
    )


def is_decision(text: str, heading: str = "") -> bool:
    """Return whether an entry of a note records a decision, by its words or by the headings above it."""
    low = compose(text).lower()
    if any(is_said(pattern, low) for pattern in _patterns().said):
        return True
    if _patterns().placeholder.fullmatch(low) or may_be_decision(low):
        return False
    is_title, is_open = _patterns().title, any_language("decisions", "open")
    titles = compose(heading).lower().split(" > ")
    return any(is_title.search(title) and not is_open.search(title) for title in titles)


def asks_for_decisions(question: str) -> bool:
    """Return whether a question asks for decisions and for nothing else, as "What did we decide?" does."""
    rest, found = any_language("decisions", "question").subn(" ", compose(question).lower())
    return found > 0 and not (words_of(rest) and not is_small_talk(rest))


def may_be_decision(low: str) -> bool:
    """Return whether a text in lower case has words of a decision, if only to say that none was taken."""
    return any(pattern.search(low) for pattern in (_patterns().title, *_patterns().said))


def is_said(pattern: re.Pattern[str], low: str) -> bool:
    """Return whether a pattern is in a text in lower case that neither denies, asks nor supposes it."""
    return any(_is_meant(found, low) for found in pattern.finditer(low))


def compose(text: str) -> str:
    """Return a text as the patterns expect it, but for its case: composed, with plain apostrophes."""
    return unicodedata.normalize("NFC", text).replace("\u2019", "'")


def _is_meant(found: re.Match[str], low: str) -> bool:
    near = max(0, found.start() - _NEAR)
    borders = _patterns().clause.finditer(low, near, found.start())
    begin = max([border.end() for border in borders], default=near)
    denied = any_language("decisions", "not").search(low, begin, found.end())
    if denied and not any_language("decisions", "rather").search(low, denied.end(), found.end()):
        return False
    if _patterns().pending.match(low, found.end()):
        return False
    end = _END.search(low, found.end(), found.end() + _NEAR)
    return end is None or end[0] != "?"
