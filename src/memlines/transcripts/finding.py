"""Look for the transcripts of a workspace where clients keep them.

A transcript belongs to the workspace whose root folder its session began in, by the word of the transcript
itself. Sessions that agents started for themselves are left out: what came of them is in the session
that a person had.

To tell, the head of a file is read: 64 KiB, or 1 MiB where its first lines are long. Which folder a session
began in never changes, so a caller that looks often passes `known`, which remembers it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memlines.errors import MemlinesError, reason_of
from memlines.paths import MAIN_AGENT, is_unicode
from memlines.transcripts.lines import Head, Record
from memlines.types import Fingerprint, Problem, Transcript

PREFIX = "sessions/"
"""What the names of all transcripts begin with in the index."""

Query = Callable[[str, str, tuple[Any, ...]], Iterable[tuple[Any, ...]]]
"""Asks a database (by its path) a question, reading only; raises a `MemlinesError` if it cannot."""

Known = dict[tuple[str, int], bool]
"""Remembers of files, by path and inode, whether they belong to the workspace, once their heads tell."""

_HEAD_SIZES = (65_536, 1_048_576)
_OPEN_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)  # a pipe does not block us
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)

_UNUSUAL = re.compile(r"[^\w.-]")


@dataclass(frozen=True, slots=True)
class Found:
    """A transcript that belongs to a workspace: its name in the index, and where it really is.

    If `session` is set, `real` is a database, of which the session is a part; `fingerprint` then tells one
    state of the session from another.
    """

    path: str
    real: str
    client: str
    session: str = ""
    fingerprint: Fingerprint | None = None


@dataclass(slots=True)
class Sightings:
    """What a look for transcripts saw.

    `blind` lists what begins the names of transcripts that may exist although they were not seen.
    """

    found: list[Found] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    blind: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Client:
    """A program that writes transcripts: where it keeps them, and how they are read."""

    name: str
    parse: Callable[[str | Iterable[str], int], Transcript]
    head: Callable[[Iterable[str]], Head | None]
    search: Callable[[Look, Mapping[str, str], Query | None, str], None]
    """Looks at the places that environment variables name, for the sessions of an agent."""

    is_own_record: Callable[[Record], bool]
    """Tells whether a record is one that only this client writes."""

    header_of: Callable[[Record], Mapping[str, Any] | None]
    """Returns the part of a record whose `id` names the session, if this is the record that has it."""

    is_folder_first: bool = True
    """Whether the first line of a file says in which folder the session began."""

    read_session: Callable[[Query, str, str], list[str]] | None = None
    """Returns a session out of a database as the lines of a transcript; none if it is gone."""

    read_export: Callable[[str], tuple[Any, Transcript] | None] | None = None
    """Returns the session and the transcript of a text that the client exported, if it is one."""

    def find(
        self,
        root: Path,
        environ: Mapping[str, str],
        query: Query | None = None,
        known: Known | None = None,
        agent: str = MAIN_AGENT,
    ) -> Sightings:
        """Find the transcripts of the sessions that began in the root folder of a workspace."""
        look = Look(self.name, root, self.head, known, is_first=self.is_folder_first)
        self.search(look, environ, query, agent)
        return look.seen


class Look:
    """A look for the transcripts of one client."""

    def __init__(
        self,
        client: str,
        root: Path,
        head: Callable[[Iterable[str]], Head | None],
        known: Known | None,
        *,
        is_first: bool,
    ) -> None:
        self.client = client
        self.folder = root
        self.root = os.path.normcase(root)
        self.head = head
        self.known = {} if known is None else known
        self.seen = Sightings()
        is_plain = is_first and self.root.isascii() and self.root.isprintable() and os.sep == "/"
        self.quoted = json.dumps(self.root).encode() if is_plain else b""
        """What the first line has to hold, if that tells the folder and is written in one way only."""

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
            self.seen.found.append(Found(self._name(name or entry.name), entry.path, self.client))

    def is_ours(self, head: Head | None) -> bool:
        """Return whether a person's session began in the workspace."""
        return head is not None and not head.is_helper and self._is_root(head.folder)

    def rows(
        self, query: Query | None, database: str, question: str, values: tuple[Any, ...]
    ) -> Iterator[tuple[Any, ...]]:
        """Ask a database, if there is one and a way to ask."""
        if query is None or not os.path.isfile(database) or os.path.islink(database):  # noqa: PTH113, PTH114
            return
        try:
            yield from list(query(database, question, values))
        except (MemlinesError, OSError) as error:
            self._cannot(database, f"cannot be read: {reason_of(error)}")

    def take_row(self, folder: str, database: str, session: str, lines: Any, updated: Any) -> None:
        """Take a session that a database holds."""
        name = folder + _UNUSUAL.sub("_", session)
        count, changed = (value if isinstance(value, int) else 0 for value in (lines, updated))
        state = Fingerprint(count, changed * 1_000_000, 0)
        self.seen.found.append(Found(self._name(f"{name}.jsonl"), database, self.client, session, state))

    def _belongs(self, entry: os.DirEntry[str]) -> bool:
        key = (entry.path, entry.inode())
        belongs = self.known.get(key)
        if belongs is None:
            head = self._head_of(entry.path)
            belongs = self.is_ours(head)
            if head:
                self.known[key] = belongs
        return belongs

    def _head_of(self, path: str) -> Head | None:
        handle = os.open(path, _OPEN_FLAGS)
        with os.fdopen(handle, "rb") as stream:
            start = b""
            for size in _HEAD_SIZES:
                start += stream.read(size - len(start))
                is_whole = len(start) < size
                first_end = start.find(b"\n")
                if first_end >= 0 and self.quoted and start.find(self.quoted, 0, first_end) < 0:
                    return Head("")  # the usual case among thousands of files, decided without parsing one
                *complete, last = start.decode("utf-8", "surrogateescape").split("\n")
                head = self.head([*complete, last] if is_whole else complete)
                if head or is_whole:
                    return head
        return None

    def _is_root(self, folder: str) -> bool:
        return "\0" not in folder and os.path.normcase(os.path.normpath(folder)) == self.root

    def _name(self, name: str) -> str:
        return f"{PREFIX}{self.client}/{name}".rstrip("/")

    def _cannot(self, path: str, reason: str, name: str = "") -> None:
        """Note what could not be looked at, by its real place: its name in the index is not known."""
        shown = path if is_unicode(path) else os.fsencode(path).decode("utf-8", "backslashreplace")
        self.seen.problems.append(Problem(shown, reason, failed=True))
        self.seen.blind.append(self._name(name))


def home_of(environ: Mapping[str, str], variable: str, below_home: str) -> Path:
    """Return the folder of a client: what its variable names, or its place in the home folder."""
    if named := environ.get(variable, ""):
        return Path(os.path.abspath(named))  # noqa: PTH100
    home = environ.get("HOME") or environ.get("USERPROFILE") or os.path.expanduser("~")  # noqa: PTH111
    return Path(home, below_home)
