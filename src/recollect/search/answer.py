"""Cut the snippet a hit is shown with."""

from __future__ import annotations

from collections.abc import Sequence

MAX_SNIPPET = 700


def snippet_of(text: str, words: Sequence[str]) -> str:
    """Return at most 700 characters of a chunk: whole lines around the words that matched."""
    body = text.strip("\n")
    if len(body) <= MAX_SNIPPET:
        return body
    lines = body.split("\n")
    start = _best_start(lines, words) if words else 0
    taken: list[str] = []
    room = MAX_SNIPPET
    for line in lines[start:]:
        if len(line) > room:
            break
        taken.append(line)
        room -= len(line) + 1
    if taken and any(line.strip() for line in taken):
        return "\n".join(taken).strip("\n")
    return _inside_line(lines[start], words)


def _best_start(lines: Sequence[str], words: Sequence[str]) -> int:
    """Return the first line of the window that holds the most of the words."""
    held = [frozenset(word for word in words if word in line.lower()) for line in lines]
    best, best_start = -1, 0
    for start in range(len(lines)):
        size, seen = 0, set[str]()
        for line, found in zip(lines[start:], held[start:], strict=True):
            size += len(line) + 1
            if size > MAX_SNIPPET + 1:
                break
            seen |= found
        if len(seen) > best:
            best, best_start = len(seen), start
    return best_start


def _inside_line(line: str, words: Sequence[str]) -> str:
    """Return the part of one over-long line around the first word that matched."""
    lowered = line.lower()
    places = [at for at in (lowered.find(word) for word in words) if at >= 0]
    start = max(0, min(places) - MAX_SNIPPET // 4) if places else 0
    return line[start : start + MAX_SNIPPET]
