"""Transcripts in a few words."""

from __future__ import annotations

import json
from typing import Any

HEADER = {"type": "session", "timestamp": "2026-03-01T09:30:00Z"}


def message(role: str, content: Any, **fields: Any) -> dict[str, Any]:
    """Return the record of a message; `fields` go beside it."""
    return {"type": "message", "message": {"role": role, "content": content}, **fields}


def user(content: Any) -> dict[str, Any]:
    """Return the record of what a user said."""
    return message("user", content)


def assistant(content: Any) -> dict[str, Any]:
    """Return the record of what an assistant said."""
    return message("assistant", content)


def jsonl(*records: Any) -> str:
    """Return records as lines; a text stays as it is."""
    lines = [record if isinstance(record, str) else json.dumps(record) for record in records]
    return "".join(f"{line}\n" for line in lines)
