"""The three batch APIs against servers that speak their protocols."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from memlines.embed.batches.base import BatchLimits
from memlines.embed.batches.services import BatchApi, batches_of
from memlines.embed.codec import encode
from memlines.embed.remote.http import Http
from memlines.embed.remote.provider import RemoteProvider
from memlines.embed.remote.services import REMOTE
from memlines.errors import ProviderUnreachable, ProviderUnusable, QuotaExceeded
from memlines.settings.tree import Embeddings
from tests.embed.batch_runs import MODELS, SERVICES, api_of, some_texts
from tests.embed.fake_batches import KEY, BatchServer, Fault, Service, blob_of, serving

TEXTS = some_texts(3)


@pytest.fixture(autouse=True)
def _no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memlines.embed.remote.http.pause", lambda seconds: None)


@pytest.fixture(params=SERVICES)
def server(request: pytest.FixtureRequest) -> Iterator[BatchServer]:
    with serving(BatchServer(request.param)) as listening:
        yield listening


@pytest.fixture
def api(server: BatchServer) -> Iterator[BatchApi]:
    with api_of(server) as made:
        yield made


def submitted(api: BatchApi, texts: dict[str, str] = TEXTS, token: str = "token") -> str:
    return api.create(api.upload(texts), token)


def ended(api: BatchApi, batch_id: str) -> str:
    state = api.state(batch_id)
    while state.phase == "running":
        state = api.state(batch_id)
    return state.phase


def only_line(server: BatchServer) -> dict[str, Any]:
    (content,) = server.files.values()
    return dict(json.loads(content.splitlines()[0]))


def test_every_text_comes_back_with_its_vector(api: BatchApi) -> None:
    batch_id = submitted(api)
    assert ended(api, batch_id) == "done"
    answers = {answer.key: answer for answer in api.results(batch_id, TEXTS)}
    assert answers.keys() == TEXTS.keys()
    for key, text in TEXTS.items():
        vector = answers[key].vector
        assert vector is not None
        assert encode(vector[None]) == [blob_of(text)]


def test_results_say_how_many_tokens_were_used(api: BatchApi) -> None:
    batch_id = submitted(api)
    ended(api, batch_id)
    assert sum(answer.tokens for answer in api.results(batch_id, TEXTS)) == 9


def test_the_key_goes_along_with_every_request(api: BatchApi, server: BatchServer) -> None:
    batch_id = submitted(api)
    ended(api, batch_id)
    list(api.results(batch_id, TEXTS))
    name = "x-goog-api-key" if server.service == "gemini" else "authorization"
    assert all(KEY in headers[name] for headers in server.headers)


def test_openai_is_asked_as_directly() -> None:
    with serving(BatchServer("openai")) as server, api_of(server) as api:
        submitted(api, {"k": "text"})
        body = {"model": MODELS["openai"], "input": ["text"], "encoding_format": "float", "dimensions": 8}
        assert only_line(server) == {
            "custom_id": "k",
            "method": "POST",
            "url": "/v1/embeddings",
            "body": body,
        }
        (batch,) = server.batches.values()
        assert batch.request == {
            "input_file_id": "file-1",
            "endpoint": "/v1/embeddings",
            "completion_window": "24h",
            "metadata": {"recollect": "token"},
        }


def test_voyage_names_the_model_once_and_says_that_texts_are_documents() -> None:
    with serving(BatchServer("voyage")) as server, api_of(server) as api:
        submitted(api, {"k": "text"})
        assert only_line(server) == {"custom_id": "k", "body": {"input": ["text"]}}
        (batch,) = server.batches.values()
        assert batch.request["completion_window"] == "12h"
        assert batch.request["request_params"]["model"] == MODELS["voyage"]
        assert batch.request["request_params"]["input_type"] == "document"
        assert "input" not in batch.request["request_params"]


def test_gemini_gets_whole_requests() -> None:
    with serving(BatchServer("gemini")) as server, api_of(server) as api:
        assert submitted(api, {"k": "text"}) == "batches/batch-1"
        request = {
            "model": f"models/{MODELS['gemini']}",
            "content": {"parts": [{"text": "text"}]},
            "taskType": "RETRIEVAL_DOCUMENT",
            "outputDimensionality": 8,
        }
        assert only_line(server) == {"key": "k", "request": request}
        (batch,) = server.batches.values()
        expected = {"displayName": "token", "inputConfig": {"fileName": "files/file-1"}}
        assert batch.request == {"batch": expected}


def test_a_text_with_half_a_character_does_not_spoil_the_file(api: BatchApi, server: BatchServer) -> None:
    submitted(api, {"k": "half \ud83d of it\nand \u2028 more"})
    assert server.handed == ["half ? of it\nand \u2028 more"]


def test_an_error_in_the_results_is_told_apart_from_vectors(api: BatchApi, server: BatchServer) -> None:
    server.fails = {TEXTS["note-key-1"]: "cannot be read"}
    batch_id = submitted(api)
    ended(api, batch_id)
    answers = {answer.key: answer for answer in api.results(batch_id, TEXTS)}
    assert answers["note-key-1"].vector is None
    assert answers["note-key-1"].reason.endswith("refused the text: cannot be read")
    assert answers["note-key-2"].vector is not None


@pytest.mark.parametrize("end", ["failed", "expired", "cancelled"])
def test_an_end_without_results_is_reported(api: BatchApi, server: BatchServer, end: Any) -> None:
    server.ends = end
    batch_id = submitted(api)
    assert ended(api, batch_id) == end
    assert list(api.results(batch_id, TEXTS)) == []


def test_a_failed_batch_says_why(api: BatchApi, server: BatchServer) -> None:
    server.ends, server.polls = "failed", 0
    assert api.state(submitted(api)).reason == "the file is no good"


def test_an_expired_batch_gives_what_was_done(api: BatchApi, server: BatchServer) -> None:
    server.ends, server.done_share = "expired", 0.67
    batch_id = submitted(api)
    ended(api, batch_id)
    assert sum(answer.vector is not None for answer in api.results(batch_id, TEXTS)) == 2


def test_the_state_counts(api: BatchApi, server: BatchServer) -> None:
    batch_id = submitted(api)
    running = api.state(batch_id)
    assert (running.phase, running.completed, running.total) == ("running", 0, 3)
    done = api.state(batch_id)
    assert (done.phase, done.completed, done.total) == ("done", 3, 3)


@pytest.mark.parametrize("state", ["JOB_STATE_SUCCEEDED", "BATCH_STATE_SUCCEEDED", "DONE", "COMPLETED"])
def test_every_name_of_success_at_gemini_is_known(state: str) -> None:
    class OneReply(Http):
        def json(self, *arguments: Any, **options: Any) -> Any:
            return {"name": "batches/b", "state": state}

    api = _api_over(OneReply("https://localhost/v1beta", {}, name="gemini"))
    assert api.state("batches/b").phase == "done"


@pytest.mark.parametrize(
    "reply", [None, [], "", 7, {}, {"metadata": []}, {"state": 3, "done": 1, "error": "x"}, {"batchStats": 1}]
)
@pytest.mark.parametrize("service", SERVICES)
def test_a_strange_reply_is_a_batch_that_runs(service: Service, reply: Any) -> None:
    class OneReply(Http):
        def json(self, *arguments: Any, **options: Any) -> Any:
            return reply

    api = _api_over(OneReply("https://localhost/v1", {}, name=service))
    assert api.state("b").phase == "running"
    assert api.find("token") is None
    assert list(api.results("b", TEXTS)) == []


def _api_over(http: Http) -> BatchApi:
    service = http.who.split()[0]
    provider = RemoteProvider(REMOTE[service], Embeddings(provider=service, api_key=KEY), None, {})
    provider.http = http
    api = batches_of(provider)
    assert api is not None
    return api


@pytest.mark.parametrize("fault", [429, 500, 503])
def test_create_is_tried_three_times(api: BatchApi, server: BatchServer, fault: Fault) -> None:
    server.faults = {"create": [fault, fault]}
    submitted(api)
    assert server.asked.count("create") == 3


@pytest.mark.parametrize(("fault", "error"), [(429, QuotaExceeded), (500, ProviderUnreachable)])
def test_create_is_given_up_after_three_attempts(
    api: BatchApi, server: BatchServer, fault: Fault, error: type[Exception]
) -> None:
    server.faults = {"create": [fault] * 3}
    with pytest.raises(error):
        submitted(api)
    assert server.asked.count("create") == 3


@pytest.mark.parametrize("fault", ["lost", "prose"])
def test_a_batch_whose_creation_seemed_to_fail_is_not_made_twice(
    api: BatchApi, server: BatchServer, fault: Fault
) -> None:
    server.faults = {"create": [fault]}
    assert submitted(api).endswith("batch-1")
    assert server.asked.count("create") == 1
    assert len(server.batches) == 1


def test_404_at_create_means_that_there_are_no_batches(api: BatchApi, server: BatchServer) -> None:
    server.faults = {"create": [404]}
    with pytest.raises(ProviderUnusable, match="does not offer batches") as caught:
        submitted(api)
    assert "embeddings.batch.enabled" in caught.value.todo
    assert server.asked.count("create") == 1


def test_a_wrong_key_is_unusable(server: BatchServer) -> None:
    with api_of(server, key="wrong") as api, pytest.raises(ProviderUnusable):
        submitted(api)


def test_a_batch_is_found_by_its_token_on_a_later_page(api: BatchApi, server: BatchServer) -> None:
    first = submitted(api, token="wanted")
    file = api.upload(TEXTS)
    for number in range(120):
        api.create(file, f"other {number}")
    assert api.find("wanted") == first
    assert server.asked.count("list") == (1 if server.service == "gemini" else 2)
    assert api.find("other 119") is not None


def test_a_token_that_nobody_used_is_not_found(api: BatchApi) -> None:
    submitted(api)
    assert api.find("never") is None


def test_a_batch_that_does_not_exist_is_unusable(api: BatchApi) -> None:
    with pytest.raises(ProviderUnusable):
        api.state("batches/none" if api.service.startswith("gemini") else "none")


def test_a_cancelled_batch_is_cancelled(api: BatchApi) -> None:
    batch_id = submitted(api)
    api.cancel(batch_id)
    assert api.state(batch_id).phase == "cancelled"


def test_tidy_removes_the_texts_from_the_service(api: BatchApi, server: BatchServer) -> None:
    batch_id = submitted(api)
    ended(api, batch_id)
    api.delete_files(batch_id)
    assert server.files == {}


def test_a_download_that_breaks_off_is_an_error_after_the_good_lines(
    api: BatchApi, server: BatchServer
) -> None:
    batch_id = submitted(api)
    ended(api, batch_id)
    server.faults = {"download": ["cut"]}
    answers = api.results(batch_id, TEXTS)
    assert next(answers).key == "note-key-0"
    with pytest.raises(ProviderUnreachable):
        next(answers)


def test_a_poll_is_tried_again_while_the_service_is_busy(api: BatchApi, server: BatchServer) -> None:
    batch_id = submitted(api)
    server.faults = {"poll": [503, 429]}
    assert api.state(batch_id).phase == "running"


def test_other_services_offer_no_batches() -> None:
    settings = Embeddings(provider="mistral", api_key=KEY)
    assert batches_of(RemoteProvider(REMOTE["mistral"], settings, None, {})) is None


@pytest.mark.parametrize(
    ("limits", "sizes"),
    [
        (BatchLimits(4, 10**9), [4, 4, 2]),
        (BatchLimits(100, 1), [1] * 10),
        (BatchLimits(100, 10**9), [10]),
    ],
)
def test_texts_are_divided_by_the_limits(
    api: BatchApi, monkeypatch: pytest.MonkeyPatch, limits: BatchLimits, sizes: list[int]
) -> None:
    monkeypatch.setattr(type(api), "limits", limits)
    texts = some_texts(10)
    groups = list(api.split(texts))
    assert [len(group) for group in groups] == sizes
    assert {key: text for group in groups for key, text in group.items()} == texts


def test_no_file_is_larger_than_the_limit(api: BatchApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(api), "limits", BatchLimits(100, 1000))
    for group in api.split({str(number): '\x00"ü' * number for number in range(20)}):
        assert sum(len(api.line(key, text)) for key, text in group.items()) <= 1000
