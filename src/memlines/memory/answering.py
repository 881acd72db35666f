"""Answer a query from the index of an open memory, and compare what is quoted with the notes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memlines.embed.base import Provider
from memlines.errors import (
    EmbeddingError,
    ModelChanged,
    StoreBusy,
    StoreDamaged,
    StoreFull,
    StoreReadOnly,
    UsageError,
)
from memlines.files.read import read_document, without_private_blocks
from memlines.files.scan import fingerprint_of
from memlines.index.search.retrievers import Request, Within
from memlines.index.search.run import Question, search, understand, vector_of
from memlines.index.store.sqlite import spaces
from memlines.index.store.sqlite.index import Index
from memlines.memory.status import fallback_of
from memlines.paths import Workspace, contains, note_path
from memlines.settings import Settings
from memlines.text.words import words_of

if TYPE_CHECKING:
    from memlines.memory.manager import Manager

from memlines.types import Document, Fingerprint, FoundFile, Hit, Mode, Progress, SearchResult, Space

Narrowed = Callable[[Index], Within]
"""Names the chunks of an open index that alone may answer."""

_FLOAT_BYTES = 4
_TRIES = 3
"""How often a query is embedded again because another model took over meanwhile."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Who embeds a query, of which space the answer must be, and what stands against a better one."""

    provider: Provider | None
    space: Space | None = None
    doubts: tuple[str, ...] = ()
    fallback: Mapping[str, Any] | None = None

    def by_words(self, error: EmbeddingError) -> Asked:
        """Return the same, where the query has no vector for a reason."""
        wanted = self.provider.id if self.provider else "none"
        fallback = self.fallback or {"from": wanted, "to": "none", "reason": str(error)}
        return replace(self, doubts=(*self.doubts, f"answered by words only: {error}"), fallback=fallback)


def fresh_answer(
    manager: Manager, request: Request, progress: Progress, narrowed: Narrowed | None = None
) -> SearchResult:
    """Bring the index up to date and answer a query from it; a damaged index is built anew first.

    A note that does not hold what the index says of it is indexed again, and only what it holds is shown.
    """
    words_only = request.mode == "words"
    warnings = manager.refresh(progress, words_only=words_only)
    try:
        result = answer(manager, request, warnings, narrowed)
    except StoreDamaged:
        warnings += manager.replace_damaged(progress, words_only=words_only).warnings
        result = answer(manager, request, warnings, narrowed)
    wrong = manager.quotes.untrue(result.hits)
    if not wrong and manager.is_made_here():
        return result
    if wrong:
        try:
            manager.read_again(wrong)
            result = answer(manager, request, warnings, narrowed)
        except (StoreBusy, StoreReadOnly, StoreFull) as error:
            doubt = f"what does not stand in the notes any more is left out: {error}"
            result = replace(result, warnings=(*result.warnings, doubt))
    return _without_untrue(manager, result)


def _without_untrue(manager: Manager, result: SearchResult) -> SearchResult:
    """Leave out hits that their notes do not hold, or that cannot be compared unless we made the index."""
    shown = (True, None) if manager.is_made_here() else (True,)
    return replace(result, hits=tuple(hit for hit in result.hits if manager.quotes.is_true(hit) in shown))


def answer(
    manager: Manager, request: Request, warnings: list[str], narrowed: Narrowed | None = None
) -> SearchResult:
    """Answer a query by words and by vectors, or by words alone where there is no vector for it.

    While a query is embedded nothing is held, so that others need not wait for somebody's network.
    `narrowed` tells which chunks of an index alone may answer; without it all may.
    """
    for _ in range(_TRIES):
        asked = whom_to_ask(manager, request.mode)
        question = understand(_in_mode(request, asked.provider))
        vector = None
        if asked.provider is not None and asked.space is None:  # nothing has a vector to compare with
            question = question.by_words()
        elif asked.provider is not None:
            try:
                vector = vector_of(question, asked.provider)
            except EmbeddingError as error:
                if isinstance(error, ModelChanged):
                    manager.forget_providers()
                asked, question = asked.by_words(error), question.by_words()
        result = _answered(manager, question, vector, asked, warnings, narrowed)
        if result is not None:
            return result
    doubt = "answered by words only: another model took over again and again"
    return answer(manager, replace(request, mode="words"), [*warnings, doubt], narrowed)


