"""Embed passages whole and by their parts.

The vector of a long passage says what it is about, and blurs what each sentence says. So the sentences are
embedded too where that costs time only. A passage that is longer than the provider accepts is embedded in
pieces, so that nothing is cut off: its vector is their mean, and the pieces take the place of sentences.
"""

from __future__ import annotations

from collections.abc import Sequence

from memlines.embed.base import Provider, embed_documents, to_blobs, validated
from memlines.embed.codec import encode, encode_sentences
from memlines.text.chunk import pieces_of, sentences_of


def embed_passages(provider: Provider, texts: Sequence[str], *, by_sentence: bool = True) -> list[bytes]:
    """Return for each text its vector, packed with those of its parts if it has any."""
    import numpy as np

    wholes = [pieces_of(text, provider.limits.text_bytes) for text in texts]
    parts = [
        sentences_of(text) if by_sentence and provider.by_sentence and len(pieces) == 1 else []
        for text, pieces in zip(texts, wholes, strict=True)
    ]
    # Each beside its parts, with which it shares most of its words; what is in two passages only once.
    places: dict[str, int] = {}
    for pieces, own in zip(wholes, parts, strict=True):
        for piece in (*pieces, *own):
            places.setdefault(piece, len(places))
    vectors = embed_documents(provider, list(places))
    packed = []
    for pieces, own in zip(wholes, parts, strict=True):
        rows = [places[piece] for piece in pieces]
        vector, sentences = vectors[rows], vectors[[places[piece] for piece in own]]
        if len(pieces) > 1:
            mean = np.average(vector, axis=0, weights=[len(piece) for piece in pieces])
            vector, sentences = validated([mean], 1, len(mean)), vector
        packed.append(b"".join([*encode(vector), *encode_sentences(sentences, vector)]))
    return packed


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
