"""Recalling facts: the same ones with the same scores, whichever store tells what is near."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memlines import Memory, SettingsError, UsageError
from memlines.embed.select import Choice
from memlines.errors import StoreDamaged
from memlines.memory.facts.lance import LanceTable
from memlines.memory.facts.table import FactTable
from tests.memory.facts.memories import (
    ACME,
    BILLING,
    DEPLOY,
    FACTS,
    GLOBEX,
    SISTER,
    STORES,
    TABS,
    facts_memory,
    names,
    note_of,
)
from tests.programs import unprivileged_run
from tests.providers import FakeProvider
from tests.waiting import eventually


@pytest.fixture(params=STORES)
def memory(request: pytest.FixtureRequest, workspace: Path) -> Iterator[Memory]:
    """A memory of facts; its index belongs to the home of one test."""
    with facts_memory(workspace, request.param) as opened:
        opened.sync()
        yield opened


def test_a_paraphrase_finds_the_fact(memory: Memory) -> None:
    assert names(memory.facts.recall("how do we indent code?")) == [TABS]


def test_the_words_of_a_fact_find_it(memory: Memory) -> None:
    assert names(memory.facts.recall("deploy window"))[0] == DEPLOY


def test_nothing_fits_what_no_fact_is_about(memory: Memory) -> None:
    recalled = memory.facts.recall("the chemistry of distant stars")
    assert (recalled.confident, len(recalled.found) <= 3) == (False, True)
    least = memory.settings.facts.recall_min_score
    assert memory.facts.recall("the chemistry of distant stars", min_score=least).found == ()


def test_the_nearest_facts_are_shown_as_weak_where_none_is_likely(memory: Memory) -> None:
    recalled = memory.facts.recall("what colour is the billing page?")
    assert (recalled.confident, {found.band for found in recalled.found}) == (False, {"weak"})
    assert 1 <= len(recalled.found) <= 3


def test_only_the_best_fact_is_strong(memory: Memory) -> None:
    bands = [found.band for found in memory.facts.recall("Billing runs on Postgres 17.").found]
    assert (bands[0], "strong" in bands[1:], "weak" in bands) == ("strong", False, False)


def test_stored_and_indexed_facts_are_ranked_together(memory: Memory) -> None:
    memory.facts.store("Billing runs on Postgres 17 in Frankfurt", force=True, supersede=False)
    found = memory.facts.recall("Billing runs on Postgres 17 in Frankfurt").found
    assert [one.band for one in found].count("strong") == 1
    assert [one.score for one in found] == sorted([one.score for one in found], reverse=True)


def test_a_fact_is_cited_by_its_line(memory: Memory) -> None:
    found = memory.facts.recall("where does Ana live?").found[0]
    assert (found.fact.id, found.citation) == (SISTER, "memory/facts.md#L5")


def test_similarity_is_between_nothing_and_the_same(memory: Memory) -> None:
    found = memory.facts.recall("Billing runs on Postgres 17.").found[0]
    assert found.similarity is not None
    assert 0.95 <= found.similarity <= 1.0


def test_what_is_no_longer_true_is_shown_as_such(memory: Memory) -> None:
    recalled = memory.facts.recall("where did I work as a nurse?", current_only=False)
    assert {found.fact.id: found.fact.is_current for found in recalled.found} == {ACME: False, GLOBEX: True}


def test_what_is_no_longer_true_never_answers_by_itself(memory: Memory) -> None:
    assert names(memory.facts.recall("where did I work as a nurse?", 5, 0))[0] == GLOBEX
    assert ACME not in names(memory.facts.recall("where did I work as a nurse? Acme", 5, 0))


def test_a_limit_keeps_the_best(memory: Memory) -> None:
    every = memory.facts.recall("nurse at Acme or Globex", min_score=0)
    assert memory.facts.recall("nurse at Acme or Globex", limit=1, min_score=0).found == every.found[:1]


def test_a_score_that_is_asked_for_is_reached(memory: Memory) -> None:
    assert all(found.score >= 0.9 for found in memory.facts.recall("Postgres", min_score=0.9).found)


def test_a_word_can_be_left_out(memory: Memory) -> None:
    recalled = memory.facts.recall("works as a nurse -globex", 1, 0, current_only=False)
    assert names(recalled) == [ACME]


def test_a_query_can_narrow_to_days(memory: Memory) -> None:
    recalled = memory.facts.recall("nurse after:2026-04", min_score=0.3)
    assert GLOBEX in names(recalled)
    assert ACME not in names(recalled)


def test_a_question_for_a_day_finds_what_was_stored_then(memory: Memory) -> None:
    assert names(memory.facts.recall("what did I do on 2 November 2026?"))[0] == TABS


def test_a_day_counts_for_nothing_if_that_is_asked_for(memory: Memory) -> None:
    recalled = memory.facts.recall("what did I do on 2 November 2026?", asked=False)
    assert TABS not in names(recalled)


def test_a_search_of_the_notes_cites_the_same_fact(memory: Memory) -> None:
    hit = memory.search("which database does billing use?")[0]
    found = memory.facts.recall("which database does billing use?").found[0]
    assert hit.citation == found.citation


def test_an_empty_query_finds_nothing(memory: Memory) -> None:
    assert memory.facts.recall("  ").found == ()


def test_a_limit_that_cannot_be_meant_is_refused(memory: Memory) -> None:
    with pytest.raises(UsageError, match="limit"):
        memory.facts.recall("billing", limit=0)


# Changes of the note


def test_an_edit_in_the_note_is_recalled_at_once(memory: Memory) -> None:
    note = note_of(memory.workspace.root)
    note.write_text(FACTS.replace("Postgres 17", "MariaDB 11"), encoding="utf-8")
    assert memory.facts.recall("which database does billing use?").found[0].fact.text.endswith("MariaDB 11.")


def test_an_edit_in_the_note_reaches_the_table_with_a_sync(memory: Memory) -> None:
    note = note_of(memory.workspace.root)
    note.write_text(FACTS.replace("Billing runs on Postgres 17", "The cat sleeps all day"), encoding="utf-8")
    memory.sync()
    assert names(memory.facts.recall("a pet that likes to sleep"))[:1] == [BILLING]


def test_a_deleted_line_is_not_recalled(memory: Memory) -> None:
    note = note_of(memory.workspace.root)
    kept = [line for line in FACTS.splitlines(keepends=True) if SISTER not in line]
    note.write_text("".join(kept), encoding="utf-8")
    assert SISTER not in names(memory.facts.recall("where does Ana live?", min_score=0))


def test_lines_below_a_deleted_one_are_cited_where_they_are(memory: Memory) -> None:
    note = note_of(memory.workspace.root)
    kept = [line for line in FACTS.splitlines(keepends=True) if SISTER not in line]
    note.write_text("".join(kept), encoding="utf-8")
    assert memory.facts.recall("deploy window").found[0].citation == "memory/facts.md#L5"


def test_a_note_that_is_gone_has_no_facts(memory: Memory) -> None:
    note_of(memory.workspace.root).unlink()
    assert memory.facts.recall("Postgres").found == ()


# The table


def test_the_table_is_asked_for_what_is_near(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    ask = LanceTable.nearest

    def nearest(
        table: LanceTable, vector: bytes, limit: int, *, current_only: bool = False
    ) -> dict[int, float]:
        asked.append(limit)
        return ask(table, vector, limit, current_only=current_only)

    monkeypatch.setattr(LanceTable, "nearest", nearest)
    with facts_memory(workspace, "lancedb") as memory:
        memory.sync()
        memory.facts.recall("how do we indent code?")
    assert len(asked) == 1


def test_the_index_answers_if_the_table_cannot(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(
        table: LanceTable, vector: bytes, limit: int, *, current_only: bool = False
    ) -> dict[int, float]:
        raise StoreDamaged("the table is damaged")

    monkeypatch.setattr(LanceTable, "nearest", fails)
    with facts_memory(workspace, "lancedb") as memory:
        memory.sync()
        recalled = memory.facts.recall("how do we indent code?")
    assert names(recalled) == [TABS]
    assert any("the table is damaged" in told for told in recalled.warnings)


def test_a_table_that_is_behind_is_not_asked(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with facts_memory(workspace, "lancedb") as memory:
        memory.sync()
        monkeypatch.setattr(FactTable, "refresh", lambda table: ())
        note_of(workspace).write_text(FACTS.replace("Postgres 17", "MariaDB 11"), encoding="utf-8")
        memory.sync()
        assert memory.facts.recall("what is MariaDB 11 used for?").found[0].fact.id == BILLING


def test_background_syncs_keep_the_table_up_to_date(workspace: Path) -> None:
    with facts_memory(workspace, "lancedb") as memory:
        memory.sync()
        memory.facts.store("The office cat is called Miso.")
        memory.facts.recall("what is the cat called?")
        eventually(lambda: memory.facts.stats().rows == 7)


@pytest.mark.parametrize("engine", ["matrix", "sqlite-vec"])
def test_both_engines_of_the_index_look_at_facts_alone(workspace: Path, engine: str) -> None:
    (workspace / "memory/other.md").write_text("We indent code with tabs.\n", encoding="utf-8")
    with facts_memory(workspace, store__vector__engine=engine) as memory:
        memory.sync()
        assert names(memory.facts.recall("how do we indent code?")) == [TABS]


def test_the_ranking_of_openclaw_looks_at_facts_alone(workspace: Path) -> None:
    (workspace / "memory/other.md").write_text("Prefers tabs for indentation.\n", encoding="utf-8")
    with facts_memory(workspace, profile="openclaw") as memory:
        memory.sync()
        assert names(memory.facts.recall("tabs for indentation"))[0] == TABS


# Both stores


def test_both_stores_score_alike(tmp_path: Path) -> None:
    asked = ["which database?", "what does Ana's home look like?", "tabs or spaces", "release day", "nurse"]
    scores = []
    for store in STORES:
        with facts_memory(tmp_path / store, store) as memory:
            memory.sync()
            scores.append(
                {
                    (query, found.fact.id): found.score
                    for query in asked
                    for found in memory.facts.recall(query, min_score=0).found
                }
            )
    assert scores[0] == pytest.approx(scores[1], abs=0.02)


@pytest.mark.parametrize("store", STORES)
def test_a_few_facts_are_found_among_many_notes(workspace: Path, store: str) -> None:
    log = "".join(f"Billing, the database and {at} more.\n{'x ' * 90}\n\n" for at in range(2_000))
    (workspace / "memory/log.md").write_text(log, encoding="utf-8")
    with facts_memory(workspace, store, chunking__tokens=50, chunking__overlap=0) as memory:
        memory._manager.choice = Choice("fake", FakeProvider())
        memory.sync()
        assert memory.status().chunks > 2_000
        assert names(memory.facts.recall("which database does billing use?", min_score=0))[:1] == [BILLING]


def test_without_vectors_words_alone_answer(workspace: Path) -> None:
    with facts_memory(workspace, embeddings__provider="none") as memory:
        found = memory.facts.recall("Postgres billing").found[0]
    assert (found.fact.id, found.similarity) == (BILLING, None)


def test_a_memory_that_is_off_recalls_nothing(workspace: Path) -> None:
    with facts_memory(workspace, enabled=False) as memory, pytest.raises(SettingsError, match="off"):
        memory.facts.recall("Postgres")


# What the index does not hold


NEW = "The harbour crane lifts nine tons."


@pytest.fixture(params=["none", "builtin"])
def unsynced(request: pytest.FixtureRequest, workspace: Path) -> Iterator[Memory]:
    """A memory whose index is left as it is by a recall, so that what is written later is not in it."""
    given: dict[str, Any] = {"sync__on_search": False, "embeddings__provider": request.param}
    with facts_memory(workspace, **given) as memory:
        memory.sync()
        yield memory


def test_a_fact_is_recalled_before_it_is_indexed(unsynced: Memory) -> None:
    name = unsynced.facts.store(NEW).line.fact.id
    assert names(unsynced.facts.recall("how many tons does the crane lift?", min_score=0.3))[0] == name


def test_what_the_index_holds_is_still_recalled(unsynced: Memory) -> None:
    unsynced.facts.store(NEW)
    assert BILLING in names(unsynced.facts.recall("what does billing run on? Postgres?", min_score=0.2))


def test_a_fact_that_was_changed_is_recalled_in_its_new_words(unsynced: Memory) -> None:
    unsynced.facts.edit(TABS, NEW)
    found = unsynced.facts.recall("how many tons does the crane lift?", min_score=0.3).found
    assert [(one.fact.id, one.fact.text) for one in found[:1]] == [(TABS, NEW)]


def test_a_new_fact_scores_as_it_does_when_it_is_indexed(unsynced: Memory) -> None:
    unsynced.facts.store(NEW)
    query = "how many tons does the harbour crane lift?"
    before = unsynced.facts.recall(query, 1, min_score=0.1).found[0]
    unsynced.sync()
    after = unsynced.facts.recall(query, 1, min_score=0.1).found[0]
    assert before.fact.id == after.fact.id
    assert before.score == pytest.approx(after.score, abs=0.15)


def test_a_new_fact_is_found_by_its_meaning(workspace: Path) -> None:
    with facts_memory(workspace, sync__on_search=False) as memory:
        memory.sync()
        name = memory.facts.store("Prefers working from the mountains in summer.").line.fact.id
        assert names(memory.facts.recall("where does she like to work in July?", min_score=0.2))[0] == name


def test_a_query_narrows_new_facts_as_well(unsynced: Memory) -> None:
    name = unsynced.facts.store(NEW).line.fact.id
    assert name not in names(unsynced.facts.recall("crane -tons", min_score=0))


def test_new_facts_that_are_no_longer_true_are_not_given(unsynced: Memory) -> None:
    note = note_of(unsynced.workspace.root)
    note.write_text(f"{FACTS}- ~~{NEW}~~ {{until: 2026-11-16}} ^gggggggggg\n", encoding="utf-8")
    asked = ("how many tons does the crane lift?", 5, 0.2)
    assert "gggggggggg" not in names(unsynced.facts.recall(*asked))
    assert names(unsynced.facts.recall(*asked, current_only=False))[0] == "gggggggggg"


def test_among_many_unindexed_facts_the_right_one_is_found(unsynced: Memory) -> None:
    others = "".join(f"- The drawer number {number} holds maps of valleys\n" for number in range(2_000))
    note_of(unsynced.workspace.root).write_text(f"- {NEW} ^gggggggggg\n{others}", encoding="utf-8")
    assert names(unsynced.facts.recall("which tons does the crane lift?", 1, 0.2)) == ["gggggggggg"]


READ_ONLY = """\
import sys
from memlines import Memory
with Memory(sys.argv[1], {"embeddings.provider": sys.argv[2], "facts.store": "index"}) as memory:
    result = memory.facts.recall("what does billing run on? Postgres?", min_score=0.2)
    print([found.fact.id for found in result.found][:1], len(result.warnings))
"""


@pytest.mark.parametrize("provider", ["none", "builtin"])
@pytest.mark.parametrize("indexed", [False, True])
def test_facts_are_recalled_where_nothing_can_be_written(
    workspace: Path, provider: str, indexed: bool
) -> None:
    with facts_memory(
        workspace, text="- Likes tea.\n" if indexed else FACTS, embeddings__provider=provider
    ) as memory:
        if indexed:
            memory.sync()
    note_of(workspace).write_text(FACTS, encoding="utf-8")
    places = [workspace, *workspace.rglob("*")]
    for place in places:
        place.chmod(0o555)
    try:
        done = unprivileged_run(READ_ONLY, workspace, provider)
    finally:
        for place in places:
            place.chmod(0o755)
    warned = 1 if indexed else 0  # without an index beside the notes, one is made in the user's cache
    assert done.stdout.startswith(f"['{BILLING}'] {warned}"), done.stdout + done.stderr
