"""What the services charge, and the limits on what a provider may cost, held before anything is sent.

The list prices are as of November 2026. Services change them, give free tokens and agree on other prices;
`spend.prices` says what is really paid. Gateways and private servers are used through `openai-compatible`; a
model that one of the services sells counts there as if it came from that service.

Limits of a day are counted over all providers and workspaces of a person, in the ledger. Limits of a run
are counted here. What a request will cost is estimated before it is sent and put right when the service
has said what it counted, so a limit can be passed by no more than what the estimates fall short.
"""

from __future__ import annotations

import math
import threading
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from memlines.embed.base import Use
from memlines.embed.spending.ledger import Account, Ledger, Spent
from memlines.errors import SettingsError, SpendLimit
from memlines.settings import Spend

_MILLION = 1_000_000

FREE_PROVIDERS = ("builtin", "local", "ollama")
"""They run on the user's own machines."""

_DOLLARS = {
    "openai": {
        "text-embedding-3-small": 0.02,
        "text-embedding-3-large": 0.13,
        "text-embedding-ada-002": 0.10,
    },
    "gemini": {
        "gemini-embedding-001": 0.15,
        "gemini-embedding-2": 0.20,
        "gemini-embedding-2-preview": 0.20,
    },
    "voyage": {
        "voyage-4-large": 0.12,
        "voyage-4": 0.06,
        "voyage-4-lite": 0.02,
        "voyage-3-large": 0.18,
        "voyage-3.5": 0.06,
        "voyage-3.5-lite": 0.02,
        "voyage-3": 0.06,
        "voyage-3-lite": 0.02,
        "voyage-code-3": 0.18,
        "voyage-finance-2": 0.12,
        "voyage-law-2": 0.12,
        "voyage-multilingual-2": 0.12,
    },
    "mistral": {
        "mistral-embed": 0.10,
        "codestral-embed": 0.15,
    },
}
"""US dollars for a million tokens, by provider and model."""

BATCH_SHARES = {"openai": 0.5, "gemini": 0.5, "voyage": 0.67}
"""What part of the price is paid for tokens in a batch, by those who take batches."""


@dataclass(frozen=True, slots=True)
class Price:
    """What a million tokens cost in US dollars, and what part of that is paid in a batch."""

    dollars: float
    batch_share: float = 1.0

    def cost(self, tokens: int, *, in_batch: bool = False) -> float:
        """Return what so many tokens cost in US dollars."""
        return tokens * self.dollars * (self.batch_share if in_batch else 1.0) / _MILLION


def price_of(provider: str, model: str, spend: Spend) -> Price | None:
    """Return what a model costs; `None` if that is not known."""
    name = model.removeprefix("models/")  # as Gemini's own lists write it
    share = BATCH_SHARES.get(provider, 1.0)
    own = _own_prices(spend)
    dollars = own.get(model, own.get(name))
    if dollars is None and provider in FREE_PROVIDERS:
        dollars = 0.0
    if dollars is None:
        dollars = _list_price(provider, name)
    return None if dollars is None else Price(dollars, share)


def _list_price(provider: str, model: str) -> float | None:
    if provider == "openai-compatible":
        return next((models[model] for models in _DOLLARS.values() if model in models), None)
    return _DOLLARS.get(provider, {}).get(model)


def _own_prices(spend: Spend) -> dict[str, float]:
    """Return the prices of the settings; one that is no price is an error, whatever model it is for."""
    prices: dict[str, float] = {}
    for model, text in spend.prices:
        try:
            dollars = float(text)
        except ValueError:
            dollars = math.nan
        if not (math.isfinite(dollars) and dollars >= 0):
            raise SettingsError(
                f"setting 'spend.prices' has {text!r} for {model!r}, which is no price",
                todo="Give US dollars for a million tokens, such as '0.05'",
            )
        prices[model] = dollars
    return prices


def in_dollars(amount: float) -> str:
    """Write an amount of US dollars with its cents, and with more digits only if it has them."""
    whole, _, fraction = f"{amount:,.6f}".partition(".")
    return f"${whole}.{fraction.rstrip('0').ljust(2, '0')}"


ASCII_CHARACTERS_PER_TOKEN = 4


def estimate(text: str) -> int:
    """Return about how many tokens a text has: one for four ASCII characters, one for every other.

    Rather too many than too few outside English, because a limit is held against this number
    before the service says what it really counted.
    """
    if text.isascii():
        return -(-len(text) // ASCII_CHARACTERS_PER_TOKEN)
    # Encoding with "ignore" drops what is not ASCII (lone surrogates too), many times faster than a loop.
    ascii_count = len(text.encode("ascii", "ignore"))
    return -(-ascii_count // ASCII_CHARACTERS_PER_TOKEN) + len(text) - ascii_count


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
