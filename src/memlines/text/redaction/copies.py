"""Hide every further copy of a secret that was found: a value that was found once is known from then on.

A copy may be written differently: with percent signs, as in an address, or with the backslashes of JSON. It
is hidden wherever it appears, also where nothing around it shows what it is. So only a value that cannot be a
word, a number or a name of everyday use is searched; `test` as a password does not hide every test in a
conversation.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from urllib.parse import quote, unquote

from memlines.text.redaction.tokens import is_mixed, is_placeholder, is_random, is_wordy

PLACEHOLDER = re.compile(r"(\[redacted:[a-z0-9-]+\])")

_SHORTEST = 8
_SHORTEST_WITH_SIGN = 6
"""With digits and letters, eight characters are hardly ever a word; with a sign of a password, six."""
_SHORTEST_LETTERS = 20
_SHORTEST_RANDOM_LETTERS = 16
"""Letters alone are words and names: hardly one has twenty, and of what cannot be spoken, sixteen."""
_SHORTEST_DIGITS = 12
"""Fewer digits are dates, times and amounts."""
_ANYWHERE = 16
"""A value as long is hidden inside of a longer word too; a shorter one might be a part of it by chance."""

_SHORTEST_RUN = 20
_RUN = re.compile(rf"[\w-]{{{_SHORTEST_RUN},}}", re.ASCII)
"""What a rule hid may hold more than the secret, as the rest of an address; a random run in it is one."""

_SIGNS = frozenset("!@#$%^&*+=?~|")
_ENDS_A_SENTENCE = ".,;:!?)"
_BEGINS_WORD = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))"
_ENDS_WORD = r"(?![A-Za-z0-9])"


def is_distinctive(value: str) -> bool:
    """Return whether a value can only be the secret that it was, wherever it appears."""
    if len(value) < _SHORTEST_WITH_SIGN or len(set(value)) < 5 or "[redacted:" in value:
        return False
    if is_placeholder(value):
        return False
    if value.isdigit():
        return len(value) >= _SHORTEST_DIGITS
    has_sign = not _SIGNS.isdisjoint(value)
    if is_mixed(value):
        return len(value) >= (_SHORTEST_WITH_SIGN if has_sign else _SHORTEST)
    if has_sign:
        return len(value) >= _SHORTEST
    return len(value) >= (_SHORTEST_LETTERS if is_wordy(value) else _SHORTEST_RANDOM_LETTERS)


def values_in(secret: str, kind: str) -> Iterator[str]:
    """Yield what to look for elsewhere, given what a rule hid: its values, in all their spellings."""
    if kind == "cookie":
        parts = [pair.partition("=")[2].strip() for pair in secret.split(";")]
    else:
        parts = [line.strip() for line in re.split(r"\n|\\n", secret) if "-----" not in line]
    for part in parts:
        for plain in (part, part.rstrip(_ENDS_A_SENTENCE)):
            yield from filter(is_distinctive, dict.fromkeys(_spellings(plain)))
        yield from (run for run in _RUN.findall(unquote(part)) if is_random(run, _SHORTEST_RUN))


def _spellings(value: str) -> Iterator[str]:
    """Yield a value as it was found, as it was meant, and as it is written in an address or in JSON."""
    yield value
    meant = unquote(value) if "%" in value else value
    if "\\" in meant:
        try:
            meant = str(json.loads(f'"{meant}"'))
        except ValueError:
            meant = meant.replace("\\", "")
    yield meant
    yield quote(meant, safe="")
    yield quote(meant)
    yield json.dumps(meant, ensure_ascii=False)[1:-1]


def without_copies(text: str, values: Mapping[str, str]) -> tuple[str, Counter[str]]:
    """Replace values, given with their kinds, by placeholders, and count them by kind."""
    counts: Counter[str] = Counter()
    held = [value for value in values if value in text]
    if not held:
        return text, counts

    def hidden(match: re.Match[str]) -> str:
        kind = values[match[0]]
        counts[kind] += 1
        return f"[redacted:{kind}]"

    copies = re.compile("|".join(map(_copy, sorted(held, key=len, reverse=True))))
    pieces = PLACEHOLDER.split(text)
    pieces[::2] = [copies.sub(hidden, piece) for piece in pieces[::2]]
    return "".join(pieces), counts


def _copy(value: str) -> str:
    pattern = re.escape(value)
    return pattern if len(value) >= _ANYWHERE else f"{_BEGINS_WORD}{pattern}{_ENDS_WORD}"
