"""The part of the tree about conversations: their transcripts, and what is noticed and kept of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

from memlines.settings.rules import rule

Client = Literal["claude-code", "codex", "opencode", "openclaw"]
Language = Literal["en", "nl", "de", "fr", "es"]
ChatProvider = Literal["none", "openai", "anthropic"]
FactStore = Literal["auto", "lancedb", "index"]


@dataclass(frozen=True, slots=True)
class Sessions:
    """Which transcripts are read where `sources` asks for sessions."""

    clients: tuple[Client, ...] = field(
        default=(),
        metadata=rule(
            "list",
            "The clients whose own transcripts of this folder are read, beside `sessions/`.",
            choices=get_args(Client),
        ),
    )


@dataclass(frozen=True, slots=True)
class Redaction:
    """What is taken out of transcripts, and of everything that leaves the machine."""

    rules: tuple[tuple[str, str], ...] = field(
        default=(),
        metadata=rule("pairs", "Your own patterns by kind, such as `badge: 'B-[0-9]{8}'`."),
    )


@dataclass(frozen=True, slots=True)
class Chat:
    """A chat model that helps to find what should last in a conversation; without one, rules do it."""

    provider: ChatProvider = field(
        default="none",
        metadata=rule(
            "text",
            "The protocol of the model; what is said is sent to it once this is set.",
            choices=get_args(ChatProvider),
        ),
    )
    model: str | None = field(default=None, metadata=rule("text", "The model to ask."))
    base_url: str | None = field(
        default=None,
        metadata=rule("text", "The address of its API, if it is not the usual one.", expands=True),
    )
    api_key: str | None = field(
        default=None,
        repr=False,
        metadata=rule("text", "Its key; `${VAR}` reads a variable.", secret=True, expands=True),
    )


@dataclass(frozen=True, slots=True)
class Intent:
    """Noticing in what the user writes that something should be remembered or recalled."""

    enabled: bool = field(
        default=True, metadata=rule("flag", "Whether messages are checked for an intent.", project="less")
    )
    languages: tuple[Language, ...] = field(
        default=get_args(Language),
        metadata=rule(
            "list", "The languages whose rules are used.", choices=get_args(Language), project="yes"
        ),
    )
    confidence_threshold: float = field(
        default=0.7,
        metadata=rule("number", "How sure a rule must be before it counts.", low=0, high=1, project="yes"),
    )


@dataclass(frozen=True, slots=True)
class Snapshots:
    """The last messages of a session, kept for recovery."""

    enabled: bool = field(default=True, metadata=rule("flag", "Whether snapshots are kept.", project="less"))
    max_messages: int = field(
        default=15,
        metadata=rule("whole", "How many messages a snapshot holds.", low=1, high=1000, project="less"),
    )
    max_content_length: int = field(
        default=500,
        metadata=rule(
            "whole", "How many characters of a message are kept.", low=1, high=100_000, project="less"
        ),
    )


@dataclass(frozen=True, slots=True)
class Facts:
    """Short long-term memories: where they are kept, and which are taken from and given to conversations."""

    auto_capture: bool = field(
        default=False, metadata=rule("flag", "Whether facts are taken from what the user writes.")
    )
    auto_recall: bool = field(
        default=True,
        metadata=rule("flag", "Whether fitting facts are given to the agent unasked.", project="less"),
    )
    capture_max_chars: int = field(
        default=500,
        metadata=rule("whole", "Longer messages are not captured.", low=100, high=10_000),
    )
    capture_triggers: tuple[str, ...] = field(
        default=(),
        metadata=rule("list", "Your own words that make a sentence worth capturing, such as `house rule`."),
    )
    recall_max_results: int = field(
        default=3,
        metadata=rule("whole", "How many facts are given unasked.", low=1, high=20),
    )
    recall_min_score: float = field(
        default=0.5,
        metadata=rule("number", "How likely a fact must fit before it is shown.", low=0, high=1),
    )
    file: str = field(
        default="memory/facts.md",
        metadata=rule("text", "The note in which facts stand, a line each."),
    )
    store: FactStore = field(
        default="auto",
        metadata=rule(
            "text",
            "What finds facts: a LanceDB table, the main index, or the table if its package is installed.",
            choices=get_args(FactStore),
        ),
    )
    uri: str | None = field(
        default=None,
        metadata=rule(
            "text", "Where that table is kept, if not in the workspace: a folder, `s3://…` or `gs://…`."
        ),
    )
