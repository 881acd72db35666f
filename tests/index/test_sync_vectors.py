"""Embedding keeps nobody from the index, and what happens to the index meanwhile does no harm."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memlines.embed.base import to_blobs
from memlines.index.store.sqlite import spaces
from memlines.index.store.sqlite.db import transaction
from memlines.index.store.sqlite.index import Index
from memlines.index.sync import pending, vectors
from memlines.index.sync.job import space_of
from memlines.locks import WriterLock
from memlines.types import Report
from tests.indexes import (
    assert_sound,
    chunks_in,
    expected,
    found_by,
    index_file,
    indexed,
    left_over,
    near,
    notes,
    numbers_of,
    program,
    reading,
    sync,
    write,
)
from tests.providers import FakeProvider

if TYPE_CHECKING:
    from memlines.embed.base import Vectors

SMALL = {"chunking.tokens": 10, "chunking.overlap": 2}


@dataclass
class Meanwhile(FakeProvider):
    """Does something else once, while it is asked to embed."""

    action: Callable[[], object] | None = None

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        action, self.action = self.action, None
        if action is not None:
            thread = threading.Thread(target=action)  # as another program would: not with our locks
            thread.start()
            thread.join()
        return super().embed_documents(texts)


def vectors_of(workspace: Path) -> int:
    with reading(workspace) as index:
        return index.vectors.count()


def embedding_lock(workspace: Path) -> WriterLock:
    return WriterLock(index_file(workspace).with_name("index.sqlite.embedding.lock"))


# Nobody waits


def test_the_writer_lock_is_free_while_chunks_are_embedded(workspace: Path) -> None:
    write(workspace, notes(3))
    taken: list[bool] = []

    def take() -> None:
        with WriterLock(index_file(workspace).with_name("index.sqlite.lock")).held(0):
            taken.append(True)

    sync(workspace, Meanwhile(action=take))
    assert taken == [True]


def test_words_can_be_found_before_anything_is_embedded(workspace: Path) -> None:
    write(workspace, notes(3))
    found: list[list[str]] = []

    def look() -> None:
        with reading(workspace) as index:
            found.append(found_by(index, "own1"))

    sync(workspace, Meanwhile(action=look))
    assert found == [["memory/n1.md"]]


def test_another_sync_gets_its_words_in_while_one_embeds(workspace: Path) -> None:
    write(workspace, notes(3))
    reports: list[Report] = []

    def add() -> None:
        write(workspace, {"memory/late.md": "the okapi"})
        reports.append(sync(workspace, FakeProvider(), embed_limit=5))

    sync(workspace, Meanwhile(action=add))
    assert (reports[0].indexed, reports[0].warnings) == (("memory/late.md",), ())


def test_what_was_left_to_the_one_that_embeds_is_embedded_by_it(workspace: Path) -> None:
    write(workspace, notes(3))

    def add() -> None:
        write(workspace, {"memory/late.md": "the okapi"})
        sync(workspace, FakeProvider(), embed_limit=5)

    report = sync(workspace, Meanwhile(action=add))
    assert (report.pending, vectors_of(workspace)) == (0, 4)


def test_who_may_not_embed_says_who_does_and_what_is_missing(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "_HOLDER_WAIT", 0.05)
    write(workspace, notes(3))
    sync(workspace, FakeProvider())
    with embedding_lock(workspace).held(0):
        write(workspace, {"memory/late.md": "the okapi"})
        report = sync(workspace, FakeProvider())
    assert (report.indexed, report.pending) == (("memory/late.md",), 1)
    assert f"the missing vectors are being made by process {os.getpid()}" in report.warnings[0]


def test_nothing_to_embed_takes_no_lock(workspace: Path) -> None:
    write(workspace, notes(3))
    sync(workspace, FakeProvider())
    with embedding_lock(workspace).held(0):
        assert sync(workspace, FakeProvider()) == Report(unchanged=3)


# What happens meanwhile


def test_a_chunk_that_is_gone_when_its_vector_comes_gets_none(workspace: Path) -> None:
    write(workspace, notes(3))

    def remove() -> None:
        (workspace / "memory/n1.md").unlink()
        sync(workspace, FakeProvider(), embed_limit=0)

    report = sync(workspace, Meanwhile(action=remove))
    assert (report.pending, vectors_of(workspace)) == (0, 2)
    assert_sound(index_file(workspace))


def test_a_chunk_that_changed_meanwhile_gets_the_vector_of_its_new_text(workspace: Path) -> None:
    write(workspace, notes(3))

    def change() -> None:
        write(workspace, {"memory/n1.md": "the okapi"})
        sync(workspace, FakeProvider(), embed_limit=0)

    provider = Meanwhile(action=change)
    assert sync(workspace, provider).pending == 0
    assert provider.texts[-1] == "the okapi"


def test_a_chunk_that_got_a_vector_meanwhile_keeps_it(workspace: Path) -> None:
    write(workspace, notes(3))

    def put_vector() -> None:
        index = Index.writer(index_file(workspace), {})
        number = numbers_of(index, "memory/n1.md")[0]
        blob = to_blobs(FakeProvider().embed_query("own1")[None, :])[0]
        with transaction(index.connection):
            index.vectors.put(number, blob)
        index.close()

    report = sync(workspace, Meanwhile(action=put_vector))
    assert (report.pending, report.warnings, vectors_of(workspace)) == (0, (), 3)


def test_an_index_built_anew_meanwhile_gets_all_vectors(workspace: Path) -> None:
    write(workspace, notes(5))
    provider = Meanwhile(action=lambda: sync(workspace, FakeProvider(), force=True, embed_limit=0))
    assert (sync(workspace, provider).pending, vectors_of(workspace)) == (0, 5)
    assert len(provider.texts) == 5
    assert_sound(index_file(workspace))


@pytest.mark.parametrize("cache", [True, False])
def test_an_index_cut_otherwise_meanwhile_gets_vectors_of_its_own_chunks(
    workspace: Path, cache: bool
) -> None:
    settings = {"cache.enabled": cache}
    write(workspace, notes(5, lines=6))
    sync(workspace, FakeProvider(fails_after=0), settings)
    cut = Meanwhile(action=lambda: sync(workspace, FakeProvider(), {**settings, **SMALL}, embed_limit=0))
    sync(workspace, cut, settings)
    assert indexed(workspace) == expected(workspace, 10, 2)
    assert vectors_of(workspace) == sum(map(len, expected(workspace, 10, 2).values()))


def test_vectors_of_one_model_do_not_get_into_an_index_of_another(workspace: Path) -> None:
    write(workspace, notes(5))
    other = FakeProvider("other")
    sync(workspace, FakeProvider())
    sync(workspace, other)
    with reading(workspace) as index:
        assert [entry.state for entry in spaces.entries(index.connection)] == ["kept", "serving"]
        assert index.vectors_in(space_of(other)).count() == 5
        text = next(iter(chunks_in(index).values()))[0][2]
        assert near(index, other, text)[text] == pytest.approx(1.0, abs=1e-4)


def test_an_index_that_was_set_aside_meanwhile_does_no_harm(workspace: Path) -> None:
    write(workspace, notes(5))

    def damage() -> None:
        index_file(workspace).write_text("no index", encoding="utf-8")
        sync(workspace, FakeProvider(), embed_limit=0)

    report = sync(workspace, Meanwhile(action=damage))
    assert (report.pending, vectors_of(workspace)) == (0, 5)
    assert_sound(index_file(workspace))


def test_an_index_damaged_meanwhile_is_built_anew(workspace: Path) -> None:
    write(workspace, notes(5))

    def damage() -> None:
        index_file(workspace).write_text("no index", encoding="utf-8")

    report = sync(workspace, Meanwhile(action=damage))
    assert (report.rebuilt, report.pending, vectors_of(workspace)) == ("damaged", 0, 5)


# Building anew


def test_a_rebuild_with_the_same_model_serves_its_words_before_it_embeds(workspace: Path) -> None:
    write(workspace, notes(5, lines=6))
    sync(workspace, FakeProvider())
    seen: list[dict[str, list[tuple[int, int, str]]]] = []
    sync(workspace, Meanwhile(action=lambda: seen.append(indexed(workspace))), SMALL)
    assert seen == [expected(workspace, 10, 2)]


def test_a_rebuild_with_the_same_model_keeps_the_vectors_it_has(workspace: Path) -> None:
    write(workspace, notes(5))
    sync(workspace, FakeProvider())
    write(workspace, {"memory/late.md": "the okapi"})
    seen: list[int] = []
    sync(workspace, Meanwhile(action=lambda: seen.append(vectors_of(workspace))), force=True)
    assert (seen, vectors_of(workspace)) == ([5], 6)


def test_a_rebuild_without_the_cache_keeps_the_vectors_it_has(workspace: Path) -> None:
    write(workspace, notes(5))
    sync(workspace, FakeProvider(), {"cache.enabled": False})
    provider = FakeProvider()
    report = sync(workspace, provider, {"cache.enabled": False}, force=True)
    assert (report.rebuilt, report.pending, provider.texts) == ("forced", 0, [])


def test_a_provider_that_fails_in_a_rebuild_with_the_same_model_leaves_the_rest_pending(
    workspace: Path,
) -> None:
    write(workspace, notes(5))
    sync(workspace, FakeProvider())
    write(workspace, {"memory/late.md": "the okapi"})
    report = sync(workspace, FakeProvider(fails_after=0), force=True)
    assert (report.rebuilt, report.pending, vectors_of(workspace)) == ("forced", 1, 5)


# Processes

KILLED = """
import os, signal
from pathlib import Path
from memlines.index.sync import pending
from tests.providers import FakeProvider
from tests.indexes import sync
pending._GROUP = 2

