"""Ask two memories as one: that of the project, and the user's personal one.

Each has its own folder, index, facts and history, and nothing of one is written into the other. A path in the
personal memory has `personal:` before it wherever it is shown, and is accepted with it everywhere.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from memlines.errors import MemlinesError, PathError, SettingsError
from memlines.paths import contains, note_path
from memlines.types import Report, SearchResult

if TYPE_CHECKING:
    from memlines.memory.facts.facts import Facts
    from memlines.memory.memory import Memory
    from memlines.memory.notes.candidates import ForgetCandidate
    from memlines.memory.notes.edit import OpenNote
    from memlines.memory.notes.proof import ForgetReceipt
    from memlines.memory.notes.recall import Recalled
    from memlines.memory.notes.remember import Remembered
    from memlines.memory.notes.undo import NoteChange
    from memlines.memory.opened import OpenMemory
    from memlines.memory.past.log import LoggedChange
    from memlines.types import Excerpt, Problem

    AnyMemory = TypeVar("AnyMemory", bound=OpenMemory)
    Located = TypeVar(
        "Located", Remembered, Recalled, ForgetCandidate, Excerpt, LoggedChange, Problem, OpenNote, NoteChange
    )

PERSONAL = "personal:"
"""What is before a path in the personal memory."""

LEFT_OUT = "your personal memory is left out: {}"

MOST_NEAREST = 3
"""What is shown if no memory has a confident answer."""

_OF_ONE_FOLDER = ("workspace", "store.path", "store", "extra_paths", "scopes")

_COUNTS = ("unchanged", "pending", "held_back", "unindexed", "vectors_made", "vectors_cached")


# Which folder, and whose path


def refuse_inside(memory: OpenMemory) -> None:
    """Raise if the user named a folder in the project for the personal memory."""
    folder, root = memory.personal_folder, memory.workspace.root
    if memory.settings.personal_folder and contains(root, folder):
        raise SettingsError(
            f"personal_folder {str(folder)!r} lies in the project {str(root)!r}, where nothing personal is "
            "written",
            todo="Name a folder outside of all projects, or leave it out",
        )


def without_places(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a caller that hold for the personal memory too: not those of one folder."""
    return {name: value for name, value in given.items() if name not in _OF_ONE_FOLDER}


def owner_of(memory: Memory, path: str) -> tuple[Memory, str]:
    """Return the memory that a path or citation belongs to, and how that memory names it itself."""
    if not path.startswith(PERSONAL):
        return memory, path
    owner = memory if memory.scope == "personal" else memory.personal
    if owner is None:
        raise PathError(
            f"{path!r} is in a personal memory, and there is none that may be read here",
            todo="'memlines status' says why; 'memlines remember --personal' begins one",
        )
    return owner, path.removeprefix(PERSONAL)


def mark_personal(found: Located) -> Located:
    """Return something found in the personal memory by the path that every memory knows it by."""
    return replace(found, path=PERSONAL + found.path)


def describe_personal(memory: OpenMemory) -> dict[str, Any]:
    """Return the state of the personal memory for the status of another; empty if that may not use it."""
    if memory.scope == "personal" or "personal" not in memory.settings.scopes:
        return {}
    folder, status, trouble = str(memory.personal_folder), None, ""
    try:
        refuse_inside(memory)
        status = memory.personal.status() if memory.personal else None
    except MemlinesError as error:
        trouble = str(error)
    counts = {name: getattr(status, name) if status else 0 for name in ("files", "chunks", "pending")}
    return {"workspace": folder, "exists": status is not None, "trouble": trouble, **counts}


def list_scopes(memory: AnyMemory, warnings: list[str]) -> Iterator[AnyMemory]:
    """Yield a memory and the personal one beside it; why that cannot be used is added to the warnings."""
    yield memory
    yield from list_personal(memory, warnings)


def list_personal(memory: AnyMemory, warnings: list[str]) -> tuple[AnyMemory, ...]:
    """Return the personal memory beside another, if there is one that can be used."""
    try:
        personal = memory.personal
    except MemlinesError as error:
        warnings.append(LEFT_OUT.format(error))
        return ()
    return () if personal is None else (personal,)


