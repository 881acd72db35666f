"""Find what can be forgotten: the entries, notes and conversations that a selector points at.

A selector is a citation (`memory/2026-11-16.md#L3-L9`), the path of a note or of a transcript, or else a
query. Lines select the whole of each entry they touch: half a sentence is rarely what was meant.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from memlines.errors import PathError, UsageError
from memlines.files import atomic, erase, snapshots
from memlines.files.place import place_of, reading
from memlines.files.read import decode
from memlines.files.scan import SESSIONS_DIR, SUFFIX
from memlines.files.tombstones import session_of
from memlines.index.sync.discovery import SNAPSHOTS, find_files
from memlines.index.sync.transcripts import read_transcript, transcript_of
from memlines.memory.notes import entries as form
from memlines.memory.notes.entries import notes_in
from memlines.memory.notes.proof import files_below
from memlines.paths import PRIVATE_DIR, Workspace
from memlines.settings import Settings
from memlines.text.entries import Entry, entries_of
from memlines.text.language import language_of
from memlines.text.terms import query_terms, telling_words, terms_of
from memlines.transcripts.lines import table
from memlines.types import FoundFile, Hit, Problem, Turn, cite, cited

if TYPE_CHECKING:
    from memlines.memory.memory import Memory

NOTE = "note"
TURN = "turn"
TRANSCRIPT = "transcript"
SNAPSHOT = "snapshot"

_SESSION_KEYS = ("session", "session_id", "sessionId", "sessionID")


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that can be forgotten: an entry of a note, a whole note, a turn, a transcript, a snapshot."""

    path: str
    start_line: int
    end_line: int
    text: str
    kind: str

    @property
    def citation(self) -> str:
        """Where it stands."""
        if self.kind in (NOTE, TRANSCRIPT, SNAPSHOT):
            return self.path
        return cite(self.path, self.start_line, self.end_line)

    def to_json(self) -> dict[str, Any]:
        """Return it with field names that stay."""
        return {
            "path": self.path,
            "start_line": self.start_line,
            "end_line": self.end_line,
            "text": self.text,
            "kind": self.kind,
            "citation": self.citation,
        }


def candidates(memory: Memory, selector: str = "", *, session: str | None = None) -> tuple[Candidate, ...]:
    """Return what a selector or a session points at, in the order it is found; each only once."""
    found: list[Candidate] = []
    if session is not None:
        found.extend(_of_session(memory.workspace, memory.settings, session))
    elif not selector.strip():
        raise UsageError("nothing is named to be forgotten", todo="Give a citation, a path or some words")
    if selector.strip():
        found.extend(_selected(memory, selector.strip()))
    return tuple(dict.fromkeys(found))


def is_query(workspace: Workspace, selector: str) -> bool:
    """Tell whether a selector is a question rather than the name of a place."""
    named = selector.strip()
    return cited(named) is None and not _is_path(workspace, named)


def _selected(memory: Memory, selector: str) -> Iterable[Candidate]:
    workspace, settings = memory.workspace, memory.settings
    place = cited(selector)
    if place:
        path, first, last = place
        if not 1 <= first <= last:
            raise UsageError(f"the citation {selector!r} names no lines", todo="Lines count from 1")
        return _cited(workspace, settings, path, first, last)
    if _is_path(workspace, selector):
        return [_whole(workspace, settings, selector)]
    return _matching(workspace, settings, selector, memory.search(selector, full=True, strict=True).hits)


def _is_path(workspace: Workspace, name: str) -> bool:
    if _is_transcript(name):
        return True
    plain = name.endswith(SUFFIX) and "\n" not in name
    return plain and (not re.search(r"\s", name) or os.path.lexists(workspace.root / name))


def _is_transcript(path: str) -> bool:
    is_transcript = path.startswith(f"{SESSIONS_DIR}/") and ".jsonl" in path
    is_snapshot = path.startswith(SNAPSHOTS) and path.endswith(".json")
    return (is_transcript or is_snapshot) and not re.search(r"\s", path)


# By place


def _cited(workspace: Workspace, settings: Settings, path: str, first: int, last: int) -> Iterable[Candidate]:
    if _is_transcript(path):
        turns = _turns(_transcript(workspace, settings, path), settings)
        found = [_said(path, turn) for turn in turns if first <= turn.line <= last]
    else:
        place = place_of(workspace, path)
        _refuse_done(workspace, place.path)
        entries = entries_of(_existing(workspace, place.path))
        found = [_entry(place.path, entry) for entry in _touched(entries, first, last)]
    if not found:
        raise PathError(
            f"there is nothing to forget in {cite(path, first, last)}", todo="Name lines that hold something"
        )
    return found


def _whole(workspace: Workspace, settings: Settings, path: str) -> Candidate:
    if path.startswith(SNAPSHOTS):
        every = (one for one, _ in _all_snapshots(workspace) if one.path == f"{PRIVATE_DIR}/{path}")
        if snapshot := next(every, None):
            return snapshot
        raise PathError(f"there is no snapshot {path!r}", todo="'memlines snapshots list' shows all")
    if _is_transcript(path):
        return _conversation(_transcript(workspace, settings, path), settings)
    place = place_of(workspace, path)
    if atomic.exists(place.real, root=place.root):
        text = _existing(workspace, place.path)
    else:
        _refuse_done(workspace, place.path)
        kept = erase.kept_text(workspace, place.path)
        if kept is None:
            raise PathError(f"there is no note {place.path!r}", todo="Name a note that exists")
        text = kept
    return Candidate(place.path, 1, max(1, text.count("\n")), text, NOTE)


