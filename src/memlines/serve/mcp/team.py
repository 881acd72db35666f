"""The clients of a team's server: each has a token and a server of its own, and all share the memories."""

from __future__ import annotations

import secrets
import threading
from pathlib import Path

from memlines.paths import Workspace
from memlines.serve.mcp.audit import Audit
from memlines.serve.mcp.server import Holder, Server
from memlines.serve.mcp.tokens import TokenFile
from memlines.serve.rpc.workplace import Workplace
from memlines.types import Scope


class Team:
    """The holders of the tokens in a file; there is one open memory for each set of scopes."""

    def __init__(self, folder: Path, file: Path) -> None:
        self._folder = folder
        self._tokens = TokenFile(file)
        self.audit = Audit(Workspace.at(folder))
        self._run = secrets.token_hex(4)
        self._lock = threading.Lock()
        self._places: dict[tuple[Scope, ...], Workplace] = {}

    def find(self, token: bytes) -> Server | None:
        """Return what answers the holder of a token, as the file is now."""
        found = self._tokens.find(token)
        if found is None:
            return None
        with self._lock:
            place = self._places.get(found.scopes)
            if place is None:
                place = Workplace(self._folder, {"scopes": list(found.scopes)})
                self._places[found.scopes] = place
        # Entries and facts that a client writes are marked with this, like its lines in the log.
        return Server(place, f"{found.name}-{self._run}", Holder(found, self.audit))

    def close(self) -> None:
        """Stop background work."""
        with self._lock:
            places = list(self._places.values())
        for place in places:
            place.close()
