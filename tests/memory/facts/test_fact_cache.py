"""A note of facts that is parsed again after a change says what it says when it is parsed as a whole."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.text import fact_note
from memlines.text.fact_note import facts_in, facts_of
from memlines.text.facts import Fact, FactLine, line_of

NAMES = ["aaaaaaaaaa", "bbbbbbbbbb", "cccccccccc", "dddddddddd"]
OURS = [line_of(Fact(name, f"Text of {name[0]}", created=date(2026, 11, 16))) for name in NAMES]
STRUCK = line_of(Fact(NAMES[0], "Text").supersede(NAMES[1], date(2026, 11, 16)))
OTHERS = [
    "",
    "# Facts",
    "- by hand",
    "  indented",
    "running on",
    "```",
    "<!--",
    "-->",
    "---",
    "- x ^aaaaaaaaaa",
]
LINES = st.lists(st.sampled_from([*OURS, *OURS, STRUCK, *OTHERS]), max_size=8).map("\n".join)


@pytest.fixture(autouse=True)
def _long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fact_note, "_SHORT", 0)


@given(st.lists(LINES, min_size=1, max_size=6))
def test_each_state_of_a_note_is_parsed_as_a_whole_would_be(states: list[str]) -> None:
    fact_note._SHORT = 0
    assert [facts_of(state) for state in states] == [facts_in(state) for state in states]


@given(
    st.permutations(OURS),
    st.integers(0, 4),
    st.integers(0, 4),
    st.lists(st.sampled_from([*OURS, STRUCK, ""])),
)
def test_lines_that_change_in_the_middle(lines: list[str], first: int, last: int, new: list[str]) -> None:
    fact_note._SHORT = 0
    for text in ("\n".join(lines), "\n".join([*lines[:first], *new, *lines[last:]])):
        assert facts_of(text) == facts_in(text)


def test_only_the_lines_that_changed_are_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    before = "# Facts\n\n" + "\n".join(OURS[:3]) + "\n"
    facts_of(before)
    seen: list[str] = []

    def parse(text: str) -> tuple[FactLine, ...]:
        seen.append(text)
        return facts_in(text)

    monkeypatch.setattr(fact_note, "facts_in", parse)
    facts_of(before + OURS[3] + "\n")
    facts_of(before.replace(OURS[1] + "\n", "") + OURS[3] + "\n")
    assert seen == [OURS[3], ""]
