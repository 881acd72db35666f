"""Compare the files with the index, and write what changed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from recollect.files.read import is_settled, read_document
from recollect.settings import Chunking, Settings
from recollect.sources import openclaw
from recollect.store.sqlite.index import Index
from recollect.sync.dirty import is_unchanged, missing_paths
from recollect.text.chunk import chunk_text
from recollect.text.turns import chunk_turns
from recollect.types import Chunk, Discovery, Document, FoundFile, IndexedFile, Problem, Progress

LABEL = "indexing"


@dataclass(slots=True)
class Changes:
    """What an update did, while it is being done."""

    indexed: list[str] = field(default_factory=list)
    unchanged: int = 0
    removed: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def update_words(
    index: Index, discovery: Discovery, settings: Settings, model: str, progress: Progress
) -> Changes:
    """Make the words of the index equal the files; one transaction a file."""
    known = index.files()
    changes = Changes()
    suspects = []
    for file in discovery.files:
        if is_unchanged(file, known) and not _failed_before(known[file.path]):
            _count_unchanged(known[file.path], changes)
        else:
            suspects.append(file)
    for done, file in enumerate(suspects):
        progress(done, len(suspects), LABEL)
        _update_file(index, file, known.get(file.path), settings, model, changes)
    for path in missing_paths(discovery, known):
        index.remove(path)
        changes.removed.append(path)
    if suspects:
        progress(len(suspects), len(suspects), LABEL)
    return changes


def keep_unreadable(old: Index, new: Index, discovery: Discovery, changes: Changes, model: str) -> None:
    """Take over what an index knows of files that cannot be read or looked at while it is replaced."""
    failed = {problem.path: problem for problem in changes.problems if problem.failed}
    found = {file.path for file in discovery.files}
    known = old.files()
    gone = set(missing_paths(discovery, known))
    for path, entry in known.items():
        out_of_sight = path not in found and path not in gone
        chunks = old.chunks_of(path) if path in failed or out_of_sight else []
        if chunks:
            new.put(Document(path, entry.source, chunks[0].text, "", entry.fingerprint, False), chunks, model)
            if path in failed:
                new.put_problem(replace(entry, hash="", settled=False, problem=failed[path]))


def _failed_before(entry: IndexedFile) -> bool:
    """Tell whether a file could not be read last time; new permissions leave no trace in its fingerprint."""
    return entry.problem is not None and entry.problem.failed


def _count_unchanged(entry: IndexedFile, changes: Changes) -> None:
    if entry.problem:
        changes.problems.append(entry.problem)
    else:
        changes.unchanged += 1


def _update_file(
    index: Index,
    file: FoundFile,
    entry: IndexedFile | None,
    settings: Settings,
    model: str,
    changes: Changes,
) -> None:
    content = read_document(file, settings.files.max_bytes)
    if content is None:
        if entry is not None:  # gone since it was listed
            index.remove(file.path)
            changes.removed.append(file.path)
    elif isinstance(content, Problem):
        _put_problem(index, file, content, changes)
    elif entry is not None and entry.hash == content.hash:
        index.touch(replace(entry, fingerprint=content.fingerprint, settled=content.settled))
        changes.unchanged += 1
    else:
        chunks = _chunks(content, settings.chunking)
        if isinstance(chunks, Problem):
            _put_problem(index, file, chunks, changes)
        else:
            index.put(content, chunks, model)
            changes.indexed.append(file.path)


def _put_problem(index: Index, file: FoundFile, problem: Problem, changes: Changes) -> None:
    settled = is_settled(file.fingerprint)
    index.put_problem(IndexedFile(file.path, file.source, "", file.fingerprint, settled, problem))
    changes.problems.append(problem)


def _chunks(document: Document, chunking: Chunking) -> list[Chunk] | Problem:
    """Cut a document into chunks in the way of its source."""
    if document.source == "memory":
        return chunk_text(document.text, chunking.tokens, chunking.overlap)
    transcript = openclaw.parse(document.text)
    if transcript.broken and not transcript.turns:
        return Problem(document.path, "is no transcript (no line of it is a message)")
    heading = f"{transcript.started:%Y-%m-%d %H:%M}" if transcript.started else ""
    return chunk_turns(transcript.turns, heading, chunking.tokens, chunking.overlap)
