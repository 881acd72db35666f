from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.embed.base import Limits, Use, embed_documents, pack_requests
from memlines.embed.remote.provider import RemoteProvider
from memlines.embed.remote.services import REMOTE, prefixes_of, text_bytes_of
from memlines.errors import BadVectors, EmbeddingError, ProviderUnusable, SpendLimit
from memlines.settings.tree import Embeddings
from tests.embed.fake_service import KEY, Fault, ProviderServer, Status, impatient, provider_server, remote


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    return impatient(monkeypatch)


@pytest.fixture
def server() -> Iterator[ProviderServer]:
    with provider_server("openai-compatible") as running:
        yield running


@pytest.fixture
def provider(server: ProviderServer) -> Iterator[RemoteProvider]:
    made = remote(server)
    yield made
    made.http.close()


class Counted:
    """A meter that writes down what it is told."""

    def __init__(self, limit: int = 1_000_000) -> None:
        self.calls: list[tuple[str, int]] = []
        self._limit = limit

    def reserve(self, tokens: int, use: Use) -> None:
        if tokens > self._limit:
            raise SpendLimit("too much")
        self.calls.append(("reserve", tokens))

    def settle(self, reserved: int, used: int, use: Use) -> None:
        self.calls.append(("settle", used))

    def begin_run(self) -> None:
        self.calls.append(("run", 0))


def made(name: str, environ: Mapping[str, str] | None = None, **settings: Any) -> RemoteProvider:
    return RemoteProvider(REMOTE[name], Embeddings(**settings), None, environ or {})


def authorization(environ: Mapping[str, str], **settings: Any) -> str:
    """Return what a server of OpenAI's protocol gets to see."""
    with provider_server("openai") as server:
        server.key = None
        given = made("openai", environ, base_url=server.url, dimensions=8, **settings)
        given.embed_query("where")
        given.http.close()
        return server.requests[0].headers["authorization"]


def test_the_key_of_the_settings_comes_first() -> None:
    assert authorization({"OPENAI_API_KEY": "theirs"}, api_key="ours") == "Bearer ours"


@pytest.mark.parametrize("blank", [None, "", "  \n"])
def test_a_blank_key_is_none(blank: str | None) -> None:
    assert authorization({"OPENAI_API_KEY": "theirs"}, api_key=blank) == "Bearer theirs"


def test_a_header_may_take_the_place_of_the_key() -> None:
    assert authorization({}, headers=(("Authorization", "Bearer special"),)) == "Bearer special"


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("openai", "OPENAI_API_KEY"),
        ("gemini", "GEMINI_API_KEY or GOOGLE_API_KEY"),
        ("voyage", "VOYAGE_API_KEY"),
        ("mistral", "MISTRAL_API_KEY"),
    ],
)
def test_a_missing_key_is_named(name: str, variable: str) -> None:
    with pytest.raises(ProviderUnusable, match=f"embeddings.api_key, or the variable {variable}"):
        made(name, {variable.split()[0]: " "})


@pytest.mark.parametrize("key", ["a\nb", "a\r\nX-Evil: 1", "a\0b", "schlüssel", "a\x7fb"])
def test_a_key_that_no_header_may_hold_is_refused(key: str) -> None:
    with pytest.raises(ProviderUnusable, match="api_key") as caught:
        made("openai", api_key=key)
    assert key not in str(caught.value)


def test_a_server_of_ones_own_needs_an_address() -> None:
    with pytest.raises(ProviderUnusable, match=r"embeddings\.base_url"):
        made("openai-compatible", model="m")


def test_a_server_of_ones_own_needs_a_model() -> None:
    with pytest.raises(ProviderUnusable, match=r"embeddings\.model"):
        made("openai-compatible", base_url="http://localhost:1")


def test_a_length_that_a_model_cannot_make_is_refused() -> None:
    with pytest.raises(ProviderUnusable, match=r"embeddings\.dimensions"):
        made("mistral", api_key=KEY, dimensions=256)


@pytest.mark.parametrize(
    ("name", "model", "dims"),
    [
        ("openai", None, 1536),
        ("openai", "text-embedding-3-large", 3072),
        ("openai", "something-new", None),
        ("gemini", None, 3072),
        ("voyage", None, 1024),
        ("mistral", None, 1024),
        ("ollama", None, None),
    ],
)
def test_the_length_is_known_before_the_first_vector(name: str, model: str | None, dims: int | None) -> None:
    assert made(name, api_key=KEY, model=model).dims == dims