class Dying(FakeProvider):
    def embed_documents(self, texts):
        if len(self.texts) >= 6:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().embed_documents(texts)

sync(Path(sys.argv[1]), Dying())
"""


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
def test_a_process_killed_while_it_embeds_is_resumed_where_it_stopped(workspace: Path) -> None:
    write(workspace, notes(10))
    done = subprocess.run([*program(KILLED), str(workspace)], timeout=60, check=False)
    assert done.returncode == -signal.SIGKILL
    provider = FakeProvider()
    report = sync(workspace, provider)
    assert (len(provider.texts), report.unchanged, report.pending) == (4, 10, 0)
    assert left_over(workspace) == []


BESIDE = """
from pathlib import Path
from memlines.index.sync import pending
from tests.providers import FakeProvider
from tests.indexes import sync
pending._GROUP = 4
provider = FakeProvider()
print("ready", flush=True)
sys.stdin.readline()
report = sync(Path(sys.argv[1]), provider)
print(len(provider.texts), flush=True)
"""


def test_two_processes_that_embed_at_once_share_the_work(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pending, "_GROUP", 4)
    write(workspace, notes(60))
    running = [
        subprocess.Popen(
            [*program(BESIDE), str(workspace)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        for _ in range(2)
    ]
    for process in running:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    embedded = [int(process.communicate("go\n", timeout=60)[0]) for process in running]
    assert (sum(embedded), vectors_of(workspace)) == (60, 60)
    assert_sound(index_file(workspace))


JOIN = """
from pathlib import Path
from tests.indexes import sync
print("ready", flush=True)
report = sync(Path(sys.argv[1]))
print(len(report.indexed), report.unchanged, flush=True)
"""


def test_a_sync_that_waited_for_another_finds_nothing_left_to_do(workspace: Path) -> None:
    write(workspace, notes(20))
    joining: list[subprocess.Popen[str]] = []

    def start_another(completed: int, total: int, label: str) -> None:
        if not joining:
            command = [*program(JOIN), str(workspace)]
            joining.append(subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8"))
            assert joining[0].stdout is not None
            assert joining[0].stdout.readline() == "ready\n"

    first = sync(workspace, progress=start_another)
    told = joining[0].communicate(timeout=60)[0]
    assert (len(first.indexed), told) == (20, "0 20\n")
