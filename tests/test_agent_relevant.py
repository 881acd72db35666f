"""What the memory knows about a message: quoted, capped, and not twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect import UsageError
from recollect.agent.relevant import relevant
from recollect.text.chunk import weigh
from tests.support_search import words_memory

NOTES = {
    "birds.md": "The kestrel nests in the old church tower.\n",
    "more.md": "Another kestrel nests at the mill.\n",
}


def test_lines_that_fit_are_quoted_with_their_citation(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        found = relevant(memory, "where does the kestrel nest?")
    assert "memory/birds.md#L1:\n> The kestrel nests in the old church tower." in found.text


def test_nothing_is_said_when_nothing_fits(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        assert relevant(memory, "quarterly revenue").text == ""


def test_what_is_known_is_not_quoted_again(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        found = relevant(memory, "kestrel", known=[("memory/birds.md", 1, 9)])
    assert [hit.path for hit in found.hits] == ["memory/more.md"]


def test_the_text_stays_within_its_tokens(workspace: Path) -> None:
    notes = {f"{number}.md": f"The kestrel of tower {number} " + "sings " * 100 for number in range(5)}
    with words_memory(workspace, notes) as memory:
        found = relevant(memory, "kestrel tower", max_tokens=300)
    assert 0 < weigh(found.text) <= 1_200


def test_secrets_are_not_quoted(workspace: Path) -> None:
    token = "ghp_" + "aB3dE5gH7jK9" * 3
    with words_memory(workspace, {"a.md": f"The kestrel camera uses {token}\n"}) as memory:
        text = relevant(memory, "kestrel camera").text
    assert "kestrel camera" in text
    assert token not in text


def test_nothing_is_said_when_memory_is_off(workspace: Path) -> None:
    with words_memory(workspace, NOTES, enabled=False) as memory:
        assert relevant(memory, "kestrel").text == ""


def test_a_limit_that_cannot_be_meant_is_refused(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory, pytest.raises(UsageError, match="max_tokens"):
        relevant(memory, "kestrel", max_tokens=0)
