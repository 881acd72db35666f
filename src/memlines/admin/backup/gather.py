"""What a copy of a workspace holds: its notes, byte by byte, and its private files that cannot be rebuilt.

The index and its cache are left out, because they can be built from the notes. The same rules say which names
may come in from a copy, and what a second version of a file is called.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from memlines.admin.backup.manifest import SETTINGS_NAME, Entry, Item, Manifest, entry_for, is_large, take
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
)
from memlines.folders import Tree
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


@dataclass(frozen=True, slots=True)
class Gathered:
    """The files to copy, in the order of their names, and what could not be looked at or is no file."""

    items: tuple[Item, ...]
    problems: tuple[Problem, ...]


def gather(workspace: Workspace, settings: Settings, *, everything: bool = False) -> Gathered:
    """List what a copy of the workspace holds; `everything` takes history and trash as well."""
    extras = tuple(extra for extra in extras_within(workspace, settings) if os.path.lexists(extra))
    found = discover(workspace, extras, sys.maxsize)
    items = {file.path: file.real for file in found.files}
    problems = [_judge(workspace, problem) for problem in found.problems]
    problems += _list_not_copied(workspace, settings)
    list_private(workspace, items, problems, everything=everything)
    for path in list(items):
        if reason := _why_not_copied(path):
            problems.append(Problem(path, reason, failed=True))
            del items[path]
    root = str(workspace.root)
    return Gathered(tuple(Item(path, items[path], root) for path in sorted(items)), tuple(problems))


Outcome = tuple[Entry | None, Problem | None]
"""What a copy has of a file, and what is wrong with that; neither if the file is gone."""


class Sink(Protocol):
    """Where a copy goes: an archive, or a place for backups."""

    def add(self, entry: Entry, content: bytes) -> None:
        """Take a file that was read."""

    def add_large(self, item: Item) -> Outcome:
        """Read a large file in pieces and take it."""


def copy_files(
    workspace: Workspace, found: Gathered, sink: Sink, progress: Progress, label: str
) -> tuple[Manifest, list[Problem]]:
    """Give every file and the settings to a sink; return what it got, and what could not be copied.

    Raises rather than make a copy without a file, which would look like the newest one.
    """
    entries: list[Entry] = []
    problems = list(found.problems)
    for done, item in enumerate(found.items, 1):
        entry, problem = sink.add_large(item) if is_large(item) else _add(item, sink)
        if entry is not None:
            entries.append(entry)
        if problem is not None:
            problems.append(problem)
        progress(done, len(found.items), label)
    if not entries:
        why = f": {problems[0].path} {problems[0].reason}" if problems else ""
        raise WorkspaceError(
            f"there are no notes to copy in {str(workspace.root)!r}{why}",
            todo="Name the folder that holds them with --workspace",
        )
    settings = settings_without_secrets(workspace)
    if settings is not None:
        sink.add(*settings)
    created = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    manifest = Manifest(created, workspace.root.name, tuple(entries), settings[0] if settings else None)
    return manifest, problems


def _add(item: Item, sink: Sink) -> Outcome:
    taken = take(item)
    if taken is None or isinstance(taken, Problem):
        return None, taken
    sink.add(*taken)
    return taken[0], None


def summarize(manifest: Manifest, problems: Sequence[Problem]) -> dict[str, Any]:
    """Return the fields that the results of all copies have in common."""
    return {
        "files": len(manifest.entries),
        "bytes": manifest.size,
        "settings": manifest.settings is not None,
        "left_out": tuple(problem for problem in problems if not problem.failed),
        "failed": tuple(problem for problem in problems if problem.failed),
    }


def extras_within(workspace: Workspace, settings: Settings) -> tuple[str, ...]:
    """Return the extra paths that lie inside the workspace; the others are not its own."""
    roots = extra_roots(workspace, settings.extra_paths)
    return tuple(root for root in roots if contains(workspace.root, Path(root)))


def kept_in_private(name: str, *, everything: bool) -> bool:
    """Return whether a file or folder of the private folder belongs to a copy."""
    return bool(ALWAYS_KEPT.fullmatch(name) or (everything and KEPT_ON_REQUEST.fullmatch(name)))


def settings_without_secrets(workspace: Workspace) -> tuple[Entry, bytes] | None:
    """Return the project's settings as they may leave the machine, or None if it has none."""
    from memlines.settings.config_files import read_project_file

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
    """Make a note that is left out a failure; links, pipes and devices are left out on purpose."""
    try:
        is_file = stat.S_ISREG((workspace.root / problem.path).lstat().st_mode)
    except OSError:
        is_file = True  # not to be looked at, or a name that cannot even be written down
    return Problem(problem.path, problem.reason, failed=problem.failed or is_file)


