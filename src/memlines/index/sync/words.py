"""Compare the files with the index, and write what changed.

Vectors of chunks that go are put into the cache for texts that stay: the cache holds fewer vectors than a
large index has, and a file that was moved or changed should not cost a call.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from memlines.embed.passages import is_sound
from memlines.files.read import is_settled, read_document, without_private_blocks
from memlines.files.tombstones import Forgotten
from memlines.index.store.sqlite import cache, spaces
from memlines.index.store.sqlite.changes import tail_of
from memlines.index.store.sqlite.db import transaction
from memlines.index.store.sqlite.index import Index
from memlines.index.sync.discovery import is_unchanged, missing_paths, suspiciously_gone
from memlines.paths import note_path
from memlines.settings import Cache, Settings
from memlines.text.chunk import chunk_note, text_hash
from memlines.types import Cut, Discovery, Document, FoundFile, IndexedFile, Problem, Progress, Tail

_GROUP = 256


def carry_vectors(old: Index, new: Index) -> None:
    """Put every vector of an index, of each of its spaces, into the cache of the one that replaces it."""
    for entry in spaces.entries(old.connection):
        numbers = (number for number, _ in old.vectors_in(entry.space).by_chunk())
        _carry(old, new, entry, numbers)


def carry_chunks(index: Index, numbers: Collection[int]) -> None:
    """Put the vectors of chunks into the cache before they go."""
    for entry in spaces.entries(index.connection) if numbers else ():
        _carry(index, index, entry, numbers)


def _carry(old: Index, new: Index, entry: spaces.SpaceEntry, numbers: Iterable[int]) -> None:
    vectors = old.vectors_in(entry.space)
    dims = entry.dims or vectors.dims() or 0
    for group in _groups(numbers):
        blobs, sentences = vectors.of(group), vectors.sentences(group)
        packed = {number: blob + sentences.get(number, b"") for number, blob in blobs.items()}
        sound = {number: blob for number, blob in packed.items() if is_sound(blob, dims)}
        known = {text_hash(chunk.embedded_text): sound[number] for number, chunk in old.chunks(sound).items()}
        with transaction(new.connection):
            cache.remember(new.connection, entry.space, known, dims)


def _groups(numbers: Iterable[int]) -> Iterator[list[int]]:
    rest = iter(numbers)
    while group := list(islice(rest, _GROUP)):
        yield group


LABEL = "indexing"


@dataclass(slots=True)
class Changes:
    """What an update did, while it is being done."""

    indexed: list[str] = field(default_factory=list)
    unchanged: int = 0
    removed: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    held_back: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    left: int = 0
    """How many files were not read, because the time was over."""
    read: set[str] = field(default_factory=set)
    """The hashes of what was read, to tell a file that moved from one that is gone."""
    keeps_vectors: bool = False
    """Whether the vectors of chunks that go have to be put into the cache, which may have forgotten them."""


def update_words(
    index: Index,
    discovery: Discovery,
    settings: Settings,
    progress: Progress,
    *,
    forgotten: Forgotten,
    force: bool,
    until: float | None = None,
) -> Changes:
    """Make the words of the index equal the files; one transaction a file.

    What was forgotten is not read from transcripts again. If a suspicious number of files is gone, they
    stay in the index, except with `force`. At the moment `until` it stops: files that are left may hold what
    seems to be gone, so nothing is removed then.
    """
    sure = index.sure_files()
    doubtful = [file for file in discovery.files if (file.path, *file.fingerprint) not in sure]
    known = index.files_at(file.path for file in doubtful)
    changes = Changes(
        unchanged=len(discovery.files) - len(doubtful), keeps_vectors=_is_full(index, settings.cache)
    )
    all_found = changes.unchanged + len(known) == index.count_known()
    before = {} if all_found else index.files()
    suspects = []
    for file in doubtful:
        problem = known[file.path].problem if is_unchanged(file, known) else None
        # One that could not be read is tried again: new permissions leave no trace in its fingerprint.
        suspects.append(file) if problem is None or problem.failed else changes.problems.append(problem)
    # What is most likely unchanged, and only read again to be sure, comes last: the time may not suffice.
    suspects.sort(key=lambda file: _looks_known(file, known))
    for done, file in enumerate(suspects):
        if until is not None and time.monotonic() >= until:
            changes.left = sum(not _looks_known(late, known) for late in suspects[done:])
            break
        progress(done, len(suspects), LABEL)
        _update_file(index, file, known.get(file.path), settings, forgotten, changes)
    if changes.left:
        return changes
    if suspects:
        progress(len(suspects), len(suspects), LABEL)
    _remove_missing(index, discovery, before, changes, force=force)
    return changes


def _looks_known(file: FoundFile, known: Mapping[str, IndexedFile]) -> bool:
    return file.path in known and known[file.path].fingerprint == file.fingerprint


def _is_full(index: Index, limits: Cache) -> bool:
    return limits.enabled and cache.count(index.connection) >= limits.max_entries


def _remove_missing(
    index: Index, discovery: Discovery, known: Mapping[str, IndexedFile], changes: Changes, *, force: bool
) -> None:
    missing = missing_paths(discovery, known) if known else []
    if not force:
        changes.held_back = suspiciously_gone(missing, known, changes.read)
    held_back = set(changes.held_back)
    for path in missing:
        if path not in held_back:
            if changes.keeps_vectors:
                carry_chunks(index, list(index.numbers_of([path])))
            index.remove(path)
            changes.removed.append(path)


def keep_unseen(old: Index, new: Index, discovery: Discovery, changes: Changes, *, brake: bool) -> None:
    """Take over what an index knows of files that cannot be seen while it is replaced.

    These are files that cannot be read or looked at, and with `brake` a suspicious number that is gone.
    """
    failed = {problem.path: problem for problem in changes.problems if problem.failed}
    found = {file.path for file in discovery.files}
    known = old.files()
    missing = missing_paths(discovery, known)
    if brake:
        changes.held_back = suspiciously_gone(missing, known, changes.read)
    gone = set(missing) - set(changes.held_back)
    for path, entry in known.items():
        out_of_sight = path not in found and path not in gone
        chunks = old.chunks_of(path) if path in failed or out_of_sight else []
        if chunks:
            new.put(Document(path, entry.source, chunks[0].text, "", entry.fingerprint, False), chunks)
            if path in failed:
                new.put_problem(entry._replace(hash="", settled=False, problem=failed[path]))


def _update_file(
    index: Index,
    file: FoundFile,
    entry: IndexedFile | None,
    settings: Settings,
    forgotten: Forgotten,
    changes: Changes,
    *,
    whole: bool = False,
) -> None:
    has_grown = entry is not None and not entry.problem and file.fingerprint.size > entry.fingerprint.size
    tail = tail_of(index.connection, file.path) if has_grown and not whole else None
    content = read_file(file, settings.files.max_bytes, tail)
    if content is None:
        if entry is not None:  # gone since it was listed
            index.remove(file.path)
            changes.removed.append(file.path)
    elif isinstance(content, Problem):
        _put_problem(index, file, content, changes)
    elif entry is not None and entry.hash == content.hash:
        index.touch(entry._replace(fingerprint=content.fingerprint, settled=content.settled))
        changes.unchanged += 1
    else:
        cut = chunks_of(content, file, settings, forgotten)
        if cut is None:  # what was added changes what stands before it
            _update_file(index, file, entry, settings, forgotten, changes, whole=True)
            return
        changes.read.add(content.hash)
        changes.warnings.extend(content.warnings)
        if isinstance(cut, Problem):
            _put_problem(index, file, cut, changes)
        else:
            since = content.first_line if content.first_line > 1 else 0
            if entry is not None and changes.keeps_vectors:
                carry_chunks(index, index.leaving(content, cut.chunks, since))
            index.put(content, cut.chunks, cut.tail, since)
            changes.indexed.append(file.path)


def _put_problem(index: Index, file: FoundFile, problem: Problem, changes: Changes) -> None:
    settled = is_settled(file.fingerprint)
    index.put_problem(IndexedFile(file.path, file.source, "", file.fingerprint, settled, problem))
    changes.problems.append(problem)


def read_file(file: FoundFile, max_bytes: int, tail: Tail | None = None) -> Document | Problem | None:
    """Read a file in the way of its source; of a transcript what follows its tail, if that will do."""
    if file.source == "memory":
        return read_document(file, max_bytes)
    from memlines.index.sync.transcripts import read_transcript  # which takes time to import, and few need

    return read_transcript(file, tail)


def chunks_of(
    document: Document, file: FoundFile, settings: Settings, forgotten: Forgotten
) -> Cut | Problem | None:
    """Cut a document into chunks in the way of its source; nothing if it has to be read whole for that."""
    if document.source == "memory":
        size = settings.chunking.tokens, settings.chunking.overlap
        text = without_private_blocks(document.text)
        if document.path != note_path(settings.facts.file):
            return Cut(chunk_note(text, *size))
        from memlines.text.fact_note import chunk_facts

        return Cut(chunk_facts(text, *size))
    from memlines.index.sync.transcripts import cut_transcript

    return cut_transcript(document, file, settings, forgotten)
