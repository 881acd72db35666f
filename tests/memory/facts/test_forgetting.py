"""Forgetting facts: no byte stays, not in the table either."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memlines import Memory, UsageError
from tests.memory.facts.memories import (
    ACME,
    DEPLOY,
    FACTS,
    GLOBEX,
    SISTER,
    STORES,
    TABS,
    facts_memory,
    names,
    note_of,
    words_of,
)


@pytest.fixture(params=STORES)
def memory(request: pytest.FixtureRequest, workspace: Path) -> Iterator[Memory]:
    with facts_memory(workspace, request.param) as opened:
        opened.sync()
        yield opened


@pytest.mark.promise("P14")
def test_a_forgotten_fact_is_gone_from_the_note(memory: Memory) -> None:
    memory.facts.forget([SISTER])
    assert "Porto" not in note_of(memory.workspace.root).read_text(encoding="utf-8")


def test_the_others_stay_as_they_were(memory: Memory) -> None:
    memory.facts.forget([SISTER])
    kept = [line for line in FACTS.splitlines(keepends=True) if SISTER not in line]
    assert note_of(memory.workspace.root).read_text(encoding="utf-8") == "".join(kept)


@pytest.mark.promise("P14")
def test_nothing_of_it_is_left(memory: Memory) -> None:
    receipt = memory.facts.forget([SISTER])
    memory.close()
    assert receipt.complete
    assert not any(b"Porto" in content for content in words_of(memory.workspace.root))


@pytest.mark.promise("P14")
def test_it_does_not_come_back_with_a_sync(memory: Memory) -> None:
    memory.facts.forget([SISTER])
    memory.sync()
    memory.close()
    assert not any(b"Porto" in content for content in words_of(memory.workspace.root))


@pytest.mark.promise("P14")
def test_it_is_not_recalled(memory: Memory) -> None:
    memory.facts.forget([SISTER])
    assert SISTER not in names(memory.facts.recall("where does Ana live?", min_score=0))


def test_the_others_are_still_recalled(memory: Memory) -> None:
    memory.facts.forget([SISTER])
    memory.sync()
    assert names(memory.facts.recall("how do we indent code?")) == [TABS]


def test_several_are_forgotten_at_once(memory: Memory) -> None:
    receipt = memory.facts.forget([SISTER, memory.facts.get(DEPLOY)])
    assert receipt.removed["entries"] == 2


@pytest.mark.promise("P14")
def test_forgetting_a_line_of_the_note_empties_the_table_too(memory: Memory) -> None:
    memory.forget(memory.forget_candidates("memory/facts.md#L5"))
    memory.close()
    assert not any(b"Porto" in content for content in words_of(memory.workspace.root))


@pytest.mark.parametrize("name", ["gggggggggg", "x' OR 1=1", "", "../../etc", "AAAAAAAAAA"])
def test_an_id_of_no_fact_is_refused(workspace: Path, name: str) -> None:
    with facts_memory(workspace) as memory, pytest.raises(UsageError, match="memlines facts list"):
        memory.facts.forget([SISTER, name])
    assert note_of(workspace).read_text(encoding="utf-8") == FACTS


def test_ids_are_given_as_a_list(workspace: Path) -> None:
    with facts_memory(workspace) as memory, pytest.raises(UsageError, match="list of ids"):
        memory.facts.forget(SISTER)


def test_a_query_is_nothing_that_can_be_forgotten(workspace: Path) -> None:
    with facts_memory(workspace) as memory, pytest.raises(UsageError, match="a query forgets nothing"):
        memory.forget("sister in Porto")  # type: ignore[arg-type]


def test_a_forgotten_text_is_known_as_such(workspace: Path) -> None:
    with facts_memory(workspace) as memory:
        memory.facts.forget([SISTER])
        assert memory.facts.was_forgotten("Her sister Ana lives in Porto.")
        assert not memory.facts.was_forgotten("Billing runs on Postgres 17.")


def test_what_is_stored_again_is_no_longer_forgotten(workspace: Path) -> None:
    with facts_memory(workspace) as memory:
        memory.facts.forget([SISTER])
        stored = memory.facts.store("Her sister Ana lives in Porto.")
        assert stored.action == "created"
        assert not memory.facts.was_forgotten("Her sister Ana lives in Porto.")


# What is meant by a description


def test_almost_the_same_words_mean_one_fact(memory: Memory) -> None:
    near = memory.facts.candidates("Her sister Ana lives in Porto")
    assert [found.fact.id for found in near] == [SISTER]
    assert (near[0].similarity or 0) > 0.9


def test_a_description_may_mean_several_facts(memory: Memory) -> None:
    near = memory.facts.candidates("works as a nurse at Globex")
    assert [found.fact.id for found in near][:2] == [GLOBEX, ACME]


@pytest.mark.parametrize(
    "query", ["works as a nurse at Globex", "indent code", "the database of billing", "who is Ana?", "stars"]
)
def test_what_may_be_meant_is_what_a_search_finds_in_its_order(memory: Memory, query: str) -> None:
    found = memory.facts.recall(query, current_only=True).found
    near = memory.facts.candidates(query)
    assert near[: len(found)] == found
    assert all(not one.fact.is_current for one in near[len(found) :])


def test_what_no_fact_says_is_at_best_near(memory: Memory) -> None:
    assert {found.band for found in memory.facts.candidates("the chemistry of distant stars")} <= {"weak"}


def test_without_vectors_a_description_is_known_by_its_words(workspace: Path) -> None:
    with facts_memory(workspace, embeddings__provider="none") as memory:
        near = memory.facts.candidates("sister in Porto")
    assert [(found.fact.id, found.similarity) for found in near] == [(SISTER, None)]
