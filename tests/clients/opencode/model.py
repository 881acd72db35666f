"""A model that does what the prompt says, and keeps what it was sent.

`CALL memory_search {"query": "x"} ;; CALL memory_status {}` in what the user said are the calls it makes,
one after the other. What is said in words can be answered by calls too: see `Model.when`. `USED 60000` says
how many tokens the turn is said to take.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.clients.harness import ModelServer
from tests.fixtures.model_server import Handler, text_of

SUMMARY = "What was said was summed up."
TITLE = "A title"
END = "The end."
HELD_SECONDS = 60
"""For how long a reply is held at most."""

_CALL = re.compile(r"CALL (\w+) (\{.*?\})(?=\s*(?:;;|$))", re.DOTALL | re.MULTILINE)
_USED = re.compile(r"USED (\d+)")

Calls = tuple[tuple[str, dict[str, Any]], ...]


@dataclass(frozen=True, slots=True)
class Request:
    """One question to the model; `received` is when it came, by the clock that measures best."""

    body: dict[str, Any]
    received: float = field(default_factory=time.perf_counter)

    @property
    def messages(self) -> list[dict[str, Any]]:
        """What was said so far."""
        found: list[dict[str, Any]] = self.body["messages"]
        return found

    @property
    def system(self) -> str:
        """The whole system prompt."""
        return "\n\n".join(text_of(m["content"]) for m in self.messages if m["role"] == "system")

    @property
    def asked(self) -> str:
        """What the user said last."""
        said = [text_of(m["content"]) for m in self.messages if m["role"] == "user"]
        return said[-1] if said else ""

    @property
    def everything(self) -> str:
        """The request as one text."""
        return json.dumps(self.body, ensure_ascii=False)

    @property
    def results(self) -> list[str]:
        """What the tools answered since the user last spoke."""
        found: list[str] = []
        for message in reversed(self.messages):
            if message["role"] == "user":
                break
            if message["role"] == "tool":
                found.insert(0, text_of(message["content"]))
        return found

    @property
    def tools(self) -> dict[str, dict[str, Any]]:
        """The tools that the model may call, by name."""
        return {tool["function"]["name"]: tool["function"] for tool in self.body.get("tools", [])}

    @property
    def is_for_title(self) -> bool:
        """Whether it asks for the title of a session."""
        return not self.tools and "title" in self.system.lower()[:400]

    @property
    def is_for_compaction(self) -> bool:
        """Whether it asks to sum the conversation up."""
        return not self.tools and not self.is_for_title


class Model(ModelServer):
    """The server of the model; `requests` is what it was asked, `thinks` the seconds before an answer."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.thinks = 0.0
        self._rules: list[tuple[str, Calls]] = []
        self._goes_on = threading.Event()
        self._goes_on.set()
        super().__init__(_handler_of(self))
        self.url += "/v1"

    def close(self) -> None:
        """Stop answering."""
        self._goes_on.set()
        super().close()

    def when(self, words: str, *calls: tuple[str, dict[str, Any]]) -> None:
        """Make calls when these words are in what the user said; the newest rule is looked at first."""
        self._rules.insert(0, (words, calls))

    @contextmanager
    def silent(self) -> Iterator[None]:
        """Answer no question with tools in the meantime."""
        self._goes_on.clear()
        try:
            yield
        finally:
            self._goes_on.set()

    def about(self, words: str) -> list[Request]:
        """Return what a model with tools was asked, in turns where the user said these words."""
        return [request for request in list(self.requests) if request.tools and words in request.asked]

    def answer(self, request: Request) -> tuple[str, Calls, int]:
        """Return words, calls and tokens; keep the question."""
        self.requests.append(request)
        if request.is_for_title:
            return TITLE, (), 100
        if request.is_for_compaction:
            return SUMMARY, (), 1000
        time.sleep(self.thinks)
        self._goes_on.wait(HELD_SECONDS)
        used = _USED.search(request.asked)
        tokens = int(used[1]) if used else 1000
        done = len(request.results)
        if calls := self._calls(request.asked)[done : done + 1]:
            return "", calls, tokens
        return END, (), tokens

    def _calls(self, asked: str) -> Calls:
        if named := _CALL.findall(asked):
            return tuple((name, json.loads(arguments)) for name, arguments in named)
        return next((calls for words, calls in self._rules if words in asked), ())


def _handler_of(model: Model) -> type[Handler]:
    class Scripted(Handler):
        """Answers as this model."""

        def _completions(self, body: dict[str, Any]) -> None:
            text, calls, used = model.answer(Request(body))
            try:
                self._complete(body, text, calls, used)
            except ConnectionError:
                self.close_connection = True  # the turn was aborted

    return Scripted
