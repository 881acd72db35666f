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
from collections import defaultdict, deque
from typing import Literal

from memlines.embed.base import Use
from memlines.embed.spending.ledger import Account, Ledger, Spent
from memlines.errors import SettingsError, SpendLimit
from memlines.records import dataclass
from memlines.settings.tree import Spend

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
        "rerank-2.5": 0.05,
        "rerank-2.5-lite": 0.02,
        "rerank-2": 0.05,
        "rerank-2-lite": 0.02,
    },
    "mistral": {
        "mistral-embed": 0.10,
        "codestral-embed": 0.15,
    },
}
"""US dollars for a million tokens, by provider and model."""

_DOLLARS_A_SEARCH = {
    "cohere": {"rerank-v3.5": 0.002, "rerank-v4.0-fast": 0.002, "rerank-v4.0-pro": 0.0025},
}
"""US dollars for one request that reranks up to 100 texts, however long, by provider and model."""

BATCH_SHARES = {"openai": 0.5, "gemini": 0.5, "voyage": 0.67}
"""What part of the price is paid for tokens in a batch, by the services that offer batches."""


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens, the part of it that is paid in a batch, and dollars for a request."""

    dollars: float
    batch_share: float = 1.0
    a_request: float = 0.0

    def cost(self, tokens: int, *, in_batch: bool = False) -> float:
        """Return what a request of so many tokens costs in US dollars; without tokens there was none."""
        by_tokens = tokens * self.dollars * (self.batch_share if in_batch else 1.0) / _MILLION
        return by_tokens + self.a_request if tokens else 0.0


def price_of(provider: str, model: str, spend: Spend) -> Price | None:
    """Return what a model costs; `None` if that is not known.

    A price of the settings that is not a price is an error, whatever model it is for.
    """
    own: dict[str, float] = {}
    for priced, text in spend.prices:
        try:
            own[priced] = float(text)
        except ValueError:
            own[priced] = math.nan
        if not 0 <= own[priced] < math.inf:
            raise SettingsError(
                f"setting 'spend.prices' has {text!r} for {priced!r}, which is not a price",
                todo="Give US dollars for a million tokens, such as '0.05'",
            )
    name = model.removeprefix("models/")  # as Gemini's own lists write it
    dollars = own.get(model, own.get(name))
    if dollars is None and provider in FREE_PROVIDERS:
        dollars = 0.0
    if dollars is None:
        lists = _DOLLARS.values() if provider == "openai-compatible" else [_DOLLARS.get(provider, {})]
        dollars = next((models[name] for models in lists if name in models), None)
    if dollars is None and name in (searches := _DOLLARS_A_SEARCH.get(provider, {})):
        return Price(0.0, a_request=searches[name])
    return None if dollars is None else Price(dollars, BATCH_SHARES.get(provider, 1.0))


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


_LIMITS: tuple[tuple[str, Literal["dollars", "tokens"]], ...] = (
    ("max_per_day", "dollars"),
    ("max_tokens_per_day", "tokens"),
    ("max_per_run", "dollars"),
    ("max_tokens_per_run", "tokens"),
)
"""The settings of `spend` that are limits, and what they limit."""

_BY_DAY: dict[Use, str] = {"query": "search goes by words", "rerank": "hits keep their usual order"}
"""What is sent while a person waits, which limits of a run do not concern, and what happens without it."""


class Budget:
    """What one model of one provider may still cost; safe to call from several threads.

    Questions and reranking count for the day and not for the run, and without a limit only when they are
    answered, because each count is written to the disk while a person waits. Providers that run on the user's
    own machines cost nothing and are neither counted nor limited, unless `spend.prices` names a price for the
    model.
    """

    def __init__(self, spend: Spend, provider: str, model: str, ledger: Ledger) -> None:
        self.provider = provider
        self.model = model
        self.price = price_of(provider, model, spend)
        self._spend = spend
        self.ledger = ledger
        self._free = provider in FREE_PROVIDERS and self.price is not None and not self.price.dollars
        self._is_limited = any(getattr(spend, name) is not None for name, _ in _LIMITS)
        self._lock = threading.Lock()
        self._run_number = 0
        self._run = Spent()
        self._open: defaultdict[tuple[int, Use], deque[tuple[str, int]]] = defaultdict(deque)
        """The day and the run of every reservation that is not settled, by its tokens and use."""

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
            day = ""
            if use not in _BY_DAY or self._is_limited:
                day = self.ledger.add(
                    self.provider, self.model, cost, lambda today: self._check(cost, use, today)
                )
            if use not in _BY_DAY:
                self._run += cost
            self._open[tokens, use].append((day, self._run_number))

    def settle(self, reserved: int, used: int, use: Use = "passages") -> None:
        """Put what was really used in the place of what was reserved; 0 if nothing was sent.

        A reservation that another process made, such as that for a batch which this one fetches, is only
        ever raised: the day to take the rest from is not known.
        """
        if self._free:
            return
        difference = self._cost(used, use) - self._cost(reserved, use)
        with self._lock:
            waiting = self._open[reserved, use]
            day, run = waiting.popleft() if waiting else ("", -1)
            if not waiting:
                del self._open[reserved, use]
            if not day and run >= 0:
                if used:
                    self.ledger.add(self.provider, self.model, self._cost(used, use))
                return
            if used == reserved:
                return
            if day:
                self.ledger.correct(Account(day, self.provider, self.model), difference)
                if use not in _BY_DAY and run == self._run_number:
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

    def _cost(self, tokens: int, use: Use) -> Spent:
        """Return what one request of so many tokens comes to; without tokens there was none."""
        requests = 1 if tokens else 0
        if self.price is None:
            return Spent(tokens, requests, unknown_price_tokens=tokens)
        dollars = self.price.cost(tokens, in_batch=use == "batch")
        return Spent(tokens, requests, dollars, self.price.cost(tokens) - dollars)

    def _check(self, cost: Spent, use: Use, today: Spent) -> None:
        """Raise `SpendLimit` if a cost would pass a limit that is set and concerns this use."""
        meanwhile = f"{_BY_DAY.get(use, 'the rest waits and is found by words')} meanwhile"
        for name, unit in _LIMITS:
            most, by_day = getattr(self._spend, name), name.endswith("_day")
            if most is None or (use in _BY_DAY and not by_day):
                continue
            if self.price is None and unit == "dollars":
                raise SpendLimit(
                    f"spend.{name} is set, but what {self.provider} charges for the model {self.model!r} is"
                    " not known, so nothing is sent",
                    todo="Give its price in spend.prices, or set"
                    f" spend.{name.replace('max_per', 'max_tokens_per')} instead; {meanwhile}",
                )
            before, more = getattr(today if by_day else self._run, unit), getattr(cost, unit)
            if round(before + more, _COMPARED_DIGITS) <= most:
                continue
            limit, spent, next_cost = (
                in_dollars(amount) if unit == "dollars" else f"{amount:,} tokens"
                for amount in (most, before, more)
            )
            when, wait = (
                ("today", "wait for the next day (UTC)") if by_day else ("in this run", "run it again")
            )
            raise SpendLimit(
                f"the limit spend.{name} of {limit} would be passed: {spent} went {when}, and what is next"
                f" for {self.provider} would be about {next_cost}",
                todo=f"Raise spend.{name} or {wait}; {meanwhile}",
            )
