"""The vector leg: how near chunks are to the query in meaning, scored between 0 and 1."""

from __future__ import annotations

from collections.abc import Mapping

_CERTAIN = {"use-multilingual-v3": 0.7}
"""The cosine at which a model's question and text surely belong together.

Models use different parts of the scale: with the builtin one, answers lie between 0.2 and 0.6
and hardly ever higher, while another puts unrelated texts there.
"""


def scaled(cosines: Mapping[int, float], model: str) -> dict[int, float]:
    """Map cosines to scores that mean the same whatever the model."""
    certain = _CERTAIN.get(model, 1.0)
    return {number: min(1.0, max(0.0, cosine / certain)) for number, cosine in cosines.items()}
