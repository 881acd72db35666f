from __future__ import annotations

import traceback
from collections.abc import Iterator
from typing import Any

import pytest

from memlines.embed.remote.errors import read_refusal
from memlines.errors import (
    BadVectors,
    EmbeddingError,
    MemlinesError,
    ProviderUnreachable,
    ProviderUnusable,
    QuotaExceeded,
    TextsRefused,
)
from tests.embed.fake_service import (
    KEY,
    PROTOCOLS,
    Fault,
    ProviderServer,
    Status,
    impatient,
    provider_server,
    remote,
)

TEXT = "my sister lives at the old mill"


@pytest.fixture(params=PROTOCOLS)
def server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderServer]:
    impatient(monkeypatch)
    with provider_server(request.param) as running:
        yield running


@pytest.fixture
def openai(monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderServer]:
    impatient(monkeypatch)
    with provider_server("openai") as running:
        yield running


def failure(server: ProviderServer, fault: Fault, **changes: Any) -> EmbeddingError:
    """Return how a provider fails at a server that always fails."""
    server.always = fault
    provider = remote(server, **changes)
    try:
        with pytest.raises(EmbeddingError) as caught:
            provider.embed_documents([TEXT, "another text"])
    finally:
        provider.http.close()
    return caught.value


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Status(400, "the input is not valid"), TextsRefused),
        (Status(413, "request too large"), TextsRefused),
        (Status(422, "unprocessable"), TextsRefused),
        (Status(400, "Invalid model: abc"), ProviderUnusable),
        (Status(400, "API key not valid. Please pass a valid API key."), ProviderUnusable),
        (Status(400, "the dimensions must be a multiple of 8"), ProviderUnusable),
        (Status(400, "This model's maximum context length is 8192 tokens"), TextsRefused),
        (Status(500, "input is too large to process"), TextsRefused),
        (Status(401, "Unauthorized"), ProviderUnusable),
        (Status(403, "Forbidden"), ProviderUnusable),
        (Status(404, "not found"), ProviderUnusable),
        (Status(405, "method not allowed"), ProviderUnusable),
        (Status(402, "pay first"), QuotaExceeded),
        (Status(429, "slow down"), QuotaExceeded),
        (Status(429, "check your plan and billing details"), QuotaExceeded),
        (Status(500, "oops"), ProviderUnreachable),
        (Status(529, "overloaded"), ProviderUnreachable),
        ("html", ProviderUnreachable),
        ("truncated", ProviderUnreachable),
        ("empty", ProviderUnreachable),
        ("reset", ProviderUnreachable),
        ("cut", ProviderUnreachable),
        ("huge", ProviderUnreachable),
        ("redirect", ProviderUnusable),
        ("count", BadVectors),
        ("dims", BadVectors),
        ("nan", BadVectors),
        ("infinity", BadVectors),
        ("zero", BadVectors),
        ("text", BadVectors),
        ("nested", BadVectors),
        ("shape", BadVectors),
    ],
    ids=str,
)
def test_each_fault_has_its_error(server: ProviderServer, fault: Fault, kind: type[MemlinesError]) -> None:
    # A service that tells its length only by its vectors takes the first for right.
    changes = {"dimensions": 8} if fault == "dims" else {}
    assert type(failure(server, fault, **changes)) is kind


@pytest.mark.parametrize(
    "fault",
    [
        Status(401),
        Status(404),
        Status(429),
        Status(500),
        Status(400),
        "html",
        "reset",
        "nan",
        "count",
        "shape",
    ],
    ids=str,
)
def test_an_error_names_the_service_and_says_what_to_do(server: ProviderServer, fault: Fault) -> None:
    error = failure(server, fault)
    host = server.url.split("/")[2]
    assert error.what.startswith(f"{server.protocol} ({host}) ")
    assert error.todo


@pytest.mark.parametrize(
    "fault",
    [
        Status(401, f"Incorrect API key provided: {KEY}."),
        Status(400, f"cannot embed {TEXT!r}"),
        Status(429, f"key {KEY} and Bearer {KEY}"),
        Status(500, f"while reading: {TEXT}"),
        "silent",
        "reset",
        "html",
        "nan",
        "shape",
        "redirect",
    ],
    ids=str,
)
def test_no_error_holds_a_secret_or_a_text(
    openai: ProviderServer, fault: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    impatient(monkeypatch, total=0.5, retries=0)
    error = failure(openai, fault, headers=(("X-Proxy-Token", "hush-hush-1234"),))
    whole = "".join(traceback.format_exception(error)) + repr(error) + str(error.to_json())
    assert not any(secret in whole for secret in (KEY, "hush-hush-1234", TEXT, "old mill"))


def test_an_error_carries_no_request_along(openai: ProviderServer) -> None:
    error = failure(openai, "reset")
    assert (error.__cause__, error.__context__) == (None, None)


def said(status: int, body: bytes, *, secrets: tuple[str, ...] = (), sent: Any = None) -> str:
    return str(read_refusal("openai (host)", status, {}, body, secrets=secrets, sent=sent).error)


def test_the_words_of_the_service_are_quoted() -> None:
    assert said(404, b'{"error": {"message": "no model x-1."}}').startswith(
        "openai (host) does not know the model or the address (status 404): no model x-1. Check"
    )


@pytest.mark.parametrize(
    "body",
    [
        b'{"error": "words"}',
        b'{"detail": "words"}',
        b'{"message": "words"}',
        b'{"error": {"message": "words"}}',
    ],
)
def test_the_words_are_found_where_services_put_them(body: bytes) -> None:
    assert ": words." in said(403, body)


@pytest.mark.parametrize(
    "body", [b"<html>words</html>", b"", b"[" * 100_000, b'"words"', b"\xff", b'{"error": 7}']
)
def test_other_bodies_are_not_quoted(body: bytes) -> None:
    assert "words" not in said(403, body)


def test_the_words_are_short() -> None:
    assert len(said(403, b'{"error": "' + b"word " * 500 + b'"}')) < 400


def test_control_characters_are_not_quoted() -> None:
    assert said(403, b'{"error": "a\\u001b[31mb\\u202ec"}').isprintable()


@pytest.mark.parametrize(
    "words",
    [
        "key sk-proj-abcdefghijkl is wrong",
        "Bearer abc.def-123 rejected",
        "AIzaSyA1234567890abcdefghijk is not valid",
        "Incorrect API key provided: abcd****wxyz",
        "token 0123456789abcdef0123456789abcdef expired",
    ],
)
def test_whatever_looks_like_a_key_is_left_out(words: str) -> None:
    whole = said(403, b'{"error": "' + words.encode() + b'"}')
    assert not any(part in whole for part in ("abcdef", "abc.def", "AIza", "wxyz", "0123456789"))


def test_a_short_query_is_not_quoted_either() -> None:
    body = b'{"error": "cannot embed \'my pin\' today"}'
    assert "my pin" not in said(400, body, sent={"model": "m", "input": ["my pin"]})


def test_a_message_that_holds_a_piece_of_a_text_is_not_quoted() -> None:
    body = b'{"error": "bad input: ...lives at the old mi..."}'
    sent = {"requests": [{"content": {"parts": [{"text": TEXT}]}}]}
    assert "old mi" not in said(400, body, sent=sent)


def test_the_name_of_the_model_may_be_quoted() -> None:
    body = b'{"error": "the model text-embedding-9-small does not exist"}'
    assert "text-embedding-9-small" in said(
        404, body, sent={"model": "text-embedding-9-small", "input": ["x"]}
    )
