"""Checks of the folders, the settings, the disk, and user folders with the project's first name."""

from __future__ import annotations

import glob
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from memlines.admin.doctor.findings import (
    Checkup,
    Finding,
    RepairJob,
    list_names,
    megabytes,
    ok,
    problem,
    warning,
)
from memlines.errors import WriteError, reason_of
from memlines.files import history, trash
from memlines.files.place import ensure_private, tighten
from memlines.files.scan import walk
from memlines.index.store.sqlite.erase import indexes_in
from memlines.paths import Workspace, old_user_folders
from memlines.settings import switched_off

_LITTLE_ROOM = 500_000_000
_NO_ROOM = 50_000_000
"""Bytes free on a disk: a first index of many notes may need the first, any work at all the second."""

_MOST_TIMES = 50
_WORTH_SAYING = 100_000_000
"""An index is some twenty to forty times as large as short notes, by the vectors of their sentences.
What is far more than that, and large, has grown for another reason."""

_NETWORK = frozenset({"9p", "afs", "ceph", "cifs", "fuse.sshfs", "glusterfs", "nfs", "nfs4", "smb3", "smbfs"})
_MOUNTS = Path("/proc/mounts")

_IGNORE_ALL = "Make it a file with one line: *"


def check_workspace(checkup: Checkup) -> Iterator[Finding]:
    """Look at the workspace and its private folder."""
    root = checkup.workspace.root
    cached = checkup.index_file.parent == checkup.workspace.cached_indexes
    what = f"remembered; the index is in {checkup.index_file.parent}" if cached else "remembered or indexed"
    findings = [*_check_writable(root, what), *_check_private(checkup.workspace)]
    yield from findings or [ok(f"{root} can be read and written")]


def _check_writable(folder: Path, what: str) -> Iterator[Finding]:
    if not os.access(folder, os.W_OK | os.X_OK):
        yield problem(
            f"{folder} cannot be written, so nothing can be {what}", "Check its permissions and its owner"
        )


def _check_private(workspace: Workspace) -> Iterator[Finding]:
    folder, ignore = workspace.private, workspace.private / ".gitignore"
    if not os.path.lexists(folder):
        return  # the first sync makes it
    if folder.is_symlink():
        yield problem(
            f"{folder} is a symbolic link, which is not followed",
            "Replace it by a folder; store.path can keep the index elsewhere",
        )
        return
    if not folder.is_dir():
        yield problem(f"{folder} is not a folder", "Move it away; the next sync makes the folder")
        return
    yield from _check_writable(folder, "remembered or indexed")
    if not os.path.lexists(ignore):
        yield warning(f"{ignore} is missing, so Git may take what is private", _IGNORE_ALL, "private")
    elif (
        ignore.is_symlink()
        or not ignore.is_file()
        or "*" not in ignore.read_text(encoding="utf-8", errors="replace").split()
    ):
        yield warning(f"{ignore} does not ignore everything", _IGNORE_ALL)
    if found := tighten(workspace, dry_run=True):
        names = list_names(Path(os.path.relpath(path, workspace.root)).as_posix() for path in found)
        yield warning(
            f"other users of this machine may read what is private, or the group may not: {names}",
            "Close them, or let the next sync do it",
            "permissions",
        )


def repair_private(job: RepairJob) -> str:
    """Make the private folder with its .gitignore, as every repair does before it starts."""
    ensure_private(job.workspace)
    return f"made {job.workspace.private / '.gitignore'}"


def repair_permissions(job: RepairJob) -> str:
    """Close the private folder to other users."""
    tighten(job.workspace)
    return f"closed {job.workspace.private} and all in it to other users"


def check_settings(checkup: Checkup) -> Iterator[Finding]:
    """Look whether the settings can be used, and whether they switch memory off."""
    if checkup.settings_error is not None:
        raise checkup.settings_error
    loaded = checkup.loaded
    assert loaded is not None
    if off := switched_off(loaded):
        yield warning(off, "Set it to true to use this memory")
    elif loaded.warnings:
        for sentence in loaded.warnings:
            yield warning(sentence, "Correct it, or take it out")
    else:
        chosen = [name for name, origin in loaded.origins.items() if origin != "default"]
        yield ok(f"readable; {len(chosen)} differ from the defaults" if chosen else "the defaults")


def check_disk(checkup: Checkup) -> Iterator[Finding]:
    """Look at the room on the disk, at its kind, and at the size of the index."""
    root, beside = checkup.workspace.root, checkup.index_file.parent
    findings = [*_check_room(root, beside), *_check_network(beside), *_check_size(checkup)]
    yield from findings or [ok(f"{megabytes(shutil.disk_usage(root).free)} free")]


