"""A scripted model behind the SDKs' own addresses, and how an example is run against it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fixtures.model_server import Handler, serial, text_of
from tests.programs import listening

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
_CITATION = re.compile(r"memory/[\w.-]+#L\d+(?:-L\d+)?")
_RESULTS = ("tool", "tool_result")


Call = tuple[str, dict[str, Any]]
"""A tool and its arguments."""


@dataclass(frozen=True, slots=True)
class Request:
    """One question to the model, in either protocol."""

    body: dict[str, Any]

    @property
    def everything_said(self) -> str:
        """What the system and the user said, as one text."""
        said = [message for message in self.body["messages"] if message["role"] in ("system", "user")]
        return "\n".join([text_of(self.body.get("system")), *(text_of(message) for message in said)])

    @property
    def results(self) -> list[str]:
        """What the tools answered."""
        found = []
        for message in self.body["messages"]:
            blocks = message["content"] if isinstance(message["content"], list) else []
            parts = [message] if message["role"] == "tool" else blocks
            found += [text_of(part["content"]) for part in parts if part.get("type", "tool") in _RESULTS]
        return found

    @property
    def tools(self) -> list[str]:
        """The names of the tools it may call."""
        return [(tool.get("function") or tool)["name"] for tool in self.body["tools"]]


@dataclass
class Model:
    """Makes these calls one after the other, then says what the last result cites."""

    calls: list[Call]
    url: str = ""
    requests: list[Request] = field(default_factory=list)

    def reply(self, body: dict[str, Any]) -> tuple[str, list[Call]]:
        """Return words and calls; keep the question."""
        request = Request(body)
        self.requests.append(request)
        done = len(request.results)
        if done < len(self.calls):
            return "", [self.calls[done]]
        cited = _CITATION.search(request.results[-1]) if request.results else None
        return f"It is in {cited[0] if cited else 'no note'}.", []


@contextmanager
def model_server(*calls: Call) -> Iterator[Model]:
    """Serve a model that makes these calls for as long as the block lasts."""
    model = Model(list(calls))

    class Scripted(Handler):
        """Answers as this model."""

        def _completions(self, body: dict[str, Any]) -> None:
            words, wanted = model.reply(body)
            self._complete(body, words, wanted, 1000)

        def _messages(self, body: dict[str, Any]) -> None:
            words, wanted = model.reply(body)
            content: list[dict[str, Any]] = [{"type": "text", "text": words}] if words else []
            for name, arguments in wanted:
                content.append(
                    {"type": "tool_use", "id": f"toolu_{serial()}", "name": name, "input": arguments}
                )
            self._json(
                {
                    "id": f"msg_{serial()}",
                    "type": "message",
                    "role": "assistant",
                    "model": body["model"],
                    "content": content,
                    "stop_reason": "tool_use" if wanted else "end_turn",
                    "stop_sequence": None,
                    "usage": {"input_tokens": 1000, "output_tokens": 10},
                }
            )

    with listening(Scripted) as model.url:
        yield model


def run_example(name: str, folder: Path, question: str, url: str) -> subprocess.CompletedProcess[str]:
    """Run an example as it is, in a folder, with the variables of its SDK; nothing else can be reached."""
    home = str(folder.with_name("home"))
    variables = {
        "HOME": home,
        "MEMLINES_HOME": home,
        "OPENAI_API_KEY": "sk-example",
        "OPENAI_BASE_URL": f"{url}/v1",
        "ANTHROPIC_API_KEY": "sk-example",
        "ANTHROPIC_BASE_URL": url,
        "MEMLINES_EMBEDDINGS__PROVIDER": "none",
        "LANGSMITH_TRACING": "false",
        "HTTP_PROXY": "http://127.0.0.1:9",
        "HTTPS_PROXY": "http://127.0.0.1:9",
        "NO_PROXY": "127.0.0.1",
    }
    return subprocess.run(
        [sys.executable, str(EXAMPLES / name), question],
        cwd=folder,
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=110,
        check=False,
    )
