"""Cut a note into chunks that stand under what the note says about itself.

The front matter is no passage of its own: title, aliases and tags stand above every chunk, as headings do,
and the other values above the first one. Only where they do not fit there, or the note has no other text,
its lines are kept like others. Comments that name a session are no passage either: blank lines stand for
them.
"""

from __future__ import annotations

from dataclasses import replace

from memlines.text.chunk import chunk_text
from memlines.text.comments import without_session_comments
from memlines.text.frontmatter import FrontMatter, front_matter
from memlines.types import Chunk

_LONGEST_CONTEXT = 160
_LONGEST_OTHERS = 320
"""Characters above a chunk, so that they never outweigh what stands in it."""

_BELOW = " > "


def chunk_note(text: str, tokens: int, overlap: int) -> list[Chunk]:
    """Cut a note into chunks, with their lines as they are in the note."""
    text = without_session_comments(text)
    matter = front_matter(text)
    if matter is None:
        return chunk_text(text, tokens, overlap)
    lines = text.split("\n")
    body = chunk_text("\n".join(lines[matter.lines :]), tokens, overlap)
    context = _context(matter)
    others = "; ".join(f"{key}: {value}" for key, value in matter.others)
    chunks = [
        replace(
            chunk,
            start_line=chunk.start_line + matter.lines,
            end_line=chunk.end_line + matter.lines,
            heading=_heading(context, "" if at else others, _without(matter.title, chunk.heading)),
        )
        for at, chunk in enumerate(body)
    ]
    if body and len(context) <= _LONGEST_CONTEXT and len(others) <= _LONGEST_OTHERS:
        return chunks
    return chunk_text("\n".join(lines[: matter.lines]), tokens, overlap) + chunks


def _context(matter: FrontMatter) -> str:
    """Return title, aliases and tags as one line, tags as they are written in text."""
    aliases = f"({', '.join(matter.aliases)})" if matter.aliases else ""
    return " ".join(part for part in (matter.title, aliases, *(f"#{tag}" for tag in matter.tags)) if part)


def _heading(context: str, others: str, headings: str) -> str:
    parts = (context[:_LONGEST_CONTEXT], others[:_LONGEST_OTHERS], headings)
    return _BELOW.join(part for part in parts if part)


def _without(title: str, headings: str) -> str:
    """Return headings without the title, which most notes repeat as their first heading."""
    first, _, rest = headings.partition(_BELOW)
    return rest if title and first.casefold() == title.casefold() else headings