def _check_room(*folders: Path) -> Iterator[Finding]:
    """Look at each disk once."""
    for folder in {folder.stat().st_dev: folder for folder in folders if folder.is_dir()}.values():
        free = shutil.disk_usage(folder).free
        message = f"{megabytes(free)} free on the disk of {folder}"
        if free < _NO_ROOM:
            yield problem(message, "Free some space")
        elif free < _LITTLE_ROOM:
            yield warning(message, "Free some space before it runs out")


def _check_network(folder: Path) -> Iterator[Finding]:
    """Look whether the index is on a network file system, where that can be seen cheaply."""
    if not sys.platform.startswith("linux") or not _MOUNTS.exists():
        return
    real = os.path.realpath(folder)
    mounts = [line.split() for line in _MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines()]
    above = [
        mount
        for mount in mounts
        if len(mount) > 2 and (real == mount[1] or real.startswith(mount[1].rstrip("/") + "/"))
    ]
    kind = max(above, key=lambda mount: len(mount[1]))[2] if above else ""
    if kind in _NETWORK:
        yield warning(
            f"{folder} is on a network file system ({kind}), where SQLite's locks may not hold",
            "Set store.path to a file on a disk of this machine",
        )


def _check_size(checkup: Checkup) -> Iterator[Finding]:
    text = sum(file.fingerprint.size for file in checkup.discovery.files)
    beside = checkup.index_file.parent.glob(glob.escape(checkup.index_file.name) + "*")
    size = sum(file.stat().st_size for file in beside if file.is_file())
    if size > max(_MOST_TIMES * text, _WORTH_SAYING):
        yield warning(
            f"the index takes {megabytes(size)} for {megabytes(text)} of text",
            "Run 'memlines sync --force' to rebuild it, or lower cache.max_entries",
        )


def check_kept(checkup: Checkup) -> Iterator[Finding]:
    """Look at the size of what is kept of changed and removed notes."""
    within = []
    for name, limit in (("history", history.MAX_BYTES), ("trash", trash.MAX_BYTES)):
        size = _bytes_below(checkup.workspace.private / name)
        if size > limit:
            yield warning(
                f"{name} holds {megabytes(size)}, above its limit of {megabytes(limit)}",
                f"The next change of a note makes room; or delete what you do not need in .memory/{name}",
            )
        else:
            within.append(f"{name} {megabytes(size)}")
    if len(within) == 2:
        yield ok(", ".join(within))


def check_agents(checkup: Checkup) -> Iterator[Finding]:
    """List the indexes of other agents, which are checked when their agent is named."""
    others = [file for file in indexes_in(checkup.workspace.private) if file != checkup.index_file]
    for file in others:
        size = megabytes(file.stat().st_size)
        yield ok(f"{file.name} ({size}) is of another agent; 'memlines doctor --agent NAME' checks it")
    if not others:
        yield ok("no other agent has an index here")


def _bytes_below(folder: Path) -> int:
    """Return how many bytes the files below a folder have; folders that cannot be read are not counted."""
    total = 0
    for _, entries, _ in walk(folder.parent, folder.name):
        for entry in entries:
            with suppress(OSError):  # gone since it was listed
                if not entry.is_dir(follow_symlinks=False):
                    total += entry.stat(follow_symlinks=False).st_size
    return total


def check_old_name(_: Checkup) -> Iterator[Finding]:
    """Look for user-wide folders with the old name; settings and clients have checks of their own."""
    for kind, old, new in old_user_folders():
        if not new.exists():
            yield warning(
                f"{old} is still used under its old name, instead of {new}",
                "Run 'memlines doctor --repair', which moves it",
                "old-name",
            )
        elif kind == "cache":
            yield warning(f"{old} is a cache that is not used any more", "Delete it")
        else:
            yield warning(
                f"{old} is not used, because {new} exists as well",
                "Move what you need of it into the new one yourself, then delete it",
            )


def move_old_folders() -> str:
    """Rename the folders, each in one step; where both exist, nothing is changed."""
    moved = []
    for _, old, new in old_user_folders():
        if not new.exists():
            try:
                old.rename(new)
            except OSError as error:
                raise WriteError(
                    f"{str(old)!r} cannot be moved to {str(new)!r}: {reason_of(error)}",
                    todo="Check the permissions of the folder that holds it",
                ) from error
            moved.append(f"{old} to {new}")
    return f"moved {', '.join(moved)}" if moved else "moved nothing"
