"""The settings: one tree with defaults, and where every value came from.

Later sources win: defaults, the user's file, the project's files (harmless keys only, until
they are trusted), environment variables, arguments. `docs/settings.md` lists every key.
What a setting does is not here but where it is used.

This is what most callers need; the parts of the tree, keys and values are imported from their modules.
"""

from memlines.settings.keys import flatten
from memlines.settings.loading import (
    Loaded,
    list_settings,
    load,
    refuse_if_off,
    switched_off,
)
from memlines.settings.tree import Settings
from memlines.settings.trusted_files import distrust, is_trusted, trust

__all__ = [
    "Loaded",
    "Settings",
    "distrust",
    "flatten",
    "is_trusted",
    "list_settings",
    "load",
    "refuse_if_off",
    "switched_off",
    "trust",
]
