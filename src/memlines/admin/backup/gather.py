"""What a copy of a workspace holds: its notes, byte by byte, and its private files that cannot be rebuilt.

The index and its cache are left out, because they can be built from the notes. The same rules say which names
may come in from a copy, and what a second version of a file is called.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from memlines.admin.backup.manifest import SETTINGS_NAME, Entry, Manifest, SourceFile, entry_for
from memlines.errors import BackupError, PathError, WorkspaceError, reason_of
from memlines.files import tombstones
from memlines.files.atomic import TEMPORARY_PREFIXES
from memlines.files.scan import (
    IGNORED_DIRS,
    NOTES_DIR,
    ROOT_FILES,
    SESSIONS_DIR,
    SUFFIX,
    USER_FILE,
    discover,
    extra_roots,
    walk,
)
from memlines.paths import PRIVATE_DIR, Workspace, contains, is_unicode
from memlines.settings import Settings
from memlines.text.neutral import unseen_in
from memlines.types import Problem, Progress

HASHES = f"{PRIVATE_DIR}/{tombstones.FILE_NAME}"
SALT = f"{PRIVATE_DIR}/{tombstones.SALT_NAME}"
TOMBSTONES = frozenset({HASHES, SALT})
"""The hashes of what was forgotten, and their salt."""

ALWAYS_KEPT = re.compile(r"snapshots|forgotten\.(?:jsonl|salt)")
KEPT_ON_REQUEST = re.compile(r"history|trash")
"""Files and folders in the private folder that belong to a copy."""

LONGEST_PATH = 4_000
"""Bytes of a path in a copy; most systems have no room for more."""

_URL_PASSWORD = re.compile(r"(?<=://)[^/?#@]+(?=@)")


def gather(
    workspace: Workspace, settings: Settings, *, everything: bool
) -> tuple[list[SourceFile], list[Problem]]:
    """List the files of a copy by name, and what it leaves out; `everything` adds history and trash."""
    extras = [extra for extra in extra_roots(workspace, settings.extra_paths) if os.path.lexists(extra)]
    inside = _within(workspace, extras)
    found = discover(workspace, inside, sys.maxsize)
    items = {file.path: file.real for file in found.files}
    problems = [_judge(workspace, problem) for problem in found.problems]
    outside = "lies outside the workspace, and is not copied"
    problems += [Problem(extra, outside) for extra in extras if extra not in inside]
    if transcripts := len(discover(workspace, (), sys.maxsize, ("sessions",)).files):
        problems.append(Problem(SESSIONS_DIR, f"is not copied ({transcripts} transcripts)"))
    if others := _count_other_files(workspace):
        problems.append(Problem(NOTES_DIR, f"holds {others} files that are not notes, and are not copied"))
    _list_private(workspace, items, problems, everything=everything)
    files: list[SourceFile] = []
    for path in sorted(items):  # what no workspace would accept is not copied
        if unseen := unseen_in(path):
            reason = f"has {unseen} in its name, which cannot be seen: rename it to have it copied"
        elif len(path.encode()) > LONGEST_PATH:
            reason = f"has a path of more than {LONGEST_PATH} bytes: move it to have it copied"
        else:
            files.append(SourceFile(path, items[path], workspace.root))
            continue
        problems.append(Problem(path, reason, failed=True))
    return files, problems


Outcome = tuple[Entry | None, Problem | None]
"""What a copy has of a file, and what is wrong with that; neither if the file is gone."""


class Sink(Protocol):
    """Where a copy goes: an archive, or a place for backups."""

    def add(self, entry: Entry, content: bytes) -> None:
        """Write a file that was read."""

    def add_large(self, file: SourceFile) -> Outcome:
        """Read a large file in pieces and write it."""


def copy_files(
    workspace: Workspace,
    files: Sequence[SourceFile],
    sink: Sink,
    problems: list[Problem],
    progress: Progress,
    label: str,
) -> Manifest:
    """Give every file and the settings to a sink; return what it got, and add what could not be copied.

    Raises rather than make a copy without a file, which would look like the newest one.
    """
    entries: list[Entry] = []
    for done, file in enumerate(files, 1):
        entry, problem = sink.add_large(file) if file.is_large else _add(file, sink)
        if entry is not None:
            entries.append(entry)
        if problem is not None:
            problems.append(problem)
        progress(done, len(files), label)
    if not entries:
        why = f": {problems[0].path} {problems[0].reason}" if problems else ""
        raise WorkspaceError(
            f"there are no notes to copy in {str(workspace.root)!r}{why}",
            todo="Name the folder that holds them with --workspace",
        )
    settings = _settings_without_secrets(workspace)
    if settings is not None:
        sink.add(*settings)
    created = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return Manifest(created, workspace.root.name, tuple(entries), settings[0] if settings else None)


def _add(file: SourceFile, sink: Sink) -> Outcome:
    content = file.read()
    if content is None or isinstance(content, Problem):
        return None, content
    sink.add(*content)
    return content[0], None


def summarize(manifest: Manifest, problems: Sequence[Problem]) -> dict[str, Any]:
    """Return the fields that the results of all copies have in common."""
    return {
        "files": len(manifest.entries),
        "bytes": manifest.size,
        "settings": manifest.settings is not None,
        "left_out": tuple(problem for problem in problems if not problem.failed),
        "failed": tuple(problem for problem in problems if problem.failed),
    }


def _within(workspace: Workspace, extras: Iterable[str]) -> tuple[str, ...]:
    """Return the extra paths that lie inside the workspace; the others are not its own."""
    return tuple(extra for extra in extras if contains(workspace.root, Path(extra)))


def _is_kept(name: str, *, everything: bool) -> bool:
    """Return whether a file or folder of the private folder belongs to a copy."""
    return bool(ALWAYS_KEPT.fullmatch(name) or (everything and KEPT_ON_REQUEST.fullmatch(name)))


def _settings_without_secrets(workspace: Workspace) -> tuple[Entry, bytes] | None:
    """Return the project's settings as they may leave the machine, or None if it has none."""
    from memlines.settings.trusted_files import read_project_file

    content = read_project_file(workspace.config_file)
    if not content:
        return None
    import yaml

    from memlines.settings.yaml_text import parse

    kept = _without_secrets(parse(content, f"project file {workspace.config_file}"), "")
    text = yaml.safe_dump(kept, sort_keys=False, allow_unicode=True).encode()
    return entry_for(SETTINGS_NAME, text, 0), text


