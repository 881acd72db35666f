"""Find the workspace to use where none is named."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from memlines.errors import SettingsError, WorkspaceError
from memlines.old_name import get_variable, old_variable
from memlines.paths import WORKSPACE_VARIABLE, expand_home, user_config_file
from memlines.settings.loading import load
from memlines.worktrees import is_below, main_worktree, memory_of

_NEAREST = "the nearest folder with MEMORY.md or .memory"
_IN_MAIN = "the main worktree of this repository"


class FoundWorkspace(NamedTuple):
    """A folder with notes, and what says that it is meant."""

    folder: Path
    origin: str


def find_workspace(
    start: Path | None = None, last_resort: Path | None = None, overrides: Mapping[str, Any] | None = None
) -> FoundWorkspace:
    """Return the workspace of a folder, which is the current one by default.

    Looks at `workspace` in `overrides`, the variable, the nearest folder upwards that is a workspace, and
    `workspace` in the user's settings. Without any of these it is the last resort, or the folder itself. A
    linked worktree of a git repository without a workspace of its own belongs to the main one.
    """
    chosen = _chosen(overrides) if overrides else None
    if chosen and chosen.origin.startswith("argument"):
        return chosen
    if named := get_variable(WORKSPACE_VARIABLE):
        variable = (
            WORKSPACE_VARIABLE if WORKSPACE_VARIABLE in os.environ else old_variable(WORKSPACE_VARIABLE)
        )
        return _existing(expand_home(named).absolute(), f"environment variable {variable}")
    start = start or current_folder()
    here = os.path.realpath(start)
    linked = main_worktree(here)
    shared = linked is not None and shares_worktrees(overrides)
    if found := memory_of(here, shared=shared):
        is_main = linked is not None and not is_below(found, linked[0])
        return FoundWorkspace(Path(found), _IN_MAIN if is_main else _NEAREST)
    if named_in_settings := chosen or _chosen():
        return named_in_settings
    if linked and shared:
        return FoundWorkspace(Path(linked[1]), _IN_MAIN)
    return FoundWorkspace(last_resort or start, "the current folder")


def shares_worktrees(overrides: Mapping[str, Any] | None = None) -> bool:
    """Return whether the worktrees of a repository share one memory."""
    try:
        return load(None, overrides).settings.worktrees == "shared"
    except SettingsError:  # raised again when the settings of the workspace are loaded
        return True


def current_folder() -> Path:
    """Return the folder that this runs in."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise WorkspaceError(
            "the folder this runs in does not exist any more",
            todo="Change to another one, or name one with --workspace",
        ) from None


def _chosen(overrides: Mapping[str, Any] | None = None) -> FoundWorkspace | None:
    """Return the workspace that the settings name; in a file it is relative to that file."""
    try:
        loaded = load(None, overrides)
    except SettingsError:  # raised again when the settings of the workspace are loaded
        return None
    if not loaded.settings.workspace:
        return None
    origin = loaded.origins["workspace"]
    base = user_config_file().parent if origin.startswith("user file") else current_folder()
    return _existing(base.absolute() / expand_home(loaded.settings.workspace), origin)


def _existing(folder: Path, origin: str) -> FoundWorkspace:
    if not folder.is_dir():
        raise WorkspaceError(
            f"the workspace {str(folder)!r} from {origin} does not exist, or is not a folder",
            todo="Create it with 'memlines init FOLDER', or name another folder there",
        )
    return FoundWorkspace(folder, origin)
