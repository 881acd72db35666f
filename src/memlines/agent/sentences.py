"""Cut what was said into sentences that may be kept, and leave out what is no speech.

Left out are code, quotations, tables, headings, and lines of logs and shells: they were pasted or shown, and
nobody said them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

SHORTEST = 12
LONGEST = 400

_FENCE = re.compile(r"(```+|~~~+)")
_ITEM = re.compile(r"(?:[-+*•]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_NOT_SAID = re.compile(
    r"[>|#{}\[\]<$%@]|(?:at|File|Traceback|diff|index|commit|\+\+\+|---)[ \t]|\d{4}-\d\d-\d\d[T ]\d\d:\d\d"
    r"|\[?(?:INFO|DEBUG|WARN(?:ING)?|ERROR|TRACE)\b|(?:import|from|def|class|return|const|let|var"
    r"|function)[ \t].*[({;=:]"
)
_SIGNS = re.compile(r"[{}();=<>|\\$^~]")
_SIGNS_SHARE = 20
"""One sign of code in so many characters is too much for a sentence."""

_BORDER = re.compile(
    "(?<=[.!?…])[\"'”\u2019»)*_]*\\s+(?=[\"'“\u2018«(*_¿¡]*[A-ZÀ-ÖØ-Þ0-9])|(?<=[\u3002\uff01\uff1f])"
)
_ABBREVIATED = re.compile(
    r"(?:^|[\s(])(?:[^\W\d]|z\.\s?B|d\.\s?h|u\.\s?a|bijv|bv|nr|Nr|No|no|Dr|Mr|Mrs|Ms|Hr|Fr|St|ca|etc|e\.g|i\.e|vs"
    r"|p\.\s?ej|Sr|Sra|M|Mme|evtl|bzw|usw|max|min|approx)\.$"
)
_DAY = re.compile(r"(?:^|\s)\d{1,2}\.$")
_MONTH = re.compile(r"(?:Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)\w*|\d")
"""What has a full stop in the middle of a sentence: short forms, and the day before a German month."""


def sentences_of(text: str) -> Iterator[str]:
    """Yield the sentences of a message, in their order."""
    for paragraph in _paragraphs(text):
        yield from _cut(paragraph)


def _paragraphs(text: str) -> Iterator[str]:
    """Yield runs of lines that belong together, each on one line."""
    run: list[str] = []
    fence = ""
    for line in text.split("\n"):
        words = line.strip()
        mark = _FENCE.match(words)
        if fence:
            fence = "" if mark and words.startswith(fence) and not words.strip(fence[0]) else fence
            continue
        item = _ITEM.match(words)
        begins = item is not None or (bool(run) and run[-1].endswith((".", "!", "?", ":")))
        if not words or mark or begins:
            yield from _joined(run)
            run = []
        if mark:
            fence = mark[1]
        elif words and not _is_code(line, words):
            run.append(words[item.end() :] if item else words)
    yield from _joined(run)


def _joined(run: list[str]) -> Iterator[str]:
    if run:
        yield " ".join(" ".join(run).split())


def _is_code(line: str, words: str) -> bool:
    if line.startswith(("    ", "\t")) and not _ITEM.match(words):
        return True
    return bool(_NOT_SAID.match(words)) or len(_SIGNS.findall(words)) * _SIGNS_SHARE > len(words)


def _cut(paragraph: str) -> Iterator[str]:
    start = 0
    for border in _BORDER.finditer(paragraph):
        if not _goes_on(paragraph, max(start, border.start() - 12), border):
            yield from _usable(paragraph[start : border.end()])
            start = border.end()
    yield from _usable(paragraph[start:])


def _goes_on(paragraph: str, looked_from: int, border: re.Match[str]) -> bool:
    """Tell whether the sentence goes on behind what looks like its end."""
    if _ABBREVIATED.search(paragraph, looked_from, border.start()):
        return True
    day = _DAY.search(paragraph, looked_from, border.start())
    return day is not None and _MONTH.match(paragraph, border.end()) is not None


def _usable(sentence: str) -> Iterator[str]:
    words = sentence.strip().strip("*_ ")
    if SHORTEST <= len(words) <= LONGEST and len(words.split()) > 2:
        yield words
