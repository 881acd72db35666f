"""The last messages of sessions, kept for recovery in `<private>/snapshots/<time>-<id>.json`.

The time is when the snapshot was taken, in UTC; the id is made of the session's name. A message takes one
line of the file, so that a citation can name it. While a session goes on, its newest snapshot is replaced; a
new one begins when the messages no longer follow on from it, as after a compaction. A session has at most
`PER_SESSION` snapshots and a workspace `MOST`, the oldest go first: the newest snapshot of each of the last
ten sessions is always there.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, get_args

from memlines.errors import PathError, reason_of
from memlines.files import atomic
from memlines.files.place import Place, attempt, reading, writing
from memlines.files.trash import STAMP, is_stamp, next_stamp
from memlines.folders import PRIVATE_FILE
from memlines.paths import PRIVATE_DIR, Workspace, is_unicode
from memlines.records import dataclass
from memlines.types import Problem, Role, Transcript, Turn

FOLDER = "snapshots"
MOST = 50
PER_SESSION = 5
MAX_BYTES = 20_000_000

REPLACEMENT = "[forgotten]"
"""What replaces a message that was forgotten."""

_NAME = re.compile(rf"(?P<stamp>{STAMP})-(?P<session>[0-9a-f]{{12}})")
_ENDING = ".json"
_MESSAGES = re.compile(r'"messages"\s*:\s*\[')
_BETWEEN = re.compile(r"[\s,]*")


@dataclass(frozen=True, slots=True)
class Said:
    """A message of a snapshot, whether its text was cut, and the line of the file it was read from."""

    role: Role
    text: str
    time: datetime | None = None
    truncated: bool = False
    line: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return it as a line of the file holds it."""
        data: dict[str, Any] = {"role": self.role, "text": self.text}
        if self.time is not None:
            data["time"] = _format_time(self.time)
        return data | ({"truncated": True} if self.truncated else {})


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The last messages of a session; `id` is the name of its file without the ending, if it has one yet.

    `cwd` is where the session worked, relative to the workspace; empty if that is elsewhere or not known.
    """

    session: str
    messages: tuple[Said, ...]
    created: datetime
    client: str = ""
    cwd: str = ""
    id: str = ""

    @property
    def path(self) -> str:
        """Where it is kept, relative to the workspace."""
        return f"{PRIVATE_DIR}/{FOLDER}/{self.id}{_ENDING}"

    def to_json(self) -> dict[str, Any]:
        """Return it with field names that stay."""
        return {
            "session": self.session,
            "client": self.client,
            "cwd": self.cwd,
            "created": _format_time(self.created),
            "messages": [message.to_json() for message in self.messages],
        }


@dataclass(frozen=True, slots=True)
class Listing:
    """The snapshots of a workspace, the newest first, and the files that hold none."""

    snapshots: tuple[Snapshot, ...]
    problems: tuple[Problem, ...] = ()


def save(workspace: Workspace, snapshot: Snapshot) -> Snapshot:
    """Keep a snapshot and return it as it is kept: the one that held all of it already, or the new one."""
    folder = workspace.private / FOLDER

    def write() -> Snapshot:
        atomic.make_folders(folder, workspace.root)
        atomic.sweep(folder, root=workspace.root)
        newest = newest_of(workspace, snapshot.session)
        old, new = newest.messages if newest else (), snapshot.messages
        if newest is not None and len(new) <= len(old) and _same(old[len(old) - len(new) :], new):
            return newest
        kept = _create(workspace, snapshot)
        if newest is not None and _goes_on(old, new):
            with suppress(OSError):  # the new one is kept; the next snapshot makes room
                atomic.unlink(folder / f"{newest.id}{_ENDING}", root=workspace.root, durable=False)
        with suppress(OSError):
            _prune(workspace)
        return kept

    with writing(workspace):
        return attempt(Place(f"{PRIVATE_DIR}/{FOLDER}", folder, workspace.root), write)


def list_all(workspace: Workspace) -> Listing:
    """Return every snapshot, the newest first; files that are damaged or foreign are problems."""
    with reading("the folder of snapshots"):
        every = [_read(workspace, name) for name in _names(workspace)]
    return Listing(
        tuple(one for one in every if isinstance(one, Snapshot)),
        tuple(one for one in every if isinstance(one, Problem)),
    )


def read(workspace: Workspace, name: str) -> Snapshot:
    """Return a snapshot by its id, or the newest of the session of that name."""
    wanted = name.strip().removesuffix(_ENDING)
    if _is_name(wanted):
        one = _read(workspace, wanted)
        if isinstance(one, Problem):
            raise PathError(f"{one.path!r} {one.reason}", todo="Name another snapshot")
        if one is not None:
            return one
    newest = newest_of(workspace, name.strip())
    if newest is None:
        raise PathError(
            f"there is no snapshot {name[:80]!r}", todo="Name one that is listed, or a session that has one"
        )
    return newest


def newest_of(workspace: Workspace, session: str) -> Snapshot | None:
    """Return the newest snapshot of a session, if it has any."""
    ending = f"-{_session_id(session)}"
    with reading("the folder of snapshots"):
        names = _names(workspace)
    for name in names:
        one = _read(workspace, name) if name.endswith(ending) else None
        if isinstance(one, Snapshot) and one.session == session:
            return one
    return None


def transcript_of(text: str) -> Transcript:
    """Return what was said in a snapshot's file, with its line numbers, however the file is laid out.

    What is not a snapshot has no turns, and its lines count as broken.
    """
    try:
        snapshot = parse(text)
    except ValueError:
        lines = max(1, text.count("\n"))
        return Transcript((), skipped=lines, broken=lines)
    turns = tuple(Turn(said.role, said.text, said.line, said.time) for said in snapshot.messages)
    return Transcript(turns, next((turn.time for turn in turns if turn.time), snapshot.created))


def to_text(data: dict[str, Any]) -> str:
    """Return the JSON of a snapshot as its file holds it: a line for each message."""
    lines = [f"{json.dumps(name)}: {_json(value)}," for name, value in data.items() if name != "messages"]
    messages = ",\n".join(_json(message) for message in data["messages"])
    return "\n".join(["{", *lines, '"messages": [', messages, "]", "}", ""])


def without_texts(content: bytes, is_forgotten: Callable[[str], bool]) -> bytes:
    """Return a JSON file without the texts that were forgotten; any other file stays as it is."""

    def clean(value: Any) -> Any:
        if isinstance(value, str):
            return REPLACEMENT if is_forgotten(value) else value
        if isinstance(value, list):
            return [clean(item) for item in value]
        return {key: clean(item) for key, item in value.items()} if isinstance(value, dict) else value

    try:
        data = json.loads(content)
        cleaned = clean(data)
    except (ValueError, RecursionError):
        return content
    if cleaned == data:
        return content
    is_snapshot = isinstance(cleaned, dict) and isinstance(cleaned.get("messages"), list)
    return (to_text(cleaned) if is_snapshot else json.dumps(cleaned, ensure_ascii=False)).encode()


def parse(text: str, name: str = "") -> Snapshot:
    """Return the snapshot that a text is, or raise `ValueError` with the reason why it is not one."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("is damaged: it is not JSON") from None
    if not isinstance(data, dict) or not isinstance(data.get("messages"), list):
        raise ValueError("is not a snapshot: it holds no messages")
    created = _parse_time(data.get("created"))
    session = data.get("session")
    if created is None or not isinstance(session, str):
        raise ValueError("is not a snapshot: it names no session or no time")
    messages = tuple(_message(message, line) for line, message in _places(text))
    client, cwd = (value if isinstance(value, str) else "" for value in (data.get("client"), data.get("cwd")))
    return Snapshot(session, messages, created, client, cwd, name)


