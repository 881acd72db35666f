"""Compare the files with the index, and write what changed, many small files in one transaction."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from memlines.files.read import is_settled, read_document, without_private_blocks
from memlines.files.tombstones import Forgotten
from memlines.folders import Tree
from memlines.index.store.sqlite.index import Change, Index, tail_of
from memlines.index.sync.discovery import (
    is_unchanged,
    missing_paths,
    suspiciously_gone,
)
from memlines.index.sync.job import Job
from memlines.paths import note_path
from memlines.records import dataclass
from memlines.settings import Settings
from memlines.text.chunk import chunk_note
from memlines.text.days import date_chunks, log_day
from memlines.text.entries import without_conflict_marks
from memlines.text.merges import describe_marks, without_repeats
from memlines.types import Cut, Discovery, Document, FoundFile, IndexedFile, Problem, Tail

if TYPE_CHECKING:
    from concurrent.futures import Future

LABEL = "indexing"

_WRITTEN_AT_ONCE = 2_000_000
"""Characters of files that are written in one transaction: a second of work, which a kill may cost."""

_LEAST_READING = 0.5
"""Seconds for which files are read at least, so that every search makes progress despite its deadline."""


@dataclass(slots=True)
class Changes:
    """What an update did, while it is being done."""

    forgotten: Forgotten
    """What must not be read from transcripts again."""
    indexed: list[str] = field(default_factory=list)
    unchanged: int = 0
    removed: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    held_back: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    left: int = 0
    """How many files were not read, because the time was over."""
    read: set[str] = field(default_factory=set)
    """The hashes of what was read, to distinguish a file that moved from one that is gone."""


def update_words(
    job: Job,
    index: Index,
    discovery: Discovery,
    doubtful: list[FoundFile],
    known: Mapping[str, IndexedFile],
) -> Changes:
    """Make the words of an index equal the files, of which some are `doubtful`, and `known` as they were.

    If a suspicious number of files is gone, they stay in the index, except with `force`. If the deadline of
    the job passes it stops: files that are left may hold what seems to be gone, so nothing is removed then.
    """
    until = None if job.deadline is None else max(job.deadline, time.monotonic() + _LEAST_READING)
    index.keeps_vectors = job.settings.cache.enabled
    changes = Changes(Forgotten.load(job.workspace))
    changes.unchanged = len(discovery.files) - len(doubtful)
    all_found = changes.unchanged + len(known) == index.count_known()
    before = {} if all_found else index.files()
    suspects, same = _split_doubtful(doubtful, known, changes)
    # What is most likely unchanged, and only read again to be sure, comes last: the time may not suffice.
    total = len(suspects) + len(same)
    with Tree(job.workspace.root) as tree, Writer(index) as writer:
        for done, file in enumerate([*suspects, *same]):
            if until is not None and time.monotonic() >= until:
                changes.left = max(0, len(suspects) - done)
                break
            job.progress(done, total, LABEL)
            _update_file(writer, tree, file, known.get(file.path), job.settings, changes)
    if changes.left:
        return changes
    if total:
        job.progress(total, total, LABEL)
    missing = missing_paths(discovery, before) if before else []
    if not job.force:
        changes.held_back = suspiciously_gone(missing, before, changes.read)
    held_back = set(changes.held_back)
    for path in missing:
        if path in held_back:
            continue
        index.remove(path)
        changes.removed.append(path)
    return changes


def _split_doubtful(
    doubtful: list[FoundFile], known: Mapping[str, IndexedFile], changes: Changes
) -> tuple[list[FoundFile], list[FoundFile]]:
    """Return the files that look changed, and those that look the same and are only read to be sure."""
    suspects, same = [], []
    for file in doubtful:
        problem = known[file.path].problem if is_unchanged(file, known) else None
        # One that could not be read is tried again: new permissions leave no trace in its fingerprint.
        if problem is not None and not problem.failed:
            changes.problems.append(problem)
        elif file.path in known and known[file.path].fingerprint == file.fingerprint:
            same.append(file)
        else:
            suspects.append(file)
    return suspects, same


class Writer:
    """Gathers what has to be written of files, to write much at once.

    A large group is written by another thread while the next files are read and cut, which takes about as
    long. When the block ends, whatever the reason, the files that were finished are kept.
    """

    def __init__(self, index: Index) -> None:
        self._index = index
        self._group: list[Change] = []
        self._size = 0
        self._seen: set[str] = set()
        self._writing: Future[None] | None = None

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *_: object) -> None:
        self.finish()

    def finish(self) -> None:
        """Write what is left, and return when all is written."""
        group, self._group, self._size = self._group, [], 0
        index = self.wait()
        if group:
            index.write(group)

    def wait(self) -> Index:
        """Return the index once no other thread uses it."""
        if self._writing is not None:
            writing, self._writing = self._writing, None
            writing.result()
        return self._index

    def add(self, document: Document, cut: Cut, *, is_known: bool) -> None:
        """Gather one more file, and have the group written if it is large."""
        if document.path in self._seen:  # two transcripts of one name, of which the last one counts
            self.finish()
        is_new = not is_known and document.path not in self._seen
        self._seen.add(document.path)
        index = self._index if is_new else self.wait()
        since = document.first_line if document.first_line > 1 else 0
        change = index.prepare(document, cut.chunks, cut.tail, since, is_new=is_new)
        self._group.append(change)
        self._size += len(document.text)
        if self._size < _WRITTEN_AT_ONCE:
            return
        from concurrent.futures import ThreadPoolExecutor  # which takes time to import

        index, group = self.wait(), self._group
        self._group, self._size = [], 0
        pool = ThreadPoolExecutor(1, thread_name_prefix="memlines-write")
        self._writing = pool.submit(index.write, group)
        pool.shutdown(wait=False)


def _update_file(
    writer: Writer,
    tree: Tree,
    file: FoundFile,
    entry: IndexedFile | None,
    settings: Settings,
    changes: Changes,
    *,
    whole: bool = False,
) -> None:
    has_grown = entry is not None and not entry.problem and file.fingerprint.size > entry.fingerprint.size
    tail = tail_of(writer.wait().connection, file.path) if has_grown and not whole else None
    content = read_file(file, settings.files.max_bytes, tail, tree)
    if content is None:
        if entry is not None:  # gone since it was listed
            writer.wait().remove(file.path)
            changes.removed.append(file.path)
        return
    if isinstance(content, Problem):
        _put_problem(writer.wait(), file, content, changes)
        return
    if entry is not None and entry.hash == content.hash:
        writer.wait().put_file(entry._replace(fingerprint=content.fingerprint, settled=content.settled))
        changes.unchanged += 1
        return
    cut = cut_document(content, file, settings, changes.forgotten)
    if cut is None:  # what was added changes what is before it
        _update_file(writer, tree, file, entry, settings, changes, whole=True)
        return
    changes.read.add(content.hash)
    changes.warnings.extend(content.warnings)
    if content.source == "memory":
        changes.warnings.extend(_describe_conflicts(content, settings))
    if isinstance(cut, Problem):
        _put_problem(writer.wait(), file, cut, changes)
        return
    writer.add(content, cut, is_known=entry is not None)
    changes.indexed.append(file.path)


def _describe_conflicts(note: Document, settings: Settings) -> list[str]:
    """Return what a merge left in a note for a person to decide."""
    found = describe_marks(note.text, note.path)
    if note.path != note_path(settings.facts.file):
        return found
    from memlines.text.fact_note import describe_conflicts, doubles_in

    return [*found, *describe_conflicts(doubles_in(note.text), note.path)]


def _put_problem(index: Index, file: FoundFile, problem: Problem, changes: Changes) -> None:
    settled = is_settled(file.fingerprint)
    index.put_problem(IndexedFile(file.path, file.source, "", file.fingerprint, settled, problem))
    changes.problems.append(problem)


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
        is_out_of_sight = path not in found and path not in gone
        chunks = old.chunks_of(path) if path in failed or is_out_of_sight else []
        if chunks:
            new.put(Document(path, entry.source, chunks[0].text, "", entry.fingerprint, False), chunks)
            if path in failed:
                new.put_problem(entry._replace(hash="", settled=False, problem=failed[path]))


def read_file(
    file: FoundFile, max_bytes: int, tail: Tail | None = None, tree: Tree | None = None
) -> Document | Problem | None:
    """Read a file in the way of its source; of a transcript what follows its tail, if that will do."""
    if file.source == "memory":
        return read_document(file, max_bytes, tree)
    from memlines.index.sync.transcripts import read_transcript  # which takes time to import, and few need

    return read_transcript(file, tail)


def cut_document(
    document: Document, file: FoundFile, settings: Settings, forgotten: Forgotten
) -> Cut | Problem | None:
    """Cut a document into chunks in the way of its source; nothing if it has to be read whole for that."""
    if document.source == "memory":
        size = settings.chunking.tokens, settings.chunking.overlap
        text = without_conflict_marks(without_private_blocks(document.text))
        if document.path != note_path(settings.facts.file):
            text = without_repeats(text) if log_day(document.path) else text
            return Cut(date_chunks(chunk_note(text, *size), text, document.path))
        from memlines.text.fact_note import chunk_facts

        return Cut(date_chunks(chunk_facts(text, *size), text, document.path))
    from memlines.index.sync.transcripts import cut_transcript

    return cut_transcript(document, file, settings, forgotten)
