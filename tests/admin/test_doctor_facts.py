"""What doctor says about facts."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from memlines import Memory
from memlines.admin.doctor.examine import examine
from memlines.admin.doctor.findings import Finding
from memlines.memory.facts import lance
from tests.memories import WORDS_ONLY, write

LANCEDB = {"facts.store": "lancedb"}
INSTALL = "Run: pip install 'memlines[facts]', or set facts.store to index"


def found(workspace: Path, **settings: str) -> list[Finding]:
    examination = examine(workspace, {**WORDS_ONLY, **settings})
    return [finding for finding in examination.findings if finding.check == "facts"]


def test_a_memory_without_facts_is_well(workspace: Path) -> None:
    assert [(one.level, one.message) for one in found(workspace)] == [("ok", "none yet")]


def test_facts_are_counted(workspace: Path) -> None:
    write(workspace, {"facts.md": "- Likes tea\n- ~~Works at Acme~~\n"})
    assert [one.message for one in found(workspace)] == ["1 current, 1 no longer true"]


def test_captured_facts_ask_for_a_look(workspace: Path) -> None:
    write(workspace, {"facts.md": "- Likes tea {from: capture codex s1}\n"})
    (finding,) = found(workspace)
    assert (finding.level, finding.todo) == ("warning", "Run 'memlines facts review'")


def test_a_note_that_is_no_text_is_a_problem(workspace: Path) -> None:
    write(workspace, {})
    (workspace / "memory").mkdir(exist_ok=True)
    (workspace / "memory/facts.md").write_bytes(b"\xff\xfe\x00- Likes tea")
    assert [one.level for one in found(workspace)] == ["problem"]


def test_a_missing_package_is_a_problem_where_it_is_asked_for(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memlines.admin.doctor.files.is_installed", lambda: False)
    assert found(workspace, **{"facts.store": "lancedb"})[0].todo == INSTALL


def test_a_table_that_is_behind_is_brought_up_by_a_sync(workspace: Path) -> None:
    if not lance.is_installed():
        pytest.skip("lancedb is not installed")
    write(workspace, {"facts.md": "- Likes tea\n"})
    with Memory(workspace, LANCEDB) as memory:
        memory.sync()
    write(workspace, {"facts.md": "- Likes tea\n- Likes rain\n"})
    examined = examine(workspace, LANCEDB).findings
    assert [one for one in examined if one.check == "facts" and one.repair == "sync"]
    with Memory(workspace, LANCEDB) as memory:
        memory.sync()
    assert [one.level for one in examine(workspace, LANCEDB).findings if one.check == "facts"] == ["ok"]


def test_a_package_that_cannot_be_loaded_is_not_left_to_a_sync(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken/lancedb").mkdir(parents=True)
    (tmp_path / "broken/lancedb/__init__.py").write_text("import part_that_is_missing\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path / "broken")
    monkeypatch.delitem(sys.modules, "lancedb", raising=False)
    write(workspace, {"facts.md": "- Likes tea\n"})
    with Memory(workspace, LANCEDB) as memory:
        (trouble,) = memory.sync().warnings
    assert "part_that_is_missing" in trouble
    (_, behind) = [one for one in examine(workspace, LANCEDB).findings if one.check == "facts"]
    assert (behind.level, behind.repair) == ("warning", None)
    assert "part_that_is_missing" in behind.message
    assert behind.todo == INSTALL


def test_an_agent_that_has_no_table_is_not_behind(workspace: Path) -> None:
    write(workspace, {"facts.md": "- Likes tea\n"})
    with Memory(workspace, {"agent": "research"}) as memory:
        memory.sync()
    examined = examine(workspace, {"agent": "research"}).findings
    assert [one.level for one in examined if one.check == "facts"] == ["ok"]
