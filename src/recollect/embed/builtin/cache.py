"""Keeps the model's weights unpacked, so that a cold start maps them instead of inflating them.

The cache is a folder of plain arrays and a manifest. It appears whole or not at all: it is
written beside its place and renamed into it. Whoever finds it damaged makes it again;
whoever cannot write it works without.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from recollect import paths
from recollect.embed.builtin import files

if TYPE_CHECKING:
    from recollect.embed.builtin.model import Weights

_FORMAT = 1
_MANIFEST = "manifest.json"
_LEFTOVER_SECONDS = 3600
"""Unfinished folders older than this belong to no living run."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a cache was made from and what it holds."""

    sources: dict[str, files.Stamp]
    """The package's files as they were when their content was last compared."""
    arrays: dict[str, int]
    """The size in bytes of each file of the cache."""


def cache_folder() -> Path:
    """Return the folder for the unpacked weights."""
    return paths.user_cache_dir() / f"builtin-{files.WEIGHTS.sha256[:12]}"


def check(resources: Path) -> None:
    """Raise `ModelFilesError` unless the package's files are the pinned ones; cheap once cached."""
    manifest = _read_manifest(cache_folder())
    files.verified(resources, manifest.sources if manifest else {})


def load(resources: Path) -> Weights:
    """Return the weights, from the cache where possible, and make the cache where it is missing."""
    from recollect.embed.builtin.model import unpack

    folder = cache_folder()
    manifest = _read_manifest(folder)
    stamps = files.verified(resources, manifest.sources if manifest else {})
    if manifest and (weights := _read_arrays(folder, manifest)):
        if stamps != manifest.sources:
            _remember(folder, Manifest(stamps, manifest.arrays))
        return weights
    weights = unpack(resources / files.WEIGHTS.name)
    try:
        written = _write(folder, weights, stamps)
    except OSError:
        # A read-only home or a full disk: the weights just unpacked serve as well.
        return weights
    # The mapped copy is shared between processes, so prefer it to the one in memory.
    return _read_arrays(folder, written) or weights


def _read_manifest(folder: Path) -> Manifest | None:
    """Return the manifest of a cache, or nothing if there is no cache this version can use."""
    try:
        data = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
        if data["format"] != _FORMAT:
            return None
        return Manifest(
            sources={name: files.Stamp(**stamp) for name, stamp in data["sources"].items()},
            arrays={str(name): int(size) for name, size in data["arrays"].items()},
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _is_whole(folder: Path, manifest: Manifest) -> bool:
    """Tell whether every file of a cache has the size it was written with."""
    try:
        return all((folder / name).stat().st_size == size for name, size in manifest.arrays.items())
    except OSError:
        return False


def _read_arrays(folder: Path, manifest: Manifest) -> Weights | None:
    """Return the cached weights, or nothing if a file is missing or not as it was written."""
    import numpy as np

    from recollect.embed.builtin.model import Weights

    if not _is_whole(folder, manifest):
        return None
    try:
        # Only rows of the table that a text needs are read; the layers are needed whole.
        arrays = {
            field.name: np.load(
                folder / f"{field.name}.npy",
                mmap_mode="r" if field.name == "table" else None,
                allow_pickle=False,
            )
            for field in fields(Weights)
        }
    except (OSError, ValueError):
        return None
    return Weights(**arrays)


def _write(folder: Path, weights: Weights, stamps: dict[str, files.Stamp]) -> Manifest:
    """Make the cache, or keep the one that another process has made meanwhile."""
    import tempfile

    folder.parent.mkdir(parents=True, exist_ok=True)
    _sweep(folder)
    fresh = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.parent))
    try:
        manifest = Manifest(stamps, _write_arrays(fresh, weights))
        _write_manifest(fresh / _MANIFEST, manifest)
        _put_in_place(fresh, folder)
    finally:
        _discard(fresh)
    return manifest


def _write_arrays(folder: Path, weights: Weights) -> dict[str, int]:
    """Write each array to a file of its own and return the files' sizes."""
    import numpy as np

    sizes = {}
    for field in fields(weights):
        path = folder / f"{field.name}.npy"
        with path.open("wb") as file:
            np.save(file, getattr(weights, field.name), allow_pickle=False)
            file.flush()
            os.fsync(file.fileno())
        sizes[path.name] = path.stat().st_size
    return sizes


def _write_manifest(path: Path, manifest: Manifest) -> None:
    content = {
        "format": _FORMAT,
        "package": f"{files.PACKAGE}=={files.VERSION}",
        "sha256": {pinned.name: pinned.sha256 for pinned in (files.VOCABULARY, files.WEIGHTS)},
        **asdict(manifest),
    }
    with path.open("w", encoding="utf-8") as file:
        json.dump(content, file, indent=1)
        file.flush()
        os.fsync(file.fileno())


def _put_in_place(fresh: Path, folder: Path) -> None:
    """Rename a finished cache into its place, unless a usable one is there by now."""
    try:
        fresh.rename(folder)
    except OSError:
        if not folder.exists():
            raise
    else:
        return
    manifest = _read_manifest(folder)
    if manifest and _is_whole(folder, manifest):
        return
    damaged = fresh.with_name(f"{fresh.name}-damaged")
    folder.rename(damaged)
    fresh.rename(folder)
    _discard(damaged)


def _remember(folder: Path, manifest: Manifest) -> None:
    """Note that the package's files were compared again, so that the next start need not."""
    draft = folder / f"{_MANIFEST}.{os.getpid()}"
    # Where it cannot be noted, the next start compares once more; nothing else is lost.
    with contextlib.suppress(OSError):
        _write_manifest(draft, manifest)
        draft.replace(folder / _MANIFEST)


def _sweep(folder: Path) -> None:
    """Remove what runs that died while writing have left behind."""
    oldest = time.time() - _LEFTOVER_SECONDS
    for leftover in folder.parent.glob(f"{folder.name}.*"):
        with contextlib.suppress(FileNotFoundError):
            if leftover.stat().st_mtime < oldest:
                _discard(leftover)


def _discard(path: Path) -> None:
    import shutil

    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
