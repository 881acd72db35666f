"""The facts of an open memory: listed, changed, counted, and kept in a table."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from memlines import Memory, SettingsError, UsageError
from memlines.memory.facts import table
from memlines.memory.facts.facts import Facts
from tests.memories import WORDS_ONLY
from tests.memory.facts.memories import ACME, BILLING, FACTS, SISTER, TABS, facts_memory, names, note_of

CAPTURED = """\
- 2026-11-02 [preference] Likes oat milk. {from: capture codex 01ab} ^aaaaaaaaaa
- 2026-11-04 [preference] Likes rye bread. {from: capture codex 01ab, reviewed} ^bbbbbbbbbb
- 2026-11-06 [entity] Ana is her sister. ^cccccccccc
"""


@pytest.fixture
def memory(workspace: Path) -> Memory:
    return facts_memory(workspace, embeddings__provider="none")


def test_one_object_is_handed_out_to_all_threads(memory: Memory) -> None:
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(memory.facts)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(facts) for facts in found}) == 1


def test_what_still_holds_is_listed(memory: Memory) -> None:
    listed = [line.fact.id for line in memory.facts.list()]
    assert (ACME in listed, len(listed)) == (False, 5)


def test_everything_can_be_listed(memory: Memory) -> None:
    assert len(memory.facts.list(current=False)) == 6


def test_a_category_can_be_listed(memory: Memory) -> None:
    assert [line.fact.id for line in memory.facts.list("entity")] == [SISTER]


def test_a_workspace_without_the_note_has_no_facts(workspace: Path) -> None:
    with Memory(workspace, WORDS_ONLY) as memory:
        assert memory.facts.list() == ()
        assert memory.facts.recall("anything").found == ()


def test_a_fact_is_got_by_its_id(memory: Memory) -> None:
    assert memory.facts.get(TABS).fact.text == "Prefers tabs over spaces for indentation."


@pytest.mark.parametrize("name", ["gggggggggg", "nonsense", ""])
def test_an_id_of_no_fact_is_refused(memory: Memory, name: str) -> None:
    with pytest.raises(UsageError, match="memlines facts list"):
        memory.facts.get(name)


def test_an_edit_keeps_all_but_the_words(memory: Memory) -> None:
    before = memory.facts.get(BILLING)
    memory.facts.edit(BILLING, "Billing runs on Postgres 18.")
    after = memory.facts.get(BILLING)
    assert (after.fact.text, after.first) == ("Billing runs on Postgres 18.", before.first)
    assert (after.fact.created, after.fact.category) == (before.fact.created, before.fact.category)


def test_an_edit_is_recalled_at_once(memory: Memory) -> None:
    memory.facts.edit(BILLING, "Billing runs on MariaDB.")
    assert names(memory.facts.recall("MariaDB")) == [BILLING]


def test_a_fact_without_words_is_refused(memory: Memory) -> None:
    with pytest.raises(UsageError):
        memory.facts.edit(BILLING, " ")


def test_a_review_is_noted(memory: Memory) -> None:
    memory.facts.review(TABS)
    assert memory.facts.get(TABS).fact.reviewed


def test_a_second_review_writes_nothing(memory: Memory) -> None:
    memory.facts.review(TABS)
    before = note_of(memory.workspace.root).stat().st_ino
    memory.facts.review(TABS)
    assert note_of(memory.workspace.root).stat().st_ino == before


def test_facts_are_counted(workspace: Path) -> None:
    others = CAPTURED.replace("aaaaaaaaaa", "g" * 10).replace("b" * 10, "h" * 10).replace("c" * 10, "i" * 10)
    stats = facts_memory(workspace, text=FACTS + others).facts.stats()
    assert (stats.total, stats.current, stats.superseded) == (9, 8, 1)
    assert (stats.captured, stats.unreviewed) == (2, 1)
    assert stats.by_category == {"preference": 3, "fact": 2, "decision": 1, "entity": 2, "other": 0}


def test_counts_can_be_written_as_json(memory: Memory) -> None:
    told = memory.facts.stats().to_json()
    assert (told["file"], told["store"], told["rows"]) == ("memory/facts.md", "index", None)
    assert (told["oldest"], told["newest"]) == ("2026-03-01", "2026-11-06")


@pytest.mark.parametrize(
    "call",
    [
        lambda facts: facts.list(),
        lambda facts: facts.get(TABS),
        lambda facts: facts.edit(TABS, "x"),
        lambda facts: facts.review(TABS),
        lambda facts: facts.candidates("x"),
        lambda facts: facts.forget([TABS]),
        lambda facts: facts.stats(),
    ],
)
def test_a_memory_that_is_off_does_nothing(workspace: Path, call: Callable[[Facts], object]) -> None:
    with facts_memory(workspace, enabled=False) as memory, pytest.raises(SettingsError, match="off"):
        call(memory.facts)


# The table


def test_a_sync_fills_the_table(workspace: Path) -> None:
    with facts_memory(workspace, "lancedb") as memory:
        memory.sync()
        stats = memory.facts.stats()
    assert (stats.store, stats.rows) == ("lancedb", 6)


def test_few_facts_get_no_table_unless_the_settings_ask_for_one(workspace: Path) -> None:
    with facts_memory(workspace, "auto") as memory:
        assert not memory.sync().warnings
        stats = memory.facts.stats()
    assert (stats.store, stats.uri, stats.rows) == ("index", "", None)
    assert not (workspace / ".memory/facts").exists()


def test_many_facts_get_a_table_by_themselves(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "LARGE", 6)
    with facts_memory(workspace, "auto") as memory:
        memory.sync()
        assert memory.facts.stats().rows == 6
        memory.facts.forget([TABS])
        memory.sync()
        stats = memory.facts.stats()
    assert (stats.store, stats.rows) == ("index", None)
    assert not list((workspace / ".memory/facts").glob("*.lance"))


def test_the_index_alone_needs_no_table(workspace: Path) -> None:
    with facts_memory(workspace, "index") as memory:
        memory.sync()
        memory.facts.recall("Postgres")
    assert not list((workspace / ".memory").glob("facts/**/*"))


def test_a_missing_package_is_told_and_the_index_answers(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "is_installed", lambda: False)
    with facts_memory(workspace, "lancedb") as memory:
        assert any("pip install 'memlines[facts]'" in told for told in memory.sync().warnings)
        assert names(memory.facts.recall("Postgres")) == [BILLING]


def test_a_missing_package_is_not_told_if_nobody_asked_for_it(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "is_installed", lambda: False)
    with facts_memory(workspace, "auto") as memory:
        assert memory.sync().warnings == ()


def test_trouble_with_the_table_is_told_and_fails_no_sync(workspace: Path) -> None:
    (workspace / ".memory").mkdir()
    (workspace / ".memory/facts").write_text("in the way", encoding="utf-8")
    with facts_memory(workspace, "lancedb") as memory:
        report = memory.sync()
        assert (report.pending, any("their table cannot" in told for told in report.warnings)) == (0, True)
        assert names(memory.facts.recall("Postgres")) == [BILLING]


def test_a_program_that_asks_once_need_not_load_lancedb(workspace: Path) -> None:
    facts_memory(workspace)
    code = (
        "import sys; from memlines import Memory\n"
        "with Memory(sys.argv[1]) as memory: print(len(memory.facts.recall('Postgres').found))\n"
        "print('lancedb' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, workspace], capture_output=True, check=True, encoding="utf-8"
    )
    assert done.stdout.split() == ["1", "False"]


def test_a_memory_does_without_lancedb_until_it_is_needed(workspace: Path) -> None:
    code = "import sys, memlines.memory.facts.facts; print({'lancedb', 'numpy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, encoding="utf-8")
    assert done.stdout == "set()\n"
