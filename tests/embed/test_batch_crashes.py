"""A process may die anywhere: the next one goes on, nothing is paid twice and nothing is lost."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest

from memlines.embed.batches.base import BatchLimits
from memlines.settings.tree import Batch
from tests.embed.batch_runs import SERVICES, CountingMeter, Desk, Killed, desk
from tests.embed.fake_batches import BatchServer, Service, blob_of


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memlines.embed.remote.http.pause", lambda seconds: None)
    monkeypatch.setattr("memlines.index.sync.batches._SLICE", 2)


def dying_after(steps: int) -> Callable[[], None]:
    """Something to be called at every step, that lets this many pass."""
    left = steps

    def step() -> None:
        nonlocal left
        if left == 0:
            raise Killed
        left -= 1

    return step


def assert_complete(at: Desk) -> None:
    assert at.journal.kept == {key: blob_of(text) for key, text in at.texts.items()}
    assert set(at.journal.times_kept.values()) == {1}
    assert sorted(at.server.handed) == sorted(at.texts.values())
    assert at.journal.noted == {}


@pytest.mark.parametrize("wait", [True, False])
@pytest.mark.parametrize("service", SERVICES)
def test_death_at_any_step_costs_nothing(
    service: Service, wait: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for steps in count(0, 1 if service == "openai" else 5):
        with desk(BatchServer(service, polls=1)) as at:
            at.settings = Batch(enabled=True, min_texts=1, wait=wait)
            monkeypatch.setattr(type(at.api), "limits", BatchLimits(4, 10**9))
            died = False
            try:
                at.run(step=dying_after(steps))
            except Killed:
                died = True
            for _ in range(8):
                at.run()
            assert_complete(at)
        if not died:
            break
    assert steps > 10


@pytest.mark.parametrize("service", SERVICES)
def test_death_again_and_again_costs_nothing(service: Service) -> None:
    with desk(BatchServer(service, polls=1)) as at:
        for steps in range(1, 60):
            try:
                at.run(step=dying_after(steps))
            except Killed:
                continue
            break
        assert_complete(at)


@pytest.mark.parametrize("service", SERVICES)
def test_progress_may_stop_a_run_at_any_moment(service: Service) -> None:
    for moment in count(1):
        with desk(BatchServer(service, polls=2)) as at:
            at.stop_at = moment
            try:
                at.run()
            except KeyboardInterrupt:
                at.run()
                stopped = True
            else:
                stopped = False
            assert_complete(at)
        if not stopped:
            break
    assert moment > 5


def test_death_in_the_middle_of_a_download_keeps_the_slices_before() -> None:
    with desk(BatchServer("openai", polls=0)) as at:
        at.settings = Batch(enabled=True, min_texts=1, wait=False)
        at.run()
        with pytest.raises(Killed):
            at.run(step=dying_after(9))
        assert 0 < len(at.journal.kept) < 10
        at.run()
        assert_complete(at)


@pytest.mark.parametrize("service", SERVICES)
def test_a_run_that_is_stopped_does_not_count_as_a_failure(service: Service) -> None:
    with desk(BatchServer(service, polls=5)) as at:
        at.stop_at = 4
        with pytest.raises(KeyboardInterrupt):
            at.run()
        assert at.journal.failed.count == 0
        assert len(at.journal.noted) == 1


def test_death_never_counts_tokens_too_low() -> None:
    for steps in range(0, 40, 3):
        with desk(BatchServer("openai", polls=1)) as at:
            at.meter = CountingMeter()
            try:
                at.run(step=dying_after(steps))
            except Killed:
                at.run()
            assert at.meter.spent >= 30
            assert_complete(at)