def _existing(workspace: Workspace, path: str) -> str:
    place = place_of(workspace, path)
    with reading(f"{path!r}"):
        content = atomic.read(place.real, root=place.root)
    if content is None:
        raise PathError(f"there is no note {path!r}", todo="Name a note that exists")
    try:
        return decode(content)
    except ValueError as error:
        raise PathError(f"{path!r} {error}", todo="Only UTF-8 text can be forgotten") from None


def _refuse_done(workspace: Workspace, path: str) -> None:
    """Refuse lines of a note from which a run that was cut short has taken what it was to take."""
    if erase.is_done(workspace, path):
        erase.finish(workspace)
        raise PathError(
            f"an earlier run, which was cut short, has already taken out of {path!r} what was forgotten, so "
            "its lines are others now",
            todo="Look at the note, and name lines again only if you want to forget more",
        )


def _touched(entries: Iterable[Entry], first: int, last: int) -> list[Entry]:
    return [entry for entry in entries if entry.first <= last and entry.last >= first]


def _entry(path: str, entry: Entry) -> Candidate:
    return Candidate(path, entry.first, entry.last, entry.text, entry.kind)


# By what was asked


def _matching(
    workspace: Workspace, settings: Settings, query: str, hits: Sequence[Hit]
) -> Iterable[Candidate]:
    """Return what in the lines of the hits holds the words of a query: half of them, or else the most."""
    words = telling_words(query)
    shares: dict[Candidate, int] = {}
    for hit in hits:
        for candidate, language in _within(workspace, settings, hit):
            shares.setdefault(candidate, _share(words, query, candidate.text, language))
    most = max(shares.values(), default=0)
    enough = min(most, (len(words) + 1) // 2)
    if most:
        return [candidate for candidate, share in shares.items() if share >= max(1, enough)]
    best = hits[0] if hits else None  # found by its meaning alone: a person has to choose
    return [candidate for candidate, _ in _within(workspace, settings, best)] if best else []


def _within(workspace: Workspace, settings: Settings, hit: Hit) -> Iterator[tuple[Candidate, str]]:
    """Yield what the lines of a hit hold, as far as it can be forgotten, and in which language."""
    if hit.source == "sessions":
        file = _found_transcript(workspace, settings, hit.path)
        for turn in _turns(file, settings) if file else ():
            if hit.start_line <= turn.line <= hit.end_line:
                yield _said(hit.path, turn), language_of(turn.text)
        return
    try:
        text = _existing(workspace, hit.path)
    except PathError:  # a note of an extra path belongs to someone else
        return
    language = language_of(text)
    for entry in _touched(entries_of(text), hit.start_line, hit.end_line):
        if entry.kind != "heading":
            yield _entry(hit.path, entry), language


def _share(words: Iterable[str], query: str, text: str, language: str) -> int:
    """Return how many words of a query a text holds in any form."""
    terms = {*terms_of(text, language), *terms_of(text, "")}
    return sum(not terms.isdisjoint(query_terms(word, (language, language_of(query)))) for word in words)


# By session


def _of_session(workspace: Workspace, settings: Settings, session: str) -> Iterator[Candidate]:
    name = session.strip()
    form.session_mark(name)  # says why, if this cannot be a session
    for note in notes_in(workspace, settings):
        try:
            text = _existing(workspace, note.path)
        except PathError:
            continue
        for entry, owner in form.sessions_in(text):
            if owner == name:
                yield _entry(note.path, entry)
    for file in _transcripts(workspace, settings):
        if session_of(file.path) == name:
            yield _conversation(file, settings)
    yield from _snapshots(workspace, name)


def _snapshots(workspace: Workspace, session: str) -> Iterator[Candidate]:
    for candidate, content in _all_snapshots(workspace):
        name = candidate.path.rpartition("/")[2].partition(".")[0]
        if name == session or any(content.get(key) == session for key in _SESSION_KEYS):
            yield candidate


def _all_snapshots(workspace: Workspace) -> Iterator[tuple[Candidate, Mapping[str, Any]]]:
    """Yield every snapshot, by what is said in it, with its JSON; one that is damaged by all it holds."""
    for file in files_below(workspace.private / snapshots.FOLDER, workspace.root):
        text = (atomic.read(file, root=workspace.root) or b"").decode("utf-8", "replace")
        try:
            content = table(json.loads(text))
        except (ValueError, RecursionError):
            content = {}
        messages = content.get("messages")
        every = [table(one).get("text") for one in messages] if isinstance(messages, list) else []
        said = "\n\n".join(one for one in every if isinstance(one, str))
        path = f"{PRIVATE_DIR}/{file.relative_to(workspace.private).as_posix()}"
        yield Candidate(path, 1, text.count("\n") + 1, said or text, SNAPSHOT), content


# Transcripts


def _transcripts(workspace: Workspace, settings: Settings) -> tuple[FoundFile, ...]:
    return find_files(workspace, replace(settings, sources=("sessions",))).files


def _found_transcript(workspace: Workspace, settings: Settings, path: str) -> FoundFile | None:
    return next((file for file in _transcripts(workspace, settings) if file.path == path), None)


def _transcript(workspace: Workspace, settings: Settings, path: str) -> FoundFile:
    file = _found_transcript(workspace, settings, path)
    if file is None:
        raise PathError(f"there is no transcript {path!r}", todo="Name one that exists")
    return file


def _turns(file: FoundFile, settings: Settings) -> tuple[Turn, ...]:
    document = read_transcript(file)
    if document is None or isinstance(document, Problem):
        return ()
    return transcript_of(document).turns


def _said(path: str, turn: Turn) -> Candidate:
    return Candidate(path, turn.line, turn.line, turn.text, TURN)


def _conversation(file: FoundFile, settings: Settings) -> Candidate:
    turns = _turns(file, settings)
    last = turns[-1].line if turns else 1
    return Candidate(file.path, 1, last, "\n\n".join(turn.text for turn in turns), TRANSCRIPT)
