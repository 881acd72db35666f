"""What is known of what each note held: kept versions, the trash, the journal, and the note as it is.

A change that only adds text keeps nothing, but the journal has the size and the hash of what was there: it is
the beginning of the next text that is known, if that still has this hash. Forgetting clears the journal; then
only the kept versions say what was there, and until when.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple

from memlines.errors import PathError
from memlines.files import atomic, history, journal, trash
from memlines.files.git_history import GitHistory
from memlines.files.journal import FileState
from memlines.files.place import reading
from memlines.files.tombstones import FILE_NAME, Forgotten
from memlines.memory.notes.entries import notes_in
from memlines.paths import Workspace
from memlines.records import dataclass
from memlines.settings import Settings
from memlines.types import FoundFile

ChangeOrigin = Literal["history", "git", "now"]
"""Where a state of a note is known from: what Memlines keeps, a commit, or the note as it is."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a note held at a moment: nothing where there was none, or where it is not `known`."""

    time: datetime
    content: bytes | None
    origin: ChangeOrigin
    known: bool = True
    by: str = ""
    """The command or the commit that made it so; empty if it was only found so."""


class _Event(NamedTuple):
    """A change that Memlines made: the states before and after it, and where the old content is kept."""

    time: datetime
    command: str
    before: FileState | None
    after: FileState | None
    kept: str
    recorded: bool = True
    """Whether the journal has it; otherwise only a kept version says that there was one."""


class Timeline:
    """What one note held, one state after the other."""

    def __init__(
        self, events: list[_Event], file: FoundFile | None, load: Callable[[str], bytes | None]
    ) -> None:
        self._events = sorted(events, key=lambda event: event.time)
        self._file = file
        self._load = load

    @property
    def first(self) -> datetime | None:
        """When the first change was, or the only state that is known began."""
        return self._events[0].time if self._events else self.unchanged_since

    @property
    def unchanged_since(self) -> datetime | None:
        """Since when the note is as it is now; nothing if there is none.

        A copy may have an older time than the last change that we made.
        """
        if self._file is None:
            return None
        changed = datetime.fromtimestamp(self._file.fingerprint.mtime_ns / 1e9, UTC)
        return max(changed, self._events[-1].time) if self._events else changed

    @cached_property
    def content(self) -> bytes | None:
        """What the note holds now."""
        file = self._file
        if file is None:
            return None
        try:
            return atomic.read(Path(file.real), root=Path(file.root) if file.root else None)
        except (OSError, PathError):  # it is gone, or may not be read
            return None

    def around(self, moment: datetime) -> tuple[Seen | None, Seen | None]:
        """Return what the last change up to a moment left, and what was there when the next one came.

        Both are missing if there is no change on that side; the note as it is now comes after all of them.
        """
        place = sum(event.time <= moment for event in self._events)
        last = self._after(place - 1) if place else None
        return last, self._before(place) if place < len(self._events) else self._now()

    def states(self, most: int) -> Iterator[Seen]:
        """Yield what the note held, the latest first, looking at so many changes at most."""
        if (now := self._now()) is not None:
            yield now
        for place in range(len(self._events) - 1, max(-1, len(self._events) - 1 - most), -1):
            yield self._after(place)
            yield self._before(place)

    def _now(self) -> Seen | None:
        since = self.unchanged_since
        return None if since is None or self.content is None else Seen(since, self.content, "now")

    def _after(self, place: int) -> Seen:
        event = self._events[place]
        if not event.recorded:
            return Seen(event.time, None, "history", known=False)
        return self._seen(event, event.after, place, event.command)

    def _before(self, place: int) -> Seen:
        event = self._events[place]
        if event.kept:
            content = self._load(event.kept)
            return Seen(event.time, content, "history", content is not None)
        return self._seen(event, event.before, place)

    def _seen(self, event: _Event, state: FileState | None, place: int, by: str = "") -> Seen:
        """Return a state by its hash: it is the beginning of the next content that is kept, or it is lost."""
        if state is None:
            return Seen(event.time, None, "history", by=by)
        kept = next((later.kept for later in self._events[place + 1 :] if later.kept), "")
        content = (self._load(kept) if kept else self.content) or b""
        if len(content) < state.size or FileState.of(content[: state.size]) != state:
            return Seen(event.time, None, "history", known=False, by=by)
        return Seen(event.time, content[: state.size], "history", by=by)


def read_tombstones(workspace: Workspace) -> bytes:
    """Return the file of what was forgotten as it is; another content means that something else was."""
    with reading(f"what was forgotten, in {str(workspace.private / FILE_NAME)!r},"):
        return atomic.read(workspace.private / FILE_NAME, root=workspace.root) or b""


class PastNotes:
    """All that is known of earlier states of the notes of one workspace, read when it is made."""

    def __init__(self, workspace: Workspace, settings: Settings) -> None:
        self.workspace = workspace
        self.settings = settings
        self.git = GitHistory(workspace)
        self.tombstones = read_tombstones(workspace)
        self.forgotten = Forgotten.load(workspace)
        self.files = {file.path: file for file in notes_in(workspace, settings)}
        self._events: dict[str, list[_Event]] = {}
        self._contents: dict[Path, bytes | None] = {}
        self._read_events()

    @property
    def paths(self) -> list[str]:
        """The notes that are there, or of which something is kept."""
        return sorted({*self.files, *self._events})

    def timeline(self, path: str) -> Timeline:
        """Return what is known of a note; of one that was forgotten whole, only what it is now."""
        events = [] if self.forgotten.drops_file(path) else self._events.get(path, [])
        return Timeline(events, self.files.get(path), lambda kept: self._kept(path, kept))

    def _read_events(self) -> None:
        versions, removed = history.every_version(self.workspace), trash.items(self.workspace)
        kept = {(one.path, f"history/{one.name}"): one.time for one in versions}
        kept |= {(one.path, f"trash/{one.name}"): one.time for one in removed}
        recorded = set()
        for one in journal.operations(self.workspace):
            for write in one.writes:
                time = journal.time_of(write.time) if write.time else one.time
                is_kept = (write.path, write.kept) in kept
                recorded.add((write.path, write.kept))
                event = _Event(time, one.command, write.before, write.after, write.kept if is_kept else "")
                self._events.setdefault(write.path, []).append(event)
        for (path, name), time in kept.items():
            if (path, name) not in recorded:
                event = _Event(time, "", None, None, name, recorded=False)
                self._events.setdefault(path, []).append(event)

    def _kept(self, path: str, kept: str) -> bytes | None:
        folder, _, name = kept.partition("/")
        parts = (path, name) if folder == "history" else (name, path)
        file = self.workspace.private.joinpath(folder, *parts)
        if file not in self._contents:
            with reading(f"{str(file)!r}"):
                self._contents[file] = atomic.read(file, root=self.workspace.root)
        return self._contents[file]
