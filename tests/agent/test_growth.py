"""What is done with every message takes time in proportion to its length, whatever stands in it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from time import process_time
from typing import Any

import pytest

from memlines.agent import intent
from memlines.agent.capture.find import find_facts, may_last
from memlines.agent.lasting import rate, sentences_of
from memlines.agent.messages import parse_messages
from memlines.index.search.query import as_prose
from memlines.text.chunk import pieces_of
from memlines.text.injection import is_injection
from memlines.text.neutral import neutralise, quote_lines, without_quotes

NOW = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)
MUCH = 10**9
TIMES = 4
GENEROUS = 2.5
"""How much more than in proportion the longer text may take; what grows with the square takes four times."""
NOTHING = 0.1
"""Seconds that say nothing about growth."""

WORK: dict[str, tuple[int, Callable[[str], Any]]] = {
    "is_injection": (5_000, is_injection),
    "captured": (3_000, lambda text: find_facts(text, max_chars=MUCH)),
    "may_last": (3_000, lambda text: may_last(text, max_chars=MUCH)),
    "detect": (10_000, intent.detect),
    "about_past": (10_000, intent.about_past),
    "flush": (20_000, lambda text: [rate(one, "user", NOW) for one in sentences_of(text)]),
    "parse_messages": (50_000, lambda text: list(parse_messages([{"role": "user", "content": text}]))),
    "without_quotes": (50_000, without_quotes),
    "as_prose": (20_000, as_prose),
    "neutralise": (50_000, neutralise),
    "quote_lines": (50_000, quote_lines),
    "pieces_of": (100_000, lambda text: pieces_of(text, 500)),
}

REPEATED = (
    *(
        "\n",
        " ",
        "\n ",
        "\t",
        "\u00a0",
        "\u2028",
        '"',
        "'",
        "«",
        "`",
        "[",
        "(",
        "<",
        "![",
        "_",
        "*",
        ".",
        "😀",
    ),
    *("always ", "never ", "you ", "ignore all ", "remember ", "a@", "a:", "a. ", "- a\n", "> a\n", "```\n"),
    *("<system-reminder ", "\x1b[", "\x9d", "\u200b", '\n "[<always. '),
)


@pytest.mark.parametrize("name", WORK)
def test_it_grows_in_proportion(name: str) -> None:
    length, work = WORK[name]
    work(
        "Remember that we use tabs. Ich bin du. Je suis toi. Ik ben jij. Yo soy tu. Ja jsem ty."
    )  # made ready

    def seconds(repeated: str, times: int) -> float:
        text = f"I like {(repeated * length)[:length] * times} tea. And so on"
        began = process_time()
        work(text)
        return process_time() - began

    found = {one: (seconds(one, 1), seconds(one, TIMES)) for one in REPEATED}
    steep = {one: both for one, both in found.items() if both[1] > both[0] * TIMES * GENEROUS + NOTHING}
    assert steep == {}
