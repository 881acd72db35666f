"""What a sync would do and cost, found out without writing anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from memlines.embed.base import Provider, Use
from memlines.embed.passages import is_packed
from memlines.embed.spending.budget import Budget
from memlines.embed.spending.ledger import Ledger
from memlines.embed.spending.prices import BATCH_SHARES, estimate
from memlines.errors import StoreDamaged
from memlines.files.tombstones import Forgotten
from memlines.index.store.sqlite import cache, spaces
from memlines.index.store.sqlite.db import system_errors
from memlines.index.store.sqlite.index import Index
from memlines.index.sync.discovery import (
    find_files,
    in_groups,
    is_unchanged,
    missing_paths,
    suspiciously_gone,
)
from memlines.index.sync.identity import covers_same_files, identity_of, reason_to_rebuild, space_of
from memlines.index.sync.job import Job
from memlines.index.sync.words import cut_document, read_file
from memlines.settings import Settings
from memlines.text.chunk import chunk_id, text_hash
from memlines.types import Chunk, Discovery, Document, FoundFile, IndexedFile, Problem, Space

LABEL = "reading"

_GROUP = 512
"""Chunks, or vectors, that are looked at together."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a sync would do. `new`, `changed` and `removed` name paths.

    `held_back` counts the files that look deleted and would stay in the index, because so many are gone
    at once. `rebuild` says why the whole index would be built anew, and is empty if it would not be.
    """

    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: int = 0
    held_back: int = 0
    skipped: tuple[Problem, ...] = ()
    failed: tuple[Problem, ...] = ()
    rebuild: str = ""
    provider: str = "none"
    model: str = ""
    sends_text_to: str = ""
    chunks: int = 0
    """How many chunks lack a vector."""
    known_chunks: int = 0
    """How many of these get one that was made before, without a call."""
    texts: int = 0
    """How many different texts the others come to: what is sent."""
    tokens: int = 0
    """About how many tokens these texts have."""
    dollars: float | None = 0.0
    """About what they cost; nothing if the price is not known."""
    in_batch: bool = False
    """Whether they are handed in as a batch, which is slower and cheaper."""
    stopped_by: str = ""
    """The limit that would stop the sync before all texts are sent; empty if none would."""


@dataclass(slots=True)
class _Texts:
    """What is to be embedded: how many chunks each text is for, and about how many tokens it has."""

    chunks: Counter[str] = field(default_factory=Counter)
    tokens: dict[str, int] = field(default_factory=dict)

    def add(self, text: str) -> None:
        digest = text_hash(text)
        self.chunks[digest] += 1
        if digest not in self.tokens:
            self.tokens[digest] = estimate(text)


def plan(job: Job) -> Plan:
    """Return what a sync would do now."""
    with system_errors(job.index_file):
        try:
            with _index_of(job) as index:
                return _Survey(job, index).plan()
        except StoreDamaged:  # a sync sets it aside, with all the vectors in it
            return replace(_Survey(job, None).plan(), rebuild="damaged")


@contextmanager
def _index_of(job: Job) -> Iterator[Index | None]:
    """Open the index for reading, if there is one."""
    index = Index.reader(job.index_file)
    if index is None:
        yield None
        return
    try:
        with index.errors(), index.snapshot():
            yield index
    finally:
        index.close()


class _Survey:
    """A look at the files and the index, in the steps of a sync."""

    def __init__(self, job: Job, index: Index | None) -> None:
        self.job = job
        self.settings = job.settings
        self.index = index
        self.known: Mapping[str, IndexedFile] = index.files() if index else {}
        self.rebuild = self._reason_to_rebuild()
        self.trusted: Mapping[str, IndexedFile] = {} if self.rebuild else self.known
        self.new: list[str] = []
        self.changed: list[str] = []
        self.removed: list[str] = []
        self.held_back: list[str] = []
        self.problems: list[Problem] = []
        self.unchanged = 0
        self.replaced: set[str] = set()
        """The files whose chunks leave the index."""
        self.hashes: set[str] = set()
        """The hashes of what was read, to tell a file that moved from one that is gone."""
        self.texts = _Texts()

    def plan(self) -> Plan:
        settings = self.settings
        discovery = find_files(self.job.workspace, settings, self.job.heads)
        self._look_at_files(discovery)
        self._look_for_missing(discovery)
        problems = [*discovery.problems, *self.problems]
        plan = Plan(
            new=tuple(self.new),
            changed=tuple(self.changed),
            removed=tuple(self.removed),
            unchanged=self.unchanged,
            held_back=len(self.held_back),
            skipped=tuple(problem for problem in problems if not problem.failed),
            failed=tuple(problem for problem in problems if problem.failed),
            rebuild=self.rebuild,
        )
        provider = self.job.provider
        if provider is None:
            return plan
        made_before: set[str] = set()
        if self.index is not None:
            self._look_for_waiting(self.index, space_of(provider))
            made_before = {*self._cached(self.index, provider), *self._carried(self.index, provider)}
        return _with_costs(plan, settings, provider, self.texts, made_before)

    def _reason_to_rebuild(self) -> str:
        if self.index is None:
            return ""
        reason = reason_to_rebuild(self.index, self.settings)
        return reason or ("forced" if self.job.force and self.index.synced_at else "")

    def _look_at_files(self, discovery: Discovery) -> None:
        forgotten = Forgotten.load(self.job.workspace)
        suspects = []
        for file in discovery.files:
            is_same = is_unchanged(file, self.trusted)
            problem = self.trusted[file.path].problem if is_same else None
            if is_same and problem is None:
                self.unchanged += 1
            elif problem is None or problem.failed:
                suspects.append(file)
            else:
                self.problems.append(problem)
        for done, file in enumerate(suspects):
            self.job.progress(done, len(suspects), LABEL)
            self._look_at_file(file, forgotten)
        if suspects:
            self.job.progress(len(suspects), len(suspects), LABEL)

    def _look_at_file(self, file: FoundFile, forgotten: Forgotten) -> None:
        content = read_file(file, self.settings.files.max_bytes)
        if content is None:  # gone since it was listed
            self._lose(file.path)
        elif isinstance(content, Problem):
            self._meet(content)
        elif file.path in self.trusted and self.trusted[file.path].hash == content.hash:
            self.unchanged += 1
        else:
            self.hashes.add(content.hash)
            cut = cut_document(content, file, self.settings, forgotten)
            if isinstance(cut, Problem):
                self._meet(cut)
            elif cut is not None:
                self._put(content, cut.chunks)

    def _put(self, document: Document, chunks: list[Chunk]) -> None:
        path = document.path
        entry = self.known.get(path)
        self.replaced.add(path)
        if entry is None or entry.problem is not None:
            self.new.append(path)
        elif entry.hash != document.hash:
            self.changed.append(path)
        else:
            self.unchanged += 1  # read only because the index is built anew
        # Equal pieces of one long line are one chunk, as in the index.
        for chunk in {chunk_id(document.source, path, chunk): chunk for chunk in chunks}.values():
            self.texts.add(chunk.embedded_text)

    def _meet(self, problem: Problem) -> None:
        self.problems.append(problem)
        if not problem.failed:  # what could not be read keeps its chunks
            self.replaced.add(problem.path)

    def _lose(self, path: str) -> None:
        if path in self.known:
            self.removed.append(path)
            self.replaced.add(path)

    def _look_for_missing(self, discovery: Discovery) -> None:
        missing = missing_paths(discovery, self.known)
        before = self.index.identity() if self.index else {}
        if not self.job.force and covers_same_files(before, identity_of(self.settings)):
            self.held_back = suspiciously_gone(missing, self.known, self.hashes)
        for path in sorted(set(missing) - set(self.held_back)):
            self._lose(path)

    def _look_for_waiting(self, index: Index, space: Space) -> None:
        """Add the texts of the chunks that stay in the index and have no vector."""
        if self.rebuild:
            # Those of files that cannot be seen are taken over; all others were cut anew.
            for path in self.known.keys() - self.replaced:
                for chunk in index.chunks_of(path):
                    self.texts.add(chunk.embedded_text)
            return
        doomed = set(index.numbers_of(self.replaced))
        vectors = index.vectors_in(space)
        last = 0
        while group := index.pending(vectors, last, _GROUP):
            last = group[-1][0]
            for number, chunk in group:
                if number not in doomed:
                    self.texts.add(chunk.embedded_text)

    def _cached(self, index: Index, provider: Provider) -> Iterator[str]:
        """Yield the hashes of the texts whose vectors the cache holds."""
        space = space_of(provider)
        entry = spaces.entry_of(index.connection, space)
        dims = (entry and entry.dims) or provider.dims or cache.dims_of(index.connection, space)
        if not self.settings.cache.enabled or not dims:
            return
        for group in in_groups(self.texts.tokens, _GROUP):
            found = cache.cached(index.connection, space, group, dims)
            yield from (digest for digest, blob in found.items() if is_packed(blob, dims))

    def _carried(self, index: Index, provider: Provider) -> Iterator[str]:
        """Yield the hashes of the texts whose vectors a sync saves from chunks that go."""
        vectors = index.vectors_in(space_of(provider))
        limits = self.settings.cache
        if self.rebuild:
            numbers: Iterable[int] = (number for number, _ in vectors.by_chunk())
        elif limits.enabled and cache.count(index.connection) >= limits.max_entries:
            numbers = index.numbers_of(self.replaced)
        else:
            return  # the cache has them
        for group in in_groups(numbers, _GROUP):
            chunks = index.chunks(vectors.of(group))
            yield from (text_hash(chunk.embedded_text) for chunk in chunks.values())


def _with_costs(
    plan: Plan, settings: Settings, provider: Provider, texts: _Texts, made_before: set[str]
) -> Plan:
    """Return a plan with what has to be embedded, and what that costs."""
    to_send = texts.tokens.keys() - made_before
    tokens = sum(texts.tokens[digest] for digest in to_send)
    batch = settings.embeddings.batch
    in_batch = batch.enabled and provider.id in BATCH_SHARES and len(to_send) >= batch.min_texts
    budget = Budget(settings.spend, provider.id, provider.model, Ledger())
    use: Use = "batch" if in_batch else "passages"
    refusal = budget.refusal(tokens, use) if to_send else None
    return replace(
        plan,
        provider=provider.id,
        model=provider.model,
        sends_text_to=provider.sends_to,
        chunks=texts.chunks.total(),
        known_chunks=sum(number for digest, number in texts.chunks.items() if digest in made_before),
        texts=len(to_send),
        tokens=tokens,
        dollars=budget.cost(tokens, use) if to_send else 0.0,
        in_batch=in_batch,
        stopped_by=str(refusal) if refusal else "",
    )
