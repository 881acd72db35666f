"""Tell what may be a secret from words, placeholders and code."""

from __future__ import annotations

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
