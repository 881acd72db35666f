"""Take facts from what a user wrote, at the end of a turn.

Every message is judged once, whatever a client hands over again. What is known already, as a fact or in the
notes, and what somebody had forgotten, is not stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from memlines.agent.capture.injection import is_injection
from memlines.agent.capture.rules import captured
from memlines.agent.capture.seen import marks_of, opened
from memlines.agent.capture.shape import is_no_speech
from memlines.agent.capture.values import MOST, Capture
from memlines.agent.messages import Message, for_writing, messages_of
from memlines.errors import EmbeddingError, SecretRefused, StoreError
from memlines.files.journal import operation
from memlines.memory.memory import Memory
from memlines.settings import switched_off
from memlines.text.facts import CAPTURE, FactLine, source_of

if TYPE_CHECKING:
    from memlines.agent.capture.scorer import Embed
    from memlines.agent.chat import ChatModel
    from memlines.settings.tree import Facts as FactSettings

MOST_LOOKED_AT = 1_000
"""Messages of a session that are looked at, the last ones: fewer than are known as judged."""

_SECONDS = 20.0
"""How long a model may take."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A text that is worth keeping and was not stored, and why not."""

    text: str
    why: str


@dataclass(frozen=True, slots=True)
class Captured:
    """The facts that were stored, what was not stored although it is worth keeping, and what went wrong."""

    stored: tuple[FactLine, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    warnings: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return it with field names that stay."""
        return {
            "stored": [line.fact.to_json() for line in self.stored],
            "skipped": [{"text": one.text, "why": one.why} for one in self.skipped],
            "warnings": list(self.warnings),
        }


def capture(
    memory: Memory,
    messages: Iterable[Any],
    *,
    session: str,
    client: str = "",
    now: datetime | None = None,
    model: ChatModel | None = None,
) -> Captured:
    """Store what of a user's messages is worth keeping as facts, at most three, if the settings want that.

    A fact that cannot be written is an error, and the messages count as not judged; a further call goes on.
    """
    off = switched_off(memory.loaded)
    if off or not memory.settings.facts.auto_capture:
        return Captured(warnings=(f"nothing was captured: {off}",) if off else ())
    moment = (now or datetime.now(UTC)).astimezone(UTC)
    said = [message for message in messages_of(messages) if message.role == "user"][-MOST_LOOKED_AT:]
    if not said:
        return Captured()
    warnings: list[str] = []
    with opened(memory.workspace) as seen:
        new = [message for message in said if marks_of(message, session) not in seen]
        chosen = _chosen(memory, new, moment, model, warnings)
        source = source_of(f"{CAPTURE} {client} {session}")
        stored, skipped = _stored(memory, chosen, source, moment, warnings)
        for message in said:
            seen.add(marks_of(message, session))
        seen.save()
    return Captured(tuple(stored), tuple(skipped), tuple(warnings))


def _chosen(
    memory: Memory, messages: Sequence[Message], now: datetime, model: ChatModel | None, warnings: list[str]
) -> list[Capture]:
    """Return what is worth keeping, what was said last first."""
    clean = for_writing(memory)
    texts = [clean(message.text) for message in reversed(messages)]
    by_model = _by_model(memory, texts, model, warnings)
    if by_model is not None:
        return by_model
    try:
        return _by_rules(texts, now, memory.settings.facts, memory.builtin_vectors)
    except (EmbeddingError, StoreError) as error:
        warnings.append(f"what to keep was decided without the model of vectors: {error.what}")
        return _by_rules(texts, now, memory.settings.facts, None)


def _by_rules(
    texts: Sequence[str], now: datetime, limits: FactSettings, embed: Embed | None
) -> list[Capture]:
    """Return what the rules and the scores of the remaining sentences keep, each text once."""
    found: dict[str, Capture] = {}
    for text in texts:
        for one in captured(
            text, now=now, max_chars=limits.capture_max_chars, triggers=limits.capture_triggers, embed=embed
        ):
            found.setdefault(one.text.casefold(), one)
    return list(found.values())


def _by_model(
    memory: Memory, texts: Sequence[str], model: ChatModel | None, warnings: list[str]
) -> list[Capture] | None:
    """Return what a model picks; nothing if there is none, or, with a warning, if it cannot be asked."""
    if model is None and memory.settings.chat.provider == "none":
        return None
    from memlines.agent.capture.extract import asked
    from memlines.agent.chat import configured

    limit = memory.settings.facts.capture_max_chars
    fit = [text for text in texts if not (is_no_speech(text, limit) or is_injection(text))]
    chosen = model or _patient(configured(memory.settings.chat))
    if chosen is None or not fit:
        return []
    try:
        return asked(chosen, fit[::-1])
    except EmbeddingError as error:
        warnings.append(f"the rules decided what to keep, because the chat model could not: {error.what}")
        return None


def _patient(model: ChatModel | None) -> ChatModel | None:
    """Return a model that is not waited for longer than a client waits at the end of a turn."""
    from memlines.embed.remote.http import Patience

    return replace(model, patience=Patience(total=_SECONDS, connect=5, retries=0)) if model else None


@operation("facts capture")
def _stored(
    memory: Memory, chosen: Sequence[Capture], source: str, now: datetime, warnings: list[str]
) -> tuple[list[FactLine], list[Skipped]]:
    """Store what is not known yet, as far as one turn may; return that, and what was left out."""
    stored: list[FactLine] = []
    skipped: list[Skipped] = []
    for one in chosen:
        why = _why_not(memory, one.text, len(stored))
        if why:
            skipped.append(Skipped(one.text, why))
            continue
        try:
            done = memory.facts.store(
                one.text, importance=one.importance, category=one.category, source=source, now=now
            )
        except SecretRefused as error:
            skipped.append(Skipped(for_writing(memory)(one.text), error.what))
            continue
        warnings.extend(warning for warning in done.warnings if warning not in warnings)
        if done.action == "duplicate":
            known = "it is known already" if done.line.fact.id else "the notes hold it already"
            skipped.append(Skipped(one.text, known))
        else:
            stored.append(done.line)
    return stored, skipped


def _why_not(memory: Memory, text: str, stored: int) -> str:
    """Say why a text is not stored; nothing if it may be."""
    if stored == MOST:
        return "there is more than one turn may leave"
    if memory.facts.was_forgotten(text):
        return "somebody had it forgotten"
    return ""
