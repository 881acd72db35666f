"""A memory in a few words: notes, settings and the provider of its vectors."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memlines import Memory
from memlines.embed.select import Choice
from tests.providers import MeaningsProvider

WORDS_ONLY = {"embeddings.provider": "none"}


def write(folder: Path, notes: Mapping[str, str]) -> None:
    """Write notes, making their folders; a bare name goes below memory/."""
    for name, text in notes.items():
        known = name.startswith(("memory/", "..", "MEMORY.md", "memory.md"))
        file = folder / (name if known else f"memory/{name}")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="")


def words_memory(folder: Path, notes: Mapping[str, str], **settings: Any) -> Memory:
    """Return a memory over these notes that searches by words; `query__max_results=3` sets a key."""
    write(folder, notes)
    return Memory(folder, {**WORDS_ONLY, **_dotted(settings)})


def fake_memory(
    folder: Path, notes: Mapping[str, str], provider: MeaningsProvider, **settings: Any
) -> Memory:
    """Return a memory over these notes whose vectors come from the fake provider."""
    write(folder, notes)
    memory = Memory(folder, _dotted(settings))
    memory._manager.choice = Choice("fake", provider)
    return memory


def _dotted(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {key.replace("__", "."): value for key, value in settings.items()}
