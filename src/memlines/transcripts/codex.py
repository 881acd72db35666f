"""Read the transcripts of Codex: JSON Lines, one record a line.

    {"type": "session_meta", "timestamp": …, "payload": {"id": …, "timestamp": …, "cwd": …, …}}
    {"type": "response_item", "timestamp": …, "payload": {"type": "message", "role": "user", "content": […]}}
    {"type": "response_item", "timestamp": …, "payload": {"type": "function_call", "name": …, …}}

What was said also is in records of other types (`event_msg`, `compacted`); only `response_item` counts,
which every version writes. Left out are the outputs of tools, reasoning, what the program sends in the name
of the user (environment, instructions of the project, skills) and summaries of compactions, since what they
sum up is there.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from memlines.transcripts.finding import Client, Header, Look
from memlines.transcripts.lines import (
    Began,
    Meaning,
    Record,
    Said,
    blocks,
    names,
    table,
    time_of,
    without_blocks,
    words,
)

_TOOLS = {
    "local_shell_call": "shell",
    "web_search_call": "web_search",
    "image_generation_call": "image_generation",
}
"""Calls that have no name."""
_NAMED_CALLS = ("function_call", "custom_tool_call")

_PUT_IN = frozenset(
    {
        "environment_context",
        "user_instructions",
        "INSTRUCTIONS",
        "turn_aborted",
        "user_shell_command",
        "skill",
        "subagent_notification",
    }
)
_PROJECT_INSTRUCTIONS = "# AGENTS.md instructions"


def _read(record: Record) -> Meaning:
    payload = table(record.get("payload"))
    time = time_of(record.get("timestamp"))
    if record.get("type") == "session_meta":
        return Began(time_of(payload.get("timestamp")) or time)
    if record.get("type") != "response_item":
        return None
    kind = payload.get("type")
    if kind == "message":
        is_summary = table(record.get("metadata")).get("compaction_output") is True
        return None if is_summary else _message(payload, time)
    if kind in _NAMED_CALLS:
        return Said("assistant", "", time, names([payload.get("name")]))
    return Said("assistant", "", time, (_TOOLS[kind],)) if kind in list(_TOOLS) else None


def _message(payload: Mapping[str, Any], time: Any) -> Said | None:
    parts = blocks(payload.get("content"))
    if payload.get("role") == "assistant":
        return Said("assistant", words(parts, "output_text", "text"), time)
    if payload.get("role") != "user":
        return None
    kinds = table(payload.get("internal_chat_message_metadata_passthrough")).get("content_item_kinds")
    if isinstance(kinds, list) and len(kinds) == len(parts):
        parts = [
            part
            for part, kind in zip(parts, kinds, strict=True)
            if str(kind).startswith(("user.", "unknown"))
        ]
    typed = [part for part in parts if not str(part.get("text")).startswith(_PROJECT_INSTRUCTIONS)]
    return Said("user", without_blocks(words(typed, "input_text", "text"), _PUT_IN), time)


def _search(look: Look) -> None:
    """Find `sessions/<year>/<month>/<day>/rollout-*.jsonl` whose sessions began in the workspace."""
    pending = [os.fspath(look.home("CODEX_HOME", ".codex") / "sessions")]
    while pending:
        for entry in look.entries(pending.pop()):
            if look.is_folder(entry):
                pending.append(entry.path)
            elif entry.name.startswith("rollout-") and entry.name.endswith(".jsonl"):
                look.consider(entry)
    look.seen.found.sort(key=lambda found: found.path)


def _header_of(record: Record) -> Header | None:
    if record.get("type") != "session_meta":
        return None
    payload = table(record.get("payload"))
    is_helper = payload.get("thread_source") == "subagent" or "subagent" in table(payload.get("source"))
    return Header(payload.get("id"), payload.get("cwd"), is_helper)


CLIENT = Client("codex", _read, _header_of, _search, "payload", ("session_meta", "response_item"))
