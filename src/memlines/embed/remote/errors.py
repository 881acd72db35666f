"""What a service means when it refuses a request, as one of our errors.

Its own words are quoted where they help, and only if they repeat neither a secret nor a text. An `Outage`
remembers that a service cannot be reached, so that not every call waits for it to time out.
"""

from __future__ import annotations

import json
import math
import re
import socket
import ssl
import time
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

from memlines.errors import (
    EmbeddingError,
    ProviderUnreachable,
    ProviderUnusable,
    QuotaExceeded,
    TextsRefused,
)

_QUOTED_CHARACTERS = 200
_SAME_WORDS = 16
"""A message that shares this many characters in a row with a text repeats the text."""

_NO_MONEY_CODE = re.compile(r"insufficient_quota|billing", re.IGNORECASE)
_NO_MONEY = re.compile(
    r"exceeded your current quota|credit balance|(insufficient|out of|no) (balance|credits?|funds)",
    re.IGNORECASE,
)
"""Plain rate limits mention billing as well, as the way to raise them."""
_TOO_LONG = re.compile(
    r"too (large|long)|context (length|size|window)|maximum (input|sequence) length", re.IGNORECASE
)
_INPUT_TOO_LONG = re.compile(
    r"\b(input|prompt|text|token)s?\b.{0,40}\btoo (large|long)|context (length|size|window)", re.IGNORECASE
)
"""What llama.cpp's server says with status 500; a gateway's "took too long" is not that."""
_BAD_KEY = re.compile(r"api[ _-]?key", re.IGNORECASE)
_BAD_MODEL = re.compile(
    r"model_not_found|(invalid|unknown|unsupported)[ _]model"
    r"|\bmodel\b.{0,80}\b(not (found|supported|available|exist)|does(n't| not) exist|is not|unknown|invalid)",
    re.IGNORECASE | re.DOTALL,
)
_BAD_DIMENSIONS = re.compile(r"dimension", re.IGNORECASE)
_SECRETS = re.compile(
    r"\b(?:bearer|basic)\s+\S+|\b(?:sk|pk|pa|rk|key|hf|gsk)[-_][\w*.-]{8,}|\bAIza[\w*.-]+"
    r"|\S*\*{3,}\S*|\b[A-Za-z0-9]{24,}\b",
    re.IGNORECASE,
)
"""What looks like a key, also one that is not ours or was shortened."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error, whether another attempt may help, and how long the service asks to wait first."""

    error: EmbeddingError
    again: bool = False
    wait: float | None = None


def refusal(
    who: str, status: int, headers: Mapping[str, str], body: bytes, *, secrets: Iterable[str], sent: Any
) -> Refusal:
    """Return what an answer with a status other than 2xx means.

    `secrets` are the values of our headers and `sent` the request's body: neither is repeated.
    """
    reply = _parsed(body)
    said = _message(reply)
    quoted = quote_message(said, _texts(sent), secrets)
    words = f": {quoted}" if quoted else ""
    hints = f"{said} {_codes(reply)}"
    if status == 429 or status == 402:
        return _over_quota(who, status, headers, reply, said, words)
    if status in (400, 413, 422) or (status == 500 and _INPUT_TOO_LONG.search(said)):
        return Refusal(_about_request(who, status, hints, words))
    if status == 408 or status >= 500:  # a gateway has statuses of its own, such as 520 to 530
        wait = _wait(headers, reply)
        error = ProviderUnreachable(f"{who} fails (status {status}){words}", todo=f"Try again {_when(wait)}")
        return Refusal(error, True, wait)
    return Refusal(_unusable(who, status, words))


def _unusable(who: str, status: int, words: str) -> ProviderUnusable:
    if status in (401, 403):
        return ProviderUnusable(
            f"{who} does not accept the key (status {status}){words}",
            todo="Check embeddings.api_key and what the key may do",
        )
    if status == 404:
        return ProviderUnusable(
            f"{who} does not know the model or the address (status 404){words}",
            todo="Check embeddings.model and embeddings.base_url",
        )
    return ProviderUnusable(
        f"{who} does not take this kind of request (status {status}){words}",
        todo="Check embeddings.base_url and embeddings.headers",
    )


def _about_request(who: str, status: int, hints: str, words: str) -> EmbeddingError:
    """Tell a request that no text would save from one whose texts are at fault."""
    if _TOO_LONG.search(hints):
        return TextsRefused(
            f"{who} refused the texts as too long (status {status}){words}", todo="Send shorter ones"
        )
    if _BAD_KEY.search(hints):
        return _unusable(who, 401, words)
    if _BAD_MODEL.search(hints):
        return _unusable(who, 404, words)
    if _BAD_DIMENSIONS.search(hints):
        return ProviderUnusable(
            f"{who} does not make vectors of this length (status {status}){words}",
            todo="Check embeddings.dimensions",
        )
    return TextsRefused(f"{who} refused the texts (status {status}){words}", todo="Send others")


