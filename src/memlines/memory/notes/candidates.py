"""Find what can be forgotten: the entries, notes and conversations that a selector points at.

A selector is a citation (`memory/2026-11-16.md#L3-L9`), the path of a note or of a transcript, or else a
query. Lines select the whole of each entry they touch: half a sentence is rarely what was meant.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from memlines.errors import PathError, UsageError
from memlines.files import atomic, erase, shown, snapshots
from memlines.files.place import place_of, reading
from memlines.files.read import decode
from memlines.files.scan import SESSIONS_DIR, SUFFIX
from memlines.files.tombstones import session_of
from memlines.index.sync.discovery import SNAPSHOTS, find_files
from memlines.index.sync.transcripts import read_transcript, transcript_of
from memlines.memory.asking import parse, search_asked
from memlines.memory.notes.entries import notes_in, session_mark, sessions_in, text_of
from memlines.memory.notes.proof import files_below
from memlines.paths import PRIVATE_DIR, Workspace, note_path
from memlines.records import dataclass
from memlines.settings import Settings
from memlines.text.days import log_day
from memlines.text.edits import locate
from memlines.text.entries import Entry, entries_of
from memlines.text.fact_note import doubles_in, facts_of
from memlines.text.language import language_of
from memlines.text.terms import query_terms, telling_words, terms_of
from memlines.transcripts.lines import table
from memlines.types import FoundFile, Hit, Problem, Turn, cite, cited

if TYPE_CHECKING:
    from memlines.memory.manager import Manager

NOTE = "note"
TURN = "turn"
TRANSCRIPT = "transcript"
SNAPSHOT = "snapshot"
RECORD = "record"
"""What an agent was shown in a session; the text is the name of the session."""
_ITEM = "item"
_ENTRIES = (_ITEM, "paragraph", "code")

_SESSION_KEYS = ("session", "session_id", "sessionId", "sessionID")


@dataclass(frozen=True, slots=True)
class ForgetCandidate:
    """Something that can be forgotten: an entry of a note, a whole note, a turn, a transcript, a snapshot."""

    path: str
    start_line: int
    end_line: int
    text: str
    kind: str
    """What it is."""

    @property
    def citation(self) -> str:
        """Where it is."""
        if self.kind in (NOTE, TRANSCRIPT, SNAPSHOT, RECORD):
            return self.path
        return cite(self.path, self.start_line, self.end_line)

    def to_json(self) -> dict[str, Any]:
        """Return it with field names that stay."""
        return {**asdict(self), "citation": self.citation}


def find_candidates(
    manager: Manager, selector: str = "", *, session: str | None = None
) -> tuple[ForgetCandidate, ...]:
    """Return what a selector or a session points at, in the order it is found; each only once."""
    named = selector.strip()
    found: list[ForgetCandidate] = []
    if session is not None:
        found.extend(_of_session(manager.workspace, manager.settings, session.strip()))
    elif not named:
        raise UsageError("nothing is named to be forgotten", todo="Give a citation, a path or some words")
    if named:
        found.extend(_select(manager, named))
    return tuple(dict.fromkeys(found))


def is_query(workspace: Workspace, selector: str) -> bool:
    """Return whether a selector is a question rather than the name of a place."""
    named = selector.strip()
    return cited(named) is None and not _is_path(workspace, named)


def turns_of(file: FoundFile) -> tuple[Turn, ...]:
    """Return what was said in a transcript; one that cannot be read says nothing."""
    document = read_transcript(file)
    if document is None or isinstance(document, Problem):
        return ()
    return transcript_of(document).turns


def _select(manager: Manager, selector: str) -> Sequence[ForgetCandidate]:
    workspace, settings = manager.workspace, manager.settings
    place = cited(selector)
    if place is None and _is_path(workspace, selector):
        return [_whole(workspace, settings, selector)]
    if place is None:
        hits = search_asked(manager, parse(settings, selector, full=True, strict=True)).hits
        return _matching(workspace, settings, selector, hits)
    path, first, last = place
    if not 1 <= first <= last:
        raise UsageError(f"the citation {selector!r} names no lines", todo="Lines count from 1")
    if _is_conversation(path):
        found = _turns_on(_transcript(workspace, settings, path), first, last)
    else:
        path = place_of(workspace, path).path
        _refuse_done(workspace, path)
        found = _entries_on(path, _read_note(workspace, path), first, last)
    if not found:
        raise PathError(
            f"there is nothing to forget in {cite(path, first, last)}", todo="Name lines that hold something"
        )
    return found


def _is_path(workspace: Workspace, name: str) -> bool:
    if _is_conversation(name):
        return True
    is_plain = name.endswith(SUFFIX) and "\n" not in name
    return is_plain and (not re.search(r"\s", name) or os.path.lexists(workspace.root / name))


def _is_conversation(path: str) -> bool:
    is_transcript = path.startswith(f"{SESSIONS_DIR}/") and ".jsonl" in path
    is_snapshot = path.startswith(SNAPSHOTS) and path.endswith(".json")
    return (is_transcript or is_snapshot) and not re.search(r"\s", path)


# Notes and conversations as candidates


def _whole(workspace: Workspace, settings: Settings, path: str) -> ForgetCandidate:
    """Return a whole snapshot, transcript or note; a note may be gone, if versions of it are kept."""
    if path.startswith(SNAPSHOTS):
        for snapshot, _ in _snapshots(workspace):
            if snapshot.path == f"{PRIVATE_DIR}/{path}":
                return snapshot
        raise PathError(f"there is no snapshot {path!r}", todo="'memlines snapshots list' shows all")
    if _is_conversation(path):
        return _conversation(_transcript(workspace, settings, path))
    place = place_of(workspace, path)
    text = None
    if not atomic.exists(place.real, root=place.root):
        _refuse_done(workspace, place.path)
        text = erase.kept_text(workspace, place.path)
    if text is None:
        text = _read_note(workspace, place.path)
    return ForgetCandidate(place.path, 1, max(1, text.count("\n")), text, NOTE)


def _read_note(workspace: Workspace, path: str) -> str:
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
    """Refuse lines of a note from which a run that was cut short has removed all that it had to."""
    if erase.is_done(workspace, path):
        erase.finish(workspace)
        raise PathError(
            f"an earlier run, which was cut short, has already taken out of {path!r} what was forgotten, so "
            "its lines are others now",
            todo="Look at the note, and name lines again only if you want to forget more",
        )


def _entries_on(path: str, text: str, first: int, last: int) -> list[ForgetCandidate]:
    return [_entry(path, entry) for entry in entries_of(text) if entry.first <= last and entry.last >= first]


def _entry(path: str, entry: Entry) -> ForgetCandidate:
    return ForgetCandidate(path, entry.first, entry.last, entry.text, entry.kind)


def list_transcripts(workspace: Workspace, settings: Settings) -> tuple[FoundFile, ...]:
    """List the transcripts of a workspace, whether or not the settings ask for sessions."""
    return find_files(workspace, replace(settings, sources=("sessions",))).files


def _transcript(workspace: Workspace, settings: Settings, path: str) -> FoundFile:
    for file in list_transcripts(workspace, settings):
        if file.path == path:
            return file
    raise PathError(f"there is no transcript {path!r}", todo="Name one that exists")


def _turns_on(file: FoundFile, first: int, last: int) -> list[ForgetCandidate]:
    turns = (turn for turn in turns_of(file) if first <= turn.line <= last)
    return [ForgetCandidate(file.path, turn.line, turn.line, turn.text, TURN) for turn in turns]


def _conversation(file: FoundFile) -> ForgetCandidate:
    turns = turns_of(file)
    last = turns[-1].line if turns else 1
    return ForgetCandidate(file.path, 1, last, "\n\n".join(turn.text for turn in turns), TRANSCRIPT)


def _snapshots(workspace: Workspace) -> Iterator[tuple[ForgetCandidate, Mapping[str, Any]]]:
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
        yield ForgetCandidate(path, 1, text.count("\n") + 1, said or text, SNAPSHOT), content


def with_hidden(
    workspace: Workspace, settings: Settings, chosen: Iterable[ForgetCandidate]
) -> list[ForgetCandidate]:
    """Return candidates with the lines that show again once they are gone, as a merge may leave them.

    These are the other lines of a fact, which do not count beside it, and equal entries of a log.
    """
    found = list(chosen)
    facts = note_path(settings.facts.file)
    for path in dict.fromkeys(one.path for one in found if one.kind in _ENTRIES):
        if path != facts and not log_day(path):
            continue
        text = text_of(workspace, settings, path)
        own = [one for one in found if one.path == path]
        places = {locate(text, one.start_line, one.end_line, one.text) for one in own}
        if path == facts:
            names = {line.fact.id for line in facts_of(text) if (line.first, line.last) in places}
            lost = [line for line in doubles_in(text).lost if line.fact.id in names]
            found += [ForgetCandidate(path, line.first, line.last, line.raw, _ITEM) for line in lost]
        else:
            entries = [(entry, (entry.heading, entry.text.rstrip())) for entry in entries_of(text)]
            said = {key for entry, key in entries if (entry.first, entry.last) in places}
            found += [_entry(path, entry) for entry, key in entries if key in said]
    return list(dict.fromkeys(found))


# By a query and by a session


def _matching(
    workspace: Workspace, settings: Settings, query: str, hits: Sequence[Hit]
) -> list[ForgetCandidate]:
    """Return what in the lines of the hits holds the words of a query: half of them, or else the most."""
    words, spoken = telling_words(query), language_of(query)
    found: dict[ForgetCandidate, int] = {}
    nearest: list[ForgetCandidate] = []
    for at, hit in enumerate(hits):
        for candidate, language in _within(workspace, settings, hit):
            terms = {*terms_of(candidate.text, language), *terms_of(candidate.text, "")}
            shared = sum(not terms.isdisjoint(query_terms(word, ("", language, spoken))) for word in words)
            found.setdefault(candidate, shared)
            nearest += [candidate] if at == 0 else []
    most = max(found.values(), default=0)
    if not most:
        return nearest  # found by its meaning alone: a person has to choose
    enough = max(1, min(most, (len(words) + 1) // 2))
    return [candidate for candidate, shared in found.items() if shared >= enough]


def _within(workspace: Workspace, settings: Settings, hit: Hit) -> Iterator[tuple[ForgetCandidate, str]]:
    """Yield what the lines of a hit hold, as far as it can be forgotten, and in which language."""
    try:
        if hit.source == "sessions":
            file = _transcript(workspace, settings, hit.path)
            turns = _turns_on(file, hit.start_line, hit.end_line)
            yield from ((turn, language_of(turn.text)) for turn in turns)
            return
        text = _read_note(workspace, hit.path)
    except PathError:  # it is gone, or a note of an extra path, which belongs to someone else
        return
    language = language_of(text)
    for entry in _entries_on(hit.path, text, hit.start_line, hit.end_line):
        if entry.kind != "heading":
            yield entry, language


def _of_session(workspace: Workspace, settings: Settings, session: str) -> Iterator[ForgetCandidate]:
    session_mark(session)  # raises if this cannot be the name of a session
    for note in notes_in(workspace, settings):
        try:
            text = _read_note(workspace, note.path)
        except PathError:
            continue
        yield from (_entry(note.path, entry) for entry, owner in sessions_in(text) if owner == session)
    for file in list_transcripts(workspace, settings):
        if session_of(file.path) == session:
            yield _conversation(file)
    for snapshot, content in _snapshots(workspace):
        name = snapshot.path.rpartition("/")[2].partition(".")[0]
        if name == session or any(content.get(key) == session for key in _SESSION_KEYS):
            yield snapshot
    if any(answer.session == session for answer in shown.read_answers(workspace)):
        yield ForgetCandidate(f"{PRIVATE_DIR}/{shown.FILE_NAME}", 1, 1, session, RECORD)
