"""Facts that held on a day, by their own dates."""

from __future__ import annotations

from pathlib import Path

import pytest

from memlines import UsageError
from tests.memories import words_memory
from tests.programs import Cli

FACTS = {
    "memory/facts.md": "# Facts\n\n"
    "- 2026-01-10 [fact] ~~Works at Acme.~~ {until: 2026-04-10, now: m2p6t7u4wc} ^b7c5d2e6fg\n"
    "- 2026-04-10 [fact] Works at Bolt. ^m2p6t7u4wc\n"
    "- 2026-05-10 [fact] Lives in Lyon. {since: 2025-02-01} ^c7c5d2e6fg\n"
    "- Likes tea.\n"
    "- 2026-01-10 [fact] ~~Owns a boat.~~ ^d7c5d2e6fg\n"
}


@pytest.mark.parametrize(
    ("day", "held"),
    [
        ("2024-01-01", ["Likes tea."]),
        ("2026-01-09", ["Lives in Lyon.", "Likes tea."]),
        ("2026-04-09", ["Works at Acme.", "Lives in Lyon.", "Likes tea."]),
        ("2026-04-10", ["Works at Bolt.", "Lives in Lyon.", "Likes tea."]),
    ],
)
def test_facts_held_from_their_first_day_to_the_one_they_ended_on(
    workspace: Path, day: str, held: list[str]
) -> None:
    with words_memory(workspace, FACTS) as memory:
        lines = memory.facts.list(as_of=day)
    assert [(line.fact.text, line.fact.is_current) for line in lines] == [(text, True) for text in held]


def test_what_names_no_day_is_refused(workspace: Path) -> None:
    with words_memory(workspace, FACTS) as memory, pytest.raises(UsageError, match="names no day"):
        memory.facts.list(as_of="soon")


def test_the_command_shows_a_fact_that_ended_as_it_held_then(workspace: Path, cli: Cli) -> None:
    words_memory(workspace, FACTS).close()
    shown = cli("facts", "list", "--as-of", "2026-03-01", "-c", "fact", "-w", workspace)
    assert [line.split("fact        ")[1] for line in shown.out.splitlines()] == [
        "Lives in Lyon.",
        "Works at Acme.  (until 2026-04-10)",
    ]
