"""Read a conversation: the turns around a line for people, the turns on some lines for agents.

What is shown has lost its secrets and what was forgotten, whatever the transcript holds. Lines are those of
the transcript, so a citation leads to the same place here and in the file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from memlines.errors import PathError, UsageError
from memlines.files import snapshots
from memlines.files.read import DEFAULT_LINES, MAX_CHARACTERS
from memlines.index.sync.discovery import SNAPSHOTS, find_files
from memlines.index.sync.transcripts import read_transcript, transcript_of
from memlines.memory.conversations.conversation import Cleaning, client_of, refuse_unless_on
from memlines.memory.conversations.listing import format_time
from memlines.paths import Workspace, is_unicode
from memlines.records import dataclass
from memlines.settings import Settings
from memlines.text.turns import label_of
from memlines.transcripts.catalogue import CLIENTS
from memlines.transcripts.finding import PREFIX
from memlines.transcripts.lines import split
from memlines.types import Excerpt, Fingerprint, FoundFile, Problem, Transcript, Turn

if TYPE_CHECKING:
    from memlines.transcripts.finding import Known

MOST_CHARACTERS = 50_000
"""What is shown of a conversation at a time, if no line of it is asked for."""

_LONGEST_AROUND = 2_000
"""Characters of a turn that is only near the one that is asked for."""

_CUT = " […]"
_NAME = re.compile(rf"{PREFIX}.+\.jsonl(?:\.[^/]+)?|{SNAPSHOTS}[^/]+\.json", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Session:
    """Turns of a conversation, and how many come before and after them.

    `line` and `last_line` are what was asked for, if lines were; `next_line` is where to go on.
    """

    path: str
    client: str
    started: datetime | None
    turns: tuple[Turn, ...]
    earlier: int = 0
    later: int = 0
    next_line: int | None = None
    line: int | None = None
    last_line: int | None = None
    warnings: tuple[str, ...] = ()

    def is_marked(self, turn: Turn) -> bool:
        """Return whether a turn is on the lines that were asked for."""
        return self.line is not None and self.line <= turn.line <= (self.last_line or self.line)

    def to_json(self) -> dict[str, Any]:
        """Return it with field names that stay."""
        return {
            "path": self.path,
            "client": self.client,
            "started": format_time(self.started),
            "turns": [
                asdict(turn)
                | {"time": format_time(turn.time), "tools": list(turn.tools), "marked": self.is_marked(turn)}
                for turn in self.turns
            ],
            "earlier": self.earlier,
            "later": self.later,
            "next_line": self.next_line,
            "warnings": list(self.warnings),
        }


class _Read(NamedTuple):
    """A conversation as its transcript has it, how many lines that has, and what must not be shown of it."""

    path: str
    client: str
    transcript: Transcript
    lines: int
    cleaning: Cleaning
    warnings: tuple[str, ...]

    def clean(self, turns: Sequence[Turn]) -> tuple[Turn, ...]:
        """Return turns as they may be shown; a secret that another one gave away is hidden in them too."""
        lines = {turn.line for turn in turns}
        every = self.cleaning.clean(self.path, self.transcript.turns)
        return tuple(turn for turn in every if turn.line in lines)


def read_session(
    workspace: Workspace,
    settings: Settings,
    path: str,
    line: int | None = None,
    around: int = 5,
    *,
    last_line: int | None = None,
    start: int = 1,
) -> Session:
    """Return the turns on some lines and so many around them, or else all turns from a line on.

    Turns that are only around are shortened. Without lines, whole turns are returned as far as
    `MOST_CHARACTERS` allow.
    """
    read = _read(workspace, settings, path)
    if read is None:
        raise PathError(f"there is no transcript {path!r}", todo="'memlines sessions list' shows all")
    if max(line or 1, start) > max(1, read.lines):
        raise UsageError(
            f"{read.path!r} has {read.lines} lines, so there is no line {max(line or 1, start)}",
            todo="Name an earlier line",
        )
    last = line if last_line is None else last_line
    turns = read.transcript.turns
    if line is None or last is None:
        begin, end = _whole_turns(turns, start)
    else:
        begin, end = _turns_around(turns, line, last, around)
    session = Session(
        read.path,
        read.client,
        read.transcript.started,
        read.clean(turns[begin:end]),
        earlier=begin,
        later=len(turns) - end,
        next_line=turns[end].line if end < len(turns) else None,
        line=line,
        last_line=last,
        warnings=read.warnings,
    )
    if line is None:
        return session
    shown = tuple(turn if session.is_marked(turn) else _shorten(turn) for turn in session.turns)
    return replace(session, turns=shown)


def read_turns(
    workspace: Workspace,
    settings: Settings,
    path: str,
    start: int | None = None,
    lines: int | None = None,
    column: int | None = None,
    known: Known | None = None,
) -> Excerpt:
    """Return what was said on some lines of a transcript, as `User: …` and `Assistant (Bash): …`.

    One that is gone has `found` false. `column` is the character of what was said first to begin with. As
    much is returned as the character limit allows; only the first turn may be cut inside.
    """
    first, begin = max(1, start or 1), max(1, column or 1)
    count = DEFAULT_LINES if lines is None else max(1, lines)
    read = _read(workspace, settings, path, known)
    if read is None:
        return Excerpt(path.strip(), "", first, 0, found=False)
    turns = read.transcript.turns
    shown = read.clean([turn for turn in turns if first <= turn.line < first + count])
    wanted = [
        (line, "\n".join([quote_turn(turn) for turn in on_line]))
        for line, on_line in groupby(shown, key=lambda turn: turn.line)
    ]
    taken: list[str] = []
    room = MAX_CHARACTERS
    for _, text in wanted:
        whole = text if taken else text[begin - 1 :]
        if len(whole) + 1 > room and taken:
            break
        taken.append(whole[:room])
        room -= len(whole) + 1
        if room <= 0:
            break
    is_cut_inside = room < -1
    left = wanted if is_cut_inside else wanted[len(taken) :]
    later = [turn.line for turn in turns if turn.line >= first + count][:1]
    following = next(iter([*(line for line, _ in left), *later]), None)
    covered = min(count, max(0, read.lines - first + 1))
    return Excerpt(
        read.path,
        "\n".join(taken),
        first,
        left[0][0] - first if left and not is_cut_inside else covered,
        truncated=following is not None,
        next_start=following,
        next_column=begin + MAX_CHARACTERS if is_cut_inside else None,
        total_lines=read.lines,
    )


def quote_turn(turn: Turn) -> str:
    """Return a turn as it is quoted: who, with which tools, what."""
    return label_of(turn) + turn.text


# Where it is


def _transcript(workspace: Workspace, settings: Settings, name: str, known: Known | None) -> FoundFile | None:
    """Look for a transcript where one of its name would be; other clients are not looked at."""
    client, slash, _ = name.removeprefix(PREFIX).partition("/")
    asked = tuple(one for one in settings.sessions.clients if slash and one == client)
    if slash and not asked:
        if client not in CLIENTS:
            raise _not_part_of_memory(name, "it is no transcript", "'memlines sessions list' shows all")
        todo = f"Add {client} to the setting 'sessions.clients' to have them read"
        raise _not_part_of_memory(name, f"the transcripts of {client} are not asked for", todo)
    narrowed = replace(settings, sources=("sessions",), sessions=replace(settings.sessions, clients=asked))
    discovery = find_files(workspace, narrowed, known)
    for file in discovery.files:
        if file.path == name:
            return file
    unlisted = tuple(f"{folder.rstrip('/')}/" for folder in discovery.blind)
    for problem in discovery.problems:
        if problem.path == name or (problem.failed and f"{name}/".startswith(unlisted)):
            raise PathError(f"{problem.path!r} {problem.reason}", todo="See whether it can be read")
    return None


def _not_part_of_memory(path: str, why: str, todo: str) -> PathError:
    return PathError(f"{path!r} is not part of this memory: {why}", todo=todo)


# What was said


def _read(workspace: Workspace, settings: Settings, path: str, known: Known | None = None) -> _Read | None:
    """Return a conversation; nothing if it is gone, or was forgotten as a whole."""
    name = path.strip()
    is_plain = is_unicode(name) and "\0" not in name and not {"", ".", ".."} & set(name.split("/"))
    if not is_plain or not _NAME.fullmatch(name):
        raise _not_part_of_memory(path, "it is no transcript", "'memlines sessions list' shows all")
    file, client = None, ""
    if not name.startswith(SNAPSHOTS):
        refuse_unless_on(settings)
        file = _transcript(workspace, settings, name, known)
    else:
        for snapshot in snapshots.list_all(workspace).snapshots:
            if name == f"{SNAPSHOTS}{snapshot.id}.json":
                root, real, client = str(workspace.root), str(workspace.root / snapshot.path), snapshot.client
                file = FoundFile(name, real, "sessions", Fingerprint(0, 0, 0), root=root)
    document = read_transcript(file) if file else None
    if isinstance(document, Problem):
        raise PathError(f"{document.path!r} {document.reason}", todo="See whether it can be read")
    cleaning = Cleaning.of(workspace, settings)
    if document is None or cleaning.forgotten.drops_session(document.path):
        return None
    lines = len(list(split(document.text)))
    return _Read(
        document.path, client or client_of(name), transcript_of(document), lines, cleaning, document.warnings
    )


def _whole_turns(turns: Sequence[Turn], start: int) -> tuple[int, int]:
    """Return which turns from a line on fit; the first of them always does."""
    begin = next((at for at, turn in enumerate(turns) if turn.line >= start), len(turns))
    end, room = begin, MOST_CHARACTERS
    while end < len(turns) and (end == begin or len(turns[end].text) <= room):
        room -= len(turns[end].text)
        end += 1
    return begin, end


def _turns_around(turns: Sequence[Turn], first: int, last: int, around: int) -> tuple[int, int]:
    """Return which turns are on lines and around them; between two turns, around the one before."""
    begin = next((at for at, turn in enumerate(turns) if turn.line >= first), len(turns))
    end = next((at for at, turn in enumerate(turns) if turn.line > last), len(turns))
    if begin == end:
        begin = max(0, begin - 1)
        end = min(len(turns), begin + 1)
    return max(0, begin - around), min(len(turns), end + around)


def _shorten(turn: Turn) -> Turn:
    if len(turn.text) <= _LONGEST_AROUND:
        return turn
    return replace(turn, text=turn.text[:_LONGEST_AROUND].rstrip() + _CUT)
