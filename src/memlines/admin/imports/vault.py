"""Copy a folder of Markdown notes into the workspace: a vault of Obsidian, of basic-memory, or any other.

Notes go below `memory/<name>/` and keep their paths there. Nothing is overwritten: a note that is there
already is left alone, and where one differs both are kept. Whatever begins with a dot (`.obsidian`, `.trash`,
`.git`) is not looked at; attachments stay where they are.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from functools import partial
from pathlib import Path

from memlines.admin.backup.gather import printable
from memlines.admin.backup.manifest import Content, Entry, SourceFile
from memlines.admin.backup.merge import Merged, merge
from memlines.errors import PathError, reason_of
from memlines.files.place import place_of
from memlines.files.read import decode
from memlines.files.scan import IGNORED_DIRS, NOTES_DIR, SUFFIX, discover, walk
from memlines.paths import Workspace, contains, expand_home, is_unicode
from memlines.records import dataclass
from memlines.settings import Settings
from memlines.types import Problem, Progress

_UNUSUAL = re.compile(r"[^\w.-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class CopiedNotes(Merged):
    """What copying notes did; `failed` also names what could not be read.

    `left_out` names links and what cannot be a note, `attachments` counts the files that are not Markdown.
    """

    folder: str
    below: str
    attachments: int
    left_out: tuple[Problem, ...]


@dataclass(slots=True)
class _Listing:
    """What a walk over a folder found."""

    files: list[SourceFile] = field(default_factory=list)
    attachments: int = 0
    problems: list[Problem] = field(default_factory=list)


def import_vault(
    workspace: Workspace,
    settings: Settings,
    folder: Path,
    *,
    name: str | None = None,
    dry_run: bool = False,
    with_forgotten: bool = False,
    progress: Progress,
) -> CopiedNotes:
    """Copy the notes of a folder; a note that cannot be read stops no other."""
    root = check_folder(workspace, folder)
    plain = _UNUSUAL.sub("-", name or root.name).strip("-.") or "vault"
    if plain in IGNORED_DIRS:
        raise PathError(f"{plain!r} cannot be the name of a folder with notes", todo="Choose another --name")
    below = f"{NOTES_DIR}/{plain}"
    place_of(workspace, f"{below}/note{SUFFIX}")  # which refuses a name that could not be used
    found = _walk(root, below, settings.files.max_bytes)
    merging = partial(merge, workspace, settings, dry_run=dry_run, with_forgotten=with_forgotten)
    return _copy(merging, str(root), below, found, progress)


def copy_notes(
    workspace: Workspace,
    settings: Settings,
    folder: Path,
    *,
    dry_run: bool,
    with_forgotten: bool,
    progress: Progress,
) -> CopiedNotes:
    """Copy the notes of another workspace to the same places in this one."""
    root = check_folder(workspace, folder)
    there = discover(Workspace(root), (), settings.files.max_bytes)
    files = [SourceFile(file.path, file.real, file.root) for file in there.files]
    merging = partial(merge, workspace, settings, dry_run=dry_run, with_forgotten=with_forgotten)
    return _copy(merging, str(root), "", _Listing(files, 0, list(there.problems)), progress)


def check_folder(workspace: Workspace, folder: Path) -> Path:
    """Return the real path of a folder, or refuse one that is missing or part of the workspace."""
    named = expand_home(folder)
    try:
        root = named.resolve(strict=True)
    except FileNotFoundError:
        raise PathError(f"there is no folder {str(named)!r}", todo="Check its name") from None
    except (OSError, RuntimeError, ValueError) as error:
        raise PathError(
            f"{str(named)!r} cannot be opened: {reason_of(error)}", todo="Check its permissions"
        ) from error
    if not root.is_dir():
        raise PathError(f"{str(named)!r} is not a folder", todo="Name the folder that holds the notes")
    if contains(root, workspace.root) or contains(workspace.root / NOTES_DIR, root):
        raise PathError(
            f"{str(root)!r} is part of this workspace, or the workspace of it",
            todo="Name a folder with notes of another program",
        )
    return root


def _copy(
    merging: Callable[..., Merged], folder: str, below: str, found: _Listing, progress: Progress
) -> CopiedNotes:
    """Merge those of the files that were found which can be read as text."""
    sources: dict[Entry, SourceFile] = {}
    for done, file in enumerate(found.files, 1):
        progress(done, len(found.files), "reading")
        taken = file.read()
        if isinstance(taken, Problem):
            found.problems.append(taken)
        elif taken is not None:
            try:
                decode(taken[1])
            except ValueError as error:
                found.problems.append(Problem(file.path, str(error)))
            else:
                sources[taken[0]] = file

    def contents(wanted: Sequence[Entry]) -> Iterator[tuple[Entry, Content | Problem]]:
        for entry in wanted:
            taken = sources[entry].read()
            if taken is None or (isinstance(taken, tuple) and taken[0].sha256 != entry.sha256):
                taken = Problem(entry.path, "changed while it was copied", failed=True)
            yield entry, taken if isinstance(taken, Problem) else [taken[1]]

    merged = merging(list(sources), contents, progress=progress)
    failed = (*(problem for problem in found.problems if problem.failed), *merged.failed)
    return CopiedNotes(
        **(merged.values() | {"failed": failed}),
        folder=folder,
        below=below,
        attachments=found.attachments,
        left_out=tuple(problem for problem in found.problems if not problem.failed),
    )


def _walk(root: Path, below: str, max_bytes: int) -> _Listing:
    """List the notes of a folder in sorted order; links are not followed."""
    found = _Listing()
    for folder, entries, failure in walk(root):
        inside = f"{below}/{folder}" if folder else below
        if failure is not None:
            found.problems.append(Problem(inside, f"cannot be listed: {reason_of(failure)}", failed=True))
        entries[:] = [
            entry for entry in entries if not entry.name.startswith(".") and entry.name not in IGNORED_DIRS
        ]
        for entry in entries:
            file = SourceFile(f"{inside}/{entry.name}", root / folder / entry.name, root)
            try:
                _consider(entry, file, max_bytes, found)
            except OSError as error:
                reason = f"cannot be looked at: {reason_of(error)}"
                found.problems.append(Problem(printable(file.path), reason, failed=True))
    return found


def _consider(entry: os.DirEntry[str], file: SourceFile, max_bytes: int, found: _Listing) -> None:
    """Add a note to what was found, or why it cannot be one."""
    reason = ""
    if entry.is_symlink():
        reason = "is a symbolic link; links are not followed"
    elif entry.is_dir(follow_symlinks=False):
        return
    elif not entry.name.endswith(SUFFIX):
        found.attachments += 1
        return
    elif not is_unicode(file.path):
        reason = "has a name that is not valid UTF-8"
    elif not entry.is_file(follow_symlinks=False):
        reason = "is not a regular file"
    elif entry.stat(follow_symlinks=False).st_size > max_bytes:
        reason = f"is above the limit of {max_bytes / 1e6:g} MB (files.max_bytes)"
    if reason:
        found.problems.append(Problem(printable(file.path), reason))
    else:
        found.files.append(file)
