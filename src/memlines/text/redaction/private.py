"""Drop what stands between `<private>` and `</private>`, but for its line breaks.

A tag may have blanks and attributes: `<private >`, `<private class="x">`. A block that is never closed
reaches to the end, because the wrong guess must not be the one that tells. A tag right behind a backtick is
one that is talked about, and no tag; nor is `<private/>`, which holds nothing.
"""

from __future__ import annotations

import re

KIND = "private"

_TAG = re.compile(r"<(?:(?<!`<)private(?:\s[^<>]{0,500})?(?<!/)|/private\s{0,20})>", re.IGNORECASE)


def without_private(text: str) -> tuple[str, int]:
    """Return a text without its private blocks, and how many there were.

    A block inside another belongs to it. What is left of a block is its line breaks, or a blank: the text
    on its two sides must not grow together into something new.
    """
    kept: list[str] = []
    blocks = depth = 0
    end = start = 0
    for tag in _TAG.finditer(text):
        if tag[0][1] != "/":
            if depth == 0:
                start = tag.start()
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0:
                kept += text[end:start], _traces(text[start : tag.end()])
                end = tag.end()
                blocks += 1
    if depth:
        kept += text[end:start], _traces(text[start:])
        end = len(text)
        blocks += 1
    return "".join([*kept, text[end:]]), blocks


def _traces(block: str) -> str:
    return "\n" * block.count("\n") or " "
