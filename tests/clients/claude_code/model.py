"""A model that does what the prompt says, and keeps what it was sent; it speaks Anthropic's messages.

`CALL tool {"query": "x"}` in what the user said last is the call that it makes.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from tests.clients.harness import ModelServer
from tests.fixtures.model_server import Handler, serial, text_of

END = "The end."
_CALL = re.compile(r"CALL (\w+) (\{.*?\})(?=\s*$)", re.DOTALL | re.MULTILINE)
_USAGE = {"input_tokens": 1000, "output_tokens": 10}


@dataclass(frozen=True, slots=True)
class Request:
    """One question to the model."""

    body: dict[str, Any]

    @property
    def last(self) -> dict[str, Any]:
        """The last message."""
        found: dict[str, Any] = self.body["messages"][-1]
        return found

    @property
    def asked(self) -> str:
        """What the user said last, with what the client put beside it."""
        return text_of(self.last["content"])

    @property
    def everything(self) -> str:
        """All that was said so far, and what the client put beside it."""
        return text_of(self.body["messages"])

    @property
    def results(self) -> list[str]:
        """What the tools answered just now."""
        content = self.last["content"]
        blocks = content if isinstance(content, list) else []
        return [text_of(block["content"]) for block in blocks if block.get("type") == "tool_result"]


class Model(ModelServer):
    """The server of the model; `requests` is what it was asked."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        super().__init__(_handler_of(self))

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the block that answers a question; keep the question."""
        request = Request(body)
        self.requests.append(request)
        call = next(iter([*_CALL.finditer(request.asked)][-1:]), None)  # what was recalled stands before it
        if call and body.get("tools") and not request.results:
            return {
                "type": "tool_use",
                "id": f"toolu_{serial()}",
                "name": call[1],
                "input": json.loads(call[2]),
            }
        return {"type": "text", "text": END}


def _handler_of(model: Model) -> type[Handler]:
    class Scripted(Handler):
        """Answers as this model."""

        def _messages(self, body: dict[str, Any]) -> None:
            block = model.answer(body)
            stop = "tool_use" if block["type"] == "tool_use" else "end_turn"
            message: dict[str, Any] = {"id": f"msg_{serial()}", "type": "message", "role": "assistant"}
            message |= {"model": body["model"], "content": [], "stop_reason": None, "stop_sequence": None}
            message["usage"] = _USAGE
            if not body.get("stream"):
                self._json({**message, "content": [block], "stop_reason": stop})
                return
            if block["type"] == "text":
                empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
            else:
                whole = json.dumps(block["input"])
                empty, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": whole}
            self._open()
            self._event("message_start", message=message)
            self._event("content_block_start", index=0, content_block=empty)
            self._event("content_block_delta", index=0, delta=delta)
            self._event("content_block_stop", index=0)
            self._event("message_delta", delta={"stop_reason": stop, "stop_sequence": None}, usage=_USAGE)
            self._event("message_stop")

    return Scripted
