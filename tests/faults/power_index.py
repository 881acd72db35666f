"""Power cuts as SQLite may meet them: what was synced is there, of the rest anything may be.

A recording of SQLite's calls is cut at any place. What a file held when it was last synced is there. Of
each later write there is all, nothing, or some of its sectors, in any order; a later truncation or
deletion has happened or not. The shared memory is gone.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from tests.faults.vfs import watched

SECTOR = 512


class Call(NamedTuple):
    """One call of SQLite: its name, the file, the offset or size, and what was written."""

    name: str
    file: str
    place: int
    data: bytes


@dataclass
class Recording:
    """Everything SQLite wrote, in its order."""

    calls: list[Call] = field(default_factory=list)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Record what happens in the block."""

        def observe(name: str, file: str, place: int, data: bytes) -> None:
            if name not in ("read", "open"):
                self.calls.append(Call(name, Path(file).name, place, data))

        with watched(observe):
            yield

    def state(self, chance: random.Random) -> dict[str, bytes]:
        """Return what the files may hold after a power cut at some moment."""
        moment = chance.randrange(len(self.calls) + 1)
        survival = chance.choice([0.0, 0.2, 0.5, 0.8, 1.0])
        files: dict[str, _File] = {}
        for call in self.calls[:moment]:
            files.setdefault(call.file, _File()).take(call)
        contents = {name: file.after_cut(chance, survival) for name, file in files.items()}
        return {name: content for name, content in contents.items() if content is not None}


class _File:
    """A file: what it surely holds (`None`: it may not exist), and what was done to it since."""

    def __init__(self) -> None:
        self.durable: bytearray | None = None
        self.pending: list[Call] = []

    def take(self, call: Call) -> None:
        if call.name == "sync":
            for earlier in self.pending:
                self.durable = _applied(self.durable, earlier)
            self.pending = []
        else:
            self.pending.append(call)

    def after_cut(self, chance: random.Random, survival: float) -> bytes | None:
        content = None if self.durable is None else bytearray(self.durable)
        calls = list(self.pending)
        if chance.random() < 0.3:
            chance.shuffle(calls)
        for call in calls:
            if chance.random() < survival:
                content = _applied(content, _torn(call, chance))
        return None if content is None else bytes(content)


def _torn(call: Call, chance: random.Random) -> Call:
    """Return a write of which only the sectors from or up to some place happened, now and then."""
    if call.name != "write" or len(call.data) <= SECTOR or chance.random() < 0.7:
        return call
    cut = SECTOR * chance.randrange(1, (len(call.data) - 1) // SECTOR + 1)
    if chance.random() < 0.5:
        return call._replace(data=call.data[:cut])
    return call._replace(place=call.place + cut, data=call.data[cut:])


def _applied(content: bytearray | None, call: Call) -> bytearray | None:
    if call.name == "delete":
        return None
    changed = content if content is not None else bytearray()
    if call.name == "truncate":
        del changed[call.place :]
        changed.extend(bytes(call.place - len(changed)))
    else:
        changed.extend(bytes(max(0, call.place - len(changed))))
        changed[call.place : call.place + len(call.data)] = call.data
    return changed
