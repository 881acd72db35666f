"""Ollama: models on one's own machine or in one's own network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memlines.embed.base import Limits
from memlines.embed.remote.api import Reply, model_of, part, tokens_of
from memlines.embed.remote.prefixes import prefixes_of, text_bytes_of

_PORT = 11434


class Ollama:
    """A server of Ollama's own protocol."""

    id = "ollama"
    default_model = "nomic-embed-text"
    own_prefixes = ("ollama/",)

    def base_url(self, environ: Mapping[str, str]) -> str:
        """Return the address that `OLLAMA_HOST` names, or the usual one."""
        host = environ.get("OLLAMA_HOST", "").strip().rstrip("/")
        scheme, found, rest = host.rpartition("://")
        name, colon, port = rest.rpartition(":")
        if not colon or not port.isdecimal():
            name, port = rest, "" if found else str(_PORT)
        # A server that listens everywhere is reached at this machine's own address.
        name = "127.0.0.1" if name in ("", "0.0.0.0", "[::]") else name
        return f"{scheme or 'http'}://{name}" + (f":{port}" if port else "")

    def auth(self, key: str) -> dict[str, str]:
        """Return the header for a server behind one that asks for a key."""
        return {"authorization": f"Bearer {key}"}

    def limits(self, model: str) -> Limits:
        """Return how much it takes: 4,096 tokens a text at most, unless a server is set up otherwise."""
        text_bytes = min(4_000, text_bytes_of(model, 2_000))
        return Limits(text_bytes, request_bytes=64_000, request_texts=32, at_once=2)

    def dims(self, model: str) -> int | None:
        """Return nothing: the first reply shows it."""
        return None

    def shortens(self, model: str) -> bool:
        """Whether the model may make vectors of a length of one's choice: only the server knows."""
        return True

    def prefixes(self, model: str) -> tuple[str, str]:
        """Return what the model wants to read before a query and before a passage."""
        return prefixes_of(model)

    def request(
        self, model: str, texts: Sequence[str], *, is_query: bool, dims: int | None
    ) -> tuple[str, dict[str, Any]]:
        """Return the path and the body of a request; a text that is too long is refused, not cut."""
        body: dict[str, Any] = {"model": model, "input": list(texts), "truncate": False}
        if dims is not None:
            body["dimensions"] = dims
        return "api/embed", body

    def reply(self, raw: Any, count: int) -> Reply:
        """Return what a reply says; vectors come in the order of the texts."""
        vectors = part(raw, "embeddings", list)
        return Reply(vectors, model_of(raw), tokens_of(raw, "prompt_eval_count"))