@pytest.mark.parametrize(
    ("name", "settings", "host"),
    [
        ("openai", {}, "api.openai.com"),
        ("gemini", {}, "generativelanguage.googleapis.com"),
        ("voyage", {}, "api.voyageai.com"),
        ("mistral", {}, "api.mistral.ai"),
        ("ollama", {}, ""),
        ("ollama", {"base_url": "http://localhost:11434"}, ""),
        ("ollama", {"base_url": "http://[::1]:11434"}, ""),
        ("ollama", {"base_url": "http://192.168.0.2:11434"}, "192.168.0.2:11434"),
        ("openai", {"base_url": "https://me:pw@proxy.example:8443/v1?x=1"}, "proxy.example:8443"),
        ("openai", {"base_url": "https://localhost.example.com"}, "localhost.example.com"),
    ],
)
def test_it_says_where_text_goes(name: str, settings: dict[str, Any], host: str) -> None:
    assert made(name, api_key=KEY, **settings).sends_to == host


def key(**settings: Any) -> str:
    return made("openai", **{"api_key": KEY, "base_url": "https://x.example/v1", **settings}).key


def test_the_key_of_vectors_stays_the_same() -> None:
    assert key() == key()


@pytest.mark.parametrize(
    "settings",
    [
        {"api_key": "another"},
        {"base_url": "https://me:pw@x.example/v1"},
        {"base_url": "https://x.example/v1?token=1"},
        {"base_url": "https://x.example/v1/"},
        {"headers": (("Authorization", "Bearer z"),)},
        {"headers": (("X-Api-Key", "z"), ("Cookie", "a=b"))},
        {"headers": (("X-Whatever", "0123456789abcdef0123456789abcdef"),)},
    ],
    ids=str,
)
def test_no_secret_is_in_the_key_of_vectors(settings: dict[str, Any]) -> None:
    assert key(**settings) == key()


@pytest.mark.parametrize(
    "settings",
    [{"base_url": "https://y.example/v1"}, {"dimensions": 256}, {"headers": (("X-Team", "blue"),)}],
    ids=str,
)
def test_other_sources_of_vectors_have_other_keys(settings: dict[str, Any]) -> None:
    assert key(**settings) != key()


def test_the_length_is_learned_from_the_first_vector(provider: RemoteProvider) -> None:
    before = provider.dims
    provider.embed_documents(["one"])
    assert (before, provider.dims) == (None, 8)


def test_another_length_later_is_refused(provider: RemoteProvider, server: ProviderServer) -> None:
    provider.embed_documents(["one"])
    server.always = "dims"
    with pytest.raises(BadVectors, match="shape"):
        provider.embed_documents(["two"])


def test_another_model_later_is_refused(provider: RemoteProvider, server: ProviderServer) -> None:
    provider.embed_documents(["one"])
    server.always = "model"
    with pytest.raises(BadVectors, match="changed its model"):
        provider.embed_documents(["two"])


BAD: list[Fault] = ["count", "duplicate", "nan", "infinity", "zero", "text", "nested", "shape"]


@pytest.mark.parametrize("fault", BAD)
def test_a_bad_reply_is_asked_for_once_more(
    provider: RemoteProvider, server: ProviderServer, fault: Fault
) -> None:
    server.faults[1] = fault
    assert provider.embed_documents(["one", "two"]).shape == (2, 8)


@pytest.mark.parametrize("fault", BAD)
def test_a_second_bad_reply_is_an_error(
    provider: RemoteProvider, server: ProviderServer, fault: Fault
) -> None:
    server.always = fault
    with pytest.raises(BadVectors):
        provider.embed_documents(["one", "two"])
    assert len(server.requests) == 2


def test_no_length_is_learned_from_a_bad_reply(provider: RemoteProvider, server: ProviderServer) -> None:
    server.always = "nan"
    with pytest.raises(BadVectors):
        provider.embed_documents(["one"])
    assert provider.dims is None


def test_passages_are_divided_into_requests(provider: RemoteProvider, server: ProviderServer) -> None:
    texts = [f"text {number}" for number in range(70)]
    assert provider.embed_documents(texts).shape == (70, 8)
    assert [len(seen.texts) for seen in server.requests] == [32, 32, 6]


@pytest.mark.parametrize(("size", "sent"), [(3, [3, 3, 1]), (0, [7]), (None, [7]), (1000, [7])])
def test_a_request_holds_no_more_texts_than_the_settings_allow(
    server: ProviderServer, size: int | None, sent: list[int]
) -> None:
    provider = remote(server, batch_size=size)
    provider.embed_documents([f"text {number}" for number in range(7)])
    assert [len(seen.texts) for seen in server.requests] == sent
    assert remote(server, batch_size=size).limits.request_texts <= 32
    provider.http.close()