def _over_quota(
    who: str, status: int, headers: Mapping[str, str], reply: Any, said: str, words: str
) -> Refusal:
    wait = _wait(headers, reply)
    if status == 402 or _NO_MONEY_CODE.search(_codes(reply)) or (wait is None and _NO_MONEY.search(said)):
        error = QuotaExceeded(
            f"{who} has no quota left for this key (status {status}){words}",
            todo="Check the plan and the billing there",
        )
        return Refusal(error)
    error = QuotaExceeded(
        f"{who} allows no more requests for now (status {status}){words}", todo=f"Try again {_when(wait)}"
    )
    return Refusal(error, True, wait)


def no_connection(who: str, error: Exception) -> Refusal:
    """Return what an error of the HTTP library means, in words that hold nothing of the request."""
    import httpx2

    if isinstance(error, httpx2.TimeoutException):
        return Refusal(_unreachable(who, "did not answer in time"), True)
    if isinstance(error, httpx2.ConnectError):
        return _unconnected(who, error)
    if isinstance(error, (httpx2.NetworkError, httpx2.RemoteProtocolError)):
        return Refusal(_unreachable(who, "broke off the connection"), True)
    if isinstance(error, httpx2.ProxyError):
        return Refusal(_unreachable(who, "could not be reached through the proxy of the environment"))
    if isinstance(error, zlib.error):
        return Refusal(_unreachable(who, "replied with something that cannot be unpacked"), True)
    return Refusal(
        ProviderUnusable(
            f"{who} cannot be asked like this ({type(error).__name__})",
            todo="Check embeddings.base_url and embeddings.headers",
        )
    )


def _unconnected(who: str, error: BaseException) -> Refusal:
    """Say why there is no connection. Only one that was cut is worth another attempt."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, OSError):
        cause = cause.__cause__ or cause.__context__
    if isinstance(cause, ConnectionResetError):
        return Refusal(_unreachable(who, "broke off the connection"), True)
    if isinstance(cause, ConnectionRefusedError):
        return Refusal(_unreachable(who, "is not there: the connection was refused"))
    if isinstance(cause, socket.gaierror):
        return Refusal(_unreachable(who, "was not found: no network, or no such name"))
    if isinstance(cause, ssl.SSLError):
        return Refusal(_unreachable(who, "could not prove that it is the one asked for (TLS)"))
    return Refusal(_unreachable(who, "could not be reached"))


def _unreachable(who: str, what: str) -> ProviderUnreachable:
    return ProviderUnreachable(f"{who} {what}", todo="Check the network and embeddings.base_url")


def _when(wait: float | None) -> str:
    if wait is None:
        return "later"
    if wait < 120:
        return f"in {math.ceil(wait)} seconds"
    return f"in {math.ceil(wait / 60)} minutes"


def _wait(headers: Mapping[str, str], reply: Any) -> float | None:
    """Return the seconds that the service asks to wait: a number, a date, or Google's `retryDelay`."""
    raw = headers.get("retry-after", "").strip() or _retry_delay(reply)
    if not raw:
        return None
    try:
        seconds = float(raw)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(raw).timestamp() - time.time()
        except (ValueError, OverflowError):
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _retry_delay(reply: Any) -> str:
    details = _error_of(reply).get("details")
    for detail in details if isinstance(details, list) else []:
        if isinstance(detail, dict) and isinstance(delay := detail.get("retryDelay"), str):
            return delay.removesuffix("s")
    return ""


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _error_of(reply: Any) -> dict[str, Any]:
    error = reply.get("error") if isinstance(reply, dict) else None
    return error if isinstance(error, dict) else {}


def _message(reply: Any) -> str:
    """Return the sentence of an error, in the shapes that services use."""
    if not isinstance(reply, dict):
        return ""
    for said in (
        _error_of(reply).get("message"),
        reply.get("error"),
        reply.get("message"),
        reply.get("detail"),
    ):
        if isinstance(said, str):
            return said
    return ""


def _codes(reply: Any) -> str:
    """Return the short codes of an error in one string."""
    if not isinstance(reply, dict):
        return ""
    parts = (reply, _error_of(reply))
    return " ".join(
        str(part[name])
        for part in parts
        for name in ("code", "type", "status")
        if isinstance(part.get(name), str)
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
    """Yield the texts of a person in a request's body: whatever is under `input` or `text`."""
    if isinstance(sent, bytes):
        yield sent.decode("utf-8", errors="replace")
    elif isinstance(sent, dict):
        for name, value in sent.items():
            if name in ("input", "text"):
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


_SECONDS = 30.0


class Outage:
    """A time in which questions need not be asked; safe in several threads, because it only ever guesses."""

    def __init__(self) -> None:
        self._until = 0.0
        self._error = ProviderUnreachable("the service could not be reached")

    def begin(self, error: ProviderUnreachable) -> None:
        """Note that the service could not be reached."""
        self._error = error
        self._until = time.monotonic() + _SECONDS

    def end(self) -> None:
        """Note that it answers."""
        self._until = 0.0

    def check(self) -> None:
        """Raise the last error again if it is so fresh that another attempt would most likely fail too."""
        if time.monotonic() < self._until:
            raise ProviderUnreachable(
                f"{self._error.what} (a moment ago; it is asked again within {_SECONDS:g} seconds)",
                todo=self._error.todo,
            )
