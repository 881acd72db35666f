"""Quote what the memory holds, so that a model takes it for data; and take such quotes out again.

Everything that Memlines puts into a conversation stands between `<memlines-context>` and its closing tag;
facts that were not asked for stand in `<relevant-memories>`, as agents know it from other memories.
Inside, every quoted line begins with `> `, and is neutral (`text.neutral`): no text can close the quote it
stands in. Because the tags are known, the same text is never taken for something that was said.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from memlines.text.neutral import Neutral, neutral_line, quote_lines

TAG = "memlines-context"
FACTS_TAG = "relevant-memories"

_NAMED = 3
"""How many of the quotes that are left out are named."""

_HOST_TAGS = (
    r"(?:memlines|recollect)-[\w-]*",
    FACTS_TAG,
    "system-reminder",
    "environment_context",
    "user_instructions",
    "command-(?:name|message|args|contents)",
    "local-command-[a-z]+",
)
"""What clients and memories, ours (by both its names) and others, put around text that was not said."""

_NAMES = "|".join(_HOST_TAGS)
_OPENING = re.compile(rf"<({_NAMES})(?:\s[^<>]*)?>", re.IGNORECASE)
_OWN_CLOSING = re.compile(rf"</(?:{TAG}|recollect-context|{FACTS_TAG})\s*>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Quote:
    """Lines of the memory, and what stands above them: where they are from."""

    origin: str
    text: str


def block(introduction: str, quotes: Iterable[Quote], tag: str = TAG) -> Neutral:
    """Return quotes as one block of Markdown that nothing inside can end."""
    return _frame(introduction, _parts(quotes), tag)


def block_within(
    introduction: str, quotes: Sequence[Quote], most: int, tag: str = TAG
) -> tuple[Neutral, int]:
    """Return quotes as a block of at most so many characters, and how many of them it holds.

    The last ones are left out, as a whole; the block then says how many and which come next. The first one is
    always there.
    """
    parts = _parts(quotes)
    whole = _frame(introduction, parts, tag)
    if len(whole) <= most or len(parts) < 2:
        return whole, len(parts)
    room = most - (len(whole) - sum(map(len, parts)))
    ends = list(accumulate(map(len, parts)))
    count = max(1, bisect_right(ends, room))
    while True:
        left = _left_out([quote.origin for quote in quotes[count:]])
        text = _frame(introduction, [*parts[:count], left], tag)
        if len(text) <= most or count == 1:
            return text, count
        count -= 1


def _parts(quotes: Iterable[Quote]) -> list[str]:
    return [f"{neutral_line(quote.origin)}:\n{quote_lines(quote.text)}" for quote in quotes]


def _frame(introduction: str, parts: Sequence[str], tag: str) -> Neutral:
    return Neutral("\n".join([f"<{tag}>", introduction, "", "\n\n".join(parts), "", f"</{tag}>"]))


def _left_out(origins: Sequence[str]) -> str:
    """Say what is left out of a block, and how to come by it."""
    named = ", ".join(neutral_line(origin.split(" (")[0]) for origin in origins[:_NAMED])
    others = " and others" if len(origins) > _NAMED else ""
    return (
        f"{len(origins):,} more left out, to stay below the limit of characters (tools.max_chars): "
        f"{named}{others}. Ask more narrowly, or read them with memory_get."
    )


def without_quotes(text: str) -> str:
    """Return what was said without what was put into it: from a tag of ours to its end.

    A block that was cut counts as well: without its end it goes on to the end of the text; one of ours
    without its beginning begins with the text.
    """
    kept: list[str] = []
    at = 0
    while opening := _OPENING.search(text, at):
        kept.append(text[at : opening.start()])
        closing = re.compile(rf"</{re.escape(opening[1])}\s*>", re.IGNORECASE).search(text, opening.end())
        at = closing.end() if closing else len(text)
    rest = "".join([*kept, text[at:]])
    ends = [closing.end() for closing in _OWN_CLOSING.finditer(rest)]
    return rest[ends[-1] :] if ends else rest
