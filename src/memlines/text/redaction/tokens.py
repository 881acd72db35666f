"""Distinguish secrets from words, placeholders and code, and find tokens by how they begin.

Functions of a value read the value alone; functions of a match read the text around it as well.

A token is a long word, so only long words are searched. One expression, built from all beginnings in
`tokens.tsv` as a tree, finds where a token may begin; what has to follow is tried only there. What looks like
a token of a service that is not listed is found too.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_VOWEL = re.compile(r"[aeiouyAEIOUY]")
_WORD_LENGTH, _SPOKEN_SHARE = 3.3, 0.75
"""Of random letters and digits, about one in a hundred reads as words by these measures."""

_HEX = re.compile(r"(?:0x)?[0-9a-fA-F]+(?:-[0-9a-fA-F]+)*")
_VARIABLE = re.compile(
    r"""
    \$\{?[\w.:-]*\}? | \$\(.* | \$\{.* | <.* | \{.* | \[.* | \(.* | %[\w(].{0,40}[%)]?[sdr%]? | \#\{.* | @\w+@
    | !\w+.* | \*\w* | &\w+ | [|>][-+]? | \\+.*
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_STAND_INS = frozenset((
    "your", "my", "our", "the", "a", "an", "some", "any", "this", "that", "not", "example", "sample",
    "dummy", "fake", "mock", "placeholder", "insert", "enter", "put", "replace", "change", "paste", "todo",
    "tbd", "fixme", "none", "null", "nil", "undef", "undefined", "true", "false", "yes", "no", "on", "off",
    "empty", "blank", "redacted", "removed", "hidden", "masked", "omitted", "required", "optional",
    "default", "unset", "missing", "invalid", "wrong", "n", "n/a", "na", "foo", "bar", "baz", "foobar",
    "test", "testing", "value", "val", "string", "str", "text", "bytes", "int", "bool", "boolean", "number",
    "object", "type", "field", "input", "password", "passwd", "passphrase", "pwd", "pass", "secret",
    "token", "key", "apikey", "api", "access", "auth", "user", "username", "admin", "login", "name",
    "email", "id", "prompt", "here", "abc", "changeme", "changeit", "letters", "see", "use", "get", "set",
    "env", "file", "xxx",
))  # fmt: skip
_BETWEEN_WORDS = re.compile(r"[-_. :/]")
_MASKS = ("...", "…", "***", "•••", "xxxx", "XXXX", "EXAMPLE")
_PATH = re.compile(r"(?:~|\.{1,2})?/[\w.-]+(?:/|$)|[A-Za-z]:\\|\w+://", re.ASCII)


def is_wordy(value: str) -> bool:
    """Return whether a value reads as words or names: long parts, with vowels, hardly any numbers."""
    parts = _PARTS.findall(value)
    words = [part for part in parts if not part[0].isdigit()]
    if not words or len(parts) - len(words) > 1 + len(value) // 16:
        return False
    long = [word for word in words if len(word) > 2]
    spoken = [word for word in long if _VOWEL.search(word)]
    return sum(map(len, words)) >= _WORD_LENGTH * len(words) and len(spoken) >= _SPOKEN_SHARE * len(long)


def is_random(value: str, shortest: int) -> bool:
    """Return whether a value looks drawn by lot: long enough, of many characters, and no words."""
    if len(value) < shortest or len(set(value)) < min(8, shortest - 1):
        return False
    return (is_mixed(value) or not (value.islower() or value.isupper())) and not is_wordy(value)


def is_mixed(value: str) -> bool:
    """Return whether a value has digits and letters."""
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def is_hex(value: str) -> bool:
    """Return whether a value may be a hash or a UUID."""
    return _HEX.fullmatch(value) is not None


def is_path(value: str) -> bool:
    """Return whether a value names a place on a disk or in the web."""
    return _PATH.match(value) is not None


def is_masked(value: str) -> bool:
    """Return whether a value was made unreadable, or was an example from the beginning."""
    return len(set(value)) < 3 or any(mark in value for mark in _MASKS)


def is_placeholder(value: str) -> bool:
    """Return whether a value is only a placeholder: a variable, an example, a mask, a type."""
    bare = value.strip(" \t.,;:!?")
    if is_masked(bare) or _VARIABLE.fullmatch(bare):
        return True
    first, *rest = _BETWEEN_WORDS.split(bare, maxsplit=1)
    return first.lower() in _STAND_INS and not is_random("".join(rest), 10)


_BEFORE_A_WORD = re.compile(r"(?:^|[^A-Za-z0-9]|\\[nrt]|%[0-9A-Fa-f]{2}|\x1b\[[0-9;]{0,12}m)\Z")
_LONGER_BEFORE = re.compile(r"(?<!\\)[\w.+/#*-]\Z|[0-9]{2,4}[ -]\Z")
_LONGER_AFTER = re.compile(r"\w|[.-][0-9A-Za-z]|[/*]")
_ISSUERS = re.compile(r"4|5[1-5]|2(?:2[2-9]|[3-6]|7[01]|720)|3[47]|35|6(?:011|4[4-9]|5|2)")
_PORTS = re.compile(r"[0-9.]+(?::[0-9]+)+|[0-9]{1,5}[?#].*")
_KEY_MATERIAL = re.compile(r"[A-Za-z0-9+/=]{20}")


def secret_in(match: re.Match[str]) -> str:
    """Return the secret of a match: what its last group holds, or all of it."""
    secret: str = match[match.lastindex or 0]
    return secret


def is_token(match: re.Match[str]) -> bool:
    """Return whether a token is no part of a longer word, and neither masked nor an example."""
    start = match.start()
    if not _BEFORE_A_WORD.search(match.string, max(0, start - 16), start):
        return False
    return not is_masked(secret_in(match)) and len(set(secret_in(match))) >= 8


def is_jwt(match: re.Match[str]) -> bool:
    """Return whether the header of a token is the JSON that one has."""
    header = match[0].partition(".")[0]
    try:
        return isinstance(json.loads(_decode(header)), dict)
    except (ValueError, RecursionError):
        return False


def is_basic(match: re.Match[str]) -> bool:
    """Return whether Base64 holds a name and a password."""
    try:
        held = _decode(secret_in(match)).decode()
    except ValueError:
        return False
    return ":" in held and held.isprintable()


def _decode(encoded: str) -> bytes:
    return base64.b64decode(encoded + "=" * (-len(encoded) % 4), altchars="-_" if "-" in encoded else None)


def is_credential(match: re.Match[str]) -> bool:
    """Return whether what a header says is more than a word."""
    secret = secret_in(match)
    return len(secret) >= 8 and not is_placeholder(secret) and (is_mixed(secret) or is_random(secret, 8))


def is_cookie(match: re.Match[str]) -> bool:
    """Return whether one of the values of a cookie is random enough to open a session."""
    values = [pair.partition("=")[2].strip() for pair in secret_in(match).split(";")]
    return any(is_random(value, 8) and not is_placeholder(value) for value in values)


def is_card(match: re.Match[str]) -> bool:
    """Return whether digits are the number of a card: of an issuer, with its check digit, alone."""
    start, end = match.span()
    is_longer = _LONGER_BEFORE.search(match.string, max(0, start - 6), start)
    if is_longer or _LONGER_AFTER.match(match.string, end):
        return False
    digits = re.sub(r"[ -]", "", match[0])
    if not _ISSUERS.match(digits) or len(set(digits)) == 1:
        return False
    reverse = [int(digit) for digit in reversed(digits)]
    doubled = [sum(divmod(2 * digit, 10)) for digit in reverse[1::2]]
    return (sum(reverse[::2]) + sum(doubled)) % 10 == 0


def is_key_block(match: re.Match[str]) -> bool:
    """Return whether there is a key between the markers of one."""
    return _KEY_MATERIAL.search(match[0]) is not None


def is_given(match: re.Match[str]) -> bool:
    """Return whether a value in the place of a password is one."""
    secret = secret_in(match)
    return not (is_placeholder(secret) or is_path(secret) or _PORTS.fullmatch(secret))


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
    """The rest of any length that belongs to it; much less is enough to recognise a token."""
    looks_random: bool
    may_be_words: bool


class _Found(NamedTuple):
    """A token as far as it had to be read, and what else of it may follow."""

    text: str
    kind: str
    more: str = ""


def find_tokens(text: str, words: str) -> Iterator[tuple[int, int, str]]:
    """Yield where the tokens of a text begin and end, and their kinds; they are found in its long words."""
    if not words:
        return  # and compile nothing
    found: dict[str, _Found] = {}
    beginnings, formats = _matcher()
    place = 0
    while begin := beginnings.search(words, place):
        place = begin.start() + 1
        if one := _token_at(words, place, formats[begin[0][1:]]):
            found.setdefault(one.text, one)
            place += len(one.text)
    for one in _find_unlisted(words):
        found.setdefault(one.text, one)
    for one in found.values():
        start = text.find(one.text)
        while start >= 0:
            end = start + len(one.text)
            if one.more and (rest := compile_ascii(one.more).match(text, end)):
                end = rest.end()
            yield start, end, one.kind
            start = text.find(one.text, end)


def without_escapes(text: str) -> str:
    """Return a text with blanks for escapes that may be right before a token."""
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
        rest = compile_ascii(one.rest).match(words, start + one.skip)
        if rest is None:
            continue
        body = rest[0]
        if is_masked(body) or len(set(words[start : rest.end()])) < _LEAST_DISTINCT:
            continue
        if one.looks_random and not (is_random(body, _RANDOM) and any(map(str.isdigit, body))):
            continue
        # Letters drawn by lot may read like words; a name has its words apart, or hardly any digits in them.
        if one.may_be_words and is_wordy(body) and not (body.isalnum() and _is_drawn(body)):
            continue
        return _Found(words[start : rest.end()], one.kind, one.more)
    return None


def _find_unlisted(words: str) -> Iterator[_Found]:
    """Yield what looks like a token of a service that is not listed: a name and a random rest."""
    for match in _UNLISTED.finditer(words) if _LONG.search(words) else ():
        body = match[2]
        names_no_secret = _NAMES_NO_SECRET.fullmatch(re.split("[_-]", match[1])[0])
        if _is_drawn(body) and not names_no_secret and is_random(body, 30) and not is_masked(body):
            yield _Found(match[0], "token")


def _is_drawn(body: str) -> bool:
    """Return whether letters and digits look drawn by lot: in both cases, and with several digits."""
    return not (body.islower() or body.isupper()) and sum(map(str.isdigit, body)) > 1


@cache
def compile_ascii(pattern: str) -> re.Pattern[str]:
    """Compile a pattern when the first text may match it: most are never needed in a short run."""
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
    groups = groupby(filter(None, words), key=itemgetter(0))
    branches = [re.escape(first) + _tree([word[1:] for word in group]) for first, group in groups]
    if not branches:
        return ""
    return f"(?:{'|'.join(branches)})" + ("?" if "" in words else "")
