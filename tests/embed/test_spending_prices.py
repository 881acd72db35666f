"""Tokens and prices: what a text comes to before anybody has counted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.embed.spending.budget import Price, estimate, in_dollars, price_of
from memlines.errors import SettingsError
from memlines.settings.tree import Spend

NO_PRICES = Spend()


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("abcd", 1),
        ("abcde", 2),
        ("日本語", 3),
        ("naïve", 2),
        ("abcdé", 2),
        ("\ud800", 1),
    ],
)
def test_four_ascii_characters_are_a_token_and_any_other_is_one(text: str, tokens: int) -> None:
    assert estimate(text) == tokens


@given(st.text(st.characters(exclude_categories=()), max_size=200))
def test_an_estimate_counts_every_character_in_one_of_the_two_ways(text: str) -> None:
    ascii_count = sum(character < "\x80" for character in text)
    assert estimate(text) == (ascii_count + 3) // 4 + len(text) - ascii_count


@pytest.mark.parametrize(
    ("provider", "model", "dollars"),
    [
        ("openai", "text-embedding-3-small", 0.02),
        ("gemini", "models/gemini-embedding-001", 0.15),
        ("voyage", "voyage-4-lite", 0.02),
        ("mistral", "codestral-embed", 0.15),
    ],
)
def test_a_model_on_the_list_has_its_list_price(provider: str, model: str, dollars: float) -> None:
    price = price_of(provider, model, NO_PRICES)
    assert price is not None
    assert price.dollars == dollars


@pytest.mark.parametrize("provider", ["builtin", "local", "ollama"])
def test_a_provider_on_ones_own_machine_costs_nothing(provider: str) -> None:
    assert price_of(provider, "any-model", NO_PRICES) == Price(0.0)


@pytest.mark.parametrize("provider", ["openai", "gemini", "voyage", "mistral", "openai-compatible"])
def test_the_price_of_an_unknown_model_is_unknown(provider: str) -> None:
    assert price_of(provider, "any-model", NO_PRICES) is None


def test_a_gateway_is_taken_to_charge_what_the_maker_charges() -> None:
    assert price_of("openai-compatible", "voyage-code-3", NO_PRICES) == Price(0.18)


def test_a_price_in_the_settings_counts_before_the_list() -> None:
    spend = Spend(prices=(("text-embedding-3-small", "0.01"),))
    assert price_of("openai", "text-embedding-3-small", spend) == Price(0.01, 0.5)


def test_a_price_in_the_settings_makes_a_free_provider_cost_something() -> None:
    assert price_of("ollama", "big-cloud", Spend(prices=(("big-cloud", "1"),))) == Price(1.0)


@pytest.mark.parametrize("text", ["cheap", "-0.1", "nan", "inf", "", "0,05"])
def test_a_price_that_is_none_is_an_error_that_names_the_key(text: str) -> None:
    with pytest.raises(SettingsError, match=r"'spend\.prices' has .* for 'some-model'"):
        price_of("openai", "text-embedding-3-small", Spend(prices=(("some-model", text),)))


@pytest.mark.parametrize(("provider", "share"), [("openai", 0.5), ("gemini", 0.5), ("voyage", 0.67)])
def test_a_batch_costs_its_share(provider: str, share: float) -> None:
    price = price_of(provider, "mine", Spend(prices=(("mine", "2"),)))
    assert price is not None
    assert price.cost(500_000, in_batch=True) == pytest.approx(share)


def test_where_there_are_no_batches_nothing_is_saved() -> None:
    price = price_of("mistral", "mistral-embed", NO_PRICES)
    assert price is not None
    assert price.cost(1_000_000, in_batch=True) == price.cost(1_000_000)


@pytest.mark.parametrize(
    ("amount", "text"),
    [(0, "$0.00"), (0.5, "$0.50"), (0.125, "$0.125"), (0.000002, "$0.000002"), (1234.5, "$1,234.50")],
)
def test_dollars_are_written_with_as_many_digits_as_they_have(amount: float, text: str) -> None:
    assert in_dollars(amount) == text
