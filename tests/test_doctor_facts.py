"""What doctor says about facts."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect import Memory
from recollect.doctor.examine import examine
from recollect.doctor.finding import Finding
from recollect.facts import lance
from tests.support_search import WORDS_ONLY, write


def found(workspace: Path, **settings: str) -> list[Finding]:
    examination = examine(workspace, {**WORDS_ONLY, **settings})
    return [finding for finding in examination.findings if finding.check == "facts"]


def test_a_memory_without_facts_is_well(workspace: Path) -> None:
    assert [(one.level, one.message) for one in found(workspace)] == [("ok", "none yet")]


def test_facts_are_counted(workspace: Path) -> None:
    write(workspace, {"facts.md": "- Likes tea\n- ~~Works at Acme~~\n"})
    assert [one.message for one in found(workspace)] == ["1 that hold, 1 that are no longer true"]


def test_captured_facts_ask_for_a_look(workspace: Path) -> None:
    write(workspace, {"facts.md": "- Likes tea {from: capture codex s1}\n"})
    (finding,) = found(workspace)
    assert (finding.level, finding.todo) == ("warning", "Run 'recollect facts review'")


def test_a_note_that_is_no_text_is_a_problem(workspace: Path) -> None:
    write(workspace, {})
    (workspace / "memory").mkdir(exist_ok=True)
    (workspace / "memory/facts.md").write_bytes(b"\xff\xfe\x00- Likes tea")
    assert [one.level for one in found(workspace)] == ["problem"]


def test_a_missing_package_is_a_problem_where_it_is_asked_for(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.doctor.facts.is_installed", lambda: False)
    assert found(workspace, **{"facts.store": "lancedb"})[0].todo.startswith("Run 'pip install")


def test_a_table_that_is_behind_is_brought_up_by_a_sync(workspace: Path) -> None:
    if not lance.is_installed():
        pytest.skip("lancedb is not installed")
    write(workspace, {"facts.md": "- Likes tea\n"})
    with Memory(workspace) as memory:
        memory.sync()
    write(workspace, {"facts.md": "- Likes tea\n- Likes rain\n"})
    behind = [one for one in examine(workspace).findings if one.check == "facts" and one.repair == "sync"]
    assert behind
    with Memory(workspace) as memory:
        memory.sync()
    assert [one.level for one in examine(workspace).findings if one.check == "facts"] == ["ok"]
