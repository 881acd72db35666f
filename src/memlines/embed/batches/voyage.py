"""The batches of Voyage: OpenAI's way with other lines."""

from __future__ import annotations

from typing import Any

from memlines.embed.batches.handing import json_line
from memlines.embed.batches.openai import OpenAiBatches


class VoyageBatches(OpenAiBatches):
    """Batches of one model of Voyage, which names the model once for the whole file."""

    def line(self, key: str, text: str) -> bytes:
        """Return what stands for a text in the file that is handed in."""
        return json_line({"custom_id": key, "body": {"input": self._shape.request(text)["input"]}})

    def request(self, file: str, token: str) -> dict[str, Any]:
        """Return the request that makes a batch of a file."""
        common = {name: value for name, value in self._shape.request("").items() if name != "input"}
        return super().request(file, token) | {"completion_window": "12h", "request_params": common}
