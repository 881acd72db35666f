"""The embedded provider: no key, no download, nothing leaves the machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memlines.embed.base import Limits
from memlines.embed.builtin import files
from memlines.errors import EmbeddingError
from memlines.settings.tree import BUILTIN_MODEL

if TYPE_CHECKING:
    from memlines.embed.base import Vector, Vectors
    from memlines.embed.builtin.engine import Engine


class BuiltinProvider:
    """Universal Sentence Encoder multilingual v3 from an installed package.

    Making one checks the model's files and raises `ModelFilesError` if they are not the
    pinned ones. numpy and the model are loaded at the first text.
    """

    id = "builtin"
    model = BUILTIN_MODEL
    dims = 512
    by_sentence = True
    answers_as = ""
    scale_known = True
    sends_to = ""
    meter = None
    limits = Limits(text_bytes=1_000_000, request_bytes=100_000_000, request_texts=100_000)
    key = f"{files.PACKAGE}=={files.VERSION}"

    def __init__(self) -> None:
        self._folder = files.resource_folder()
        files.check(self._folder)

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a question; this model treats it like any text."""
        vector: Vector = self._engine().embed([text])[0]
        return vector

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of passages, in their order."""
        return self._engine().embed(texts)

    def _engine(self) -> Engine:
        try:
            from memlines.embed.builtin import engine
        except ImportError as error:
            raise EmbeddingError(
                f"the builtin model cannot run: {error}",
                todo="Install numpy, sentencepiece and threadpoolctl again, "
                "or set embeddings.provider to none",
            ) from error
        return engine.shared(self._folder)
