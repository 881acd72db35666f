"""What the tests of snapshots, bootstrap and flush share."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memlines.memory.memory import Memory

NOW = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)
SETTINGS = {"embeddings.provider": "none", "timezone": "UTC"}
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2  # made up; only its form is a token's
TODAY = "memory/2026-11-16.md"
YESTERDAY = "memory/2026-11-15.md"


def opened(workspace: Path, **settings: Any) -> Memory:
    """Open a memory that needs no model; `a__b` stands for the key `a.b`."""
    return Memory(workspace, SETTINGS | {key.replace("__", "."): value for key, value in settings.items()})


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def put(workspace: Path, path: str, text: str) -> None:
    file = workspace / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def text_of(workspace: Path, path: str) -> str:
    file = workspace / path
    return file.read_text(encoding="utf-8") if file.exists() else ""
