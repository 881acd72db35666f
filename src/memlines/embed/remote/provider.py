"""A provider over the network: what may leave this machine, requests, and the checks of their replies.

What differs from service to service is in `services`. Every text leaves through `prepare`, which takes its
secrets out unless the service runs on this machine; every request is counted by a meter before it is sent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING

from memlines.embed.base import Meter, Provider, pack_requests
from memlines.embed.remote.errors import Outage
from memlines.embed.remote.http import Http, is_secret, patience_for
from memlines.embed.remote.services import Api, Malformed, Reply
from memlines.embed.spending.budget import estimate
from memlines.errors import BadVectors, ModelChanged, ProviderUnreachable, ProviderUnusable
from memlines.settings.tree import SERVICES, Embeddings
from memlines.text.redaction import Rules, redact

if TYPE_CHECKING:
    from memlines.embed.base import Vector, Vectors

_NUMBER_BYTES = 64
"""The most that a number takes in a reply, with room to spare."""
_UNKNOWN_DIMS = 8192
_REPLY_SLACK = 65_536
_LARGEST_REPLY = 64_000_000

_KEY_BEGINS = "-----BEGIN PRIVATE KEY-----\n"
_KEY_ENDS = re.compile("-----END [A-Z0-9 ]{0,30}PRIVATE KEY-----")
_KEY_LINE = re.compile("[A-Za-z0-9+/=]{60,76}")
_MOST_KEY_LINES = 0.6
_NOTHING = "[private]"
"""What is sent of a text that is all secret; services refuse an empty one."""


class RemoteProvider(Provider):
    """A service that makes vectors over the network; safe to call from several threads.

    The constructor sends nothing, and raises `ProviderUnusable` for what is missing: a key, a model, an
    address.
    """

    def __init__(
        self,
        api: Api,
        settings: Embeddings,
        meter: Meter | None,
        environ: Mapping[str, str],
        rules: Rules | None = None,
    ) -> None:
        self.api = api
        self.meter = meter
        self.rules = rules
        self.id = api.id
        self.model = model_name(api, settings)
        self.chosen_dims = settings.dimensions
        usual_dims = api.dims(self.model)
        self.dims = self.chosen_dims or usual_dims
        if self.dims != usual_dims and not api.shortens(self.model):
            raise ProviderUnusable(
                f"{self.id} makes vectors of one length only with the model {self.model}",
                todo="Remove embeddings.dimensions, or choose another embeddings.model",
            )
        self._prefixes = api.prefixes(self.model)
        base_url = (settings.base_url or "").strip() or api.base_url(environ)
        if not base_url:
            raise ProviderUnusable(f"{api.id} has no address of its own", todo="Set embeddings.base_url")
        headers = {**_auth_headers(api, settings, environ), **dict(settings.headers)}
        self.http = Http(base_url, headers, name=api.id)
        self.sends_to = "" if self.http.address.is_loopback else self.http.address.host
        limits = api.limits(self.model)
        texts = min(settings.batch_size or limits.request_texts, limits.request_texts)
        self.limits = replace(limits, request_texts=texts)
        identity = {
            "provider": self.id,
            "base_url": self.http.address.public,
            "dimensions": settings.dimensions,
            "headers": sorted((k.lower(), v) for k, v in settings.headers if not is_secret(k, v)),
            "prefixes": self._prefixes,
        }
        self.key = sha256(json.dumps(identity, sort_keys=True).encode("utf-8")).hexdigest()[:16]
        self._is_urgent = False
        self._outage = Outage()
        self._lock = Lock()

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a question; only the beginning of a very long one counts."""
        cut = text.encode("utf-8", "replace")[: self.limits.text_bytes].decode("utf-8", "ignore")
        vector: Vector = self._embed([cut], is_query=True)[0]
        return vector

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of passages, in their order, one request after the other."""
        import numpy as np

        requests = pack_requests(texts, self.limits)
        parts = [self._embed([texts[place] for place in places], is_query=False) for places in requests]
        return np.concatenate(parts)

    def prepare(self, texts: Sequence[str], *, is_query: bool) -> list[str]:
        """Return texts as the service may see them: with prefixes, and without secrets if it is elsewhere."""
        prefix = self._prefixes[0 if is_query else 1]
        return [prefix + (without_secrets(text, self.rules) if self.sends_to else text) for text in texts]

    def with_deadline(self) -> RemoteProvider:
        """Return the same provider for when a person waits: passages get no more time than a question."""
        other = copy(self)
        other._is_urgent = True
        return other

    def _embed(self, texts: list[str], *, is_query: bool) -> Vectors:
        """Return the vectors of one request, which is made once more after a bad reply."""
        if is_query or self._is_urgent:
            self._outage.check()
        for _ in range(2):
            try:
                vectors = self._check(self._send(texts, is_query=is_query), len(texts))
            except BadVectors as error:
                bad = error
            except ProviderUnreachable as error:
                self._outage.begin(error)
                raise
            else:
                self._outage.end()
                return vectors
        raise bad

    def _send(self, texts: list[str], *, is_query: bool) -> Reply:
        """Return the reply to one request, whose cost is counted whether the reply is good or not."""
        shown = self.prepare(texts, is_query=is_query)
        path, body = self.api.request(self.model, shown, is_query=is_query, dims=self.chosen_dims)
        patience = patience_for(self.http.address, is_query=is_query or self._is_urgent)
        room = len(texts) * (self.dims or _UNKNOWN_DIMS) * _NUMBER_BYTES + _REPLY_SLACK
        expected, used = sum(map(estimate, shown)), 0
        if self.meter is not None:
            self.meter.reserve(expected, "query" if is_query else "passages")
        try:
            raw = self.http.json(
                "POST", path, body=body, patience=patience, max_reply=min(room, _LARGEST_REPLY)
            )
            used = expected
            reply = self.api.reply(raw, len(texts))
            used = expected if reply.tokens is None else reply.tokens
        except Malformed as problem:
            todo = "Try again, or choose another embeddings.provider"
            raise BadVectors(f"{self.http.who} {problem}", todo=todo) from None
        finally:
            if self.meter is not None:
                self.meter.settle(expected, used, "query" if is_query else "passages")
        return reply

    def _check(self, reply: Reply, count: int) -> Vectors:
        """Return the vectors of a reply, or raise an error if they are wrong or of another model."""
        vectors = reply.check_vectors(count, self.dims, self.http.who)
        with self._lock:
            self.answers_as = self.answers_as or reply.model
            self.dims = self.dims or vectors.shape[1]
            is_other_model = bool(reply.model) and reply.model != self.answers_as
            if is_other_model or self.dims != vectors.shape[1]:
                what = "its model" if is_other_model else "the length of its vectors"
                raise ModelChanged(
                    f"{self.http.who} changed {what} while it was in use",
                    todo="Find out which model it runs, and name it in embeddings.model",
                )
        return vectors


def without_secrets(text: str, rules: Rules | None) -> str:
    """Return a text without secrets, though never without any words.

    A chunk may begin in the middle of a key. Where one ends that never began, it began before the chunk.
    Private blocks are gone before a text is cut.
    """
    lines = text.split("\n")
    if sum(_KEY_LINE.fullmatch(line.strip()) is not None for line in lines) > _MOST_KEY_LINES * len(lines):
        return _NOTHING  # the middle of a key, whose beginning and end are in other chunks
    end = _KEY_ENDS.search(text)
    if end and "-----BEGIN " not in text[: end.start()]:
        text = _KEY_BEGINS + text
    return redact(text, rules).text.strip() or _NOTHING


def model_name(api: Api, settings: Embeddings) -> str:
    """Return the model to use, by the name that the service itself calls it."""
    model = (settings.model or api.default_model).strip()
    for prefix in api.own_prefixes:
        model = model.removeprefix(prefix)
    if not model:
        raise ProviderUnusable(f"{api.id} has no model of its own", todo="Set embeddings.model")
    return model


def _auth_headers(api: Api, settings: Embeddings, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the headers with the key of the settings, or of the first variable that has one."""
    _, names = SERVICES[api.id]
    found = (settings.api_key or "", *(environ.get(name, "") for name in names))
    key = next((key.strip() for key in found if key.strip()), "")
    if not key and names and not any(is_secret(name, value) for name, value in settings.headers):
        raise ProviderUnusable(
            f"{api.id} has no key", todo=f"Set embeddings.api_key, or the variable {' or '.join(names)}"
        )
    return api.auth(key) if key else {}
