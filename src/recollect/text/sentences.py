"""Cut a chunk into the sentences that are compared with a question by themselves."""

from __future__ import annotations

import re

SENTENCES_VERSION = 1
"""Part of the index's identity: a change of the rules below makes a rebuild."""

_MOST = 32
"""Sentences of a chunk that are looked at; 1,600 characters hardly ever hold more."""

_BORDER = re.compile("\n+|(?<=[.!?])\\s+|(?<=[\u3002\uff01\uff1f])")
_MARKUP = " \t-#*|>+`"
_SHORTEST = 9
_SHORTEST_WIDE = 4
"""Characters below which a piece says too little by itself, in Latin and in denser scripts."""


def sentences_of(text: str) -> list[str]:
    """Return the sentences, list items and lines of a text that say something by themselves."""
    pieces = (piece.strip(_MARKUP) for piece in _BORDER.split(text))
    telling = dict.fromkeys(piece for piece in pieces if _is_telling(piece))
    return list(telling)[:_MOST]


def _is_telling(piece: str) -> bool:
    return len(piece) >= (_SHORTEST if piece.isascii() else _SHORTEST_WIDE)
