"""An entry is from the day that it begins with, that a heading above it begins with, or of its log."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.text.chunk import chunk_note
from memlines.text.days import date_chunks, day_of, days_in, join_days, until_day
from memlines.text.entries import Entry, entries_of

DAY = date(2026, 11, 16)
TOPIC = "memory/decisions.md"
LATER = "- 2026-09-05: milk"


def last_day(text: str, path: str = TOPIC) -> date | None:
    """Return the day of the last entry of a note."""
    return day_of(path, entries_of(text)[-1])


# The beginning of an entry


@pytest.mark.parametrize("mark", ["", "- ", "* ", "+ ", "7. ", "7) ", "- [ ] ", "- [x] ", "1. [X] "])
@pytest.mark.parametrize(
    "written", ["2026-11-16", "2026/11/16", "16.11.2026", "[2026-11-16]", "**2026-11-16**", "(2026-11-16)"]
)
def test_an_entry_is_from_the_day_it_begins_with(mark: str, written: str) -> None:
    assert last_day(f"{mark}{written}: we chose Postgres") == DAY


@pytest.mark.parametrize("after", [":", "", " 14:32", "T14:32:00Z", ".", " - ", "**"])
def test_anything_but_a_word_may_follow_the_day(after: str) -> None:
    assert last_day(f"- 2026-11-16{after} words") == DAY


@pytest.mark.parametrize(
    "text",
    [
        "- We chose Postgres on 2026-11-16",
        "- Until 2026-11-16: wait",
        "- `2026-11-16` is a file",
        "- 2026-11-16-notes.md",
        "- 2026/11/16/notes.md",
        "- 2026-11-161",
        "- 2026-13-40: no such day",
        "- 2026-02-30: no such day",
        "- 1.2.3 of a program",
        "- 10.0.2026.1",
        "```\n2026-11-16 a line of a log\n```",
        "- a\n  - 2026-11-16 below another",
        "> 2026-11-16 quoted",
    ],
)
def test_a_date_elsewhere_is_not_the_day_of_an_entry(text: str) -> None:
    assert last_day(text) is None


# Headings, logs


@pytest.mark.parametrize(
    "title",
    [
        "2026-11-16",
        "2026-11-16 Monday",
        "Monday 2026-11-16",
        "16.11.2026",
        "[2026-11-16] Standup",
        "16 November 2026",
        "November 16, 2026: standup",
        "Monday, 16 November 2026",
        "Montag, 16. November 2026",
        "maandag 16 november 2026",
        "lundi 16 novembre 2026",
        "16 de noviembre de 2026",
        "16 novembre 2026",
        "16 de novembro de 2026",
    ],
)
def test_an_entry_is_from_the_day_that_the_heading_above_it_begins_with(title: str) -> None:
    assert last_day(f"# Log\n\n## {title}\n\n- We chose Postgres") == DAY


@pytest.mark.parametrize(
    "title",
    [
        "Plan for 16 November 2026",
        "Until 16 November 2026",
        "Since 2026-11-16",
        "November 2026",
        "2026",
        "16 November",
        "Yesterday",
        "1 to 3 May 2026",
    ],
)
def test_a_heading_that_begins_otherwise_gives_no_day(title: str) -> None:
    assert last_day(f"# {title}\n\n- We chose Postgres") is None


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("## 2026-11-15\n\n- 2026-11-16: own", date(2026, 11, 16)),
        ("## 2026-11-15\n\n### Work\n\n- below", date(2026, 11, 15)),
        ("## 2026-11-15\n\n### 2026-11-16\n\n- nearest", date(2026, 11, 16)),
        ("## 2026-11-15\n\n## Work\n\n- log", date(2026, 11, 17)),
        ("- log", date(2026, 11, 17)),
    ],
)
def test_the_nearest_place_wins(text: str, day: date) -> None:
    assert last_day(text, "memory/2026-11-17.md") == day


def test_a_topic_without_dates_has_no_days() -> None:
    assert last_day("# Decisions\n\n- We chose Postgres") is None


DAYS = st.dates(date(1900, 1, 1), date(2099, 12, 31))
FORMS = st.sampled_from(
    ["{0:%Y-%m-%d}", "{0:%Y/%m/%d}", "{0:%d.%m.%Y}", "[{0:%Y-%m-%d}]", "**{0:%Y-%m-%d}**"]
)
MARKS = st.sampled_from(["", "- ", "- [ ] ", "* ", "12. "])


@given(DAYS, FORMS, MARKS, st.text(st.characters(codec="utf-8", exclude_categories=("C", "Zl", "Zp"))))
def test_every_day_is_read_whatever_follows(day: date, form: str, mark: str, words: str) -> None:
    assert day_of(TOPIC, Entry("item", 1, 1, f"{mark}{form.format(day)}: {words}", "")) == day


@given(DAYS, FORMS, st.from_regex(r"[a-z]+ [a-z]+ ?", fullmatch=True))
def test_no_day_is_read_behind_words(day: date, form: str, words: str) -> None:
    assert day_of(TOPIC, Entry("item", 1, 1, f"- {words} {form.format(day)}", "Decisions")) is None


LINES = st.one_of(
    st.sampled_from(
        ["", "# Log", "## Work", "words", "  more", "```", "---", "> quoted", "- item", "1. one"]
    ),
    st.builds(lambda day, mark: f"{mark}{day} words", DAYS, st.sampled_from(["", "- ", "## ", "# ", "  - "])),
)


@given(st.lists(LINES, max_size=30).map("\n".join), st.sampled_from([TOPIC, "memory/2026-11-16.md"]))
def test_a_chunk_has_a_day_for_each_of_its_entries_or_one_for_all(text: str, path: str) -> None:
    for chunk in date_chunks(chunk_note(text, 10, 2), text, path):
        units = [entry for entry in entries_of(f"\n{chunk.text}") if entry.kind != "heading"]
        assert len(chunk.days) in (0, 1, max(1, len(units)))


@given(st.lists(LINES, max_size=30).map("\n".join))
def test_the_day_of_every_entry_is_among_those_that_lines_begin_with(text: str) -> None:
    found = {day.isoformat() for entry in entries_of(text) if (day := day_of(TOPIC, entry))}
    assert found <= days_in(text)


# Chunks


def test_the_end_of_a_long_entry_has_the_day_of_its_beginning() -> None:
    text = "- 2026-11-16: " + " ".join(["word"] * 200) + "\n"
    chunks = date_chunks(chunk_note(text, 40, 0), text, TOPIC)
    assert {chunk.days for chunk in chunks} == {("2026-11-16",)}
    assert len(chunks) > 3


def test_a_chunk_far_below_a_dated_heading_has_its_day_whatever_the_front_matter() -> None:
    body = "".join(f"### Part {number}\n\n- words of {number} and some more\n" for number in range(9))
    text = f"---\ntitle: Log\ntags: [a]\n---\n# Log\n\n## 2026-11-16\n\n{body}"
    chunks = date_chunks(chunk_note(text, 30, 0), text, TOPIC)
    assert {chunk.days for chunk in chunks[1:]} == {("2026-11-16",)}


def test_a_chunk_of_several_days_has_one_for_each_entry() -> None:
    text = "- 2026-11-15: one\n- 2026-11-16: two\n- three\n"
    (chunk,) = date_chunks(chunk_note(text, 400, 80), text, TOPIC)
    assert chunk.days == ("2026-11-15", "2026-11-16", "")


def test_a_log_whose_entries_are_of_its_day_keeps_no_days() -> None:
    text = "# 2026-11-16\n\n- 14:32 one\n- 2026-11-16: two\n"
    (chunk,) = date_chunks(chunk_note(text, 400, 80), text, "memory/2026-11-16.md")
    assert chunk.days == ()


def test_an_entry_of_another_day_in_a_log_keeps_its_own() -> None:
    text = "# 2026-11-16\n\n- 14:32 one\n- 2026-11-14: late\n"
    (chunk,) = date_chunks(chunk_note(text, 400, 80), text, "memory/2026-11-16.md")
    assert chunk.days == ("2026-11-16", "2026-11-14")


def test_days_that_are_all_the_usual_one_are_not_kept() -> None:
    assert join_days(["2026-11-16", "2026-11-16"], "2026-11-16") == ()


@given(st.lists(st.sampled_from(["# T", "- 2026-01-05: tea", LATER, "text", ""])), st.integers(0, 9))
def test_what_is_from_up_to_a_day_keeps_its_lines(lines: list[str], known: int) -> None:
    found = until_day("\n".join(lines), TOPIC, date(2026, 3, 1), known).split("\n")
    pairs = list(zip(lines or [""], found, strict=True))
    assert all(line in ("", was) for was, line in pairs)
    assert all(line == was for was, line in pairs[:known])
    assert LATER not in found[known:]
