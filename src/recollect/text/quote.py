"""Quote what the memory holds, so that a model takes it for data; and take such quotes out again.

Everything that Recollect puts into a conversation stands between `<recollect-context>` and its closing tag;
facts that nobody asked for stand in `<relevant-memories>`, as agents know it from other memories.
Inside, every quoted line begins with `> `, and nothing in it can begin or end a tag: no text can close the
quote it stands in. Because the tags are known, the same text is never taken for something that was said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

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

_TAG_START = re.compile(r"<(?=[\w/!?|\\])")
_UNSEEN = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
_LINE_END = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
"""What some programs take for the end of a line, and others do not."""


@dataclass(frozen=True, slots=True)
class Quote:
    """Lines of the memory, and what stands above them: where they are from."""

    origin: str
    text: str


def block(introduction: str, quotes: Iterable[Quote], tag: str = TAG) -> str:
    """Return quotes as one block of Markdown that nothing inside can end."""
    parts = [f"{escaped(quote.origin)}:\n{quoted(quote.text)}" for quote in quotes]
    return "\n".join([f"<{tag}>", introduction, "", "\n\n".join(parts), "", f"</{tag}>"])


def quoted(text: str) -> str:
    """Return a text as a quote of Markdown, line by line."""
    return "\n".join(f"> {line}".rstrip() for line in escaped(text).split("\n"))


def escaped(text: str) -> str:
    """Return a text without tags, without odd line ends, and without what cannot be seen."""
    lines = _UNSEEN.sub("", _LINE_END.sub("\n", text))
    return _TAG_START.sub("&lt;", lines)


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
