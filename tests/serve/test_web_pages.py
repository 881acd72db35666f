"""What single pages say: the home page, the timeline, health, and who is let in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memlines import Memory
from tests.memories import WORDS_ONLY, write
from tests.serve.web import Browser, browsing

DAY = "memory/2026-11-02.md"


@pytest.fixture
def browser(workspace: Path) -> Iterator[Browser]:
    """A memory of one day, with a personal one beside it."""
    write(workspace, {DAY: "# 2026-11-02\n\n- 10:00 Anna chose Postgres.\n- 11:00 Karl left.\n"})
    with browsing(workspace) as browser:
        yield browser


@pytest.fixture
def personal(workspace: Path) -> None:
    with Memory(workspace, WORDS_ONLY) as memory:
        memory.remember("Anna prefers tea.", topic="habits", personal=True)


def line_with(words: str, text: str) -> str:
    """Return the only line of a page that holds some words."""
    (line,) = [line for line in text.splitlines() if words in line]
    return line


def test_the_growth_of_a_single_month_is_one_bar(browser: Browser) -> None:
    chart = line_with('class="area"', browser.get("/health").text)
    assert 'd="M0 90L0 6H600V90Z"' in chart
    assert chart.count(">2026-11: 2 dated entries<") == chart.count("2026-11: 2 dated entries") - 1 == 1
    assert chart.count("2026-11") == 2, "a month is named once"


def test_the_growth_of_two_months_ends_at_the_height_of_the_second(browser: Browser, workspace: Path) -> None:
    write(workspace, {"memory/2026-10-01.md": "# 2026-10-01\n\n- 10:00 Karl came.\n- 11:00 He stays.\n"})
    chart = line_with('class="area"', browser.get("/health").text)
    assert 'd="M0 90L0 48L600 6H600V90Z"' in chart
    assert 'aria-label="From 2026-10 to 2026-11: 4 dated entries"' in chart


@pytest.mark.usefixtures("personal")
@pytest.mark.parametrize("page", ["/?recent=1", "/timeline"])
def test_what_is_personal_is_marked_inside_a_project(browser: Browser, page: str) -> None:
    text = browser.get(page).text
    mark = '<span class="tag">personal</span>'
    assert mark in line_with("Anna prefers tea.", text)
    assert mark not in line_with("Anna chose Postgres.", text)


def test_a_year_with_a_single_day_says_one_day(browser: Browser) -> None:
    assert ">1 day<" in browser.get("/timeline").text


def test_a_stranger_reads_a_sentence(browser: Browser) -> None:
    browser.cookie = ""
    text = browser.get("/").text
    assert "Only the address that &#39;memlines web&#39; printed opens this page." in text
