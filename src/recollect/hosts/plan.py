"""What would be written into a client's folder, compared with what is there. Nothing is changed here."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Literal

from recollect.errors import PathError, WriteError, reason_of
from recollect.files.atomic import read, refuse_link
from recollect.hosts.receipt import HOME, NAME, OWN, Entry, Receipt, hash_of, read_receipt, receipt_file
from recollect.paths import contains
from recollect.version import __version__

Action = Literal["make", "replace", "remove", "unchanged", "keep"]

_NOT_PLAIN = "is a link or no plain file, which Recollect does not touch"
_NO_FILE = (errno.EINVAL, errno.ENXIO)  # a folder or a pipe, a socket


class _NotPlain:
    """Stands for the content of what has none that could be compared."""


@dataclass(frozen=True, slots=True)
class File:
    """A file that a client needs; `without` says what it means to do without it, if that can be done."""

    path: str
    content: bytes
    without: str = ""


@dataclass(frozen=True, slots=True)
class Target:
    """The folder of a client's settings, what belongs into it, and the folder it may not lead out of."""

    host: str
    folder: Path
    files: tuple[File, ...]
    inside: Path | None = None
    owner: str = OWN

    def real(self) -> Path:
        """Return the folder with links followed; refuse one that leads out of the project."""
        return _inside(self.folder, self.inside)

    def place(self, path: str) -> Path:
        """Return where a file is; refuse a folder above it that leads out of the project."""
        file = self.real() / path
        return _inside(file.parent, self.inside) / file.name


@dataclass(frozen=True, slots=True)
class Step:
    """One file and what happens to it; `why` says it where that is not plain."""

    action: Action
    path: Path
    why: str = ""

    @property
    def changes(self) -> bool:
        """Whether a file is different afterwards."""
        return self.action in ("make", "replace", "remove")