def _why_not_copied(path: str) -> str:
    """Return why a file cannot be in a copy, because none could be brought in; empty if it can."""
    if unseen := unseen_in(path):
        return f"has {unseen} in its name, which cannot be seen: no copy takes it until it is renamed"
    if len(path.encode()) > LONGEST_PATH:
        return f"has a path of more than {LONGEST_PATH} bytes: no copy takes it until it is moved"
    return ""


def _list_not_copied(workspace: Workspace, settings: Settings) -> Iterator[Problem]:
    """Yield what people may take for a part of their memory, and no copy holds."""
    inside = extras_within(workspace, settings)
    for extra in extra_roots(workspace, settings.extra_paths):
        if extra not in inside and os.path.lexists(extra):
            yield Problem(extra, "lies outside the workspace, and is not copied")
    transcripts = len(discover(workspace, (), sys.maxsize, ("sessions",)).files)
    if transcripts:
        yield Problem(SESSIONS_DIR, f"is not copied ({transcripts} transcripts)")
    others = _other_files(workspace)
    if others:
        yield Problem(NOTES_DIR, f"holds {others} files that are no notes, and are not copied")


def _other_files(workspace: Workspace) -> int:
    """Count the files among the notes that are none; what cannot be listed was named before."""
    found = 0
    pending = [NOTES_DIR]
    with Tree(workspace.root) as tree:
        while pending:
            folder = pending.pop()
            with suppress(OSError, PathError), tree.enter(folder).scan() as listing:
                for entry in listing:
                    if not entry.is_dir(follow_symlinks=False):
                        found += not (
                            entry.name.endswith(SUFFIX) or entry.name.startswith(TEMPORARY_PREFIXES)
                        )
                    elif entry.name not in IGNORED_DIRS:
                        pending.append(f"{folder}/{entry.name}")
    return found


def list_private(
    workspace: Workspace, items: dict[str, str], problems: list[Problem], *, everything: bool
) -> None:
    """Add the private files that belong to a copy, and what could not be looked at."""
    pending = [PRIVATE_DIR]
    with Tree(workspace.root) as tree:
        while pending:
            folder = pending.pop()
            try:
                with tree.enter(folder).scan() as listing:
                    entries = sorted(listing, key=lambda entry: entry.name)
            except FileNotFoundError:
                continue
            except PathError:
                problems.append(Problem(folder, "is a symbolic link; links are not followed"))
                continue
            except OSError as error:
                problems.append(Problem(folder, f"cannot be listed: {reason_of(error)}", failed=True))
                continue
            for entry in entries:
                if folder == PRIVATE_DIR and not kept_in_private(entry.name, everything=everything):
                    continue
                path = f"{folder}/{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    pending.append(path)
                elif not entry.is_file(follow_symlinks=False) or entry.name.startswith(TEMPORARY_PREFIXES):
                    continue
                elif is_unicode(path):
                    items[path] = tree.path_of(path)
                else:
                    shown = os.fsencode(path).decode("utf-8", "backslashreplace")
                    problems.append(Problem(shown, "has a name that is not valid UTF-8", failed=True))


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
    extras = [os.path.relpath(extra, workspace.root) for extra in extras_within(workspace, settings)]
    folders = ["" if extra == "." else extra.replace(os.sep, "/") for extra in extras]
    for entry in entries:
        path = entry.path
        if not _is_plain(path):
            raise BackupError(
                f"{origin} holds {path!r}, which is not a name of a file inside a workspace",
                todo="Do not use it unless you know who made it; nothing was changed",
            )
        if not (_is_note(path) or _is_private(path) or _is_extra(path, folders)):
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
    parts = path.split("/")
    if not is_unicode(path) or "\0" in path or len(path.encode()) > LONGEST_PATH:
        return False
    if any(part in ("", ".", "..") or len(part.encode()) > _LONGEST_PART for part in parts):
        return False
    return os.name != "nt" or not _NOT_ON_WINDOWS.search(path)


def _is_note(path: str) -> bool:
    if path in (*ROOT_FILES, USER_FILE):
        return True
    parts = path.split("/")
    return len(parts) > 1 and parts[0] == NOTES_DIR and _is_markdown(parts)


def _is_extra(path: str, folders: list[str]) -> bool:
    """Return whether a file lies in an extra path of this workspace."""
    return any(
        path == folder or _is_markdown(path[len(folder) :].strip("/").split("/"))
        for folder in folders
        if path == folder or not folder or path.startswith(f"{folder}/")
    ) and path.endswith(SUFFIX)


def _is_markdown(parts: list[str]) -> bool:
    return parts[-1].endswith(SUFFIX) and not IGNORED_DIRS.intersection(parts[:-1])


def _is_private(path: str) -> bool:
    if path in TOMBSTONES:
        return True
    parts = path.split("/")
    if parts[0] != PRIVATE_DIR or len(parts) < 2 or not kept_in_private(parts[1], everything=True):
        return False
    return len(parts) > 2  # what is kept there are folders