def facts_with(memory: Memory, fact_id: str) -> Facts:
    """Return the facts among which one has an id; those of the memory itself if none has it."""
    for one in list_scopes(memory, []):
        if one is not memory and any(line.fact.id == fact_id for line in one.facts.list(current=False)):
            return one.facts
    return memory.facts


# One answer of two


def mark_hits(result: SearchResult) -> SearchResult:
    """Return an answer of the personal memory, by the paths that every memory knows."""
    hits = [replace(hit, path=PERSONAL + hit.path, scope="personal") for hit in result.hits]
    return replace(result, hits=tuple(hits))


def merge_results(own: SearchResult, personal: SearchResult, most: int, *, by_score: bool) -> SearchResult:
    """Return one answer: the best hits of both, where equal scores prefer the project.

    If only one memory has a confident answer, the nearest lines of the other are left out, unless all hits
    count `by_score` alone. What both say is shown once.
    """
    confident = own.confident or personal.confident
    answers = [own, personal]
    if not by_score and confident:
        answers = [one for one in answers if one.confident]
    elif not by_score:
        most = min(most, MOST_NEAREST)
    known = {hit.snippet for hit in own.hits}
    hits = [hit for one in answers for hit in one.hits if one is own or hit.snippet not in known]
    hits.sort(key=lambda hit: -hit.score)
    nearest = max((one.nearest for one in (own, personal) if one.nearest is not None), default=None)
    says = [own, personal] if any(hit.scope == "personal" for hit in hits) else [own]
    # That little is known of the personal notes of an earlier day matters only if they answer.
    warned = says if own.as_of else [own, personal]
    return replace(
        own,
        hits=tuple(hits[:most]),
        confident=confident,
        likelihood=max(own.likelihood, personal.likelihood),
        nearest=None if hits else nearest,
        pending=own.pending + personal.pending,
        chunks=own.chunks + personal.chunks,
        unindexed=own.unindexed + personal.unindexed,
        warnings=merge_warnings(*(one.warnings for one in warned)),
        fallback=own.fallback or personal.fallback,
        corrections=first_of([one.corrections for one in says]),
        aliases=first_of([one.aliases for one in says]),
    )


def merge_recalled(
    answers: Sequence[Sequence[Recalled]], limit: int, *, by_day: bool
) -> tuple[Recalled, ...]:
    """Return the entries of both memories, newest first or in turn; what is only near, if all is."""
    every = [one for of_one in answers for one in of_one]
    if any(not one.weak for one in every):
        every = [one for one in every if not one.weak]
    elif every:
        every = every[:MOST_NEAREST]
    if by_day:
        every.sort(key=lambda one: one.day.toordinal() if one.day else 0, reverse=True)
    return tuple(every[:limit])


def has_facts(memory: OpenMemory) -> bool:
    """Return whether a memory has a note of facts; asking it costs nothing if not."""
    return os.path.lexists(memory.workspace.root / note_path(memory.settings.facts.file))


def merge_receipts(receipts: Sequence[ForgetReceipt]) -> ForgetReceipt:
    """Return what was forgotten in all memories."""
    places = dict.fromkeys(place for one in receipts for place in one.removed)
    return replace(
        receipts[0],
        removed={place: sum(one.removed.get(place, 0) for one in receipts) for place in places},
        left=tuple(place for one in receipts for place in one.left),
        transcripts=tuple(path for one in receipts for path in one.transcripts),
    )


def merge_reports(own: Report, personal: Report) -> Report:
    """Return what a sync did in both memories."""
    return replace(
        own,
        indexed=(*own.indexed, *(PERSONAL + path for path in personal.indexed)),
        removed=(*own.removed, *(PERSONAL + path for path in personal.removed)),
        skipped=(*own.skipped, *map(mark_personal, personal.skipped)),
        failed=(*own.failed, *map(mark_personal, personal.failed)),
        warnings=merge_warnings(own.warnings, personal.warnings),
        **{name: getattr(own, name) + getattr(personal, name) for name in _COUNTS},
    )


def first_of(tables: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return what several tables say; of two values for a name the first counts."""
    return {name: value for table in reversed(tables) for name, value in table.items()}


def merge_warnings(*warnings: Iterable[str]) -> tuple[str, ...]:
    """Return the warnings of several answers, each once: not alone if another one ends with it."""
    every = dict.fromkeys(warning for some in warnings for warning in some)
    return tuple([one for one in every if not any(other.endswith(f": {one}") for other in every)])
