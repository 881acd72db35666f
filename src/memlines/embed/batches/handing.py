"""What handing in a batch has in common everywhere: lines, the request that carries them, and attempts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from memlines.embed.batches.base import USUAL_LIMITS, BatchApi
from memlines.embed.batches.lines import text_at
from memlines.embed.remote import http as remote
from memlines.embed.remote.api import Api
from memlines.embed.remote.http import Patience
from memlines.errors import ProviderUnreachable, ProviderUnusable, QuotaExceeded

ONCE = Patience(total=120, connect=10, retries=0)
"""For a request that must not be repeated before somebody has looked whether it took effect."""
RESULTS = Patience(total=7200, connect=10, retries=3)
"""Gigabytes come down, and are kept meanwhile."""
RESULTS_BYTES = USUAL_LIMITS.texts * 200_000
"""More than results ever have: 4,096 numbers of twenty digits are half of what a line gets here."""

PAGES = 10
PAGE = 100
"""How far back a batch is looked for among all batches of the key's owner."""

_CREATE_WAITS = (0.3, 2.0)
"""Seconds between the attempts to create a batch."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How texts are asked for directly; in a batch it must be the same, for the vectors are compared."""

    api: Api
    model: str
    dimensions: int | None
    """The length that somebody chose for vectors."""
    fit_to_send: Callable[[str], str] = str
    """Makes of a text what may leave this machine."""

    def request(self, text: str) -> dict[str, Any]:
        """Return the body of the request for one passage."""
        shown = self.api.prefixes(self.model)[1] + self.fit_to_send(text)
        return self.api.request(self.model, [shown], is_query=False, dims=self.dimensions)[1]


def json_line(value: object) -> bytes:
    """Return a value as one line of JSON."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def multipart(api: BatchApi, texts: Mapping[str, str], first: str, second: str) -> tuple[str, bytes]:
    """Return a border and the body of a request with two parts between it.

    `first` is the whole first part, `second` the headers of the second one, which is the file of texts.
    """
    border = uuid4().hex
    lines = (api.line(key, text) for key, text in texts.items())
    head = f"--{border}\r\n{first}\r\n--{border}\r\n{second}\r\n\r\n"
    return border, b"".join((head.encode(), *lines, f"\r\n--{border}--\r\n".encode()))


def created(service: str, create: Callable[[], str], find: Callable[[], str | None]) -> str:
    """Create a batch in up to three attempts and return its id.

    An attempt that seems to have failed may still have made the batch. So `find` looks for it before
    it is made, and paid, a second time.
    """
    for wait in (*_CREATE_WAITS, None):
        try:
            return create()
        except ProviderUnusable as error:
            raise ProviderUnusable(
                f"{service} does not offer batches here: {error.what}",
                todo="Set embeddings.batch.enabled to false, or choose another model",
            ) from error
        except (ProviderUnreachable, QuotaExceeded) as error:
            if isinstance(error, ProviderUnreachable) and (made := find()) is not None:
                return made
            if wait is None:
                raise
            remote.pause(wait)
    raise AssertionError("the last attempt returns or raises")


def named(service: str, reply: Any, field: str) -> str:
    """Return the name that a service gave to something it made."""
    name = text_at(reply, field)
    if not name:
        raise ProviderUnreachable(f"{service} replied without {field!r}", todo="Try again later")
    return name
