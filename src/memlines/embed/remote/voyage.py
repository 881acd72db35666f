"""Voyage's embeddings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memlines.embed.base import Limits
from memlines.embed.remote.openai import OpenAI

_DIMS = {"voyage-3-lite": 512, "voyage-code-2": 1536, "voyage-large-2": 1536}
_USUAL_DIMS = 1024
_OLD = ("voyage-3", "voyage-3-lite")
"""Models of a fixed length, beside all of the generation before."""


class Voyage(OpenAI):
    """api.voyageai.com."""

    id = "voyage"
    default_model = "voyage-4-large"
    own_prefixes = ("voyage/", "voyageai/")

    def base_url(self, environ: Mapping[str, str]) -> str:
        """Return the usual address."""
        return "https://api.voyageai.com/v1"

    def limits(self, model: str) -> Limits:
        """Return how much it takes: 32,000 tokens a text, 120,000 a request of the large models."""
        return Limits(text_bytes=30_000, request_bytes=100_000, request_texts=256, at_once=4)

    def dims(self, model: str) -> int | None:
        """Return the length of the model's vectors."""
        return _DIMS.get(model, _USUAL_DIMS if model.startswith(("voyage-3", "voyage-4")) else None)

    def shortens(self, model: str) -> bool:
        """Whether the model makes vectors of a length of one's choice."""
        return model not in _OLD and not model.endswith("-2")

    def request(
        self, model: str, texts: Sequence[str], *, is_query: bool, dims: int | None
    ) -> tuple[str, dict[str, Any]]:
        """Return the path and the body of a request; a text that is too long is refused, not cut."""
        body: dict[str, Any] = {
            "model": model,
            "input": list(texts),
            "input_type": "query" if is_query else "document",
            "truncation": False,
        }
        if dims is not None and self.shortens(model):
            body["output_dimension"] = dims
        return "embeddings", body
