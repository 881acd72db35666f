"""Find the worktrees of a git repository by its files, without starting git.

In a linked worktree, `.git` is a file that names a folder below `.git/worktrees` of the main one, and the
file `gitdir` there names it back. Both must agree, so that no file that came with a folder leads to the notes
of another repository. A submodule and a bare repository have no main worktree.

Only `os` is imported, and names of files are plain strings: the command of a hook asks this too, and must
start at once.
"""
# ruff: noqa: PTH110, PTH112, PTH113, PTH114, PTH118, PTH119, PTH120, PTH123, PTH208

from __future__ import annotations

import os

MARKS = ("MEMORY.md", ".memory")
"""What a folder with a memory has, either of them."""

_MOST_BYTES = 8_192
"""How long a file that names a folder may be."""


def memory_of(folder: str, *, shared: bool = True) -> str | None:
    """Return the nearest folder from a real one upwards that has a memory, if there is one.

    A linked worktree without a memory has that of the main one, which is nearer than any above it. If it is
    not `shared`, there is none.
    """
    above = folder
    while not has_memory(above):
        parent = os.path.dirname(above)
        if os.path.isfile(os.path.join(above, ".git")) and (linked := main_worktree(above)):
            if not shared:
                return None
            found = memory_of(os.path.normpath(os.path.join(linked[1], os.path.relpath(folder, above))))
            return found if found and is_below(found, linked[1]) else memory_of(parent)
        if parent == above:
            return None
        above = parent
    return above


def has_memory(folder: str) -> bool:
    """Return whether a folder has a memory."""
    return any(os.path.exists(os.path.join(folder, mark)) for mark in MARKS)


def is_below(path: str, folder: str) -> bool:
    """Return whether a real path is a folder itself or below it."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def repository_above(folder: str) -> str | None:
    """Return the root of the worktree, main or linked, or of the submodule that a folder is in, if any."""
    above = folder
    while not os.path.lexists(os.path.join(above, ".git")):
        parent = os.path.dirname(above)
        if parent == above:
            return None
        above = parent
    return above


def main_worktree(folder: str) -> tuple[str, str] | None:
    """Return the root of the linked worktree that a real folder is in, if it is in one, and the main root."""
    root = repository_above(folder)
    if root is None:
        return None
    own = _named_in(os.path.join(root, ".git"), "gitdir: ")
    shared = _named_in(os.path.join(own, "commondir")) if own else ""
    is_listed = bool(shared) and os.path.dirname(own) == os.path.join(shared, "worktrees")
    if not is_listed or os.path.basename(shared) != ".git":
        return None
    if _named_in(os.path.join(own, "gitdir")) != os.path.join(root, ".git"):
        return None
    return root, os.path.dirname(shared)


def git_folder(root: str) -> str | None:
    """Return the folder with the commits of a worktree or a submodule; nothing if it may be of another.

    A `.git` that came with a folder may be a link, or name the repository of someone else.
    """
    place = os.path.join(root, ".git")
    if os.path.islink(place):
        return None
    if os.path.isdir(place):
        is_led_away = os.path.lexists(os.path.join(place, "commondir"))
        is_linked = any(os.path.islink(os.path.join(place, name)) for name in ("objects", "refs"))
        return None if is_led_away or is_linked else place
    if linked := main_worktree(root):
        return git_folder(linked[1])
    named, around = _named_in(place, "gitdir: "), repository_above(os.path.dirname(root))
    if not named or around in (None, root):
        return None
    outer = git_folder(around)  # of the repository that a submodule belongs to
    return named if outer and named != outer and is_below(named, outer) else None


def linked_worktrees(folder: str) -> list[str]:
    """Return the folder in every linked worktree that a real folder of the main one is there, if it is."""
    root = repository_above(folder)
    if root is None or not os.path.isdir(os.path.join(root, ".git")):
        return []
    below = os.path.relpath(folder, root)
    listed = os.path.join(root, ".git", "worktrees")
    try:
        names = sorted(os.listdir(listed))
    except OSError:
        return []
    named = [_named_in(os.path.join(listed, name, "gitdir")) for name in names]
    roots = [os.path.dirname(one) for one in named if one and main_worktree(os.path.dirname(one))]
    places = [os.path.normpath(os.path.join(one, below)) for one in roots]
    return [place for place in places if os.path.isdir(place)]


def _named_in(file: str, before: str = "") -> str:
    """Return the real path that a small file names behind some letters; nothing if it does not."""
    try:
        if os.path.islink(file) or not os.path.isfile(file):
            return ""
        with open(file, "rb") as stream:
            content = stream.read(_MOST_BYTES + 1)
        text = os.fsdecode(content).strip("\r\n")
        if len(content) > _MOST_BYTES or not text.startswith(before) or "\0" in text or "\n" in text:
            return ""
        path = text.removeprefix(before)
        return os.path.realpath(os.path.join(os.path.dirname(file), path)) if path else ""
    except OSError:
        return ""
