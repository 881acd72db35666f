"""Providers that need no model: a hashed bag of words, and meanings that a test makes up."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from memlines.embed.base import Limits, Meter, Provider
from memlines.errors import EmbeddingError
from memlines.text.terms import words_of

if TYPE_CHECKING:
    from memlines.embed.base import Vector, Vectors

ROOMY = Limits(text_bytes=100_000, request_bytes=10_000_000, request_texts=10_000)
NEUTRAL = (0.0, 0.0, 0.0, 1.0)


def turned(vector: Vector) -> Vector:
    """Turn a vector, so that its numbers have signs like those of real models; cosines stay as they are."""
    return vector @ rotation(len(vector))


@cache
def rotation(dims: int) -> Vectors:
    numbers = np.random.default_rng(dims).normal(size=(dims, dims))
    return np.linalg.qr(numbers)[0].astype(np.float32)


@dataclass
class FakeProvider(Provider):
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
        return turned(vector)

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        if self.fails_after is not None and len(self.texts) + len(texts) > self.fails_after:
            raise EmbeddingError("the fake provider is out of order", todo="Repair it")
        self.texts.extend(texts)
        return np.stack([self.embed_query(text) for text in texts])


class MeaningsProvider(Provider):
    """Gives a text the sum of the vectors of the keys it holds; tests can make it fail."""

    id = "fake"
    key = ""
    dims = 4
    limits = ROOMY
    scale_known = True

    def __init__(self, meanings: Mapping[str, Sequence[float]], model: str = "fake-1") -> None:
        self.meanings = meanings
        self.model = model
        self.queries: list[str] = []
        self.failing_queries = False
        self.failing_documents = False

    def embed_query(self, text: str) -> Vector:
        self.queries.append(text)
        if self.failing_queries:
            raise EmbeddingError("the fake provider is out of order")
        return self._vector(text)

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        if self.failing_documents:
            raise EmbeddingError("the fake provider is out of order")
        return np.stack([self._vector(text) for text in texts])

    def _vector(self, text: str) -> Vector:
        total = np.zeros(self.dims, dtype=np.float32)
        for key, vector in self.meanings.items():
            if key in text.lower():
                total += np.asarray(vector, dtype=np.float32)
        return total if total.any() else np.asarray(NEUTRAL, dtype=np.float32)
