"""Searches that a person or an agent asks for are reranked: in order only, in time, or not at all."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines import Memory
from memlines.embed.rerank import select
from memlines.errors import SettingsError
from memlines.memory.reranking import mix
from memlines.settings.trusted_files import trust
from memlines.types import SearchResult
from tests.embed import tiny_onnx
from tests.embed.fake_reranker import RerankServer, rerank_server
from tests.embed.fake_service import Status
from tests.memories import write
from tests.programs import Cli, Outcome

QUERY = "billing database"
WORDS = {"embeddings.provider": "none"}
"""Without vectors, so that the tests are quick; a search by choice of words alone is another thing."""


@pytest.fixture
def workspace(workspace: Path) -> Path:
    notes = {
        f"memory/{number}.md": f"# Meeting {number}\n\nbilling database {'talk ' * number}\n"
        for number in range(1, 8)
    }
    answer = f"# Choices\n\npostgres is the database that was chosen for billing {'after talks ' * 20}\n"
    write(workspace, {**notes, "memory/answer.md": answer})
    return workspace


@pytest.fixture
def server() -> Iterator[RerankServer]:
    """A server whose model likes the answer best, which search by words puts last."""
    with rerank_server("cohere") as running:
        running.score = lambda query, text: float("postgres" in text)
        yield running


def found(workspace: Path, settings: dict[str, Any], **options: Any) -> SearchResult:
    with Memory(workspace, {**WORDS, **settings}) as memory:
        return memory.search(QUERY, **options)


def paths(result: SearchResult) -> list[str]:
    return [hit.path for hit in result]


# The order


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(-20, 20)), min_size=1, max_size=30), st.floats(0, 1))
def test_every_hit_has_one_place(scores: list[tuple[float, float]], weight: float) -> None:
    order = mix([one for one, _ in scores], [other for _, other in scores], weight)
    assert sorted(order) == list(range(len(scores)))


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(-20, 20)), min_size=1, max_size=30))
def test_without_weight_the_order_of_search_stays(scores: list[tuple[float, float]]) -> None:
    order = mix([one for one, _ in scores], [other for _, other in scores], 0)
    assert order == list(range(len(scores)))


def test_with_all_the_weight_the_reranker_alone_decides() -> None:
    assert mix([0.9, 0.8, 0.1], [-3, -7, 4], 1) == [2, 0, 1]


def test_the_scale_of_the_reranker_does_not_matter() -> None:
    small = [0.2, 0.9, 0.5]
    assert mix([0.9, 0.5, 0.4], small, 0.5) == mix([0.9, 0.5, 0.4], [1000 * one - 77 for one in small], 0.5)


def test_hits_that_search_finds_equal_are_ordered_by_the_reranker() -> None:
    assert mix([0.66, 0.65, 0.64], [0.1, 0.2, 9.0], 0.35) == [2, 0, 1]


def test_a_far_better_hit_stays_first() -> None:
    assert mix([0.9, 0.2], [0.1, 0.9], 0.35) == [0, 1]


# What is sent, and what comes of it


def test_the_best_hits_are_sent_with_their_headings_and_come_in_a_better_order(
    workspace: Path, server: RerankServer
) -> None:
    plain = found(workspace, {}, max_results=8)
    result = found(workspace, server.settings(weight=1.0), max_results=8)
    (seen,) = server.requests

    assert seen.body["query"] == QUERY
    assert seen.texts == [f"{hit.heading}\n{hit.snippet.strip()}" for hit in plain]
    assert (paths(plain)[-1], paths(result)[0]) == ("memory/answer.md", "memory/answer.md")
    assert (result[0].why.reranked, result.warnings) == (1.0, ())


def test_the_notes_of_a_day_stay_in_the_order_of_time(workspace: Path, server: RerankServer) -> None:
    write(workspace, {"memory/log.md": "- 2026-11-15: talks\n", "memory/note.md": "- 2026-11-15: postgres\n"})
    with Memory(workspace, {**WORDS, **server.settings(weight=1.0)}) as memory:
        result = memory.search("what happened yesterday?", now=datetime(2026, 11, 16, tzinfo=UTC))
    assert (paths(result), server.requests) == (["memory/log.md", "memory/note.md"], [])


def test_scores_and_bands_stay_as_search_decided_them(workspace: Path, server: RerankServer) -> None:
    plain = {hit.path: (hit.score, hit.band) for hit in found(workspace, {}, max_results=8)}
    result = found(workspace, server.settings(weight=1.0), max_results=8)

    assert {hit.path: (hit.score, hit.band) for hit in result} == plain


def test_a_hit_below_the_cut_can_come_up_into_it(workspace: Path, server: RerankServer) -> None:
    plain = found(workspace, {}, max_results=2)
    result = found(workspace, server.settings(weight=1.0), max_results=2)

    assert "memory/answer.md" not in paths(plain)
    assert paths(result)[0] == "memory/answer.md"
    assert len(result) == 2


def test_hits_beyond_the_candidates_follow_as_they_were(workspace: Path, server: RerankServer) -> None:
    write(workspace, {f"memory/more-{n}.md": f"billing database {'chat ' * n}\n" for n in range(1, 8)})
    plain = found(workspace, {}, max_results=15)
    result = found(workspace, server.settings(weight=1.0, candidates=8), max_results=15)

    assert len(server.requests[0].texts) == 8
    assert paths(result)[8:] == paths(plain)[8:]
    assert [hit.why.reranked for hit in result][8:] == [None] * (len(plain) - 8)


@pytest.mark.parametrize(
    ("settings", "options"),
    [
        ({}, {"mode": "words"}),
        ({}, {"strict": True}),
        ({"profile": "openclaw"}, {}),
        ({"rerank.provider": "none"}, {}),
    ],
)
def test_other_searches_send_nothing(
    workspace: Path, server: RerankServer, settings: dict[str, Any], options: dict[str, Any]
) -> None:
    assert found(workspace, {**server.settings(), **settings}, **options)
    assert server.requests == []


@pytest.mark.parametrize(
    "use",
    [
        lambda memory: memory.context(QUERY),
        lambda memory: memory.remember("we did pick postgres, which is the database for billing"),
        lambda memory: memory.forget_candidates(QUERY),
        lambda memory: memory.facts.recall(QUERY),
        lambda memory: memory.warm_up(),
    ],
    ids=["context", "remember", "forget", "facts", "warm-up"],
)
def test_what_was_not_asked_for_is_not_reranked(
    workspace: Path, server: RerankServer, use: Callable[[Memory], object]
) -> None:
    with Memory(workspace, {**WORDS, **server.settings()}) as memory:
        use(memory)
    assert server.requests == []


def test_filters_of_a_query_are_not_sent(workspace: Path, server: RerankServer) -> None:
    with Memory(workspace, {**WORDS, **server.settings()}) as memory:
        memory.search(f"{QUERY} path:memory -secretword")
    assert server.requests[0].body["query"] == "billing database"


# Failures


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Status(401), "Check rerank.api_key"),
        (Status(429), "Try again"),
        (Status(503), "Try again"),
        ("html", "rerank.base_url"),
        ("count", "rerank.model"),
        ("silent", "Set rerank.timeout_ms higher"),
    ],
)
def test_a_failure_leaves_the_order_as_it_was_with_one_warning(
    workspace: Path, server: RerankServer, fault: Any, words: str
) -> None:
    plain = found(workspace, {})
    server.fault = fault
    result = found(workspace, server.settings(timeout_ms=200 if fault == "silent" else 30_000))

    (warning,) = result.warnings
    assert warning.startswith("the hits are not reranked: ")
    assert words in warning
    assert result.hits == plain.hits


def test_no_search_waits_longer_than_the_limit(workspace: Path, server: RerankServer) -> None:
    server.fault = "silent"
    with Memory(workspace, {**WORDS, **server.settings(timeout_ms=100)}) as memory:
        memory.search(QUERY, mode="words")  # which indexes
        begin = time.monotonic()
        memory.search(QUERY)
        assert time.monotonic() - begin < 10


def test_a_model_on_this_machine_is_not_waited_for_either(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memlines.embed.rerank.onnx.OnnxReranker.load", lambda self: time.sleep(60))
    model = {"rerank.provider": "onnx", "rerank.path": str(tiny_onnx.write(tmp_path / "model"))}
    with Memory(workspace, {**WORDS, **model, "rerank.timeout_ms": 100}) as memory:
        memory.search(QUERY, mode="words")  # which indexes
        begin = time.monotonic()
        result = memory.search(QUERY)

    assert time.monotonic() - begin < 10
    assert "did not answer within 0.1 seconds" in result.warnings[0]


@pytest.mark.parametrize(("rest", "asked"), [(60.0, 1), (0.0, 2)])
def test_after_a_failure_it_rests_without_a_word(
    workspace: Path, server: RerankServer, monkeypatch: pytest.MonkeyPatch, rest: float, asked: int
) -> None:
    monkeypatch.setattr(select, "_REST_SECONDS", rest)
    with Memory(workspace, {**WORDS, **server.settings()}) as memory:
        server.fault = Status(503)
        assert memory.search(QUERY).warnings
        server.fault = None
        assert memory.search(QUERY).warnings == ()
        assert len(server.requests) == asked


def test_a_limit_on_spending_is_a_reason_and_nothing_is_sent(workspace: Path, server: RerankServer) -> None:
    result = found(workspace, {**server.settings(), "spend.max_per_day": 0.001})

    assert "spend.max_per_day" in result.warnings[0]
    assert server.requests == []


def test_without_a_key_it_says_what_to_set(workspace: Path) -> None:
    (warning,) = found(workspace, {"rerank.provider": "voyage"}).warnings
    assert warning.endswith("voyage has no key. Set rerank.api_key, or the variable VOYAGE_API_KEY")


def test_a_program_can_end_while_its_model_loads(workspace: Path, tmp_path: Path) -> None:
    model = {"rerank.provider": "onnx", "rerank.path": str(tiny_onnx.write(tmp_path / "model"))}
    settings = {**WORDS, **model, "rerank.timeout_ms": 50}
    code = (
        "from memlines import Memory\n"
        f"with Memory({str(workspace)!r}, {settings!r}) as m: print(len(m.search({QUERY!r})))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8")
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "6", "")


def test_a_model_in_a_folder_reranks(workspace: Path, tmp_path: Path) -> None:
    model = {"rerank.provider": "onnx", "rerank.path": str(tiny_onnx.write(tmp_path / "model"))}
    given = [
        hit.why.reranked or 0
        for hit in found(workspace, {**model, "rerank.weight": 1.0, "rerank.timeout_ms": 30_000})
    ]

    assert given == sorted(given, reverse=True)
    assert given[0] > 1


# Trust


def config_file(workspace: Path, text: str) -> Path:
    file = workspace / ".memory" / "config.yaml"
    file.parent.mkdir()
    file.write_text(text, encoding="utf-8")
    return file


def test_a_projects_file_cannot_send_text_anywhere(workspace: Path, server: RerankServer) -> None:
    lines = [f"  {name.partition('.')[2]}: {value}" for name, value in server.settings().items()]
    config = config_file(workspace, "\n".join(["rerank:", *lines, "  path: x", "  model: y", ""]))

    refused = r"sets rerank.provider, rerank.base_url, rerank.api_key, rerank.timeout_ms, rerank.path"
    with pytest.raises(SettingsError, match=refused):
        found(workspace, {})
    assert server.requests == []

    trust(config)
    assert found(workspace, {})[0].why.reranked is not None


@pytest.mark.parametrize("key", ["candidates: 30", "timeout_ms: 60000"])
def test_a_projects_file_may_not_ask_for_more(workspace: Path, key: str) -> None:
    config_file(workspace, f"rerank: {{{key}}}")
    with pytest.raises(SettingsError, match="rerank"):
        Memory(workspace)


def test_a_projects_file_may_ask_for_less(workspace: Path) -> None:
    config_file(workspace, "rerank: {candidates: 8, timeout_ms: 500, weight: 0.9}")
    with Memory(workspace) as memory:
        rerank = memory.settings.rerank
        assert (rerank.candidates, rerank.timeout_ms, rerank.weight) == (8, 500, 0.9)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, cli: Cli, workspace: Path) -> Callable[..., Outcome]:
    """Runs a command in the workspace with settings."""

    def run(settings: dict[str, Any], *arguments: str) -> Outcome:
        for name, value in settings.items():
            monkeypatch.setenv(f"MEMLINES_{name.upper().replace('.', '__')}", str(value))
        return cli(*arguments, "--workspace", str(workspace))

    return run


def test_the_key_is_never_shown(asked: Callable[..., Outcome]) -> None:
    shown = asked({"rerank.api_key": "sk-very-secret"}, "config", "show")

    assert "rerank.api_key" in shown.out
    assert "sk-very-secret" not in shown.out


# What people see


def test_search_explains_what_the_reranker_gave(asked: Callable[..., Outcome], server: RerankServer) -> None:
    answer = asked({**WORDS, **server.settings(weight=1.0)}, "search", "--why", QUERY)
    assert "reranked 1.000" in answer.out


def test_json_has_what_the_reranker_gave(asked: Callable[..., Outcome], server: RerankServer) -> None:
    answer = asked({**WORDS, **server.settings(weight=1.0)}, "search", "--json", QUERY)
    assert answer.json["results"][0]["why"]["reranked"] == 1.0


def test_status_names_the_reranker_and_where_hits_go(
    asked: Callable[..., Outcome], server: RerankServer
) -> None:
    host = server.url.split("/")[2]
    status = asked({**WORDS, **server.settings()}, "status")

    assert "reranker   cohere (rerank-v4.0-fast), the best 8 hits" in status.out
    assert f"text goes  {host}, on this machine" in status.out
    assert server.requests == []


def test_status_without_a_reranker_does_not_mention_one(asked: Callable[..., Outcome]) -> None:
    assert "\nreranker" not in asked(WORDS, "status").out


def test_deep_status_tries_it_with_two_words(asked: Callable[..., Outcome], server: RerankServer) -> None:
    status = asked({**WORDS, **server.settings()}, "status", "--deep")

    assert (status.code, server.requests[0].texts) == (0, ["memory", "weather"])
    assert "it works" in status.out


def test_deep_status_exits_with_6_if_it_does_not_work(
    asked: Callable[..., Outcome], server: RerankServer
) -> None:
    server.fault = Status(401)
    status = asked({**WORDS, **server.settings()}, "status", "--deep")

    assert status.code == 6
    assert "Check rerank.api_key" in status.out


@pytest.mark.parametrize(
    ("fault", "options", "line"),
    [
        (None, [], "ok       reranker   cohere (rerank-v4.0-fast); hits go to"),
        (None, ["--deep"], "it works"),
        (Status(401), ["--deep"], "problem  reranker   cohere"),
    ],
)
def test_doctor_looks_at_the_reranker(
    asked: Callable[..., Outcome], server: RerankServer, fault: Any, options: list[str], line: str
) -> None:
    server.fault = fault
    assert line in asked({**WORDS, **server.settings()}, "doctor", *options).out
    assert bool(server.requests) == bool(options)


def test_nothing_of_it_is_imported_without_a_reranker(workspace: Path) -> None:
    code = (
        "import sys; from memlines import Memory\n"
        f"m = Memory({str(workspace)!r}, {WORDS!r})\n"
        f"m.search({QUERY!r}); m.warm_up(); m.status(); m.close()\n"
        "print(*[n for n in sys.modules if 'rerank' in n or n in ('onnxruntime', 'tokenizers', 'httpx2')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, encoding="utf-8")
    assert done.stdout.split() == ["memlines.settings.rerank"]
