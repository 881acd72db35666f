"""What the services charge for embeddings: list prices as of November 2026.

Services change their prices, give free tokens and agree on other prices; `spend.prices` says what
is really paid. Gateways and private servers are used through `openai-compatible`; a model that
one of the services sells counts there as if it came from that service.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from memlines.errors import SettingsError
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
