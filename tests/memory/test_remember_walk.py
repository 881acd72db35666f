"""The walk of a remember: it appends a line, and neither syncs nor searches by meaning."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import memlines
from memlines import Memory
from memlines.files.scan import discover
from memlines.memory import open_index
from memlines.types import Discovery
from tests.memories import write

PACKAGE = str(Path(memlines.__file__).parent)
MOST = 200
"""Of these, 129 write durably, keep secrets out and look up what was forgotten."""

NOT_WALKED = ("embed/", "index/sync/run.py", "index/sync/vectors.py", "index/store/sqlite/vectors.py")
"""Where texts become vectors, vectors are searched, and files are indexed."""


def functions_called_by(call: Callable[[], object]) -> set[tuple[str, str]]:
    """Return the functions of the package that a call goes through, each with its file."""
    seen = set()

    def note(frame: FrameType, event: str, arg: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE) and not code.co_name.startswith("<"):
            seen.add((Path(code.co_filename).relative_to(PACKAGE).as_posix(), code.co_qualname))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(before)
    return seen


def test_a_remember_goes_a_short_way(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(workspace, {f"memory/note{n}.md": f"# Note {n}\n\n- item {n} of the plan\n" for n in range(5)})
    with Memory(workspace) as memory:
        memory.sync()
        memory.remember("The first thing we say is about Postgres 17")
        memory.remember("The second thing we say is about Redis 7")
        walk = functions_called_by(lambda: memory.remember("The staging port is 8123 since Tuesday"))
    with capsys.disabled():
        sys.stdout.write(f" {len(walk)} functions ")
    assert len(walk) <= MOST
    assert [one for one in sorted(walk) if one[0].startswith(NOT_WALKED)] == []


def test_it_does_not_change_the_index(workspace: Path) -> None:
    write(workspace, {"memory/note.md": "- item of the plan\n"})
    with Memory(workspace) as memory:
        memory.sync()
        before = _index_of(workspace)
        memory.remember("The staging port is 8123 since Tuesday")
        assert _index_of(workspace) == before


def _index_of(workspace: Path) -> dict[str, bytes]:
    files = (workspace / ".memory").glob("index.sqlite*")
    return {file.name: file.read_bytes() for file in files if not file.name.endswith(("-shm", ".lock"))}


def test_a_note_is_made_durable_by_two_waits_for_the_disk(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory(workspace) as memory:
        memory.remember("The first thing we say is about Postgres 17")
        waits: list[int] = []
        monkeypatch.setattr(os, "fsync", waits.append)
        memory.remember("The second thing we say is about Redis 7")
    assert len(waits) == 2  # for the content of the note, and for its name in the folder


def test_where_a_look_at_the_notes_is_slow_it_rests_and_own_notes_are_known(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_index, "_QUICK_SWEEP", -1.0)
    monkeypatch.setattr(open_index, "_SWEEP_SHARE", 10**9)
    looks: list[object] = []

    def look(*given: Any) -> Discovery:
        looks.append(given)
        return discover(*given)

    monkeypatch.setattr(open_index, "discover", look)
    with Memory(workspace) as memory:
        memory.remember("The staging port is 8123", to="memory/ports.md")
        memory.remember("The first thing we say is about Postgres 17")
        known = memory.remember("The staging port is 8123", topic="other").duplicate
    assert known is not None
    assert (known.path, len(looks)) == ("memory/ports.md", 1)