def _without_secrets(data: dict[str, Any], prefix: str) -> dict[str, Any]:
    from memlines.settings.keys import SESSION_MEMORY, known_keys, resolve, snake

    kept: dict[str, Any] = {}
    for spelled, value in data.items():
        name = prefix + snake(spelled)
        of_all = name.split(".", 2)[-1] if re.match(r"agents\.[^.]+\.", name) else name
        resolved = resolve(of_all)[0]
        key = known_keys().get(resolved)
        if isinstance(value, dict) and key is None:
            kept[spelled] = _without_secrets(value, f"{name}.")
        elif resolved == SESSION_MEMORY or (key is not None and not key.rule.secret):
            kept[spelled] = _URL_PASSWORD.sub("***", value) if isinstance(value, str) else value
    return kept


def _judge(workspace: Workspace, problem: Problem) -> Problem:
    """Make it a failure that a note is left out; links, pipes and devices are left out on purpose."""
    try:
        is_file = stat.S_ISREG((workspace.root / problem.path).lstat().st_mode)
    except OSError:
        is_file = True  # it cannot be looked at, or has a name that cannot be written as text
    return Problem(problem.path, problem.reason, failed=problem.failed or is_file)


def _count_other_files(workspace: Workspace) -> int:
    """Count the files among the notes that are not notes; a folder that cannot be listed was named before."""
    found = 0
    for _, entries, _ in walk(workspace.root, NOTES_DIR):
        names = [entry.name for entry in entries if not entry.is_dir(follow_symlinks=False)]
        found += sum(not name.endswith(SUFFIX) and not name.startswith(TEMPORARY_PREFIXES) for name in names)
        entries[:] = [entry for entry in entries if entry.name not in IGNORED_DIRS]
    return found


