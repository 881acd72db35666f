"""Rerankers over the network: the services, the shapes of their messages, and the checks of their replies.

All of them take a query and texts and return a score for the number of each text. Every text leaves without
its secrets unless the service runs on this machine, and every request is counted before it is sent.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from memlines.embed.base import Meter
from memlines.embed.remote.http import Http, Patience
from memlines.embed.remote.provider import without_secrets
from memlines.embed.rerank.base import Reranker, rerank_settings_named
from memlines.embed.spending.budget import estimate
from memlines.errors import ProviderUnreachable, ProviderUnusable, TextsRefused
from memlines.records import dataclass
from memlines.settings.rerank import RERANK_SERVICES, Rerank
from memlines.text.redaction import Rules

_REPLY_SLACK = 65_536
_MOST_TOKENS = 2**53
_LARGEST_SCORE = 1e30
_GRACE_SECONDS = 1.0
"""How long a reply is waited for when the caller has given up: what it cost is counted then."""


@dataclass(frozen=True, slots=True)
class Service:
    """What differs from service to service."""

    url: str = ""
    """The usual address, which `/rerank` follows; empty where the settings have to name it."""
    default_model: str = ""
    """Empty where a server has one model and needs no name."""
    fields: tuple[str, ...] = ("documents",)
    """What a request may call its texts; the first that a server accepts is used from then on."""
    parameters: Mapping[str, Any] | None = None
    """What every request says besides."""


SERVICES = {
    "voyage": Service("https://api.voyageai.com/v1", "rerank-2.5"),
    "cohere": Service("https://api.cohere.com/v2", "rerank-v4.0-fast"),
    "jina": Service("https://api.jina.ai/v1", "jina-reranker-v3", parameters={"return_documents": False}),
    # llama.cpp, vLLM and Infinity say `documents`, text-embeddings-inference says `texts`.
    "openai-compatible": Service(fields=("documents", "texts")),
}


class RemoteReranker(Reranker):
    """A service that scores texts over the network.

    The constructor sends nothing, and raises `ProviderUnusable` for what is missing: a key or an address.
    """

    def __init__(
        self,
        settings: Rerank,
        meter: Meter | None,
        environ: Mapping[str, str],
        rules: Rules | None = None,
    ) -> None:
        self.id = settings.provider
        self._service = SERVICES[self.id]
        self.model = model_name(settings)
        self._meter = meter
        self._rules = rules
        base_url = (settings.base_url or "").strip() or self._service.url
        if not base_url:
            raise ProviderUnusable(f"{self.id} has no address of its own", todo="Set rerank.base_url")
        variables = RERANK_SERVICES[self.id]
        found = (settings.api_key or "", *(environ.get(name, "") for name in variables))
        key = next((key.strip() for key in found if key.strip()), "")
        if not key and variables:
            raise ProviderUnusable(
                f"{self.id} has no key", todo=f"Set rerank.api_key, or the variable {' or '.join(variables)}"
            )
        with rerank_settings_named():
            self.http = Http(base_url, {"authorization": f"Bearer {key}"} if key else {}, name=self.id)
        host = self.http.address.host
        is_here = self.http.address.is_loopback
        self.sends_to, self.place = ("", f"{host}, on this machine") if is_here else (host, host)
        self._fields = self._service.fields

    def score(self, query: str, texts: Sequence[str], ends: float) -> list[float]:
        """Return the scores that the service gives, by one request."""
        if self.sends_to:
            query, *texts = (without_secrets(text, self._rules) for text in (query, *texts))
        for field in self._fields[:-1]:
            with suppress(TextsRefused):
                return self._send(query, list(texts), field, ends)
        return self._send(query, list(texts), self._fields[-1], ends)

    def _send(self, query: str, texts: list[str], field: str, ends: float) -> list[float]:
        """Return the scores of one request, whose cost is counted whether the reply is good or not."""
        body: dict[str, Any] = {"query": query, field: texts, **(self._service.parameters or {})}
        if self.model:
            body["model"] = self.model
        if field == "texts":
            body["truncate"] = True  # which is refused otherwise, and for the others is what they do anyway
        left = max(0.0, ends - time.monotonic()) + _GRACE_SECONDS
        room = 2 * len(json.dumps(body)) + _REPLY_SLACK  # some servers send the texts back
        # A service reads the query once with every text.
        expected, used = sum(map(estimate, texts)) + len(texts) * estimate(query), 0
        if self._meter is not None:
            self._meter.reserve(expected, "rerank")
        try:
            patience = Patience(total=left, connect=left, retries=0)
            with rerank_settings_named():
                raw = self.http.json("POST", "rerank", body=body, patience=patience, max_reply=room)
            used = _token_count(raw, expected)
            scores = _read_scores(raw, len(texts), self.http.who)
        finally:
            if self._meter is not None:
                self._meter.settle(expected, used, "rerank")
        self._fields = (field,)
        return scores


def model_name(settings: Rerank) -> str:
    """Return the model of a service to use; empty if the server's own is meant."""
    return (settings.model or SERVICES[settings.provider].default_model).strip()


def _token_count(raw: Any, expected: int) -> int:
    """Return how many tokens a service says it read, if it says so and that can be true."""
    usage = raw.get("usage") if isinstance(raw, dict) else None
    count = usage.get("total_tokens") if isinstance(usage, dict) else None
    return count if type(count) is int and 0 < count < _MOST_TOKENS else expected


def _read_scores(raw: Any, count: int, who: str) -> list[float]:
    """Return the scores of a reply in the order of the texts, or raise `ProviderUnreachable`.

    It is a list of scores with the number of their text, which may be under `results` or `data`.
    """
    items = raw.get("results", raw.get("data")) if isinstance(raw, dict) else raw
    scores: dict[int, float] = {}
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict):
            place: Any = item.get("index")
            score: Any = item.get("relevance_score", item.get("score"))
            if type(place) is int and type(score) in (int, float) and abs(score) <= _LARGEST_SCORE:
                scores[place] = float(score)
    if not isinstance(items, list) or len(items) != count or sorted(scores) != list(range(count)):
        raise ProviderUnreachable(
            f"{who} replied with something other than one score for each of {count} texts",
            todo="Check that rerank.base_url and rerank.model are those of a reranker",
        )
    return [scores[place] for place in range(count)]
