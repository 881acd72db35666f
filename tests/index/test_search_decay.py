"""Old daily logs fade; what has no date does not."""

from __future__ import annotations

import math
import os
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.index.search.reorder import age_in_days, decay
from memlines.text.days import log_day
from memlines.types import IndexedChunk
from tests.memories import words_memory, write

NOW = datetime(2026, 3, 31, tzinfo=UTC)
DAY_NS = 86_400 * 10**9


def chunk(path: str, mtime_ns: int = 0) -> IndexedChunk:
    return IndexedChunk(1, path, "memory", 1, 1, "text", "", mtime_ns)


def test_a_half_is_left_after_a_half_life() -> None:
    assert decay(1.0, 30, 30) == pytest.approx(0.5)


def test_a_quarter_is_left_after_two() -> None:
    assert decay(1.0, 60, 30) == pytest.approx(0.25)


def test_todays_log_keeps_its_score() -> None:
    assert decay(0.8, age_in_days(chunk("memory/2026-03-31.md"), NOW), 30) == pytest.approx(0.8)


def test_a_log_of_a_half_life_ago_keeps_half() -> None:
    assert decay(0.8, age_in_days(chunk("memory/2026-03-01.md"), NOW), 30) == pytest.approx(0.4)


def test_a_log_from_the_future_keeps_its_score() -> None:
    assert decay(0.8, age_in_days(chunk("memory/2099-01-01.md"), NOW), 30) == pytest.approx(0.8)


def test_a_very_old_log_is_next_to_nothing() -> None:
    assert decay(1.0, age_in_days(chunk("memory/1990-01-01.md"), NOW), 30) < 1e-9


@pytest.mark.parametrize(
    "path", ["MEMORY.md", "memory.md", "memory/decisions.md", "memory/projects/2026/plan.md"]
)
def test_evergreen_notes_never_fade(path: str) -> None:
    assert decay(0.8, age_in_days(chunk(path, mtime_ns=1), NOW), 30) == 0.8


@pytest.mark.parametrize(
    "path",
    [
        "memory/2026-03-01.md",
        "memory/logs/2026-03-01.md",
        "memory/2026/03/2026-03-01.md",
        "memory/2026-03-01-standup.md",
        "memory/2026-03-01_standup notes.md",
    ],
)
def test_the_date_in_the_name_counts(path: str) -> None:
    assert log_day(path) == date(2026, 3, 1)


@pytest.mark.parametrize(
    "path",
    [
        "memory/2026-02-30.md",
        "memory/2026-13-01.md",
        "memory/0000-01-01.md",
        "memory/2026-3-1.md",
        "memory/x2026-03-01.md",
        "memory/2026-03-01x.md",
        "memory/2026-03-01/notes.md",
        "2026-03-01.md",
        "other/2026-03-01.md",
        "memory/2026-03-01.txt",
    ],
)
def test_what_is_no_daily_log_has_no_date(path: str) -> None:
    assert log_day(path) is None


def test_an_invalid_date_in_memory_makes_an_evergreen_note() -> None:
    assert decay(0.8, age_in_days(chunk("memory/2026-02-30.md", mtime_ns=1), NOW), 30) == 0.8


def test_an_extra_path_ages_by_its_time_stamp() -> None:
    written = int(NOW.timestamp()) * 10**9 - 30 * DAY_NS
    assert decay(0.8, age_in_days(chunk("../handbook/x.md", written), NOW), 30) == pytest.approx(0.4)


def test_an_extra_path_without_a_time_stamp_does_not_fade() -> None:
    assert decay(0.8, age_in_days(chunk("../handbook/x.md", 0), NOW), 30) == 0.8


def test_an_extra_path_from_the_future_keeps_its_score() -> None:
    written = int(NOW.timestamp()) * 10**9 + 30 * DAY_NS
    assert decay(0.8, age_in_days(chunk("../handbook/x.md", written), NOW), 30) == 0.8


def test_the_age_of_a_daily_log_counts_from_midnight_utc() -> None:
    noon = datetime(2026, 3, 2, 12, tzinfo=UTC)
    assert age_in_days(chunk("memory/2026-03-01.md"), noon) == pytest.approx(1.5)


@given(st.floats(-1e6, 1e6), st.floats(0.001, 1e5))
def test_the_factor_is_between_0_and_1(age: float, half_life: float) -> None:
    factor = decay(1.0, age, half_life)
    assert 0 <= factor <= 1
    assert math.isfinite(factor)


@given(st.floats(0, 1e5), st.floats(0, 1e5), st.floats(0.1, 1e4))
def test_the_older_never_keeps_more(one: float, other: float, half_life: float) -> None:
    younger, older = sorted((one, other))
    assert decay(1.0, older, half_life) <= decay(1.0, younger, half_life)


LOGS = {
    "2026-01-01.md": "The falcon project falcon started; falcon budget approved.\n",
    "2026-03-30.md": "Met about the falcon project and many other things nobody remembers.\n",
    "topic.md": "Nothing in here is about birds.\n",
    "more.md": "Nor in here.\n",
    "evenmore.md": "Or here.\n",
}


def test_decay_comes_before_ranking(workspace: Path) -> None:
    with words_memory(workspace, LOGS, query__temporal_decay__enabled=True) as memory:
        first = memory.search("falcon", now=NOW, min_score=0)[0]
    assert first.path == "memory/2026-03-30.md"


def test_without_decay_the_older_log_is_first(workspace: Path) -> None:
    with words_memory(workspace, LOGS) as memory:
        assert memory.search("falcon", now=NOW, min_score=0)[0].path == "memory/2026-01-01.md"


def test_a_hit_that_faded_scores_lower(workspace: Path) -> None:
    notes = {"2026-03-01.md": "The falcon project.\n"}
    with words_memory(workspace, notes) as plain:
        full = plain.search("falcon", now=NOW, min_score=0)[0].score
    with words_memory(workspace, notes, query__temporal_decay__enabled=True) as memory:
        hit = memory.search("falcon", now=NOW, min_score=0)[0]
    assert hit.score < full
    assert hit.why.fusion.endswith("faded with age")


def test_extra_paths_fade_by_the_time_the_file_was_written(workspace: Path) -> None:
    write(workspace, {"../handbook/a.md": "The falcon project.\n"})
    written = (NOW - timedelta(days=30)).timestamp()
    os.utime(workspace / "../handbook/a.md", (written, written))
    with words_memory(workspace, {}, extra_paths=["../handbook"]) as plain:
        full = plain.search("falcon", now=NOW, min_score=0)[0].score
    settings = {"extra_paths": ["../handbook"], "query__temporal_decay__enabled": True}
    with words_memory(workspace, {}, **settings) as memory:
        assert memory.search("falcon", now=NOW, min_score=0)[0].score < full


def test_transcripts_fade_by_the_time_they_were_last_changed(workspace: Path) -> None:
    line = '{"type": "message", "message": {"role": "user", "content": "Tell me of the falcon project."}}\n'
    transcript = workspace / "sessions" / "a.jsonl"
    transcript.parent.mkdir()
    transcript.write_text(line, encoding="utf-8")
    written = (NOW - timedelta(days=30)).timestamp()
    os.utime(transcript, (written, written))
    with words_memory(workspace, {}, sources=["memory", "sessions"]) as plain:
        full = plain.search("falcon", now=NOW, min_score=0)[0].score
    settings = {"sources": ["memory", "sessions"], "query__temporal_decay__enabled": True}
    with words_memory(workspace, {}, **settings) as memory:
        assert memory.search("falcon", now=NOW, min_score=0)[0].score < full
