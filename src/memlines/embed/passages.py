"""Embed passages whole and by their parts.

The vector of a long passage says what it is about, and blurs what each sentence says. So the
sentences are embedded too where that costs time only, and kept as one byte a number: four times smaller
than the vector of the passage, and exact enough to find which of a few candidates answers a question.
A passage that is longer than the provider accepts is embedded in pieces, so that nothing is cut off: its
vector is their mean, and the pieces are kept in the place of sentences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from memlines.embed.base import Provider, embed_documents, to_blobs, validated
from memlines.errors import StoreDamaged
from memlines.text.chunk import pieces_of, sentences_of

if TYPE_CHECKING:
    from memlines.embed.base import Vectors

_SCALE = 127
_FLOAT_BYTES = 4
_TOLERANCE = 0.1
"""How far from 1 the square of a vector's length may be: rounding to one byte stays below."""


def embed_passages(provider: Provider, texts: Sequence[str]) -> list[bytes]:
    """Return for each text its vector, followed by those of its parts if it has any."""
    import numpy as np

    wholes = [pieces_of(text, provider.limits.text_bytes) for text in texts]
    parts = [
        sentences_of(text) if provider.by_sentence and len(pieces) == 1 else []
        for text, pieces in zip(texts, wholes, strict=True)
    ]
    vectors = embed_documents(provider, [piece for own in (*wholes, *parts) for piece in own])
    small = np.round(vectors * _SCALE).astype(np.int8)
    packed, whole, part = [], 0, sum(map(len, wholes))
    for pieces, own in zip(wholes, parts, strict=True):
        vector, kept = vectors[whole : whole + len(pieces)], small[part : part + len(own)]
        if len(pieces) > 1:
            mean = np.average(vector, axis=0, weights=[len(piece) for piece in pieces])
            vector, kept = validated([mean], 1, len(mean)), small[whole : whole + len(pieces)]
        packed.append(to_blobs(vector)[0] + kept.tobytes())
        whole, part = whole + len(pieces), part + len(own)
    return packed


def is_packed(blob: bytes, dims: int) -> bool:
    """Return whether a blob can be what `embed_passages` gives for vectors of this length."""
    rest = len(blob) - _FLOAT_BYTES * dims
    return rest >= 0 and rest % dims == 0


def is_sound(blob: bytes, dims: int) -> bool:
    """Return whether a blob is packed and every vector in it is of unit length, as they were when written.

    A page of an index that went blank leaves vectors of zeros, which no check of SQLite's own notices.
    """
    import numpy as np

    if not is_packed(blob, dims):
        return False
    vector, parts = unpack(blob, dims)
    whole = np.frombuffer(vector, "<f4")
    return abs(float(np.vecdot(whole, whole)) - 1) < _TOLERANCE and _are_sound(_rows(parts, dims))


def _rows(parts: bytes, dims: int) -> Vectors:
    import numpy as np

    return np.frombuffer(parts, np.int8).reshape(-1, dims).astype(np.float32)


def _are_sound(rows: Vectors) -> bool:
    import numpy as np

    return bool(np.all(np.abs(np.vecdot(rows, rows) / _SCALE**2 - 1) < _TOLERANCE))


def unpack(blob: bytes, dims: int) -> tuple[bytes, bytes]:
    """Return the vector of a passage and those of its sentences."""
    return blob[: _FLOAT_BYTES * dims], blob[_FLOAT_BYTES * dims :]


def sentence_cosines(query: bytes, sentences: Mapping[int, bytes]) -> dict[int, list[float]]:
    """Return for each passage the cosines of its sentences with a query, in their order."""
    import numpy as np

    if not sentences:
        return {}
    vector = np.frombuffer(query, "<f4") / _SCALE
    rows = _rows(b"".join(sentences.values()), len(vector))
    if not _are_sound(rows):
        raise StoreDamaged(
            "the index is damaged: vectors of sentences are not what was written",
            todo="Run 'memlines sync --force' to rebuild it",
        )
    cosines = iter(np.vecdot(rows, vector).tolist())  # on one core, like the search itself
    return {number: list(islice(cosines, len(blob) // len(vector))) for number, blob in sentences.items()}


PASSAGES = (
    "The dough rests in the fridge overnight. In the morning it is shaped, left for an hour under a cloth,"
    " and baked at 230 degrees until the crust is dark.",
    "They lost two to one after extra time. The keeper was hurt before half-time, and the young striker"
    " missed the penalty that would have saved them.",
    "Light from that galaxy left it before there were people. The telescope collected it for eleven hours,"
    " and the spectrum shows how fast the gas moves away from us.",
    "The premium rises by four per cent in January. To cancel, write to the insurer three months before the"
    " end of the year and keep the receipt of the letter.",
    "The build fails since the compiler was updated: a header is missing on the server. Pinning the old"
    " version in the lock file helps until the library is fixed.",
    "Cut the roses back to three buds in March, feed the hedge with compost, and cover the beds by the wall"
    " when the nights grow cold.",
    "The monks copied the chronicle twice. When the town burned in the war, one book was carried over the"
    " river and lay forgotten in a cellar for centuries.",
    "The night train was late, so we missed the ferry and slept in a small hotel by the harbour. From the"
    " window you could see the lighthouse.",
    "She practises the second movement slowly, hands apart, with a metronome. The teacher says the left hand"
    " is too loud and the pedal comes too early.",
    "The doctor looked at the knee and found nothing torn. No running for six weeks, exercises every day,"
    " and a new appointment if the swelling comes back.",
    "The garage changed the brake pads and the oil. The noise at the rear comes from the exhaust, which will"
    " hardly survive the next inspection.",
    "Prices fell for the third month in a row because harvests were good. The bank expects that wages grow"
    " faster than rents next year, and keeps its rate.",
)
"""Texts about many different things, which show what a model makes of texts that have nothing to do with a
question: models use different parts of the scale, and unrelated texts have a cosine of about 0 with one, of
0.5 or 0.7 with another. The notes themselves cannot serve for that: those of one person are all a little near
to a question that belongs there, which is just what their cosines should show."""


def background_of(provider: Provider) -> bytes:
    """Return the mean vector of unrelated passages: its product with a query is their mean cosine."""
    mean = embed_documents(provider, PASSAGES).mean(axis=0)
    return to_blobs(mean[None, :])[0]
