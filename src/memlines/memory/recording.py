"""Record which lines agents were shown, and remove from the record what is forgotten.

A line is known by the hash of its entry (`entry_id`), so it is found again wherever it has moved to. What the
record holds is in `files/shown.py`; it holds no text of a note.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from memlines.errors import PathError, UsageError
from memlines.files.place import ensure_private
from memlines.files.read import without_private_blocks
from memlines.files.scan import SUFFIX
from memlines.files.shown import Answer, ShownLine, append, erase, shown_lock
from memlines.files.tombstones import FILE_NAME as TOMBSTONES
from memlines.files.tombstones import Forgotten
from memlines.memory.notes.entries import text_of
from memlines.paths import PRIVATE_DIR, Workspace
from memlines.settings import Settings
from memlines.text.entries import entries_of
from memlines.text.matching import entry_id
from memlines.types import Lines, cite, cited

_WAIT_SECONDS = 0.25
"""How long an answer may wait for another writer of the record; usually that takes a millisecond."""

_LONGEST_QUERY = 200
_READ_CHARACTERS = 2_000
"""How much of a query is kept, and how much is looked at for it: a secret may shrink to a few characters."""

_LONGEST_NAME = 200
_MOST_LINES = 400
"""How many entries one answer may name; a usual answer has a few, the start of a session a hundred."""

_LARGE = 100_000
_AROUND = 200
"""Characters above which only a part of a note is cut into entries, and how many lines around those that were
shown that part has: cutting a note of 10 MB takes seconds, and an agent waits."""


class Span(NamedTuple):
    """An entry of a note."""

    path: str
    first: int
    last: int
    text: str


# Recording


def record(
    workspace: Workspace,
    settings: Settings,
    kind: str,
    shown: Iterable[ShownLine],
    *,
    session: str = "",
    client: str = "",
    query: str = "",
) -> None:
    """Write down which lines a client is given; raises if that cannot be done soon."""
    ensure_private(workspace)
    with shown_lock(workspace).held(_WAIT_SECONDS):
        forgotten = _load_forgotten(workspace)
        lines = tuple(islice(_find_entries(workspace, settings, shown), _MOST_LINES))
        if lines and not forgotten.drops_session(session):
            time = datetime.now(UTC).isoformat(timespec="seconds")
            kept = _usable_query(settings, query, forgotten) if query else ""
            who = session[:_LONGEST_NAME], client[:_LONGEST_NAME]
            append(workspace, Answer(time, kind, *who, kept, lines))


def _load_forgotten(workspace: Workspace) -> Forgotten:
    """Return what was forgotten, read again only if it has changed."""
    try:
        info = (workspace.private / TOMBSTONES).stat()
    except FileNotFoundError:
        return Forgotten(())
    return _read_forgotten(workspace, info.st_mtime_ns, info.st_size, info.st_ino)


@lru_cache(maxsize=4)
def _read_forgotten(workspace: Workspace, *stamp: int) -> Forgotten:
    return Forgotten.load(workspace)


def _usable_query(settings: Settings, query: str, forgotten: Forgotten) -> str:
    """Return a query without secrets and private parts, shortened; empty if it holds forgotten text."""
    from memlines.text.neutral import without_quotes
    from memlines.text.redaction import redact, rules_of
    from memlines.text.redaction.apply import without_private

    said = without_private(without_quotes(query))[0][:_READ_CHARACTERS]
    if forgotten.drops(said):
        return ""
    return " ".join(redact(said, rules_of(settings.redaction.rules)).text.split())[:_LONGEST_QUERY]


def _find_entries(
    workspace: Workspace, settings: Settings, shown: Iterable[ShownLine]
) -> Iterator[ShownLine]:
    """Yield the entries on lines, each once; what is no entry of a note goes by its lines alone."""
    texts: dict[str, str] = {}
    seen: set[str] = set()
    for line in shown:
        path, first, last = cited(line.citation) or (line.citation, 1, 1)
        if path not in texts:
            texts[path] = without_private_blocks(text_of(workspace, settings, path))
        name = path.removeprefix(f"{PRIVATE_DIR}/")  # as the index names snapshots
        spans = spans_on(path, texts[path], first, last) if texts[path] else [Span(path, first, last, "")]
        score = None if line.score is None else round(line.score, 4)
        for span in spans:
            citation = cite(name, span.first, span.last)
            if citation not in seen:
                seen.add(citation)
                yield ShownLine(citation, entry_id(span.text) if span.text else "", score)


def spans_on(path: str, text: str, first: int, last: int) -> list[Span]:
    """Return the entries of a note that some lines touch, without headings."""
    above = 0
    if len(text) > _LARGE:
        above = max(0, first - 1 - _AROUND)
        text = "\n".join(text.split("\n")[above : last + _AROUND])
    return [
        Span(path, begin + above, end + above, said)
        for begin, end, said in (_known_entries(text) if len(text) <= _LARGE else _entries_in(text))
        if begin + above <= last and first <= end + above
    ]


def _entries_in(text: str) -> list[tuple[int, int, str]]:
    return [(entry.first, entry.last, entry.text) for entry in entries_of(text) if entry.kind != "heading"]


_known_entries = lru_cache(maxsize=32)(_entries_in)
"""The same; the notes that are shown are often the same ones."""


# The entries on some lines


def parse_lines(citation: str) -> Lines:
    """Return the lines that a citation names, or refuse it."""
    place = cited(citation.strip())
    if place is None or not 1 <= place[1] <= place[2]:
        raise UsageError(f"{citation[:80]!r} is not a citation", todo="Give one such as memory/x.md#L3-L9")
    return place


def entries_on(workspace: Workspace, settings: Settings, path: str, first: int, last: int) -> list[Span]:
    """Return the entries of a note that some lines touch, without headings."""
    return spans_on(path, without_private_blocks(text_of(workspace, settings, path)), first, last)


def whole_entries(workspace: Workspace, settings: Settings, citations: Iterable[str]) -> tuple[Lines, ...]:
    """Return the lines of the entries that citations touch; of a conversation, the lines that they name."""
    found: list[Lines] = []
    for citation in citations:
        path, first, last = parse_lines(citation)
        spans = entries_on(workspace, settings, path, first, last)
        if not spans and path.endswith(SUFFIX):
            raise PathError(f"there is no entry on {citation!r}", todo="Name lines that hold something")
        found += [span[:3] for span in spans] or [(path, first, last)]
    return tuple(found)


# Forgetting


def forget_shown(
    workspace: Workspace,
    texts: Iterable[str],
    places: Collection[Lines],
    files: Collection[str],
    sessions: Collection[str],
    is_forgotten: Callable[[str], bool],
) -> int:
    """Remove what names forgotten texts, lines, files and sessions; return how many answers changed.

    An answer loses its query with one of its lines: it was probably about that. The caller holds the lock of
    the record.
    """
    names = {
        entry_id(entry) for text in texts for entry in [text, *(said for _, _, said in _entries_in(text))]
    }

    def is_gone(line: ShownLine) -> bool:
        is_of_file = line.citation.rpartition("#")[0] in files
        return line.id in names or is_of_file or is_on(line.citation, places)

    def without_forgotten(answer: Answer) -> Answer | None:
        kept = tuple([line for line in answer.lines if not is_gone(line)])
        if not kept or answer.session in sessions:
            return None
        is_same = len(kept) == len(answer.lines) and not is_forgotten(answer.query)
        return answer if is_same else replace(answer, query="", lines=kept)

    return erase(workspace, without_forgotten)


def is_on(citation: str, places: Iterable[Lines]) -> bool:
    """Return whether a citation names some of the lines."""
    path, first, last = cited(citation) or ("", 0, 0)
    return any(name == path and begin <= last and first <= end for name, begin, end in places)
