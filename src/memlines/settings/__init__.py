"""The settings: one tree with defaults, and where every value came from.

Later sources win: defaults, the user's file, the project's files (harmless keys only, until
they are trusted), environment variables, arguments. `docs/settings.md` lists every key.
"""

from memlines.settings.agents_tree import Chat, Facts, Intent, Redaction, Sessions, Snapshots
from memlines.settings.keys import flatten
from memlines.settings.loading import Loaded, Shown, load, overridden, shown, switched_off
from memlines.settings.providers_tree import Batch, Embeddings, Local, Spend
from memlines.settings.tree import (
    Cache,
    Chunking,
    Files,
    Hybrid,
    Mmr,
    Query,
    SessionSync,
    Settings,
    Store,
    Sync,
    TemporalDecay,
    Vector,
)
from memlines.settings.trusted import distrust, is_trusted, trust

__all__ = [
    "Batch",
    "Cache",
    "Chat",
    "Chunking",
    "Embeddings",
    "Facts",
    "Files",
    "Hybrid",
    "Intent",
    "Loaded",
    "Local",
    "Mmr",
    "Query",
    "Redaction",
    "SessionSync",
    "Sessions",
    "Settings",
    "Shown",
    "Snapshots",
    "Spend",
    "Store",
    "Sync",
    "TemporalDecay",
    "Vector",
    "distrust",
    "flatten",
    "is_trusted",
    "load",
    "overridden",
    "shown",
    "switched_off",
    "trust",
]
