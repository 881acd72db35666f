"""Find the notes and transcripts of a workspace without reading them, and walk its folders.

Order: `MEMORY.md`, `memory.md`, in a workspace of OpenClaw `USER.md`, `memory/**/*.md`, then each extra path,
then the transcripts in `sessions/`; every folder is listed in sorted order and a file that was found once is
not found again. Symbolic links are never followed: a link may point outside the workspace, or in a circle.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import get_args

from memlines.errors import PathError, reason_of
from memlines.folders import Tree
from memlines.paths import PRIVATE_DIR, Workspace, contains, expand_home, is_unicode
from memlines.types import Discovery, Fingerprint, FoundFile, Problem, Source

ROOT_FILES = ("MEMORY.md", "memory.md")
USER_FILE = "USER.md"
"""What an agent of OpenClaw knows about its user; elsewhere a file of this name may be anything."""

_SOUL_FILE = "SOUL.md"
"""Is beside it in every workspace that OpenClaw made, and hardly anywhere else."""

NOTES_DIR = "memory"
SUFFIX = ".md"
SESSIONS_DIR = "sessions"

MAX_SESSION_BYTES = 100_000_000
"""A transcript holds every output of every tool, of which nothing is indexed, so it may be far larger than
a note. This bounds the memory that reading one needs, which is a few times its size."""

IGNORED_DIRS = frozenset(
    {".git", "node_modules", ".venv", "venv", ".tox", "__pycache__", ".pnpm-store", PRIVATE_DIR}
)

_SET_ASIDE = r"\.(?:reset|deleted)\.\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?Z"
_TRANSCRIPT = re.compile(rf".+\.jsonl(?:{_SET_ASIDE})?", re.DOTALL)
"""A session's file, or one that a reset or a deletion of the session set aside; not its backups."""

_IS_IGNORED = "holds notes, but a folder of this name is never looked into"
_FIRST_ENTRIES = 100
"""How many entries of an ignored folder are looked at: it may have many thousands, and this happens often."""
_IS_LINK = "is a symbolic link; links are not followed"
_LISTS_INODES = os.name != "nt"
"""Windows lists files without these numbers, so a listed file would differ from itself once it is open."""

_LARGEST = (1 << 63) - 1
"""SQLite integers are signed; some file systems use all 64 bits of an inode number, and times after the year
2262 need more than that."""


def discover(
    workspace: Workspace,
    extra_paths: tuple[str, ...],
    max_bytes: int,
    sources: tuple[Source, ...] = ("memory",),
) -> Discovery:
    """List the files of a workspace, what was left out, and what could not be looked at.

    Where a source is not asked for, nothing is looked at; extra paths hold notes.
    """
    walk = _Walk(str(workspace.root), max_bytes)
    with Tree(workspace.root) as tree:
        if "memory" in sources:
            walk.notes(tree)
            for extra in extra_roots(workspace, extra_paths):
                walk.extra(extra, *anchor_of(workspace, extra))
        if "sessions" in sources:
            walk.sessions(tree)
    return Discovery(tuple(walk.files.values()), tuple(walk.problems), tuple(walk.blind), len(walk.unread))


def extra_roots(workspace: Workspace, extra_paths: tuple[str, ...]) -> list[str]:
    """Return the extra paths as absolute paths, without blanks and repetitions."""
    roots: dict[str, None] = {}
    for extra in extra_paths:
        if extra.strip():
            path = workspace.root / expand_home(extra.strip())
            roots.setdefault(os.path.normpath(path))
    return list(roots)


def anchor_of(workspace: Workspace, extra: str) -> tuple[str, str]:
    """Return the folder below which no link to an extra path is followed, and the rest of the path.

    The folders above an extra path outside the workspace may be links: its user chose that.
    """
    inside = Path(extra).relative_to(workspace.root) if contains(workspace.root, Path(extra)) else None
    if inside is not None:
        return str(workspace.root), "/".join(inside.parts)
    above, name = os.path.split(extra)
    return os.path.realpath(above), name


def root_files(workspace: Workspace) -> tuple[str, ...]:
    """Return the names of the notes that may be beside `memory/`."""
    is_openclaw = os.path.lexists(workspace.root / _SOUL_FILE)
    return (*ROOT_FILES, USER_FILE) if is_openclaw else ROOT_FILES


