"""A workspace with strange notes, and copies of it."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memlines.admin.backup.archive import Exported, ImportedArchive, export_archive, import_archive
from memlines.admin.backup.snapshots import BackedUp, Restored, backup, restore
from memlines.paths import Workspace
from memlines.settings import load

TODAY = "2026-03-04"
"""The day that imports and restores name their copies by (tests/admin/conftest.py)."""

STRANGE: Mapping[str, bytes] = {
    "MEMORY.md": b"# Memory\n",
    "memory/2026-03-01.md": b"windows\r\nlines\r\n",
    "memory/byte order mark.md": b"\xef\xbb\xbfmarked",
    "memory/empty.md": b"",
    "memory/not text \xff.md".replace("\xff", "ÿ"): b"\xff\xfe\x00binary",
    unicodedata.normalize("NFD", "memory/tief/größe é.md"): "decomposed é".encode(),
    "memory/tief/größe é.md": "composed é".encode(),
    "memory/日本語/ノート.md": "覚える".encode(),
    "memory/'quotes\" & [brackets] *.md": b"x",
    "memory/.hidden.md": b"hidden",
}


def silent(completed: int, total: int, label: str) -> None:
    """Report progress to nobody."""


def fill(folder: Path, files: Mapping[str, bytes]) -> Path:
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return folder


def tree(folder: Path) -> dict[str, bytes]:
    """Return every file of a workspace that a person would miss."""
    passing = {".gitignore", "notes.lock", "config.yaml", "writes.jsonl"}
    files = [file for file in folder.rglob("*") if file.is_file() and file.name not in passing]
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}


def export(folder: Path, file: Path, **options: Any) -> Exported:
    workspace = Workspace.at(folder)
    return export_archive(workspace, load(workspace).settings, file, progress=silent, **options)


def bring_in(folder: Path, file: Path, **options: Any) -> ImportedArchive:
    workspace = Workspace.at(folder)
    return import_archive(workspace, load(workspace).settings, file, progress=silent, **options)


def back_up(folder: Path, uri: str | Path, **options: Any) -> BackedUp:
    workspace = Workspace.at(folder)
    return backup(workspace, load(workspace).settings, str(uri), progress=silent, **options)


def bring_back(folder: Path, uri: str | Path, **options: Any) -> Restored:
    workspace = Workspace.at(folder)
    return restore(workspace, load(workspace).settings, str(uri), progress=silent, **options)
