"""Find out what a sync would do and cost, without writing anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from memlines.embed.base import Provider, Use
from memlines.embed.codec import is_packed
from memlines.embed.spending.budget import BATCH_SHARES, Budget, estimate
from memlines.embed.spending.ledger import Ledger
from memlines.errors import StoreDamaged
from memlines.files.tombstones import Forgotten
from memlines.index.store.sqlite import cache
from memlines.index.store.sqlite.db import in_groups, system_errors
from memlines.index.store.sqlite.index import Index
from memlines.index.sync.discovery import (
    find_files,
    is_unchanged,
    missing_paths,
    suspiciously_gone,
)
from memlines.index.sync.job import Job, covers_same_files, identity_of, reason_to_rebuild, space_of
from memlines.index.sync.words import cut_document, read_file
from memlines.records import dataclass
from memlines.text.chunk import text_hash
from memlines.types import Chunk, Discovery, Document, FoundFile, IndexedFile, Problem, Space

LABEL = "reading"

_GROUP = 512
"""Chunks, or vectors, that are looked at together."""


@dataclass(frozen=True, slots=True)
class SyncPlan:
    """What a sync would do."""

    new: tuple[str, ...] = ()
    """The files that are new."""
    changed: tuple[str, ...] = ()
    """The files that changed."""
    removed: tuple[str, ...] = ()
    """The files that are gone."""
    unchanged: int = 0
    """How many files are as before."""
    held_back: int = 0
    """How many files look deleted and would stay in the index, because so many are gone at once."""
    skipped: tuple[Problem, ...] = ()
    failed: tuple[Problem, ...] = ()
    rebuild: str = ""
    """Why the whole index would be rebuilt; empty if it would not be."""
    provider: str = "none"
    model: str = ""
    sends_text_to: str = ""
    """Where text would go, in words."""
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
    """Whether they are submitted as a batch, which is slower and cheaper."""
    stopped_by: str = ""
    """The limit that would stop the sync before all texts are sent; empty if none would."""


def plan(job: Job) -> SyncPlan:
    """Return what a sync would do now."""
    with system_errors(job.index_file):
        try:
            index = Index.reader(job.index_file)
            if index is None:
                return _Survey(job, None).plan()
            with index, index.snapshot():
                return _Survey(job, index).plan()
        except StoreDamaged:  # a sync sets it aside, with all the vectors in it
            return replace(_Survey(job, None).plan(), rebuild="damaged")


class _Survey:
    """A look at the files and the index, in the steps of a sync."""

    def __init__(self, job: Job, index: Index | None) -> None:
        self.job = job
        self.index = index
        self.known: Mapping[str, IndexedFile] = index.files() if index else {}
        self.rebuild = reason_to_rebuild(index, job.settings, force=job.force) if index else ""
        self.new: list[str] = []
        self.changed: list[str] = []
        self.removed: list[str] = []
        self.problems: list[Problem] = []
        self.unchanged = 0
        self.cut: set[str] = set()
        """The files that were cut into new chunks."""
        self.hashes: set[str] = set()
        """The hashes of what was read, to distinguish a file that moved from one that is gone."""
        self.chunks: Counter[str] = Counter()
        """How many chunks have each text that has to be embedded, by its hash."""
        self.tokens: dict[str, int] = {}
        """About how many tokens each of these texts has."""
        self.texts: dict[str, tuple[str, str]] = {}
        """The hash and the heading of a chunk with each of them."""

    def plan(self) -> SyncPlan:
        settings, provider = self.job.settings, self.job.provider
        discovery = find_files(self.job.workspace, settings, self.job.heads)
        self._read_files(discovery)
        held_back = self._find_missing(discovery)
        problems = [*discovery.problems, *self.problems]
        plan = SyncPlan(
            new=tuple(self.new),
            changed=tuple(self.changed),
            removed=tuple(self.removed),
            unchanged=self.unchanged,
            held_back=held_back,
            skipped=tuple(problem for problem in problems if not problem.failed),
            failed=tuple(problem for problem in problems if problem.failed),
            rebuild=self.rebuild,
        )
        if provider is None:
            return plan
        made_before: set[str] = set()
        if self.index is not None:
            self._add_pending(self.index, space_of(provider))
            made_before = self._made_before(self.index, provider)
        return self._with_costs(plan, provider, made_before)

    def _read_files(self, discovery: Discovery) -> None:
        trusted: Mapping[str, IndexedFile] = {} if self.rebuild else self.known
        suspects = []
        for file in discovery.files:
            is_same = is_unchanged(file, trusted)
            problem = trusted[file.path].problem if is_same else None
            if is_same and problem is None:
                self.unchanged += 1
            elif problem is None or problem.failed:
                suspects.append(file)
            else:
                self.problems.append(problem)
        forgotten = Forgotten.load(self.job.workspace)
        for done, file in enumerate(suspects):
            self.job.progress(done, len(suspects), LABEL)
            self._read_file(file, trusted.get(file.path), forgotten)
        if suspects:
            self.job.progress(len(suspects), len(suspects), LABEL)

    def _read_file(self, file: FoundFile, entry: IndexedFile | None, forgotten: Forgotten) -> None:
        settings = self.job.settings
        content = read_file(file, settings.files.max_bytes)
        if content is None:
            self.removed += [file.path] if file.path in self.known else []  # gone since it was listed
        elif isinstance(content, Problem):
            self.problems.append(content)
        elif entry is not None and entry.hash == content.hash:
            self.unchanged += 1
        else:
            self.hashes.add(content.hash)
            cut = cut_document(content, file, settings, forgotten)
            if isinstance(cut, Problem):
                self.problems.append(cut)
            elif cut is not None:
                self._add_document(content, cut.chunks)

    def _add_document(self, document: Document, chunks: list[Chunk]) -> None:
        path = document.path
        entry = self.known.get(path)
        self.cut.add(path)
        if entry is None or entry.problem is not None:
            self.new.append(path)
        elif entry.hash != document.hash:
            self.changed.append(path)
        else:
            self.unchanged += 1  # read only because the index is rebuilt
        # Equal pieces of one long line are one chunk, as in the index.
        self._add_texts({(chunk.start_line, chunk.end_line, chunk.hash): chunk for chunk in chunks}.values())

    def _replaced(self) -> set[str]:
        """Return the files whose chunks leave the index; those that could not be read keep theirs."""
        return {*self.removed, *self.cut, *(one.path for one in self.problems if not one.failed)}

    def _add_texts(self, chunks: Iterable[Chunk]) -> None:
        for chunk in chunks:
            digest = text_hash(chunk.embedded_text)
            self.chunks[digest] += 1
            if digest not in self.tokens:
                self.tokens[digest] = estimate(chunk.embedded_text)
                self.texts[digest] = chunk.hash, chunk.heading

    def _find_missing(self, discovery: Discovery) -> int:
        """Add the files that are gone; return how many of them would stay in the index all the same."""
        missing, held_back = missing_paths(discovery, self.known), set()
        before = self.index.identity() if self.index else {}
        if not self.job.force and covers_same_files(before, identity_of(self.job.settings)):
            held_back = set(suspiciously_gone(missing, self.known, self.hashes))
        self.removed += sorted(set(missing) - held_back)
        return len(held_back)

    def _add_pending(self, index: Index, space: Space) -> None:
        """Add the texts of the chunks that stay in the index and have no vector."""
        if self.rebuild:
            # Those of files that cannot be seen are taken over; all others were cut again.
            for path in self.known.keys() - self._replaced():
                self._add_texts(index.chunks_of(path))
            return
        leaving = set(index.numbers_of(self._replaced()))
        vectors = index.vectors_in(space)
        last = 0
        while group := index.pending(vectors, last, _GROUP):
            last = group[-1][0]
            self._add_texts(chunk for number, chunk in group if number not in leaving)

    def _made_before(self, index: Index, provider: Provider) -> set[str]:
        """Return the hashes of texts whose vectors the index or its cache holds."""
        space, limits = space_of(provider), self.job.settings.cache
        entry, vectors = index.state.entry_of(space), index.vectors_in(space)
        dims = (entry and entry.dims) or provider.dims or cache.dims_of(index.connection, space)
        alike = index.numbers_like(self.texts, vectors)
        if not limits.enabled and not self.rebuild:  # the vectors of chunks that go are lost
            leaving = {*index.numbers_of(self._replaced())}
            alike = {digest: number for digest, number in alike.items() if number not in leaving}
        found = {*alike}
        if limits.enabled and dims:
            for some in in_groups(self.tokens.keys() - found, _GROUP):
                cached = cache.cached(index.connection, space, some, dims)
                found.update(digest for digest, blob in cached.items() if is_packed(blob, dims))
        return found

    def _with_costs(self, plan: SyncPlan, provider: Provider, made_before: set[str]) -> SyncPlan:
        """Return a plan with what has to be embedded, and what that costs."""
        settings = self.job.settings
        to_send = self.tokens.keys() - made_before
        tokens = sum(self.tokens[digest] for digest in to_send)
        batch = settings.embeddings.batch
        in_batch = batch.enabled and provider.id in BATCH_SHARES and len(to_send) >= batch.min_texts
        use: Use = "batch" if in_batch else "passages"
        budget = Budget(settings.spend, provider.id, provider.model, Ledger())
        refusal = budget.refusal(tokens, use) if to_send else None
        return replace(
            plan,
            provider=provider.id,
            model=provider.model,
            sends_text_to=provider.sends_to,
            chunks=self.chunks.total(),
            known_chunks=sum(number for digest, number in self.chunks.items() if digest in made_before),
            texts=len(to_send),
            tokens=tokens,
            dollars=budget.cost(tokens, use) if to_send else 0.0,
            in_batch=in_batch,
            stopped_by=str(refusal) if refusal else "",
        )