def _answered(
    manager: Manager,
    question: Question,
    vector: bytes | None,
    asked: Asked,
    warnings: list[str],
    narrowed: Narrowed | None,
) -> SearchResult | None:
    """Answer with a vector, unless another model took over since it was made."""
    with manager.reading:
        index = manager.open_reader()
        if index is None:
            empty = SearchResult((), "none", "", "words", 0, tuple(warnings), fallback=asked.fallback)
            return _without_sessions(empty, manager.settings) if _names_sessions(question, manager) else empty
        with index.errors(), index.snapshot():
            now = spaces.serving(index.connection)
            if vector is not None and now is not None:
                if now.space != asked.space:
                    return None
                if _contradicts(now, asked.provider, vector):
                    asked, question = asked.by_words(_changed(now)), question.by_words()
                    vector = None
            provider = asked.provider
            within = narrowed(index) if narrowed else None
            found = search(index, question, vector, provider.model if provider else "", within)
            chunks = index.count_chunks()
            pending = chunks - index.vectors.count() if provider else 0
            has_sessions = not _names_sessions(question, manager) or _holds_sessions(index, found.hits)
    result = SearchResult(
        hits=tuple(_as_shown(hit, manager.settings) for hit in found.hits),
        provider=provider.id if provider else "none",
        model=provider.model if provider else "",
        mode=question.request.mode,
        pending=pending,
        warnings=(*warnings, *asked.doubts),
        nearest=found.nearest,
        chunks=chunks,
        unindexed=manager.unindexed,
        fallback=asked.fallback,
    )
    return result if has_sessions else _without_sessions(result, manager.settings)


def _names_sessions(question: Question, manager: Manager) -> bool:
    """Tell whether somebody asks for sessions by name, and not for all that the settings name."""
    asked = question.request.sources
    return "sessions" in question.asked.sources or ("sessions" in asked and asked != manager.settings.sources)


def _holds_sessions(index: Index, hits: Sequence[Hit]) -> bool:
    found = any(hit.source == "sessions" for hit in hits)
    return found or any(source == "sessions" for source, _, _ in index.counts_by_source())


def _without_sessions(result: SearchResult, settings: Settings) -> SearchResult:
    """Return an answer that says that no sessions are indexed, and what to do about it."""
    from memlines.memory.conversations.conversation import SWITCH_ON

    todo = "'memlines sessions list' shows which there are" if "sessions" in settings.sources else SWITCH_ON
    warnings = (*result.warnings, f"no sessions are indexed. {todo}")
    return replace(result, warnings=warnings, missing_sources=("sessions",))


def _as_shown(hit: Hit, settings: Settings) -> Hit:
    """Take secrets out of what is shown of a conversation once more: a rule may be newer than the index."""
    if hit.source != "sessions":
        return hit
    from memlines.text.redaction import redact, rules_of

    return replace(hit, snippet=redact(hit.snippet, rules_of(settings.redaction.rules)).text)


def _in_mode(request: Request, provider: Provider | None) -> Request:
    if provider is None:
        return replace(request, mode="words")
    if request.mode == "hybrid" and not request.query.hybrid.enabled:
        return replace(request, mode="vectors")
    return request


