"""Cuts text into the pieces of the model's vocabulary."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import sentencepiece

from memlines.embed.builtin.model import Ids

_UNKNOWN, _BEGIN, _END = 0, 1, 2

_SLICE = 65_536
"""Characters that are tokenised at once; bounds the memory a very long text takes."""


class Tokenizer:
    """The vocabulary, ready to use; safe to call from several threads."""

    def __init__(self, path: Path) -> None:
        """Load the vocabulary. The file is read here because the library cannot open every path."""
        self._pieces = sentencepiece.SentencePieceProcessor(model_proto=path.read_bytes())

    def ids(self, text: str) -> Ids:
        """Return the token ids of a text between the marks of begin and end.

        A text that holds nothing the vocabulary can see is one unknown token.
        """
        parts: list[list[int]] = [[_BEGIN]]
        # Bytes, because half a surrogate pair (from a broken file) is no text the library takes.
        parts.extend(
            self._pieces.encode(part.encode("utf-8", "replace"), out_type=int) for part in _slices(text)
        )
        if not any(parts[1:]):
            parts.append([_UNKNOWN])
        parts.append([_END])
        return np.concatenate([np.array(part, dtype=np.int32) for part in parts])


def _slices(text: str) -> Iterator[str]:
    """Yield a text in parts that end where a word ends, so that they give the same tokens."""
    begin = 0
    while len(text) - begin > _SLICE:
        limit = begin + _SLICE
        blank = max(text.rfind(" ", begin + 1, limit), text.rfind("\n", begin + 1, limit))
        end = blank if blank > 0 else limit
        yield text[begin:end]
        begin = end
    yield text[begin:]
