"""Make text safe to give to a model: nothing in it is invisible, and nothing in it looks like a command.

Notes and transcripts may be written by others. `visible` removes what a reader of the note does not see:
control characters, escape sequences of terminals, direction marks and every other code point that is drawn as
nothing. `neutralise` also defuses what a model, or a client that shows Markdown, could treat as more than
text: tags of roles and of our own, turns, and images that would be fetched. The number of lines never
changes, so citations stay exact.

Everything that Memlines puts into a conversation is between `<memlines-context>` and its closing tag; facts
that were not asked for are in `<relevant-memories>`, as agents know it from other memories. Inside, every
quoted line begins with `> ` and is neutral: no text can close the quote that contains it. Because the tags
are known, `without_quotes` removes the same text from what was said.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, zip_longest
from typing import Any

from memlines.records import dataclass

CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f"
"""Control characters except the tab and the line feed, for a character class of a pattern."""

DIRECTION_MARKS = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
"""What changes the direction of text, for a character class of a pattern."""

_IGNORABLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Unicode's property Default_Ignorable_Code_Point."""

_NEVER_SHOWN = "\ufff9-\ufffb\ufdd0-\ufdef\ufffe\uffff"
"""The marks of interlinear annotations, and noncharacters."""

_UNSEEN = re.compile(f"[{_IGNORABLE}{_NEVER_SHOWN}]+")
_LINE_END = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
"""What only some programs treat as the end of a line."""

_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*+[ -/]*+[@-~]"  # CSI: colours, the cursor
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x00-\x1f\x7f-\x9f]*+(?:\x07|\x1b\\|\x9c)"  # OSC (links), DCS …
    r"|\x1b[ -/]++[0-~]"  # sets of characters
    f"|[{CONTROLS}]"
)

