"""Which services offer batches."""

from __future__ import annotations

from collections.abc import Callable

from recollect.embed.base import Provider
from recollect.embed.batches.base import BatchApi
from recollect.embed.batches.gemini import GeminiBatches
from recollect.embed.batches.handing import Shape
from recollect.embed.batches.openai import OpenAiBatches
from recollect.embed.batches.voyage import VoyageBatches
from recollect.embed.remote.api import Api
from recollect.embed.remote.http import Http
from recollect.embed.remote.provider import RemoteProvider

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
