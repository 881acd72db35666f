"""Show how a note, or some of its lines, changed: one state after the other, with what differs.

The lines are followed backwards: where the text above them grew or shrank, they were on other lines before.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from difflib import SequenceMatcher, unified_diff
from operator import attrgetter
from typing import Any

from memlines.errors import PathError, UsageError
from memlines.files.read import decode
from memlines.memory.arguments import parse_citation
from memlines.memory.manager import Manager
from memlines.memory.past.timeline import ChangeOrigin, PastNotes, Seen
from memlines.records import dataclass
from memlines.types import cite, cited_day

_MOST_STATES = 200
"""States of a note that are looked at, of those that Memlines keeps and of commits each."""

_LONG = 5_000
"""Lines of a note from which on frequent lines do not help to find what is the same: it would take long."""


@dataclass(frozen=True, slots=True)
class LoggedChange:
    """What changed in a note at a time, and where the lines are since then.

    `origin` says what knows of it: the `history` that Memlines keeps, a commit in `git`, or only the note as
    it is `now`, which another program changed. `by` is the command or the commit; without one, the change was
    found at that time and may be older.
    """

    path: str
    time: datetime
    origin: ChangeOrigin
    """What knows of it."""
    by: str
    """The command or the commit, if one is known."""
    start_line: int
    end_line: int
    diff: str

    @property
    def citation(self) -> str:
        """The lines that are there since the change; only the note if they are gone."""
        return cite(self.path, self.start_line, self.end_line) if self.end_line else self.path

    def to_json(self) -> dict[str, Any]:
        """Return it with field names that stay."""
        return {
            "path": self.path,
            "time": self.time.isoformat(),
            "source": self.origin,
            "by": self.by,
            "start_line": self.start_line,
            "end_line": self.end_line,
            "diff": self.diff,
        }


def list_changes(manager: Manager, citation: str, most: int) -> tuple[LoggedChange, ...]:
    """Return the changes of a note or of the lines that a citation names, the newest first."""
    path, first, count = parse_citation(citation, None, None)
    if cited_day(path):
        raise UsageError(f"{path!r} names a day", todo="Leave it out: the log has all days")
    past = PastNotes(manager.workspace, manager.settings)
    states = [*_texts(past, path)]
    if not states:
        raise PathError(
            f"nothing is known of {path!r}", todo="Name a note that is there, or was: memlines history"
        )
    newest = states[0][1]
    begin, end = (0, len(newest)) if first is None else (first - 1, first - 1 + (count or 1))
    if first is not None and begin >= len(newest):
        raise UsageError(f"{path} has {len(newest)} lines", todo="Name lines that it has now")
    changes: list[LoggedChange] = []
    follows_lines = first is not None
    end = min(end, len(newest))
    for place, (seen, lines) in enumerate(states):
        older = states[place + 1][1] if place + 1 < len(states) else []
        below, above = _place_before(older, lines, begin, end) if follows_lines else (0, len(older))
        diff = [*unified_diff(older[below:above], lines[begin:end], lineterm="", n=2)][2:]
        if diff:
            span = (begin + 1, end) if begin < end else (0, 0)
            changes.append(LoggedChange(path, seen.time, seen.origin, seen.by, *span, "\n".join(diff)))
        begin, end = below, above
        if len(changes) == most or (follows_lines and begin == end):
            break
    return tuple(changes)


def _texts(past: PastNotes, path: str) -> Iterator[tuple[Seen, list[str]]]:
    """Yield the states of a note as lines, the newest first, each with when it began as far as is known."""
    seen = [one for one in past.timeline(path).states(_MOST_STATES) if one.known]
    if not past.forgotten.drops_file(path):
        commits = past.git.commits_of(path, _MOST_STATES)
        versions = past.git.read_versions(path, commits, past.settings.files.max_bytes)
        seen += [Seen(commit.time, content, "git", by=commit.id) for commit, content in versions]
    seen.sort(key=attrgetter("time"), reverse=True)  # of one time, what came later stays first
    for place, one in enumerate(seen):
        if place + 1 < len(seen) and seen[place + 1].content == one.content:
            continue  # it was like this before
        yield one, _lines(past, one.content)


def _lines(past: PastNotes, content: bytes | None) -> list[str]:
    try:
        text = decode(content or b"")
    except ValueError:
        return []
    return past.forgotten.redact(text, keep_lines=True).removesuffix("\n").split("\n") if text else []


def _place_before(older: list[str], newer: list[str], begin: int, end: int) -> tuple[int, int]:
    """Return where some lines of a text were in an older one, first included and last not."""
    blocks = SequenceMatcher(None, older, newer, autojunk=len(newer) > _LONG).get_opcodes()
    touching = [
        (first, last, start, stop) for _, first, last, start, stop in blocks if start < end and stop > begin
    ]
    if not touching:
        return 0, 0

    def move(line: int, first: int, last: int, start: int) -> int:
        return min(max(first, first + line - start), last)

    first, last, start, stop = touching[0]
    is_same = last - first == stop - start
    lower = move(begin, first, last, start) if is_same else first
    first, last, start, stop = touching[-1]
    upper = move(end, first, last, start) if last - first == stop - start else last
    return lower, max(lower, upper)
