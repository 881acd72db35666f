"""Whether every vector that is kept is the one that its model makes of its text."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np

from memlines.embed.codec import decode
from memlines.index.store.sqlite import spaces
from memlines.text.chunk import text_hash
from tests.embed.fake_service import vector_of
from tests.indexes import reading


def check_vectors(workspace: Path, dims: int, prefix: str = "") -> Counter[str]:
    """Compare all vectors of the index and of its cache; return how many chunks have one, by model.

    `prefix` is what the model reads before a passage.
    """
    counts: Counter[str] = Counter()
    with reading(workspace) as index, index.snapshot():
        numbers = [number for (number,) in index.connection.execute("SELECT number FROM chunks")]
        texts = {number: chunk.embedded_text for number, chunk in index.chunks(numbers).items()}
        for entry in spaces.entries(index.connection):
            table = index.vectors_in(entry.space)
            stored = dict(table.by_chunk())
            counts[entry.space.model] = len(stored)
            assert not table.sentences(numbers)
            for number, blob in stored.items():
                check_vector(blob, prefix + texts[number], dims, entry.space.model)
        by_hash = {text_hash(text): text for text in texts.values()}
        rows = index.connection.execute("SELECT model, hash, embedding, dims FROM embedding_cache")
        for model, digest, blob, length in rows:
            assert length == dims
            check_vector(blob, prefix + by_hash[digest], dims, model)
    return counts


def check_vector(blob: bytes, text: str, dims: int, model: str) -> None:
    """Compare one vector as it is kept with what its text should have."""
    expected = np.asarray(vector_of(text, dims, model))
    expected /= np.linalg.norm(expected)
    (found,) = decode([blob])
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() < 5e-3, f"a vector of {model} is not that of {text!r}"
