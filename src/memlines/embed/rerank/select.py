"""Make the reranker that the settings name, and ask it within its time."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from memlines.embed.rerank.base import Reranker
from memlines.embed.select import Probe
from memlines.errors import EmbeddingError, ProviderUnreachable
from memlines.locks import start_daemon
from memlines.settings import Settings

_REST_SECONDS = 60.0
"""How long a reranker that failed is left alone."""
_PROBE_SECONDS = 60.0
_PROBE_QUERY, _PROBE_TEXTS = "memory", ("memory", "weather")


def make_reranker(settings: Settings, environ: Mapping[str, str] = os.environ) -> Reranker:
    """Make the reranker of the settings, which name one; one that cannot work is an error."""
    wanted = settings.rerank
    if wanted.provider == "local":
        from memlines.embed.rerank.local import LocalReranker

        return LocalReranker(wanted)
    if wanted.provider == "onnx":
        from memlines.embed.rerank.onnx import OnnxReranker

        return OnnxReranker(wanted)
    from memlines.embed.rerank.remote import RemoteReranker, model_name
    from memlines.embed.spending.budget import Budget
    from memlines.embed.spending.ledger import Ledger
    from memlines.text.redaction import rules_of

    budget = Budget(settings.spend, wanted.provider, model_name(wanted), Ledger())
    return RemoteReranker(wanted, budget, environ, rules_of(settings.redaction.rules))


class BoundedReranker:
    """The reranker of the settings, which is never waited for longer than they say; safe in several threads.

    After a failure it rests for a minute. Whatever it does happens in a thread that is left alone when the
    time is over, because a model that runs cannot be interrupted.
    """

    def __init__(self, settings: Settings, environ: Mapping[str, str] = os.environ) -> None:
        self._settings = settings
        self._environ = environ
        self._reranker: Reranker | None = None
        self._making = threading.Lock()
        self._is_begun = False
        self._rest_until = 0.0

    def reranker(self) -> Reranker:
        """Return the reranker, made when it is first needed; one that cannot work is an error."""
        with self._making:
            if self._reranker is None:
                self._reranker = make_reranker(self._settings, self._environ)
            return self._reranker

    def score(self, query: str, texts: Sequence[str]) -> list[float] | None:
        """Return one score a text; nothing while it rests. An `EmbeddingError` says why there are none."""
        if time.monotonic() < self._rest_until:
            return None
        try:
            return self._score_within(self._settings.rerank.timeout_ms / 1000, query, texts)
        except EmbeddingError:
            self._rest_until = time.monotonic() + _REST_SECONDS
            raise

    def load_soon(self) -> None:
        """Begin to load a model that is on this machine, once, and return at once."""
        with self._making:
            is_begun, self._is_begun = self._is_begun, True
        if not is_begun:
            start_daemon(self.warm_up, "memlines-rerank")

    def warm_up(self) -> None:
        """Load a model that is on this machine; one that cannot be loaded is reported by the first search."""
        with suppress(EmbeddingError):
            self.reranker().load()

    def probe(self) -> Probe:
        """Try it with two words, whatever time that takes, and say what came of it."""
        name = self._settings.rerank.provider
        begin = time.monotonic()
        try:
            self._score_within(_PROBE_SECONDS, _PROBE_QUERY, _PROBE_TEXTS)
            sends_to = self.reranker().sends_to
        except EmbeddingError as error:
            return Probe(False, name, "none", error.what, error.todo, error.code)
        given = (
            f"; {sends_to} was given the words {' and '.join(map(repr, _PROBE_TEXTS))}" if sends_to else ""
        )
        took = f"the first call took {time.monotonic() - begin:.2f} s"
        return Probe(True, name, name, f"it works{given}; {took}")

    def _score_within(self, seconds: float, query: str, texts: Sequence[str]) -> list[float]:
        ends = time.monotonic() + seconds
        work = start_daemon(lambda: self.reranker().score(query, texts, ends), "memlines-rerank")
        try:
            return work.result(seconds)
        except TimeoutError:
            raise ProviderUnreachable(
                f"the reranker {self._settings.rerank.provider} did not answer within {seconds:g} seconds",
                todo="Set rerank.timeout_ms higher or rerank.candidates lower, or use a smaller model",
            ) from None
