"""The remote providers; their modules are imported when one is chosen."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memlines.settings.tree import SERVICES

if TYPE_CHECKING:
    from memlines.embed.remote.api import Api


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a provider's shapes are and which variables may hold its key."""

    module: str
    attribute: str
    keys: tuple[str, ...] = ()
    """In the order they are looked at; a provider without any works without a key as well."""

    def load(self) -> Api:
        """Return the provider's shapes."""
        module = importlib.import_module(f"memlines.embed.remote.{self.module}")
        api: Api = getattr(module, self.attribute)()
        return api


REMOTE = {name: Entry(*service) for name, service in SERVICES.items()}
