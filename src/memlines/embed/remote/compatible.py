"""Any server that speaks OpenAI's protocol: LM Studio, llama.cpp, vLLM and so on."""

from __future__ import annotations

from collections.abc import Mapping

from memlines.embed.base import Limits
from memlines.embed.remote.openai import OpenAI
from memlines.embed.remote.prefixes import prefixes_of, text_bytes_of


class Compatible(OpenAI):
    """A server whose address and model only the settings know."""

    id = "openai-compatible"
    default_model = ""
    own_prefixes = ()

    def base_url(self, environ: Mapping[str, str]) -> str:
        """Return nothing: there is no usual address."""
        return ""

    def limits(self, model: str) -> Limits:
        """Return what most servers take: many allow 32 texts."""
        return Limits(text_bytes_of(model, 8_000), request_bytes=64_000, request_texts=32, at_once=2)

    def dims(self, model: str) -> int | None:
        """Return nothing: the first reply shows it."""
        return None

    def shortens(self, model: str) -> bool:
        """Whether the model may make vectors of a length of one's choice: only the server knows."""
        return True

    def prefixes(self, model: str) -> tuple[str, str]:
        """Return what the model wants to read before a query and before a passage."""
        return prefixes_of(model)