# Files


def _create(workspace: Workspace, snapshot: Snapshot) -> Snapshot:
    """Write a snapshot under a name that sorts after all others, whatever the clock did."""
    newest = next(iter(_names(workspace)), "").rpartition("-")[0]
    name = f"{next_stamp(newest, snapshot.created)}-{_session_id(snapshot.session)}"
    file = workspace.private / FOLDER / f"{name}{_ENDING}"
    if not atomic.create(file, to_text(snapshot.to_json()), PRIVATE_FILE, root=workspace.root):
        raise atomic.Changed
    return replace(snapshot, id=name)


def _prune(workspace: Workspace) -> None:
    """Remove the oldest snapshots beyond what is kept."""
    by_session: dict[str, int] = {}
    for place, name in enumerate(_names(workspace)):
        session = name.rpartition("-")[2]
        by_session[session] = by_session.get(session, 0) + 1
        if place >= MOST or by_session[session] > PER_SESSION:
            file = workspace.private / FOLDER / f"{name}{_ENDING}"
            atomic.unlink(file, root=workspace.root, durable=False)


def _names(workspace: Workspace) -> list[str]:
    """Return the ids of the snapshots, the newest first."""
    files = atomic.listing(workspace.private / FOLDER, root=workspace.root)
    names = (file.removesuffix(_ENDING) for file in files if file.endswith(_ENDING))
    return sorted((name for name in names if _is_name(name)), reverse=True)


