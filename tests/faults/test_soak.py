"""A minute of what `bench.soak` does for an hour: nothing is lost, and nothing is left behind."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("watchfiles")
pytest.importorskip("jinja2", reason="needs the extra 'web'")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1_800),
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]


def test_after_a_minute_of_edits_the_index_equals_the_files(tmp_path: Path) -> None:
    from bench.soak_watch import SHORT, watch_and_edit

    found = watch_and_edit(tmp_path, SHORT)
    assert (found["to_sync"], found["doctor"]) == (0, {"healthy": True, "found": []})
    assert found["left"] == {"processes": 0, "temporaries": 0}
    assert (found["exit_code"], found["notices"]) == (0, [])
    assert sum(found["edits"].values()) > 50


def test_killed_servers_leave_nothing_that_keeps_the_next_from_working(tmp_path: Path) -> None:
    from bench.soak_starts import start_and_kill

    found = start_and_kill(tmp_path, short=True)
    for name, row in found.items():
        assert (name, row["unanswered"], row["processes_left"], row["temporaries"]) == (name, 0, 0, 0)
        assert "did not end" not in row["exit_codes"], name
