"""A service that cannot be reached is not waited for again and again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from memlines.embed.base import embed_documents, embed_query
from memlines.embed.remote import errors
from memlines.errors import ProviderUnreachable
from tests.embed.fake_service import ProviderServer, impatient, provider_server, remote

pytestmark = pytest.mark.promise("P6")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderServer]:
    impatient(monkeypatch)
    with provider_server("openai-compatible") as server:
        server.always = "reset"
        yield server


def test_a_second_question_is_refused_at_once(server: ProviderServer) -> None:
    provider = remote(server)
    for _ in range(2):
        with pytest.raises(ProviderUnreachable):
            embed_query(provider, "okapi")
    count = len(server.requests)
    with pytest.raises(ProviderUnreachable):
        embed_query(provider, "okapi")
    assert len(server.requests) == count


def test_a_sync_that_was_asked_for_tries_all_the_same(server: ProviderServer) -> None:
    provider = remote(server)
    with pytest.raises(ProviderUnreachable):
        embed_query(provider, "okapi")
    server.always = None
    assert embed_documents(provider, ["okapi"]).shape == (1, 8)


def test_passages_that_somebody_waits_for_are_refused_at_once(server: ProviderServer) -> None:
    provider = remote(server)
    with pytest.raises(ProviderUnreachable) as first:
        embed_query(provider, "okapi")
    count = len(server.requests)
    with pytest.raises(ProviderUnreachable) as second:
        embed_documents(provider.with_deadline(), ["okapi"])
    assert (len(server.requests), str(second.value)) == (count, str(first.value))


def test_a_service_that_answers_again_is_asked_again(server: ProviderServer) -> None:
    provider = remote(server)
    with pytest.raises(ProviderUnreachable):
        embed_query(provider, "okapi")
    server.always = None
    embed_documents(provider, ["okapi"])
    assert embed_query(provider, "okapi").shape == (8,)


def test_after_a_while_it_is_asked_again(server: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "_OUTAGE_SECONDS", 0.0)
    provider = remote(server)
    with pytest.raises(ProviderUnreachable):
        embed_query(provider, "okapi")
    server.always = None
    assert embed_query(provider, "okapi").shape == (8,)