def whom_to_ask(manager: Manager, mode: Mode) -> Asked:
    """Return whose vectors serve, if it can be asked, and what stands against using them."""
    if mode == "words":
        return Asked(None)
    choice = manager.chosen()
    reasons = (choice.reason,) if choice.reason else ()
    if choice.provider is None:
        if mode == "vectors":
            raise UsageError(
                "there are no vectors to search", todo="Set embeddings.provider, or search by words"
            )
        return Asked(None, None, reasons, fallback_of(choice, None))
    with manager.reading:
        index = manager.open_reader()
        if index is None:
            return Asked(choice.provider, fallback=fallback_of(choice, None))
        with index.errors():
            now = spaces.serving(index.connection)
    fallback = fallback_of(choice, now)
    if now is None:
        return Asked(choice.provider, None, reasons, fallback)
    provider = manager.provider_of(now.space)
    if provider is None:
        wanted = f"{choice.provider.id} ({choice.provider.model})"
        doubt = f"the vectors are of {now.space}, which may not or cannot be asked now; until those of"
        waiting = f"{doubt} {wanted} are complete, words alone answer"
        return Asked(None, None, (*reasons, waiting), fallback)
    return Asked(provider, now.space, reasons, fallback)


def _contradicts(now: spaces.SpaceEntry, provider: Provider | None, vector: bytes) -> bool:
    """Tell whether a vector cannot be of the model whose vectors the index holds."""
    name = provider.answers_as if provider else ""
    other_name = bool(now.answers_as and name and now.answers_as != name)
    return other_name or now.dims not in (None, len(vector) // _FLOAT_BYTES)


def _changed(now: spaces.SpaceEntry) -> ModelChanged:
    return ModelChanged(
        f"{now.space} is another model now than the one that made the vectors of the index",
        todo="Name another model in embeddings.model, or run 'memlines model renew' to have all made anew",
    )


_UNKNOWN = Fingerprint(0, 0, 0)

_MOST_KEPT = 200
_LONGEST_KEPT = 50_000
"""How many notes are kept to be compared with again, and the length of one: at most 10 million characters."""


class Quotes:
    """The notes that hits cite, kept while their fingerprints stay the same."""

    def __init__(self, workspace: Workspace, settings: Settings) -> None:
        self._root = workspace.root
        self._settings = settings
        self._facts = note_path(settings.facts.file)
        self._kept: dict[str, tuple[Fingerprint, list[str]]] = {}

    def untrue(self, hits: Iterable[Hit]) -> set[str]:
        """Return the notes that do not hold what hits quote of them."""
        return {hit.path for hit in hits if self.is_true(hit) is False}

    def is_true(self, hit: Hit) -> bool | None:
        """Tell whether the lines that a hit cites hold what it quotes; nothing if they cannot be read.

        A conversation is not compared: what the index holds of it is not what its file holds.
        """
        note = self._note(hit.path) if hit.source == "memory" else None
        if note is None:
            return None
        lines = "\n".join(note[hit.start_line - 1 : hit.end_line])
        if hit.path == self._facts:  # a fact is indexed in its words alone
            from memlines.text.fact_note import ENDED  # which takes time to import

            return {*words_of(hit.snippet.partition(ENDED)[0])} <= {*words_of(lines)}
        return hit.snippet in lines or all(line in lines for line in hit.snippet.split("\n"))

    def _note(self, path: str) -> list[str] | None:
        real = os.path.normpath(os.path.join(self._root, path))  # noqa: PTH118 (half of the time this takes)
        kept = self._kept.get(path)
        try:
            if kept and fingerprint_of(os.lstat(real)) == kept[0]:
                return kept[1]
        except OSError:
            return None
        inside = contains(self._root, Path(real))
        root = str(self._root) if inside else ""  # an extra path may pass through links
        file = FoundFile(path, real, "memory", _UNKNOWN, root=root)
        read = read_document(file, self._settings.files.max_bytes)
        if not isinstance(read, Document):
            return None
        lines = without_private_blocks(read.text).split("\n")
        if read.settled and len(read.text) <= _LONGEST_KEPT:
            self._kept[path] = read.fingerprint, lines
            if len(self._kept) > _MOST_KEPT:
                self._kept.pop(next(iter(self._kept)), None)
        return lines
