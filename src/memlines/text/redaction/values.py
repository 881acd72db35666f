"""Tell what may be a secret from words, placeholders and code; check what a pattern matched.

Functions of a value look at the text alone; functions of a match look at what stands around it as well.
"""

from __future__ import annotations

import base64
import json
import re

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
    """Tell whether a value reads as words or names: parts of some length, with vowels, hardly any numbers."""
    parts = _PARTS.findall(value)
    words = [part for part in parts if not part[0].isdigit()]
    if not words or len(parts) - len(words) > 1 + len(value) // 16:
        return False
    long = [word for word in words if len(word) > 2]
    spoken = [word for word in long if _VOWEL.search(word)]
    return sum(map(len, words)) >= _WORD_LENGTH * len(words) and len(spoken) >= _SPOKEN_SHARE * len(long)


def is_random(value: str, shortest: int) -> bool:
    """Tell whether a value looks drawn by lot: long enough, of many characters, and no words."""
    if len(value) < shortest or len(set(value)) < min(8, shortest - 1):
        return False
    return (is_mixed(value) or not (value.islower() or value.isupper())) and not is_wordy(value)


def is_mixed(value: str) -> bool:
    """Tell whether a value has digits and letters."""
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def is_hex(value: str) -> bool:
    """Tell whether a value may be a hash or a UUID."""
    return _HEX.fullmatch(value) is not None


def is_path(value: str) -> bool:
    """Tell whether a value names a place on a disk or in the web."""
    return _PATH.match(value) is not None


def is_masked(value: str) -> bool:
    """Tell whether a value was made unreadable, or was an example from the beginning."""
    return len(set(value)) < 3 or any(mark in value for mark in _MASKS)


def is_placeholder(value: str) -> bool:
    """Tell whether a value only stands for a secret: a variable, an example, a mask, a type."""
    bare = value.strip(" \t.,;:!?")
    if is_masked(bare) or _VARIABLE.fullmatch(bare):
        return True
    first, *rest = _BETWEEN_WORDS.split(bare, maxsplit=1)
    return first.lower() in _STAND_INS and not is_random("".join(rest), 10)


def passes_luhn(digits: str) -> bool:
    """Tell whether the last digit of a number is the check digit of the others."""
    total = 0
    for place, digit in enumerate(map(int, reversed(digits))):
        doubled = digit * 2 if place % 2 else digit
        total += doubled - 9 if doubled > 9 else doubled
    return total % 10 == 0


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
    """Tell whether a token is no part of a longer word, and neither masked nor an example."""
    start = match.start()
    if not _BEFORE_A_WORD.search(match.string, max(0, start - 16), start):
        return False
    return not is_masked(secret_in(match)) and len(set(secret_in(match))) >= 8


def is_jwt(match: re.Match[str]) -> bool:
    """Tell whether the header of a token is the JSON that one has."""
    header = match[0].partition(".")[0]
    try:
        return isinstance(json.loads(_decode(header)), dict)
    except (ValueError, RecursionError):
        return False


def is_basic(match: re.Match[str]) -> bool:
    """Tell whether Base64 holds a name and a password."""
    try:
        held = _decode(secret_in(match)).decode()
    except ValueError:
        return False
    return ":" in held and held.isprintable()


def _decode(encoded: str) -> bytes:
    return base64.b64decode(encoded + "=" * (-len(encoded) % 4), altchars="-_" if "-" in encoded else None)


def is_credential(match: re.Match[str]) -> bool:
    """Tell whether what a header says is more than a word."""
    secret = secret_in(match)
    return len(secret) >= 8 and not is_placeholder(secret) and (is_mixed(secret) or is_random(secret, 8))


def is_cookie(match: re.Match[str]) -> bool:
    """Tell whether one of the values of a cookie is random enough to open a session."""
    values = [pair.partition("=")[2].strip() for pair in secret_in(match).split(";")]
    return any(is_random(value, 8) and not is_placeholder(value) for value in values)


def is_card(match: re.Match[str]) -> bool:
    """Tell whether digits are the number of a card: an issuer's, with its check digit, and by themselves."""
    start, end = match.span()
    if _LONGER_BEFORE.search(match.string, max(0, start - 6), start):
        return False
    if _LONGER_AFTER.match(match.string, end):
        return False
    digits = re.sub(r"[ -]", "", match[0])
    return bool(_ISSUERS.match(digits)) and passes_luhn(digits) and len(set(digits)) > 1


def is_key_block(match: re.Match[str]) -> bool:
    """Tell whether there is a key between the markers of one."""
    return _KEY_MATERIAL.search(match[0]) is not None


def is_given(match: re.Match[str]) -> bool:
    """Tell whether a value in the place of a password is one."""
    secret = secret_in(match)
    return not (is_placeholder(secret) or is_path(secret) or _PORTS.fullmatch(secret))
