"""The clients that Recollect can be set up in: one line each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from recollect.hosts import opencode
from recollect.hosts.plan import Target


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


HOSTS: Mapping[str, Host] = {
    opencode.NAME: Host("OpenCode", opencode.folder_of, opencode.targets, "opencode", "/memory status"),
}
"""Every client by its name on the command line."""
