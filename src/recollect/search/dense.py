"""The vector leg: how near chunks are to the query in meaning, scored between 0 and 1."""

from __future__ import annotations

from collections.abc import Mapping

_CERTAIN = {"use-multilingual-v3": 0.8}
"""The cosine at which a model's question and text surely belong together.

Models use different parts of the scale: with the builtin one, answers lie between 0.2 and 0.6
and hardly ever higher, while another puts unrelated texts there.
"""


def scaled(cosines: Mapping[int, float], sentences: Mapping[int, float], model: str) -> dict[int, float]:
    """Score chunks by their own cosine and that of their best sentence, on a scale for every model.

    A chunk whose sentences were not looked at counts as if it were one.
    """
    certain = _CERTAIN.get(model, 1.0)
    return {
        number: min(1.0, max(0.0, (cosine + sentences.get(number, cosine)) / (2 * certain)))
        for number, cosine in cosines.items()
    }
