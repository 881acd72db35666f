"""Cut the note of facts into chunks: one for each fact, and the rest like any other note."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from memlines.text.chunk import chunk_text, limit_of, text_hash, weigh
from memlines.text.fact_cache import facts_of
from memlines.text.facts import Fact, FactLine
from memlines.text.frontmatter import front_matter
from memlines.text.notes import chunk_note
from memlines.text.outline import Heading, heading_above, outline
from memlines.types import Chunk

ENDED = " (no longer true"
"""What follows the words of a fact that is no longer true."""


def chunk_facts(text: str, tokens: int, overlap: int) -> list[Chunk]:
    """Cut a note of facts into chunks, in their order and with their lines as they are in the note.

    The text of a fact's chunk is its words alone, so that they alone are compared; one that is no longer
    true says so.
    """
    cutter = _Cutter(text, tokens, overlap)
    chunks: list[Chunk] = []
    done = 0
    for fact in facts_of(text):
        if done < fact.first - 1:
            chunks.extend(cutter.others(done, fact.first - 1))
        chunks.extend(cutter.fact(fact))
        done = fact.last
    return [*chunks, *cutter.others(done, len(cutter.lines))]


def words_of(fact: Fact) -> str:
    """Return a fact in the words under which it is indexed."""
    if fact.is_current:
        return fact.text
    since = f" since {fact.until.isoformat()}" if fact.until else ""
    return f"{fact.text}{ENDED}{since})"


class _Cutter:
    """A note of facts, and how it is to be cut."""

    def __init__(self, text: str, tokens: int, overlap: int) -> None:
        self.lines = text.split("\n")
        self._size = tokens, overlap
        self._limit = limit_of(tokens)
        self._headings = outline(text)
        self._sections = _without_title(self._headings, self.lines)
        matter = front_matter(text)
        self._matter = matter.lines if matter else 0
        self._about = {*range(1, self._matter + 1), *(heading.line for heading in self._headings)}
        """The lines that say something about others, and are no passage of their own."""

    def fact(self, line: FactLine) -> Iterator[Chunk]:
        words = words_of(line.fact)
        heading = heading_above(self._sections, line.first) if self._sections else ""
        if weigh(words) <= self._limit:
            yield Chunk(line.first, line.last, words, text_hash(words), heading)
            return
        for piece in chunk_text(words, *self._size):
            yield replace(piece, start_line=line.first, end_line=line.last, heading=heading)

    def others(self, done: int, end: int) -> Iterator[Chunk]:
        """Yield the chunks of the lines after some and up to others; headings alone make none."""
        part = self.lines[done:end]
        if not any(line.strip() for at, line in enumerate(part, done + 1) if at not in self._about):
            part = part[: max(0, self._matter - done)]
        if not done:  # only here can the note say something about itself
            yield from chunk_note("\n".join(part), *self._size)
            return
        for chunk in chunk_text("\n".join(part), *self._size):
            first, last = chunk.start_line + done, chunk.end_line + done
            heading = heading_above(self._headings, first)
            yield replace(chunk, start_line=first, end_line=last, heading=heading)


def _without_title(headings: list[Heading], lines: list[str]) -> list[Heading]:
    """Return headings without the title of the note, which would stand above every fact."""
    if not headings or not lines[headings[0].line - 1].lstrip().startswith(("# ", "#\t")):
        return headings
    title, *others = headings
    above = (title.title,)
    return [replace(one, parents=one.parents[1:]) if one.parents[:1] == above else one for one in others]
