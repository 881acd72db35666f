"""Compare the files with the index, and write what changed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from recollect.files.read import is_settled, read_document
from recollect.settings import Settings
from recollect.store.sqlite.index import Index
from recollect.sync.dirty import is_unchanged, missing_paths
from recollect.text.chunk import chunk_text
from recollect.types import Discovery, Document, FoundFile, IndexedFile, Problem, Progress

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
        settled = is_settled(file.fingerprint)
        index.put_problem(IndexedFile(file.path, file.source, "", file.fingerprint, settled, content))
        changes.problems.append(content)
    elif entry is not None and entry.hash == content.hash:
        index.touch(replace(entry, fingerprint=content.fingerprint, settled=content.settled))
        changes.unchanged += 1
    else:
        _put(index, content, settings, model)
        changes.indexed.append(file.path)


def _put(index: Index, document: Document, settings: Settings, model: str) -> None:
    chunks = chunk_text(document.text, settings.chunking.tokens, settings.chunking.overlap)
    index.put(document, chunks, model)
