"""Requests to a service: what is tried again, when they end, and where a key never goes."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from email.utils import formatdate
from typing import Any

import httpx2
import pytest

from memlines.embed.remote import http
from memlines.embed.remote.deadlines import client as client_of
from memlines.embed.remote.http import Http, Patience
from memlines.errors import ProviderUnreachable, ProviderUnusable, QuotaExceeded
from tests.embed.fake_service import KEY, Fault, ProviderServer, Status, provider_server

SHORT = Patience(total=1, connect=1, retries=1)
LONG = Patience(total=30, connect=5, retries=3)
BODY = {"model": "m", "input": ["hello"]}


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    found: list[float] = []
    monkeypatch.setattr(http, "pause", found.append)
    return found


@pytest.fixture
def server() -> Iterator[ProviderServer]:
    with provider_server("openai") as running:
        yield running


@pytest.fixture
def client(server: ProviderServer, waits: list[float]) -> Iterator[Http]:
    with closing(Http(server.url, {"Authorization": f"Bearer {KEY}"}, name="openai")) as made:
        yield made


def ask(client: Http, patience: Patience = LONG, **options: Any) -> Any:
    return client.json("POST", "embeddings", body=BODY, patience=patience, **options)


PASSING: list[Fault] = [
    Status(429),
    Status(408),
    *(Status(code) for code in (500, 501, 502, 503, 504, 505, 520, 522, 524, 529, 530, 599)),
    "reset",
    "cut",
    "html",
    "truncated",
    "empty",
]


@pytest.mark.parametrize("fault", PASSING, ids=str)
@pytest.mark.promise("P6")
def test_what_may_pass_is_tried_again(client: Http, server: ProviderServer, fault: Fault) -> None:
    server.faults = {1: fault, 2: fault}
    assert ask(client)["model"] == "m"
    assert len(server.requests) == 3


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 405, 413, 422])
def test_what_stays_is_not_tried_again(client: Http, server: ProviderServer, status: int) -> None:
    server.always = Status(status)
    with pytest.raises(Exception, match=str(status)):
        ask(client)
    assert len(server.requests) == 1


def test_an_account_without_money_is_not_tried_again(client: Http, server: ProviderServer) -> None:
    server.always = Status(429, "You exceeded your current quota", "insufficient_quota")
    with pytest.raises(QuotaExceeded, match="billing"):
        ask(client)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "refusal",
    [
        Status(429, "Rate limit reached. Add a payment method at example.com/account/billing", "tokens"),
        Status(429, "You exceeded your current quota, check your billing", headers={"retry-after": "1"}),
        Status(504, "The upstream took too long to answer"),
    ],
    ids=["payment", "wish", "gateway"],
)
def test_words_about_money_or_length_alone_decide_nothing(
    client: Http, server: ProviderServer, refusal: Status
) -> None:
    server.faults[1] = refusal
    assert ask(client)["model"] == "m"


@pytest.mark.parametrize("status", [429, 503, 520, 524])
def test_the_wish_of_the_service_counts(
    client: Http, server: ProviderServer, waits: list[float], status: int
) -> None:
    server.faults[1] = Status(status, headers={"retry-after": "7"})
    ask(client)
    assert waits == [7]


@pytest.mark.parametrize("status", [501, 503, 520])
@pytest.mark.promise("P6")
def test_attempts_end_and_the_status_is_said(client: Http, server: ProviderServer, status: int) -> None:
    server.always = Status(status)
    with pytest.raises(ProviderUnreachable, match=rf"fails \(status {status}\)"):
        ask(client)
    assert len(server.requests) == 1 + LONG.retries


def test_waits_grow_up_to_a_limit(client: Http, server: ProviderServer, waits: list[float]) -> None:
    server.always = Status(500)
    with pytest.raises(ProviderUnreachable):
        ask(client, Patience(total=600, connect=5, retries=7))
    low = [0.5, 1, 2, 4, 8, 8, 8]
    assert all(start <= wait <= min(8, start * 1.2) for start, wait in zip(low, waits, strict=True))


def test_the_wish_may_be_a_date(client: Http, server: ProviderServer, waits: list[float]) -> None:
    server.faults[1] = Status(503, headers={"retry-after": formatdate(time.time() + 20, usegmt=True)})
    ask(client)
    assert 10 < waits[0] <= 20


def test_google_says_its_wish_in_the_body(waits: list[float]) -> None:
    from memlines.embed.remote.errors import read_refusal

    body = {"error": {"message": "slow down", "details": [{"@type": "x"}, {"retryDelay": "37.5s"}]}}
    found = read_refusal("gemini", 429, {}, json.dumps(body).encode(), secrets=(), sent=None)
    assert found.wait == 37.5


@pytest.mark.parametrize("wish", ["soon", "", "nan", "-3x", "Mon, 99 Foo 2020"])
def test_a_wish_that_cannot_be_read_is_none(
    client: Http, server: ProviderServer, waits: list[float], wish: str
) -> None:
    server.faults[1] = Status(429, headers={"retry-after": wish})
    ask(client)
    assert 0.5 <= waits[0] <= 0.6


def test_a_long_wish_ends_the_call_and_says_when_to_come_back(client: Http, server: ProviderServer) -> None:
    server.always = Status(429, headers={"retry-after": "3600"})
    with pytest.raises(QuotaExceeded, match="in 60 minutes"):
        ask(client, Patience(total=9000, connect=5, retries=3))
    assert len(server.requests) == 1


@pytest.mark.promise("P6")
def test_a_wish_beyond_the_deadline_ends_the_call(client: Http, server: ProviderServer) -> None:
    server.always = Status(429, headers={"retry-after": "50"})
    with pytest.raises(QuotaExceeded, match="in 50 seconds"):
        ask(client)
    assert len(server.requests) == 1


@pytest.mark.parametrize("fault", ["silent", "drip-headers", "stall-body", "drip-body"])
@pytest.mark.promise("P6")
def test_a_call_ends_however_slowly_it_is_answered(
    client: Http, server: ProviderServer, fault: Fault
) -> None:
    server.always = fault
    with pytest.raises(ProviderUnreachable, match="did not answer in time"):
        ask(client, SHORT)


def test_a_connection_that_died_leaves_time_for_another(client: Http, server: ProviderServer) -> None:
    server.faults[1] = "silent"
    assert ask(client, Patience(total=2, connect=1, retries=1))["model"] == "m"


@pytest.mark.parametrize("fault", ["huge", "bomb"])
@pytest.mark.promise("P6")
def test_a_reply_that_is_too_large_is_given_up(client: Http, server: ProviderServer, fault: Fault) -> None:
    server.always = fault
    with pytest.raises(ProviderUnreachable, match="more than 100000 bytes"):
        ask(client, max_reply=100_000)
    assert len(server.requests) == 1


def test_a_redirect_is_not_followed(client: Http, server: ProviderServer) -> None:
    server.always = "redirect"
    with pytest.raises(ProviderUnusable, match="the key must not follow"):
        ask(client)
    assert len(server.requests) == 1


def test_a_second_request_uses_the_connection_of_the_first(server: ProviderServer, client: Http) -> None:
    ask(client)
    ask(client)
    assert (len(server.requests), server.opened) == (2, 1)


def test_a_connection_that_the_server_closed_is_opened_again_without_a_wait(
    server: ProviderServer, client: Http, waits: list[float]
) -> None:
    ask(client)
    server.hang_up()
    assert ask(client)["model"] == "m"
    assert (server.opened, waits) == (2, [])


def test_plain_http_reads_no_certificates(server: ProviderServer, client: Http) -> None:
    from memlines.embed.remote.deadlines import _certificates

    before = _certificates.cache_info().misses + _certificates.cache_info().hits
    ask(client)
    assert _certificates.cache_info().misses + _certificates.cache_info().hits == before


def test_a_closed_client_opens_again(client: Http) -> None:
    ask(client)
    client.close()
    assert ask(client)["model"] == "m"


def test_threads_share_a_client(client: Http, server: ProviderServer) -> None:
    replies: list[Any] = []
    threads = [threading.Thread(target=lambda: replies.append(ask(client))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(replies) == 8


@pytest.mark.promise("P6")
def test_nobody_there_is_said_at_once(waits: list[float]) -> None:
    with (
        closing(Http("http://127.0.0.1:1", {}, name="ollama")) as client,
        pytest.raises(ProviderUnreachable, match="refused"),
    ):
        ask(client)
    assert waits == []


def test_a_name_nobody_knows_is_said(waits: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    def unknown(*_arguments: object, **_options: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with (
        closing(Http("https://nowhere.example", {}, name="openai")) as client,
        pytest.raises(ProviderUnreachable, match="no such name"),
    ):
        ask(client)


@pytest.mark.promise("P6")
def test_a_look_up_of_a_name_ends_in_time(waits: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    release = threading.Event()

    def slow(*_arguments: object, **_options: object) -> list[Any]:
        release.wait(30)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    with (
        closing(Http("https://nowhere.example", {}, name="openai")) as client,
        pytest.raises(ProviderUnreachable, match="in time"),
    ):
        ask(client, Patience(total=0.2, connect=0.2, retries=0))
    release.set()


def test_a_server_without_tls_is_said(server: ProviderServer, waits: list[float]) -> None:
    with (
        closing(Http(server.url.replace("http:", "https:"), {}, name="openai")) as client,
        pytest.raises(ProviderUnreachable, match="TLS"),
    ):
        ask(client)


def test_this_machine_is_reached_without_a_proxy(
    client: Http, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    assert ask(client)["model"] == "m"


@pytest.mark.parametrize("origin", ["http://[::1]:8080", "https://localhost", "http://a.localhost:1"])
def test_no_address_of_this_machine_takes_a_proxy(origin: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    with closing(client_of(direct=origin)) as made:
        assert made._transport_for_url(httpx2.URL(f"{origin}/v1")) is made._transport


def test_other_machines_are_reached_through_the_proxy(
    server: ProviderServer, waits: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", server.url)
    with closing(Http("http://gpu-box/v1", {"authorization": f"Bearer {KEY}"}, name="openai")) as client:
        assert ask(client)["model"] == "m"
    assert server.requests[0].path == "http://gpu-box/v1/embeddings"


def test_a_proxy_keeps_the_deadline_too(
    server: ProviderServer, waits: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", server.url)
    server.always, server.key = "drip-headers", None
    with (
        closing(Http("http://gpu-box/v1", {}, name="openai")) as client,
        pytest.raises(ProviderUnreachable, match="in time"),
    ):
        ask(client, SHORT)


def test_the_library_logs_nothing_of_ours(client: Http, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    ask(client)
    assert caplog.text == ""


@pytest.mark.parametrize("address", ["http://api.example.com/v1", "http://93.184.216.34/v1"])
def test_a_key_does_not_go_over_plain_http(address: str) -> None:
    with pytest.raises(ProviderUnusable, match="https"):
        Http(address, {"authorization": f"Bearer {KEY}"}, name="openai")


@pytest.mark.parametrize(
    "address", ["http://localhost:8080", "http://192.168.1.7/v1", "http://box.local", "http://ollama:11434"]
)
def test_a_key_goes_over_plain_http_nearby(address: str) -> None:
    Http(address, {"authorization": f"Bearer {KEY}"}, name="openai")


@pytest.mark.parametrize("address", ["", "example.com", "ftp://x", "https://", "http://x:y/", "http://a b/"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(ProviderUnusable, match="base_url"):
        Http(address, {}, name="openai")
