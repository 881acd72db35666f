"""Checks of the files against the index, both ways, and of the facts in their note and table."""

from __future__ import annotations

import random
from collections.abc import Iterator

from memlines.admin.doctor.checkup import Checkup, Finding, list_names, ok, problem, warning
from memlines.errors import StoreError
from memlines.index.sync.discovery import missing_paths
from memlines.index.sync.words import read_file
from memlines.memory.facts.lance import INSTALL, is_installed, load
from memlines.memory.facts.note import FactNote, state_of
from memlines.memory.facts.places import stamp_of, uri_of
from memlines.memory.facts.rebuild import state_in
from memlines.memory.facts.table import LANCEDB, uses_table
from memlines.types import Document, FoundFile, Problem

_READ_BYTES = 100_000_000
"""How much is read and compared with the index without being asked to read all; most memories are less."""

_SYNC = "Run 'memlines sync'; a search does it as well"


def check_files(checkup: Checkup) -> Iterator[Finding]:
    """Compare what is on disk with what the index knows, by fingerprints."""
    if checkup.index is None or checkup.loaded is None:
        return
    known = checkup.known
    files = checkup.discovery.files
    new = [file.path for file in files if file.path not in known]
    changed = [
        file.path for file in files if file.path in known and known[file.path].fingerprint != file.fingerprint
    ]
    gone = missing_paths(checkup.discovery, known)
    if new:
        yield warning(f"not in the index yet: {list_names(new)}", _SYNC, "sync")
    if changed:
        yield warning(f"changed since they were indexed: {list_names(changed)}", _SYNC, "sync")
    if gone:
        yield warning(f"in the index, but gone from the disk: {list_names(gone)}", _SYNC, "sync")
    if not (new or changed or gone):
        yield ok(f"{len(files)} on disk, all of them as the index knows them")


def check_contents(checkup: Checkup) -> Iterator[Finding]:
    """Read files that look unchanged, and compare what they hold with what was indexed."""
    if checkup.index is None or checkup.loaded is None:
        return
    same = [file for file in checkup.discovery.files if _looks_unchanged(checkup, file)]
    chosen = same if checkup.deep else _within_budget(same)
    differing = [file.path for file in chosen if _differs(checkup, file)]
    if differing:
        yield problem(
            f"other content than was indexed, though size and time are the same: {list_names(differing)}",
            "Run 'memlines sync --force'",
            "rebuild",
        )
    else:
        rest = "" if len(chosen) == len(same) else f" of {len(same)} (--deep reads all)"
        yield ok(f"{len(chosen)}{rest} read, all of them hold what was indexed")


def _looks_unchanged(checkup: Checkup, file: FoundFile) -> bool:
    """Tell whether no sync would read a file again."""
    entry = checkup.known.get(file.path)
    return (
        entry is not None
        and entry.problem is None
        and entry.settled
        and entry.fingerprint == file.fingerprint
    )


def _within_budget(files: list[FoundFile]) -> list[FoundFile]:
    """Return as many files as are read without `deep`, a new sample each time."""
    if sum(file.fingerprint.size for file in files) <= _READ_BYTES:
        return files
    chosen, left = [], _READ_BYTES
    for file in random.sample(files, len(files)):
        left -= file.fingerprint.size
        if left < 0:
            break
        chosen.append(file)
    return chosen


def _differs(checkup: Checkup, file: FoundFile) -> bool:
    if file.source == "sessions" and "-" in checkup.known[file.path].hash:
        return False  # it was read on from its tail, of which only marks are known
    content = read_file(file, checkup.settings.files.max_bytes)
    if isinstance(content, Document):
        was_changed_meanwhile = content.fingerprint != file.fingerprint
        return not was_changed_meanwhile and content.hash != checkup.known[file.path].hash
    # It was text when it was indexed; the check of skipped files reports what cannot be read now.
    return isinstance(content, Problem) and not content.failed


def check_skipped(checkup: Checkup) -> Iterator[Finding]:
    """List the files that are not in the index, and why."""
    found = {file.path for file in checkup.discovery.files}
    indexed = {path: file.problem for path, file in checkup.known.items() if file.problem and path in found}
    problems = [*checkup.discovery.problems, *(item for item in indexed.values() if item)]
    for item in problems:
        message = f"{item.path} {item.reason}"
        if item.failed:
            yield problem(
                message, "Check its permissions, then sync", "sync" if item.path in indexed else None
            )
        else:
            yield warning(message, "Leave it, or make it a plain UTF-8 text if it should be found")
    if not problems:
        yield ok("no file was left out")


def check_facts(checkup: Checkup) -> Iterator[Finding]:
    """Read the facts, and compare how many their table holds."""
    settings = checkup.settings.facts
    note = FactNote(checkup.workspace, checkup.settings)
    facts = [line.fact for line in note.lines()]
    if settings.store == LANCEDB and not is_installed():
        yield problem(
            "facts.store is lancedb, but its package is not installed, so the main index finds the facts",
            INSTALL,
        )
    current = sum(fact.is_current for fact in facts)
    unseen = sum(fact.is_captured and fact.is_current and not fact.reviewed for fact in facts)
    if unseen:
        yield warning(
            f"captured facts that are not reviewed yet: {unseen} of {current}", "Run 'memlines facts review'"
        )
    elif facts:
        yield ok(f"{current} that hold, {len(facts) - current} that are no longer true")
    else:
        yield ok("none yet")
    if facts and uses_table(checkup.settings, len(facts)):
        yield from _check_table(checkup, note)


def _check_table(checkup: Checkup, note: FactNote) -> Iterator[Finding]:
    """Compare the table with the note and the index; if LanceDB cannot be loaded, no sync helps."""
    index = checkup.index
    if index is None or not index.vectors.count():
        return
    stamp = stamp_of(uri_of(checkup.workspace, checkup.settings))
    is_ahead = note.lines_of(state_of(index, note.path)[1]) is None
    if stamp and stamp.state == state_in(index, note.path) and not is_ahead:
        return
    behind = "the table of the facts is behind their note"
    try:
        load()
    except StoreError as error:
        yield warning(f"{behind}, because {error.what}", error.todo)
    else:
        yield warning(behind, "Run 'memlines sync'", "sync")
