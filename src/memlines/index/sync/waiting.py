"""Tell how much waits for vectors, without loading what makes them."""

from __future__ import annotations

from memlines.embed.base import Provider
from memlines.index.store.sqlite import spaces
from memlines.index.store.sqlite.index import Index
from memlines.index.sync.identity import space_of


def count_to_do(index: Index, provider: Provider) -> int:
    """Return how many chunks wait for a vector; at least 1 if the provider's vectors do not answer yet."""
    space = space_of(provider)
    now = spaces.serving(index.connection)
    waiting = index.count_pending(space)
    return waiting or int(bool(index.count_chunks()) and (now is None or now.space != space))
