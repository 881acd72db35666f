"""Power cuts as notes may meet them: only what was synced is sure, of files and of names in folders.

A recording of the calls that change files is cut at any place. A file holds what it held when it was last
synced, and of later writes nothing, a part, or all. A folder has the names it had when it was last synced;
each later change of a name has happened or not, whatever became of the others.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pytest

FOLDER = -1
"""Stands for a folder where the number of a file is expected."""

_UNRECORDED = (".lock", ".gitignore")


class Event(NamedTuple):
    """One change: what was done, in which folder, to which name, and the number of the file."""

    kind: str
    folder: str
    name: str = ""
    file: int = FOLDER
    data: bytes = b""


@dataclass
class Recording:
    """Everything that was done below a folder, in its order."""

    root: Path
    events: list[Event] = field(default_factory=list)
    files: dict[str, int] = field(default_factory=dict)
    """The number of each file, by its path now."""
    handles: dict[int, str] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def __post_init__(self) -> None:
        """Take what is there as being on the disk."""
        for path in sorted(self.root.rglob("*")):
            if path.is_file():
                self._create(str(path))
                self._add("write", path, path.read_bytes())
                self._add("sync", path)
            else:
                self._change("make", str(path))
        for folder in [self.root, *(path for path in self.root.rglob("*") if path.is_dir())]:
            self.events.append(Event("sync folder", str(folder)))

    @contextmanager
    def running(self) -> Iterator[None]:
        """Record what happens in the block."""
        with pytest.MonkeyPatch.context() as patch:
            for name in ("open", "write", "fsync", "link", "rename", "replace", "unlink", "mkdir", "rmdir"):
                patch.setattr(os, name, self._recorded(getattr(os, name), getattr(self, f"_{name}")))
            yield

    def _recorded(self, real: Callable[..., Any], note: Callable[..., None]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            result = real(*arguments, **options)
            note(result, *self._whole_paths(arguments, options))
            return result

        return call

    def _whole_paths(self, arguments: tuple[Any, ...], options: dict[str, Any]) -> list[Any]:
        """Return the arguments of a call with the folders before the names that are relative to one."""
        whole = list(arguments)
        first = options.get("src_dir_fd", options.get("dir_fd"))
        for at, folder in enumerate((first, options.get("dst_dir_fd"))):
            if folder is not None:
                whole[at] = Path(self.handles[folder], whole[at])
        return whole

    # What each call means

    def _open(self, handle: int, path: str | Path, flags: int, *_: object) -> None:
        self.handles[handle] = str(path)
        if flags & os.O_EXCL and not str(path).endswith(_UNRECORDED):
            self._create(str(path))

    def _write(self, written: int, handle: int, data: bytes) -> None:
        self._add("write", self.handles[handle], bytes(data)[:written])

    def _fsync(self, _: None, handle: int) -> None:
        path = self.handles[handle]
        if path in self.files:
            self._add("sync", path)
        else:
            self.events.append(Event("sync folder", path))

    def _link(self, _: None, source: str | Path, target: str | Path) -> None:
        self.files[str(target)] = self.files[str(source)]
        self._change("name", str(target), self.files[str(source)])

    def _rename(self, _: None, source: str | Path, target: str | Path) -> None:
        if str(source) in self.files:
            number = self.files.pop(str(source))
            self.files[str(target)] = number
            assert Path(source).parent == Path(target).parent
            self.events.append(Event("rename", *_split(target), number, Path(source).name.encode()))

    _replace = _rename

    def _unlink(self, _: None, path: str | Path) -> None:
        if self.files.pop(str(path), None) is not None:
            self._change("forget", str(path))

    def _mkdir(self, _: None, path: str | Path, *__: object) -> None:
        self._change("make", str(path))

    def _rmdir(self, _: None, path: str | Path) -> None:
        self._change("forget", str(path))

    def _create(self, path: str) -> None:
        self.files[path] = next(self.numbers)
        self._change("name", path, self.files[path])

    def _add(self, kind: str, path: str | Path, data: bytes = b"") -> None:
        if str(path) in self.files:
            self.events.append(Event(kind, *_split(path), self.files[str(path)], data))

    def _change(self, kind: str, path: str, number: int = FOLDER) -> None:
        self.events.append(Event(kind, *_split(path), number))


def _split(path: str | Path) -> tuple[str, str]:
    return str(Path(path).parent), Path(path).name


# What may be left


def states(events: list[Event], root: Path) -> Iterator[dict[str, bytes]]:
    """Yield every state that a power cut after these events may leave: contents by path below the root."""
    sure, doubtful = _by_folder(events)
    contents = _contents(events)
    for happened in itertools.product((False, True), repeat=len(doubtful)):
        names = {folder: dict(entries) for folder, entries in sure.items()}
        for event, did in zip(doubtful, happened, strict=True):
            if did:
                _apply(names.setdefault(event.folder, {}), event)
        found = dict(_walk(names, str(root), ""))
        uncertain = sorted({number for number in found.values() if len(contents[number]) > 1})
        for chosen in itertools.product(*(contents[number] for number in uncertain)):
            held = dict(zip(uncertain, chosen, strict=True))
            yield {path: held.get(number, contents[number][0]) for path, number in found.items()}


def _by_folder(events: list[Event]) -> tuple[dict[str, dict[str, int]], list[Event]]:
    """Return the names that are surely in each folder, and the changes that may have happened."""
    sure: dict[str, dict[str, int]] = {}
    doubtful: dict[str, list[Event]] = {}
    for event in events:
        if event.kind == "sync folder":
            for earlier in doubtful.pop(event.folder, []):
                _apply(sure.setdefault(event.folder, {}), earlier)
        elif event.kind in ("name", "rename", "forget", "make"):
            doubtful.setdefault(event.folder, []).append(event)
    return sure, [event for changes in doubtful.values() for event in changes]


def _apply(names: dict[str, int], event: Event) -> None:
    if event.kind == "forget":
        names.pop(event.name, None)
        return
    names[event.name] = event.file
    if event.kind == "rename":
        names.pop(event.data.decode(), None)


def _contents(events: list[Event]) -> dict[int, list[bytes]]:
    """Return what each file may hold: what was synced, with none, some or all of what was written since."""
    synced: dict[int, bytes] = {}
    written: dict[int, bytes] = {}
    for event in events:
        if event.kind == "write":
            written[event.file] = written.get(event.file, b"") + event.data
        elif event.kind == "sync":
            synced[event.file] = synced.get(event.file, b"") + written.pop(event.file, b"")
    every = {event.file for event in events}
    return {number: _possible(synced.get(number, b""), written.get(number, b"")) for number in every}


def _possible(synced: bytes, written: bytes) -> list[bytes]:
    if not written:
        return [synced]
    half = len(written) // 2
    return [synced, synced + written[:half], synced + bytes(len(written)), synced + written]


def _walk(names: dict[str, dict[str, int]], folder: str, path: str) -> Iterator[tuple[str, int]]:
    for name, number in names.get(folder, {}).items():
        if number == FOLDER:
            yield from _walk(names, f"{folder}/{name}", f"{path}{name}/")
        else:
            yield f"{path}{name}", number
