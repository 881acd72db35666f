"""Change a settings file, the user's or a project's: set or remove one key, add several, switch a memory off.

All else in the file stays as it is, byte by byte.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from memlines.errors import SettingsError, WriteError, reason_of
from memlines.files import atomic
from memlines.files.place import ensure_private, writing
from memlines.folders import make_own_folder, make_private
from memlines.paths import Workspace, user_config_file
from memlines.settings import is_trusted, load, trust
from memlines.settings.loading import refuse_project_content, settings_in
from memlines.settings.trusted_files import read_project_file, read_user_file

Change = Callable[[bytes, str], bytes]
"""Returns the new content of a file for the present one; the text is what messages call the file."""

_PRIVATE = 0o600


def format_settings(values: Mapping[str, Any]) -> str:
    """Write settings the way a file holds them, a line each."""
    return "".join(f"{name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in values.items())


def change_user_file(change: Change) -> bool:
    """Change the user's own file, and close it to others, as it may hold keys; return whether it changed."""
    named = user_config_file()
    content = read_user_file(named)
    changed = change(content or b"", f"user file {named}")
    if changed == (content or b""):
        return False
    file = named.resolve()  # it may be a link, as dotfiles often are, and stays one
    with _writing_errors(f"user file {named}"):
        make_own_folder(file.parent)
        if content is not None:
            make_private(file)
            atomic.replace(file, changed, content)
        elif not atomic.create(file, changed, _PRIVATE):
            raise atomic.Changed
    return True


def change_project_file(workspace: Workspace, change: Change, *, trust_new: bool = False) -> bool:
    """Change a project's file; return whether it changed.

    One that was trusted stays so: its user asked for the change. Any other may set only what needs no trust,
    before and after the change; with `trust_new` only before, and the file is then trusted with the change.
    """
    file = workspace.config_file
    ensure_private(workspace)
    with writing(workspace), _writing_errors(f"project file {file}"):
        content = read_project_file(file)
        changed = change(content or b"", f"project file {file}")
        if changed == (content or b""):
            return False
        if trust_new:
            refuse_project_content(file, content or b"")
        may_trust = trust_new or is_trusted(file)
        refuse_project_content(file, changed, trusted=may_trust)
        atomic.replace(file, changed, content, root=workspace.root)
        if may_trust:
            trust(file, changed)
    return True


def add_settings(
    values: Mapping[str, Any], heading: str, workspace: Workspace | None
) -> tuple[Path, list[str]]:
    """Add settings to the user's own file, or to a project's; return the file and the keys it set before.

    Those stay as they are. A project's file is trusted with the settings, because the user asked for them;
    it is refused if it needs trust without them and has none.
    """
    kept: list[str] = []

    def change(content: bytes, origin: str) -> bytes:
        there = settings_in(content, origin)
        kept[:] = [name for name in values if name in there]
        new = {name: value for name, value in values.items() if name not in there}
        if not new:
            return content
        gap = b"\n" if content.strip() else b""
        end = b"" if not content or content.endswith(b"\n") else b"\n"
        changed = content + end + gap + f"# {heading}\n{format_settings(new)}".encode()
        if (_parse(changed) or {}).keys() != there.keys() | new.keys():
            raise SettingsError(
                f"{origin} is written in a way that nothing can be added to its end",
                todo="Write the settings into it by hand",
            )
        return changed

    if workspace is None:
        change_user_file(change)
        return user_config_file(), kept
    change_project_file(workspace, change, trust_new=True)
    return workspace.config_file, kept


def _parse(content: bytes) -> dict[str, Any] | None:
    """Return what a changed file sets; nothing if it cannot be read any more."""
    try:
        return settings_in(content, "the changed file")
    except SettingsError:
        return None


@contextmanager
def _writing_errors(origin: str) -> Iterator[None]:
    try:
        yield
    except atomic.Changed:
        raise WriteError(f"{origin} was changed by another program", todo="Try again") from None
    except OSError as error:
        raise WriteError(
            f"{origin} cannot be written: {reason_of(error)}",
            todo="Check its permissions and the space on the disk",
        ) from error


def write_settings(
    values: Mapping[str, Any], workspace: Workspace | None = None, *, trust_new: bool = False
) -> bool:
    """Set keys in the user's own file, or in a project's; return whether that changed the file.

    With `trust_new`, a project's file is trusted with them, but refused if it needs trust without them and
    has none. A key whose value is None is removed. All keys are written or none; the rest of the file stays
    as it is.
    """

    def change(content: bytes, origin: str) -> bytes:
        from memlines.settings.yaml_text import with_value, without

        before = settings_in(content, origin)
        removed = {name for name, value in values.items() if value is None}
        expected = {name: value for name, value in {**before, **values}.items() if name not in removed}
        text = content.decode("utf-8")
        for key, value in values.items():
            if value is None:
                text = without(text, key) if key in before else text
            elif key not in before or before[key] != value:
                text = with_value(text, key, value)
        if _parse(text.encode()) != expected:
            raise SettingsError(
                f"{origin} is written in a way that cannot be changed line by line",
                todo=f"Change {', '.join(values)} in it by hand",
            )
        return text.encode()

    return (
        change_user_file(change)
        if workspace is None
        else change_project_file(workspace, change, trust_new=trust_new)
    )


def switch(workspace: Workspace, *, on: bool) -> bool:
    """Write whether memory is used into the project's settings; return whether that changed anything."""
    content = read_project_file(workspace.config_file)
    own = settings_in(content or b"", f"project file {workspace.config_file}").get("enabled")
    if on and own is None:
        loaded = load(workspace)
        if loaded.settings.enabled or not loaded.origins["enabled"].startswith("project file"):
            return False  # no file of the project switches it off
    return write_settings({"enabled": on}, workspace)
