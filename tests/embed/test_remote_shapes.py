from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from memlines.embed.base import embed_documents, embed_query
from memlines.embed.remote.services import REMOTE, Ollama
from tests.embed.fake_service import (
    KEY,
    PROTOCOLS,
    Protocol,
    ProviderServer,
    impatient,
    provider_server,
    remote,
    vector_of,
)


@pytest.fixture(params=PROTOCOLS)
def server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderServer]:
    impatient(monkeypatch)
    with provider_server(request.param) as running:
        yield running


def asked(protocol: Protocol, *, query: bool = False, **changes: Any) -> ProviderServer:
    """Return a server after it was asked once."""
    with provider_server(protocol, dims=changes.get("dimensions") or 8) as server:
        provider = remote(server, **changes)
        if query:
            provider.embed_query("where is it")
        else:
            provider.embed_documents(["one", "two"])
        provider.http.close()
        return server


def unit(vector: list[float]) -> np.ndarray[Any, Any]:
    array: np.ndarray[Any, Any] = np.array(vector) / np.linalg.norm(vector)
    return array


def test_vectors_of_passages_come_in_their_order(server: ProviderServer) -> None:
    provider = remote(server)
    vectors = embed_documents(provider, ["one", "two", "three"])
    provider.http.close()
    sent = server.texts()
    model = provider.model
    expected = [unit(vector_of(text, 8, model)) for text in sent]
    assert np.allclose(vectors, expected, atol=1e-6)


def test_a_question_gets_one_vector(server: ProviderServer) -> None:
    provider = remote(server)
    vector = embed_query(provider, "where is it")
    provider.http.close()
    assert vector.shape == (8,)


def test_every_service_has_a_line_in_the_catalogue(server: ProviderServer) -> None:
    assert REMOTE[server.protocol].id == server.protocol


def test_packed_replies_are_read(server: ProviderServer) -> None:
    server.packs = True
    provider = remote(server)
    assert embed_documents(provider, ["one"]).shape == (1, 8)
    provider.http.close()


def test_a_reply_in_another_order_is_put_in_order(server: ProviderServer) -> None:
    server.faults[1] = "shuffled"
    provider = remote(server)
    vectors = embed_documents(provider, ["one", "two", "three"])
    provider.http.close()
    expected = [unit(vector_of(text, 8, provider.model)) for text in server.texts()]
    assert np.allclose(vectors, expected, atol=1e-6)


def test_openai_gets_model_texts_and_length() -> None:
    server = asked("openai", dimensions=16)
    assert server.requests[0].body == {
        "model": "text-embedding-3-small",
        "input": ["one", "two"],
        "encoding_format": "float",
        "dimensions": 16,
    }


def test_openai_gets_the_key_as_a_bearer() -> None:
    assert asked("openai").requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_openai_strips_its_own_prefix() -> None:
    server = asked("openai", model="openai/text-embedding-3-large")
    assert server.requests[0].body["model"] == "text-embedding-3-large"


def test_compatible_keeps_the_prefix_of_a_model() -> None:
    server = asked("openai-compatible", model="openai/text-embedding-3-large")
    assert server.requests[0].body["model"] == "openai/text-embedding-3-large"


def test_compatible_works_without_a_key() -> None:
    with provider_server("openai-compatible") as server:
        server.key = None
        provider = remote(server)
        provider.embed_query("where")
        provider.http.close()
        assert "authorization" not in server.requests[0].headers


def test_compatible_sends_the_headers_of_the_settings() -> None:
    server = asked("openai-compatible", headers=(("X-Team", "blue"),))
    assert server.requests[0].headers["x-team"] == "blue"


def test_compatible_writes_what_the_model_wants_before_a_text() -> None:
    server = asked("openai-compatible", model="nomic-ai/nomic-embed-text-v1.5")
    assert server.texts() == ["search_document: one", "search_document: two"]


def test_mistral_sends_no_length_where_there_is_none_to_choose() -> None:
    server = asked("mistral", model="mistral-embed", dimensions=1024)
    assert server.requests[0].body == {
        "model": "mistral-embed",
        "input": ["one", "two"],
        "encoding_format": "float",
    }


def test_mistral_sends_the_length_for_code() -> None:
    assert asked("mistral", dimensions=256).requests[0].body["output_dimension"] == 256


def test_voyage_says_that_it_is_a_passage_and_forbids_cutting() -> None:
    assert asked("voyage", dimensions=256).requests[0].body == {
        "model": "voyage-4-large",
        "input": ["one", "two"],
        "input_type": "document",
        "truncation": False,
        "output_dimension": 256,
    }


def test_voyage_says_that_it_is_a_question() -> None:
    assert asked("voyage", query=True).requests[0].body["input_type"] == "query"


def test_gemini_asks_for_passages_together() -> None:
    seen = asked("gemini", dimensions=768).requests[0]
    assert seen.path == "/v1beta/models/gemini-embedding-001:batchEmbedContents"
    assert seen.body["requests"][1] == {
        "model": "models/gemini-embedding-001",
        "content": {"parts": [{"text": "two"}]},
        "taskType": "RETRIEVAL_DOCUMENT",
        "outputDimensionality": 768,
    }


def test_gemini_asks_for_a_question_alone() -> None:
    seen = asked("gemini", query=True).requests[0]
    assert seen.path == "/v1beta/models/gemini-embedding-001:embedContent"
    assert seen.body["taskType"] == "RETRIEVAL_QUERY"


def test_gemini_keeps_the_key_out_of_the_address() -> None:
    seen = asked("gemini").requests[0]
    assert (seen.headers["x-goog-api-key"], KEY in seen.path) == (KEY, False)


@pytest.mark.parametrize(
    ("query", "texts"),
    [
        (True, ["task: search result | query: where is it"]),
        (False, ["title: none | text: one", "title: none | text: two"]),
    ],
)
def test_gemini_of_the_second_generation_gets_words_for_the_task(query: bool, texts: list[str]) -> None:
    server = asked("gemini", model="models/gemini-embedding-2", query=query)
    assert server.texts() == texts
    assert "taskType" not in str(server.requests[0].body)


def test_ollama_forbids_cutting() -> None:
    seen = asked("ollama").requests[0]
    assert seen.path == "/api/embed"
    assert seen.body == {
        "model": "nomic-embed-text",
        "input": ["search_document: one", "search_document: two"],
        "truncate": False,
    }


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("", "http://127.0.0.1:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        (":8080", "http://127.0.0.1:8080"),
        ("box", "http://box:11434"),
        ("box:80", "http://box:80"),
        ("https://box.example.com", "https://box.example.com"),
        ("http://box:1234/", "http://box:1234"),
        ("[::1]:7", "http://[::1]:7"),
    ],
)
def test_ollama_is_where_its_variable_says(host: str, address: str) -> None:
    assert Ollama().base_url({"OLLAMA_HOST": host}) == address
