"""Answer a query from the index of an open memory, and compare what is quoted with the notes.

A query is embedded while nothing is held, so that no other search waits for the network. Then one snapshot of
the index answers, unless another model took over meanwhile.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
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
from memlines.index.search.query import Query
from memlines.index.search.retrievers import CandidateSet
from memlines.index.search.run import Found, embed, search
from memlines.index.store.sqlite.index import Index
from memlines.index.store.sqlite.reader import IndexState
from memlines.index.store.sqlite.spaces import SpaceEntry
from memlines.memory.open_index import silent
from memlines.memory.scopes import merge_warnings
from memlines.memory.status import fallback_of
from memlines.paths import Workspace, contains, note_path
from memlines.records import dataclass
from memlines.settings import Settings
from memlines.text.aliases import NO_EXPANSION
from memlines.text.terms import telling_words, words_of
from memlines.types import (
    Document,
    Fingerprint,
    FoundFile,
    Hit,
    Mode,
    Progress,
    SearchResult,
    Space,
)

if TYPE_CHECKING:
    from memlines.memory.manager import Manager

Narrow = Callable[[Index], CandidateSet]
"""Names the chunks of an open index that alone may answer."""

_FLOAT_BYTES = 4
_TRIES = 3
"""How often a query is embedded again because another model took over meanwhile."""

_UNKNOWN = Fingerprint(0, 0, 0)
_MOST_KEPT = 200
_LONGEST_KEPT = 50_000
"""How many notes are kept to be compared with again, and the length of one: at most 10 million characters."""


@dataclass(frozen=True, slots=True)
class Embedder:
    """The provider that embeds a query, the space of its vectors, and what is wrong with the answer."""

    provider: Provider | None
    space: Space | None = None
    doubts: tuple[str, ...] = ()
    fallback: Mapping[str, Any] | None = None


def search_fresh(
    manager: Manager, query: Query, progress: Progress = silent, narrow: Narrow | None = None
) -> SearchResult:
    """Bring the index up to date and answer a query from it; a damaged index is rebuilt first.

    A note that does not hold what the index says of it is indexed again, and only what it holds is shown.
    """
    words_only = query.mode == "words"
    warnings, state = manager.refresh(progress, words_only=words_only)
    try:
        result, is_ours = _search(manager, query, warnings, state, narrow)
    except StoreDamaged:
        warnings += manager.replace_damaged(progress, words_only=words_only).warnings
        result, is_ours = _search(manager, query, warnings, manager.read_state(), narrow)
    wrong = {hit.path for hit in result.hits if manager.quotes.is_true(hit) is False}
    if not wrong and is_ours:
        return result
    if wrong:
        try:
            manager.read_again(wrong)
            result, is_ours = _search(manager, query, warnings, manager.read_state(), narrow)
        except (StoreBusy, StoreReadOnly, StoreFull) as error:
            doubt = f"lines that are no longer in the notes are left out: {error}"
            result = replace(result, warnings=(*result.warnings, doubt))
    # What cannot be compared is shown only if we made the index.
    shown = (True, None) if is_ours else (True,)
    return replace(result, hits=tuple([hit for hit in result.hits if manager.quotes.is_true(hit) in shown]))


def search_as_indexed(manager: Manager, query: Query) -> SearchResult:
    """Answer a query from the index as it is, without a look at the files."""
    return _search(manager, query, [], manager.read_state(), None)[0]


def _search(
    manager: Manager,
    query: Query,
    warnings: list[str],
    state: IndexState | None,
    narrow: Narrow | None,
) -> tuple[SearchResult, bool]:
    """Answer a query by words and by vectors, or by words alone where there is no vector for it.

    Return also whether the index is known to be made from these notes.
    """
    if query.is_calibrated and query.expansion is NO_EXPANSION and (names := manager.aliases.read()).groups:
        query = query.expand(names.expand(query.text))
    for _ in range(_TRIES):
        chosen = choose_embedder(manager, query.mode, state)
        asked = query
        if chosen.space is None and query.mode != "words":  # nothing has a vector to compare with
            asked = replace(query, mode="words")
        elif query.mode == "hybrid" and not query.settings.hybrid.enabled:
            asked = replace(query, mode="vectors")
        vector = None
        if chosen.provider is not None and asked.mode != "words":
            try:
                if asked.vectors is None or chosen.space is None:
                    vector = embed(asked, chosen.provider)
                else:
                    vector = _embed_once(asked.vectors, asked, chosen.space, chosen.provider)
                in_pieces = chosen.provider.words_in_pieces(telling_words(asked.text))
                asked = replace(asked, in_pieces=in_pieces) if in_pieces else asked
            except EmbeddingError as error:
                if isinstance(error, ModelChanged):
                    manager.forget_providers()
                chosen, asked = _without_vector(chosen, error), replace(asked, mode="words")
        found = _search_snapshot(manager, asked, vector, chosen, warnings, narrow)
        if isinstance(found, tuple):
            return found
        state = found
    doubt = "answered by words only: another model took over again and again"
    return _search(manager, replace(query, mode="words"), [*warnings, doubt], state, narrow)


def _embed_once(
    vectors: dict[tuple[Space, str], bytes], query: Query, space: Space, provider: Provider
) -> bytes | None:
    """Return the vector of a query, which another memory that is asked may have made already."""
    known = space, query.text
    if known not in vectors and (vector := embed(query, provider)):
        vectors[known] = vector
    return vectors.get(known)


def choose_embedder(manager: Manager, mode: Mode, state: IndexState | None) -> Embedder:
    """Return the provider whose vectors answer, if it can be asked, and what is wrong with using them."""
    if mode == "words":
        return Embedder(None)
    choice = manager.chosen()
    reasons = (choice.reason,) if choice.reason else ()
    if choice.provider is None:
        if mode == "vectors":
            raise UsageError(
                "there are no vectors to search", todo="Set embeddings.provider, or search by words"
            )
        return Embedder(None, None, reasons, fallback_of(choice, None))
    now = state.serving if state else None
    fallback = fallback_of(choice, now)
    if now is None:
        return Embedder(choice.provider, None, reasons if state else (), fallback)
    provider = manager.provider_of(now.space)
    if provider is None:
        wanted = f"{choice.provider.id} ({choice.provider.model})"
        doubt = f"the vectors are of {now.space}, which may not or cannot be asked now; until those of"
        waiting = f"{doubt} {wanted} are complete, words alone answer"
        return Embedder(None, None, (*reasons, waiting), fallback)
    return Embedder(provider, now.space, reasons, fallback)


def _search_snapshot(
    manager: Manager,
    query: Query,
    vector: bytes | None,
    chosen: Embedder,
    warnings: list[str],
    narrow: Narrow | None,
) -> tuple[SearchResult, bool] | IndexState:
    """Answer from one snapshot; return its state if another model took over since."""
    settings = manager.settings
    provider = chosen.provider
    # Sessions that are asked for by name are missed, not those that the settings name among all.
    wants_sessions = "sessions" in query.filters.sources or (
        "sessions" in query.sources and query.sources != settings.sources
    )
    lacks_sessions = False
    with manager.opened() as index:
        if index is None:
            warnings = [*warnings, *([_say_unread(manager, manager.unread)] if manager.unread else [])]
            empty = SearchResult((), "none", "", "words", 0, tuple(warnings), fallback=chosen.fallback)
            return (_without_sessions(empty, settings) if wants_sessions else empty), True
        with index.snapshot():
            state = index.state
            now = state.serving
            if vector is not None and now is not None:
                if now.space != chosen.space:
                    return state
                if error := _contradiction(now, provider, vector):
                    chosen, query, vector = _without_vector(chosen, error), replace(query, mode="words"), None
            within = narrow(index) if narrow else None
            model = provider.model if provider else ""
            sharing = manager.sharing if query.workspaces and within is None else None
            asked = sharing.publisher.prepare_search(index, query.workspaces) if sharing else None
            found = Found() if asked else search(index, query, vector, model, within)
            chunks = index.count_chunks()
            pending = chunks - index.count_vectors() if provider else 0
            if wants_sessions:
                lacks_sessions = all(source != "sessions" for source, _, _ in index.counts_by_source())
            unread = manager.unread + state.unread if narrow is None else 0
            is_ours = index.origin not in ("elsewhere", "unknown")
    if sharing and asked:  # while nothing is held
        shared = sharing.search(asked, query, vector, model)
        warnings = [*warnings, *shared.warnings]
        if shared.found is None:
            own = replace(query, workspaces=())
            return _search_snapshot(manager, own, vector, chosen, warnings, narrow)
        found, chunks = shared.found, shared.chunks
    lacks_sessions = lacks_sessions and all(hit.source != "sessions" for hit in found.hits)
    result = SearchResult(
        hits=tuple([redact_hit(hit, settings) if hit.source == "sessions" else hit for hit in found.hits]),
        provider=provider.id if provider else "none",
        model=provider.model if provider else "",
        mode=query.mode,
        pending=pending,
        warnings=merge_warnings(
            warnings, chosen.doubts, found.warnings, [_say_unread(manager, unread)] if unread else ()
        ),
        likelihood=found.likelihood,
        confident=found.confident,
        nearest=found.nearest,
        corrections=found.corrections,
        aliases=query.expansion.shown,
        chunks=chunks,
        unindexed=manager.unindexed,
        fallback=chosen.fallback,
    )
    return (_without_sessions(result, settings) if lacks_sessions else result), is_ours


def _say_unread(manager: Manager, number: int) -> str:
    """Say how many files and folders could not be read, and how to see which."""
    what = "1 file or folder" if number == 1 else f"{number} files or folders"
    where, option = (" of your personal memory", " --personal") if manager.prefix else ("", "")
    missing = f"{what}{where} could not be read, so something may be missing from this answer"
    return f"{missing}; 'memlines doctor{option}' shows which"


def _without_vector(chosen: Embedder, error: EmbeddingError) -> Embedder:
    """Return the same, where the query has no vector for a reason."""
    wanted = chosen.provider.id if chosen.provider else "none"
    fallback = chosen.fallback or {"from": wanted, "to": "none", "reason": str(error)}
    return replace(chosen, doubts=(*chosen.doubts, f"answered by words only: {error}"), fallback=fallback)


def _contradiction(now: SpaceEntry, provider: Provider | None, vector: bytes) -> ModelChanged | None:
    """Return the error to report if a vector cannot be of the model whose vectors the index holds."""
    name = provider.answers_as if provider else ""
    is_same_name = not (now.answers_as and name and now.answers_as != name)
    if is_same_name and now.dims in (None, len(vector) // _FLOAT_BYTES):
        return None
    return ModelChanged(
        f"{now.space} is another model now than the one that made the vectors of the index",
        todo="Name another model in embeddings.model, or run 'memlines model renew' to make all again",
    )


def _without_sessions(result: SearchResult, settings: Settings) -> SearchResult:
    """Return an answer that says that no sessions are indexed, and what to do about it."""
    from memlines.memory.conversations.conversation import SWITCH_ON

    todo = "'memlines sessions list' shows which there are" if "sessions" in settings.sources else SWITCH_ON
    warnings = (*result.warnings, f"no sessions are indexed. {todo}")
    return replace(result, warnings=warnings, missing_sources=("sessions",))


def redact_hit(hit: Hit, settings: Settings) -> Hit:
    """Take secrets out of what is shown of a conversation once more: a rule may be newer than the index."""
    from memlines.text.redaction import redact, rules_of

    return replace(hit, snippet=redact(hit.snippet, rules_of(settings.redaction.rules)).text)


class Quotes:
    """The notes that hits cite, kept while their fingerprints stay the same.

    What an answer quotes is compared with their lines: an index may lag behind them, or be forged.
    """

    def __init__(self, workspace: Workspace, settings: Settings) -> None:
        self._root = workspace.root
        self._settings = settings
        self._facts = note_path(settings.facts.file)
        self._kept: dict[str, tuple[Fingerprint, list[str]]] = {}

    def is_true(self, hit: Hit) -> bool | None:
        """Return whether the lines that a hit cites hold what it quotes; `None` if they cannot be read.

        A conversation is not compared: what the index holds of it is not what its file holds.
        """
        note = self.lines_of(hit.path) if hit.source == "memory" else None
        if note is None:
            return None
        lines = "\n".join(note[hit.start_line - 1 : hit.end_line])
        if hit.path == self._facts:  # a fact is indexed in its words alone
            from memlines.text.fact_note import ENDED  # which takes time to import

            return {*words_of(hit.snippet.partition(ENDED)[0])} <= {*words_of(lines)}
        return hit.snippet in lines or all(line in lines for line in hit.snippet.split("\n"))

    def lines_of(self, path: str) -> list[str] | None:
        """Return the lines of a file without private blocks, or nothing if it cannot be read."""
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
