"""What would be written into a client's folder, compared with what is there. Nothing is changed here."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Literal

from memlines.clients.client import File, Target
from memlines.clients.edits import Cuts, Edit, apply_edit, hash_of, undo_edit
from memlines.clients.receipt import (
    MANIFEST_NAME,
    NAME,
    OWN,
    Entry,
    Receipt,
    old_home,
    old_receipt_file,
    receipt_file,
)
from memlines.errors import PathError, WriteError
from memlines.files.atomic import read, refuse_link
from memlines.records import dataclass
from memlines.version import __version__

Action = Literal["make", "replace", "edit", "remove", "unchanged", "keep"]

_WAS_THERE = "was there before Memlines"
_NOT_PLAIN = "is a link or no plain file, which Memlines does not touch"
BROUGHT = "came with the repository, and goes with git"
"""Why a file stays that another installation was committed with."""

_NO_FILE = (errno.EINVAL, errno.ENXIO)  # a folder or a pipe, a socket


class _NotPlain:
    """The content of a link, a folder or a pipe: nothing that could be compared."""


@dataclass(frozen=True, slots=True)
class Step:
    """One file and what happens to it; `why` explains what the action alone does not.

    `name` is its path in the client's folder, `content` what is written, `expected` what it holds now.
    """

    action: Action
    path: Path
    name: str
    why: str = ""
    content: bytes | None = None
    expected: bytes | None = None

    @property
    def changes(self) -> bool:
        """Whether a file is different afterwards."""
        return self.action in ("make", "replace", "edit", "remove")


@dataclass(frozen=True, slots=True)
class Plan:
    """What has to be done in one folder; without a new receipt, nothing is left. `known` is what was ours."""

    target: Target
    steps: tuple[Step, ...]
    old: Receipt | None
    new: Receipt | None
    known: Mapping[str, Entry]


def plan_install(target: Target) -> Plan:
    """Compare what a client needs with what is there; refuse to take the place of a file that is not ours."""
    old = target.receipt()
    known = _known(old, target.brought())
    planned = [_plan_file(target, file, known.get(file.path)) for file in target.files]
    planned += [_plan_edit(target, edit, known.get(edit.path)) for edit in target.edits]
    names = target.names()
    obsolete = [_plan_removal(target, name, known[name]) for name in known if name not in names]
    entries = known | {step.name: entry for step, entry in (*planned, *obsolete) if entry is not None}
    for step, entry in obsolete:
        if entry is None:
            del entries[step.name]
    made = () if old is None else _still_needed(target, old.folders, entries)
    folders = (*made, *(folder for folder in _missing(target, entries) if folder not in made))
    # What is only needed from elsewhere leaves an installation, and its version, as it is.
    is_guest = old is not None and target.owner != OWN and old.is_installed()
    version = old.version if old is not None and is_guest else __version__
    new = Receipt(target.host, version, entries, folders) if entries else None
    return Plan(target, (*(step for step, _ in planned), *_reported(obsolete)), old, new, known)


def plan_uninstall(target: Target, *, force: bool = False) -> Plan:
    """Find what was written and is not needed any more; what was changed since is kept."""
    old = target.receipt()
    brought = target.brought()
    if receipt_file(target.real(), target.home) == old_receipt_file(target.real(), target.home):
        target = replace(target, home=old_home(target.home))
    if old is None:
        there = [(name, path) for name in brought if os.path.lexists(path := target.place(name))]
        steps = tuple(Step("keep", path, name, BROUGHT) for name, path in there)
        return Plan(target, steps, None, None, brought)
    known = _known(old, brought)
    planned = [_plan_removal(target, name, known[name], force=force) for name in old.files]
    manifest = old.files.get(f"{target.home}/{MANIFEST_NAME}")
    if manifest is not None and manifest.found:
        for at, (step, entry) in enumerate(planned):
            if step.why == _WAS_THERE:
                planned[at] = replace(step, why=BROUGHT), entry
    entries = {step.name: entry for step, entry in planned if entry is not None}
    ignored = f"{target.home}/.gitignore"
    if ignored in old.files and any(not entry.needed_by for entry in entries.values()):
        entries[ignored] = replace(old.files[ignored], needed_by=())  # git must not see the receipt
        planned = [(step, entry) for step, entry in planned if step.name != ignored]
    folders = _still_needed(target, old.folders, entries)
    left = replace(old, files=entries, folders=folders) if entries else None
    return Plan(target, _reported(planned), old, left, known)


def refuse_conflicts(plans: Iterable[Plan]) -> None:
    """Raise if a file that is not ours has the name of one that a client cannot do without."""
    blocked: list[Step] = []
    for plan in plans:
        optional = {file.path for file in plan.target.files if file.without}
        needed = plan.target.names() - optional - set(plan.new.files if plan.new else ())
        blocked += [step for step in plan.steps if step.action == "keep" and step.name in needed]
    if blocked:
        first, rest = blocked[0], len(blocked) - 1
        more = f" (and {rest} more)" if rest else ""
        raise WriteError(
            f"{str(first.path)!r} {first.why}{more}, so nothing was changed",
            todo="Move it away or give it another name, and install again",
        )


def refuse_read_only(plans: Iterable[Plan]) -> None:
    """Raise if a folder may not be written; a full disk shows only later."""
    changed = [step.path for plan in plans for step in plan.steps if step.changes]
    for folder in dict.fromkeys(path.parent for path in changed):
        above = next(place for place in (folder, *folder.parents) if place.exists())
        if not os.access(above, os.W_OK):
            raise WriteError(
                f"the folder {str(above)!r} may not be written, so nothing was changed",
                todo="Check its permissions, and try again",
            )


def _known(old: Receipt | None, brought: Mapping[str, Entry]) -> dict[str, Entry]:
    """Return what is ours by the receipt or by the manifest, which git may have brought since."""
    known = dict(brought)
    for name, entry in (old.files if old else {}).items():
        other = brought[name].sha256 if name in brought and entry.before is None else entry.before
        known[name] = replace(entry, before=other)
    return known


def _reported(planned: Iterable[tuple[Step, Entry | None]]) -> tuple[Step, ...]:
    """Return what to report: not what stays because another installation needs it."""
    return tuple(step for step, entry in planned if entry is None or not entry.needed_by)


def _plan_file(target: Target, file: File, known: Entry | None) -> tuple[Step, Entry | None]:
    """Decide about a file that is needed; no entry means that it does not become ours."""
    path, name = target.place(file.path), file.path
    now = hash_of(file.content)
    owners = tuple(dict.fromkeys((*_alive(target, known), target.owner)))
    content = _read(path)
    if isinstance(content, _NotPlain):
        return Step("keep", path, name, _NOT_PLAIN), None
    if content is None:
        return Step("make", path, name, content=file.content), Entry(now, needed_by=owners)
    if content == file.content:
        return Step("unchanged", path, name), Entry(
            now, found=known.found if known else True, needed_by=owners
        )
    if known is not None and known.is_ours(content):
        entry = Entry(now, before=hash_of(content), found=known.found, needed_by=owners)
        return Step("replace", path, name, content=file.content, expected=content), entry
    if known is not None:
        why = "was changed since it was installed; to get the new one, delete it and install again"
        return Step("keep", path, name, why), replace(known, before=None, needed_by=owners)
    why = f"is not Memlines's; {file.without}" if file.without else "is not Memlines's"
    return Step("keep", path, name, why), None


def _plan_edit(target: Target, edit: Edit, known: Entry | None) -> tuple[Step, Entry | None]:
    """Decide about a file of the user's that is to hold a part of ours."""
    path, name = target.place(edit.path), edit.path
    content = _read(path)
    if isinstance(content, _NotPlain):
        return Step("keep", path, name, _NOT_PLAIN), None
    noted = known.edited if known else None
    if content is None or known is None or noted is None:
        without_ours = content and edit.take_out(content)
    else:
        without_ours = undo_edit(content, known.sha256, noted, edit, known.before)
    new, note = apply_edit(without_ours, edit)
    entry = Entry(hash_of(new), edited=note)
    if new == content:
        return Step("unchanged", path, name), entry
    if content is None:
        return Step("make", path, name, content=new), entry
    former: Cuts = ()
    if known is not None and noted is not None:
        former = noted.cuts if hash_of(content) == known.sha256 else noted.former
    entry = replace(entry, before=hash_of(content), edited=replace(note, former=former))
    return Step("edit", path, name, content=new, expected=content), entry


