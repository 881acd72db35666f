"""Parse the messages of clients, and redact a text before it is kept.

Each client has its own shape of messages. Only the text of users and assistants is read: not the arguments
and results of tools, not pictures, and not what a model only thought.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, get_args

from memlines.errors import UsageError
from memlines.files.tombstones import Forgotten
from memlines.memory.memory import Memory
from memlines.records import dataclass
from memlines.text.neutral import visible, without_quotes
from memlines.text.redaction import redact, rules_of
from memlines.types import Role, Turn

_SECONDS_BELOW = 1e11
"""Smaller numbers are seconds since 1970, larger ones milliseconds."""

LONGEST_NAME = 200
"""Characters of the name of a session or a client."""

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_TEXT_KINDS = ("text", "input_text", "output_text")

Redactor = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Message:
    """What one side said, without the context that clients add, and when."""

    role: Role
    text: str
    time: datetime | None = None


def session_name(session: str) -> str:
    """Return the name of a session without spaces around it, or refuse what cannot be one."""
    name = session.strip()
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise UsageError(
            f"{session[:60]!r} cannot be the name of a session",
            todo=f"Use 1 to {LONGEST_NAME} printable characters",
        )
    return name


def parse_messages(given: Iterable[Any]) -> Iterator[Message]:
    """Yield what was said in messages of any client, in their order; messages without words are left out.

    Accepts `Message` and `Turn`, `{"role", "content"}` as models do, and the same below `message` or `info`
    and `parts`, as in the transcripts of Claude Code, OpenClaw and OpenCode.
    """
    yield from filter(None, map(_parse_message, given))


def _parse_message(one: Any) -> Message | None:
    if isinstance(one, Message | Turn):
        return _make_message(one.role, one.text, _parse_time(one.time))
    if not isinstance(one, Mapping):
        return None
    inner = one.get("message") or one.get("info")
    body: Mapping[Any, Any] = inner if isinstance(inner, Mapping) else one

    def values(*keys: str) -> Iterator[Any]:
        found = (place.get(key) for key in keys for place in (body, one))
        return (value for value in found if value is not None)

    times = filter(None, map(_parse_time, values("timestamp", "time", "created")))
    content = next(values("content", "parts", "text"), None)
    if isinstance(content, list | tuple):
        content = "\n".join(filter(None, map(_block_text, content)))
    text = content if isinstance(content, str) else ""
    return _make_message(body.get("role"), text, next(times, None))


def _make_message(role: Any, text: str, time: datetime | None) -> Message | None:
    if role not in get_args(Role):
        return None
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    clean = _LONE_SURROGATE.sub("\ufffd", visible(lines))
    words = without_quotes(clean).strip()
    return Message(role, words, time) if words else None


def _block_text(block: Any) -> str:
    if isinstance(block, str):
        return block
    if not isinstance(block, Mapping) or block.get("type") not in _TEXT_KINDS or block.get("synthetic"):
        return ""  # OpenCode calls text synthetic that it wrote itself
    text = block.get("text")
    return text if isinstance(text, str) else ""


def _parse_time(value: Any) -> datetime | None:
    """Return a moment in UTC from what clients write for one; without a zone it counts as UTC."""
    if isinstance(value, Mapping):
        value = value.get("created")
    try:
        if isinstance(value, str):
            value = datetime.fromisoformat(value.strip())
        if isinstance(value, datetime):
            return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value if value < _SECONDS_BELOW else value / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def redactor(memory: Memory) -> Redactor:
    """Return a function that removes the secrets of a text."""
    rules = rules_of(memory.settings.redaction.rules)
    return lambda text: redact(text, rules).text


def writing_redactor(memory: Memory) -> Redactor:
    """Return a function that removes from a text what must not be kept: secrets, and what was forgotten.

    Otherwise a forgotten text would come back from an older conversation.
    """
    forgotten = Forgotten.load(memory.workspace)
    clean = redactor(memory)
    return lambda text: forgotten.redact(clean(text))
