"""Set or take out one setting in a settings file, and switch the memory of a project off and on."""

from __future__ import annotations

from typing import Any

from memlines.errors import SettingsError
from memlines.memory.notes.settings_file import change_project_file, change_user_file
from memlines.paths import Workspace
from memlines.settings import load
from memlines.settings.config_file import read_project_file
from memlines.settings.loading import settings_in


def write_setting(key: str, value: Any, workspace: Workspace | None = None) -> bool:
    """Set a key in the user's own file, or in a project's; return whether that changed the file.

    With None as the value the key is taken out. The rest of the file stays as it is.
    """

    def change(content: bytes, origin: str) -> bytes:
        return _changed(content, key, value, origin)

    return change_user_file(change) if workspace is None else change_project_file(workspace, change)


def switch(workspace: Workspace, *, on: bool) -> bool:
    """Write whether memory is used into the project's settings; return whether that changed anything."""
    content = read_project_file(workspace.config_file)
    own = settings_in(content or b"", f"project file {workspace.config_file}").get("enabled")
    if on and own is None:
        loaded = load(workspace)
        if loaded.settings.enabled or not loaded.origins["enabled"].startswith("project file"):
            return False  # no file of the project switches it off
    return write_setting("enabled", on, workspace)


def _changed(content: bytes, key: str, value: Any, origin: str) -> bytes:
    """Return the new content of a file."""
    from memlines.settings.edit_text import with_value, without

    before = settings_in(content, origin)
    text = content.decode("utf-8")
    if value is None:
        expected = {name: old for name, old in before.items() if name != key}
        changed = without(text, key).encode() if key in before else content
    else:
        expected = {**before, key: value}
        changed = with_value(text, key, value).encode() if before != expected else content
    try:
        is_as_meant = settings_in(changed, "the changed file") == expected
    except SettingsError:
        is_as_meant = False
    if not is_as_meant:
        raise SettingsError(
            f"{origin} is written in a way that cannot be changed line by line",
            todo=f"Change {key} in it by hand",
        )
    return changed
