"""The front matter of a note: what it says about the note, in words.

A note may begin with lines of YAML between `---` and `---`, as Obsidian, basic-memory and many others write
them. Only plain values count here, whatever the YAML: words after a key, items of lists, lines of text. What
does not look like front matter is text of the note.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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
    """What the front matter of a note says, and how many lines it takes."""

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
    tags = [tag for key in _TAGS for value in named.get(key, ()) for tag in _tags_in(value)]
    known = {*_TITLES, *_ALIASES, *_TAGS}
    others = [(key, ", ".join(found)) for key, found in values.items() if key.casefold() not in known]
    return FrontMatter(len(block) + 2, title, _distinct(aliases), _distinct(tags), tuple(others))


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
        if not _can_be_yaml(plain):
            return None
        block.append(plain)
    return None


def _can_be_yaml(line: str) -> bool:
    if not line or line.startswith((*_INDENTED, "#", "]", "}")):
        return True
    return bool(_PAIR.fullmatch(line) or _ITEM.fullmatch(line))


def _pairs(block: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each plain value with the key it stands under; what stands deeper counts to that key too."""
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
            found = _values(_deeper(line))
        yield from ((key, one[:_LONGEST_VALUE]) for one in found if one)


def _deeper(line: str) -> str:
    """Return the value on a line that belongs to the key above it."""
    item = _ITEM.fullmatch(line)
    words = ((item["value"] or "") if item else line).strip()
    pair = _PAIR.fullmatch(words)
    return (pair["value"] or "").strip() if pair else words


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


def _tags_in(value: str) -> list[str]:
    """Return tags as they are written in text, without the hash; several may stand in one value."""
    words = value.replace(",", " ").split()
    return [tag for word in words if (tag := _UNFIT_FOR_TAGS.sub("-", word.lstrip("#")).strip("-/"))]


def _distinct(values: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))
