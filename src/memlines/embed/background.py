"""What a model makes of texts that have nothing to do with a question.

Models use different parts of the scale: unrelated texts have a cosine of about 0 with one, of 0.5 or 0.7
with another. So a few passages about many different things are embedded once. Whatever is asked, nearly
all of them are about something else, and the cosine they have with it tells nothing.

The notes themselves cannot serve for that: those of one person or one project are all a little near to a
question that belongs there and far from one that does not, which is just what their cosines should tell.
"""

from __future__ import annotations

from memlines.embed.base import Provider, embed_documents, to_blobs

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


def background_of(provider: Provider) -> bytes:
    """Return the mean vector of unrelated passages: its product with a query is their mean cosine."""
    mean = embed_documents(provider, PASSAGES).mean(axis=0)
    return to_blobs(mean[None, :])[0]
