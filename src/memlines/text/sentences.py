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


def pieces_of(text: str, most_bytes: int) -> list[str]:
    """Cut a text into pieces of at most so many bytes, after a line, a sentence or a word if it can be.

    Nothing is left out but white space between pieces. A text that fits is its own only piece.
    """
    pieces, start, left = [], 0, len(text.encode())
    while left > most_bytes:
        ahead = text[start : start + most_bytes]
        fits = len(ahead.encode()[:most_bytes].decode(errors="ignore"))
        pieces.append(ahead[: _good_cut(ahead, max(1, fits))])
        start += len(pieces[-1])
        left -= len(pieces[-1].encode())
    pieces.append(text[start:])
    return [piece for piece in pieces if piece.strip()] or pieces[-1:]


def _good_cut(text: str, most: int) -> int:
    """Return where to cut a text: at the last good border of the second half of what fits, or at its end."""
    for border in ("\n", ". ", " "):
        found = text.rfind(border, most // 2, most)
        if found >= 0:
            return found + len(border)
    return most