def _is_name(name: str) -> bool:
    match = _NAME.fullmatch(name)
    return match is not None and is_stamp(match["stamp"])


def _read(workspace: Workspace, name: str) -> Snapshot | Problem | None:
    """Return the snapshot of a name, why it cannot be had, or nothing if it is gone."""
    path = workspace.private / FOLDER / f"{name}{_ENDING}"
    shown = f"{PRIVATE_DIR}/{FOLDER}/{path.name}"
    try:
        content = atomic.read(path, MAX_BYTES, root=workspace.root)
        if content is None:
            return None
        if len(content) > MAX_BYTES:
            raise ValueError(f"is above the limit of {MAX_BYTES / 1e6:g} MB")
        return parse(content.decode("utf-8"), name)
    except UnicodeDecodeError:
        return Problem(shown, "is damaged: it is not UTF-8 text")
    except ValueError as error:
        return Problem(shown, str(error))
    except PathError:
        return Problem(shown, "is a symbolic link; links are not followed")
    except OSError as error:
        return Problem(shown, f"cannot be read: {reason_of(error)}", failed=True)


def _session_id(session: str) -> str:
    return hashlib.sha256(session.encode("utf-8", "replace")).hexdigest()[:12]


# Messages


def _goes_on(old: Sequence[Said], new: Sequence[Said]) -> bool:
    """Return whether the new messages begin with the last of the old ones, or end with the same message."""
    if _same(old[-1:], new[-1:]):
        return True
    longest = min(len(old), len(new))
    return any(_same(old[len(old) - count :], new[:count]) for count in range(1, longest + 1))


def _same(some: Sequence[Said], others: Sequence[Said]) -> bool:
    return [(one.role, one.text) for one in some] == [(one.role, one.text) for one in others]


def _message(data: Any, line: int) -> Said:
    if not isinstance(data, dict) or data.get("role") not in get_args(Role):
        raise ValueError("is not a snapshot: a message names no side")
    text = data.get("text")
    if not isinstance(text, str) or not is_unicode(text):
        raise ValueError("is not a snapshot: a message has no text")
    return Said(data["role"], text, _parse_time(data.get("time")), data.get("truncated") is True, line)


def _places(text: str) -> Iterator[tuple[int, Any]]:
    """Yield the messages of a snapshot's JSON, each with the line it begins on, however it is laid out."""
    decoder = json.JSONDecoder()
    begin = _MESSAGES.search(text)
    at = begin.end() if begin else len(text)
    line = 1 + text.count("\n", 0, at)
    while True:
        gap = _BETWEEN.match(text, at)
        after = gap.end() if gap else at
        if text.startswith("]", after):
            return
        line += text.count("\n", at, after)
        message, end = decoder.raw_decode(text, after)
        yield line, message
        line += text.count("\n", after, end)
        at = end


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _format_time(time: datetime) -> str:
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _parse_time(value: Any) -> datetime | None:
    try:
        time = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return time.replace(tzinfo=UTC) if time is not None and time.tzinfo is None else time
