"""The limits of the settings on what a provider may cost, held before anything is sent.

Limits of a day are counted over all providers and workspaces of a person, in the ledger. Limits of a run
are counted here. What a request will cost is estimated before it is sent and put right when the service
has said what it counted, so a limit can be passed by no more than what the estimates fall short.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from memlines.embed.base import Use
from memlines.embed.spending.ledger import Account, Ledger, Spent
from memlines.embed.spending.prices import FREE_PROVIDERS, in_dollars, price_of
from memlines.errors import SpendLimit
from memlines.settings import Spend

_COMPARED_DIGITS = 9
"""Digits of a dollar that are compared with a limit; what is below comes from adding fractions."""


@dataclass(frozen=True, slots=True)
class _Reservation:
    day: str
    run: int


@dataclass(frozen=True, slots=True)
class _Limit:
    """A limit, what counts against it already, and what a request would add to that."""

    name: str
    most: float
    before: float
    cost: float

    @property
    def is_passed(self) -> bool:
        return round(self.before + self.cost, _COMPARED_DIGITS) > self.most

    def amount(self, number: float) -> str:
        return f"{number:,} tokens" if "tokens" in self.name else in_dollars(number)


class Budget:
    """What one model of one provider may still cost; safe to call from several threads.

    Questions count for the day and not for the run. Providers that run on the user's own machines cost
    nothing and are neither counted nor limited, unless `spend.prices` names a price for the model.
    """

    def __init__(self, spend: Spend, provider: str, model: str, ledger: Ledger) -> None:
        """Begin with a new run; a price in the settings that is none raises a `SettingsError`."""
        self.provider = provider
        self.model = model
        self.price = price_of(provider, model, spend)
        self._spend = spend
        self.ledger = ledger
        self._free = provider in FREE_PROVIDERS and self.price is not None and not self.price.dollars
        self._lock = threading.Lock()
        self._run_number = 0
        self._run = Spent()
        self._open: defaultdict[tuple[int, Use], list[_Reservation]] = defaultdict(list)

    def begin_run(self) -> None:
        """Begin to count what another run costs."""
        with self._lock:
            self._run_number += 1
            self._run = Spent()

    def reserve(self, tokens: int, use: Use = "passages") -> None:
        """Count tokens that are about to be sent, or raise `SpendLimit` if they are too many."""
        if self._free:
            return
        cost = self._cost(tokens, use)
        with self._lock:
            day = self.ledger.add(
                self.provider, self.model, cost, lambda today: self._check(cost, use, today)
            )
            if use != "query":
                self._run += cost
            self._open[tokens, use].append(_Reservation(day, self._run_number))

    def settle(self, reserved: int, used: int, use: Use = "passages") -> None:
        """Put what was really used in the place of what was reserved; 0 if nothing was sent.

        A reservation that another process made, such as that for a batch which this one fetches, is only
        ever raised: the day to take the rest from is not known.
        """
        if self._free:
            return
        difference = self._cost(used, use) - self._cost(reserved, use)
        with self._lock:
            reservation = self._closed(reserved, use)
            if used == reserved:
                return
            if reservation is not None:
                self.ledger.correct(Account(reservation.day, self.provider, self.model), difference)
                if use != "query" and reservation.run == self._run_number:
                    self._run += difference
            elif used > reserved:
                self.ledger.add(self.provider, self.model, difference)

    def refusal(self, tokens: int, use: Use = "passages") -> SpendLimit | None:
        """Return what would stop the present run if it sent so many tokens now; nothing is counted."""
        if self._free:
            return None
        try:
            with self._lock:
                self._check(self._cost(tokens, use), use, self.ledger.today())
        except SpendLimit as limit:
            return limit
        return None

    def cost(self, tokens: int, use: Use = "passages") -> float | None:
        """Return what so many tokens cost in US dollars; `None` if the price is not known."""
        return None if self.price is None else self.price.cost(tokens, in_batch=use == "batch")

    def _closed(self, tokens: int, use: Use) -> _Reservation | None:
        """Return the oldest open reservation of so many tokens, which is open no longer."""
        waiting = self._open[tokens, use]
        reservation = waiting.pop(0) if waiting else None
        if not waiting:
            del self._open[tokens, use]
        return reservation

    def _cost(self, tokens: int, use: Use) -> Spent:
        """Return what one request of so many tokens comes to; without tokens there was none."""
        requests = 1 if tokens else 0
        if self.price is None:
            return Spent(tokens, requests, unknown_price_tokens=tokens)
        dollars = self.price.cost(tokens, in_batch=use == "batch")
        return Spent(tokens, requests, dollars, self.price.cost(tokens) - dollars)

    def _check(self, cost: Spent, use: Use, today: Spent) -> None:
        """Raise `SpendLimit` if a cost would pass a limit."""
        for limit in self._limits(cost, use, today):
            if self.price is None and "tokens" not in limit.name:
                other = limit.name.replace("max_per", "max_tokens_per")
                raise SpendLimit(
                    f"{limit.name} is set, but what {self.provider} charges for the model {self.model!r} is"
                    " not known, so nothing is sent",
                    todo=f"Give its price in spend.prices, or set {other} instead; {_meanwhile(use)}",
                )
            if limit.is_passed:
                raise _refused(limit, self.provider, use)

    def _limits(self, cost: Spent, use: Use, today: Spent) -> Iterator[_Limit]:
        """Yield the limits that are set and concern this use."""
        spend = self._spend
        if spend.max_per_day is not None:
            yield _Limit("spend.max_per_day", spend.max_per_day, today.dollars, cost.dollars)
        if spend.max_tokens_per_day is not None:
            yield _Limit("spend.max_tokens_per_day", spend.max_tokens_per_day, today.tokens, cost.tokens)
        if spend.max_per_run is not None and use != "query":
            yield _Limit("spend.max_per_run", spend.max_per_run, self._run.dollars, cost.dollars)
        if spend.max_tokens_per_run is not None and use != "query":
            yield _Limit("spend.max_tokens_per_run", spend.max_tokens_per_run, self._run.tokens, cost.tokens)


def _refused(limit: _Limit, provider: str, use: Use) -> SpendLimit:
    by_day = limit.name.endswith("_day")
    when = "today" if by_day else "in this run"
    wait = "wait for the next day (UTC)" if by_day else "run it again"
    return SpendLimit(
        f"the limit {limit.name} of {limit.amount(limit.most)} would be passed: {limit.amount(limit.before)}"
        f" went {when}, and what is next for {provider} would be about {limit.amount(limit.cost)}",
        todo=f"Raise {limit.name} or {wait}; {_meanwhile(use)}",
    )


def _meanwhile(use: Use) -> str:
    return f"{'search goes' if use == 'query' else 'the rest waits and is found'} by words meanwhile"