def _list_private(
    workspace: Workspace, items: dict[str, str], problems: list[Problem], *, everything: bool
) -> None:
    """Add the private files that belong to a copy, and what could not be looked at."""
    for folder, entries, error in walk(workspace.root, PRIVATE_DIR):
        if isinstance(error, PathError):
            problems.append(Problem(folder, "is a symbolic link; links are not followed"))
        elif error is not None and not isinstance(error, FileNotFoundError):
            problems.append(Problem(folder, f"cannot be listed: {reason_of(error)}", failed=True))
        if folder == PRIVATE_DIR:
            entries[:] = [entry for entry in entries if _is_kept(entry.name, everything=everything)]
        for entry in entries:
            path = f"{folder}/{entry.name}"
            if not entry.is_file(follow_symlinks=False) or entry.name.startswith(TEMPORARY_PREFIXES):
                continue
            if is_unicode(path):
                items[path] = str(workspace.root / path)
            else:
                problems.append(Problem(printable(path), "has a name that is not valid UTF-8", failed=True))


def printable(path: str) -> str:
    """Return a path as it can be printed, if it is not valid UTF-8."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


_LONGEST_PART = 255
_NOT_ON_WINDOWS = re.compile(r'[<>:"|?*\\\x00-\x1f]|[. ](?:/|$)')
_LONGEST_NEW_NAME = 200
"""Bytes; what is kept of a changed note has a longer name than the note, and must fit as well."""

_LONGEST_ENDING = 20
_LONGEST_TAG = "-imported-2026-01-01-99999"


def refuse_strange_names(
    workspace: Workspace, settings: Settings, entries: Iterable[Entry], origin: str
) -> None:
    """Raise if a name is not that of a note or of a private file that copies hold.

    A copy may come from anyone: it must not be able to put a file anywhere else.
    """
    inside = _within(workspace, extra_roots(workspace, settings.extra_paths))
    extras = [os.path.relpath(extra, workspace.root) for extra in inside]
    folders = ["" if extra == "." else extra.replace(os.sep, "/") for extra in extras]
    for entry in entries:
        path = entry.path
        if not _is_plain(path):
            raise BackupError(
                f"{origin} holds {path!r}, which is not a name of a file inside a workspace",
                todo="Do not use it unless you know who made it; nothing was changed",
            )
        if not _belongs_here(path, folders):
            raise BackupError(
                f"{origin} holds {path!r}, which is not a note of this workspace; nothing was changed",
                todo="If you know who made it, set extra_paths to the folder of that file and try again",
            )


def refuse_invisible_names(entries: Iterable[Entry], origin: str) -> None:
    """Raise if a name has a character that cannot be seen: it shows another name than it is."""
    for entry in entries:
        if unseen := unseen_in(entry.path):
            raise BackupError(
                f"{origin} holds {entry.path!r}, a name with the character {unseen}, which cannot be seen",
                todo="Rename that note where the copy was made, and make the copy again; nothing was changed",
            )


def beside(path: str) -> tuple[str, str, str]:
    """Return folder, beginning and ending of the names of a file's imported versions.

    They sort next to the file, are notes if it is one, and have its date if it is a daily log.
    """
    folder, _, name = path.rpartition("/")
    stem, dot, ending = name.rpartition(".")
    if not dot or len(ending) > _LONGEST_ENDING:
        stem, dot, ending = name, "", ""
    room = _LONGEST_NEW_NAME - len(f"{_LONGEST_TAG}{dot}{ending}".encode())
    stem = stem.encode()[:room].decode("utf-8", "ignore")
    return folder or NOTES_DIR, f"{stem}-imported-", dot + ending


def _is_plain(path: str) -> bool:
    if not is_unicode(path) or "\0" in path or len(path.encode()) > LONGEST_PATH:
        return False
    if any(part in ("", ".", "..") or len(part.encode()) > _LONGEST_PART for part in path.split("/")):
        return False
    return os.name != "nt" or not _NOT_ON_WINDOWS.search(path)


def _belongs_here(path: str, extras: Sequence[str]) -> bool:
    """Return whether a path is that of a note, of a private file that copies hold, or in an extra path."""
    if path in (*ROOT_FILES, USER_FILE, *TOMBSTONES):
        return True
    top, *below = path.split("/")
    if top == PRIVATE_DIR and len(below) > 1 and _is_kept(below[0], everything=True):
        return True  # but for the tombstones, what is kept there is in folders
    for folder in (NOTES_DIR, *extras):
        if path == folder or not folder or path.startswith(f"{folder}/"):
            folders = path[len(folder) :].split("/")[:-1]
            if path.endswith(SUFFIX) and not IGNORED_DIRS.intersection(folders):
                return True
    return False