def _plan_removal(
    target: Target, name: str, entry: Entry, *, force: bool = False
) -> tuple[Step, Entry | None]:
    """Decide about a file that this installation does not need any more.

    An entry means that others need it; or, if none does, that it is ours and was changed.
    """
    path = target.place(name)
    others = tuple(owner for owner in _alive(target, entry) if owner != target.owner)
    if others:
        why = "is needed by another installation"
        return Step("unchanged", path, name, why), replace(entry, needed_by=others)
    content = _read(path)
    if isinstance(content, _NotPlain):
        return Step("keep", path, name, _NOT_PLAIN), None
    if content is None:
        return Step("unchanged", path, name, "was deleted before"), None
    if entry.edited is not None:
        left = undo_edit(content, entry.sha256, entry.edited, target.edit_of(name), entry.before)
        if left is None:
            return Step("remove", path, name, expected=content), None
        if left == content:
            return Step("unchanged", path, name, "holds nothing of Memlines any more"), None
        return Step("edit", path, name, content=left, expected=content), None
    if entry.found:
        return Step("keep", path, name, _WAS_THERE), None
    if entry.is_ours(content) or (force and not target.is_shared(name)):
        return Step("remove", path, name, expected=content), None
    if target.is_shared(name):
        return Step("keep", path, name, "was changed since it was installed, so it is yours now"), None
    why = "was changed since it was installed (uninstall --force removes it)"
    return Step("keep", path, name, why), replace(entry, before=None, needed_by=())


