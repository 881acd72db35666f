"""Google's embeddings in the Gemini API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memlines.embed.base import Limits
from memlines.embed.remote.api import Reply, part, tokens_of

_DIMS = {"text-embedding-004": 768, "embedding-001": 768}


class Gemini:
    """generativelanguage.googleapis.com."""

    id = "gemini"
    default_model = "gemini-embedding-001"
    own_prefixes = ("models/", "google/", "gemini/")

    def base_url(self, environ: Mapping[str, str]) -> str:
        """Return the usual address."""
        return "https://generativelanguage.googleapis.com/v1beta"

    def auth(self, key: str) -> dict[str, str]:
        """Return the header that carries a key, which must not stand in the address."""
        return {"x-goog-api-key": key}

    def limits(self, model: str) -> Limits:
        """Return how much it takes: 2,048 tokens a text, 8,192 since the second generation."""
        text_bytes = 8_000 if _is_second(model) else 2_000
        return Limits(text_bytes, request_bytes=100_000, request_texts=100, at_once=2)

    def dims(self, model: str) -> int | None:
        """Return the length of the model's vectors."""
        return _DIMS.get(model, 3072 if model.startswith("gemini-embedding-") else None)

    def shortens(self, model: str) -> bool:
        """Whether the model makes vectors of a length of one's choice."""
        return model != "embedding-001"

    def prefixes(self, model: str) -> tuple[str, str]:
        """Return what the second generation reads in the place of a task's type."""
        return ("task: search result | query: ", "title: none | text: ") if _is_second(model) else ("", "")

    def request(
        self, model: str, texts: Sequence[str], *, is_query: bool, dims: int | None
    ) -> tuple[str, dict[str, Any]]:
        """Return the path and the body of a request."""
        common: dict[str, Any] = {"model": f"models/{model}"}
        if not _is_second(model):
            common["taskType"] = "RETRIEVAL_QUERY" if is_query else "RETRIEVAL_DOCUMENT"
        if dims is not None:
            common["outputDimensionality"] = dims
        each = [{**common, "content": {"parts": [{"text": text}]}} for text in texts]
        if is_query:
            return f"models/{model}:embedContent", each[0]
        return f"models/{model}:batchEmbedContents", {"requests": each}

    def reply(self, raw: Any, count: int) -> Reply:
        """Return what a reply says; vectors come in the order of the texts."""
        single = isinstance(raw, dict) and "embedding" in raw
        items = [raw["embedding"]] if single else part(raw, "embeddings", list)
        vectors = [part(item, "values", list) for item in items]
        return Reply(vectors, "", tokens_of(raw.get("usageMetadata"), "promptTokenCount"))


def _is_second(model: str) -> bool:
    return model.startswith("gemini-embedding-2")
