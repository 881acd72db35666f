"""Import the data that ChatGPT exports: conversations as transcripts, and what it was asked to remember.

An export is an archive with `conversations.json`, in large ones split into several files. A conversation is
a tree of messages, because an answer can be asked for again; the branch that was shown last is imported.
A saved memory is a message to the tool `bio`, on any branch; some exports list the memories in
`memories.json`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memlines.admin.imports.json_export import Export, open_export
from memlines.admin.imports.memories import Added, ForeignMemory, add_memories, memory_of, parse_time
from memlines.memory.conversations.conversation import (
    CHATGPT,
    Cleaning,
    Conversation,
    import_conversation,
    name_conversation,
)
from memlines.paths import Workspace
from memlines.records import dataclass
from memlines.settings import Settings
from memlines.text.redaction import add_counts
from memlines.transcripts.lines import Began, Meaning, Said, gather, names, table, tidy
from memlines.types import Progress, Role

_CONVERSATIONS = re.compile(r"(?:.*/)?conversations(?:[-_]?\d+)?\.json", re.DOTALL)
_MEMORIES = re.compile(r"(?:.*/)?(?:saved_)?memor(?:y|ies)\.json", re.DOTALL)
_KEYS = ("conversations",)
_MEMORY_KEYS = ("memories", "results")
_SAVED = "bio"
_SAID = ("text", "multimodal_text")
_CITATION = re.compile("\ue200[^\ue201\n]*\ue201")
"""A mark for the source of an answer, which ChatGPT does not show."""

_ROLES: Mapping[str, Role] = {"user": "user", "assistant": "assistant"}


@dataclass(frozen=True, slots=True)
class ImportedChats:
    """What an import did, or would do if `dry_run`: counts of conversations, and what became of memories.

    `left_out` counts conversations that were forgotten or in which nothing is said, `skipped` items that are
    not conversations.
    """

    file: str
    imported: int
    replaced: int
    same: int
    left_out: int
    skipped: int
    redacted: Mapping[str, int]
    memories: Added
    dry_run: bool


def import_chatgpt(
    workspace: Workspace, settings: Settings, file: Path, *, dry_run: bool = False, progress: Progress
) -> ImportedChats:
    """Bring conversations and saved memories in; all of the export is read before anything is written."""
    cleaning = Cleaning.of(workspace, settings)
    outcomes: Counter[str] = Counter()
    redacted: dict[str, int] = {}
    with open_export(file, "an export of ChatGPT") as export:
        saved = _saved_memories(export, progress)
        for item in export.items(_CONVERSATIONS, _KEYS, progress, "importing"):
            conversation = conversation_of(item)
            if conversation is None:
                outcomes["skipped"] += 1
                continue
            done = import_conversation(workspace, conversation, str(file), cleaning, dry_run=dry_run)
            outcomes[done.outcome] += 1
            redacted = add_counts(redacted, done.redacted)
    return ImportedChats(
        str(file),
        outcomes["imported"],
        outcomes["replaced"],
        outcomes["already there"],
        outcomes["left out"],
        outcomes["skipped"],
        redacted,
        add_memories(workspace, settings, CHATGPT, saved, dry_run=dry_run, progress=progress),
        dry_run,
    )


def _saved_memories(export: Export, progress: Progress) -> list[ForeignMemory]:
    """Return the memories of an export after reading all of it, or refuse what is not an export."""
    if export.archive and not export.parts(_CONVERSATIONS):
        raise export.refusal("there is no conversations.json in it")
    memories: list[ForeignMemory] = []
    count = usable = 0
    for item in export.items(_CONVERSATIONS, _KEYS, progress, "reading"):
        count += 1
        usable += conversation_of(item) is not None
        for message in map(_message, table(table(item).get("mapping")).values()):
            if message.get("recipient") == _SAVED and (words := _words(message)):
                time = parse_time(message.get("create_time"))
                memories.append(ForeignMemory(tidy(message.get("id")), words, time))
    if count and not usable:
        raise export.refusal("none of its items is a conversation")
    if export.parts(_MEMORIES):
        listed = map(memory_of, export.items(_MEMORIES, _MEMORY_KEYS, progress, "reading"))
        memories += [memory for memory in listed if memory is not None]
    return memories


def conversation_of(item: Any) -> Conversation | None:
    """Return the conversation in an item of an export, if it is one and its messages form a tree."""
    fields = table(item)
    nodes = table(fields.get("mapping"))
    branch = _branch(nodes, fields.get("current_node"))
    if not branch:
        return None
    began = Began(parse_time(fields.get("create_time")))
    meanings = [began, *(_meaning(_message(nodes[node])) for node in branch)]
    session = fields.get("conversation_id") or fields.get("id")
    return name_conversation(CHATGPT, session, gather(enumerate(meanings, 1)))


def _branch(nodes: Mapping[str, Any], last: Any) -> list[str]:
    """Return the nodes from the first to the last one that was shown; none if they form a cycle."""
    node = last if isinstance(last, str) and last in nodes else _newest_leaf(nodes)
    branch: dict[str, None] = {}
    while isinstance(node, str) and node in nodes:
        if node in branch:
            return []
        branch[node] = None
        node = table(nodes[node]).get("parent")
    return list(branch)[::-1]


def _newest_leaf(nodes: Mapping[str, Any]) -> str | None:
    above = (table(node).get("parent") for node in nodes.values())
    parents = {name for name in above if isinstance(name, str)}
    leaves = [name for name in nodes if name not in parents]

    def age(name: str) -> float:
        time = parse_time(_message(nodes[name]).get("create_time"))
        return time.timestamp() if time else 0.0

    return max(leaves, key=age, default=None)


def _message(node: Any) -> Mapping[str, Any]:
    return table(table(node).get("message"))


def _meaning(message: Mapping[str, Any]) -> Meaning:
    """Return what a message says; a message to a tool says only that the tool was called."""
    role = _ROLES.get(tidy(table(message.get("author")).get("role")))
    if role is None or table(message.get("metadata")).get("is_visually_hidden_from_conversation") is True:
        return None
    time = parse_time(message.get("create_time"))
    recipient = message.get("recipient") or "all"
    if recipient != "all":
        return Said("assistant", "", time, names([recipient])) if role == "assistant" else None
    words = _words(message)
    return Said(role, words, time) if words else None


def _words(message: Mapping[str, Any]) -> str:
    content = table(message.get("content"))
    parts = content.get("parts")
    if content.get("content_type") not in _SAID or not isinstance(parts, list):
        return ""
    texts = [part if isinstance(part, str) else table(part).get("text") for part in parts]
    return tidy(_CITATION.sub("", "\n".join([text for text in texts if isinstance(text, str)])))
