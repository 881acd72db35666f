"""What a memory does with a service that makes its vectors: where text goes, what fails, what it costs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memlines import Memory
from memlines.embed.passages import PASSAGES
from memlines.index.sync import pending
from memlines.paths import user_state_dir
from tests.embed.fake_service import ProviderServer, Status, impatient, provider_server
from tests.indexes import reading
from tests.memories import write
from tests.providers import FakeProvider

NOTES = {f"n{number}.md": f"the okapi called name{number} sleeps" for number in range(12)}


@pytest.fixture
def server() -> Iterator[ProviderServer]:
    with provider_server("openai-compatible") as server:
        yield server


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    impatient(monkeypatch)
    monkeypatch.setattr(pending, "_GROUP", 4)


def opened(workspace: Path, server: ProviderServer, **more: Any) -> Memory:
    write(workspace, NOTES)
    settings = {
        "embeddings.provider": "openai-compatible",
        "embeddings.base_url": server.url,
        "embeddings.api_key": server.key,
        "embeddings.model": "some-model",
    }
    return Memory(workspace, {**settings, **{key.replace("__", "."): value for key, value in more.items()}})


# Where text goes


def test_status_says_that_text_stays_on_this_machine(workspace: Path, server: ProviderServer) -> None:
    with opened(workspace, server) as memory:
        assert memory.status().sends_text_to == f"{server.url.split('/')[2]}, on this machine"


def test_status_names_the_host_that_gets_text(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOYAGE_API_KEY", "k")
    with Memory(workspace, {"embeddings.provider": "voyage"}) as memory:
        assert memory.status().sends_text_to == "api.voyageai.com"


def test_a_key_in_the_environment_alone_sends_nothing(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with Memory(workspace) as memory:
        assert memory.status().provider == "builtin"


# The probe


def test_the_probe_says_that_the_provider_works(workspace: Path, server: ProviderServer) -> None:
    with opened(workspace, server) as memory:
        probe = memory.status(deep=True).probe
    assert probe is not None
    assert (probe["ok"], probe["message"]) == (True, "it works and returns 8 numbers a text")
    assert server.texts() == ["memory"]


@pytest.mark.parametrize(
    ("fault", "code", "words"),
    [
        (Status(401, "Incorrect API key"), "provider-unusable", "key"),
        (Status(404, "The model does not exist"), "provider-unusable", "model"),
        (Status(429, "You exceeded your current quota", "insufficient_quota"), "provider-quota", "quota"),
        (Status(503, "overloaded"), "provider-unreachable", "503"),
        ("html", "provider-unreachable", "JSON"),
        ("reset", "provider-unreachable", ""),
    ],
)
def test_the_probe_says_in_a_sentence_why_the_provider_does_not_work(
    workspace: Path, server: ProviderServer, fault: Any, code: str, words: str
) -> None:
    server.always = fault
    with opened(workspace, server) as memory:
        probe = memory.status(deep=True).probe
    assert probe is not None
    assert (probe["ok"], probe["code"]) == (False, code)
    assert words in probe["message"]
    assert server.key not in probe["message"]


def test_the_probe_says_that_nobody_listens(workspace: Path, server: ProviderServer) -> None:
    with opened(workspace, server, embeddings__base_url="http://127.0.0.1:9/v1") as memory:
        probe = memory.status(deep=True).probe
    assert probe is not None
    assert probe["code"] == "provider-unreachable"
    assert "127.0.0.1:9" in probe["message"]


def test_the_probe_says_that_another_length_was_asked_for(workspace: Path, server: ProviderServer) -> None:
    with opened(workspace, server, embeddings__dimensions=16) as memory:
        probe = memory.status(deep=True).probe
    assert probe is not None
    assert probe["code"] == "bad-vectors"
    assert "16" in probe["message"]


# Fallback


@pytest.fixture
def _fake_is_builtin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memlines.embed.builtin.files.BuiltinProvider", Standby)


class Standby(FakeProvider):
    """The provider that takes over."""

    def __init__(self) -> None:
        super().__init__(id="builtin")


@pytest.mark.usefixtures("_fake_is_builtin")
def test_a_service_that_refuses_everything_is_replaced_by_its_fallback(
    workspace: Path, server: ProviderServer
) -> None:
    server.always = Status(401, "Incorrect API key")
    with opened(workspace, server, embeddings__fallback="builtin") as memory:
        report = memory.sync()
        result = memory.search("okapi name7")
    assert (report.pending, result.provider, result.mode) == (0, "builtin", "hybrid")
    assert result.fallback is not None
    assert (result.fallback["from"], "key" in result.fallback["reason"]) == ("openai-compatible", True)


def test_a_search_says_that_words_took_the_place_of_a_service_that_fails(
    workspace: Path, server: ProviderServer
) -> None:
    with opened(workspace, server) as memory:
        memory.sync()
        assert memory.search("name7").fallback is None
        server.always = Status(401, "Incorrect API key")
        result = memory.search("name8")
    assert result.fallback is not None
    assert (result.mode, result.fallback["from"]) == ("words", "openai-compatible")


@pytest.mark.usefixtures("_fake_is_builtin")
def test_a_fault_of_a_gateway_does_not_change_the_model(workspace: Path, server: ProviderServer) -> None:
    with opened(workspace, server, embeddings__fallback="builtin") as memory:
        memory.sync()
        write(workspace, {"later.md": "the tapir eats"})
        number = len(server.requests)
        server.faults = {number + 1: Status(520), number + 2: Status(524)}
        report = memory.sync()
        assert (report.switched, report.pending, report.warnings) == ("", 0, ())
        assert memory.search("tapir").model == "some-model"


@pytest.mark.usefixtures("_fake_is_builtin")
def test_status_tells_why_the_fallback_answers_in_another_program_too(
    workspace: Path, server: ProviderServer
) -> None:
    server.always = Status(401, "Incorrect API key")
    with opened(workspace, server, embeddings__fallback="builtin") as memory:
        memory.sync()
    with opened(workspace, server, embeddings__fallback="builtin") as memory:
        fallback = memory.status().fallback
    assert fallback is not None
    assert fallback["from"] == "openai-compatible"
    assert "key" in fallback["reason"]


@pytest.mark.usefixtures("_fake_is_builtin")
def test_a_service_that_works_again_takes_its_place_back(workspace: Path, server: ProviderServer) -> None:
    server.always = Status(401, "Incorrect API key")
    with opened(workspace, server, embeddings__fallback="builtin") as memory:
        memory.sync()
    server.always = None
    with opened(workspace, server, embeddings__fallback="builtin") as memory:
        memory.sync()
        status = memory.status()
    assert {space["provider"]: space["state"] for space in status.spaces} == {
        "builtin": "kept",
        "openai-compatible": "serving",
    }
    assert status.fallback is None


@pytest.mark.usefixtures("_fake_is_builtin")
def test_a_service_that_fails_in_the_middle_is_waited_for(workspace: Path, server: ProviderServer) -> None:
    server.faults = {request: Status(500) for request in range(3, 30)}
    with opened(workspace, server, embeddings__fallback="builtin") as memory:
        report = memory.sync()
        assert [space["provider"] for space in memory.status().spaces] == ["openai-compatible"]
    assert report.pending == 8


@pytest.mark.usefixtures("_fake_is_builtin")
def test_a_fallback_does_not_take_the_place_of_a_model_that_still_answers(
    workspace: Path, server: ProviderServer
) -> None:
    with opened(workspace, server) as memory:
        memory.sync()
    server.always = Status(401, "Incorrect API key")
    settings = {"embeddings__model": "another", "embeddings__fallback": "builtin"}
    with opened(workspace, server, **settings) as memory:
        memory.sync()
        serving = [space["model"] for space in memory.status().spaces if space["state"] == "serving"]
    assert serving == ["some-model"]


def test_a_service_without_a_key_leaves_chunks_without_vectors_and_says_so(workspace: Path) -> None:
    write(workspace, NOTES)
    with Memory(workspace, {"embeddings.provider": "openai"}) as memory:
        report = memory.sync()
        assert (report.pending, "OPENAI_API_KEY" in report.warnings[-1]) == (12, True)
        assert "OPENAI_API_KEY" in memory.provider_trouble


def test_without_a_fallback_words_answer_and_the_reason_is_told(
    workspace: Path, server: ProviderServer
) -> None:
    server.always = Status(401, "Incorrect API key")
    with opened(workspace, server) as memory:
        report = memory.sync()
        result = memory.search("name7")
    assert (report.pending, result[0].path) == (12, "memory/n7.md")
    assert any("key" in warning for warning in report.warnings)
    assert any("words only" in warning for warning in result.warnings)


# What it costs


def test_a_limit_of_a_run_leaves_the_rest_pending_and_found_by_words(
    workspace: Path, server: ProviderServer
) -> None:
    with opened(workspace, server, spend__max_tokens_per_run=40) as memory:
        report = memory.sync()
        assert 0 < report.pending < 12
        assert any("spend.max_tokens_per_run" in warning for warning in report.warnings)
        assert memory.search("name11", mode="words")[0].path == "memory/n11.md"


def test_a_limit_smaller_than_a_request_lets_a_part_of_it_through(
    workspace: Path, server: ProviderServer
) -> None:
    with opened(workspace, server, spend__max_tokens_per_run=10) as memory:
        assert memory.sync().pending < 12


def test_a_plan_does_not_begin_another_run(workspace: Path, server: ProviderServer) -> None:
    def plan(completed: int, total: int, label: str) -> None:
        memory.plan()

    with opened(workspace, server, spend__max_tokens_per_run=40) as memory:
        report = memory.sync(progress=plan)
    assert report.pending > 0


def test_the_next_run_goes_on_after_the_limit_of_the_last(workspace: Path, server: ProviderServer) -> None:
    with opened(workspace, server, spend__max_tokens_per_run=40, sync__on_search=False) as memory:
        left = [memory.sync().pending for _ in range(6)]
    assert left == sorted(left, reverse=True)
    assert left[-1] == 0


def test_a_limit_of_the_day_holds_for_every_workspace(
    workspace: Path, tmp_path: Path, server: ProviderServer
) -> None:
    other = tmp_path / "other"
    (other / "memory").mkdir(parents=True)
    with opened(workspace, server, spend__max_tokens_per_day=110) as memory:
        assert memory.sync().pending == 0
    with opened(other, server, spend__max_tokens_per_day=110) as memory:
        report = memory.sync()
    assert report.pending > 0
    assert any("spend.max_tokens_per_day" in warning for warning in report.warnings)


def test_a_question_beyond_the_limit_of_the_day_is_answered_by_words(
    workspace: Path, server: ProviderServer
) -> None:
    with opened(workspace, server) as memory:
        memory.sync()
    with opened(workspace, server, spend__max_tokens_per_day=1, sync__on_search=False) as memory:
        result = memory.search("name7")
    assert (result[0].path, result.mode) == ("memory/n7.md", "words")
    assert any("spend.max_tokens_per_day" in warning for warning in result.warnings)


def test_a_question_does_not_count_for_the_limit_of_a_run(workspace: Path, server: ProviderServer) -> None:
    with opened(workspace, server, spend__max_tokens_per_run=110) as memory:
        assert memory.sync().pending == 0
        assert [memory.search("name7").mode for _ in range(30)] == ["hybrid"] * 30


def test_status_counts_what_was_sent(workspace: Path, server: ProviderServer) -> None:
    with opened(workspace, server) as memory:
        memory.sync()
        today = memory.status().spending["today"]
    assert (today["requests"], today["tokens"] > 0) == (len(server.requests), True)


def test_a_sync_tells_that_its_cost_could_not_be_written_down(
    workspace: Path, server: ProviderServer
) -> None:
    (user_state_dir() / "spending.json").mkdir(parents=True)
    with opened(workspace, server) as memory:
        report = memory.sync()
    assert report.pending == 0
    assert any("spending.json" in warning for warning in report.warnings)


# What search learns about the model


def test_the_scale_of_a_model_is_measured_once(workspace: Path, server: ProviderServer) -> None:
    with opened(workspace, server) as memory:
        memory.sync()
        write(workspace, {"more.md": "the zebra sleeps"})
        memory.sync()
        memory.sync(force=True)
    assert [text for text in server.texts() if text in PASSAGES] == list(PASSAGES)
    with reading(workspace) as index:
        assert index.vectors.background() is not None


def test_what_was_embedded_is_kept_although_measuring_fails(workspace: Path, server: ProviderServer) -> None:
    server.faults = {request: Status(429, "slow down") for request in range(2, 40)}
    with opened(workspace, server) as memory:
        report = memory.sync()
    assert report.pending == 8


def test_a_limit_that_leaves_no_room_for_measuring_does_not_stop_the_rest(
    workspace: Path, server: ProviderServer
) -> None:
    with opened(workspace, server, spend__max_tokens_per_run=200) as memory:
        assert memory.sync().pending == 0
    assert [text for text in server.texts() if text in PASSAGES] == []


# Moves and renames


def test_a_move_of_every_file_costs_no_call(workspace: Path, server: ProviderServer) -> None:
    with opened(workspace, server) as memory:
        memory.sync()
        count = len(server.requests)
        (workspace / "memory/deep").mkdir()
        for name in NOTES:
            (workspace / "memory" / name).rename(workspace / "memory/deep" / name)
        report = memory.sync()
    assert (report.pending, len(report.removed), len(server.requests)) == (0, 12, count)


def test_a_move_costs_no_call_although_the_cache_is_smaller_than_the_index(
    workspace: Path, server: ProviderServer
) -> None:
    with opened(workspace, server, cache__max_entries=3) as memory:
        memory.sync()
        count = len(server.requests)
        (workspace / "memory/deep").mkdir()
        for name in NOTES:
            (workspace / "memory" / name).rename(workspace / "memory/deep" / name)
        report = memory.sync()
        assert memory.status().cache["entries"] <= 3
    assert (report.pending, len(server.requests)) == (0, count)


# Long texts


def test_a_chunk_too_long_for_the_service_is_sent_in_pieces_and_none_is_lost(
    workspace: Path, server: ProviderServer
) -> None:
    server.max_text_bytes = 8_000
    long = " ".join(f"word{number}" for number in range(3_000))
    with opened(workspace, server, chunking__tokens=8_000) as memory:
        write(workspace, {"long.md": long})
        report = memory.sync()
    assert report.pending == 0
    sent = {word for text in server.texts() for word in text.split()}
    assert set(long.split()) <= sent


def test_a_service_that_is_not_there_is_warned_of_once(workspace: Path, server: ProviderServer) -> None:
    with opened(workspace, server) as memory:
        memory.sync()
        server.always = "reset"
        write(workspace, {"new.md": "the kestrel is new here"})
        result = memory.search("kestrel")
    assert len(result.warnings) == 1
    assert result.warnings[0].startswith("answered by words only: ")
