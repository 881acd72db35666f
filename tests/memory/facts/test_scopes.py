"""Facts that are limited to a scope: stored, kept through every change, listed and asked for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines import Memory, UsageError
from memlines.agent.auto_recall import fitting_facts
from memlines.serve.tools import call_tool
from memlines.text.fact_note import facts_in, split_scope
from memlines.text.facts import SCOPE, Fact, line_of, rewrite_line
from tests.memories import words_memory
from tests.memory.facts.memories import names, note_of
from tests.memory.facts.test_fact_lines import FACTS

SHORT = "Prefers short sentences."
FEW = "Prefers short functions."


@pytest.fixture
def memory(workspace: Path) -> Memory:
    lines = (
        f"- [preference] {SHORT} {{scope: writing}} ^aaaaaaaaaa",
        f"- [preference] {FEW} {{scope: code}} ^bbbbbbbbbb",
        "- [preference] Prefers short nights. ^cccccccccc",
    )
    return words_memory(workspace, {"facts.md": "".join(f"{line}\n" for line in lines)})


def scopes(folder: Path) -> list[str]:
    return [line.fact.scope for line in facts_in(note_of(folder).read_text(encoding="utf-8"))]


@given(FACTS, FACTS)
def test_a_scope_is_kept_whatever_else_changes(old: Fact, new: Fact) -> None:
    (line,) = facts_in(line_of(old))
    changed = replace(new, id=old.id, scope=old.scope)
    written = [facts_in(way.line) for way in rewrite_line(line, changed)]
    assert all(one[0].fact.scope == old.scope for one in written if one)


def test_a_scope_is_stored_and_written_down(workspace: Path, memory: Memory) -> None:
    with memory:
        stored = memory.facts.store("Prefers long walks.", scope="leisure")
    assert stored.line.fact.scope == "leisure"
    assert "Prefers long walks. {scope: leisure} ^" in note_of(workspace).read_text(encoding="utf-8")


def test_every_change_of_a_fact_keeps_its_scope(workspace: Path, memory: Memory) -> None:
    with memory:
        memory.facts.edit("aaaaaaaaaa", "Prefers very short sentences.")
        memory.facts.review("aaaaaaaaaa")
        memory.facts.store("Prefers long sentences.", scope="writing", replaces="aaaaaaaaaa")
    assert scopes(workspace) == ["writing", "code", "", "writing"]


def test_a_fact_replaces_none_of_another_scope(memory: Memory) -> None:
    with memory:
        memory.facts.store("Prefers tabs over spaces", scope="go")
        stored = memory.facts.store("Prefers spaces over tabs", scope="python")
        again = memory.facts.store("Prefers spaces over tabs", scope="Go")
    assert (stored.action, again.action) == ("created", "superseded")


def test_facts_of_a_scope_are_listed(memory: Memory) -> None:
    with memory:
        assert [line.fact.text for line in memory.facts.list(scope="Writing")] == [SHORT]


def test_a_query_names_a_scope(memory: Memory) -> None:
    with memory:
        assert names(memory.facts.recall("what do I prefer short? scope:code")) == ["bbbbbbbbbb"]
        assert len(names(memory.facts.recall("what do I prefer short?"))) == 3


def test_a_scope_counts_before_a_fact_is_indexed(memory: Memory) -> None:
    with memory:
        memory.facts.recall("short")
        memory.facts.store("Prefers short skirts.", scope="dance")
        recalled = memory.facts.recall("short scope:dance")
    assert [found.fact.text for found in recalled.found] == ["Prefers short skirts."]


def test_a_query_of_a_scope_alone_asks_for_its_word() -> None:
    assert split_scope("scope:writing") == ("writing", "writing")
    assert split_scope("my scope: writing") == (None, "my scope: writing")


def test_a_message_names_no_scope(memory: Memory) -> None:
    with memory:
        given = fitting_facts(memory, "Do I prefer short sentences with scope:code in my writing?")
    assert [one.fact.text for one in given.facts][:1] == [SHORT]
    assert "memory/facts.md#L1 (preference, writing only):" in given.text


@pytest.mark.parametrize("scope", ["", "two words", "a,b", "{x}", "x" * 41])
def test_what_is_no_word_is_no_scope(memory: Memory, scope: str) -> None:
    with memory, pytest.raises(UsageError, match="scope"):
        memory.facts.store("Prefers long walks.", scope=scope)


@given(st.text(max_size=12))
def test_a_scope_that_is_accepted_is_read_again(scope: str) -> None:
    found = facts_in(f"- [fact] Likes tea {{scope: {scope}}} ^aaaaaaaaaa")
    if SCOPE.fullmatch(scope):
        assert found[0].fact.scope == scope


def test_a_model_stores_and_asks_by_scope(memory: Memory) -> None:
    with memory:
        call_tool(memory, "memory_store", {"text": "Prefers short mails.", "scope": "office"})
        answer = call_tool(memory, "memory_recall", {"query": "short scope:office"})
    assert [(fact["text"], fact["scope"]) for fact in answer.data["facts"]] == [
        ("Prefers short mails.", "office")
    ]
    assert answer.data["results"] == []
