"""Rerankers over the network: what each service is sent, what its replies mean, and what goes wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memlines.embed.rerank.remote import RemoteReranker
from memlines.embed.spending.budget import Budget, price_of
from memlines.embed.spending.ledger import Ledger
from memlines.errors import (
    EmbeddingError,
    ProviderUnreachable,
    ProviderUnusable,
    QuotaExceeded,
    SpendLimit,
)
from memlines.settings.rerank import Rerank
from memlines.settings.tree import Spend
from memlines.text.redaction import rules_of
from tests.embed.fake_reranker import PROTOCOLS, Fault, Protocol, ask, remote, rerank_server, score_of
from tests.embed.fake_service import KEY, Status

QUERY = "which database for billing"
TEXTS = ["the train was late", "a database for billing", "billing is late"]
SCORES = [score_of(QUERY, text) for text in TEXTS]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_service_gives_its_scores_in_the_order_of_the_texts(protocol: Protocol) -> None:
    with rerank_server(protocol) as server:
        assert ask(remote(server), QUERY, TEXTS) == SCORES


@pytest.mark.parametrize(
    ("protocol", "path", "body"),
    [
        ("voyage", "/v1/rerank", {"model": "rerank-2.5"}),
        ("cohere", "/v2/rerank", {"model": "rerank-v4.0-fast"}),
        ("jina", "/v1/rerank", {"model": "jina-reranker-v3", "return_documents": False}),
        ("llama.cpp", "/v1/rerank", {}),
        ("vllm", "/rerank", {}),
        ("infinity", "/rerank", {}),
    ],
)
def test_each_service_is_asked_in_its_own_words(protocol: Protocol, path: str, body: dict[str, Any]) -> None:
    with rerank_server(protocol) as server:
        ask(remote(server), QUERY, TEXTS)
        (seen,) = server.requests

        assert (seen.path, seen.body) == (path, {"query": QUERY, "documents": TEXTS, **body})
        assert seen.headers["authorization"] == f"Bearer {KEY}"
        assert seen.headers["content-type"] == "application/json"


def test_a_server_that_says_texts_is_asked_so_from_then_on() -> None:
    with rerank_server("tei") as server:
        reranker = remote(server)
        ask(reranker, QUERY, TEXTS)
        ask(reranker, QUERY, TEXTS)

        assert [sorted(seen.body) for seen in server.requests] == [
            ["documents", "query"],
            ["query", "texts", "truncate"],
            ["query", "texts", "truncate"],
        ]


def test_the_model_of_the_settings_is_named() -> None:
    with rerank_server("vllm") as server:
        ask(remote(server, model=" bge-reranker-v2-m3 "), QUERY, TEXTS)
        assert server.requests[0].body["model"] == "bge-reranker-v2-m3"


@pytest.mark.parametrize("protocol", ["voyage", "cohere", "jina", "llama.cpp"])
def test_a_wrong_key_is_named_as_the_setting_to_check(protocol: Protocol) -> None:
    with rerank_server(protocol) as server, pytest.raises(ProviderUnusable) as caught:
        ask(remote(server, api_key="wrong-key-0123456789"), QUERY, TEXTS)

    assert "does not accept the key" in caught.value.what
    assert caught.value.todo == "Check rerank.api_key and what the key may do"
    assert "wrong-key" not in str(caught.value)


def test_a_wrong_address_is_named_as_the_setting_to_check() -> None:
    with rerank_server("vllm") as server, pytest.raises(ProviderUnusable) as caught:
        ask(remote(server, base_url=f"{server.url}/v9"), QUERY, TEXTS)

    assert caught.value.todo == "Check rerank.model and rerank.base_url"


def test_too_many_requests_are_not_tried_again() -> None:
    with rerank_server("voyage") as server:
        server.fault = Status(429, "rate limit reached", headers={"retry-after": "0"})
        with pytest.raises(QuotaExceeded):
            ask(remote(server), QUERY, TEXTS)
        assert len(server.requests) == 1


def test_a_refusal_that_repeats_a_text_is_not_quoted() -> None:
    with rerank_server("cohere") as server:
        server.fault = Status(400, f"the document {TEXTS[1]!r} is bad")
        with pytest.raises(EmbeddingError) as caught:
            ask(remote(server), QUERY, TEXTS)

    assert TEXTS[1] not in str(caught.value)


def test_a_silent_server_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memlines.embed.rerank.remote._GRACE_SECONDS", 0.05)
    with rerank_server("jina") as server:
        server.fault = "silent"
        with pytest.raises(ProviderUnreachable, match="did not answer in time"):
            ask(remote(server), QUERY, TEXTS, seconds=0.1)


@pytest.mark.parametrize("protocol", ["voyage", "tei"])
@pytest.mark.parametrize("fault", ["html", "shape", "count", "duplicate", "text", "infinite", "digits"])
def test_a_reply_without_one_score_a_text_is_refused(protocol: Protocol, fault: Fault) -> None:
    with rerank_server(protocol) as server:
        server.fault = fault
        with pytest.raises(ProviderUnreachable):
            ask(remote(server), QUERY, TEXTS)


@pytest.mark.parametrize(
    ("settings", "todo"),
    [
        (Rerank(provider="voyage"), "Set rerank.api_key, or the variable VOYAGE_API_KEY"),
        (Rerank(provider="cohere"), "Set rerank.api_key, or the variable COHERE_API_KEY or CO_API_KEY"),
        (Rerank(provider="jina"), "Set rerank.api_key, or the variable JINA_API_KEY"),
        (Rerank(provider="openai-compatible"), "Set rerank.base_url"),
        (
            Rerank(provider="openai-compatible", base_url="nonsense"),
            "Set rerank.base_url to something like https://api.example.com/v1",
        ),
        (
            Rerank(provider="jina", base_url="http://example.com", api_key="k"),
            "Use an https address in rerank.base_url",
        ),
    ],
)
def test_what_is_missing_is_said_before_anything_is_sent(settings: Rerank, todo: str) -> None:
    with pytest.raises(ProviderUnusable) as caught:
        RemoteReranker(settings, None, {})

    assert caught.value.todo == todo


def test_a_key_comes_from_the_variable_of_the_service() -> None:
    with rerank_server("cohere") as server:
        settings = Rerank(provider="cohere", base_url=server.url)
        ask(RemoteReranker(settings, None, {"CO_API_KEY": KEY}), QUERY, TEXTS)
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_secrets_are_taken_out_of_what_leaves_the_machine() -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    with rerank_server("vllm") as server:
        reranker = RemoteReranker(
            Rerank(provider="openai-compatible", base_url=server.url, api_key=KEY), None, {}, rules_of(())
        )
        ask(reranker, QUERY, [f"the token is {secret}"])
        reranker.sends_to = "elsewhere"  # as if the server were not on this machine
        ask(reranker, f"who has {secret}", [f"the token is {secret}"])
        here, away = (str(seen.body) for seen in server.requests)

        assert secret in here
        assert secret not in away


# What it costs


def budget(folder: Path, provider: str, model: str, **limits: Any) -> Budget:
    return Budget(Spend(**limits), provider, model, Ledger(folder / "spending.json"))


def test_tokens_are_those_that_the_service_counts(tmp_path: Path) -> None:
    with rerank_server("voyage") as server:
        meter = budget(tmp_path, "voyage", "rerank-2.5")
        ask(remote(server, meter), QUERY, TEXTS)

        assert meter.ledger.today().tokens == sum(len(text.split()) for text in TEXTS)


def test_a_search_of_cohere_costs_the_same_however_long_the_texts_are(tmp_path: Path) -> None:
    with rerank_server("cohere") as server:
        meter = budget(tmp_path, "cohere", "rerank-v4.0-pro")
        ask(remote(server, meter), QUERY, TEXTS)
        ask(remote(server, meter), QUERY, TEXTS * 5)

        assert meter.ledger.today().dollars == 2 * 0.0025


def test_a_request_that_failed_costs_nothing(tmp_path: Path) -> None:
    with rerank_server("cohere") as server:
        server.fault = Status(500)
        meter = budget(tmp_path, "cohere", "rerank-v4.0-pro")
        with pytest.raises(ProviderUnreachable):
            ask(remote(server, meter), QUERY, TEXTS)

        assert (meter.ledger.today().dollars, meter.ledger.today().tokens) == (0, 0)


def test_above_the_limit_of_the_day_nothing_is_sent(tmp_path: Path) -> None:
    with rerank_server("cohere") as server:
        meter = budget(tmp_path, "cohere", "rerank-v4.0-fast", max_per_day=0.003)
        ask(remote(server, meter), QUERY, TEXTS)
        with pytest.raises(SpendLimit) as caught:
            ask(remote(server, meter), QUERY, TEXTS)

        assert len(server.requests) == 1
        assert caught.value.todo.endswith("hits keep their usual order meanwhile")


def test_a_limit_of_a_run_is_not_for_reranking(tmp_path: Path) -> None:
    with rerank_server("voyage") as server:
        meter = budget(tmp_path, "voyage", "rerank-2.5", max_tokens_per_run=1)
        assert ask(remote(server, meter), QUERY, TEXTS) == SCORES


def test_your_own_price_takes_the_place_of_that_of_a_search() -> None:
    price = price_of("cohere", "rerank-v4.0-pro", Spend(prices=(("rerank-v4.0-pro", "0.05"),)))
    assert price is not None
    assert price.cost(1_000_000) == 0.05
