"""Whose conversation a transcript is by its name, and whether transcripts may be looked at."""

from __future__ import annotations

from memlines.errors import SettingsError
from memlines.memory.conversations.converting import WRITTEN_FOR
from memlines.settings import Settings
from memlines.transcripts.hosts import HOSTS, PREFIX, host_of

SWITCH_ON = (
    "Set sources to [memory, sessions], and sessions.clients to the clients whose transcripts are to be read "
    f"({', '.join(HOSTS)})"
)


def client_of(path: str) -> str:
    """Return the client a transcript is from; one that was brought in says so at its beginning."""
    if not path.startswith(PREFIX):
        return ""
    name = path.removeprefix(PREFIX)
    brought_in = [client for client in WRITTEN_FOR if "/" not in name and name.startswith(f"{client}-")]
    return brought_in[0] if brought_in else host_of(path).name


def refuse_unless_on(settings: Settings) -> None:
    """Raise where the settings do not ask for sessions: nobody looks at a conversation unasked."""
    if "sessions" not in settings.sources:
        raise SettingsError("the setting 'sources' does not ask for sessions", todo=SWITCH_ON)
