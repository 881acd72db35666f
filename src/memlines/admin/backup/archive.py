"""One file with everything a workspace remembers, and the way back.

The archive is an ordinary ZIP: the notes under their own names, `manifest.json` with the SHA-256 of
each, and the project's settings as `settings.yaml`. Unpacked by hand, it is a workspace.
"""

from __future__ import annotations

import os
import stat
import time
import uuid
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from memlines.admin.backup.gather import (
    Outcome,
    copy_files,
    gather,
    refuse_invisible_names,
    refuse_strange_names,
    summarize,
)
from memlines.admin.backup.manifest import (
    MAX_MANIFEST_BYTES,
    SETTINGS_NAME,
    Damaged,
    Entry,
    Manifest,
    SourceFile,
    decode,
    encode,
    read_pieces,
    read_through,
    verify,
)
from memlines.admin.backup.merge import Merged, merge
from memlines.errors import BackupError, PathError, UsageError, reason_of
from memlines.files.atomic import sync_folder
from memlines.files.scan import SUFFIX
from memlines.folders import CREATE_FLAGS, PRIVATE_FILE, open_private
from memlines.paths import Workspace
from memlines.records import dataclass
from memlines.settings import Settings
from memlines.types import Problem, Progress

MANIFEST_NAME = "manifest.json"

MAX_UNPACKED_BYTES = 10_000_000_000
"""What an archive may hold unpacked, unless the caller allows more: a small file could fill the disk."""

_EARLIEST = (1980, 1, 1, 0, 0, 0)
_LATEST = (2107, 12, 31, 23, 59, 58)
_ENCRYPTED = 0x1
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export wrote; `left_out` names links and the like, `failed` what could not be read."""

    file: str
    files: int
    bytes: int
    archive_bytes: int
    settings: bool
    left_out: tuple[Problem, ...] = ()
    failed: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedArchive(Merged):
    """What the import of an archive did; settings stay in the archive."""

    file: str
    created_at: str
    settings: bool


def export_archive(
    workspace: Workspace,
    settings: Settings,
    file: Path,
    *,
    everything: bool = False,
    force: bool = False,
    progress: Progress,
) -> Exported:
    """Write the workspace into one file, whole or not at all."""
    with (
        write_whole(file, replace=force) as stream,
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        files, problems = gather(workspace, settings, everything=everything)
        manifest = copy_files(workspace, files, _Packing(archive), problems, progress, "exporting")
        archive.writestr(_zip_info(MANIFEST_NAME, time.time_ns()), encode(manifest))
    size = file.stat().st_size
    return Exported(file=str(file), archive_bytes=size, **summarize(manifest, problems))


def import_archive(
    workspace: Workspace,
    settings: Settings,
    file: Path,
    *,
    dry_run: bool = False,
    with_forgotten: bool = False,
    max_bytes: int = MAX_UNPACKED_BYTES,
    progress: Progress,
) -> ImportedArchive:
    """Merge an archive into the workspace; everything in it is checked before anything is written."""
    with _archive_errors(file):
        _refuse_other_exports(file)
        opened = zipfile.ZipFile(file)
    with opened as archive:
        with _archive_errors(file):
            infos = _read_infos(archive, file)
            manifest = _read_manifest(archive, infos, file, max_bytes)
            origin = f"the archive {str(file)!r}"
            refuse_strange_names(workspace, settings, manifest.entries, origin)
            refuse_invisible_names(manifest.entries, origin)
            for done, entry in enumerate(manifest.every_entry, 1):
                read_through(_Packed(archive, file, entry))
                progress(done, len(infos) - 1, "checking")
        merged = merge(
            workspace,
            settings,
            manifest.entries,
            # They are checked again as they are unpacked: the archive may have changed since.
            lambda entries: ((entry, _Packed(archive, file, entry)) for entry in entries),
            dry_run=dry_run,
            with_forgotten=with_forgotten,
            progress=progress,
        )
    return ImportedArchive(
        **merged.values(),
        file=str(file),
        created_at=manifest.created,
        settings=manifest.settings is not None,
    )


class _Packing:
    """Writes files into an archive."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive

    def add(self, entry: Entry, content: bytes) -> None:
        """Pack a file."""
        is_made_now = entry.path == SETTINGS_NAME
        self._archive.writestr(
            _zip_info(entry.path, time.time_ns() if is_made_now else entry.mtime_ns), content
        )

    def add_large(self, file: SourceFile) -> Outcome:
        """Pack a file in pieces; one that changed meanwhile is in the archive, and is a problem."""
        pieces = iter(file)
        try:
            first = next(pieces, b"")  # before its place in the archive begins
        except FileNotFoundError:
            return None, None
        except (OSError, PathError) as error:
            return None, file.unreadable(error)
        info = _zip_info(file.path, max(0, Path(file.real).lstat().st_mtime_ns))
        with self._archive.open(info, "w", force_zip64=True) as packed:
            packed.write(first)
            for piece in pieces:
                packed.write(piece)
        return file.entry, file.changed_while_read() if file.changed else None


def _check_target(file: Path, *, force: bool) -> None:
    if file.name.endswith(SUFFIX):
        raise UsageError(f"{str(file)!r} would be taken for a note", todo="Name the archive something.zip")
    if not file.parent.is_dir():
        raise UsageError(f"the folder {str(file.parent)!r} does not exist", todo="Create it first")
    if file.is_dir():
        raise UsageError(f"{str(file)!r} is a folder", todo="Name a file in it, such as notes.zip")
    if not force and os.path.lexists(file):
        raise _exists_error(file)


