"""Find the pieces of short texts in a sorted table of the vocabulary, which is mapped from the cache.

sentencepiece builds a tree of 128,000 pieces when it loads its file, which takes as long as all the rest of a
search in a new process. A question has few places for a piece, so each is looked up in a table instead. The
result is the same: the best path of a unigram model, in single precision.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sentencepiece import SentencePieceNormalizer, SentencePieceProcessor

if TYPE_CHECKING:
    from memlines.embed.builtin.model import Weights

UNKNOWN, BEGIN, END = 0, 1, 2
SHORT = 400
"""Characters of a text that may be looked up like this; of a longer one sentencepiece is quicker."""

_LONGEST = 16
"""Characters of the longest piece."""

_PENALTY = np.float32(10)
"""How much less an unknown character scores than the rarest piece."""

_ODD = ("extra_token_id_", "\0")
"""What the table would find in another way than sentencepiece."""

_SPECIFICATION = 3
"""The field of the file that says how a text is normalised; it is the last one."""


def read_pieces(path: Path) -> tuple[NDArray[np.str_], NDArray[np.int32], NDArray[np.float32]]:
    """Return the pieces of a vocabulary in sorted order, their ids and their scores."""
    every = SentencePieceProcessor(model_proto=path.read_bytes())
    numbers = [number for number in range(every.vocab_size()) if number not in (UNKNOWN, BEGIN, END)]
    pieces = np.array([every.id_to_piece(number) for number in numbers], dtype=f"U{_LONGEST}")
    order = np.argsort(pieces)
    ids = np.array(numbers, dtype=np.int32)
    return pieces[order], ids[order], np.array([every.get_score(one) for one in numbers], np.float32)[order]


def read_normaliser(path: Path) -> NDArray[np.uint8]:
    """Return the part of a vocabulary's file that says how a text is normalised."""
    content = path.read_bytes()
    start = 0
    while content[start] >> 3 != _SPECIFICATION:  # each field: its number, its length and its content
        at, size = start + 1, 0
        for shift in range(0, 64, 7):
            size |= (content[at] & 127) << shift
            at += 1
            if content[at - 1] < 128:
                break
        start = at + size
    return np.frombuffer(content[start:], np.uint8)


class Pieces:
    """The table, ready to use; safe to call from several threads."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._normaliser = SentencePieceNormalizer(model_proto=weights.normaliser.tobytes())
        self._unknown_score = weights.piece_scores.min() - _PENALTY

    def ids(self, text: str) -> list[int] | None:
        """Return the ids of the pieces of a text; nothing if the table cannot say."""
        plain = self._normaliser.normalize(text.encode("utf-8", "replace").decode())
        if any(odd in plain for odd in _ODD):
            return None
        table = self._weights.pieces
        spans = [
            (start, end)
            for start in range(len(plain))
            for end in range(start + 1, min(start + _LONGEST, len(plain)) + 1)
        ]
        wanted = np.array([plain[start:end] for start, end in spans], dtype=table.dtype)
        places = np.minimum(np.searchsorted(table, wanted), len(table) - 1)
        found = dict(zip(spans, np.where(table[places] == wanted, places, -1).tolist(), strict=True))
        return self._best_path(plain, found)

    def _best_path(self, plain: str, found: dict[tuple[int, int], int]) -> list[int]:
        """Return the ids on the path of the highest score; unknown characters in a row are one."""
        ids, scores = self._weights.piece_ids, self._weights.piece_scores
        best: dict[int, tuple[np.float32, int, int]] = {0: (np.float32(0), 0, UNKNOWN)}
        for start in range(len(plain)):
            before = best[start][0]
            for end in range(start + 1, min(start + _LONGEST, len(plain)) + 1):
                place = found[start, end]
                if place < 0 and end > start + 1:
                    continue
                score = before + (scores[place] if place >= 0 else self._unknown_score)
                if end not in best or score > best[end][0]:
                    best[end] = score, start, int(ids[place]) if place >= 0 else UNKNOWN
        path: list[int] = []
        at = len(plain)
        while at:
            _, at, number = best[at]
            if number != UNKNOWN or path[-1:] != [UNKNOWN]:
                path.append(number)
        return path[::-1]
