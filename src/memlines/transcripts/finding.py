"""Look for the transcripts of a workspace where clients keep them.

A transcript belongs to the workspace whose root folder its session began in, as the transcript itself says.
Sessions that agents started for themselves are left out: what came of them is in the session that a person
had.

Only the head of a file is read for that: 64 KiB, or 1 MiB where its first lines are long. Which folder a
session began in never changes, so a caller that looks often passes `known`, which remembers it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, NamedTuple

from memlines.errors import MemlinesError, reason_of
from memlines.paths import is_unicode
from memlines.records import dataclass
from memlines.transcripts.lines import BROKEN, Meaning, Record, gather, record_of, records_of, split
from memlines.types import Fingerprint, Problem, Transcript

PREFIX = "sessions/"
"""The names of all transcripts in the index begin with this."""

Query = Callable[[str, str, tuple[Any, ...]], Iterable[tuple[Any, ...]]]
"""Asks a database (by its path) a question, reading only; raises a `MemlinesError` if it cannot."""

Known = dict[tuple[str, str, int], bool]
"""Whether files belong to a folder, by that folder, path and inode, once their heads say it."""

_HEAD_SIZES = (65_536, 1_048_576)
_OPEN_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)  # a pipe does not block us
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)

_UNUSUAL = re.compile(r"[^\w.-]")


class Header(NamedTuple):
    """What a record says about the whole session, as far as it does."""

    session: Any = None
    """The id of the session."""
    folder: Any = None
    """Where the session began."""
    is_helper: bool = False
    """Whether an agent started the session, not a person."""
    client: Any = None
    """The client that a transcript in the workspace's own format was written for."""


@dataclass(frozen=True, slots=True)
class Found:
    """A transcript that belongs to a workspace: its name in the index, and where it really is.

    If `session` is set, `real` is a database that holds the session, and `fingerprint` changes with it.
    """

    path: str
    real: str
    session: str = ""
    fingerprint: Fingerprint | None = None


@dataclass(slots=True)
class Sightings:
    """What a look for transcripts saw.

    `blind` lists prefixes of the names of transcripts that may exist although they were not seen.
    """

    found: list[Found] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    blind: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Client:
    """A program that writes transcripts: where it keeps them, and how they are read."""

    name: str
    read: Callable[[Record], Meaning]
    """Returns what one record says."""

    header_of: Callable[[Record], Header | None]
    """Returns what a record says about the session, if it is one that does."""

    search: Callable[[Look], None]
    """Looks at the places where this client keeps transcripts."""

    own_field: str
    own_types: tuple[str, ...] = ()
    """A record with this field, and of one of these types if there are any, is of this client."""

    is_folder_first: bool = True
    """Whether the first line of a file says in which folder the session began."""

    read_session: Callable[[Query, str, str], list[str]] | None = None
    """Returns a session out of a database as the lines of a transcript; none if it is gone."""

    read_export: Callable[[str], tuple[Any, Transcript] | None] | None = None
    """Returns the session and the transcript of a text that the client exported, if it is one."""

    def parse(self, lines: str | Iterable[str], first_line: int = 1) -> Transcript:
        """Return what was said in a transcript, given as a text or as lines, and on which lines."""
        return gather((number, self._meaning(line)) for number, line in enumerate(split(lines), first_line))

    def _meaning(self, line: str) -> Meaning:
        record = record_of(line)
        if record is None:
            return BROKEN if line.strip() else None
        return self.read(record)

    def head(self, lines: Iterable[str]) -> Header | None:
        """Return the first header that names the folder in which the session began."""
        for record in records_of(lines):
            header = self.header_of(record)
            if header and isinstance(header.folder, str) and header.folder:
                return header
        return None

    def find(
        self, root: Path, environ: Mapping[str, str], query: Query, known: Known | None, agent: str
    ) -> Sightings:
        """Find the transcripts of the sessions that began in the root folder of a workspace."""
        look = Look(self, root, environ, query, known, agent)
        self.search(look)
        return look.seen


