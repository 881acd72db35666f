"""The limits, states and results of batches.

Every text has a key of ours, so results are of use whatever happened to this process in between. Reading them
never fails: what is wrong with a line is an answer, too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from memlines.embed.remote.errors import quote_message
from memlines.embed.remote.http import Patience
from memlines.embed.remote.services import Malformed, Reply
from memlines.errors import BadVectors
from memlines.records import dataclass

if TYPE_CHECKING:
    from memlines.embed.base import Vector

_DIGITS = 15
"""A whole number with more digits is read as a float, which may be infinite; nothing else fails so."""


class Answer(NamedTuple):
    """What one line of results says: a unit vector, or the reason why there is none.

    There is no key where it is not known which text the line is about; `tokens` counts even then.
    """

    key: str | None
    vector: Vector | None
    reason: str = ""
    tokens: int = 0


class ResultReader:
    """Turns lines of results into answers. Without `dims`, all vectors must be as long as the first."""

    def __init__(
        self,
        service: str,
        dims: int | None,
        read_line: Callable[[dict[str, Any]], tuple[Any, Any, str | None]],
        read_reply: Callable[[Any, int], Reply],
    ) -> None:
        """Take how the service writes a line, and how it replies to a direct request."""
        self._service = service
        self._dims = dims
        self._read_line = read_line
        self._read_reply = read_reply

    def answers(self, lines: Iterable[str], texts: Mapping[str, str]) -> Iterator[Answer]:
        """Yield one answer a line; only the first vector for a key counts."""
        seen: set[str] = set()
        for line in lines:
            if not line.strip():
                continue
            answer = self._answer(line, texts, seen)
            if answer.key is not None and answer.vector is not None:
                seen.add(answer.key)
            yield answer

    def _answer(self, line: str, texts: Mapping[str, str], seen: set[str]) -> Answer:
        try:
            record = json.loads(line, parse_int=_number)
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict):
            return Answer(None, None, "a line is broken")
        key, raw, refusal = self._read_line(record)
        reply: Reply | Malformed
        try:
            reply = self._read_reply(raw, 1)
        except Malformed as problem:
            reply = problem
        tokens = (reply.tokens or 0) if isinstance(reply, Reply) else 0
        if not isinstance(key, str) or key not in texts:
            return Answer(None, None, "a line is about a text that was not sent", tokens)
        if key in seen:
            return Answer(None, None, "a second line is about the same text", tokens)
        if refusal is not None:
            words = quote_message(refusal, [texts[key]])
            return Answer(key, None, f"{self._service} refused the text{words and ': '}{words}")
        if isinstance(reply, Malformed):
            return Answer(key, None, f"{self._service} {reply}")
        try:
            vector: Vector = reply.check_vectors(1, self._dims, self._service)[0]
        except BadVectors as error:
            return Answer(key, None, error.what, tokens)
        self._dims = len(vector)
        return Answer(key, vector, "", tokens)


def value_at(value: Any, *path: str | int) -> Any:
    """Return the value at a path in JSON; `None` if there is none."""
    for step in path:
        if isinstance(step, int):
            value = value[step] if isinstance(value, list) and len(value) > step else None
        else:
            value = value.get(step) if isinstance(value, dict) else None
    return value


def text_at(value: Any, *path: str | int) -> str:
    """Return the string at a path in JSON; empty if there is none."""
    found = value_at(value, *path)
    return found if isinstance(found, str) else ""


def list_at(value: Any, *path: str | int) -> list[Any]:
    """Return the list at a path in JSON; empty if there is none."""
    found = value_at(value, *path)
    return found if isinstance(found, list) else []


def count_at(value: Any, *path: str | int) -> int:
    """Return the count at a path in JSON, which Google writes as a string; 0 if there is none."""
    digits = str(value_at(value, *path))
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= _DIGITS else 0


def _number(digits: str) -> int | float:
    return int(digits) if len(digits) <= _DIGITS else float(digits)


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """How much one batch may hold."""

    texts: int
    file_bytes: int


USUAL_LIMITS = BatchLimits(texts=50_000, file_bytes=100_000_000)
"""Within what all services accept; OpenAI's limits are the narrowest: 50,000 texts in 200 MB."""

ONCE = Patience(total=120, connect=10, retries=0)
"""For a request that must not be repeated before it is known whether it took effect."""
RESULTS = Patience(total=7200, connect=10, retries=3)
"""Results may be gigabytes, which are stored while they arrive."""
RESULTS_BYTES = USUAL_LIMITS.texts * 200_000
"""More than results ever have: 4,096 numbers of twenty digits are half of what a line gets here."""

PAGES = 10
PAGE = 100
"""How far back a batch is looked for among all batches of the key's owner."""

Phase = Literal["running", "done", "failed", "expired", "cancelled"]


@dataclass(frozen=True, slots=True)
class BatchState:
    """How far a batch has come."""

    phase: Phase
    completed: int = 0
    total: int = 0
    reason: str = ""
    """Why it failed, in the words of the service."""
