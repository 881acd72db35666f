"""Batches that fail, never end, or cannot be reached."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pytest

from memlines.errors import ProviderUnreachable, ProviderUnusable, QuotaExceeded, TextsRefused
from memlines.index.sync.batch_journal import Failures
from tests.embed.batch_runs import (
    QUIET,
    SERVICES,
    CountingMeter,
    api_of,
    assert_all_kept_once,
    desk,
    in_groups_of,
)
from tests.embed.fake_batches import BatchServer, Service

DAY = 86_400.0


@pytest.fixture(autouse=True)
def _no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memlines.embed.remote.http.pause", lambda seconds: None)


@pytest.fixture(params=SERVICES)
def service(request: pytest.FixtureRequest) -> Service:
    chosen: Service = request.param
    return chosen


@pytest.mark.parametrize("end", ["failed", "expired", "cancelled"])
def test_a_batch_that_ends_badly_is_one_failure(
    service: Service, end: Literal["failed", "expired", "cancelled"]
) -> None:
    with desk(BatchServer(service, ends=end)) as at:
        outcome = at.run()
        assert (outcome.embedded, outcome.waiting) == (set(), set())
        assert end in str(outcome.reason)
        assert outcome.reason is not None
        assert at.journal.failed == Failures(1, at.now, outcome.reason.what)
        assert at.journal.noted == {}


def test_a_failure_quotes_the_service(service: Service) -> None:
    with desk(BatchServer(service, ends="failed")) as at:
        assert "the file is no good" in str(at.run().reason)


def test_an_expired_batch_leaves_what_was_done(service: Service) -> None:
    with desk(BatchServer(service, ends="expired", done_share=0.5)) as at:
        outcome = at.run()
        assert len(outcome.embedded) == 5
        assert outcome.refused == {}
        assert at.journal.failed.count == 1


def test_two_failures_stop_batches_for_a_day(service: Service) -> None:
    with desk(BatchServer(service, ends="failed")) as at:
        at.run()
        at.run()
        handed = len(at.server.batches)
        at.server.ends = "completed"
        assert "lately" in str(at.run().reason)
        assert len(at.server.batches) == handed == 2
        at.now += DAY
        at.run()
        assert_all_kept_once(at)


def test_failures_stop_the_groups_of_the_same_run(monkeypatch: pytest.MonkeyPatch) -> None:
    with desk(BatchServer("openai", ends="failed")) as at:
        in_groups_of(monkeypatch, at, 1)
        outcome = at.run()
        assert len(at.server.batches) == 2
        assert not outcome.waiting


def test_a_success_forgets_a_failure() -> None:
    with desk(BatchServer("openai")) as at:
        at.journal.failed = Failures(1, at.now)
        at.run()
        assert at.journal.failed.count == 0


def test_batches_that_are_open_are_fetched_even_after_two_failures() -> None:
    with desk(BatchServer("openai", polls=0)) as at:
        at.settings = QUIET
        at.run()
        at.journal.failed = Failures(2, at.now)
        at.run()
        assert_all_kept_once(at)


def test_a_batch_that_never_ends_is_cancelled_and_counts_twice(service: Service) -> None:
    with desk(BatchServer(service, ends="never")) as at:
        at.settings = replace(at.settings, poll_seconds=60.0)
        begin = at.now
        outcome = at.run()
        assert at.now - begin == pytest.approx(3660, abs=61)
        assert "60 minutes" in str(outcome.reason)
        assert at.journal.failed.count == 2
        assert all(batch.cancelled for batch in at.server.batches.values())
        assert (at.journal.noted, outcome.waiting) == ({}, set())


def test_a_batch_that_cannot_be_cancelled_is_given_up_all_the_same() -> None:
    with desk(BatchServer("openai", ends="never")) as at:
        at.settings = replace(at.settings, poll_seconds=600.0)
        at.server.faults = {"cancel": [500]}
        at.run()
        assert at.journal.noted == {}


def test_the_time_for_a_batch_counts_over_runs() -> None:
    with desk(BatchServer("openai", ends="never")) as at:
        at.stop_at = 3
        with pytest.raises(KeyboardInterrupt):
            at.run()
        at.now += 3601
        at.run()
        assert at.journal.failed.count == 2


def test_without_waiting_a_batch_has_two_days() -> None:
    with desk(BatchServer("openai", ends="never")) as at:
        at.settings = QUIET
        at.run()
        at.now += DAY
        assert at.run().waiting
        at.now += DAY + 1
        assert not at.run().waiting


@pytest.mark.parametrize("fault", [429, 500])
def test_create_that_fails_for_good_is_one_failure(service: Service, fault: int) -> None:
    with desk(BatchServer(service, faults={"create": [fault] * 3})) as at:
        outcome = at.run()
        assert isinstance(outcome.reason, QuotaExceeded if fault == 429 else ProviderUnreachable)
        assert outcome.waiting == set()
        assert at.journal.failed.count == 1
        assert at.journal.noted == {}


def test_a_refused_batch_is_one_failure() -> None:
    with desk(BatchServer("openai", faults={"create": [400]})) as at:
        assert isinstance(at.run().reason, TextsRefused)
        assert at.journal.failed.count == 1


def test_404_at_create_stops_batches(service: Service) -> None:
    with desk(BatchServer(service, faults={"create": [404]})) as at:
        assert isinstance(at.run().reason, ProviderUnusable)
        assert at.journal.failed.count == 2
        assert at.journal.noted == {}


def test_a_lost_answer_to_create_hands_in_nothing_twice(service: Service) -> None:
    with desk(BatchServer(service, faults={"create": ["lost"]})) as at:
        at.run()
        assert_all_kept_once(at)
        assert at.server.handed == list(at.texts.values())


def test_a_lost_answer_and_no_list_leave_the_texts_waiting(service: Service) -> None:
    with desk(BatchServer(service, faults={"create": ["lost"], "list": [500] * 8})) as at:
        outcome = at.run()
        assert outcome.waiting == at.texts.keys()
        assert isinstance(outcome.reason, ProviderUnreachable)
        at.run()
        assert_all_kept_once(at)
        assert at.server.handed == list(at.texts.values())


def test_a_wrong_key_is_no_failure_of_batches() -> None:
    with desk(BatchServer("openai")) as at, api_of(at.server, key="wrong") as locked_out:
        at.api = locked_out
        assert isinstance(at.run().reason, ProviderUnusable)
        assert at.journal.failed.count == 0


def test_a_wrong_key_does_not_lose_a_batch() -> None:
    with desk(BatchServer("openai")) as at, api_of(at.server, key="wrong") as locked_out:
        right = at.api
        at.settings = QUIET
        at.run()
        at.api = locked_out
        assert at.run().waiting == at.texts.keys()
        at.api, at.settings = right, replace(QUIET, wait=True)
        at.run()
        assert_all_kept_once(at)
        assert len(at.server.batches) == 1


def test_a_batch_that_the_service_forgot_is_one_failure(service: Service) -> None:
    with desk(BatchServer(service)) as at:
        at.settings = QUIET
        at.run()
        at.server.batches.clear()
        outcome = at.run()
        assert "no longer known" in str(outcome.reason)
        assert at.journal.failed.count == 1


def test_a_network_that_fails_for_a_while_does_no_harm(service: Service) -> None:
    with desk(BatchServer(service, faults={"poll": [500] * 12, "download": ["cut", 500, "cut"]})) as at:
        at.run()
        assert_all_kept_once(at)


def test_a_network_that_stays_away_leaves_the_batch_to_a_later_run(service: Service) -> None:
    with desk(BatchServer(service, faults={"poll": [503] * 20})) as at:
        outcome = at.run()
        assert isinstance(outcome.reason, ProviderUnreachable)
        assert outcome.waiting == at.texts.keys()
        assert at.journal.failed.count == 0
        at.run()
        assert_all_kept_once(at)
        assert len(at.server.batches) == 1


def test_a_batch_that_cannot_be_fetched_for_two_days_is_given_up() -> None:
    with desk(BatchServer("openai", polls=0, faults={"download": [500] * 100})) as at:
        at.settings = QUIET
        at.run()
        at.now += 2 * DAY + 1
        assert not at.run().waiting
        assert at.journal.noted == {}


def test_what_came_before_a_download_broke_off_is_kept(service: Service) -> None:
    with desk(BatchServer(service, polls=0, faults={"download": ["cut"]})) as at:
        at.settings = QUIET
        at.run()
        assert at.run().waiting
        assert 0 < len(at.journal.kept) < 10


def test_a_batch_of_which_an_earlier_run_kept_all_but_a_bad_text_is_no_failure() -> None:
    with desk(BatchServer("openai", polls=0)) as at:
        at.server.fails = {at.texts["note-key-4"]: "unreadable"}
        at.settings = QUIET
        at.run()
        at.journal.kept = {key: b"" for key in at.texts if key != "note-key-4"}
        outcome = at.run()
        assert outcome.refused.keys() == {"note-key-4"}
        assert at.journal.failed.count == 0


def test_upload_that_fails_leaves_nothing_behind() -> None:
    with desk(BatchServer("openai", faults={"upload": [500] * 4})) as at:
        at.meter = CountingMeter()
        outcome = at.run()
        assert isinstance(outcome.reason, ProviderUnreachable)
        assert (outcome.waiting, at.journal.noted, at.meter.spent) == (set(), {}, 0)
