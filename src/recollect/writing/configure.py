"""Write one setting into the user's or a project's settings file, and switch the memory of a project."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from recollect.beneath import make_own_folder, make_private
from recollect.errors import SettingsError, WriteError, reason_of
from recollect.files import atomic
from recollect.files.place import writing
from recollect.files.private import ensure_private
from recollect.paths import Workspace, user_config_file
from recollect.settings import is_trusted, load, trust
from recollect.settings.config_file import read_project_file, read_user_file
from recollect.settings.loading import refuse_project_content, settings_in

_PRIVATE = 0o600


def write_user_setting(key: str, value: Any) -> Path | None:
    """Set a key in the user's own file, or take it out if the value is None; return the file if it changed.

    The rest of the file stays as it is. It is closed to others, because it may hold keys.
    """
    named = user_config_file()
    content = read_user_file(named)
    changed = _changed(content, key, value, f"user file {named}")
    if changed is None:
        return None
    file = named.resolve()  # it may be a link, as dotfiles often are, and stays one

    def write() -> None:
        make_own_folder(file.parent)
        if content is None:
            if not atomic.create(file, changed, _PRIVATE):
                raise atomic.Changed
            return
        make_private(file)
        atomic.replace(file, changed, content)

    _written(write, f"user file {named}")
    return named


def write_project_setting(workspace: Workspace, key: str, value: Any) -> Path | None:
    """Set a key in a project's file, or take it out if the value is None; return the file if it changed.

    The rest of the file stays as it is. What a project may not set is refused, unless its file is trusted,
    which it is with the new value as well: the user gave it.
    """
    file = workspace.config_file
    ensure_private(workspace)
    with writing(workspace):
        content = read_project_file(file)
        changed = _changed(content, key, value, f"project file {file}")
        if changed is None:
            return None
        was_trusted = content is not None and is_trusted(file)
        if not was_trusted:
            refuse_project_content(file, changed)
        _written(lambda: atomic.replace(file, changed, content, root=workspace.root), f"project file {file}")
        if was_trusted:
            trust(file, changed)
    return file


def switch(workspace: Workspace, *, on: bool) -> bool:
    """Write whether memory is used into the project's settings; return whether that changed anything."""
    content = read_project_file(workspace.config_file)
    own = settings_in(content or b"", f"project file {workspace.config_file}").get("enabled")
    if on and own is None:
        loaded = load(workspace)
        if loaded.settings.enabled or not loaded.origins["enabled"].startswith("project file"):
            return False  # no file of the project switches it off
    return write_project_setting(workspace, "enabled", on) is not None


def _changed(content: bytes | None, key: str, value: Any, origin: str) -> bytes | None:
    """Return the new content of a file, or None if it says so already."""
    from recollect.settings.edit_text import with_value, without

    before = settings_in(content or b"", origin)
    if before.get(key) == value:
        return None
    text = (content or b"").decode("utf-8")
    if value is None:
        expected = {name: old for name, old in before.items() if name != key}
        changed = without(text, key).encode()
    else:
        expected = {**before, key: value}
        plain = dict(value) if value and isinstance(value, tuple) and isinstance(value[0], tuple) else value
        changed = with_value(text, key, list(plain) if isinstance(plain, tuple) else plain).encode()
    try:
        after = settings_in(changed, "the changed file")
    except SettingsError:
        after = {}
    if after != expected:
        raise SettingsError(
            f"{origin} is written in a way that cannot be changed line by line",
            todo=f"Change {key} in it by hand",
        )
    return changed


def _written(write: Callable[[], object], origin: str) -> None:
    try:
        write()
    except atomic.Changed:
        raise WriteError(f"{origin} was changed by another program", todo="Try again") from None
    except OSError as error:
        raise WriteError(
            f"{origin} cannot be written: {reason_of(error)}",
            todo="Check its permissions and the space on the disk",
        ) from error
