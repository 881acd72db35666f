"""Ask which remembered lines agents were shown, and when: count it, by session, and by line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING

from memlines.errors import UsageError
from memlines.files.read import without_private_blocks
from memlines.files.shown import CONNECTION, Answer, ShownLine, read_answers
from memlines.memory.notes.entries import notes_in, text_in
from memlines.memory.recording import Span, entries_on, is_on, parse_lines, spans_on
from memlines.memory.scopes import PERSONAL, list_scopes, owner_of
from memlines.paths import Workspace
from memlines.records import dataclass
from memlines.text.matching import entry_id
from memlines.types import cite, cited

if TYPE_CHECKING:
    from memlines.memory.memory import Memory

UNKNOWN = "unknown"
"""What a session is called whose client does not name it."""

GET, CITED = "get", "cited"
"""Kinds of answers: lines that an agent read by their citation, and lines that it cited itself."""

_MOST_NAMED = 5
_SAME = attrgetter("time", "session", "kind", "client", "query")
"""What the two records of an answer have in common, one in each memory."""
_LAST_LINE = 999_999_999


@dataclass(frozen=True, slots=True)
class Uses:
    """How often an entry was shown to agents, how often one read or cited it, and when that was."""

    shown: int
    opened: int
    first: str
    last: str


# Counting


def count_uses(workspace: Workspace) -> Mapping[str, Uses]:
    """Return how often each entry was used, by its `entry_id`; what was never shown is not in it.

    An agent opened an entry if it read the lines by their citation, or cited them itself, which counts once
    in a session.
    """
    uses: dict[str, Uses] = {}
    for answer in _without_unseen(read_answers(workspace)):
        for name in {line.id for line in answer.lines if line.id}:
            known = uses.get(name, Uses(0, 0, answer.time, answer.time))
            uses[name] = Uses(
                known.shown + (answer.kind != CITED),
                known.opened + (answer.kind in (GET, CITED)),
                known.first,
                answer.time,
            )
    return uses


def _answers(memory: Memory) -> Iterator[Answer]:
    """Yield what is recorded in a memory and in the personal one beside it, an answer from both as one."""
    every: list[Answer] = []
    for one in list_scopes(memory, []):
        for answer in read_answers(one.workspace):
            lines = [line._replace(citation=_prefix(one) + line.citation) for line in answer.lines]
            every.append(replace(answer, lines=tuple(lines)))
    known: dict[tuple[str, ...], Answer] = {}
    for answer in sorted(every, key=attrgetter("time")):
        same = known.setdefault(_SAME(answer), answer)
        if same is not answer:
            known[_SAME(answer)] = replace(same, lines=(*same.lines, *answer.lines))
    return _without_unseen(known.values())


def _prefix(memory: Memory) -> str:
    return PERSONAL if memory.scope == "personal" else ""


def _without_unseen(answers: Iterable[Answer]) -> Iterator[Answer]:
    """Yield answers; of the lines that an agent cited, only those that it saw before, and once.

    An agent that remembers something usually names the new line, which it was not shown. What a tool showed
    over MCP may have been in any session.
    """
    seen: dict[str, set[str]] = {}
    cited_before: dict[str, set[str]] = {}
    for answer in answers:
        session, lines = answer.session or UNKNOWN, answer.lines
        if answer.kind == CITED:
            before = cited_before.setdefault(session, set())
            known = (seen.get(session, set()) | seen.get(CONNECTION, set())) - before
            lines = tuple([line for line in lines if _name(line) in known])
            before.update(map(_name, lines))
        else:
            is_tool = session == UNKNOWN or session.startswith(CONNECTION)
            seen.setdefault(CONNECTION if is_tool else session, set()).update(map(_name, lines))
        if lines:
            yield replace(answer, session=session, lines=lines)


def _name(line: ShownLine) -> str:
    return line.id or line.citation


# Asking


@dataclass(frozen=True, slots=True)
class SessionUse:
    """What the agent of one session was shown, in numbers."""

    session: str
    client: str
    first: str
    last: str
    answers: int
    lines: int
    opened: int


@dataclass(frozen=True, slots=True)
class SeenLine:
    """A line that an agent saw: where it was, where it is now unless it is gone, and what it says."""

    citation: str
    score: float | None
    now: str | None
    text: str


def list_sessions(memory: Memory) -> list[SessionUse]:
    """Return the sessions in which an agent was shown something, the newest first."""
    found: dict[str, list[Answer]] = {}
    for answer in _answers(memory):
        found[answer.session] = [*found.pop(answer.session, ()), answer]  # the newest is the last
    return [
        SessionUse(
            name,
            next((answer.client for answer in reversed(answers) if answer.client), ""),
            answers[0].time,
            answers[-1].time,
            sum(answer.kind != CITED for answer in answers),
            len(_names(answers)),
            len(_names(answer for answer in answers if answer.kind in (GET, CITED))),
        )
        for name, answers in reversed(found.items())
    ]


def _names(answers: Iterable[Answer]) -> set[str]:
    return {_name(line) for answer in answers for line in answer.lines}


def find_session(memory: Memory, name: str) -> str:
    """Return the session that a name, or the beginning of one, means; or say which is near."""
    known = [use.session for use in list_sessions(memory)]
    found = [session for session in known if session.startswith(name)]
    if name in known or len(found) == 1:
        return name if name in known else found[0]
    if found:
        raise UsageError(
            f"{len(found)} sessions begin with {name!r}: {', '.join(found[:_MOST_NAMED])}",
            todo="Give more of the name",
        )
    from difflib import get_close_matches

    nearest = get_close_matches(name, known, n=1, cutoff=0.5)
    todo = f"Did you mean {nearest[0]}?" if nearest else "'memlines blame' lists the sessions there are"
    raise UsageError(f"nothing is recorded of a session {name[:60]!r}", todo=todo)


def blame_session(memory: Memory, session: str) -> list[tuple[Answer, list[SeenLine]]]:
    """Return what an agent was shown in a session, the first answer first, and where the lines are now."""
    answers = [answer for answer in _answers(memory) if answer.session == session]
    places: dict[tuple[str, str], tuple[str | None, str]] = {}
    for one in list_scopes(memory, []):
        lines = {line for answer in answers for line in answer.lines}
        own = [line for line in lines if line.citation.startswith(PERSONAL) == (one.scope == "personal")]
        places |= _find_now(one, own)
    return [
        (answer, [SeenLine(line.citation, line.score, *places[line[:2]]) for line in answer.lines])
        for answer in answers
    ]


def blame_line(memory: Memory, citation: str) -> list[Answer]:
    """Return the answers in which the entries on some lines were shown, with just these lines.

    Lines that hold no entry of a note now are known by where they were.
    """
    place = parse_lines(citation)
    owner, path = owner_of(memory, place[0])
    names = {entry_id(span.text) for span in entries_on(owner.workspace, owner.settings, path, *place[1:])}

    def is_meant(line: ShownLine) -> bool:
        return line.id in names if names else is_on(line.citation, [place])

    answers = [replace(one, lines=tuple(filter(is_meant, one.lines))) for one in _answers(memory)]
    return [answer for answer in answers if answer.lines]


def _find_now(memory: Memory, lines: Iterable[ShownLine]) -> dict[tuple[str, str], tuple[str | None, str]]:
    """Return where lines of one memory are now and what they say, by their citation and id.

    Most are in the note that was cited, so the others are read only for those that are not.
    """
    prefix = _prefix(memory)
    wanted = {(line.citation.removeprefix(prefix), line.id) for line in lines}
    missing = {name for _, name in wanted if name}
    paths = {place[0] for citation, _ in wanted if (place := cited(citation))}
    found: dict[str, list[Span]] = {}
    notes = notes_in(memory.workspace, memory.settings) if missing else ()
    for note in sorted(notes, key=lambda note: note.path not in paths):
        if not missing and note.path not in paths:
            break
        for span in spans_on(
            note.path, without_private_blocks(text_in(note, memory.settings)), 1, _LAST_LINE
        ):
            if (name := entry_id(span.text)) in missing or name in found:
                found.setdefault(name, []).append(span)
        missing -= found.keys()
    places: dict[tuple[str, str], tuple[str | None, str]] = {}
    for citation, name in wanted:
        path, first, _ = cited(citation) or (citation, 1, 1)
        spans = sorted(found.get(name, ()), key=lambda one: (one.path != path, abs(one.first - first)))
        now = (prefix + cite(*spans[0][:3]), spans[0].text) if spans else (None, "")
        # Conversations, which have no names, do not move.
        places[prefix + citation, name] = now if name else (prefix + citation, "")
    return places
