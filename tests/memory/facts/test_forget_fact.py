"""Forgetting a fact leaves nothing of it, and everything of the others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from memlines import Memory
from memlines.files.tombstones import Forgotten
from memlines.index.store.sqlite import erase as store
from memlines.index.store.sqlite.files import blocks
from memlines.memory.facts.note import FactNote
from memlines.paths import Workspace
from memlines.settings import Settings
from memlines.text.fact_note import facts_in
from memlines.text.facts import Fact, line_of
from tests.indexes import index_file, indexed, reading, write
from tests.memory.forgetting import RARE, SECRET, Home

pytestmark = pytest.mark.promise("P14")

NOTE = "memory/facts.md"
TEA = "- 2026-11-16 [preference] Likes tea in the morning. {from: capture codex 01ab} ^k3f5x2m7qa"
HIDDEN = f"- 2026-11-16 [fact] {SECRET} {{importance: 0.9, from: capture codex 01ab}} ^b7c5d2e6fg"
RAIN = "- 2026-11-15 [other] Minds no rain at all. ^m2p6t7u4wc"
TEXT = f"# Facts\n\n{TEA}\n{HIDDEN}\n{RAIN}\n"


def home_with(workspace: Path, text: str = TEXT) -> Home:
    write(workspace, {NOTE: text})
    home = Home(workspace)
    home.sync()
    return home


@pytest.fixture
def home(workspace: Path) -> Home:
    return home_with(workspace)


@pytest.mark.parametrize(
    "line",
    [
        HIDDEN,
        f"- {SECRET}",
        line_of(Fact("b7c5d2e6fg", SECRET).supersede("k3f5x2m7qa", date(2026, 11, 16))),
        f"- ~~2026-03-01 [fact] {SECRET}. ^b7c5d2e6fg~~",
        f"- [fact] {SECRET.replace(' hides', '  ' + chr(10) + '  hides')} ^b7c5d2e6fg",
    ],
)
def test_no_file_of_the_workspace_holds_a_byte_of_it(workspace: Path, line: str) -> None:
    home = home_with(workspace, f"# Facts\n\n{TEA}\n{line}\n{RAIN}\n")
    receipt = home.forget(f"{NOTE}#L4")
    assert (home.traces(), receipt.complete) == ([], True)


def test_the_index_holds_no_byte_of_it_before_the_next_sync(home: Home) -> None:
    chosen = home.candidates(f"{NOTE}#L4")
    home.remove(chosen)
    assert home.traces(RARE, ".memory") == []


def test_its_line_goes_and_the_others_stay_byte_for_byte(home: Home) -> None:
    home.forget(f"{NOTE}#L4")
    assert home.text(NOTE) == f"# Facts\n\n{TEA}\n{RAIN}\n"


def test_the_others_are_on_their_new_lines(home: Home, workspace: Path) -> None:
    home.forget(f"{NOTE}#L4")
    home.sync()
    assert indexed(workspace)[NOTE] == [(3, 3, "Likes tea in the morning."), (4, 4, "Minds no rain at all.")]


def test_the_others_keep_their_vectors(home: Home, workspace: Path) -> None:
    calls = home.provider.texts
    before = len(calls)
    receipt = home.forget(f"{NOTE}#L4")
    home.sync()
    with reading(workspace) as index:
        assert index.vectors.count() == 2
    assert (receipt.removed["vectors"], len(calls)) == (1, before)


def test_an_earlier_wording_that_is_still_in_the_index_goes_as_well(home: Home, workspace: Path) -> None:
    write(workspace, {NOTE: f"# Facts\n\n{RAIN}\n{TEA}\n- Something quite different.\n"})
    chosen = home.candidates(f"{NOTE}#L5")
    home.remove(chosen)
    assert home.traces(RARE, ".memory") == []


def test_a_run_that_was_cut_short_can_be_repeated(home: Home, workspace: Path) -> None:
    store.erase(index_file(workspace), [NOTE], lambda text: False)
    receipt = home.forget(f"{NOTE}#L4")
    assert (home.traces(), receipt.complete) == ([], True)


def test_a_heading_above_facts_goes_from_their_chunks(workspace: Path) -> None:
    home = home_with(workspace, f"# Facts\n\n## {SECRET}\n\n{TEA}\n")
    home.forget(f"{NOTE}#L3")
    assert home.traces() == []


def test_all_facts_can_be_forgotten(home: Home) -> None:
    home.forget(f"{NOTE}#L3-L5")
    assert home.text(NOTE) == "# Facts\n"


def test_the_whole_note_can_be_forgotten(home: Home, workspace: Path) -> None:
    receipt = home.forget(NOTE)
    assert (home.traces(), receipt.complete, indexed(workspace)) == ([], True, {})


def test_what_is_kept_of_changes_goes_as_well(home: Home, workspace: Path) -> None:
    book = FactNote(Workspace.at(workspace), Settings())
    line = book.find("b7c5d2e6fg")
    assert line
    book.change(line, line.fact.supersede("k3f5x2m7qa", date(2026, 11, 16)))
    receipt = home.forget(f"{NOTE}#L4")
    assert (home.traces(), receipt.complete) == ([], True)


def edited(workspace: Path, name: str, text: str) -> None:
    book = FactNote(Workspace.at(workspace), Settings())
    line = book.find(name)
    assert line
    book.change(line, replace(line.fact, text=text))


@pytest.mark.parametrize("line", [HIDDEN, f"1. [x] {SECRET}", f"- {SECRET}\n  - with a lyre"])
def test_an_earlier_wording_that_is_kept_goes_as_well(workspace: Path, line: str) -> None:
    home = home_with(workspace, f"# Facts\n\n{line}\n{RAIN}\n")
    (name, _) = (fact.fact.id for fact in facts_in(home.text(NOTE)))
    edited(workspace, name, "Something quite different.")
    home.sync()
    kept = home.traces(RARE, ".memory/history")
    receipt = home.forget(f"{NOTE}#L3")
    assert (len(kept), home.traces(), receipt.complete, receipt.removed["history"] > 0) == (1, [], True, True)


def test_an_earlier_wording_that_was_changed_by_hand_goes_as_well(home: Home, workspace: Path) -> None:
    edited(workspace, "m2p6t7u4wc", "Minds rain a bit.")  # this keeps the note as it was
    write(workspace, {NOTE: home.text(NOTE).replace(SECRET, "Something quite different")})
    home.sync()
    receipt = home.forget(f"{NOTE}#L4")
    assert (home.traces(), receipt.complete) == ([], True)


def test_an_earlier_wording_does_not_come_back(home: Home, workspace: Path) -> None:
    edited(workspace, "b7c5d2e6fg", "Something quite different.")
    home.sync()
    home.forget(f"{NOTE}#L4")
    assert Forgotten.load(Workspace.at(workspace)).drops(f"You said: {SECRET}.")


def test_what_other_facts_say_in_the_same_words_is_not_forgotten(home: Home, workspace: Path) -> None:
    edited(workspace, "b7c5d2e6fg", "Something quite different.")
    write(workspace, {NOTE: f"{home.text(NOTE)}- {SECRET}\n"})
    home.sync()
    receipt = home.forget(f"{NOTE}#L4")
    assert (receipt.complete, Forgotten.load(Workspace.at(workspace)).drops(SECRET)) == (True, False)


def test_other_facts_stay_in_what_is_kept(home: Home, workspace: Path) -> None:
    edited(workspace, "b7c5d2e6fg", "Something quite different.")
    home.sync()
    home.forget(f"{NOTE}#L4")
    (kept,) = (workspace / ".memory/history" / NOTE).iterdir()
    assert kept.read_text(encoding="utf-8") == f"# Facts\n\n{TEA}\n{RAIN}\n"


def test_the_receipt_counts_what_is_gone_of_the_fact_alone(workspace: Path) -> None:
    others = "".join(f"- The drawer {word} holds maps.\n" for word in ("one", "two", "three", "four", "five"))
    home = home_with(workspace, f"{TEXT}{others}")
    removed = home.forget(f"{NOTE}#L4").removed
    assert (removed["chunks"], removed["vectors"], removed["entries"]) == (1, 1, 1)


@pytest.mark.parametrize(
    "settings",
    [
        {"embeddings.provider": "none", "facts.store": "index"},
        pytest.param({}, marks=pytest.mark.slow),
    ],
)
def test_a_memory_forgets_a_fact(workspace: Path, settings: dict[str, str]) -> None:
    write(workspace, {NOTE: TEXT})
    with Memory(workspace, settings) as memory:
        memory.sync()
        receipt = memory.forget(memory.forget_candidates(f"{NOTE}#L4"))
        memory.sync()
        shown = [hit.snippet for hit in memory.search("tea in the morning")]
    assert (Home(workspace).traces(), receipt.complete, shown[0]) == ([], True, "Likes tea in the morning.")


def test_the_facts_that_stay_are_not_cut_again(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memlines.memory.notes.forget.chunk_facts", lambda *_: pytest.fail("cut again"))
    receipt = home.forget(f"{NOTE}#L4")
    assert (home.traces(), receipt.complete, receipt.removed["chunks"]) == ([], True, 1)


def test_a_heading_of_facts_goes_from_what_is_indexed_of_them(workspace: Path) -> None:
    home = home_with(workspace, f"# Facts\n\n{TEA}\n\n## {SECRET}\n\n{RAIN}\n")
    receipt = home.forget(f"{NOTE}#L5")
    assert (home.traces(), receipt.complete) == ([], True)


def test_a_wording_that_only_the_index_still_has_goes_too(home: Home) -> None:
    write(home.folder, {NOTE: TEXT.replace(SECRET, "Keeps it elsewhere by now")})
    home.remove(home.candidates(f"{NOTE}#L4"))
    assert home.traces() == []


def test_an_index_is_read_once(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counted(path: Path) -> Iterator[bytes]:
        read.append(path.name)
        return blocks(path)

    monkeypatch.setattr("memlines.memory.notes.proof.blocks", counted)
    home.forget(f"{NOTE}#L4")
    assert read.count(index_file(home.folder).name) == 1
