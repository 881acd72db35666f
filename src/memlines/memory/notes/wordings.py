"""How facts were worded before: earlier versions of their note are kept, and name them as it does now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memlines.files import erase
from memlines.memory.notes.candidates import Candidate
from memlines.memory.notes.entries import text_of
from memlines.paths import Workspace, note_path
from memlines.settings import Settings
from memlines.text.edits import locate
from memlines.text.fact_note import facts_of
from memlines.text.facts import FactLine
from memlines.text.words import words_of


def earlier_wordings(
    workspace: Workspace, settings: Settings, entries: Sequence[Candidate], remaining: Sequence[str]
) -> tuple[str, ...]:
    """Return the earlier texts of entries that are facts, but for those which other notes still hold.

    A fact that was changed keeps its id, also if it had none of its own before.
    """
    path = note_path(settings.facts.file)
    chosen = [entry for entry in entries if entry.path == path]
    if not chosen:
        return ()
    names = set(_names(text_of(workspace, settings, path), chosen))
    earlier: dict[str, str] = {}
    for name, text in erase.kept_texts(workspace):
        if f"/{path}" in f"/{name}" or any(f"^{one}" in text for one in names):
            earlier |= {line.raw: line.fact.text for line in facts_of(text) if line.fact.id in names}
    known = [_spoken(text) for text in remaining] if earlier else []
    return tuple(raw for raw, said in earlier.items() if not any(_spoken(said) in other for other in known))


def _names(text: str, chosen: Sequence[Candidate]) -> Iterator[str]:
    """Yield the ids of the facts that stand on the lines of entries."""
    lines: tuple[FactLine, ...] = facts_of(text)
    for entry in chosen:
        first, last = locate(text, entry.start_line, entry.end_line, entry.text) or (0, 0)
        yield from (line.fact.id for line in lines if first <= line.first <= last)


def _spoken(text: str) -> str:
    """Return the words of a text, so that one text is found in another only between words."""
    return f" {' '.join(words_of(text)).casefold()} "
