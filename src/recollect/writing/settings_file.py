"""Add settings to a settings file; what it holds stays as it is, byte by byte."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from recollect.beneath import make_own_folder
from recollect.errors import SettingsError, WriteError, reason_of
from recollect.files import atomic
from recollect.files.place import writing
from recollect.files.private import ensure_private
from recollect.paths import Workspace, user_config_file
from recollect.settings import is_trusted, keys_set_in, trust
from recollect.settings.config_file import read_project_file, read_user_file


def written_settings(values: Mapping[str, Any]) -> str:
    """Write settings the way a file holds them, a line each."""
    return "".join(f"{name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in values.items())


def add_to_user_file(values: Mapping[str, Any], heading: str) -> tuple[Path, list[str]]:
    """Add settings to the user's own file; return it, and the keys that it set before, which stay so."""
    file = user_config_file()
    content = read_user_file(file)
    changed, kept = _added(content or b"", values, heading, f"user file {file}")
    if changed != (content or b""):
        with _writing_errors(file):
            make_own_folder(file.parent)
            atomic.replace(file.resolve(), changed, content)
    return file, kept


def add_to_project_file(
    workspace: Workspace, values: Mapping[str, Any], heading: str
) -> tuple[Path, list[str]]:
    """Add settings to a project's file; return it, and the keys that it set before, which stay so.

    A file that is new, or that was trusted, is trusted with them: the user asked for these settings.
    """
    file = workspace.config_file
    ensure_private(workspace)
    with writing(workspace), _writing_errors(file):
        content = read_project_file(file)
        changed, kept = _added(content or b"", values, heading, f"project file {file}")
        if changed != (content or b""):
            may_trust = content is None or is_trusted(file)
            atomic.replace(file, changed, content, root=workspace.root)
            if may_trust:
                trust(file, changed)
    return file, kept


def _added(content: bytes, values: Mapping[str, Any], heading: str, origin: str) -> tuple[bytes, list[str]]:
    """Return a file's content with settings at its end, and the keys that it has already."""
    there = keys_set_in(content, origin)
    new = {name: value for name, value in values.items() if name not in there}
    kept = [name for name in values if name in there]
    if not new:
        return content, kept
    gap = b"\n" if content.strip() else b""
    end = b"" if not content or content.endswith(b"\n") else b"\n"
    changed = content + end + gap + f"# {heading}\n{written_settings(new)}".encode()
    try:
        is_whole = keys_set_in(changed, origin) == there | new.keys()
    except SettingsError:
        is_whole = False
    if not is_whole:
        raise SettingsError(
            f"{origin} is written in a way that nothing can be added to its end",
            todo="Write the settings into it by hand",
        )
    return changed, kept


@contextmanager
def _writing_errors(file: Path) -> Iterator[None]:
    try:
        yield
    except atomic.Changed:
        raise WriteError(f"{file} was changed by another program", todo="Try again") from None
    except OSError as error:
        raise WriteError(
            f"{file} cannot be written: {reason_of(error)}",
            todo="Check its permissions and the space on the disk",
        ) from error
