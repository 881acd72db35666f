"""Read what notes held in the commits of the git repository that a workspace is in.

Git itself is asked, by commands that only read objects. A repository may come from anyone, so nothing of it
is run: no hook, no filter, no monitor of files and no fetch of what a partial clone lacks. Git refuses one
that belongs to another user, and we refuse one whose `.git` leads elsewhere.

The time of a commit is its committer date. Commits are taken in the order of first parents from HEAD: the
newest of them that is not later than a moment counts, also where clocks of two machines made later commits
look older.
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import IO, NamedTuple

from memlines.errors import reason_of
from memlines.files.git import SAFE_OPTIONS, safe_environment
from memlines.files.scan import IGNORED_DIRS, NOTES_DIR, SUFFIX, root_files
from memlines.paths import Workspace, find_program, is_unicode
from memlines.worktrees import git_folder, repository_above

_SECONDS = 20.0
"""How long one command may take; a history of 10,000 commits takes less than one."""

_MOST_OUTPUT = 16_000_000
_MOST_BYTES = 256_000_000
"""Bytes that are read of a list of files or commits, and of all notes of a commit together."""

_MOST_BROKEN = 5
"""Objects that may be damaged until no others are tried; git ends at each, and is started again."""

_FILE_MODES = ("100644", "100755")


class Commit(NamedTuple):
    """A commit, and when it was made."""

    id: str
    time: datetime


class Blob(NamedTuple):
    """A note in a commit: the name of its content, and how many bytes that has."""

    id: str
    size: int


class _Unreadable(Exception):
    """Git did not answer; the text says why."""


class GitHistory:
    """The commits of the repository around a workspace; without one there are none.

    What cannot be read counts as not there, and `trouble` says why.
    """

    def __init__(self, workspace: Workspace) -> None:
        self.trouble = ""
        self._root = str(workspace.root)
        self._names = [*root_files(workspace), f"{NOTES_DIR}/"]
        self._git = ""
        self._head = ""
        self._prefix = ""
        self._environment: dict[str, str] = {}
        repository = repository_above(self._root)
        if repository is not None:
            self._open(repository)

    def _open(self, repository: str) -> None:
        if git_folder(repository) is None:
            self._note("its .git is gone, or leads to another repository")
            return
        self._git = find_program("git") or ""
        if not self._git:
            self._note("git is not installed")
            return
        inside = os.path.relpath(self._root, repository)
        self._prefix = "" if inside == os.curdir else f"{inside.replace(os.sep, '/')}/"
        above = {"GIT_CEILING_DIRECTORIES": os.path.dirname(repository)}  # noqa: PTH120
        self._environment = {**safe_environment(), **above}
        self._head = self._ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}", may_fail=True).strip()

    def commit_at(self, moment: datetime) -> Commit | None:
        """Return the newest commit that is not later than a moment."""
        seconds = int(moment.timestamp())
        if seconds <= 0:  # which git would read as another time
            return None
        return next(iter(self._commits("--max-count=1", f"--min-age={seconds}")), None)

    def first_commit(self) -> Commit | None:
        """Return the oldest commit that is known and changed a note; a shallow clone lacks older ones."""
        commits = self._commits(names=self._names)
        return commits[-1] if commits else None

    def commits_of(self, path: str, most: int, until: Commit | None = None) -> list[Commit]:
        """Return the commits that changed a note, newest first, from the last one or from one on."""
        return self._commits(f"--max-count={most}", names=[path], head=until.id if until else "")

    def notes_in(self, commit: Commit, max_bytes: int) -> dict[str, Blob]:
        """Return the notes of a commit by path; links, other files and what is too large are none."""
        notes: dict[str, Blob] = {}
        output = self._ask("ls-tree", "-r", "-z", "-l", commit.id, "--", *self._names)
        for line in output.split("\0"):
            about, _, path = line.partition("\t")
            mode, _, name, size = (*about.split(), "", "", "", "")[:4]
            is_note = path.endswith(SUFFIX) and not IGNORED_DIRS.intersection(path.split("/")[:-1])
            if mode not in _FILE_MODES or not is_note or not is_unicode(path):
                continue
            if not size.isdigit():
                self._note(f"{path!r} is missing or damaged in {commit.id[:12]}")
            elif int(size) <= max_bytes:
                notes[path] = Blob(name, int(size))
        return notes

    def read(self, blobs: Iterable[Blob]) -> dict[str, bytes]:
        """Return the contents of notes by their names, as far as they can be read."""
        room, names = _MOST_BYTES, []
        for blob in dict.fromkeys(blobs):
            room -= blob.size
            if room < 0:
                self._note(f"its notes have more than {_MOST_BYTES / 1e6:.0f} MB")
                break
            names.append(blob.id)
        return {name: content for name, content in self._contents(names) if content is not None}

    def read_versions(
        self, path: str, commits: Sequence[Commit], max_bytes: int
    ) -> Iterator[tuple[Commit, bytes | None]]:
        """Yield what a note held in each of some commits; nothing where it is not there."""
        if "\n" in path:
            return
        by_name = {f"{commit.id}:{self._prefix}{path}": commit for commit in commits}
        for name, content in self._contents(by_name, max_bytes):
            yield by_name[name], content

    def _commits(self, *options: str, names: Sequence[str] = (), head: str = "") -> list[Commit]:
        if not self._head:
            return []
        listed = self._ask(
            "rev-list", "--first-parent", "--timestamp", *options, head or self._head, "--", *names
        )
        found = []
        for line in listed.splitlines():
            seconds, _, name = line.partition(" ")
            try:
                found.append(Commit(name, datetime.fromtimestamp(int(seconds), UTC)))
            except (ValueError, OverflowError, OSError):  # a year that no calendar has
                continue
        return found

    def _ask(self, *command: str, may_fail: bool = False) -> str:
        """Return what a command of git says; nothing if it fails."""
        try:
            with self._running(command, subprocess.DEVNULL) as process:
                output = _out(process).read(_MOST_OUTPUT + 1)
                if len(output) > _MOST_OUTPUT:
                    raise _Unreadable("its list of notes or commits is too long")
                if process.wait() and not (may_fail and process.returncode == 1):
                    raise _Unreadable(_reason(process))
        except _Unreadable as error:
            self._note(str(error))
            return ""
        return output.decode("utf-8", "surrogateescape")

    def _contents(
        self, names: Iterable[str], max_bytes: int = _MOST_BYTES
    ) -> Iterator[tuple[str, bytes | None]]:
        """Yield objects by what names them; one that cannot be read is noted and left out."""
        left, broken = [*names], 0
        while left and broken < _MOST_BROKEN:
            try:
                with self._running(("cat-file", "--batch"), subprocess.PIPE) as process:
                    while left:
                        content = _read_object(process, left[0], max_bytes)
                        yield left.pop(0), content
            except (_Unreadable, OSError) as error:
                self._note(str(error) if isinstance(error, _Unreadable) else reason_of(error))
                broken += 1
                del left[0]

    @contextmanager
    def _running(self, command: Sequence[str], stdin: int) -> Iterator[subprocess.Popen[bytes]]:
        """Run a command of git for as long as it may take."""
        try:
            process = subprocess.Popen(
                [self._git, *SAFE_OPTIONS, *command],
                cwd=self._root,
                env=self._environment,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except OSError as error:
            raise _Unreadable(f"git cannot be started: {reason_of(error)}") from error
        timer = threading.Timer(_SECONDS, process.kill)
        timer.start()
        try:
            yield process
        finally:
            timer.cancel()
            process.kill()
            for stream in (process.stdin, process.stdout, process.stderr):
                with suppress(OSError):  # of what was written to one that ended
                    stream.close() if stream else None
            process.wait()

    def _note(self, why: str) -> None:
        self.trouble = self.trouble or f"the commits of this repository cannot be read: {why}"


def _out(process: subprocess.Popen[bytes]) -> IO[bytes]:
    assert process.stdout is not None
    return process.stdout


def _read_object(process: subprocess.Popen[bytes], name: str, max_bytes: int) -> bytes | None:
    """Return the content of an object from a running `cat-file --batch`; nothing if it is not there."""
    assert process.stdin is not None
    process.stdin.write(f"{name}\n".encode("utf-8", "surrogateescape"))
    process.stdin.flush()
    header = _out(process).readline()
    if header.endswith(b" missing\n"):
        return None
    kind, _, size = header.rpartition(b" ")
    if not size.strip().isdigit():
        raise _Unreadable(_reason(process))
    if int(size) > max_bytes:
        raise _Unreadable(f"a version of a note has more than {max_bytes / 1e6:g} MB")
    content = _out(process).read(int(size) + 1)
    if len(content) <= int(size):
        raise _Unreadable(_reason(process))
    return content[:-1] if kind.endswith(b" blob") else None


def _reason(process: subprocess.Popen[bytes]) -> str:
    """Say in one line why a command of git failed."""
    assert process.stderr is not None
    process.kill()
    said = process.stderr.read(2_000).decode("utf-8", "replace").strip().splitlines()
    return said[0].removeprefix("fatal: ") if said else f"git did not answer within {_SECONDS:.0f} seconds"
