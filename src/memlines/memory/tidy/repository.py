"""What there is in the git repository around a workspace, read from its files: paths, branches, code.

No program is started and nothing is asked over a network. Looking is bounded, and what could not be looked at
completely is taken for being there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from memlines.files.scan import IGNORED_DIRS, NOTES_DIR, ROOT_FILES, SESSIONS_DIR
from memlines.paths import PRIVATE_DIR, Workspace
from memlines.worktrees import main_worktree, repository_above

_MOST_FILES = 20_000
_MOST_BYTES = 64_000_000
_LARGEST_FILE = 2_000_000
_MOST_REFS_BYTES = 4_000_000
"""How much is looked at for names in code, and how large a list of branches may be."""

_CODE = re.compile(
    r"\.(?:py|[cm]?[jt]sx?|go|rs|java|kt|rb|php|c|h|cc|cpp|hpp|cs|swift|scala|ex|exs|sh|sql|vue|svelte|lua|pl)$"
)
"""How the names of files end that hold code; without one, no name is missing from the code."""

_REMOTE = re.compile(
    r"^\s*url\s*=\s*(?:[a-z+]+://(?:[^/@\s]*@)?|[^@\s/]+@)([\w.-]+)(?::\d+)?[:/](\S+?)(?:\.git)?/?$"
)


class Repository:
    """The repository that a workspace is in."""

    def __init__(self, workspace: Workspace, root: Path, git: Path) -> None:
        self.root = root
        self.workspace = workspace
        self._git = git

    @classmethod
    def around(cls, workspace: Workspace) -> Repository | None:
        """Return the repository of a workspace, if it is in one."""
        root = repository_above(str(workspace.root))
        if root is None:
            return None
        linked = main_worktree(root)
        git = Path(linked[1] if linked else root) / ".git"
        return cls(workspace, Path(root), git) if git.is_dir() else None

    def holds(self, path: str) -> bool:
        """Return whether a path, from the root, the workspace or further down, leads to something."""
        if any(os.path.lexists(base / path) for base in (self.root, self.workspace.root)):
            return True
        files, folders, is_complete = self._listed
        return not is_complete or any(name.endswith(f"/{path}") for name in (*files, *folders))

    def may_hold(self, path: str) -> bool:
        """Return whether a path looks like one of this repository.

        The folder that it begins with is there, and files with the same ending are in it.
        """
        top, _, below = path.partition("/")
        if not below or top in self._ignored or top == PRIVATE_DIR:
            return False
        is_there = any(os.path.lexists(f"{base / top}/") for base in (self.root, self.workspace.root))
        ending = re.search(r"\.\w+$", path)
        if ending is None or (is_there and top == NOTES_DIR):
            return is_there
        files, folders, _ = self._listed
        wanted = top if is_there else path.rpartition("/")[0]
        places = tuple(f"{name}/" for name in folders if f"/{name}".endswith(f"/{wanted}"))
        return any(file.startswith(places) and file.endswith(ending[0]) for file in files)

    def find_moved(self, path: str) -> str:
        """Return the only other path of a file with the same name in the same top folder, if there is one."""
        top, name = path.partition("/")[0], path.rpartition("/")[2]
        found = [file for file in self._listed[0] if file.rpartition("/")[2] == name]
        is_sure = len(found) == 1 and "." in name and self._listed[2] and found[0].startswith(f"{top}/")
        return found[0] if is_sure else ""

    def has_module(self, name: str) -> bool:
        """Return whether a file or a folder is named like a module of this repository."""
        files, folders, _ = self._listed
        names = (path.rpartition("/")[2] for path in (*files, *folders))
        return any(one.partition(".")[0].casefold() == name.casefold() for one in names)

    @cached_property
    def branches(self) -> frozenset[str]:
        """The names of branches and tags, those of remotes with and without theirs; none if unknown."""
        if (self._git / "reftable").exists():
            return frozenset()
        names = [line.split(" ")[-1] for line in _lines_of(self._git / "packed-refs") if "refs/" in line]
        for folder, _, files in os.walk(self._git / "refs"):
            below = Path(folder).relative_to(self._git).as_posix()
            names += [f"{below}/{file}" for file in files]
        found = set()
        for name in names:
            _, _, kind_and_rest = name.partition("refs/")
            kind, _, rest = kind_and_rest.partition("/")
            if kind in ("heads", "tags", "remotes"):
                found.add(rest)
            if kind == "remotes":
                found.add(rest.partition("/")[2])
        return frozenset(found)

    @cached_property
    def remotes(self) -> frozenset[str]:
        """The repositories that it is a copy of, as `host/owner/name`."""
        found = (_REMOTE.match(line) for line in _lines_of(self._git / "config"))
        return frozenset(f"{one[1]}/{one[2]}".casefold() for one in found if one)

    def missing_names(self, names: Collection[str]) -> set[str]:
        """Return the names that are in no text file of the repository, notes excepted."""
        files, _, is_complete = self._listed
        if not any(map(_CODE.search, files)):
            return set()
        missing = {name: name.encode() for name in names}
        room = _MOST_BYTES
        for file in files if is_complete else ():
            if not missing:
                break
            with suppress(OSError), (self.root / file).open("rb") as stream:
                content = stream.read(_LARGEST_FILE)
                room -= len(content)
                for name in [name for name, word in missing.items() if word in content]:
                    del missing[name]
        return set(missing) if is_complete and room > 0 else set()

    @cached_property
    def _ignored(self) -> frozenset[str]:
        """Names that git ignores at the top, such as `build`: what is in there comes and goes."""
        return frozenset(line.strip().strip("/") for line in _lines_of(self.root / ".gitignore"))

    @cached_property
    def _listed(self) -> tuple[list[str], list[str], bool]:
        """The files and folders of the repository but its notes, and whether that is all of them."""
        files: list[str] = []
        folders: list[str] = []
        notes = {self.workspace.root / name for name in (NOTES_DIR, SESSIONS_DIR, *ROOT_FILES)}
        for here, inner, names in os.walk(self.root):
            place = Path(here)
            inner[:] = sorted(one for one in inner if one not in IGNORED_DIRS and place / one not in notes)
            below = "" if place == self.root else f"{place.relative_to(self.root).as_posix()}/"
            folders += [f"{below}{name}" for name in inner]
            files += [f"{below}{name}" for name in names if place / name not in notes and name != ".git"]
            if len(files) > _MOST_FILES:
                return files, folders, False
        return files, folders, True


def _lines_of(file: Path) -> list[str]:
    """Return the lines of a small text file; none if it is missing, too large or a link."""
    try:
        if file.is_symlink() or file.stat().st_size > _MOST_REFS_BYTES:
            return []
        return file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
