"""Choose what each note held at the end of a day.

1. A note that was not changed since then is taken as it is.
2. Otherwise it is what the last change up to then left: one that Memlines made, or the last commit that
   changed the note, whichever is later. If other programs only added text before the next state that is
   known, entries among that with a date up to the day belong to it as well.
3. Where no change up to then is known, the next state counts, but only its entries with such a date.

What was forgotten is left out of all of it, and leaves its lines empty.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from typing import Literal, NamedTuple

from memlines.files.git_history import Commit
from memlines.files.read import decode
from memlines.memory.past.days import end_of_day
from memlines.memory.past.timeline import PastNotes, Seen, Timeline
from memlines.text.days import days_in, log_day, until_day

Certainty = Literal["exact", "near", "dated"]
"""Whether a note was surely like this, was like this shortly before or after, or is known by dates alone."""


class PastNote(NamedTuple):
    """A note at the end of a day; `load` returns its bytes, of which so many were surely there then."""

    path: str
    time: datetime
    certainty: Certainty
    identity: str
    """Changes whenever the text does."""
    load: Callable[[], bytes | None]
    surely: int | None = None

    def text(self, past: PastNotes, day: date) -> str:
        """Return what the note said, on the lines that it said it; empty if it was not text."""
        content = self.load() or b""
        try:
            text = decode(content)
        except ValueError:
            return ""
        if self.surely is not None:
            known = content[: self.surely]
            lines = known.count(b"\n") + (not known.endswith(b"\n") and bool(known))
            text = until_day(text, self.path, day, lines)
        return past.forgotten.redact(text, keep_lines=True)


def notes_at(past: PastNotes, day: date, only: str = "") -> list[PastNote]:
    """Return the notes that there were at the end of a day, or one of them, in the order of their paths."""
    moment = end_of_day(day, past.settings)
    commit = past.git.commit_at(moment)
    blobs = past.git.notes_in(commit, past.settings.files.max_bytes) if commit else {}
    paths = [only] if only else sorted({*past.paths, *blobs})
    timelines = {path: past.timeline(path) for path in paths}
    found = {path: note for path in paths if (note := _unchanged(past, path, timelines[path], moment))}
    changed = [path for path in paths if path not in found]
    committed = past.git.read(blobs[path] for path in changed if path in blobs)
    for path in changed:
        seen = None
        if commit and path in blobs and not past.forgotten.drops_file(path):
            content = committed.get(blobs[path].id)
            seen = Seen(commit.time, content, "git") if content is not None else None
        if note := _note_at(past, path, timelines[path], moment, commit, seen):
            found[path] = note
    return [found[path] for path in paths if path in found]


def _unchanged(past: PastNotes, path: str, timeline: Timeline, moment: datetime) -> PastNote | None:
    since = timeline.unchanged_since
    if since is None or since > moment:
        return None
    identity = repr(past.files[path].fingerprint)
    return PastNote(path, since, "exact", identity, lambda: timeline.content)


def _note_at(
    past: PastNotes,
    path: str,
    timeline: Timeline,
    moment: datetime,
    commit: Commit | None,
    committed: Seen | None,
) -> PastNote | None:
    """Return a note that was changed since, or nothing if there was none."""
    last, following = timeline.around(moment)
    if committed is not None and (last is None or last.content != committed.content):
        changes = past.git.commits_of(path, 1, commit) if last else []
        if last is None or any(change.time > last.time for change in changes):
            last = committed
    then = following.content if following else None
    if last is not None and last.content is not None:
        if then is not None and then != last.content and then.startswith(last.content):
            return _past_note(path, last.time, "near", then, len(last.content), moment)
        is_sure = last.origin == "git" or then in (None, last.content)
        return _past_note(path, last.time, "exact" if is_sure else "near", last.content)
    if then is None or following is None:
        return None
    if last is not None and not last.known:  # changed up to then to something that is only known later
        return _past_note(path, last.time, "near", then)
    log = log_day(path)
    if log is not None and log > moment.date():
        return None
    return _past_note(path, moment, "dated", then, 0, moment)


def _past_note(
    path: str,
    time: datetime,
    certainty: Certainty,
    content: bytes,
    surely: int | None = None,
    until: datetime | None = None,
) -> PastNote:
    identity = f"{hashlib.sha256(content).hexdigest()} {surely} {until}"
    return PastNote(path, time, certainty, identity, lambda: content, surely)


def doubts_about(notes: list[PastNote]) -> Iterator[str]:
    """Yield what is not sure about the notes of a day, in sentences."""
    count = Counter(note.certainty for note in notes if log_day(note.path) is None)
    if count["near"]:
        how = "the nearest text that is known of that day, which another program changed"
        yield f"of {_notes(count['near'])}, this is {how}"
    if count["dated"]:
        yield f"of {_notes(count['dated'])}, only entries with a date are known for that day"


def _notes(count: int) -> str:
    return "1 note" if count == 1 else f"{count} notes"


def known_since(past: PastNotes) -> date | None:
    """Return the first day of which something is known."""
    first = past.git.first_commit()
    moments = [first.time if first else None, *(past.timeline(path).first for path in past.paths)]
    days = [moment.astimezone(UTC).date() for moment in moments if moment is not None]
    for path in past.files:
        content = past.timeline(path).content or b""
        dated = days_in(content.decode("utf-8", "replace"))
        days += [day for day in (log_day(path), *map(date.fromisoformat, dated)) if day]
    return min(days, default=None)
