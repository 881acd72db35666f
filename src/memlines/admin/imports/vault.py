"""Copy a folder of Markdown notes into the workspace: a vault of Obsidian, of basic-memory, or any other.

Notes go below `memory/<name>/` and keep their paths there. Nothing is overwritten: a note that is there
already is left alone, and where one differs both are kept. Whatever begins with a dot (`.obsidian`, `.trash`,
`.git`) is not looked at; attachments stay where they are.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from memlines.admin.backup.manifest import Content, Entry, Item, take
from memlines.admin.backup.merge import Merged, merge
from memlines.errors import PathError, reason_of
from memlines.files.place import place_of
from memlines.files.read import decode
from memlines.files.scan import IGNORED_DIRS, NOTES_DIR, SUFFIX, discover
from memlines.folders import Tree
from memlines.paths import Workspace, contains, expand_home, is_unicode
from memlines.settings import Settings
from memlines.types import Problem, Progress

_UNUSUAL = re.compile(r"[^\w.-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class CopiedNotes(Merged):
    """What copying notes did; `failed` also names what could not be read.

    `left_out` names links and what cannot be a note, `attachments` counts the files that are no Markdown.
    """

    folder: str
    below: str
    attachments: int
    left_out: tuple[Problem, ...]


@dataclass(slots=True)
class _Listing:
    """What a walk over a folder saw."""

    items: list[Item] = field(default_factory=list)
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
    """Copy the notes of a folder; a note that cannot be read takes no other with it."""
    root = check_folder(workspace, folder)
    below = f"{NOTES_DIR}/{_usable_name(workspace, name or root.name)}"
    seen = _Listing()
    _walk(root, below, settings.files.max_bytes, seen)
    merging = partial(merge, workspace, settings, dry_run=dry_run, with_forgotten=with_forgotten)
    return _copy(merging, str(root), below, seen, progress)


def copy_notes(
    workspace: Workspace,
    settings: Settings,
    root: Path,
    *,
    dry_run: bool,
    with_forgotten: bool = False,
    progress: Progress,
) -> CopiedNotes:
    """Copy the notes of another workspace to the same places in this one."""
    found = discover(Workspace(root), (), settings.files.max_bytes)
    seen = _Listing([Item(file.path, file.real, file.root) for file in found.files], 0, list(found.problems))
    merging = partial(merge, workspace, settings, dry_run=dry_run, with_forgotten=with_forgotten)
    return _copy(merging, str(root), "", seen, progress)


def check_folder(workspace: Workspace, folder: Path) -> Path:
    """Return where a folder really is, or refuse what is none or is part of the workspace."""
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
    merging: Callable[..., Merged], folder: str, below: str, seen: _Listing, progress: Progress
) -> CopiedNotes:
    entries: list[Entry] = []
    items: dict[str, Item] = {}
    for done, item in enumerate(seen.items, 1):
        progress(done, len(seen.items), "reading")
        entry = _entry(item, seen)
        if entry is not None:
            entries.append(entry)
            items[entry.path] = item

    def contents(wanted: Sequence[Entry]) -> Iterator[tuple[Entry, Content | Problem]]:
        for entry in wanted:
            yield entry, _content(entry, items[entry.path])

    merged = merging(entries, contents, progress=progress)
    values = merged.values()
    values["failed"] = (*(problem for problem in seen.problems if problem.failed), *merged.failed)
    return CopiedNotes(
        **values,
        folder=folder,
        below=below,
        attachments=seen.attachments,
        left_out=tuple(problem for problem in seen.problems if not problem.failed),
    )


def _entry(item: Item, seen: _Listing) -> Entry | None:
    """Return a note as it is now, or note why it is none."""
    taken = take(item)
    if isinstance(taken, Problem):
        seen.problems.append(taken)
    if taken is None or isinstance(taken, Problem):
        return None
    entry, content = taken
    try:
        decode(content)
    except ValueError as error:
        seen.problems.append(Problem(item.path, str(error)))
        return None
    return entry


def _content(entry: Entry, item: Item) -> Content | Problem:
    taken = take(item)
    if isinstance(taken, Problem):
        return taken
    if taken is None or taken[0].sha256 != entry.sha256:
        return Problem(entry.path, "changed while it was copied", failed=True)
    return [taken[1]]


def _usable_name(workspace: Workspace, name: str) -> str:
    """Return the name of the folder below `memory/`, or refuse one that could not be used."""
    plain = _UNUSUAL.sub("-", name).strip("-.") or "vault"
    if plain in IGNORED_DIRS:
        raise PathError(f"{name!r} cannot be the name of a folder with notes", todo="Choose another --name")
    place_of(workspace, f"{NOTES_DIR}/{plain}/note{SUFFIX}")
    return plain


def _walk(root: Path, below: str, max_bytes: int, seen: _Listing) -> None:
    """List the notes of a folder in sorted order; links are not followed."""
    pending = [""]
    with Tree(root) as tree:
        while pending:
            folder = pending.pop()
            inside = f"{folder}/" if folder else ""
            deeper = []
            try:
                with tree.enter(folder).scan() as listing:
                    entries = sorted(listing, key=lambda entry: entry.name)
            except (OSError, PathError) as error:
                path = f"{below}/{folder}".rstrip("/")
                seen.problems.append(Problem(path, f"cannot be listed: {reason_of(error)}", failed=True))
                continue
            for entry in entries:
                if entry.name.startswith(".") or entry.name in IGNORED_DIRS:
                    continue
                relative = inside + entry.name
                item = Item(f"{below}/{relative}", tree.path_of(relative), tree.root)
                try:
                    if _consider(entry, item, max_bytes, seen):
                        deeper.append(relative)
                except OSError as error:
                    reason = f"cannot be looked at: {reason_of(error)}"
                    seen.problems.append(Problem(_printable(item.path), reason, failed=True))
            pending.extend(reversed(deeper))


def _consider(entry: os.DirEntry[str], item: Item, max_bytes: int, seen: _Listing) -> bool:
    """Take a note; return whether the entry is a folder to look into."""
    path = item.path
    if entry.is_symlink():
        seen.problems.append(Problem(_printable(path), "is a symbolic link; links are not followed"))
        return False
    if entry.is_dir(follow_symlinks=False):
        return True
    if not entry.name.endswith(SUFFIX):
        seen.attachments += 1
    elif not is_unicode(path):
        seen.problems.append(Problem(_printable(path), "has a name that is not valid UTF-8"))
    elif not entry.is_file(follow_symlinks=False):
        seen.problems.append(Problem(path, "is not a regular file"))
    elif entry.stat(follow_symlinks=False).st_size > max_bytes:
        seen.problems.append(Problem(path, f"is above the limit of {max_bytes / 1e6:g} MB (files.max_bytes)"))
    else:
        seen.items.append(item)
    return False


def _printable(path: str) -> str:
    return path if is_unicode(path) else os.fsencode(path).decode("utf-8", "backslashreplace")
