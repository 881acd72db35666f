"""How chunks are kept as points of a collection: their ids and their payload.

A file has one head: a point without vectors that names the version of the file that counts. A chunk counts
only if its version is that of its head. All chunks of a new version are written before the head names it, so
a reader sees all of a file or what was there before.
"""

from __future__ import annotations

import json
import re
import uuid
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import astuple
from typing import Any, NamedTuple

from memlines.index.store.sqlite.days import read_days, write_days
from memlines.records import dataclass
from memlines.text.chunk import text_hash
from memlines.types import IndexedChunk, Space

WORDS, MEANING = "words", "meaning"
"""The names of the sparse and the dense vector."""

LAYOUT = 1
"""Changes whenever points of another layout could not be read; it is part of a collection's name."""

CHUNK_FIELDS = (
    "workspace", "path", "source", "start", "end", "text", "heading", "language", "hash", "mtime", "turns",
    "days",
)  # fmt: skip
HEAD = "head"
_NAMESPACE = uuid.UUID("4ae8f6d2-9a5c-4b39-8e36-7c1d9f0b2a55")

_MOST_CHUNKS = 1_000_000
_LAST_LINE = 2_000_000
"""More than a file may have: what a point says is not believed."""

_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class Tenant:
    """Whose chunks are written: a workspace and an agent."""

    workspace: str
    agent: str


def conditions(workspaces: Sequence[str] | None, agent: str) -> list[dict[str, Any]]:
    """Return what the points of an agent in some workspaces fit, or in all that the token may see."""
    of_agent = [{"key": "agent", "match": {"value": agent}}]
    return (
        of_agent if workspaces is None else [{"key": "workspace", "match": {"any": [*workspaces]}}, *of_agent]
    )


def collections_of(base: str) -> str:
    """Return what the names of all collections of this layout begin with."""
    return f"{base}-v{LAYOUT}-"


def collection_of(base: str, space: Space | None) -> str:
    """Return the collection for the vectors of a space; vectors of another cannot be compared."""
    name = text_hash(json.dumps(astuple(space)))[:10] if space else "words"
    return collections_of(base) + name


class Head(NamedTuple):
    """The version of a file that counts."""

    path: str
    key: str
    """What the version was made of: equal keys mean equal chunks."""
    version: str
    chunks: int
    origin: str
    """The machine and folder that wrote it."""


HEAD_FIELDS = Head._fields


def read_head(payload: Mapping[str, Any]) -> Head | None:
    """Return the head that a point is, or nothing if it is none: anyone with a token may have written it."""
    head = Head(*[payload.get(field) for field in HEAD_FIELDS])  # type: ignore[arg-type]  # checked below
    texts = all(isinstance(text, str) for text in (head.path, head.key, head.version, head.origin))
    counts = type(head.chunks) is int and 0 <= head.chunks <= _MOST_CHUNKS
    return head if texts and counts and is_id(head.version) else None


def is_id(value: object) -> bool:
    """Return whether a value is an id as we make them; Qdrant refuses to look for another."""
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def head_id(tenant: Tenant, path: str) -> str:
    """Return the id of a file's head."""
    return str(uuid.uuid5(_NAMESPACE, json.dumps([tenant.workspace, tenant.agent, path])))


def chunk_ids(version: str, count: int) -> list[str]:
    """Return the ids of the chunks of one version of a file."""
    return [str(uuid.uuid5(uuid.UUID(version), str(place))) for place in range(count)]


def payload_of(
    chunk: IndexedChunk, tenant: Tenant, head: str, version: str, days: Sequence[str], sentences: bytes
) -> dict[str, Any]:
    """Return what a point holds of a chunk beside its vectors; `days` are those of its entries."""
    payload: dict[str, Any] = {
        "workspace": tenant.workspace,
        "agent": tenant.agent,
        "file": head,
        "version": version,
        "path": chunk.path,
        "source": chunk.source,
        "start": chunk.start_line,
        "end": chunk.end_line,
        "text": chunk.text,
        "heading": chunk.heading,
        "language": chunk.language,
        "hash": text_hash(chunk.text),
        "mtime": chunk.mtime_ns,
    }
    if chunk.turns:
        payload["turns"] = chunk.turns
    if chunk.days:
        payload["days"] = write_days(chunk.days)
    if dated := sorted({int(day.replace("-", "")) for day in days if day}):
        payload["day"] = dated
    if sentences:
        payload["sentences"] = b64encode(sentences).decode()
    return payload


def read_chunk(number: int, payload: Mapping[str, Any], path: str) -> IndexedChunk | None:
    """Return a chunk that a point holds, under a path; nothing if it is not what was written.

    Anyone with a token may have written it.
    """
    text = payload.get("text")
    if not isinstance(text, str) or text_hash(text) != payload.get("hash"):
        return None
    try:
        first, last = int(payload["start"]), int(payload["end"])
        if not 1 <= first <= last <= _LAST_LINE:
            return None
        return IndexedChunk(
            number,
            path,
            "sessions" if payload["source"] == "sessions" else "memory",
            first,
            last,
            text,
            str(payload["heading"]),
            int(payload["mtime"]),
            str(payload["language"]),
            tuple([(int(begin), int(line)) for begin, line in payload.get("turns", ())]),
            read_days(str(payload.get("days", ""))),
        )
    except (KeyError, ValueError, TypeError):
        return None
