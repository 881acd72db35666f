"""What tests of notes need of an open memory."""

from __future__ import annotations

from memlines.memory.manager import Manager
from memlines.paths import Workspace
from memlines.settings import Loaded, Settings

IN_UTC = Settings(timezone="UTC")


def manager_of(home: Workspace, settings: Settings = IN_UTC) -> Manager:
    """Return the manager of a workspace with these settings; nothing is open or indexed."""
    return Manager(home, Loaded(settings, {}))
