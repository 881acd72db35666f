"""OpenAI's embeddings, whose shapes several other services share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memlines.embed.base import Limits
from memlines.embed.remote.api import Malformed, Reply, model_of, part, tokens_of

_DIMS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}


class OpenAI:
    """api.openai.com."""

    id = "openai"
    default_model = "text-embedding-3-small"
    own_prefixes: tuple[str, ...] = ("openai/",)

    def base_url(self, environ: Mapping[str, str]) -> str:
        """Return the usual address."""
        return "https://api.openai.com/v1"

    def auth(self, key: str) -> dict[str, str]:
        """Return the header that carries a key."""
        return {"authorization": f"Bearer {key}"}

    def limits(self, model: str) -> Limits:
        """Return how much it takes: 8,192 tokens a text, 300,000 a request."""
        return Limits(text_bytes=8_000, request_bytes=256_000, request_texts=256, at_once=4)

    def dims(self, model: str) -> int | None:
        """Return the length of the model's vectors."""
        return _DIMS.get(model)

    def shortens(self, model: str) -> bool:
        """Whether the model makes vectors of a length of one's choice."""
        return model != "text-embedding-ada-002"

    def prefixes(self, model: str) -> tuple[str, str]:
        """Return nothing: queries and passages are treated alike."""
        return "", ""

    def request(
        self, model: str, texts: Sequence[str], *, is_query: bool, dims: int | None
    ) -> tuple[str, dict[str, Any]]:
        """Return the path and the body of a request."""
        body: dict[str, Any] = {"model": model, "input": list(texts), "encoding_format": "float"}
        if dims is not None:
            body["dimensions"] = dims
        return "embeddings", body

    def reply(self, raw: Any, count: int) -> Reply:
        """Return what a reply says."""
        items = ordered(part(raw, "data", list), count)
        vectors = [part(item, "embedding", list) for item in items]
        return Reply(vectors, model_of(raw), tokens_of(raw.get("usage"), "total_tokens"))


def ordered(items: list[Any], count: int) -> list[Any]:
    """Return the items of a reply in the order of the texts, by the index that each one names.

    A service that names none at all keeps the order.
    """
    places = [item.get("index") if isinstance(item, dict) else None for item in items]
    if len(items) != count or all(place is None for place in places):
        return items
    by_place = {place: item for place, item in zip(places, items, strict=True) if type(place) is int}
    if sorted(by_place) != list(range(count)):
        raise Malformed("replied with vectors that cannot be told apart by their index")
    return [by_place[place] for place in range(count)]