_PICTOGRAPHS = re.compile(
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u27bf\u2934\u2935\u2b05-\u2b55"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
_JOINING = re.compile(
    "[\u0600-\u0dff\u0f00-\u109f\u1780-\u18af\u1a20-\u1aaf\u1b00-\u1bff\ua840-\ua877\ua8e0-\ua8ff\uaae0-\uabff"
    "\ufb50-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc\U00010a00-\U00010aff\U00010d00-\U00010d3f\U00011000-\U00011fff"
    "\U0001e900-\U0001e95f]"
)
"""Letters of scripts in which letters join: Arabic, Syriac, those of India and their neighbours."""

_JOINERS = "\u200c\u200d"
_ZERO_WIDTH_JOINER = "\u200d"
_EMOJI_VARIANTS = "\ufe0e\ufe0f"
_KEYCAP = "\u20e3"
_MONGOLIAN_VARIANTS = "\u180b\u180c\u180d\u180e\u180f"
_VIRAMA = 9
"""The combining class of the signs that take the vowel from a letter; a joiner after one has a meaning."""

_ROLES = "system|user|assistant|human|developer|tool|function|inst|sys|im_|memlines|recollect|relevant"
_TAG = re.compile(
    r"<(?=[\w/!?|\uff5c\\])"
    rf"|[<\uff1c\ufe64](?=[^\S\n]*+[/|\uff5c]?[^\S\n]*+(?:{_ROLES})[\w-]*+[^\S\n]*+[|\uff5c]?[>\uff1e\ufe65])"
    r"|(?P<bracket>\[)(?=[^\S\n]*+/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\b)"
    r"|(?P<image>!)(?=\[)(?!\[[^\[\]\n]{0,200}\]\((?!/)[\w./~-]+\))",
    re.IGNORECASE,
)
"""The first character of a tag, or of an image unless its address is plainly a file beside the note.

An image whose address is elsewhere, in brackets, or is written in a way that hides it counts as remote.
"""

_TURN = re.compile(r"^(?=[^\S\n]{0,3}(?:Human|Assistant|System|User):)", re.MULTILINE)
_PASSWORD = re.compile(r"(?<=://)[^/?#@]*@")
_QUERY = re.compile(r"\?[^\s\"']*")


class Neutral(str):
    """Text that was neutralised, or is our own: a door that gives text to a model leaves it as it is.

    What is added to it is neutralised; other ways to build a text make it plain `str` again.
    """

    __slots__ = ()

    def __add__(self, other: str) -> Neutral:
        """Return both, one after the other."""
        return Neutral(str(self) + str(neutralise(other)))

    def __radd__(self, other: str) -> Neutral:
        """Return both, one after the other."""
        return Neutral(str(neutralise(other)) + str(self))

    def join(self, parts: Iterable[str], /) -> Neutral:
        """Return parts with this between them, each of them neutralised."""
        return Neutral(super().join(neutralise(part) for part in parts))


NOTHING = Neutral()


def neutralise(text: str) -> Neutral:
    """Return a text as a model may read it: without what is invisible, without tags, turns and images."""
    return text if isinstance(text, Neutral) else Neutral(_TURN.sub("> ", _without_tags(visible(text))))


def neutral_line(text: str) -> Neutral:
    """Return a text, such as the name of a file, neutralised and on one line."""
    return neutralise(" ".join(text.split()))


def quote_lines(text: str) -> Neutral:
    """Return a text as a quote of Markdown, line by line; behind its marks no line begins a turn."""
    lines = _without_tags(visible(text)).split("\n")
    return Neutral("\n".join(f"> {line}".rstrip() for line in lines))


def visible(text: str) -> str:
    """Return a text without what cannot be seen; ends of lines that only some programs know become spaces.

    A joiner or a selector of variants stays where writing needs it: at most one of each, between two
    characters that it belongs to.
    """
    if not text.isprintable():
        text = _LINE_END.sub(lambda end: "\n" if end[0] == "\r\n" else " ", text)
        text = _ESCAPES.sub("", text)
    return text if text.isascii() else _UNSEEN.sub(_keep_needed, text)


def unseen_in(name: str) -> str:
    """Return the first character of a name that cannot be seen on one line, as `U+202E`; empty if none."""
    if name.isascii() and name.isprintable():
        return ""
    shown = visible(name).replace("\t", "").replace("\n", "")
    if shown == name:
        return ""
    return next(f"U+{ord(one):04X}" for one, other in zip_longest(name, shown) if one != other)


def harmless_address(uri: str) -> str:
    """Return an address without what may be a password or a token in it."""
    return _QUERY.sub("?…", _PASSWORD.sub("***@", uri))


def visible_values(value: Any) -> Any:
    """Return a value as it becomes JSON, with every text in it visible; what is neutral stays so."""
    if isinstance(value, str):
        return value if isinstance(value, Neutral) else visible(value)
    if isinstance(value, Mapping):
        return {visible_values(key): visible_values(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [visible_values(one) for one in value]
    return value


def _without_tags(text: str) -> str:
    entities = {"bracket": "&#91;", "image": "&#33;"}
    return _TAG.sub(lambda start: entities.get(start.lastgroup or "", "&lt;"), text)


def _keep_needed(run: re.Match[str]) -> str:
    """Return what of a run of invisible characters the two characters around it need to be written."""
    before = run.string[run.start() - 1] if run.start() else ""
    after = run.string[run.end() : run.end() + 1]
    variants = ""
    if _PICTOGRAPHS.match(before) or (after == _KEYCAP and before and before in "0123456789#*"):
        variants = _EMOJI_VARIANTS
    elif "\u1820" <= before <= "\u18aa":
        variants = _MONGOLIAN_VARIANTS
    variant = next((one for one in run[0] if one in variants), "")
    joiner = next((one for one in run[0] if one in _JOINERS), "")
    joins_emoji = joiner == _ZERO_WIDTH_JOINER and _PICTOGRAPHS.match(before) and _PICTOGRAPHS.match(after)
    follows_virama = before and unicodedata.combining(before) == _VIRAMA
    joins_letters = _JOINING.match(before) and (_JOINING.match(after) or follows_virama)
    return variant + (joiner if joins_emoji or joins_letters else "")


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
    """Lines of the memory, and where they are from."""

    origin: str
    text: str


def block(introduction: str, quotes: Iterable[Quote]) -> Neutral:
    """Return quotes as one block of Markdown that nothing inside can end."""
    return _frame(introduction, _parts(quotes), TAG)


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
    """Say what is left out of a block, and how to get it."""
    named = ", ".join(neutral_line(origin.split(" (")[0]) for origin in origins[:_NAMED])
    others = " and others" if len(origins) > _NAMED else ""
    return (
        f"{len(origins):,} more left out, to stay below the limit of characters (tools.max_chars): "
        f"{named}{others}. Ask more narrowly, or read them with memory_get."
    )


def without_quotes(text: str) -> str:
    """Return what was said without the blocks that clients and memories put into it.

    A block that was cut counts as well: without its end it continues to the end of the text; one of ours
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
