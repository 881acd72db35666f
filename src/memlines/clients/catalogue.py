"""The clients that Memlines can be set up in: one line each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from memlines.clients import claude_code, codex, opencode
from memlines.clients.plan import Target


@dataclass(frozen=True, slots=True)
class Host:
    """A client: where its settings are, what belongs there, and what to try first in it.

    Each function takes the folder of a project, or nothing for the settings of the user.
    """

    title: str
    folder_of: Callable[[Path | None], Path]
    targets: Callable[[Path | None], tuple[Target, ...]]
    program: str
    first_try: str
    python_of: Callable[[Path | None], Path | None]
    """The interpreter that an installation named, if that can be told."""

    if_both: str = "where both are found, it runs once"
    """What happens where it is installed for a project and for all of them."""


HOSTS: Mapping[str, Host] = {
    opencode.NAME: Host(
        "OpenCode", opencode.folder_of, opencode.targets, "opencode", "/memory status", opencode.python_of
    ),
    claude_code.NAME: Host(
        "Claude Code",
        claude_code.folder_of,
        claude_code.targets,
        "claude",
        "/memlines status",
        claude_code.python_of,
    ),
    codex.NAME: Host(
        "Codex",
        codex.folder_of,
        codex.targets,
        "codex",
        codex.FIRST_TRY,
        codex.python_of,
        "its hooks would run twice, so take one of the two out",
    ),
}
"""Every client by its name on the command line."""
