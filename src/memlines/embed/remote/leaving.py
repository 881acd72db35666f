"""What of a text may leave this machine."""

from __future__ import annotations

import re

from memlines.text.redaction import Rules, redact

_KEY_BEGINS = "-----BEGIN PRIVATE KEY-----\n"
_KEY_ENDS = re.compile("-----END [A-Z0-9 ]{0,30}PRIVATE KEY-----")

_KEY_LINE = re.compile("[A-Za-z0-9+/=]{60,76}")
_MOST_KEY_LINES = 0.6

NOTHING = "[private]"
"""What is sent of a text that is all secret; services refuse an empty one."""


def fit_to_send(text: str, rules: Rules | None) -> str:
    """Return a text without secrets, though never without any words.

    A chunk may begin in the middle of a key. Where one ends that never began, it began before the chunk.
    Private blocks are gone before a text is cut.
    """
    lines = text.split("\n")
    if sum(_KEY_LINE.fullmatch(line.strip()) is not None for line in lines) > _MOST_KEY_LINES * len(lines):
        return NOTHING  # the middle of a key, whose beginning and end are in other chunks
    end = _KEY_ENDS.search(text)
    if end and "-----BEGIN " not in text[: end.start()]:
        text = _KEY_BEGINS + text
    return redact(text, rules).text.strip() or NOTHING