def _alive(target: Target, entry: Entry | None) -> tuple[str, ...]:
    """Return who needs a file and still exists; nothing reports that a project was deleted."""
    owners = entry.needed_by if entry else ()
    return tuple(
        owner
        for owner in owners
        if owner in (OWN, target.owner) or os.path.lexists(receipt_file(Path(owner)))
    )


def _still_needed(target: Target, folders: Iterable[str], names: Iterable[str]) -> tuple[str, ...]:
    """Return the folders that were made and still hold one of the files, or the receipt."""
    receipt = f"{target.home}/{NAME}"
    used = {above.as_posix() for name in (*names, receipt) for above in PurePosixPath(name).parents}
    return tuple(folder for folder in folders if folder in used or folder.startswith(".."))


def _missing(target: Target, names: Iterable[str]) -> list[str]:
    """Return the folders that have to be made, the highest first, seen from the client's folder."""
    root = target.real()
    missing: set[Path] = set()
    for name in (*names, f"{target.home}/{NAME}"):
        folder = (root / name).parent
        while not folder.exists():
            refuse_link(folder)  # one that leads nowhere
            missing.add(folder)
            folder = folder.parent
    ordered = sorted(missing, key=lambda folder: len(folder.parts))
    return [Path(os.path.relpath(folder, root)).as_posix() for folder in ordered]


def _read(path: Path) -> bytes | _NotPlain | None:
    """Return what a file holds, or that it is a link, a folder or the like."""
    try:
        return read(path)
    except PathError:
        return _NotPlain()
    except OSError as error:
        if error.errno in _NO_FILE:
            return _NotPlain()
        raise
