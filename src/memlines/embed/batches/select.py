"""Which services offer batches."""

from __future__ import annotations

from collections.abc import Callable

from memlines.embed.base import Provider
from memlines.embed.batches.base import BatchApi
from memlines.embed.batches.gemini import GeminiBatches
from memlines.embed.batches.handing import Shape
from memlines.embed.batches.openai import OpenAiBatches
from memlines.embed.batches.voyage import VoyageBatches
from memlines.embed.remote.api import Api
from memlines.embed.remote.http import Http
from memlines.embed.remote.provider import RemoteProvider

_OFFERED: dict[str, type[OpenAiBatches] | type[GeminiBatches]] = {
    "openai": OpenAiBatches,
    "gemini": GeminiBatches,
    "voyage": VoyageBatches,
}


def batches_for(provider: Provider) -> BatchApi | None:
    """Return the batches of a provider; `None` if it offers none."""
    if not isinstance(provider, RemoteProvider):
        return None
    return batches_of(
        provider.api,
        provider.http,
        provider.model,
        dimensions=provider.chosen_dims,
        dims=provider.dims,
        fit_to_send=provider.fit_to_send,
    )


def batches_of(
    api: Api,
    http: Http,
    model: str,
    *,
    dimensions: int | None,
    dims: int | None,
    fit_to_send: Callable[[str], str] = str,
) -> BatchApi | None:
    """Return the batches of a model; `None` if its service offers none.

    `dimensions` is the length of vectors that somebody chose, `dims` the length that is known.
    """
    batches = _OFFERED.get(api.id)
    return batches(http, Shape(api, model, dimensions, fit_to_send), dims) if batches else None
