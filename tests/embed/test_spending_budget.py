"""The budget: limits hold before anything is sent, whoever else is sending."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from typing import get_args

import pytest

from memlines.embed.base import Meter, Use
from memlines.embed.spending.budget import Budget
from memlines.embed.spending.ledger import Ledger, Spent
from memlines.errors import SettingsError, SpendLimit
from memlines.settings.tree import Spend

MILLION = 1_000_000
A_DOLLAR_A_MILLION = (("model", "1"),)


def budget(
    *,
    provider: str = "openai",
    model: str = "model",
    max_per_day: float | None = None,
    max_per_run: float | None = None,
    max_tokens_per_day: int | None = None,
    max_tokens_per_run: int | None = None,
    prices: tuple[tuple[str, str], ...] = A_DOLLAR_A_MILLION,
    ledger: Ledger | None = None,
) -> Budget:
    spend = Spend(max_per_day, max_per_run, max_tokens_per_day, max_tokens_per_run, prices)
    return Budget(spend, provider, model, ledger or Ledger())


def test_a_budget_is_a_meter_of_every_use() -> None:
    meter: Meter = budget()
    for use in get_args(Use):
        meter.reserve(1, use)
        meter.settle(1, 1, use)


def test_without_limits_everything_is_allowed_and_counted() -> None:
    mine = budget()
    mine.reserve(3 * MILLION)
    assert Ledger().today() == Spent(3 * MILLION, 1, 3.0)


def test_a_question_without_limits_is_counted_when_it_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[object] = []
    monkeypatch.setattr(Ledger, "_write", lambda _, accounts: written.append(accounts))
    mine = budget()
    mine.reserve(MILLION, "query")
    mine.settle(MILLION, 2 * MILLION, "query")
    assert len(written) == 1


def test_a_question_without_limits_is_counted_by_what_it_used() -> None:
    mine = budget()
    mine.reserve(MILLION, "query")
    mine.settle(MILLION, 2 * MILLION, "query")
    assert Ledger().today() == Spent(2 * MILLION, 1, 2.0)


def test_a_question_that_was_not_answered_is_not_counted() -> None:
    mine = budget()
    mine.reserve(MILLION, "query")
    mine.settle(MILLION, 0, "query")
    assert Ledger().today() == Spent()


def test_a_limit_may_be_used_up() -> None:
    mine = budget(max_per_day=0.3)
    for _ in range(3):
        mine.reserve(MILLION // 10)
    assert Ledger().today().dollars == 0.3


@pytest.mark.parametrize(
    "limit",
    [
        {"max_per_day": 0.3},
        {"max_per_run": 0.3},
        {"max_tokens_per_day": 300_000},
        {"max_tokens_per_run": 300_000},
    ],
)
def test_what_would_pass_a_limit_is_refused_and_not_counted(limit: dict[str, float]) -> None:
    mine = budget(**limit)  # type: ignore[arg-type]
    mine.reserve(200_000)
    with pytest.raises(SpendLimit, match=f"spend.{next(iter(limit))}"):
        mine.reserve(100_001)
    assert Ledger().today().tokens == 200_000


def test_a_refusal_says_what_was_spent_and_what_would_be() -> None:
    mine = budget(max_per_day=0.5)
    mine.reserve(480_000)
    with pytest.raises(SpendLimit) as refused:
        mine.reserve(30_000)
    assert refused.value.what == (
        "the limit spend.max_per_day of $0.50 would be passed: $0.48 went today, and what is next for openai"
        " would be about $0.03"
    )


def test_a_refusal_says_what_to_do_and_what_becomes_of_the_rest() -> None:
    with pytest.raises(SpendLimit) as refused:
        budget(max_tokens_per_day=10).reserve(11)
    assert refused.value.todo == (
        "Raise spend.max_tokens_per_day or wait for the next day (UTC); the rest waits and is found by words"
        " meanwhile"
    )


def test_a_smaller_request_may_still_fit() -> None:
    mine = budget(max_tokens_per_day=100)
    mine.reserve(90)
    with pytest.raises(SpendLimit):
        mine.reserve(20)
    mine.reserve(10)
    assert Ledger().today().tokens == 100


def test_a_limit_of_nothing_allows_nothing() -> None:
    with pytest.raises(SpendLimit):
        budget(max_per_day=0).reserve(1)


def test_other_providers_count_for_the_same_day() -> None:
    budget(provider="voyage", model="other", prices=(("other", "1"),)).reserve(MILLION)
    with pytest.raises(SpendLimit, match=r"\$1\.00 went today"):
        budget(max_per_day=1.5).reserve(MILLION)


def test_a_new_day_brings_a_new_limit() -> None:
    days = [date(2026, 3, 1)]
    mine = budget(max_tokens_per_day=10, ledger=Ledger(today=lambda: days[-1]))
    mine.reserve(10)
    days.append(days[-1] + timedelta(days=1))
    mine.reserve(10)
    assert Ledger().total().tokens == 20


def test_a_new_run_begins_with_nothing() -> None:
    mine = budget(max_tokens_per_run=10)
    mine.reserve(10)
    mine.begin_run()
    mine.reserve(10)
    assert Ledger().today().tokens == 20


def test_a_new_run_does_not_begin_a_new_day() -> None:
    mine = budget(max_tokens_per_day=10)
    mine.reserve(10)
    mine.begin_run()
    with pytest.raises(SpendLimit):
        mine.reserve(1)


def test_questions_are_asked_when_the_run_is_at_its_limit() -> None:
    mine = budget(max_tokens_per_run=10)
    mine.reserve(10)
    mine.reserve(5, "query")
    assert Ledger().today().tokens == 15


def test_questions_take_nothing_from_the_run() -> None:
    mine = budget(max_tokens_per_run=10)
    mine.reserve(5, "query")
    mine.reserve(10)
    assert Ledger().today().tokens == 15


def test_questions_count_for_the_day() -> None:
    mine = budget(max_tokens_per_day=10)
    mine.reserve(10)
    with pytest.raises(SpendLimit, match="search goes by words meanwhile"):
        mine.reserve(1, "query")


def test_what_was_not_used_may_be_used_after_all() -> None:
    mine = budget(max_tokens_per_day=10, max_tokens_per_run=10)
    mine.reserve(10)
    mine.settle(10, 4)
    mine.reserve(6)
    assert Ledger().today().tokens == 10


def test_what_was_used_beyond_the_estimate_counts() -> None:
    mine = budget(max_tokens_per_day=10)
    mine.reserve(9)
    mine.settle(9, 12)
    with pytest.raises(SpendLimit, match="12 tokens went today"):
        mine.reserve(1)


def test_what_was_never_sent_leaves_no_trace() -> None:
    mine = budget()
    mine.reserve(10)
    mine.settle(10, 0)
    assert Ledger().today() == Spent()


def test_what_is_settled_after_midnight_belongs_to_the_day_before() -> None:
    days = [date(2026, 3, 1)]
    ledger = Ledger(today=lambda: days[-1])
    mine = budget(ledger=ledger)
    mine.reserve(10)
    days.append(days[-1] + timedelta(days=1))
    mine.reserve(5)
    mine.settle(10, 2)
    assert {account.day: spent.tokens for account, spent in ledger.accounts().items()} == {
        "2026-03-01": 2,
        "2026-03-02": 5,
    }


def test_what_is_settled_after_a_run_takes_nothing_from_the_next() -> None:
    mine = budget(max_tokens_per_run=10)
    mine.reserve(10)
    mine.begin_run()
    mine.settle(10, 0)
    mine.reserve(10)
    with pytest.raises(SpendLimit):
        mine.reserve(1)


def test_settling_what_another_process_reserved_never_lowers_the_day() -> None:
    budget().reserve(10, "batch")
    budget().settle(10, 2, "batch")
    assert Ledger().today().tokens == 10


def test_settling_what_another_process_reserved_counts_what_it_fell_short() -> None:
    budget().reserve(10, "batch")
    budget().settle(10, 12, "batch")
    assert Ledger().today().tokens == 12


def test_a_batch_costs_less_and_the_rest_is_saved() -> None:
    budget(provider="voyage").reserve(MILLION, "batch")
    assert Ledger().today() == Spent(MILLION, 1, 0.67, 0.33)


def test_what_a_batch_used_puts_its_savings_right() -> None:
    mine = budget()
    mine.reserve(MILLION, "batch")
    mine.settle(MILLION, MILLION // 2, "batch")
    assert Ledger().today() == Spent(MILLION // 2, 1, 0.25, 0.25)


def test_a_batch_counts_for_the_run() -> None:
    mine = budget(max_per_run=0.5)
    mine.reserve(MILLION, "batch")
    with pytest.raises(SpendLimit, match=r"spend\.max_per_run"):
        mine.reserve(1)


@pytest.mark.parametrize("limit", ["max_per_day", "max_per_run"])
def test_a_limit_in_money_stops_a_model_of_unknown_price(limit: str) -> None:
    mine = budget(provider="openai-compatible", prices=(), **{limit: 5.0})  # type: ignore[arg-type]
    with pytest.raises(SpendLimit, match=f"spend.prices, or set spend.{limit.replace('per', 'tokens_per')}"):
        mine.reserve(1)
    assert Ledger().today() == Spent()


def test_a_limit_of_the_run_in_money_does_not_stop_questions_of_unknown_price() -> None:
    budget(provider="openai-compatible", prices=(), max_per_run=5.0).reserve(1, "query")
    assert Ledger().today().tokens == 1


def test_a_limit_in_tokens_holds_for_a_model_of_unknown_price() -> None:
    mine = budget(provider="openai-compatible", prices=(), max_tokens_per_day=10)
    mine.reserve(10)
    with pytest.raises(SpendLimit):
        mine.reserve(1)


def test_tokens_of_unknown_price_are_counted_apart() -> None:
    budget(provider="openai-compatible", prices=()).reserve(10)
    assert Ledger().today() == Spent(10, 1, unknown_price_tokens=10)


@pytest.mark.parametrize("provider", ["builtin", "local", "ollama"])
def test_a_provider_of_ones_own_is_neither_counted_nor_limited(provider: str) -> None:
    mine = budget(provider=provider, prices=(), max_tokens_per_day=0, max_per_day=0)
    mine.reserve(10)
    mine.settle(10, 20)
    assert Ledger().today() == Spent()


def test_a_price_in_the_settings_that_is_none_is_an_error_at_once() -> None:
    with pytest.raises(SettingsError):
        budget(prices=(("model", "much"),))


def test_a_refusal_can_be_foreseen() -> None:
    mine = budget(max_tokens_per_run=10)
    refusal = mine.refusal(11)
    assert refusal is not None
    assert "spend.max_tokens_per_run" in refusal.what


def test_what_fits_is_not_refused_and_not_counted() -> None:
    assert budget(max_tokens_per_run=10).refusal(10) is None
    assert Ledger().today() == Spent()


def test_a_batch_is_foreseen_at_its_own_price() -> None:
    assert budget(max_per_day=0.5).refusal(MILLION, "batch") is None


def reserved(mine: Budget, tokens: int) -> int:
    try:
        mine.reserve(tokens)
    except SpendLimit:
        return 0
    return tokens


def test_eight_threads_use_a_limit_up_and_never_pass_it() -> None:
    mine = budget(max_tokens_per_day=1000)
    with ThreadPoolExecutor(8) as pool:
        granted = sum(pool.map(lambda _: reserved(mine, 7), range(200)))
    assert (granted, Ledger().today().tokens) == (994, 994)


def test_threads_with_budgets_of_their_own_never_pass_a_limit() -> None:
    budgets = [budget(max_tokens_per_day=1000) for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        granted = sum(pool.map(lambda number: reserved(budgets[number % 8], 7), range(200)))
    assert (granted, Ledger().today().tokens) == (994, 994)


PROCESS = """\
import sys
from memlines.errors import SpendLimit
from memlines.settings.tree import Spend
from memlines.embed.spending.budget import Budget
from memlines.embed.spending.ledger import Ledger
mine = Budget(Spend(max_per_day=0.01, prices=(("model", "1"),)), "openai", "model", Ledger())
granted = 0
sys.stdin.readline()
try:
    for _ in range(100):
        mine.reserve(70)
        granted += 70
        mine.settle(70, 70)
except SpendLimit:
    pass
print(granted)
"""


def test_four_processes_use_a_limit_up_and_never_pass_it() -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", PROCESS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
        )
        for _ in range(4)
    ]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    granted = sum(int(process.communicate(timeout=60)[0]) for process in processes)
    assert (granted, Ledger().today().tokens) == (9940, 9940)
