"""A workspace in a few words, and a provider whose meanings a test makes up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from memlines import Memory
from memlines.embed.select import Choice
from memlines.errors import EmbeddingError
from tests.support_embedding import ROOMY

if TYPE_CHECKING:
    from memlines.embed.base import Vector, Vectors

WORDS_ONLY = {"embeddings.provider": "none"}
NEUTRAL = (0.0, 0.0, 0.0, 1.0)


class FakeProvider:
    """Gives a text the sum of the vectors of the keys it holds; tests can make it fail."""

    id = "fake"
    key = ""
    dims = 4
    by_sentence = False
    limits = ROOMY
    sends_to = ""
    answers_as = ""
    scale_known = True
    meter = None

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


def write(folder: Path, notes: Mapping[str, str]) -> None:
    """Write notes, making their folders; a bare name goes below memory/."""
    for name, text in notes.items():
        known = name.startswith(("memory/", "..", "MEMORY.md", "memory.md"))
        file = folder / (name if known else f"memory/{name}")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="")


def words_memory(folder: Path, notes: Mapping[str, str], **settings: Any) -> Memory:
    """Return a memory over these notes that searches by words; `query__max_results=3` sets a key."""
    write(folder, notes)
    return Memory(folder, {**WORDS_ONLY, **_dotted(settings)})


def fake_memory(folder: Path, notes: Mapping[str, str], provider: FakeProvider, **settings: Any) -> Memory:
    """Return a memory over these notes whose vectors come from the fake provider."""
    write(folder, notes)
    memory = Memory(folder, _dotted(settings))
    memory._manager.choice = Choice("fake", provider)
    return memory


def _dotted(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {key.replace("__", "."): value for key, value in settings.items()}
