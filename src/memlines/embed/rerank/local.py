"""The reranker `local`: a GGUF model of the user's own, run by llama.cpp inside this process."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Sequence

from memlines import paths
from memlines.embed.base import count_cores
from memlines.embed.local.header import PACKAGE, fingerprint_of, read_header, unusable
from memlines.embed.rerank.base import Reranker, rerank_settings_named
from memlines.errors import ProviderUnusable, extra_missing
from memlines.settings.rerank import Rerank

_MOST_TOKENS = 2048
"""For a query and a text; longer ones would take gigabytes with some models."""
_MARKS = 8
"""Tokens that are kept for the marks a model puts around a query and a text."""
_LOADING_SECONDS = 300.0


class LocalReranker(Reranker):
    """A GGUF reranker; nothing leaves the machine.

    Making one reads the file's header. llama.cpp and the model are loaded at the first query.
    """

    id = "local"

    def __init__(self, settings: Rerank) -> None:
        from memlines.embed.local.engine import Plan, shared

        if importlib.util.find_spec(PACKAGE) is None:
            raise extra_missing(ProviderUnusable, "the reranker 'local'", "local", PACKAGE)
        if not settings.path:
            raise ProviderUnusable("the reranker 'local' has no model", todo="Set rerank.path to a GGUF file")
        path = paths.expand_home(settings.path).absolute()
        with rerank_settings_named():
            header = read_header(path)
            if header.pooling != "rank":
                raise unusable(path, "is not a reranker", todo="Set rerank.path to a GGUF reranker")
            fingerprint = fingerprint_of(path)
        self.model = path.name
        tokens = min(header.context, _MOST_TOKENS)
        # A token is at least one byte, so what has so many bytes fits whatever it says.
        self._room = tokens - _MARKS
        self._engine = shared(Plan(str(path), fingerprint, tokens, count_cores(), ranks=True))

    def score(self, query: str, texts: Sequence[str], ends: float) -> list[float]:
        """Return the scores that the model gives, one text after the other."""
        asked = _cut(query, self._room // 2)
        room = self._room - len(asked.encode("utf-8", "replace"))
        scores = []
        for text in texts:
            if time.monotonic() >= ends:
                raise TimeoutError
            scores.append(self._engine.score(asked, _cut(text, room), ends))
        return scores

    def load(self) -> None:
        """Load the model."""
        self._engine.load(time.monotonic() + _LOADING_SECONDS)


def _cut(text: str, most_bytes: int) -> str:
    return text.encode("utf-8", "replace")[:most_bytes].decode("utf-8", "ignore")
