"""A service that fails in any way, at any request of a sync, spoils nothing and costs no more than it must.

A sync sends six requests of two notes each. One of them, or every one from there on, meets a fault. What is
asked of a service then is bounded:

- a fault that may pass is met by `RETRIES` more attempts, then the sync ends;
- a reply with bad vectors is asked for once more, then each of its texts alone, twice as well;
- a fault that will not pass by itself, such as a key that is not accepted, ends the sync at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest

from memlines import Memory
from memlines.embed.base import Limits
from memlines.embed.passages import PASSAGES
from memlines.embed.remote import http, provider
from memlines.embed.remote.services import REMOTE, Compatible
from memlines.index.sync import pending
from memlines.types import Report
from tests.embed import fake_service
from tests.embed.fake_service import (
    KEY,
    Fault,
    Protocol,
    ProviderServer,
    Status,
    impatient,
    provider_server,
    settings_for,
    vector_of,
)
from tests.faults.scale import FULL
from tests.faults.stored import check_vectors
from tests.indexes import assert_sound, index_file, reading, write

pytestmark = [
    pytest.mark.promise("P6"),
]

COUNT = 12
PER_REQUEST = 2
REQUESTS = COUNT // PER_REQUEST
RETRIES = http.DOCUMENTS.retries
PLACES = {"first": 1, "middle": 3, "last": REQUESTS}
NOTES = {f"memory/n{number}.md": f"the okapi called name{number}x sleeps" for number in range(COUNT)}
WISHED_WAIT = 7

Kind = Literal["passing", "bad", "final", "harmless", "renamed"]
Duration = Literal["once", "for good"]


@dataclass(frozen=True)
class Trouble:
    """A fault, and what it is for whoever meets it."""

    fault: Fault
    kind: Kind
    is_slow: bool = False


TROUBLES = {
    "429 with Retry-After": Trouble(
        Status(429, "slow down", headers={"retry-after": str(WISHED_WAIT)}), "passing"
    ),
    "429 without": Trouble(Status(429, "slow down"), "passing"),
    "429 for an hour": Trouble(Status(429, "slow down", headers={"retry-after": "3600"}), "final"),
    "500": Trouble(Status(500), "passing"),
    "502": Trouble(Status(502), "passing"),
    "silent": Trouble("silent", "passing", is_slow=True),
    "dripped headers": Trouble("drip-headers", "passing", is_slow=True),
    "stalled body": Trouble("stall-body", "passing", is_slow=True),
    "reset": Trouble("reset", "passing"),
    "HTML": Trouble("html", "passing"),
    "truncated JSON": Trouble("truncated", "passing"),
    "wrong count": Trouble("count", "bad"),
    "shuffled index": Trouble("shuffled", "harmless"),
    "wrong dimensions": Trouble("dims", "bad"),
    "NaN": Trouble("nan", "bad"),
    "Infinity": Trouble("infinity", "bad"),
    "zero vector": Trouble("zero", "bad"),
    "10 MB": Trouble("huge", "final"),
    "key rejected": Trouble(Status(401, f"Incorrect API key provided: {KEY}", "invalid_api_key"), "final"),
    "model changed": Trouble("model", "renamed"),
}
_FEW = ("429 with Retry-After", "reset", "wrong count", "NaN", "key rejected")
_NOT_SAID = {"gemini": ("shuffled index", "model changed"), "ollama": ("shuffled index",)}
"""Replies of these services hold no place of a vector, or not the name of a model."""


@dataclass(frozen=True)
class Case:
    """One fault at one request of a sync, and what has to come of it."""

    name: str
    protocol: Protocol
    place: int
    duration: Duration

    @property
    def trouble(self) -> Trouble:
        return TROUBLES[self.name]

    @property
    def is_met(self) -> bool:
        """Whether the sync completes all the same."""
        if self.trouble.kind == "renamed" and self.place == 1:
            return False  # the index knows by which name its vectors were made
        passes = self.trouble.kind in ("passing", "bad", "renamed") and self.duration == "once"
        return passes or self.trouble.kind == "harmless"

    @property
    def embedded(self) -> int:
        """How many notes have a vector after the sync."""
        if self.is_met:
            return COUNT
        return PER_REQUEST * (self.place - 1)

    @property
    def requests(self) -> int:
        """How many requests the sync may make."""
        if self.is_met:
            return REQUESTS + (self.duration == "once" and self.trouble.kind != "harmless")
        renamed = 1 if self.place == 1 else 2
        tries = {"passing": 1 + RETRIES, "bad": 2 * (1 + PER_REQUEST), "final": 1, "renamed": renamed}
        return self.embedded // PER_REQUEST + tries[self.trouble.kind]

    def begin(self, server: ProviderServer) -> None:
        """Let the server fail from now on."""
        last = self.place if self.duration == "once" else 10_000
        server.faults = dict.fromkeys(range(self.place, last + 1), self.trouble.fault)


def cases() -> Iterator[Any]:
    for name in TROUBLES:
        for where, place in PLACES.items():
            if FULL or where == "middle" or name != "429 for an hour":
                yield from _both(name, "openai-compatible", where, place)
    for protocol in ("gemini", "voyage", "ollama"):
        for name in (name for name in TROUBLES if name not in _NOT_SAID.get(protocol, ())):
            for where, place in PLACES.items():
                if FULL or (name in _FEW and where == "middle"):
                    yield from _both(name, protocol, where, place)


def _both(name: str, protocol: Any, where: str, place: int) -> Iterator[Any]:
    for duration in ("once", "for good"):
        yield pytest.param(Case(name, protocol, place, duration), id=f"{protocol}-{name}-{where}-{duration}")


# What a case needs


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    monkeypatch.setattr(pending, "_GROUP", PER_REQUEST)
    return impatient(monkeypatch)


def opened(workspace: Path, server: ProviderServer, **more: Any) -> Memory:
    wanted = settings_for(server)
    settings = {
        f"embeddings.{name}": getattr(wanted, name)
        for name in ("provider", "base_url", "api_key", "model", "dimensions")
        if getattr(wanted, name) is not None
    }
    changes = {key.replace("__", "."): value for key, value in more.items()}
    return Memory(workspace, {"sync.on_search": False, **settings, **changes})


def bind(workspace: Path, server: ProviderServer, **more: Any) -> None:
    """Have the first vector of the space made: what it is like binds all others, so it is asked for twice."""
    seed = workspace / "memory/seed.md"
    for act in (lambda: seed.write_text("the seed", encoding="utf-8"), seed.unlink):
        act()
        with opened(workspace, server, cache__enabled=False, **more) as memory:
            memory.sync()
    server.requests.clear()


def lose_patience(monkeypatch: pytest.MonkeyPatch, server: ProviderServer, case: Case) -> None:
    """Wait for nothing that will never come; what is well may take its time."""
    seconds = 0.8 if case.duration == "once" else 0.2

    def patience(_address: object, *, is_query: bool) -> http.Patience:
        is_bad = len(server.requests) + 1 in server.faults
        usual = http.QUERY.retries if is_query else RETRIES
        return http.Patience(seconds if is_bad else 30, 30, usual)

    monkeypatch.setattr(provider, "patience_for", patience)
    monkeypatch.setattr(http, "_FIRST_WAIT", 0.0)


def prefix_of(server: ProviderServer) -> str:
    """Return what the model reads before a passage."""
    api = REMOTE[server.protocol]
    return api.prefixes(settings_for(server).model or api.default_model)[1]


def without_vector(workspace: Path) -> list[str]:
    """Return the texts of the chunks that wait."""
    with reading(workspace) as index:
        return sorted(chunk.embedded_text for _, chunk in index.pending(index.vectors, 0, 1_000))


def searching(other: Memory) -> Callable[[int, int, str], None]:
    """Return a progress that lets another memory search by words in the middle of a sync."""

    def progress(completed: int, total: int, label: str) -> None:
        place = completed % COUNT
        if label == pending.LABEL:
            assert other.search(f"name{place}x", mode="words")[0].path == f"memory/n{place}.md"

    return progress


# The whole matrix


@pytest.mark.parametrize("case", list(cases()))
def test_a_fault_spoils_nothing_and_costs_no_more_than_it_must(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, waits: list[float], case: Case
) -> None:
    more = {"embeddings__dimensions": 8} if case.name == "wrong dimensions" else {}
    with provider_server(case.protocol) as server, opened(workspace, server, **more) as memory:
        bind(workspace, server, **more)
        write(workspace, NOTES)
        if case.trouble.is_slow:
            lose_patience(monkeypatch, server, case)
        case.begin(server)
        with opened(workspace, server) as other:
            report = memory.sync(progress=searching(other))
        assert COUNT - report.pending == case.embedded
        assert len(server.requests) <= case.requests
        if not case.trouble.is_slow:  # an attempt that ends very soon may not be seen by the server
            assert len(server.requests) == case.requests
            check_waits(case, waits)
        check_told(case, report)
        check_kept(workspace, server, memory, case.embedded)
        if case.duration == "for good":
            check_answers_meanwhile(workspace, server, case, memory, more)
        server.faults = {}
        if case.trouble.is_slow:
            server.settle()  # until it has read every attempt
        if case.name == "model changed" and case.place == 1:
            memory.close()
            memory = opened(workspace, server)  # who heard the first name holds on to it
        check_completed(workspace, server, memory)


def check_waits(case: Case, waits: list[float]) -> None:
    """The service is left alone for as long as it asks, or twice as long each time."""
    if case.trouble.kind != "passing":
        assert waits == []
        return
    assert len(waits) == (1 if case.duration == "once" else RETRIES)
    if case.name == "429 with Retry-After":
        assert set(waits) == {WISHED_WAIT}
    else:
        assert all(0.5 * 2**turn <= wait <= 0.6 * 2**turn for turn, wait in enumerate(waits))


def check_told(case: Case, report: Report) -> None:
    """What went wrong is told in a sentence that names the service, and holds no secret and no text."""
    if case.is_met:
        assert report.warnings == ()
        return
    (sentence,) = report.warnings
    known_by_index = case.trouble.kind == "renamed" and case.place == 1
    assert (case.protocol if known_by_index else f"{case.protocol} (127.0.0.1") in sentence
    assert KEY not in sentence
    assert not any(text in sentence for text in NOTES.values())


def check_kept(workspace: Path, server: ProviderServer, memory: Memory, embedded: int) -> None:
    """So many vectors are there, each the right one; the rest waits, and words find everything."""
    counts = check_vectors(workspace, server.dims, prefix_of(server))
    assert list(counts.values()) == [embedded]
    assert_sound(index_file(workspace))
    status = memory.status()
    assert status.pending == COUNT - embedded
    assert KEY not in repr(status)
    found = memory.search("okapi", mode="words", max_results=COUNT)
    assert {hit.path for hit in found} == set(NOTES)


def check_answers_meanwhile(
    workspace: Path, server: ProviderServer, case: Case, memory: Memory, more: dict[str, Any]
) -> None:
    """Whoever asks while nothing works is answered by words, and told why; it costs a few requests."""
    path, question = list(NOTES.items())[7]
    asked = len(server.requests)
    result = memory.search(question)
    assert result[0].path == path
    told = [sentence for sentence in result.warnings if "answered by words only" in sentence]
    assert bool(told) == (not case.is_met)
    assert KEY not in repr(result)
    assert len(server.requests) - asked <= 2
    if case.is_met or case.trouble.is_slow or case.trouble.kind == "renamed":
        return
    probe = memory.status(deep=True).probe
    assert probe is not None
    assert not probe["ok"]
    if case.place != PLACES["middle"] and not FULL:
        return
    asked = len(server.requests)
    with opened(workspace, server, sync__on_search=True, **more) as other:  # embeds before it answers
        assert other.search(question)[0].path == path
    assert len(server.requests) - asked <= case.requests - case.place + 1 + 2
    check_kept(workspace, server, memory, case.embedded)


def check_completed(workspace: Path, server: ProviderServer, memory: Memory) -> None:
    """A sync without faults embeds what waits and nothing else, and all of it is found by vectors."""
    waiting, asked = without_vector(workspace), len(server.requests)
    report = memory.sync()
    assert (report.pending, report.warnings) == (0, ())
    sent = [text for seen in server.requests[asked:] for text in seen.texts if text not in PASSAGES]
    assert sorted(sent) == [prefix_of(server) + text for text in waiting]
    check_kept(workspace, server, memory, COUNT)
    if server.protocol != "ollama":  # whose model reads other words before a question
        for path, text in list(NOTES.items())[:: COUNT // 3]:
            assert memory.search(text, mode="vectors")[0].path == path


# Several requests at once


def crowded() -> Iterator[Any]:
    for name in ("429 with Retry-After", "500", "reset", "wrong count", "NaN", "10 MB", "key rejected"):
        for where, place in PLACES.items():
            if FULL or where == "middle":
                yield from _both(name, "openai-compatible", where, place)


@pytest.mark.parametrize("case", list(crowded()))
def test_a_fault_among_several_requests_at_once_spoils_nothing(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, case: Case
) -> None:
    at_once = 3
    limits = Limits(8_000, request_bytes=64_000, request_texts=PER_REQUEST, at_once=at_once)
    monkeypatch.setattr(Compatible, "limits", lambda *_: limits)
    monkeypatch.setattr(pending, "_GROUP", COUNT)
    with provider_server("openai-compatible") as server, opened(workspace, server) as memory:
        bind(workspace, server)
        write(workspace, NOTES)
        case.begin(server)
        with opened(workspace, server) as other:
            report = memory.sync(progress=searching(other))
        assert len(server.requests) <= case.place - 1 + tries_of(case, at_once)
        check_told(case, report)
        check_kept(workspace, server, memory, COUNT - report.pending)
        if case.is_met or case.duration == "for good":
            assert COUNT - report.pending == case.embedded
        else:  # what is under way when the fault comes arrives all the same
            assert case.embedded <= COUNT - report.pending <= COUNT - PER_REQUEST
        server.faults = {}
        check_completed(workspace, server, memory)


def tries_of(case: Case, at_once: int) -> int:
    """Return how many requests may be made from the first fault on."""
    left = REQUESTS - case.place + 1
    if case.duration == "once":
        return left + 1
    # Bad vectors may be about some texts only, so all others are tried; anything else ends the sync.
    return left * 2 * (1 + PER_REQUEST) if case.trouble.kind == "bad" else at_once * (1 + RETRIES)


# What only a whole run of programs shows


def test_a_service_that_cannot_prove_who_it_is_gets_nothing(workspace: Path) -> None:
    write(workspace, NOTES)
    with provider_server("openai-compatible") as server:
        address = server.url.replace("http:", "https:")
        with opened(workspace, server, embeddings__base_url=address) as memory:
            report = memory.sync()
            assert (report.pending, server.requests) == (COUNT, [])
            assert "TLS" in report.warnings[0]
            assert memory.search("name7x")[0].path == "memory/n7.md"
        with opened(workspace, server) as memory:
            check_completed(workspace, server, memory)


def test_one_first_reply_of_a_wrong_length_does_not_stop_everything_after_it(workspace: Path) -> None:
    write(workspace, NOTES)
    with provider_server("openai-compatible") as server:
        server.faults = {1: "dims"}
        with opened(workspace, server) as memory:
            memory.sync()
        server.faults = {}
        with opened(workspace, server) as memory:
            assert memory.sync().pending == 0


def test_the_next_program_does_not_mix_vectors_after_the_service_changed_its_model(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(workspace, NOTES)
    with provider_server("openai-compatible") as server:

        def vectors_by_name(text: str, dims: int, model: str = "") -> list[float]:
            return vector_of(text, dims, model + ("-other" if server.always else ""))

        def change(completed: int, total: int, label: str) -> None:
            server.always = "model" if label == pending.LABEL and completed >= 4 else None

        monkeypatch.setattr(fake_service, "vector_of", vectors_by_name)
        with opened(workspace, server) as memory:
            assert memory.sync(progress=change).pending == COUNT - 4
        with opened(workspace, server) as memory:
            memory.sync()
        assert check_vectors(workspace, server.dims) == {"some-model": 4}
