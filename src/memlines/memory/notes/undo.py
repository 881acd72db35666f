"""Undo what was written last, and redo it.

What an operation wrote is undone as one, or not at all. A note that still holds what the operation left is
made exactly what it was before. In a note that was changed since, the lines that the operation wrote are
removed, or replaced by those that were there before, if they are still as they were written. What a note held
before the undo is kept as before any other change, so the undo can be undone itself. What was forgotten does
not come back.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from difflib import unified_diff
from pathlib import PurePosixPath

from memlines.errors import UsageError, WriteError
from memlines.files import atomic, history, journal, trash
from memlines.files.erase import without_forgotten
from memlines.files.journal import FileState, NoteWrite, Operation
from memlines.files.place import Place, attempt, place_of, reading, writing
from memlines.files.tombstones import Forgotten
from memlines.paths import Workspace
from memlines.records import dataclass
from memlines.text.entries import entries_of

UNDO, REDO = "undo", "redo"

_TITLE = re.compile(rb"(?:# [^\n]*\n(?:\r?\n)*)?")


@dataclass(frozen=True, slots=True)
class NoteChange:
    """What a note held and what it holds now; `None` where there is no note."""

    path: str
    before: str | None
    """What it held before."""
    after: str | None
    """What it holds now."""

    @property
    def diff(self) -> str:
        """The lines that differ, as a unified diff."""
        return diff_of(self.path, self.before or "", self.after or "")


@dataclass(frozen=True, slots=True)
class Undone:
    """An operation that was undone or redone, what that changed, and which forgotten passages it left out."""

    command: str
    time: datetime
    changes: tuple[NoteChange, ...]
    forgotten: tuple[str, ...] = ()


def diff_of(path: str, before: str, after: str) -> str:
    """Return a unified diff of two texts."""
    lines = unified_diff(before.splitlines(), after.splitlines(), path, path, lineterm="", n=2)
    return "\n".join(lines)


def undo(workspace: Workspace, *, redo: bool = False, dry_run: bool = False, command: str = "") -> Undone:
    """Undo the last operation that was not undone yet; with `redo`, redo the one that was undone last.

    With a command, it is the last operation of that command.
    """
    work = _Undo(workspace, redo=redo, command=command)  # or nothing is made where there is nothing to undo
    if dry_run:
        with reading(work.paths):
            return work.outcome_of(work.plan())
    with writing(workspace):  # another program may have written since
        work = _Undo(workspace, redo=redo, command=command)
        with journal.operation(REDO if redo else UNDO, work.target.id):
            return attempt(Place(work.paths, workspace.root / work.paths, workspace.root), work.run)


def recent(workspace: Workspace) -> tuple[Operation, ...]:
    """Return the operations that can be undone, the next one first."""
    done, _ = _stacks(journal.operations(workspace))
    return tuple(reversed(done))


@dataclass(frozen=True, slots=True)
class _Step:
    """What a note holds, what it will hold, and where that is kept, if it is."""

    place: Place
    old: bytes | None
    new: bytes | None
    kept: str


class _Undo:
    """One undo: which operation it reverses, and how."""

    def __init__(self, workspace: Workspace, *, redo: bool, command: str) -> None:
        self.workspace = workspace
        self._redo = redo
        self._operations = journal.operations(workspace)
        done, undone = _stacks(self._operations)
        standing = [one for one in (undone if redo else done) if command in ("", one.command)]
        if not standing:
            lists = "'memlines history' lists what was written"
            versions = "'memlines history PATH' lists earlier versions of a note"
            raise UsageError(
                f"there is nothing to {'redo' if redo else 'undo'}", todo=lists if redo else versions
            )
        self.target = standing[-1]
        if self.target.command == journal.FORGET:
            raise UsageError(
                "the last thing that was done is to forget something, and that is for good",
                todo="'memlines history PATH' lists the versions of a note, without what was forgotten",
            )
        if redo:  # what attempts wrote that were killed before this one
            killed = (
                write
                for one in self._operations
                if one.undoes == self.target.undoes and not one.complete
                for write in one.writes
            )
            self.target = replace(self.target, writes=(*killed, *self.target.writes))
        self._gone = Forgotten.load(workspace)
        self._left_out: list[str] = []

    @property
    def paths(self) -> str:
        """The notes that it is about, for errors."""
        return ", ".join(dict.fromkeys(write.path for write in self.target.writes))

    def plan(self) -> list[_Step]:
        """Return what has to be written, leaving out what an undo that was cut short has written already."""
        self._left_out = []
        finished = {
            (write.path, write.after)
            for one in self._operations
            if one.undoes == self.target.id and not one.complete
            for write in one.writes
        }
        steps: dict[str, _Step] = {}
        for write in reversed(self.target.writes):
            step = steps.get(write.path)
            if step is None:
                place = place_of(self.workspace, write.path)
                content = atomic.read(place.real, root=place.root)
                if (write.path, None if content is None else FileState.of(content)) in finished:
                    continue
                step = _Step(place, content, content, "")
            steps[write.path] = self._reverse(step, write)
        cleaned = [self._without_forgotten(step) for step in steps.values()]
        return [step for step in cleaned if step.new != step.old]

    def run(self) -> Undone:
        """Write what is planned."""
        self._operations = journal.operations(self.workspace)  # what an attempt before this one did
        steps = self.plan()
        gone = [len(step.old or b"") for step in steps if step.new is None]
        if len(gone) > trash.MAX_ITEMS or sum(gone) > trash.MAX_BYTES:  # the first ones would be lost
            raise WriteError(
                f"{self.target.command!r} made {len(gone)} notes, more than can be kept in the trash",
                todo="Delete those you do not want yourself",
            )
        for step in steps:
            place = step.place
            if step.new is None:
                trash.put(self.workspace, place, step.old or b"")
            elif step.old is None and step.kept.startswith("trash/"):
                trash.put_back(self.workspace, PurePosixPath(step.kept).name, place)
            else:
                history.change(self.workspace, place, step.old, step.new)
        journal.complete(self.workspace)
        return self.outcome_of(steps)

    def outcome_of(self, steps: Sequence[_Step]) -> Undone:
        """Return what steps change."""
        target = self.target
        if self._redo:
            target = next((one for one in self._operations if one.id == target.undoes), target)
        changes = (change_of(step.place, step.old, step.new) for step in steps)
        return Undone(target.command, target.time, tuple(changes), tuple(self._left_out))

    def _reverse(self, step: _Step, write: NoteWrite) -> _Step:
        """Return a step that also reverses one more change of its note."""
        now = None if step.new is None else FileState.of(step.new)
        if now == write.before:
            return step  # it was never made, or was reversed by hand
        if now == write.after:
            new = None if write.before is None else (step.new or b"")[: write.before.size]
            return _Step(step.place, step.old, self._kept(write) if write.kept else new, write.kept)
        block = write.block
        at = None if step.new is None or block is None else journal.locate(step.new, block)
        if step.new is None or block is None or at is None:
            raise WriteError(
                f"{write.path!r} was changed after {self.target.command!r} wrote to it, and what it wrote"
                " is no longer there as it was; nothing was changed",
                todo=f"Change the note yourself, or take an earlier version: memlines history {write.path}",
            )
        old = self._kept(write)[block.old_start : block.old_end] if write.kept else b""
        start, end = at
        if write.before is None:  # the title stays, for what was added since is below it
            title = _TITLE.match(step.new, start, end)
            start = title.end() if title else start
        return _Step(step.place, step.old, step.new[:start] + old + step.new[end:], "")

    def _kept(self, write: NoteWrite) -> bytes:
        """Return what was kept of a note before a change."""
        folder, _, name = write.kept.partition("/")
        parts = (write.path, name) if folder == "history" else (name, write.path)
        content = atomic.read(self.workspace.private.joinpath(folder, *parts), root=self.workspace.root)
        if content is None or FileState.of(content) != write.before:
            raise WriteError(
                f"what {write.path!r} held before {self.target.command!r} is not kept any more",
                todo=f"Look at what is: memlines history {write.path}",
            )
        return content

    def _without_forgotten(self, step: _Step) -> _Step:
        if step.new is None or not self._gone:
            return step
        standing = {entry.text for entry in entries_of(decode_note(step.old))}
        try:
            new, left_out = without_forgotten(self._gone, step.place.path, step.new, standing)
        except UnicodeDecodeError:
            return step
        self._left_out.extend(left_out)
        return _Step(step.place, step.old, new, "" if left_out else step.kept)


def _stacks(operations: Sequence[Operation]) -> tuple[list[Operation], list[Operation]]:
    """Return the operations that can be undone, and the undos that can be redone, both the oldest first."""
    known = {one.id: one for one in operations}
    done: list[Operation] = []
    undone: list[Operation] = []
    for one in operations:
        target = known.get(one.undoes)
        if not one.undoes:
            if one.writes or one.command == journal.FORGET:
                done.append(one)
                undone.clear()
        elif target is None or not one.complete:
            continue
        elif one.command == UNDO:
            done = [other for other in done if other is not target]
            undone.append(one)
        else:
            undone = [other for other in undone if other is not target]
            if target.undoes in known:
                done.append(known[target.undoes])
    return done, undone


def change_of(place: Place, old: bytes | None, new: bytes | None) -> NoteChange:
    """Return what a change of a note's content is for people."""
    before, after = (None if content is None else decode_note(content) for content in (old, new))
    return NoteChange(place.path, before, after)


def decode_note(content: bytes | None) -> str:
    """Return the text of a note, whatever it holds."""
    return (content or b"").decode("utf-8", "replace").removeprefix("\ufeff")
