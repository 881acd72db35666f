"""Embed texts although some of them may be refused, with several calls under way at once."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from memlines.embed.base import Provider, pack_requests
from memlines.embed.passages import embed_passages
from memlines.errors import (
    EmbeddingError,
    ModelChanged,
    ProviderUnreachable,
    ProviderUnusable,
    QuotaExceeded,
    SpendLimit,
)

_NOT_THE_TEXTS = (ProviderUnusable, ProviderUnreachable, QuotaExceeded, SpendLimit, ModelChanged)
"""Errors that another choice of texts would not change, so nothing more is tried."""

_FEW = 4
_HOPELESS = 5
"""Failures in a row before anything was embedded that mean that the service does not work at all: all
texts at once, each half, and the two shortest, which are the least likely to be refused for themselves.
A few texts are all tried one by one."""

_MOST_FAILURES = 100
"""Calls that may fail for one group of texts. Finding one text among 256 takes eight."""


@dataclass(slots=True)
class Embedded:
    """What came of embedding some texts."""

    vectors: dict[str, bytes] = field(default_factory=dict)
    """The packed vectors by the keys of their texts, without those that were refused."""
    reason: EmbeddingError | None = None
    """Why the first text was refused, or what stopped it."""
    stopped: bool = False
    """Whether the rest was not tried, because it is not the texts that are wrong."""


def embed_texts(provider: Provider, texts: Mapping[str, str]) -> Embedded:
    """Return the vectors of texts by their keys; what was embedded is kept whatever happens to the rest.

    What the provider refuses is tried again in halves, down to single texts. Where nothing at all can be
    embedded, it is not the texts, and `stopped` says so.
    """
    work = _Work(provider, texts)
    keys = list(texts)
    requests = [
        [keys[place] for place in places] for places in pack_requests(list(texts.values()), provider.limits)
    ]
    at_once = min(provider.limits.at_once, len(requests))
    if at_once <= 1:
        for request in requests:
            work.embed(request)
    else:
        with ThreadPoolExecutor(at_once, thread_name_prefix="memlines-embed") as pool:
            for done in [pool.submit(work.embed, request) for request in requests]:
                done.result()
    result = work.result
    result.stopped = result.stopped or (result.reason is not None and not result.vectors)
    return result


class _Work:
    """Texts that are being embedded, by one thread or by several."""

    def __init__(self, provider: Provider, texts: Mapping[str, str]) -> None:
        self.provider = provider
        self.texts = texts
        self.result = Embedded()
        self._failures = 0
        self._lock = threading.Lock()

    def embed(self, request: list[str]) -> None:
        """Embed the texts of one request; if they are refused, in halves."""
        parts = deque([request])
        while parts and not self._is_over():
            part = [key for key in parts.popleft() if key not in self.result.vectors]
            if not part:
                continue
            error = self._tried(part)
            if error is not None and len(part) == len(request):
                parts.extend([*_halves(part), *([key] for key in self._shortest(part))])
            elif error is not None:
                parts.extend(_halves(part))

    def _tried(self, part: list[str]) -> EmbeddingError | None:
        try:
            blobs = embed_passages(self.provider, [self.texts[key] for key in part])
        except EmbeddingError as error:
            if isinstance(error, SpendLimit) and len(part) > 1:
                return error  # a part of it may still fit, and asking for that costs nothing
            with self._lock:
                self._failures += 1
                self.result.reason = self.result.reason or error
                if isinstance(error, _NOT_THE_TEXTS):
                    self.result.reason, self.result.stopped = error, True
            return error
        with self._lock:
            self.result.vectors.update(zip(part, blobs, strict=True))
        return None

    def _is_over(self) -> bool:
        hopeless = not self.result.vectors and self._failures >= _HOPELESS and len(self.texts) > _FEW
        return self.result.stopped or hopeless or self._failures >= _MOST_FAILURES

    def _shortest(self, part: list[str]) -> list[str]:
        return sorted(part, key=lambda key: len(self.texts[key]))[:2] if len(part) > _FEW else []


def _halves(keys: list[str]) -> list[list[str]]:
    middle = len(keys) // 2
    return [keys[:middle], keys[middle:]] if middle else []
