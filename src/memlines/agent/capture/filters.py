"""Refuse what no one says: pastes, markup, mails, code.

The words of the languages are in their section `[cues]`.
"""

from __future__ import annotations

import re
from functools import cache

from memlines.text.patterns import alternatives

SHORTEST = 10
MOST_EMOJI = 3
_EMOJI = re.compile("[\U0001f000-\U0001faff\u2600-\u27bf\u2b50\u2b55\u231a-\u23ff]")
_MARKUP = re.compile(
    r"<!--|</\w|<\w+(?:\s[^<>]*)?/?>|<\||&lt;\w|\[/?(?:system|inst|user|assistant)\]", re.IGNORECASE
)
_BOLD = re.compile(r"\*\*[^*\n]+\*\*|__[^_\n]+__")
_BULLET = re.compile(r"^[^\S\n]*(?:[-+*•]|\d{1,3}[.)])\s", re.MULTILINE)
_FROM_MEMORY = re.compile(r"\.md#L\d|\.jsonl?#L\d|\[session |\[redacted:[^\]]*\]|\[forgotten\]")
_CODE = re.compile(
    r"^\s*[\w.-]+\s?[:=]\s?\S*$"  # a setting
    r"|^\s*\w{3} \d{1,2} \d\d:\d\d:\d\d|^\s*npm ERR!"  # a log
    r"|\w\(\w*\)|[;{}]\s*$|=>|->|==|\w_\w++\s?[:=]|^\s*(?:#|//|\$ )"
)


def is_pasted(text: str, max_chars: int) -> bool:
    """Return whether nothing of a message can be taken for what its writer says."""
    words = text.strip()
    return (
        not SHORTEST <= len(words) <= max_chars
        or len(_EMOJI.findall(words)) > MOST_EMOJI
        or _MARKUP.search(words) is not None
        or _letter_pattern().search(words) is not None
        or (_BOLD.search(words) is not None and _BULLET.search(words) is not None)
    )


def is_code(text: str) -> bool:
    """Return whether a sentence is code, a setting, or taken from the memory."""
    return (
        len(text.strip()) < SHORTEST
        or _CODE.search(text) is not None
        or _FROM_MEMORY.search(text) is not None
    )


@cache
def _letter_pattern() -> re.Pattern[str]:
    """Return how mails and letters begin and end, which users paste to have something done with them."""
    mail, begin, end = (alternatives("cues", name) for name in ("mail", "letter_begin", "letter_end"))
    return re.compile(
        rf"^[^\S\n]*>?[^\S\n]*(?:{mail})\s?: |^[^\S\n]*(?:{begin})|\b(?:{end})", re.MULTILINE | re.IGNORECASE
    )
