"""Look closer at what a pattern matched, where a pattern cannot tell."""

from __future__ import annotations

import base64
import json
import re

from memlines.text.redaction.values import (
    is_masked,
    is_mixed,
    is_path,
    is_placeholder,
    is_random,
    passes_luhn,
)

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
        return isinstance(json.loads(_decoded(header)), dict)
    except (ValueError, RecursionError):
        return False


def is_basic(match: re.Match[str]) -> bool:
    """Tell whether Base64 holds a name and a password."""
    try:
        held = _decoded(secret_in(match)).decode()
    except ValueError:
        return False
    return ":" in held and held.isprintable()


def _decoded(encoded: str) -> bytes:
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