@dataclass(frozen=True, slots=True)
class Planned:
    """A file of a plan: what is done, with what, and what it is known to hold now."""

    step: Step
    name: str
    content: bytes | None = None
    expected: bytes | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done in one folder; without a receipt, nothing of it is left afterwards."""

    target: Target
    files: tuple[Planned, ...]
    old: Receipt | None
    new: Receipt | None

    @property
    def steps(self) -> tuple[Step, ...]:
        """What happens to each file."""
        return tuple(file.step for file in self.files)


def plan_install(target: Target) -> Plan:
    """Compare what a client needs with what is there; refuse to take the place of a file that is not ours."""
    old = read_receipt(target.real())
    known = {} if old is None else dict(old.files)
    planned = [_wanted(target, file, known.get(file.path)) for file in target.files]
    entries = {**known, **{p.name: entry for p, entry in planned if entry is not None}}
    names = {file.path for file in target.files}
    obsolete = [_given_up(target, name, known[name]) for name in known if name not in names]
    entries.update({p.name: entry for p, entry in obsolete if entry is not None})
    for gone, entry in obsolete:
        if entry is None:
            del entries[gone.name]
    made = () if old is None else _still_needed(old.folders, entries)
    folders = (*made, *(folder for folder in _missing(target, entries) if folder not in made))
    new = Receipt(target.host, __version__, entries, folders) if entries else None
    files = (*(p for p, _ in planned), *(p for p, _ in obsolete))
    return Plan(target, files, old, new)


def plan_uninstall(target: Target, *, force: bool = False) -> Plan:
    """Find what was written and nobody needs any more; what somebody changed since is kept."""
    old = read_receipt(target.real())
    if old is None:
        return Plan(target, (), None, None)
    planned = [_given_up(target, name, entry, force=force) for name, entry in old.files.items()]
    entries = {p.name: entry for p, entry in planned if entry is not None}
    files = tuple(p for p, entry in planned if entry is None)
    left = replace(old, files=entries, folders=_still_needed(old.folders, entries)) if entries else None
    return Plan(target, files, old, left)


def conflicts(plans: Iterable[Plan]) -> None:
    """Raise if a file that is not ours has the name of one that is needed."""
    blocked = [
        file.step
        for plan in plans
        for file in plan.files
        if file.step.action == "keep" and file.name in _needed(plan)
    ]
    if blocked:
        first, rest = blocked[0], len(blocked) - 1
        more = f" (and {rest} more)" if rest else ""
        raise WriteError(
            f"{str(first.path)!r} {first.why}{more}; nothing was changed",
            todo="Move it away or give it another name, and install again",
        )


def _needed(plan: Plan) -> set[str]:
    """Return the names of what a client cannot do without and the receipt does not know."""
    known = plan.new.files if plan.new else {}
    return {file.path for file in plan.target.files if not file.without and file.path not in known}


def _wanted(target: Target, file: File, known: Entry | None) -> tuple[Planned, Entry | None]:
    """Decide about a file that is needed; no entry means that it does not become ours."""
    path = target.place(file.path)
    now = hash_of(file.content)
    owners = tuple(dict.fromkeys((*_alive(target, known), target.owner)))
    content = _read(path)
    if isinstance(content, _NotPlain):
        return Planned(Step("keep", path, _NOT_PLAIN), file.path), None
    if content is None:
        return Planned(Step("make", path), file.path, file.content), Entry(now, needed_by=owners)
    if content == file.content:
        entry = Entry(now, found=known.found if known else True, needed_by=owners)
        return Planned(Step("unchanged", path), file.path), entry
    if known is not None and known.is_ours(content):
        entry = Entry(now, before=hash_of(content), found=known.found, needed_by=owners)
        return Planned(Step("replace", path), file.path, file.content, content), entry
    if known is not None:
        why = "was changed since it was installed; to get the new one, delete it and install again"
        return Planned(Step("keep", path, why), file.path), replace(known, needed_by=owners)
    why = f"is not Recollect's; {file.without or 'it holds something else'}"
    return Planned(Step("keep", path, why), file.path), None


def _given_up(
    target: Target, name: str, entry: Entry, *, force: bool = False
) -> tuple[Planned, Entry | None]:
    """Decide about a file that this installation does not need any more; an entry means that others do."""
    path = target.place(name)
    others = tuple(owner for owner in _alive(target, entry) if owner != target.owner)
    if others:
        return Planned(Step("unchanged", path, "is needed by another installation"), name), replace(
            entry, needed_by=others
        )
    content = _read(path)
    if isinstance(content, _NotPlain):
        return Planned(Step("keep", path, _NOT_PLAIN), name), None
    if content is None:
        return Planned(Step("unchanged", path, "was deleted before"), name), None
    if entry.found:
        return Planned(Step("keep", path, "was there before Recollect"), name), None
    if force or entry.is_ours(content):
        return Planned(Step("remove", path), name, None, content), None
    return Planned(Step("keep", path, "was changed since it was installed"), name), None


def _alive(target: Target, entry: Entry | None) -> tuple[str, ...]:
    """Return who needs a file and is still there; projects get deleted without a word."""
    owners = entry.needed_by if entry else ()
    return tuple(
        owner
        for owner in owners
        if owner in (OWN, target.owner) or os.path.lexists(receipt_file(Path(owner)))
    )


def _still_needed(folders: Iterable[str], names: Iterable[str]) -> tuple[str, ...]:
    """Return the folders that were made and still hold one of the files, or the receipt."""
    used = {above.as_posix() for name in (*names, f"{HOME}/{NAME}") for above in PurePosixPath(name).parents}
    return tuple(folder for folder in folders if folder in used or folder.startswith(".."))


def _missing(target: Target, names: Iterable[str]) -> list[str]:
    """Return the folders that have to be made, the highest first, seen from the client's folder."""
    root = target.real()
    missing: set[Path] = set()
    for name in (*names, f"{HOME}/{NAME}"):
        folder = (root / name).parent
        while not folder.exists():
            refuse_link(folder)  # one that leads nowhere
            missing.add(folder)
            folder = folder.parent
    ordered = sorted(missing, key=lambda folder: len(folder.parts))
    return [Path(os.path.relpath(folder, root)).as_posix() for folder in ordered]


def _inside(folder: Path, boundary: Path | None) -> Path:
    """Follow the links of a folder's path; refuse to leave the boundary, and what is no folder."""
    try:
        real = folder.resolve()
        is_other = real.exists() and not real.is_dir()
    except (OSError, RuntimeError) as error:
        raise PathError(
            f"{str(folder)!r} cannot be opened: {reason_of(error)}", todo="Check its links and permissions"
        ) from error
    if boundary is not None and not contains(boundary, real):
        raise PathError(
            f"{str(folder)!r} leads out of the project, to {str(real)!r}",
            todo="Replace the link by a folder, or install with --global",
        )
    if is_other:
        raise PathError(f"{str(folder)!r} is not a folder", todo="Move it away")
    return real


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
