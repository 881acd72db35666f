"""What is handed in, waited for, kept and paid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from memlines.errors import SpendLimit
from memlines.index.store.sqlite.cache import Submitted
from tests.embed.batch_runs import (
    QUIET,
    SERVICES,
    CountingMeter,
    assert_all_kept_once,
    desk,
    in_groups_of,
    some_texts,
)
from tests.embed.fake_batches import BatchServer, Service, blob_of


@pytest.fixture(autouse=True)
def _no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memlines.embed.remote.http.pause", lambda seconds: None)


@pytest.fixture(params=SERVICES)
def service(request: pytest.FixtureRequest) -> Service:
    chosen: Service = request.param
    return chosen


def test_every_text_gets_its_vector(service: Service) -> None:
    with desk(BatchServer(service)) as at:
        outcome = at.run()
        assert_all_kept_once(at)
        assert outcome.embedded == at.texts.keys()
        assert (outcome.refused, outcome.waiting, outcome.reason) == ({}, set(), None)
        assert at.journal.noted == {}


def test_the_texts_are_removed_from_the_service_in_the_end(service: Service) -> None:
    with desk(BatchServer(service)) as at:
        at.run()
        assert at.server.files == {}


def test_nothing_is_done_without_texts() -> None:
    with desk(BatchServer("openai"), {}) as at:
        assert at.run().embedded == set()
        assert at.server.asked == []


def test_fewer_texts_than_make_a_batch_are_left() -> None:
    with desk(BatchServer("openai")) as at:
        at.settings = replace(at.settings, min_texts=11)
        outcome = at.run()
        assert (outcome.embedded, outcome.waiting, outcome.reason) == (set(), set(), None)
        assert at.server.asked == []


def test_what_is_left_beside_an_open_batch_has_to_make_a_batch_itself() -> None:
    with desk(BatchServer("openai")) as at:
        at.settings = replace(QUIET, min_texts=10)
        at.run()
        at.texts |= some_texts(9, "later")
        outcome = at.run()
        assert outcome.waiting == some_texts(10).keys()
        assert len(at.server.batches) == 1


def test_many_texts_go_in_several_batches(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    with desk(BatchServer(service)) as at:
        in_groups_of(monkeypatch, at, 3)
        at.run()
        assert_all_kept_once(at)
        assert sorted(at.server.handed) == sorted(at.texts.values())
        assert len(at.server.batches) == 4


@pytest.mark.parametrize("concurrency", [None, 1, 3])
def test_no_more_batches_are_open_at_once_than_the_settings_allow(
    monkeypatch: pytest.MonkeyPatch, concurrency: int | None
) -> None:
    with desk(BatchServer("openai", polls=3)) as at:
        if concurrency:
            at.settings = replace(at.settings, concurrency=concurrency)
        in_groups_of(monkeypatch, at, 2)
        most = 0

        def watched(completed: int, total: int, label: str) -> None:
            nonlocal most
            most = max(most, len(at.journal.noted))

        monkeypatch.setattr(at, "_progress", watched)
        at.run()
        assert most == (concurrency or 2)
        assert_all_kept_once(at)


def test_results_are_kept_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memlines.index.sync.batches._SLICE", 4)
    with desk(BatchServer("openai")) as at:
        at.run()
        assert at.journal.slices == [4, 4, 2]


def test_progress_counts_up_to_all_texts(service: Service) -> None:
    with desk(BatchServer(service, polls=4)) as at:
        at.run()
        counts = [completed for completed, _, _ in at.said]
        assert all(before <= after for before, after in pairwise(counts))
        assert at.said[-1] == (10, 10, "embedding in batches")


def test_a_long_wait_asks_every_second_whether_to_go_on() -> None:
    with desk(BatchServer("openai", polls=2)) as at:
        at.settings = replace(at.settings, poll_seconds=30.0)
        begin = at.now
        at.run()
        assert at.now - begin == pytest.approx(90)
        assert len(at.said) > 85


def test_without_waiting_a_batch_is_handed_in_and_left(service: Service) -> None:
    with desk(BatchServer(service)) as at:
        at.settings = QUIET
        outcome = at.run()
        assert outcome.waiting
        assert outcome.waiting == at.texts.keys()
        assert at.journal.kept == {}
        assert "poll" not in at.server.asked


def test_a_later_run_without_waiting_fetches_what_is_done(service: Service) -> None:
    with desk(BatchServer(service, polls=1)) as at:
        at.settings = QUIET
        at.run()
        assert at.run().waiting
        assert not at.run().waiting
        assert_all_kept_once(at)
        assert len(at.server.batches) == 1


def test_without_waiting_the_third_batch_waits_for_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    with desk(BatchServer("openai", polls=0)) as at:
        in_groups_of(monkeypatch, at, 4)
        at.settings = QUIET
        assert at.run().waiting == at.texts.keys()
        assert len(at.server.batches) == 2
        at.run()
        at.run()
        assert_all_kept_once(at)
        assert sorted(at.server.handed) == sorted(at.texts.values())


def test_new_texts_go_into_a_batch_of_their_own_beside_the_open_one() -> None:
    with desk(BatchServer("openai", polls=2)) as at:
        at.settings = QUIET
        at.run()
        at.texts |= some_texts(5, "later")
        at.settings = replace(QUIET, wait=True)
        at.run()
        assert_all_kept_once(at)
        assert sorted(at.server.handed) == sorted(at.texts.values())


def test_switched_off_batches_are_fetched_but_none_is_handed_in() -> None:
    with desk(BatchServer("openai", polls=0)) as at:
        at.settings = QUIET
        at.run()
        at.texts |= some_texts(5, "later")
        at.settings = replace(QUIET, enabled=False)
        assert len(at.run().embedded) == 10
        assert len(at.server.batches) == 1


def test_results_for_texts_that_are_gone_are_not_kept(service: Service) -> None:
    with desk(BatchServer(service, polls=0)) as at:
        at.settings = QUIET
        at.run()
        del at.texts["note-key-3"]
        at.run()
        assert at.journal.kept.keys() == at.texts.keys()


def test_a_batch_none_of_whose_texts_is_left_is_cancelled(service: Service) -> None:
    with desk(BatchServer(service)) as at:
        at.settings = QUIET
        at.run()
        at.texts = {}
        assert not at.run().waiting
        assert at.journal.noted == {}
        assert all(batch.cancelled for batch in at.server.batches.values())


Bend = Callable[[list[bytes]], list[bytes]]


@pytest.mark.parametrize(
    ("bend", "lost"),
    [
        (lambda lines: lines[1:], 1),
        (lambda lines: [*lines, lines[0]], 0),
        (lambda lines: [line.replace(b"note-key-0", b"strange") for line in lines], 1),
        (lambda lines: [b"{" + lines[0], *lines[1:]], 1),
        (lambda lines: [*lines[:-1], lines[-1][:30]], 1),
        (lambda lines: [lines[0].replace(b"[", b"[NaN, ", 1), *lines[1:]], 1),
        (lambda lines: [lines[0].replace(b"[", b"[0, ", 1), *lines], 0),
        (lambda lines: lines[::-1], 0),
        (lambda lines: [b"", *lines, b"null", b"[]", b"7"], 0),
    ],
    ids=[
        "missing",
        "duplicate",
        "unknown",
        "broken",
        "truncated",
        "nan",
        "error-then-vector",
        "order",
        "odd",
    ],
)
def test_a_bad_line_costs_one_text_at_most(service: Service, bend: Bend, lost: int) -> None:
    with desk(BatchServer(service, bend=bend)) as at:
        outcome = at.run()
        assert len(outcome.refused) == lost
        assert len(at.journal.kept) == 10 - lost
        assert outcome.refused.keys().isdisjoint(outcome.embedded)
        assert all(blob == blob_of(at.texts[key]) for key, blob in at.journal.kept.items())
        assert outcome.reason is None


def test_the_reason_of_an_error_line_comes_with_its_text(service: Service) -> None:
    with desk(BatchServer(service)) as at:
        at.server.fails = {at.texts["note-key-4"]: "unreadable"}
        outcome = at.run()
        assert outcome.refused.keys() == {"note-key-4"}
        assert outcome.refused["note-key-4"].endswith("refused the text: unreadable")


def test_a_batch_without_any_vector_is_a_failure_with_its_first_reason(service: Service) -> None:
    with desk(BatchServer(service)) as at:
        at.server.fails = dict.fromkeys(at.texts.values(), "all of it is bad")
        outcome = at.run()
        assert "brought no vector" in str(outcome.reason)
        assert "all of it is bad" in str(outcome.reason)
        assert at.journal.failed.count == 1


def test_what_was_used_takes_the_place_of_what_was_reserved(service: Service) -> None:
    with desk(BatchServer(service)) as at:
        at.meter = CountingMeter()
        at.run()
        assert at.meter.spent == 30
        assert len(at.meter.settled) == 1


def test_a_limit_on_spending_stops_before_anything_is_sent() -> None:
    with desk(BatchServer("openai")) as at:
        at.meter = CountingMeter(most=20)
        outcome = at.run()
        assert isinstance(outcome.reason, SpendLimit)
        assert at.server.asked == []
        assert at.journal.failed.count == 0


def test_a_batch_that_failed_costs_nothing(service: Service) -> None:
    with desk(BatchServer(service, ends="failed")) as at:
        at.meter = CountingMeter()
        at.run()
        assert at.meter.spent == 0


def test_a_later_run_settles_what_an_earlier_one_reserved() -> None:
    with desk(BatchServer("openai", polls=0)) as at:
        at.settings, at.meter = QUIET, CountingMeter()
        at.run()
        at.run()
        assert at.meter.spent == 30


def test_an_intent_that_came_to_nothing_gives_its_tokens_back() -> None:
    with desk(BatchServer("openai")) as at:
        at.meter = CountingMeter(spent=77)
        at.journal.note(Submitted("never", frozenset(at.texts), at.now, reserved=77))
        at.run()
        assert at.meter.spent == 30
        assert_all_kept_once(at)


def test_an_error_of_keep_is_not_swallowed(monkeypatch: pytest.MonkeyPatch) -> None:
    with desk(BatchServer("openai")) as at:

        def full(vectors: Any) -> None:
            raise OSError("no room")

        monkeypatch.setattr(at.journal, "keep", full)
        with pytest.raises(OSError, match="no room"):
            at.run()
        assert len(at.journal.noted) == 1
