"""Quote what the memory holds, so that a model takes it for data; and take such quotes out again.

Everything that Recollect puts into a conversation stands between `<recollect-context>` and its closing tag;
facts that nobody asked for stand in `<relevant-memories>`, as agents know it from other memories.
Inside, every quoted line begins with `> `, and is neutral (`text.neutral`): no text can close the quote it
stands in. Because the tags are known, the same text is never taken for something that was said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from recollect.text.neutral import Neutral, neutral_line, quoted

TAG = "recollect-context"
FACTS_TAG = "relevant-memories"

_HOST_TAGS = (
    r"recollect-[\w-]*",
    FACTS_TAG,
    "system-reminder",
    "environment_context",
    "user_instructions",
    "command-(?:name|message|args|contents)",
    "local-command-[a-z]+",
)
"""What clients and memories, ours and others, put around text that nobody said."""

_NAMES = "|".join(_HOST_TAGS)
_OPENING = re.compile(rf"<({_NAMES})(?:\s[^<>]*)?>", re.IGNORECASE)
_OWN_CLOSING = re.compile(rf"</(?:{TAG}|{FACTS_TAG})\s*>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Quote:
    """Lines of the memory, and what stands above them: where they are from."""

    origin: str
    text: str


def block(introduction: str, quotes: Iterable[Quote], tag: str = TAG) -> Neutral:
    """Return quotes as one block of Markdown that nothing inside can end."""
    parts = [f"{neutral_line(quote.origin)}:\n{quoted(quote.text)}" for quote in quotes]
    return Neutral("\n".join([f"<{tag}>", introduction, "", "\n\n".join(parts), "", f"</{tag}>"]))


def without_quotes(text: str) -> str:
    """Return what somebody said without what was put into it: from a tag of ours to its end.

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
