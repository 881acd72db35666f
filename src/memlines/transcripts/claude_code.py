"""Read the transcripts of Claude Code: JSON Lines, one record a line, no header.

    {"type": "user", "message": {"role": "user", "content": "…"}, "timestamp": …, "cwd": …, "sessionId": …}
    {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": "…"}]}, …}
    {"type": "attachment", "attachment": {"type": "queued_command", "prompt": "…"}, …}

Every block of an answer has a line of its own, so words and the tools called with them are on two lines.
What a person typed while the assistant worked is in an attachment.

Left out is what neither a person typed nor the assistant answered: results of tools, thinking, reminders
and other context that the program puts in, output of hooks and of commands run by hand, notices of finished
tasks, errors of the service, requests kept for debugging (which repeat everything), the talk of helpers
(`isSidechain`), and summaries of compactions, since what they sum up is there. A slash command counts as
said if something was typed after its name.
"""

from __future__ import annotations

import re
from typing import Any

from memlines.transcripts.finding import Client, Header, Look
from memlines.transcripts.lines import (
    Record,
    Said,
    blocks,
    names,
    table,
    tidy,
    time_of,
    without_blocks,
    words,
)

_NOT_SAID = ("isSidechain", "isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage")
_PUT_IN = frozenset(
    {
        "system-reminder",
        "local-command-caveat",
        "local-command-stdout",
        "local-command-stderr",
        "bash-input",
        "bash-stdout",
        "bash-stderr",
        "task-notification",
        "user-prompt-submit-hook",
        "ide_opened_file",
        "ide_selection",
        "ide_diagnostics",
    }
)
_INTERRUPTED = re.compile(r"\[Request interrupted by user[^\]\n]*\]")
_COMMAND = re.compile(r"<command-(name|args)>([^<]*)</command-\1>")


_LONGEST_SLUG = 200
"""Longer names are cut here, and a `-` and a checksum follow."""


def _read(record: Record) -> Said | None:
    if any(record.get(mark) is True for mark in _NOT_SAID):
        return None
    time = time_of(record.get("timestamp"))
    kind = record.get("type")
    if kind == "attachment":
        queued = table(record.get("attachment"))
        if queued.get("type") != "queued_command" or queued.get("commandMode", "prompt") != "prompt":
            return None
        return Said("user", _typed(queued.get("prompt")), time)
    message = table(record.get("message"))
    if message.get("role") != kind:
        return None
    if kind == "user" and record.get("promptSource") != "system":
        return Said("user", _typed(message.get("content")), time)
    if kind == "assistant" and message.get("model") != "<synthetic>":
        parts = blocks(message.get("content"))
        called = [part.get("name") for part in parts if str(part.get("type")).endswith("tool_use")]
        return Said("assistant", words(parts, "text"), time, names(called))
    return None


def _typed(content: Any) -> str:
    """Return what a person typed, out of what was sent in their name."""
    text = words(blocks(content), "text")
    if text.startswith("<command-"):
        typed = dict(_COMMAND.findall(text))
        return tidy(f"{typed.get('name', '')} {typed['args']}") if typed.get("args", "").strip() else ""
    return without_blocks(_INTERRUPTED.sub("", text), _PUT_IN)


def slug(folder: str) -> str:
    """Return the name of the folder that holds a project's transcripts, or how it begins if that is long.

    Several projects can have the same name.
    """
    units = folder.encode("utf-16-le", "surrogatepass")
    characters = [chr(int.from_bytes(units[at : at + 2], "little")) for at in range(0, len(units), 2)]
    name = "".join([unit if unit.isascii() and unit.isalnum() else "-" for unit in characters])
    return name[:_LONGEST_SLUG]


def _search(look: Look) -> None:
    """Find `projects/<slug>/*.jsonl` whose sessions began in the workspace."""
    own = slug(str(look.folder))
    for folder in look.entries(look.home("CLAUDE_CONFIG_DIR", ".claude") / "projects"):
        name = folder.name
        is_ours = name == own or (len(own) == _LONGEST_SLUG and name.startswith(f"{own}-"))
        if is_ours and look.is_folder(folder):
            for entry in look.entries(folder.path):
                if entry.name.endswith(".jsonl") and not entry.name.startswith("agent-"):
                    look.consider(entry)


def _header_of(record: Record) -> Header | None:
    session, folder = record.get("sessionId"), record.get("cwd")
    return Header(session, folder, record.get("isSidechain") is True) if session or folder else None


CLIENT = Client(
    "claude-code", _read, _header_of, _search, "sessionId", ("user", "assistant"), is_folder_first=False
)
