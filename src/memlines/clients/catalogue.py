"""The clients that Memlines can be set up in: one line each."""

from __future__ import annotations

from collections.abc import Mapping

from memlines.clients import claude_code, codex, opencode
from memlines.clients.client import Client

CLIENTS: Mapping[str, Client] = {
    module.CLIENT.name: module.CLIENT for module in (opencode, claude_code, codex)
}
"""Every client by its name on the command line."""
