"""List the transcripts of a workspace: what is there, what of it is indexed, and how fresh that is."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from memlines.errors import PathError, StoreDamaged
from memlines.files import atomic
from memlines.files.read import decode_lines
from memlines.files.tombstones import Forgotten
from memlines.index.store.sqlite.chunks import counts_by_path
from memlines.index.store.sqlite.index import Index
from memlines.index.sync.discovery import find_files, missing_paths
from memlines.index.sync.transcripts import read_transcript, transcript_of
from memlines.memory.conversations.conversation import client_of
from memlines.paths import Workspace
from memlines.records import dataclass
from memlines.settings import Settings
from memlines.transcripts.catalogue import format_of
from memlines.transcripts.finding import PREFIX
from memlines.types import Fingerprint, FoundFile, IndexedFile, Problem

State = Literal["indexed", "grew", "changed", "new", "left out", "gone"]

_HEAD_BYTES = 65_536
_HEADING = "%Y-%m-%d %H:%M"
_NOT_ASKED_FOR = "the setting 'sources' does not ask for sessions"
_FORGOTTEN = "was forgotten"


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A transcript, and what the index has of it.

    `grew` and `changed` are since it was indexed, `gone` is what is still indexed but not there any more;
    `reason` says why it is left out, or cannot be looked at.
    """

    path: str
    client: str
    state: State
    reason: str = ""
    started: datetime | None = None
    changed: datetime | None = None
    chunks: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return it with field names that stay."""
        return asdict(self) | {"started": format_time(self.started), "changed": format_time(self.changed)}


def list_sessions(workspace: Workspace, settings: Settings) -> tuple[SessionInfo, ...]:
    """Return every transcript that is there or indexed, the one that changed last first."""
    discovery = find_files(workspace, replace(settings, sources=("sessions",)))
    indexed, chunks = _indexed(workspace, settings)
    forgotten = Forgotten.load(workspace)
    is_asked_for = "sessions" in settings.sources
    infos: dict[str, SessionInfo] = {}

    def add(path: str, at: Fingerprint, state: State, reason: str, file: FoundFile | None = None) -> None:
        count, heading = chunks.get(path, (0, ""))
        started = None
        with suppress(ValueError):  # the heading of chunks says to the minute when a conversation began
            started = datetime.strptime(heading, _HEADING).replace(tzinfo=UTC)
        if started is None and file is not None:
            started = _started(file)
        changed = datetime.fromtimestamp(at.mtime_ns / 1e9, UTC) if at.mtime_ns else None
        infos[path] = SessionInfo(path, client_of(path), state, reason, started, changed, count)

    for file in discovery.files:
        if file.path.startswith(PREFIX):
            state, reason = _state(file, indexed.get(file.path))
            if state == "new" and not is_asked_for:
                state, reason = "left out", _NOT_ASKED_FOR
            elif forgotten.drops_session(file.path):
                state, reason = "left out", _FORGOTTEN
            add(file.path, file.fingerprint, state, reason, file)
    for problem in discovery.problems:
        infos.setdefault(
            problem.path, SessionInfo(problem.path, client_of(problem.path), "left out", problem.reason)
        )
    gone = set(missing_paths(discovery, indexed))
    for path, entry in indexed.items():
        if path not in infos:
            state, reason = ("gone", "") if path in gone else ("indexed", "cannot be looked at now")
            add(path, entry.fingerprint, state, reason)
    newest_first = sorted(infos.values(), key=lambda info: info.path)
    newest_first.sort(key=lambda info: info.changed.timestamp() if info.changed else 0.0, reverse=True)
    return tuple(newest_first)


def format_time(time: datetime | None) -> str | None:
    """Write a point in time for other programs."""
    return None if time is None else time.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _state(file: FoundFile, entry: IndexedFile | None) -> tuple[State, str]:
    if entry is None:
        return "new", ""
    before, now = entry.fingerprint, file.fingerprint
    if before == now:
        return ("left out", entry.problem.reason) if entry.problem else ("indexed", "")
    return ("grew" if before.inode == now.inode and before.size < now.size else "changed"), ""


def _indexed(
    workspace: Workspace, settings: Settings
) -> tuple[Mapping[str, IndexedFile], Mapping[str, tuple[int, str]]]:
    """Return the transcripts that an index knows, and of each how many chunks and the heading above them."""
    try:
        index = Index.reader(workspace.index_file(settings.store.path, settings.agent))
    except StoreDamaged:
        index = None  # the next sync sets it aside and indexes everything again
    if index is None:
        return {}, {}
    with closing(index), index.errors():
        files = {path: entry for path, entry in index.files().items() if path.startswith(PREFIX)}
        return files, counts_by_path(index.connection)


def _started(file: FoundFile) -> datetime | None:
    """Return when a conversation began that is not indexed, by the first lines of its file."""
    if file.session:
        document = read_transcript(file)
        return None if document is None or isinstance(document, Problem) else transcript_of(document).started
    try:
        root = Path(file.root) if file.root else None
        head = atomic.read(Path(file.real), _HEAD_BYTES, root=root)
    except (OSError, PathError):  # it says why when it is indexed
        return None
    lines = decode_lines(head or b"").split("\n")
    return format_of(file.path).parse(lines, 1).started
