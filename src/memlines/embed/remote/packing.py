"""Divides texts into requests."""

from __future__ import annotations

from collections.abc import Sequence

from memlines.embed.base import Limits


def packed(texts: Sequence[str], limits: Limits) -> list[range]:
    """Return which texts go into one request each, in their order and as many as the limits allow.

    A text that is larger than a whole request goes alone.
    """
    requests: list[range] = []
    start = size = 0
    for place, text in enumerate(texts):
        own = len(text.encode("utf-8", "replace"))
        full = place - start == limits.request_texts or size + own > limits.request_bytes
        if full and place > start:
            requests.append(range(start, place))
            start, size = place, 0
        size += own
    if start < len(texts):
        requests.append(range(start, len(texts)))
    return requests
