"""The latest facts are compared with a new one, whether they have vectors and words in common or not."""

from __future__ import annotations

from pathlib import Path

from tests.memories import words_memory


def test_what_was_said_a_moment_ago_is_superseded_without_a_shared_word(workspace: Path) -> None:
    with words_memory(workspace, {}) as memory:
        memory.facts.store("I live in Paris")
        stored = memory.facts.store("I moved to Berlin")
    assert stored.action == "superseded"
    assert stored.old is not None
    assert stored.old.fact.text == "I live in Paris"
