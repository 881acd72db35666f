"""A provider that needs no model: a hashed bag of words."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from memlines.embed.base import Limits, Meter
from memlines.errors import EmbeddingError
from memlines.text.terms import words_of

if TYPE_CHECKING:
    from memlines.embed.base import Vector, Vectors

ROOMY = Limits(text_bytes=100_000, request_bytes=10_000_000, request_texts=10_000)


@dataclass
class FakeProvider:
    """Texts that share words are near; another `model` puts them elsewhere. Counts what it is asked."""

    model: str = "bag-of-words"
    id: str = "fake"
    key: str = ""
    dims: int = 64
    by_sentence: bool = False
    limits: Limits = ROOMY
    sends_to: str = ""
    answers_as: str = ""
    scale_known: bool = True
    meter: Meter | None = None
    fails_after: int | None = None
    """How many texts it embeds before it fails."""
    texts: list[str] = field(default_factory=list)

    def embed_query(self, text: str) -> Vector:
        vector = np.full(self.dims, 0.001, np.float32)
        for word in words_of(text.lower()):
            vector[zlib.crc32(f"{self.model} {word}".encode()) % self.dims] += 1
        return vector

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        if self.fails_after is not None and len(self.texts) + len(texts) > self.fails_after:
            raise EmbeddingError("the fake provider is out of order", todo="Repair it")
        self.texts.extend(texts)
        return np.stack([self.embed_query(text) for text in texts])