@contextmanager
def write_whole(file: Path, *, replace: bool) -> Iterator[BinaryIO]:
    """Open a file to export to, which is written whole or not at all.

    The unfinished file is not named as those of notes are: writers of notes remove what is left of them.
    """
    _check_target(file, force=replace)
    unfinished = file.with_name(f".{uuid.uuid4().hex}.memlines-export")
    try:
        with os.fdopen(open_private(unfinished, CREATE_FLAGS), "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if not replace and os.path.lexists(file):
            raise _exists_error(file)
        unfinished.replace(file)
        sync_folder(file.parent)
    except OSError as error:
        raise BackupError(
            f"the archive {str(file)!r} cannot be written: {reason_of(error)}",
            todo="Check its folder, its permissions and the space on the disk",
        ) from error
    finally:
        unfinished.unlink(missing_ok=True)


def _exists_error(file: Path) -> UsageError:
    return UsageError(f"{str(file)!r} exists already", todo="Name another file, or replace it with --force")


def _zip_info(name: str, mtime_ns: int) -> zipfile.ZipInfo:
    """Describe a file alike on every system."""
    moment = time.gmtime(mtime_ns // 1_000_000_000)[:6]
    info = zipfile.ZipInfo(name, min(max(moment, _EARLIEST), _LATEST))
    info.compress_type = zipfile.ZIP_DEFLATED
    info.create_system = 3  # Unix, so that the permissions below count
    info.external_attr = (stat.S_IFREG | PRIVATE_FILE) << 16
    return info


@contextmanager
def _archive_errors(file: Path) -> Iterator[None]:
    """Raise errors of our own for what opening and reading a damaged archive raises."""
    try:
        yield
    except FileNotFoundError:
        raise UsageError(f"there is no archive {str(file)!r}", todo="Check the name") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError) as error:
        raise Damaged(
            f"the archive {str(file)!r} is damaged: {error}; nothing was changed",
            todo="Use another copy of it",
        ) from error
    except OSError as error:
        raise Damaged(
            f"the archive {str(file)!r} cannot be read: {reason_of(error)}; nothing was changed",
            todo="Check that it is whole, and its permissions",
        ) from error


def _refuse_other_exports(file: Path) -> None:
    """Refuse what was never a ZIP: most likely another program's export, without the name of the program."""
    if not file.is_dir():
        with file.open("rb") as stream:
            if b"PK".startswith(stream.read(2)):  # an empty file was cut off
                return
    raise BackupError(
        f"{str(file)!r} is not an archive of 'memlines export'; nothing was changed",
        todo="If it is from another program, name that first, as in: memlines import mem0 mem0.json."
        " 'memlines import --help' lists the programs",
    )


def _read_infos(archive: zipfile.ZipFile, file: Path) -> dict[str, zipfile.ZipInfo]:
    """Return the files of an archive by name, or refuse what an export never writes."""
    infos: dict[str, zipfile.ZipInfo] = {}
    for info in archive.infolist():
        name = info.filename
        if name.endswith("/"):
            continue  # other programs write entries for folders, which are not needed
        if info.flag_bits & _ENCRYPTED:
            raise _refusal(file, f"{name!r} is encrypted")
        kind = stat.S_IFMT(info.external_attr >> 16)
        if info.create_system == 3 and kind not in (0, stat.S_IFREG):
            raise _refusal(file, f"{name!r} is a link or a device")
        if info.compress_type not in _METHODS:
            raise _refusal(file, f"{name!r} is packed in a way that is not supported")
        if name in infos:
            raise _refusal(file, f"{name!r} is in it twice")
        infos[name] = info
    return infos


def _read_manifest(
    archive: zipfile.ZipFile, infos: dict[str, zipfile.ZipInfo], file: Path, max_bytes: int
) -> Manifest:
    """Return the archive's own list of its files, after comparing the two."""
    if MANIFEST_NAME not in infos:
        raise _refusal(file, f"it has no {MANIFEST_NAME}, so 'memlines export' did not make it")
    if infos[MANIFEST_NAME].file_size > MAX_MANIFEST_BYTES:
        raise _refusal(file, f"its {MANIFEST_NAME} is too long")
    manifest = decode(archive.read(MANIFEST_NAME), f"{MANIFEST_NAME} of the archive {str(file)!r}")
    listed = {entry.path: entry for entry in manifest.every_entry}
    for name in infos:
        if name not in listed and name != MANIFEST_NAME:
            raise _refusal(file, f"{name!r} is in it but not in its {MANIFEST_NAME}")
    for name, entry in listed.items():
        if name not in infos:
            raise _refusal(file, f"{name!r} is in its {MANIFEST_NAME} but not in it")
        if infos[name].file_size != entry.size:
            raise _refusal(file, f"{name!r} has {infos[name].file_size} bytes instead of {entry.size}")
    total = sum(entry.size for entry in listed.values())
    if total > max_bytes:
        raise BackupError(
            f"the archive {str(file)!r} unpacks to {total / 1e9:.1f} GB, more than the {max_bytes / 1e9:g} GB"
            " that are allowed; nothing was changed",
            todo="If you know who made it, allow more with --max-bytes",
        )
    return manifest


@dataclass(frozen=True, slots=True)
class _Packed:
    """A file in an archive: unpacked in pieces, never more than its entry says, and checked."""

    archive: zipfile.ZipFile
    file: Path
    entry: Entry

    def __iter__(self) -> Iterator[bytes]:
        what = f"the content of {self.entry.path!r} is not what was packed"
        wrong = f"the archive {str(self.file)!r} is damaged: {what}; nothing was changed"
        with _archive_errors(self.file), self.archive.open(self.entry.path) as stream:
            yield from verify(self.entry, read_pieces(stream), wrong)


def _refusal(file: Path, why: str) -> BackupError:
    return BackupError(
        f"the archive {str(file)!r} is not accepted: {why}; nothing was changed",
        todo="Use one that 'memlines export' wrote",
    )
