"""What a service means when it refuses a request, as one of our errors.

Its own words are quoted where they help, and only if they repeat neither a secret nor a text. An `Outage`
remembers that a service cannot be reached, so that not every call waits for it to time out.
"""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from memlines.errors import (
    EmbeddingError,
    ProviderUnreachable,
    ProviderUnusable,
    QuotaExceeded,
    TextsRefused,
)
from memlines.records import dataclass

_QUOTED_CHARACTERS = 200
_SAME_WORDS = 16
"""A message that shares this many characters in a row with a text repeats the text."""

_NO_MONEY_CODE = re.compile(r"insufficient_quota|billing", re.IGNORECASE)
_NO_MONEY = re.compile(
    r"exceeded your current quota|credit balance|(insufficient|out of|no) (balance|credits?|funds)",
    re.IGNORECASE,
)
"""Plain rate limits mention billing as well, as the way to raise them."""
_INPUT_TOO_LONG = re.compile(
    r"\b(input|prompt|text|token)s?\b.{0,40}\btoo (large|long)|context (length|size|window)", re.IGNORECASE
)
"""What llama.cpp's server says with status 500; a gateway's "took too long" is not that."""
_SECRETS = re.compile(
    r"\b(?:bearer|basic)\s+\S+|\b(?:sk|pk|pa|rk|key|hf|gsk)[-_][\w*.-]{8,}|\bAIza[\w*.-]+"
    r"|\S*\*{3,}\S*|\b[A-Za-z0-9]{24,}\b",
    re.IGNORECASE,
)
"""What looks like a key, also one that is not ours or was shortened."""


_BAD_KEY = ("does not accept the key", "Check embeddings.api_key and what the key may do")
_BAD_ADDRESS = ("does not know the model or the address", "Check embeddings.model and embeddings.base_url")
_UNUSABLE = {401: _BAD_KEY, 403: _BAD_KEY, 404: _BAD_ADDRESS}
"""What a status means that no other texts would change, and what to do about it."""

_BAD_REQUESTS: tuple[tuple[str, type[EmbeddingError], str, str], ...] = (
    (
        r"too (large|long)|context (length|size|window)|maximum (input|sequence) length",
        TextsRefused,
        "refused the texts as too long",
        "Send shorter ones",
    ),
    (r"api[ _-]?key", ProviderUnusable, *_BAD_KEY),
    (
        r"model_not_found|(invalid|unknown|unsupported)[ _]model"
        r"|\bmodel\b.{0,80}"
        r"\b(not (found|supported|available|exist)|does(n't| not) exist|is not|unknown|invalid)",
        ProviderUnusable,
        *_BAD_ADDRESS,
    ),
    (r"dimension", ProviderUnusable, "does not make vectors of this length", "Check embeddings.dimensions"),
    (r"", TextsRefused, "refused the texts", "Send others"),
)
"""What the words of a bad request mean: the first pattern that is found counts."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error, whether another attempt may help, and how long the service asks to wait first."""

    error: EmbeddingError
    again: bool = False
    wait: float | None = None


class _Body(NamedTuple):
    """What the body of a refusal says, in the shapes that services use."""

    message: str
    codes: str
    """The short codes of the error in one string."""
    delay: str
    """The seconds of Google's `retryDelay`, if it is there."""


def read_refusal(
    who: str, status: int, headers: Mapping[str, str], body: bytes, *, secrets: Iterable[str], sent: Any
) -> Refusal:
    """Return what an answer with a status other than 2xx means.

    `secrets` are the values of our headers and `sent` the request's body: neither is repeated.
    """
    said = _read_body(body)
    quoted = quote_message(said.message, _texts(sent), secrets)
    words = f": {quoted}" if quoted else ""
    wait = _wait_seconds(headers.get("retry-after", "").strip() or said.delay)
    if status in (402, 429):
        has_no_money = _NO_MONEY_CODE.search(said.codes) or (wait is None and _NO_MONEY.search(said.message))
        if status == 402 or has_no_money:
            what = f"{who} has no quota left for this key (status {status}){words}"
            return Refusal(QuotaExceeded(what, todo="Check the plan and the billing there"))
        what = f"{who} allows no more requests for now (status {status}){words}"
        return Refusal(QuotaExceeded(what, todo=f"Try again {_when(wait)}"), True, wait)
    if status in (400, 413, 422) or (status == 500 and _INPUT_TOO_LONG.search(said.message)):
        hints = f"{said.message} {said.codes}"
        _, kind, what, todo = next(
            row for row in _BAD_REQUESTS if re.search(row[0], hints, re.IGNORECASE | re.DOTALL)
        )
        return Refusal(kind(f"{who} {what} (status {status}){words}", todo=todo))
    if status == 408 or status >= 500:  # a gateway has statuses of its own, such as 520 to 530
        error = ProviderUnreachable(f"{who} fails (status {status}){words}", todo=f"Try again {_when(wait)}")
        return Refusal(error, True, wait)
    other = "does not accept this kind of request", "Check embeddings.base_url and embeddings.headers"
    what, todo = _UNUSABLE.get(status, other)
    return Refusal(ProviderUnusable(f"{who} {what} (status {status}){words}", todo=todo))


