"""The settings: one tree with defaults, and where every value came from.

Later sources win: defaults, the user's file, the project's files (harmless keys only, until
they are trusted), environment variables, arguments. `docs/settings.md` lists every key.
What a setting does is not here but where it is used.
"""

from memlines.settings.config_files import distrust, is_trusted, trust
from memlines.settings.keys import flatten
from memlines.settings.loading import (
    Loaded,
    ShownSetting,
    list_settings,
    load,
    refuse_if_off,
    switched_off,
    with_overrides,
)
from memlines.settings.tree import (
    Batch,
    Cache,
    Chat,
    Chunking,
    Embeddings,
    Facts,
    Files,
    Hybrid,
    Intent,
    Local,
    Mmr,
    Query,
    Redaction,
    Sessions,
    SessionSync,
    Settings,
    Snapshots,
    Spend,
    Store,
    Sync,
    TemporalDecay,
    Vector,
)

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
    "ShownSetting",
    "Snapshots",
    "Spend",
    "Store",
    "Sync",
    "TemporalDecay",
    "Vector",
    "distrust",
    "flatten",
    "is_trusted",
    "list_settings",
    "load",
    "refuse_if_off",
    "switched_off",
    "trust",
    "with_overrides",
]
