"""Read what a note says about its text: the headings above a line, and the front matter.

A note may begin with lines of YAML between `---` and `---`, as Obsidian, basic-memory and many others write
them. Only plain values count here, whatever the YAML: words after a key, items of lists, lines of text. What
does not look like front matter is text of the note.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from memlines.records import dataclass

_LONGEST_TITLE = 120
"""Characters kept of a heading, so that context never outweighs the text it belongs to."""

# One pass finds headings and code fences alike; everything else is skipped by the regex engine, from one line
# break to the next, which is quicker than `^`. Nothing here can match in two ways, so a hostile line cannot
# make it try them all.
_MARK = re.compile(r"\n {0,3}(?:(?P<hashes>\#{1,6})[ \t]+(?P<title>\S.*)|(?P<fence>```+|~~~+)(?P<info>.*))")

CODE_FENCE = re.compile(r"(```+|~~~+)(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading, its line, and the headings above it."""

    line: int
    parents: tuple[str, ...]
    title: str


def outline(text: str) -> list[Heading]:
    """List the ATX headings of a Markdown text, without those inside fenced code."""
    if "#" not in text:
        return []
    headings: list[Heading] = []
    open_levels: list[tuple[int, str]] = []
    fence = ""
    line, counted = 1, 0
    for mark in _MARK.finditer(f"\n{text}"):
        if mark["fence"]:
            marked = mark["fence"] + mark["info"]
            if not fence:
                fence = fence_in(marked)
            elif closes(marked, fence):
                fence = ""
            continue
        title = "" if fence else _title(mark["title"])
        if not title:
            continue
        line += text.count("\n", counted, mark.start())
        counted = mark.start()
        level = len(mark["hashes"])
        while open_levels and open_levels[-1][0] >= level:
            open_levels.pop()
        headings.append(Heading(line, tuple(name for _, name in open_levels), title))
        open_levels.append((level, title))
    return headings


def heading_above(headings: list[Heading], line: int) -> str:
    """Return the path of the headings above a line, as `Decisions > Billing`; of a heading, its parents."""
    at = bisect_left(headings, line, key=lambda heading: heading.line)
    if at < len(headings) and headings[at].line == line:
        return " > ".join(headings[at].parents)
    if at == 0:
        return ""
    nearest = headings[at - 1]
    return " > ".join((*nearest.parents, nearest.title))


def _title(written: str) -> str:
    """Return a heading's text without the hashes that may close it."""
    title = written.rstrip()
    before = title.rstrip("#")
    closed = len(before) < len(title) and (not before or before[-1] in " \t")
    return (before.rstrip() if closed else title)[:_LONGEST_TITLE]


def fence_in(words: str) -> str:
    """Return the fence that a line (without its indent) opens, or nothing."""
    mark = CODE_FENCE.match(words)
    # A backtick in the rest of the line means inline code, not a fence.
    return "" if mark is None or (mark[1][0] == "`" and "`" in mark[2]) else mark[1]


def closes(line: str, fence: str) -> bool:
    """Return whether a line closes a fence."""
    mark = line.strip()
    return len(mark) >= len(fence) and mark == fence[0] * len(mark)


_FENCE = "---"
_ENDS = ("---", "...")
_MOST_LINES = 300
_LONGEST_VALUE = 200

_PAIR = re.compile(r"(?P<key>[^\W\d][\w .-]{0,63}?)[ \t]*:(?:[ \t]+(?P<value>.*))?")
_ITEM = re.compile(r"[ \t]*-(?:[ \t]+(?P<value>.*))?")
_BLOCK = re.compile(r"[|>][-+0-9]{0,3}")
_COMMENT = re.compile(r"(?:^|(?<![ \t])[ \t]++)#[ \t].*")
_INDENTED = (" ", "\t")
_NOTHING = frozenset({"", "~", "null", "[]", "{}"})
_UNFIT_FOR_TAGS = re.compile(r"[^\w/-]+")

_TITLES = ("title",)
_ALIASES = ("aliases", "alias")
_TAGS = ("tags", "tag")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What the front matter of a note says, and how many lines it has."""

    lines: int
    title: str = ""
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    others: tuple[tuple[str, str], ...] = ()
    """The other keys and their values, in their order."""


def front_matter(text: str) -> FrontMatter | None:
    """Return what the front matter of a text says; nothing if it has none."""
    if not text.startswith(_FENCE):
        return None
    block = _block(text)
    if block is None:
        return None
    values: dict[str, list[str]] = {}
    for key, value in _pairs(block):
        values.setdefault(key, []).append(value)
    named = {key.casefold(): found for key, found in values.items()}
    title = next((found[0] for key in _TITLES if (found := named.get(key))), "")
    aliases = [value for key in _ALIASES for value in named.get(key, ())]
    words = [
        word for key in _TAGS for value in named.get(key, ()) for word in value.replace(",", " ").split()
    ]
    tags = [_UNFIT_FOR_TAGS.sub("-", word.lstrip("#")).strip("-/") for word in words]
    known = {*_TITLES, *_ALIASES, *_TAGS}
    others = [(key, ", ".join(found)) for key, found in values.items() if key.casefold() not in known]
    distinct_tags = tuple(dict.fromkeys(filter(None, tags)))
    return FrontMatter(len(block) + 2, title, tuple(dict.fromkeys(aliases)), distinct_tags, tuple(others))


def _block(text: str) -> list[str] | None:
    """Return the lines between the two fences, if every one of them can be YAML."""
    lines = text.split("\n", _MOST_LINES + 2)
    if lines[0].rstrip() != _FENCE:
        return None
    block: list[str] = []
    for line in lines[1 : _MOST_LINES + 2]:
        plain = line.rstrip()
        if plain in _ENDS:
            return block
        can_go_on = not plain or plain.startswith((*_INDENTED, "#", "]", "}"))
        if not (can_go_on or _PAIR.fullmatch(plain) or _ITEM.fullmatch(plain)):
            return None
        block.append(plain)
    return None


def _pairs(block: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each plain value with its key; values of nested keys count as values of the outer one."""
    key, is_text = "", False
    for line in block:
        pair = None if line.startswith(_INDENTED) else _PAIR.fullmatch(line)
        if pair:
            key, value = pair["key"].strip(), (pair["value"] or "").strip()
            is_text = bool(_BLOCK.fullmatch(value))
            found = [] if is_text else _values(value)
        elif not key:
            continue
        elif is_text:
            found = [line.strip()]
        else:
            item = _ITEM.fullmatch(line)
            words = ((item["value"] or "") if item else line).strip()
            inner = _PAIR.fullmatch(words)
            found = _values((inner["value"] or "").strip() if inner else words)
        yield from ((key, one[:_LONGEST_VALUE]) for one in found if one)


def _values(written: str) -> list[str]:
    """Return the plain values of what is written behind a key: one, or the items of a list."""
    if written.startswith(("[", "]", "{", "}")) and not written.startswith("[["):
        return [word for part in written.strip("[]{} ").split(",") if (word := _plain(part))]
    return [word] if (word := _plain(written)) else []


def _plain(written: str) -> str:
    """Return a value without quotes and comment; nothing if it says nothing."""
    value = written.strip()
    if value[:1] in ("'", '"'):
        quote = value[0]
        end = value.find(quote, 1)
        return value[1:end].strip() if end > 0 else value[1:].strip()
    value = _COMMENT.sub("", value).strip()
    return "" if value.casefold() in _NOTHING else value
