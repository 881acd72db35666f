"""Mistral's embeddings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memlines.embed.base import Limits
from memlines.embed.remote.openai import OpenAI

_DIMS = {"mistral-embed": 1024, "mistral-embed-2312": 1024, "codestral-embed": 1536}


class Mistral(OpenAI):
    """api.mistral.ai."""

    id = "mistral"
    default_model = "mistral-embed"
    own_prefixes = ("mistral/", "mistralai/")

    def base_url(self, environ: Mapping[str, str]) -> str:
        """Return the usual address."""
        return "https://api.mistral.ai/v1"

    def limits(self, model: str) -> Limits:
        """Return how much it takes: 8,192 tokens a text, 16,384 a request."""
        return Limits(text_bytes=8_000, request_bytes=16_000, request_texts=128, at_once=2)

    def dims(self, model: str) -> int | None:
        """Return the length of the model's vectors."""
        return _DIMS.get(model)

    def shortens(self, model: str) -> bool:
        """Whether the model makes vectors of a length of one's choice."""
        return model.startswith("codestral-embed")

    def request(
        self, model: str, texts: Sequence[str], *, is_query: bool, dims: int | None
    ) -> tuple[str, dict[str, Any]]:
        """Return the path and the body of a request."""
        body: dict[str, Any] = {"model": model, "input": list(texts), "encoding_format": "float"}
        if dims is not None and self.shortens(model):
            body["output_dimension"] = dims
        return "embeddings", body
