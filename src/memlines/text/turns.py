"""Cut a conversation into chunks along its turns.

What people say about themselves and their work is in short questions; the answers of an assistant are long,
and share words with everything. So the two are kept apart. A *passage* is what the user said with the
beginning of the answer; passages that follow each other share a chunk as far as they fit. The rest of an
answer gets chunks of its own, each under the beginning of the question it answers. Every turn, and every
piece of a long turn, begins with the name of its role, and `…` marks where it was cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, groupby
from typing import NamedTuple

from memlines.text.chunk import best_end, limit_of, overlap_of, text_hash, weigh
from memlines.types import Chunk, Role, Turn

_LABELS: dict[Role, str] = {"user": "User: ", "assistant": "Assistant: "}
_CUT = "…"

_BEGINNING_SHARE = 3
_QUESTION_SHARE = 8
"""An answer's beginning gets at most a third of a chunk, so that it does not drown what was asked; the
question above the rest of an answer at most an eighth. Measured on three sets of conversations."""

_STRETCH = 30_000
"""Characters after which a conversation is divided; about twenty chunks."""

_SHORTEST_START = 80
"""With less room than this, the start of a turn says nothing and is left out."""

_BLANKS = re.compile(r"(?<=\S)[^\S\n]{2,}")
_EMPTY_LINES = re.compile(r"\n{3,}")
_ENDS = ("\n\n", "\n", ". ", " ")
"""Where a long turn is best cut: after a paragraph, a line, a sentence, a word."""


class Part(NamedTuple):
    """A turn as it is shown, or a piece of a long one; its size is its weight with a line break."""

    text: str
    line: int
    size: int


Passage = list[Part]


def chunk_turns(turns: Sequence[Turn], heading: str, tokens: int, overlap: int) -> list[Chunk]:
    """Cut a conversation into chunks whose lines are those of the turns in the transcript."""
    return [chunk for stretch in stretches(turns) for chunk in _chunk(stretch, heading, tokens, overlap)]


def stretches(turns: Iterable[Turn]) -> Iterator[list[Turn]]:
    """Divide a conversation into stretches that are cut by themselves.

    A stretch ends at a new question after enough was said. So whatever is said later changes only the last
    stretch, and a transcript that grows is read and cut again from there.
    """
    stretch: list[Turn] = []
    said = 0
    for turn in turns:
        is_new = turn.role == "user" and bool(stretch) and stretch[-1].role == "assistant"
        if is_new and said >= _STRETCH:
            yield stretch
            stretch, said = [], 0
        stretch.append(turn)
        said += len(turn.text)
    if stretch:
        yield stretch


def _chunk(turns: Iterable[Turn], heading: str, tokens: int, overlap: int) -> Iterator[Chunk]:
    """Yield the chunks of a stretch in the order of their lines."""
    limit = limit_of(tokens)
    question_room = limit // _QUESTION_SHARE
    passages: list[Passage] = []
    rests: list[list[Part]] = []
    for asked, answer in _exchanges(_tidy(turn) for turn in turns):
        # The beginning of what was asked last is repeated above the rest of the answer.
        has_question = asked and question_room >= _SHORTEST_START
        question = _parts(asked[-1], question_room, limit)[:1] if has_question else []
        room = limit - _size(question)
        opening, rest = _divide(asked, answer, limit, room)
        passages.extend(opening)
        rests.extend([*question, *run] for run in _group([[part] for part in rest], room, 0))
    runs = [*_group(passages, limit, overlap_of(tokens, overlap)), *rests]
    for run in sorted(runs, key=lambda run: run[0].line):
        text = "\n".join([part.text for part in run])
        sizes = accumulate((part.text.count("\n") + 1 for part in run), initial=0)
        places = tuple(zip(sizes, (part.line for part in run), strict=False))
        yield Chunk(run[0].line, run[-1].line, text, text_hash(text), heading, places)


def label_of(turn: Turn) -> str:
    """Return what is shown before a turn: who said it, and which tools were called."""
    return f"Assistant ({', '.join(turn.tools)}): " if turn.tools else _LABELS[turn.role]


def _exchanges(turns: Iterable[Turn]) -> Iterator[tuple[list[Turn], list[Turn]]]:
    """Pair what the user said in a row with what the assistant answered to it in a row."""
    asked: list[Turn] = []
    for role, said in groupby(turns, key=lambda turn: turn.role):
        if role == "user":
            asked = list(said)
        else:
            yield asked, list(said)
            asked = []
    if asked:
        yield asked, []


def _divide(
    asked: list[Turn], answer: list[Turn], limit: int, rest_limit: int
) -> tuple[list[Passage], list[Part]]:
    """Divide an exchange into passages, the last of them with the answer's beginning, and the rest."""
    passages = [[part] for turn in asked for part in _parts(turn, limit, limit)]
    last = passages.pop() if passages else []
    room = min(limit // _BEGINNING_SHARE, limit - _size(last))
    left = list(answer)
    while left and (whole := _whole(left[0], room)):
        last.append(whole)
        room -= whole.size
        left.pop(0)
    rest: list[Part] = []
    if left and room >= _SHORTEST_START:
        start, *rest = _parts(left.pop(0), room, rest_limit)
        last.append(start)
    for turn in left:
        rest.extend(_parts(turn, rest_limit, rest_limit))
    return ([*passages, last] if last else passages), rest


def _parts(turn: Turn, room: int, limit: int) -> list[Part]:
    """Return a turn in parts that fit the limit, the first of them the room."""
    if whole := _whole(turn, room):
        return [whole]
    around = _part(turn, f"{_CUT}  {_CUT}").size
    pieces = list(_pieces(turn.text, room - around, limit - around))
    last = len(pieces) - 1
    return [
        _part(turn, f"{_CUT + ' ' if place else ''}{piece}{' ' + _CUT if place < last else ''}")
        for place, piece in enumerate(pieces)
    ]


def _whole(turn: Turn, room: int) -> Part | None:
    """Return a turn as one part, if that fits the room."""
    if len(turn.text) >= room:
        return None  # without weighing it, which takes long for a text of many megabytes
    part = _part(turn, turn.text)
    return part if part.size <= room else None


def _part(turn: Turn, text: str) -> Part:
    shown = label_of(turn) + text
    return Part(shown, turn.line, weigh(shown) + 1)


def _size(parts: list[Part]) -> int:
    return sum([part.size for part in parts])


def _pieces(text: str, room: int, limit: int) -> Iterator[str]:
    """Cut a text into pieces that weigh at most the limit, the first of them at most the room."""
    start = 0
    while (left := weigh(text[start : start + 2 * room])) > room:
        # What is left for two pieces is halved, so that the last one is not a mere scrap.
        weight = min(room, left * 5 // 8)
        piece = text[start : start + weight]
        while (excess := weigh(piece) - weight) > 0:
            piece = piece[: len(piece) - max(1, excess // 4)]  # a character weighs at most four
        end = start + best_end(piece, _ENDS)
        if piece := text[start:end].strip():
            yield piece
            room = limit
        start = end
    if piece := text[start:].strip():
        yield piece


def _group(passages: Iterable[Passage], limit: int, window: int) -> Iterator[list[Part]]:
    """Join passages as far as they fit the limit; each run but the first begins with the end of the last."""
    run: list[Part] = []
    weight = 0
    for passage in passages:
        size = _size(passage)
        if run and weight + size > limit:
            yield run
            run = _carry(run, min(window, limit - size))
            weight = _size(run)
        run = [*run, *passage]
        weight += size
    if run:
        yield run


def _carry(run: list[Part], window: int) -> list[Part]:
    """Return the parts at the end of a run that fit the window."""
    kept = len(run)
    while kept and run[kept - 1].size <= window:
        kept -= 1
        window -= run[kept].size
    return run[kept:]


def _tidy(turn: Turn) -> Turn:
    """Take out the white space that only fills room; paragraphs and indentation stay."""
    lines = [_BLANKS.sub(" ", line.rstrip()) for line in turn.text.split("\n")]
    return replace(turn, text=_EMPTY_LINES.sub("\n\n", "\n".join(lines)).strip())