class Look:
    """A look for the transcripts of one client."""

    def __init__(
        self,
        client: Client,
        root: Path,
        environ: Mapping[str, str],
        query: Query,
        known: Known | None,
        agent: str,
    ) -> None:
        self.client = client
        self.folder = root
        self.environ = environ
        self.agent = agent
        self.seen = Sightings()
        self._query = query
        self._known = {} if known is None else known
        self._root = os.path.normcase(root)
        is_plain = client.is_folder_first and self._root.isascii() and self._root.isprintable()
        self._quoted = json.dumps(self._root).encode() if is_plain and os.sep == "/" else b""
        """What the first line has to hold, if it names the folder and can be written in one way only."""

    def home(self, variable: str, below_home: str) -> Path:
        """Return the folder of a client: what its variable names, or its place in the home folder."""
        if named := self.environ.get(variable, ""):
            return Path(os.path.abspath(named))  # noqa: PTH100
        home = self.environ.get("HOME") or self.environ.get("USERPROFILE")
        return Path(home or os.path.expanduser("~"), below_home)  # noqa: PTH111

    def entries(self, folder: str | Path) -> list[os.DirEntry[str]]:
        """Return what a folder holds, in sorted order; one that is not there holds nothing."""
        try:
            with os.scandir(folder) as listing:
                return sorted(listing, key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            self._cannot(str(folder), f"cannot be listed: {reason_of(error)}")
            return []

    def is_folder(self, entry: os.DirEntry[str]) -> bool:
        """Return whether an entry is a folder, and no link to one."""
        try:
            return entry.is_dir(follow_symlinks=False)
        except OSError:
            return False  # gone since it was listed

    def consider(self, entry: os.DirEntry[str], name: str = "") -> None:
        """Take a file if its session began in the workspace."""
        try:
            if not entry.is_file(follow_symlinks=False) or not self._belongs(entry):
                return
        except FileNotFoundError:
            return  # gone since it was listed
        except OSError as error:
            self._cannot(entry.path, f"cannot be read: {reason_of(error)}", name or entry.name)
            return
        if is_unicode(entry.name):
            self.seen.found.append(Found(self._name(name or entry.name), entry.path))

    def is_ours(self, head: Header | None) -> bool:
        """Return whether a person's session began in the workspace."""
        if head is None or head.is_helper or "\0" in head.folder:
            return False
        return bool(os.path.normcase(os.path.normpath(head.folder)) == self._root)

    def rows(self, database: str, question: str, values: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        """Ask a database, if there is one."""
        if not os.path.isfile(database) or os.path.islink(database):  # noqa: PTH113, PTH114
            return
        try:
            yield from list(self._query(database, question, values))
        except (MemlinesError, OSError) as error:
            self._cannot(database, f"cannot be read: {reason_of(error)}")

    def take_row(self, folder: str, database: str, session: str, lines: Any, updated: Any) -> None:
        """Take a session that a database holds."""
        name = self._name(f"{folder}{_UNUSUAL.sub('_', session)}.jsonl")
        count, changed = (value if isinstance(value, int) else 0 for value in (lines, updated))
        state = Fingerprint(count, changed * 1_000_000, 0)
        self.seen.found.append(Found(name, database, session, state))

    def _belongs(self, entry: os.DirEntry[str]) -> bool:
        key = (self._root, entry.path, entry.inode())
        belongs = self._known.get(key)
        if belongs is None:
            head = self._head_of(entry.path)
            belongs = self.is_ours(head)
            if head:
                self._known[key] = belongs
        return belongs

    def _head_of(self, path: str) -> Header | None:
        handle = os.open(path, _OPEN_FLAGS)
        with os.fdopen(handle, "rb") as stream:
            start = b""
            for size in _HEAD_SIZES:
                start += stream.read(size - len(start))
                is_whole = len(start) < size
                first_end = start.find(b"\n")
                if first_end >= 0 and self._quoted and start.find(self._quoted, 0, first_end) < 0:
                    return Header(folder="")  # the usual case among thousands of files, without parsing one
                *complete, last = start.decode("utf-8", "surrogateescape").split("\n")
                head = self.client.head([*complete, last] if is_whole else complete)
                if head or is_whole:
                    return head
        return None

    def _name(self, name: str) -> str:
        return f"{PREFIX}{self.client.name}/{name}".rstrip("/")

    def _cannot(self, path: str, reason: str, name: str = "") -> None:
        """Note what could not be looked at, by its real place: its name in the index is not known."""
        shown = path if is_unicode(path) else os.fsencode(path).decode("utf-8", "backslashreplace")
        self.seen.problems.append(Problem(shown, reason, failed=True))
        self.seen.blind.append(self._name(name))
