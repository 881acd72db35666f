"""Everything a run of batches needs, around a server of `fake_batches`; time passes only in `sleep`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from memlines.embed.base import Use
from memlines.embed.batches.base import BatchLimits
from memlines.embed.batches.services import BatchApi, batches_of
from memlines.embed.remote.provider import RemoteProvider
from memlines.embed.remote.services import REMOTE
from memlines.errors import SpendLimit
from memlines.index.store.sqlite.cache import Submitted
from memlines.index.sync.batch_journal import BatchJournal, Failures
from memlines.index.sync.batches import BatchRun
from memlines.settings.tree import Batch, Embeddings
from tests.embed.fake_batches import DIMS, KEY, BatchServer, Service, blob_of, serving

MODELS = {"openai": "text-embedding-3-small", "voyage": "voyage-4-large", "gemini": "gemini-embedding-001"}
SERVICES: tuple[Service, ...] = ("openai", "voyage", "gemini")
QUIET = Batch(enabled=True, min_texts=1, wait=False)
"""Hand in, and let a later run fetch."""


def some_texts(count: int, word: str = "note") -> dict[str, str]:
    """Texts by key, as different as they need to be."""
    return {f"{word}-key-{number}": f"{word} number {number} about çedilla" for number in range(count)}


@dataclass
class KeptJournal:
    """A journal that survives whatever happens to a run."""

    noted: dict[str, Submitted] = field(default_factory=dict)
    failed: Failures = field(default_factory=Failures)
    kept: dict[str, bytes] = field(default_factory=dict)
    times_kept: Counter[str] = field(default_factory=Counter)
    slices: list[int] = field(default_factory=list)
    """How many vectors were kept at a time."""

    def submitted(self) -> list[Submitted]:
        return list(self.noted.values())

    def note(self, batch: Submitted) -> None:
        self.noted[batch.token] = batch

    def drop(self, token: str) -> None:
        self.noted.pop(token, None)

    def failures(self) -> Failures:
        return self.failed

    def note_failures(self, failures: Failures) -> None:
        self.failed = failures

    def keep(self, vectors: Mapping[str, bytes]) -> None:
        self.kept.update(vectors)
        self.slices.append(len(vectors))
        self.times_kept.update(vectors.keys())


@dataclass
class CountingMeter:
    """Counts tokens, and stops at a limit."""

    most: int | None = None
    spent: int = 0
    settled: list[tuple[int, int]] = field(default_factory=list)

    def reserve(self, tokens: int, use: Use) -> None:
        if self.most is not None and self.spent + tokens > self.most:
            raise SpendLimit("the limit of the test is reached")
        self.spent += tokens

    def settle(self, reserved: int, used: int, use: Use) -> None:
        self.spent += used - reserved
        self.settled.append((reserved, used))

    def begin_run(self) -> None:
        self.spent = 0


class Killed(BaseException):
    """What ends a process at once."""


@dataclass
class Mortal:
    """Does what another object does, and may die before or after everything that is asked of it."""

    inner: Any
    step: Callable[[], None]

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.inner, name)
        if not callable(value):
            return value

        def called(*arguments: Any) -> Any:
            self.step()
            answer = value(*arguments)
            if name == "results":
                return self._item_by_item(answer)
            self.step()
            return answer

        return called

    def _item_by_item(self, items: Iterator[Any]) -> Iterator[Any]:
        for item in items:
            self.step()
            yield item


@dataclass
class Desk:
    """One person's texts, journal and vectors, and the service they use."""

    server: BatchServer
    api: BatchApi
    texts: dict[str, str]
    settings: Batch = field(default_factory=lambda: Batch(enabled=True, min_texts=1))
    journal: KeptJournal = field(default_factory=KeptJournal)
    meter: CountingMeter | None = None
    now: float = 1_800_000_000.0
    said: list[tuple[int, int, str]] = field(default_factory=list)
    stop_at: int | None = None
    """After how many calls of `progress` it raises `KeyboardInterrupt`."""

    def waiting(self) -> dict[str, str]:
        return {key: text for key, text in self.texts.items() if key not in self.journal.kept}

    def run(self, *, step: Callable[[], None] | None = None) -> BatchRun:
        """Embed what has no vector; `step` may raise at whatever the run does."""
        api, journal = self.api, cast(BatchJournal, self.journal)
        if step is not None:
            api, journal = cast(BatchApi, Mortal(api, step)), cast(BatchJournal, Mortal(journal, step))
        batches = BatchRun(
            api,
            journal,
            self.waiting(),
            self.settings,
            self._progress,
            meter=self.meter,
            clock=lambda: self.now,
            sleep=self._sleep,
        )
        batches.work()
        return batches

    def _progress(self, completed: int, total: int, label: str) -> None:
        self.said.append((completed, total, label))
        if self.stop_at is not None and len(self.said) >= self.stop_at:
            self.stop_at = None
            raise KeyboardInterrupt

    def _sleep(self, seconds: float) -> None:
        self.now += seconds


@contextmanager
def api_of(server: BatchServer, *, key: str = KEY) -> Iterator[BatchApi]:
    """The batches of a server that is listening."""
    path = "/v1beta" if server.service == "gemini" else "/v1"
    settings = Embeddings(
        provider=server.service,
        model=MODELS[server.service],
        base_url=server.url + path,
        api_key=key,
        dimensions=DIMS,
    )
    provider = RemoteProvider(REMOTE[server.service], settings, None, {})
    with closing(provider.http):
        api = batches_of(provider)
        assert api is not None
        yield api


@contextmanager
def desk(server: BatchServer, texts: dict[str, str] | None = None) -> Iterator[Desk]:
    """A desk with ten texts, unless others are given, beside a listening server."""
    with serving(server), api_of(server) as api:
        yield Desk(server, api, some_texts(10) if texts is None else texts)


def assert_all_kept_once(at: Desk) -> None:
    """Every text has its vector, and got it once."""
    assert at.journal.kept == {key: blob_of(text) for key, text in at.texts.items()}
    assert set(at.journal.times_kept.values()) == {1}


def in_groups_of(monkeypatch: pytest.MonkeyPatch, at: Desk, size: int) -> None:
    """Let a batch hold only so many texts."""
    monkeypatch.setattr(type(at.api), "limits", BatchLimits(size, 10**9))