def limit_for(source: Source, max_bytes: int) -> tuple[int, str]:
    """Return how large a file may be, and that in words; `max_bytes` is the limit for notes."""
    if source == "sessions":
        return MAX_SESSION_BYTES, f"the limit of {MAX_SESSION_BYTES / 1e6:g} MB for transcripts"
    return max_bytes, f"the limit of {max_bytes / 1e6:g} MB (files.max_bytes)"


def fingerprint_of(info: os.stat_result) -> Fingerprint:
    """Return what distinguishes one state of a file from another."""
    inode = info.st_ino & _LARGEST if _LISTS_INODES else 0
    return Fingerprint(info.st_size, min(info.st_mtime_ns, _LARGEST), inode)


class _Walk:
    """One walk over the workspace, collecting what it sees."""

    def __init__(self, root: str, max_bytes: int) -> None:
        self.root = root
        self.prefix = root + os.sep
        self.limits = {source: limit_for(source, max_bytes) for source in get_args(Source)}
        self.files: dict[str, FoundFile] = {}
        self.problems: dict[Problem, None] = {}
        self.blind: list[str] = []
        self.unread: set[str] = set()

    def notes(self, tree: Tree) -> None:
        # Root files by the names they really have, so case-insensitive disks list one once.
        names = {entry.name: entry for entry in self._entries(tree, "")}
        for name in (*ROOT_FILES, USER_FILE) if _SOUL_FILE in names else ROOT_FILES:
            if name in names:
                self._consider(tree, name, names[name])
        self._tree(tree, NOTES_DIR)

    def sessions(self, tree: Tree) -> None:
        for entry in self._entries(tree, SESSIONS_DIR):
            if _TRANSCRIPT.fullmatch(entry.name):
                relative = f"{SESSIONS_DIR}/{entry.name}"
                if self._consider(tree, relative, entry, "sessions"):
                    self._problem(tree.path_of(relative), "is a folder, not a transcript")

    def extra(self, path: str, root: str, relative: str) -> None:
        """Take an extra path, a folder of notes or one note, that lies at a place below a root."""
        above, _, name = relative.rpartition("/")
        with Tree(root) as tree:
            try:
                info = tree.enter(above).look(name) if name else os.lstat(root)
            except PathError:
                self._problem(path, f"extra path {_IS_LINK}")
                return
            except OSError as error:
                missing = isinstance(error, FileNotFoundError | NotADirectoryError)
                reason = f"cannot be looked at: {reason_of(error)}"
                reason = "extra path does not exist" if missing else reason
                self._problem(path, reason, failed=not missing, blind=not missing)
                return
            if stat.S_ISLNK(info.st_mode):
                self._problem(path, f"extra path {_IS_LINK}")
            elif stat.S_ISDIR(info.st_mode):
                self._tree(tree, relative)
            elif path.endswith(SUFFIX):
                self._file(tree, relative, info)
            else:
                self._problem(path, f"extra path is neither a folder nor a {SUFFIX} file")

    def _tree(self, tree: Tree, top: str) -> None:
        pending = [top]
        while pending:
            current = pending.pop()
            below = f"{current}/" if current else ""
            deeper = [
                relative
                for entry in self._entries(tree, current)
                if self._consider(tree, relative := below + entry.name, entry)
            ]
            pending.extend(reversed(deeper))

    def _entries(self, tree: Tree, relative: str) -> list[os.DirEntry[str]]:
        """Return a folder's entries in sorted order; a folder that is not there has none."""
        try:
            with tree.enter(relative).scan() as listing:
                return sorted(listing, key=attrgetter("name"))
        except FileNotFoundError:
            return []
        except NotADirectoryError:
            self._problem(tree.path_of(relative), "is not a folder")
        except PathError:
            self._problem(tree.path_of(relative), _IS_LINK)
        except OSError as error:
            reason = f"cannot be listed: {reason_of(error)}"
            self._problem(tree.path_of(relative), reason, failed=True, blind=True)
        return []

    def _consider(
        self, tree: Tree, relative: str, entry: os.DirEntry[str], source: Source = "memory"
    ) -> bool:
        """Take a note or a transcript; return whether the entry is a folder to look into."""
        name = entry.name
        wanted = source == "sessions" or name.endswith(SUFFIX)
        try:
            if entry.is_symlink():
                path = tree.path_of(relative)
                if wanted or (name not in IGNORED_DIRS and os.path.isdir(path)):  # noqa: PTH112
                    self._problem(path, _IS_LINK)
                return False
            if entry.is_dir(follow_symlinks=False):
                if name in IGNORED_DIRS:
                    self._report_ignored(tree, relative)
                return name not in IGNORED_DIRS
            if wanted:
                self._file(tree, relative, entry.stat(follow_symlinks=False), source)
        except FileNotFoundError:
            return False  # gone since it was listed
        except OSError as error:
            reason = f"cannot be looked at: {reason_of(error)}"
            self._problem(tree.path_of(relative), reason, failed=True, blind=True)
        return False

    def _report_ignored(self, tree: Tree, relative: str) -> None:
        """Report a folder that is never looked into if there are notes in it and it can be listed."""
        with suppress(OSError, PathError), tree.enter(relative).scan() as listing:
            if any(entry.name.endswith(SUFFIX) for entry in islice(listing, _FIRST_ENTRIES)):
                self._problem(tree.path_of(relative), _IS_IGNORED)

    def _file(self, tree: Tree, relative: str, info: os.stat_result, source: Source = "memory") -> None:
        path = tree.path_of(relative)
        if path in self.files:
            return
        name = relative if tree.root == self.root else self._name(path)
        limit, limit_in_words = self.limits[source]
        if not stat.S_ISREG(info.st_mode):
            self._problem(path, "is not a regular file", unread=True)
        elif info.st_size > limit:
            reason = f"is {info.st_size / 1e6:.1f} MB, above {limit_in_words}"
            self._problem(path, reason, unread=True)
        elif not is_unicode(name):
            self._problem(path, "has a name that is not valid UTF-8", unread=True)
        else:
            self.files[path] = FoundFile(name, path, source, fingerprint_of(info), "", tree.root)

    def _problem(
        self, path: str, reason: str, *, failed: bool = False, blind: bool = False, unread: bool = False
    ) -> None:
        """Note why something is left out; where it could not look, nothing that is known is gone."""
        name = self._name(path)
        shown = name if is_unicode(name) else os.fsencode(name).decode("utf-8", "backslashreplace")
        self.problems.setdefault(Problem(shown, reason, failed))
        if blind:
            self.blind.append(name)
        if failed or unread:
            self.unread.add(name)

    def _name(self, path: str) -> str:
        """Return the path as the index and citations write it: relative, with forward slashes."""
        relative = path.removeprefix(self.prefix)
        if relative == path:
            with suppress(ValueError):  # another drive, on Windows
                relative = os.path.relpath(path, self.root)
        return relative if os.sep == "/" else relative.replace(os.sep, "/")


