"""Apply items of a proposal to the notes, as one operation that can be undone.

All changes are worked out under the lock of the notes, on their texts as they are then. An item whose lines
are no longer there is refused, and nothing of it is done. Notes that gain text are written before those that
lose it, so a program that is killed in between leaves a text twice rather than not at all; applying again, or
an undo, completes it. Daily logs are never written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from memlines.errors import MemlinesError, PathError, UsageError
from memlines.files.journal import operation
from memlines.files.notes import rewrite_all
from memlines.files.place import writing
from memlines.memory.manager import Manager
from memlines.memory.notes.entries import block_of
from memlines.memory.notes.undo import NoteChange
from memlines.memory.tidy import proposal
from memlines.memory.tidy.gather import hash_lines
from memlines.memory.tidy.proposal import TidyEdit, TidyItem
from memlines.records import dataclass
from memlines.text.days import log_day
from memlines.text.edits import add, cut, put
from memlines.text.entries import entries_of
from memlines.text.matching import entry_id

COMMAND = "tidy apply"

_NO_EDIT = "there is nothing to apply, only to look at"
_LABEL = len("- 2026-01-01:")


class _Lines(NamedTuple):
    """Lines of a note, and what comes in their place."""

    first: int
    last: int
    new: str


@dataclass(frozen=True, slots=True)
class TidyRefusal:
    """An item that was not applied, and why."""

    id: str
    why: str
    """The reason, in a sentence."""


@dataclass(frozen=True, slots=True)
class TidyResult:
    """What was applied, what had been before, what was refused and left for a review, and what it changed."""

    applied: tuple[str, ...] = ()
    """The ids of the items that were applied."""
    known: tuple[str, ...] = ()
    """The ids of those that had been applied before."""
    refused: tuple[TidyRefusal, ...] = ()
    """The items that were refused."""
    left: tuple[str, ...] = ()
    """Items that need a review, and were not named."""
    changes: tuple[NoteChange, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return it with field names that stay."""
        return {
            "applied": list(self.applied),
            "already_applied": list(self.known),
            "refused": [{"id": one.id, "why": one.why} for one in self.refused],
            "needs_review": list(self.left),
            "changes": [{"path": one.path, "diff": one.diff} for one in self.changes],
        }


def apply(
    manager: Manager, ids: Sequence[str] | None = None, *, worded: bool = False, dry_run: bool = False
) -> TidyResult:
    """Apply the items with these ids, or all that need no review; see `Tidy.apply`."""
    workspace = manager.workspace
    proposed = proposal.load(workspace)
    chosen: Sequence[TidyItem] = proposed.items if ids is None else proposed.choose(ids)
    left: list[str] = []
    if ids is None:
        declined = set(proposal.read_decisions(workspace)["declined"])
        open_items = [item for item in chosen if item.edits and item.id not in declined]
        left = [item.id for item in open_items if item.needs_review]
        chosen = [item for item in open_items if not item.needs_review]
    if worded and not all(item.worded for item in chosen):
        names = ", ".join(item.id for item in chosen if not item.worded)
        raise UsageError(f"no model worded {names}", todo="Apply them without --worded")
    items = [_with_words(item) if worded else item for item in chosen]
    paths = [path for item in items if item.edits for path in _paths_of(item)]

    def change(texts: Mapping[str, str]) -> tuple[Mapping[str, str], TidyResult]:
        work = _Work(texts, set(proposal.read_decisions(workspace)["applied"]))
        for item in items:
            work.add(item)
        if not dry_run and work.applied:
            # Before the notes: whatever ends this program, what was done is known to be done.
            proposal.note_decisions(workspace, applied=work.applied)
        return {} if dry_run else work.new_texts(), replace(work.outcome(), left=tuple(left))

    with operation(COMMAND):
        done = rewrite_all(workspace, paths, change, max_bytes=manager.settings.files.max_bytes)
    if not dry_run:
        manager.look_again()
    return done


def decline(manager: Manager, ids: Iterable[str]) -> tuple[str, ...]:
    """Remember that items are not wanted, so that they are not proposed again."""
    chosen = proposal.load(manager.workspace).choose(ids)
    names = tuple(item.id for item in chosen)
    with writing(manager.workspace):
        proposal.note_decisions(manager.workspace, declined=names)
    return names


