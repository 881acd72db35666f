"""Find tokens by how they begin: one matcher for all formats of `tokens.tsv`, and for unlisted ones.

A token is a long word, so only long words are looked at. In them one expression, grown from all
beginnings as a tree, tells where a token may begin; what has to follow is tried only there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from memlines.text.redaction.values import is_masked, is_random, is_wordy

_TABLE = Path(__file__).with_name("tokens.tsv")
_ALPHABETS = {
    "d": "0-9", "h": "0-9a-f", "H": "0-9A-Fa-f", "l": "a-z0-9", "c": "A-Z0-9", "w": "A-Za-z0-9",
    "u": r"\w-", "b": "A-Za-z0-9+/=", "x": r"\w+/=-", "t": r"\w.=-", "e": r"\w.+/=%~-",
}  # fmt: skip
_PART = re.compile(r"(\d+)(?:(\+)|-(\d+))?([dhHlcwubxte])")
_WORDS_MAY_FOLLOW = frozenset("uxte")
"""Alphabets of which names can be made too, as in `hf_some_name_of_a_variable`."""

SHORTEST = 16
_BEGINS = "[^A-Za-z0-9]"
_ESCAPE = re.compile(r"%(?:0[9AaDd]|2[02678Cc]|3[ABDFabdf]|5[Bb]|7[Bb])|\x1b\[[0-9;]{0,12}m")
"""Signs that separate, as an address writes them, and colours."""

_ENOUGH = 160
_LEAST_DISTINCT = 8
_RANDOM = 12

_LONG = re.compile("[_-][A-Za-z0-9]{30}")
_UNLISTED = re.compile(
    r"(?<![A-Za-z0-9])((?:[a-z][a-z0-9]{1,11}[_-]){1,3})([A-Za-z0-9]{30,})(?![\w+/=-])", re.ASCII
)
_NAMES_NO_SECRET = re.compile(
    r"sha\d*|md5|h1|blake\w*|integrity|toolu|msg|req|call|chatcmpl|resp|run|thread|asst|file|batch|cus|evt|price"
    r"|prod|acct|sub|in|ch|txn|user|usr|org|team|proj|project|session|request|trace|span|id|uid|uuid|etag|commit"
    r"|build|task|job|page|doc|node|img|image|font|chunk|main|index|vendor|build|hash|nonce|cursor|pk"
)
"""Beginnings of identifiers, which are random as well and may be known."""


class _Format(NamedTuple):
    kind: str
    skip: int
    """How many characters the beginning has."""
    rest: str
    more: str
    """What else of any length belongs to it: by far less one can tell whether it is a token."""
    looks_random: bool
    may_be_words: bool


class _Found(NamedTuple):
    """What a token is, as far as it had to be looked at, and what else of it may follow."""

    text: str
    kind: str
    more: str = ""


class Token(NamedTuple):
    """Where a token is, and whose."""

    start: int
    end: int
    kind: str


def find_tokens(text: str, words: str) -> Iterator[Token]:
    """Yield the tokens of a text, given its long words too: they are found there, and then in the text."""
    found: dict[str, _Found] = {}
    beginnings, formats = _matcher()
    place = 0
    while begin := beginnings.search(words, place):
        place = begin.start() + 1
        if one := _token_at(words, place, formats[begin[0][1:]]):
            found.setdefault(one.text, one)
            place += len(one.text)
    if _LONG.search(words):
        for one in _find_unlisted(words):
            found.setdefault(one.text, one)
    for one in found.values():
        start = text.find(one.text)
        while start >= 0:
            end = start + len(one.text)
            if one.more and (rest := _compile(one.more).match(text, end)):
                end = rest.end()
            yield Token(start, end, one.kind)
            start = text.find(one.text, end)


def without_escapes(text: str) -> str:
    """Return a text with blanks for escapes that may stand right before a token."""
    if "\\" in text:
        text = text.replace("\\n", " ").replace("\\t", " ").replace("\\r", " ")
    if "%" in text or "\x1b" in text:
        text = _ESCAPE.sub(" ", text)
    return text


def long_words(plain: str) -> str:
    """Return the words of a text that are long enough for a token, each with a blank before it."""
    return "".join([f" {word}" for word in plain.replace('"', " ").split() if len(word) >= SHORTEST])


def _token_at(words: str, start: int, formats: tuple[_Format, ...]) -> _Found | None:
    for one in formats:
        rest = _compile(one.rest).match(words, start + one.skip)
        if rest is None:
            continue
        body = rest[0]
        if is_masked(body) or len(set(words[start : rest.end()])) < _LEAST_DISTINCT:
            continue
        if one.looks_random and not (is_random(body, _RANDOM) and any(map(str.isdigit, body))):
            continue
        if one.may_be_words and is_wordy(body):
            continue
        return _Found(words[start : rest.end()], one.kind, one.more)
    return None


def _find_unlisted(words: str) -> Iterator[_Found]:
    """Yield what looks like a token of a service that is not listed: a name and a random rest."""
    for match in _UNLISTED.finditer(words):
        body = match[2]
        name = re.split("[_-]", match[1])[0]
        is_mixed_case = not (body.islower() or body.isupper())
        digits = sum(map(str.isdigit, body))
        if not is_mixed_case or digits < 2 or _NAMES_NO_SECRET.fullmatch(name):
            continue
        if is_random(body, 30) and not is_masked(body):
            yield _Found(match[0], "token")


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII)


@cache
def _matcher() -> tuple[re.Pattern[str], dict[str, tuple[_Format, ...]]]:
    """Return the expression for all beginnings, and by beginning the formats to try, the longest first."""
    own: dict[str, list[_Format]] = {}
    for line in _TABLE.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            kind, shape = line.split("\t")
            first, *parts = shape.split()
            looks_random = parts[-1] == "?"
            parts = parts[:-1] if looks_random else parts
            may_be_words = parts[-1][-1] in _WORDS_MAY_FOLLOW
            for beginning in first.split("|"):
                one = _Format(kind, len(beginning), *_patterns(parts), looks_random, may_be_words)
                own.setdefault(beginning, []).append(one)
    formats = {
        beginning: tuple(
            one for size in range(len(beginning), 0, -1) for one in own.get(beginning[:size], ())
        )
        for beginning in own
    }
    return re.compile(_BEGINS + _tree(sorted(own)), re.ASCII), formats


def _patterns(parts: list[str]) -> tuple[str, str]:
    """Return the expressions for what follows a beginning, and for what goes on behind that."""
    pattern = more = ""
    for part in parts:
        number = _PART.fullmatch(part)
        if number is None:
            pattern += re.escape(part)
            continue
        least, is_open, most, alphabet = number.groups()
        signs = _ALPHABETS[alphabet]
        pattern += f"[{signs}]{{{least},{int(least) + _ENOUGH if is_open else most or least}}}"
        if part is not parts[-1]:
            continue
        ends = r"(?<!\.)" if "." in signs else ""
        if is_open:
            pattern, more = pattern + ends, f"[{signs}]*{ends}"
        else:
            pattern += rf"(?![{signs if alphabet in _WORDS_MAY_FOLLOW else 'A-Za-z0-9'}])"
    return pattern, more


def _tree(words: list[str]) -> str:
    """Return an expression for any of some sorted words, of two that fit the longer one."""
    branches: list[str] = []
    ends = False
    place = 0
    while place < len(words):
        if not words[place]:
            ends = True
            place += 1
            continue
        first = words[place][0]
        after = place
        while after < len(words) and words[after][0] == first:
            after += 1
        branches.append(re.escape(first) + _tree([word[1:] for word in words[place:after]]))
        place = after
    if not branches:
        return ""
    joined = branches[0] if len(branches) == 1 and not ends else f"(?:{'|'.join(branches)})"
    return f"{joined}?" if ends else joined
