"""Where sqlite-vec is asked for and cannot be loaded, the other engine takes over, and it is said."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from memlines.admin.doctor.examine import examine
from memlines.memory import manager
from memlines.memory.memory import Memory
from tests.memories import write
from tests.programs import Cli

pytestmark = pytest.mark.promise("P6")

pytest.importorskip("sqlite_vec")

ASKED = {"store.vector.engine": "sqlite-vec"}
NOTES = {"memory/a.md": "Tea is in the blue tin.\n", "memory/b.md": "The boiler was serviced in May.\n"}
INSTEAD = "vectors are searched by matrix instead of sqlite-vec"


@pytest.fixture
def workspace(workspace: Path) -> Path:
    write(workspace, NOTES)
    return workspace


def lose_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sqlite_vec", None)


def broken(tmp_path: Path) -> dict[str, Any]:
    file = tmp_path / "vec0.so"
    file.write_text("no library", encoding="utf-8")
    return {**ASKED, "store.vector.extension_path": str(file)}


def found(memory: Memory, question: str) -> str:
    return memory.search(question, mode="vectors").hits[0].path


@pytest.mark.parametrize("why", ["no package", "no library", "no file"])
def test_the_other_engine_takes_over_and_it_is_said(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    settings = broken(tmp_path) if why == "no library" else dict(ASKED)
    if why == "no file":
        settings["store.vector.extension_path"] = str(tmp_path / "gone" / "vec0")
    if why == "no package":
        lose_package(monkeypatch)
    with Memory(workspace, settings) as memory:
        report = memory.sync()
        status = memory.status()
        assert found(memory, "Where is the tea?") == "memory/a.md"
    assert [warning for warning in report.warnings if INSTEAD in warning]
    assert [warning for warning in status.warnings if INSTEAD in warning]
    assert (report.pending, status.vector["engine"]) == (0, "matrix")
    (finding,) = [item for item in examine(workspace, settings).findings if item.check == "engines"]
    assert (finding.level, INSTEAD in finding.message) == ("warning", True)


def test_an_engine_that_is_there_gives_no_warning(workspace: Path) -> None:
    with Memory(workspace, ASKED) as memory:
        assert memory.sync().warnings == ()
        assert memory.status().vector["engine"] == "sqlite-vec"
        assert memory.status().warnings == ()


def test_an_index_whose_engine_is_lost_is_built_anew_and_back_again(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory(workspace, ASKED) as memory:
        memory.sync()
    with monkeypatch.context() as lost:
        lose_package(lost)
        with Memory(workspace, ASKED) as memory:
            assert found(memory, "Where is the tea?") == "memory/a.md"
            assert memory.status().vector["engine"] == "matrix"
    with Memory(workspace, ASKED) as memory:
        assert "vector engine was 'matrix'" in memory.sync().rebuilt
        assert found(memory, "When was the boiler serviced?") == "memory/b.md"


def test_words_answer_until_an_index_is_built_anew(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Memory(workspace, ASKED) as memory:
        memory.sync()
    lose_package(monkeypatch)
    monkeypatch.setattr(manager, "_REBUILT_BY_SEARCH", 0)
    with Memory(workspace, ASKED) as memory:
        result = memory.search("boiler")
        assert [hit.path for hit in result] == ["memory/b.md"]
        assert any("rebuilds the index" in warning for warning in result.warnings)
        assert memory.status().vector["vectors"] == 0


def test_what_is_forgotten_leaves_an_index_whose_engine_is_lost(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory(workspace, ASKED) as memory:
        memory.sync()
    lose_package(monkeypatch)
    monkeypatch.setattr(manager, "_REBUILT_BY_SEARCH", 0)
    with Memory(workspace, ASKED) as memory:
        memory.forget(memory.forget_candidates("memory/a.md"))
        left = (workspace / ".memory" / "index.sqlite").read_bytes() if memory.status().index_bytes else b""
        assert b"blue tin" not in left
        assert memory.search("boiler").hits[0].path == "memory/b.md"


def test_files_that_change_are_indexed_although_the_engine_is_lost(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory(workspace, ASKED) as memory:
        memory.sync()
    lose_package(monkeypatch)
    write(workspace, {"memory/a.md": "Tea is in the red tin.\n"})
    with Memory(workspace, ASKED) as memory:
        assert memory.sync().pending == 0
        assert "red" in memory.search("tea").hits[0].snippet


def test_status_prints_the_warning(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lose_package(monkeypatch)
    monkeypatch.setenv("MEMLINES_STORE__VECTOR__ENGINE", "sqlite-vec")
    outcome = Cli(capsys)("status", "-w", workspace)
    assert (outcome.code, INSTEAD in outcome.err) == (0, True)