def read_network_error(who: str, error: Exception) -> Refusal:
    """Return what an error of the HTTP library means, in words that hold nothing of the request."""
    import socket
    import ssl
    import zlib

    import httpx2

    cause: BaseException | None = error
    while isinstance(error, httpx2.ConnectError) and cause is not None and not isinstance(cause, OSError):
        cause = cause.__cause__ or cause.__context__
    meanings: tuple[tuple[type[Exception], str, bool], ...] = (
        (httpx2.TimeoutException, "did not answer in time", True),
        (ConnectionResetError, "broke off the connection", True),
        (ConnectionRefusedError, "is not there: the connection was refused", False),
        (socket.gaierror, "was not found: no network, or no such name", False),
        (ssl.SSLError, "could not prove that it is the one asked for (TLS)", False),
        (httpx2.ConnectError, "could not be reached", False),
        (httpx2.NetworkError, "broke off the connection", True),
        (httpx2.RemoteProtocolError, "broke off the connection", True),
        (httpx2.ProxyError, "could not be reached through the proxy of the environment", False),
        (zlib.error, "replied with something that cannot be unpacked", True),
    )
    for kind, what, again in meanings:  # another attempt may help where a connection was cut
        if isinstance(error, kind) or isinstance(cause, kind):
            todo = "Check the network and embeddings.base_url"
            return Refusal(ProviderUnreachable(f"{who} {what}", todo=todo), again)
    what = f"{who} cannot be asked like this ({type(error).__name__})"
    return Refusal(ProviderUnusable(what, todo="Check embeddings.base_url and embeddings.headers"))


def _when(wait: float | None) -> str:
    if wait is None:
        return "later"
    return f"in {math.ceil(wait)} seconds" if wait < 120 else f"in {math.ceil(wait / 60)} minutes"


def _wait_seconds(raw: str) -> float | None:
    """Return the seconds that a service asks to wait, which it writes as a number or as a date."""
    if not raw:
        return None
    try:
        seconds = float(raw)
    except ValueError:
        from email.utils import parsedate_to_datetime

        try:
            seconds = parsedate_to_datetime(raw).timestamp() - time.time()
        except (ValueError, OverflowError):
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _read_body(body: bytes) -> _Body:
    try:
        reply = json.loads(body)
    except (ValueError, RecursionError):
        reply = None
    if not isinstance(reply, dict):
        return _Body("", "", "")
    error = reply["error"] if isinstance(reply.get("error"), dict) else {}
    messages = (error.get("message"), reply.get("error"), reply.get("message"), reply.get("detail"))
    codes = (part.get(name) for part in (reply, error) for name in ("code", "type", "status"))
    details = error["details"] if isinstance(error.get("details"), list) else []
    delays = (detail.get("retryDelay") for detail in details if isinstance(detail, dict))
    return _Body(
        next((text for text in messages if isinstance(text, str)), ""),
        " ".join(code for code in codes if isinstance(code, str)),
        next((delay.removesuffix("s") for delay in delays if isinstance(delay, str)), ""),
    )


def quote_message(message: str, texts: Iterable[str] = (), secrets: Iterable[str] = ()) -> str:
    """Return a short piece of a service's message without secrets, or nothing if it repeats a text."""
    for secret in secrets:
        for part in (secret, *secret.split()):
            if len(part) > 3:
                message = message.replace(part, "…")
    message = " ".join(_SECRETS.sub("…", message).split())
    message = "".join(character for character in message if character.isprintable()).rstrip(".")
    if any(_repeats(message, text) for text in texts):
        return ""
    return message if len(message) <= _QUOTED_CHARACTERS else message[: _QUOTED_CHARACTERS - 1] + "…"


def _texts(sent: Any) -> Iterable[str]:
    """Yield the texts of a person in a request's body, by the names that services have for them."""
    if isinstance(sent, bytes):
        yield sent.decode("utf-8", errors="replace")
    elif isinstance(sent, dict):
        for name, value in sent.items():
            if name in ("input", "text", "query", "documents", "texts"):
                yield from [value] if isinstance(value, str) else value
            else:
                yield from _texts(value)
    elif isinstance(sent, list):
        for value in sent:
            yield from _texts(value)


def _repeats(said: str, text: str) -> bool:
    text = " ".join(text.split())
    if 3 < len(text) <= _SAME_WORDS and text in said:
        return True
    starts = range(len(said) - _SAME_WORDS + 1)
    return any(said[start : start + _SAME_WORDS] in text for start in starts)


_OUTAGE_SECONDS = 30.0


class Outage:
    """A time in which questions need not be asked; safe in several threads, because it only ever guesses."""

    def __init__(self) -> None:
        self._until = 0.0
        self._error = ProviderUnreachable("the service could not be reached")

    def begin(self, error: ProviderUnreachable) -> None:
        """Note that the service could not be reached."""
        self._error = error
        self._until = time.monotonic() + _OUTAGE_SECONDS

    def end(self) -> None:
        """Note that it answers."""
        self._until = 0.0

    def check(self) -> None:
        """Raise the last error again if it is so fresh that another attempt would most likely fail too."""
        if time.monotonic() < self._until:
            raise ProviderUnreachable(self._error.what, todo=self._error.todo)
