"""Notes and facts know each other: the same sentence is written once, whichever comes first."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memlines import Memory
from memlines.memory.notes.duplicates import find_known
from memlines.paths import Workspace
from tests.indexes import write
from tests.memory.managers import manager_of

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
NOTE = "memory/facts.md"
LOG = "memory/2026-11-16.md"
TABS = "Prefers tabs over spaces in Makefiles."
SAME = "prefers tabs over spaces in Makefiles"


@pytest.fixture(params=["none", "builtin"])
def memory(request: pytest.FixtureRequest, workspace: Path) -> Iterator[Memory]:
    given = {"embeddings.provider": request.param, "facts.store": "index", "timezone": "UTC"}
    with Memory(workspace, given) as opened:
        yield opened


def text(memory: Memory, path: str) -> str:
    file = memory.workspace.root / path
    return file.read_text(encoding="utf-8") if file.exists() else ""


def test_what_is_a_fact_is_not_remembered_again(memory: Memory) -> None:
    stored = memory.facts.store(TABS, now=NOON)
    done = memory.remember(SAME, now=NOON)
    assert done.duplicate is not None
    assert (done.citation, text(memory, LOG)) == (stored.citation, "")
    assert TABS in done.duplicate.snippet


def test_what_is_remembered_is_not_stored_again(memory: Memory) -> None:
    done = memory.remember(TABS, now=NOON)
    stored = memory.facts.store(SAME, now=NOON)
    assert (stored.action, stored.citation) == ("duplicate", done.citation)
    assert (stored.line.fact.text, text(memory, NOTE)) == (TABS, "")


def test_what_stands_in_a_note_of_a_topic_is_not_stored_again(memory: Memory) -> None:
    done = memory.remember(TABS, topic="editors", now=NOON)
    assert memory.facts.store(SAME, now=NOON).citation == done.citation


def test_both_can_be_forced(memory: Memory) -> None:
    memory.facts.store(TABS, now=NOON)
    assert memory.remember(TABS, force=True, now=NOON).duplicate is None
    assert memory.facts.store(TABS, force=True, now=NOON).action == "created"


def test_what_differs_in_a_number_is_kept_by_both(memory: Memory) -> None:
    memory.facts.store("Anna answers at extension 4411.", now=NOON)
    assert memory.remember("Anna answers at extension 4412.", now=NOON).duplicate is None
    assert memory.facts.store("Anna answers at extension 4413.", now=NOON).action != "duplicate"


def test_a_fact_that_is_no_longer_true_can_be_remembered(memory: Memory) -> None:
    write(memory.workspace.root, {NOTE: f"- ~~{TABS}~~ {{until: 2026-11-16}} ^k3f5x2m7qa\n"})
    assert memory.remember(TABS, now=NOON).duplicate is None


def test_a_note_does_not_keep_a_fact_from_replacing_another(memory: Memory) -> None:
    memory.facts.store("I live in Berlin.", now=NOON)
    memory.remember("I live in Hamburg.", now=NOON)
    assert memory.facts.store("I live in Hamburg.", now=NOON).action == "superseded"


def test_tomorrow_is_another_day_than_it_was_in_the_fact(memory: Memory) -> None:
    write(memory.workspace.root, {NOTE: "- 2026-11-02 The plumber comes tomorrow ^k3f5x2m7qa\n"})
    assert memory.remember("The plumber comes tomorrow", now=NOON).duplicate is None


FORMS = {
    "with marks": f"- 2026-11-14 [preference] {TABS} {{importance: 0.9}} ^k3f5x2m7qa",
    "by hand": "* Prefers tabs over spaces\n  in Makefiles",
    "among others": f"- Likes tea\n- {TABS}\n  - and tea\n",
}


@pytest.mark.parametrize("form", FORMS)
def test_a_fact_is_known_however_it_is_written(workspace: Path, form: str) -> None:
    write(workspace, {NOTE: f"# Facts\n\n{FORMS[form]}\n"})
    with Memory(workspace, {"embeddings.provider": "none"}) as memory:
        known = memory.remember(TABS if form != "among others" else f"{TABS} and tea").duplicate
    assert known is not None
    assert known.path == NOTE


@pytest.mark.parametrize("around", ["```\n{}\n```\n", "<!--\n{}\n-->\n", "A paragraph: {}\n"])
def test_what_is_no_fact_is_not_known(workspace: Path, around: str) -> None:
    write(workspace, {NOTE: around.format(f"- {TABS}")})
    with Memory(workspace, {"embeddings.provider": "none", "sync.on_search": False}) as memory:
        assert memory.remember(TABS).duplicate is None


def test_the_facts_are_known_without_an_index(workspace: Path) -> None:
    write(workspace, {NOTE: f"- {TABS}\n"})
    hit = find_known(manager_of(Workspace.at(workspace)), SAME, NOON, notes=[])
    assert hit is not None
    assert hit.citation == f"{NOTE}#L1"
