"""What the batch APIs have in common: limits and states, uploads, creating a batch only once, and results.

A service promises an answer within hours and takes less money for that. Every text carries a key of
ours, so results are of use whatever happened to this process in between. Reading them never fails: what is
wrong with a line is an answer, too.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from uuid import uuid4

from memlines.embed.remote import http
from memlines.embed.remote.errors import quote_message
from memlines.embed.remote.http import Patience
from memlines.embed.remote.services import Malformed, Reply
from memlines.errors import BadVectors, ProviderUnreachable, ProviderUnusable, QuotaExceeded

if TYPE_CHECKING:
    from memlines.embed.base import Vector
    from memlines.embed.remote.provider import RemoteProvider

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
"""Within what all services take; OpenAI's limits are the narrowest: 50,000 texts in 200 MB."""

ONCE = Patience(total=120, connect=10, retries=0)
"""For a request that must not be repeated before it is known whether it took effect."""
RESULTS = Patience(total=7200, connect=10, retries=3)
"""Results may be gigabytes, which are stored while they arrive."""
RESULTS_BYTES = USUAL_LIMITS.texts * 200_000
"""More than results ever have: 4,096 numbers of twenty digits are half of what a line gets here."""

PAGES = 10
PAGE = 100
"""How far back a batch is looked for among all batches of the key's owner."""

_CREATE_WAITS = (0.3, 2.0)
"""Seconds between the attempts to create a batch."""

Phase = Literal["running", "done", "failed", "expired", "cancelled"]


@dataclass(frozen=True, slots=True)
class BatchState:
    """How far a batch has come."""

    phase: Phase
    completed: int = 0
    total: int = 0
    reason: str = ""
    """Why it failed, in the words of the service."""


class BatchApi(ABC):
    """The batches of one model of one service. Every method may raise an `EmbeddingError`."""

    limits = USUAL_LIMITS
    """How much one batch may hold."""

    def __init__(self, provider: RemoteProvider) -> None:
        self.service = provider.http.who
        self._provider = provider
        self._http = provider.http
        self._reader = ResultReader(self.service, provider.dims, self.read_line, provider.api.reply)

    @abstractmethod
    def line(self, key: str, text: str) -> bytes:
        """Return the line of a text in the file that is uploaded."""

    @abstractmethod
    def upload(self, texts: Mapping[str, str]) -> str:
        """Upload a file with texts by their keys and return its name at the service."""

    @abstractmethod
    def start(self, file: str, token: str) -> str:
        """Ask once to make a batch of a file, and return its id."""

    @abstractmethod
    def find(self, token: str) -> str | None:
        """Return the id of the batch that was made with a token; `None` if there is none."""

    @abstractmethod
    def state(self, batch_id: str) -> BatchState:
        """Ask how far a batch has come; `ProviderUnusable` if it is not known."""

    @abstractmethod
    def results(self, batch_id: str, texts: Mapping[str, str]) -> Iterator[Answer]:
        """Yield what a batch that has ended says about these texts, while it arrives.

        A line that is no good is an answer without a vector, never an error, and takes nothing from
        the lines after it. An error is raised only if the file is not available, or breaks off.
        """

    @abstractmethod
    def cancel(self, batch_id: str) -> None:
        """Ask the service to stop."""

    @abstractmethod
    def delete_files(self, batch_id: str) -> None:
        """Remove the files of a batch that has ended, which hold the texts, from the service."""

    @staticmethod
    @abstractmethod
    def read_line(record: dict[str, Any]) -> tuple[Any, Any, str | None]:
        """Return what a line of results holds: the key, the direct reply, and the message of an error."""

    def create(self, file: str, token: str) -> str:
        """Make a batch of a file in up to three attempts and return its id; `find` finds it by the token.

        An attempt that seems to have failed may still have made the batch, so it is looked for before it
        is made, and paid, a second time. `ProviderUnusable` means that there are no batches for this model.
        """
        for wait in (*_CREATE_WAITS, None):
            try:
                return self.start(file, token)
            except ProviderUnusable as error:
                raise ProviderUnusable(
                    f"{self.service} does not offer batches here: {error.what}",
                    todo="Set embeddings.batch.enabled to false, or choose another model",
                ) from error
            except (ProviderUnreachable, QuotaExceeded) as error:
                if isinstance(error, ProviderUnreachable) and (found := self.find(token)) is not None:
                    return found
                if wait is None:
                    raise
                http.pause(wait)
        raise AssertionError("the last attempt returns or raises")

    def split(self, texts: Mapping[str, str]) -> Iterator[dict[str, str]]:
        """Yield texts in groups that each fit into one batch."""
        group: dict[str, str] = {}
        size = 0
        for key, text in texts.items():
            more = len(self.line(key, text))
            if group and (len(group) == self.limits.texts or size + more > self.limits.file_bytes):
                yield group
                group, size = {}, 0
            group[key] = text
            size += more
        if group:
            yield group

    def _request(self, text: str) -> dict[str, Any]:
        """Return the body of the direct request for one passage; the vectors must be the same."""
        shown = self._provider.prepare([text], is_query=False)
        dims = self._provider.chosen_dims
        return self._provider.api.request(self._provider.model, shown, is_query=False, dims=dims)[1]

    def _multipart(self, texts: Mapping[str, str], first: str, second: str) -> tuple[str, bytes]:
        """Return the boundary and the body of a request with two parts.

        `first` is the whole first part, `second` the headers of the second one, which is the file of texts.
        """
        boundary = uuid4().hex
        lines = (self.line(key, text) for key, text in texts.items())
        head = f"--{boundary}\r\n{first}\r\n--{boundary}\r\n{second}\r\n\r\n"
        return boundary, b"".join((head.encode(), *lines, f"\r\n--{boundary}--\r\n".encode()))

    def _name_of(self, reply: Any, field: str) -> str:
        """Return the name that the service gave to something it made."""
        name = text_at(reply, field)
        if not name:
            raise ProviderUnreachable(f"{self.service} replied without {field!r}", todo="Try again later")
        return name


def json_line(value: object) -> bytes:
    """Return a value as one line of JSON."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
