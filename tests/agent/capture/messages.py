"""The labelled messages for capture, and the attacks that others wrote down."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from memlines.agent.capture.find import Capture, Embed, find_facts
from memlines.embed.builtin.files import BuiltinProvider

NOW = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)
FOLDER = Path(__file__).parent
CORPORA = Path(__file__).parents[4] / "shared" / "corpora"


@dataclass(frozen=True)
class Labelled:
    """A message, whether something in it should be kept, and as what."""

    id: str
    text: str
    language: str
    capture: bool
    kind: str
    category: str = ""


def labelled(name: str) -> list[Labelled]:
    """Return the messages of a file, such as `develop`."""
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [Labelled(**json.loads(line)) for line in lines if line]


def captures(text: str, embed: Embed | None = None) -> tuple[Capture, ...]:
    return find_facts(text, embed=embed)


def builtin() -> Embed:
    """Return how the builtin model makes vectors."""
    return BuiltinProvider().embed_documents


def injections() -> list[str]:
    """Return every injection of the corpora; none if they are not there."""
    files = [CORPORA / f"injection-{name}.json" for name in ("text", "code")]
    groups = [json.loads(file.read_text(encoding="utf-8")) for file in files if file.exists()]
    return [text for group in groups for texts in group.values() for text in texts]