def test_no_passages_are_no_request(provider: RemoteProvider, server: ProviderServer) -> None:
    assert embed_documents(provider, []).shape[0] == len(server.requests)


def test_a_very_long_question_is_cut(provider: RemoteProvider, server: ProviderServer) -> None:
    provider.embed_query("ü" * 10_000)
    assert server.texts() == ["ü" * 4000]


def test_broken_text_can_be_sent(provider: RemoteProvider, server: ProviderServer) -> None:
    provider.embed_documents(["a\ud800b"])
    assert server.texts() == ["a?b"]


def test_what_the_service_counted_is_settled(server: ProviderServer) -> None:
    meter = Counted()
    provider = remote(server, meter)
    provider.embed_documents(["one two three four"])
    provider.http.close()
    assert meter.calls == [("reserve", 5), ("settle", 4)]


def test_nothing_is_counted_for_a_failure(server: ProviderServer) -> None:
    meter = Counted()
    server.always = Status(503)
    provider = remote(server, meter)
    with pytest.raises(EmbeddingError):
        provider.embed_documents(["one two three four"])
    provider.http.close()
    assert meter.calls == [("reserve", 5), ("settle", 0)]


def test_a_bad_reply_costs_too(server: ProviderServer) -> None:
    meter = Counted()
    server.faults[1] = "shape"
    provider = remote(server, meter)
    provider.embed_documents(["one two three four"])
    provider.http.close()
    assert meter.calls == [("reserve", 5), ("settle", 5), ("reserve", 5), ("settle", 4)]


def test_nothing_is_sent_beyond_a_limit(server: ProviderServer) -> None:
    provider = remote(server, Counted(limit=2))
    with pytest.raises(SpendLimit):
        provider.embed_documents(["one two three four"])
    assert server.requests == []


texts_and_limits = st.tuples(
    st.lists(st.text(max_size=20), max_size=30),
    st.builds(Limits, st.just(1000), request_bytes=st.integers(1, 60), request_texts=st.integers(1, 6)),
)


@given(texts_and_limits)
def test_packing_keeps_every_text_once_and_in_order(given_: tuple[list[str], Limits]) -> None:
    texts, limits = given_
    assert [place for places in pack_requests(texts, limits) for place in places] == list(range(len(texts)))


@given(texts_and_limits)
def test_packing_keeps_the_limits(given_: tuple[list[str], Limits]) -> None:
    texts, limits = given_
    for places in pack_requests(texts, limits):
        size = sum(len(texts[place].encode()) for place in places)
        assert 1 <= len(places) <= limits.request_texts
        assert size <= limits.request_bytes or len(places) == 1


@given(texts_and_limits)
def test_packing_leaves_no_room_for_the_next_text(given_: tuple[list[str], Limits]) -> None:
    texts, limits = given_
    requests = pack_requests(texts, limits)
    for before, after in pairwise(requests):
        size = sum(len(texts[place].encode()) for place in (*before, after[0]))
        assert len(before) == limits.request_texts or size > limits.request_bytes


@pytest.mark.parametrize(
    ("model", "query", "document"),
    [
        ("nomic-embed-text:latest", "search_query: ", "search_document: "),
        ("text-embedding-nomic-embed-text-v1.5", "search_query: ", "search_document: "),
        ("Qwen/Qwen3-Embedding-0.6B", "Instruct: ", ""),
        ("mxbai-embed-large", "Represent this", ""),
        ("intfloat/multilingual-e5-large", "query: ", "passage: "),
        ("multilingual-e5-large-instruct", "Instruct: ", ""),
        ("embeddinggemma-300m-qat-Q8_0.gguf", "task: search result", "title: none | text: "),
        ("snowflake-arctic-embed:335m", "Represent this", ""),
        ("snowflake-arctic-embed2", "query: ", ""),
        ("BAAI/bge-small-en-v1.5", "Represent this", ""),
        ("bge-m3", "", ""),
        ("bge-large-zh", "", ""),
        ("text-embedding-3-small", "", ""),
        ("recipe5-model", "", ""),
    ],
)
def test_models_get_the_words_they_were_trained_with(model: str, query: str, document: str) -> None:
    found = prefixes_of(model)
    assert found[0].startswith(query)
    assert bool(found[0]) == bool(query)
    assert found[1] == document


def test_models_with_a_short_memory_get_short_texts() -> None:
    assert text_bytes_of("all-minilm", 2000) < text_bytes_of("mxbai-embed-large", 2000) < 2000


def test_unknown_models_get_texts_of_the_usual_length() -> None:
    assert text_bytes_of("something-new", 1234) == 1234
