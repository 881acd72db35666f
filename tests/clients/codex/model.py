"""A model that does what the prompt says, and keeps what it was sent; it speaks OpenAI's responses.

`CALL memory_search {"query": "x"}` in what the user said is the call that it makes.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from tests.clients.harness import ModelServer
from tests.fixtures.model_server import Handler, serial, text_of

END = "The end."
NAMESPACE = "mcp__memlines"

_CALL = re.compile(r"CALL (\w+) (\{.*?\})(?=\s*$)", re.DOTALL | re.MULTILINE)
_USAGE = {
    "input_tokens": 1000,
    "output_tokens": 10,
    "total_tokens": 1010,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens_details": {"reasoning_tokens": 0},
}


@dataclass(frozen=True, slots=True)
class Request:
    """One question to the model."""

    body: dict[str, Any]

    def said(self, *roles: str) -> str:
        """Return what these roles said, as one text."""
        messages = (item for item in self.body["input"] if item.get("role") in roles)
        return "\n\n".join(text_of(message["content"]) for message in messages)

    @property
    def asked(self) -> str:
        """What the user said last, before anything that a skill or a hook added."""
        spoken = [item for item in self.body["input"] if item.get("role") == "user"]
        said = [text_of(item["content"]).strip() for item in spoken]
        own = [text for text in said if not text.startswith("<")]
        return own[-1] if own else ""

    @property
    def results(self) -> list[str]:
        """What the tools answered."""
        items = self.body["input"]
        return [text_of(item["output"]) for item in items if item.get("type") == "function_call_output"]

    @property
    def tools(self) -> set[str]:
        """The tools of our server that the model may call."""
        offered = [tool for tool in self.body.get("tools", []) if tool.get("name") == NAMESPACE]
        return {tool["name"] for group in offered for tool in group["tools"]}


class Model(ModelServer):
    """The server of the model; `requests` is what it was asked."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        super().__init__(_handler_of(self))
        self.url += "/v1"

    def about(self, words: str) -> list[Request]:
        """Return what was asked in turns where the user said these words."""
        return [request for request in self.requests if words in request.asked]

    def answer(self, request: Request) -> dict[str, Any]:
        """Return what the model says or calls; keep the question."""
        self.requests.append(request)
        called = _CALL.search(request.asked)
        if called is None or request.results:
            content = [{"type": "output_text", "text": END}]
            return {"type": "message", "role": "assistant", "id": f"msg_{serial()}", "content": content}
        name, arguments = called.groups()
        call = {"namespace": NAMESPACE, "name": name, "arguments": json.dumps(json.loads(arguments))}
        return {"type": "function_call", "id": f"fc_{serial()}", "call_id": f"call_{serial()}", **call}


def _handler_of(model: Model) -> type[Handler]:
    class Scripted(Handler):
        """Answers as this model."""

        def _responses(self, body: dict[str, Any]) -> None:
            item = model.answer(Request(body))
            self._open()
            self._event("response.created", response={"id": "resp_1"})
            self._event("response.output_item.done", output_index=0, item=item)
            self._event("response.completed", response={"id": "resp_1", "output": [item], "usage": _USAGE})

    return Scripted
