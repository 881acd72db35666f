"""Switch the memory of a workspace off and on again, in its own settings file."""

from __future__ import annotations

import re
from typing import Any

from recollect.errors import SettingsError, WriteError, reason_of
from recollect.files import atomic
from recollect.files.place import writing
from recollect.files.private import ensure_private
from recollect.paths import Workspace
from recollect.settings import is_trusted, trust
from recollect.settings.config_file import read_project_file

_KEY = re.compile(r"""^((?:enabled|"enabled"|'enabled')[ \t]*:[ \t]*)[^\s#]+""", re.MULTILINE)
_BEGINNING = re.compile(r"(?:\ufeff)?(?:---[ \t]*\r?\n)?")


def switch(workspace: Workspace, *, on: bool) -> bool:
    """Write whether memory is used into the project's settings; return whether that changed anything.

    The rest of the file stays as it is. A file that was trusted is trusted with the new value as well: that
    value narrows what is done, or takes the narrowing back.
    """
    file = workspace.config_file
    ensure_private(workspace)
    with writing(workspace):
        content = read_project_file(file)
        origin = f"project file {file}"
        before = _settings_in(content or b"", origin)
        if before.get("enabled", True) is on:
            return False
        changed = _with_value((content or b"").decode("utf-8-sig"), on=on).encode()
        if _parsed(changed) != {**before, "enabled": on}:
            raise SettingsError(
                f"{origin} is written in a way that cannot be changed line by line",
                todo=f"Write 'enabled: {str(on).lower()}' into it by hand",
            )
        was_trusted = content is not None and is_trusted(file)
        try:
            atomic.replace(file, changed, content, root=workspace.root)
        except atomic.Changed:
            raise WriteError(f"{origin} was changed by another program", todo="Try again") from None
        except OSError as error:
            raise WriteError(
                f"{origin} cannot be written: {reason_of(error)}",
                todo="Check its permissions and the space on the disk",
            ) from error
        if was_trusted:
            trust(file, changed)
    return True


def _settings_in(content: bytes, origin: str) -> dict[str, Any]:
    from recollect.settings.yaml_text import parse

    return parse(content, origin)


def _parsed(content: bytes) -> dict[str, Any] | None:
    """Return what a text of our own making holds; nothing if it is no settings file."""
    try:
        return _settings_in(content, "the changed file")
    except SettingsError:
        return None


def _with_value(text: str, *, on: bool) -> str:
    value = str(on).lower()
    if _KEY.search(text):
        return _KEY.sub(rf"\g<1>{value}", text, count=1)
    beginning = _BEGINNING.match(text)
    at = beginning.end() if beginning else 0
    end = "\r\n" if "\r\n" in text else "\n"
    return f"{text[:at]}enabled: {value}{end}{text[at:]}"