def walk(
    root: Path, top: str = ""
) -> Iterator[tuple[str, list[os.DirEntry[str]], OSError | PathError | None]]:
    """Yield the folders below a root, each with its entries by name, or with why it cannot be listed.

    As with `os.walk`, a folder that the caller removes from the entries is not entered. No link is followed.
    """
    pending = [top]
    with Tree(root) as tree:
        while pending:
            folder = pending.pop()
            try:
                with tree.enter(folder).scan() as listing:
                    entries = sorted(listing, key=attrgetter("name"))
            except (OSError, PathError) as error:
                yield folder, [], error
                continue
            yield folder, entries, None
            inner = [entry.name for entry in reversed(entries) if entry.is_dir(follow_symlinks=False)]
            pending += [f"{folder}/{name}" if folder else name for name in inner]


def scan_below(top: Path, root: Path) -> Iterator[tuple[Path, list[os.DirEntry[str]]]]:
    """Yield a folder and those below it, each with its files; one that cannot be looked into is an error.

    The files may be looked at until the next folder is asked for.
    """
    for relative, entries, error in walk(root, "/".join(top.relative_to(root).parts)):
        if isinstance(error, FileNotFoundError | NotADirectoryError):  # gone since it was listed
            continue
        if error is not None:
            raise error
        yield root / relative, [entry for entry in entries if not entry.is_dir(follow_symlinks=False)]


def folders_below(top: Path, root: Path) -> list[Path]:
    """Return a folder and those below it, the deepest first."""
    return [folder for folder, _ in scan_below(top, root)][::-1]


def files_below(top: Path, root: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield the files in a folder and in those below it, with what is known of each; links are files."""
    for folder, entries in scan_below(top, root):
        for entry in entries:
            with suppress(FileNotFoundError):  # gone since it was listed
                yield folder / entry.name, entry.stat(follow_symlinks=False)
