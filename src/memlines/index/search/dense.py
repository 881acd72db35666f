"""The vector leg: how near chunks are to the query in meaning, scored between 0 and 1."""

from __future__ import annotations

from collections.abc import Mapping

_CERTAIN = {"use-multilingual-v3": 0.8}
"""The cosine at which question and text surely belong together, with models it was fitted for.

With the builtin one, answers lie between 0.2 and 0.6 and hardly ever higher.
"""

_MOST_COMMON = 0.95
"""What unrelated texts may have at most; above it too little is left to tell others apart by."""


def is_fitted(model: str) -> bool:
    """Tell whether the scale of a model is known, so that nothing need be measured."""
    return model in _CERTAIN


def common_cosine(query: bytes, background: bytes | None) -> float | None:
    """Return the mean cosine of a query with unrelated texts, whose mean vector is the background.

    Nothing is known where nobody measured that, or with vectors of another length.
    """
    import numpy as np

    if background is None or len(background) != len(query):
        return None
    cosine = float(np.vecdot(np.frombuffer(query, "<f4"), np.frombuffer(background, "<f4")))
    return min(_MOST_COMMON, max(0.0, cosine))


def scaled(
    cosines: Mapping[int, float], sentences: Mapping[int, float], model: str, common: float | None = None
) -> dict[int, float]:
    """Score chunks by their own cosine and that of their best sentence, on a scale for every model.

    A chunk whose sentences were not looked at counts as if it were one. With a model nothing was fitted
    for, the score is the part of the way from what is `common` to the query and unrelated texts to the
    same text. What lies above keeps its order, whatever is common: all that is left of the way, which is what
    evidence multiplies, grows by the same factor.
    """
    nothing, certain = (0.0, _CERTAIN[model]) if is_fitted(model) else (common or 0.0, 1.0)
    way = 2 * (certain - nothing)
    return {
        number: min(1.0, max(0.0, (cosine + sentences.get(number, cosine) - 2 * nothing) / way))
        for number, cosine in cosines.items()
    }