class _Work:
    """What items change in the texts of notes; lines are looked for in the texts as they are at first."""

    def __init__(self, texts: Mapping[str, str], known: set[str]) -> None:
        self._texts = texts
        self._known = known
        self._added: dict[str, list[TidyEdit]] = {}
        self._replaced: dict[str, list[_Lines]] = {}
        self.applied: list[str] = []
        self._already: list[str] = []
        self._refused: list[TidyRefusal] = []

    def add(self, item: TidyItem) -> None:
        """Take an item in, all of it or nothing."""
        try:
            if not item.edits:
                raise UsageError(_NO_EDIT)
            for edit in item.edits:
                if log_day(edit.path):
                    raise PathError(f"{edit.path!r} is a daily log, and those are never rewritten")
            for one in item.cited:
                self._locate(one.path, one.first, one.last, one.hash)
            replaced = [(edit.path, self._lines_of(edit)) for edit in item.edits if edit.first]
            added = [edit for edit in item.edits if not edit.first]
        except MemlinesError as error:
            if item.id in self._known and item.edits:
                self._already.append(item.id)
            else:
                self._refused.append(TidyRefusal(item.id, error.what))
            return
        if item.id in self._known and not replaced and all(self._holds(edit) for edit in added):
            self._already.append(item.id)
            return
        for path, lines in replaced:
            self._replaced.setdefault(path, []).append(lines)
        for edit in added:
            self._added.setdefault(edit.path, []).append(edit)
        self.applied.append(item.id)

    def new_texts(self) -> dict[str, str]:
        """Return the texts that change, those first that gain what others lose."""
        texts = {path: self._texts[path] for path in (*self._added, *self._replaced)}
        for path in texts:
            for lines in sorted(self._replaced.get(path, ()), reverse=True):  # those above keep their numbers
                if lines.new:
                    texts[path] = put(texts[path], lines.first, lines.last, lines.new).text
                else:
                    texts[path] = cut(texts[path], lines.first, lines.last)
            for edit in self._added.get(path, ()):
                texts[path] = _add(texts[path], edit)
        return texts

    def outcome(self) -> TidyResult:
        changes = [
            NoteChange(path, self._texts[path], text)
            for path, text in self.new_texts().items()
            if text != self._texts[path]
        ]
        return TidyResult(
            tuple(self.applied), tuple(self._already), tuple(self._refused), changes=tuple(changes)
        )

    def _holds(self, edit: TidyEdit) -> bool:
        return _add(self._texts[edit.path], edit) == self._texts[edit.path]

    def _lines_of(self, edit: TidyEdit) -> _Lines:
        return _Lines(*self._locate(edit.path, edit.first, edit.last, edit.hash), edit.new)

    def _locate(self, path: str, first: int, last: int, wanted: str) -> tuple[int, int]:
        """Return where lines are by now, where they were or at the only other place, if no item took them."""
        lines = [line.removesuffix("\r") for line in self._texts[path].split("\n")]
        count = last - first + 1

        def is_here(at: int) -> bool:
            return hash_lines("\n".join(lines[at : at + count])) == wanted

        places = [first - 1] if last <= len(lines) and is_here(first - 1) else []
        places = places or [at for at in range(len(lines) - count + 1) if is_here(at)]
        if len(places) != 1:
            raise UsageError(f"its lines are not in {path!r} any more as they were")
        found = places[0] + 1, places[0] + count
        if any(one.first <= found[1] and found[0] <= one.last for one in self._replaced.get(path, ())):
            raise UsageError(f"another item changes its lines in {path!r}")
        return found


def _paths_of(item: TidyItem) -> list[str]:
    return [*(edit.path for edit in item.edits), *(one.path for one in item.cited)]


def _with_words(item: TidyItem) -> TidyItem:
    """Return an item that adds the words of the model."""
    edits = [
        edit if edit.first else replace(edit, new=block_of(edit.new[2:_LABEL], item.worded))
        for edit in item.edits
    ]
    return replace(item, edits=tuple(edits))


def _add(text: str, edit: TidyEdit) -> str:
    name = entry_id(edit.new)
    if any(entry_id(entry.text) == name for entry in entries_of(text)):
        return text  # an attempt before this one was killed after it had written that
    if not text.strip() and edit.title:
        text = add(text, f"# {edit.title}").text
    return add(text, edit.new).text
