"""A warm search stays a short walk: few functions, and the index is opened and its state read once."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType

import pytest

import memlines
from memlines import Memory
from memlines.index.store.sqlite.index import Index
from memlines.index.store.sqlite.reader import IndexState
from memlines.memory.manager import Manager
from tests.memories import write

PACKAGE = str(Path(memlines.__file__).parent)
INLINE = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
"""Frames that only some versions of Python have."""

MOST_FUNCTIONS = 200
LONG_AGO = (1_700_000_000, 1_700_000_000)

NOTES = {
    f"note{number}.md": f"# Note {number}\n\n{text}\n"
    for number, text in enumerate(
        [
            "Staging runs on port 8443.",
            "Marieke prefers tea.",
            "Deploys happen on Tuesday.",
            "The database is Postgres 16.",
            "Backups go to Oslo.",
            "Anna leads the parser team.",
            "We chose SQLite over files.",
            "Error E-4107 means a lost token.",
            "The office closes at six.",
            "Release notes are written on Friday.",
            "Bob maintains the ingest service.",
            "Tests run in nine minutes.",
        ]
    )
}


@pytest.fixture
def memory(workspace: Path) -> Iterator[Memory]:
    """A memory whose notes are indexed and settled, that answered before."""
    write(workspace, NOTES)
    for note in workspace.rglob("*.md"):
        os.utime(note, LONG_AGO)
    with Memory(workspace) as memory:
        memory.sync()
        memory.search("which port does staging use")
        memory.search("who drinks tea")
        yield memory


def called(work: Callable[[], object]) -> set[CodeType]:
    """Return the functions of the package that are called, in any thread."""
    seen: set[CodeType] = set()

    def note(frame: FrameType, event: str, arg: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE) and code.co_name not in INLINE:
            seen.add(code)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return seen


def test_a_warm_search_calls_few_functions(memory: Memory) -> None:
    functions = called(lambda: memory.search("on which port does staging run?"))
    print(f"a warm hybrid search calls {len(functions)} functions")  # noqa: T201 (the number is worth reading)

    assert len(functions) <= MOST_FUNCTIONS


def test_a_warm_search_opens_no_index_and_reads_no_state_again(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = counted(monkeypatch, Index, "reader")
    read = counted(monkeypatch, Index, "_read_state")
    looked = counted(monkeypatch, Manager, "open_reader")
    result = memory.search("on which port does staging run?")

    assert (result.mode, result[0].path) == ("hybrid", "memory/note0.md")
    assert (len(opened), len(read)) == (0, 0)
    assert len(looked) == 2  # before the query is embedded, while nothing is held, and after it


def test_the_state_is_read_once_after_another_program_wrote(
    memory: Memory, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(workspace, {"late.md": "The okapi arrived.\n"})
    os.utime(workspace / "memory" / "late.md", LONG_AGO)
    with Memory(workspace) as other:
        other.sync()
    read: list[IndexState] = []
    read_state = Index._read_state

    def counting(index: Index, version: int) -> IndexState:
        read.append(read_state(index, version))
        return read[-1]

    monkeypatch.setattr(Index, "_read_state", counting)
    assert memory.search("okapi")[0].path == "memory/late.md"
    assert len(read) == 1


def counted(monkeypatch: pytest.MonkeyPatch, owner: type, name: str) -> list[None]:
    """Return a list that grows with every call of a method."""
    calls: list[None] = []
    method = getattr(owner, name)
    is_class_method = hasattr(method, "__self__")  # bound to its class already

    def counting(*values: object, **options: object) -> object:
        calls.append(None)
        return method(*values[is_class_method:], **options)

    monkeypatch.setattr(owner, name, classmethod(counting) if is_class_method else counting)
    return calls
