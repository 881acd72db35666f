"""What makes the index catch up with the files: each reason by itself."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from memlines import Memory
from memlines.locks import WriterLock
from memlines.memory import manager
from memlines.memory import watching as watching_module
from memlines.paths import Workspace, user_config_file
from memlines.serve.mcp.server import Server
from memlines.serve.rpc import workplace
from memlines.serve.rpc.engine import Engine
from tests.indexes import index_file, indexed
from tests.memories import WORDS_ONLY, fake_memory, words_memory, write
from tests.providers import MeaningsProvider
from tests.waiting import background_threads, eventually, is_equal, watching

NOTES = {"MEMORY.md": "We like the heron.\n", "a.md": "The kestrel lives here.\n"}


# The start of a session


def test_a_session_start_makes_the_index(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        memory.start_session("one")
        eventually(lambda: is_equal(workspace))


def test_a_session_start_embeds_too(workspace: Path) -> None:
    with fake_memory(workspace, NOTES, MeaningsProvider({})) as memory:
        memory.start_session("one")
        eventually(lambda: memory.status().vector["vectors"] == 2)


def test_a_session_starts_once_for_each_key(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        memory.start_session("one")
        eventually(lambda: is_equal(workspace) and not background_threads())
        memory.start_session("one")
        assert background_threads() == []


def test_another_key_is_another_session(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        memory.start_session("one")
        eventually(lambda: is_equal(workspace) and not background_threads())
        write(workspace, {"b.md": "An okapi.\n"})
        memory.start_session("two")
        eventually(lambda: is_equal(workspace))


def test_without_a_key_every_start_is_a_session(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        for number in range(3):
            write(workspace, {f"b{number}.md": "An okapi.\n"})
            memory.start_session()
            eventually(lambda: is_equal(workspace) and not background_threads())


def test_a_session_start_does_not_wait(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        memory.sync()
        write(workspace, {"b.md": "An okapi.\n"})
        with WriterLock(index_file(workspace).with_name("index.sqlite.lock")).held(0):
            memory.start_session("one")
            assert "memory/b.md" not in indexed(workspace)


def test_a_session_start_beside_another_sync_is_no_trouble(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        memory.sync()
        with WriterLock(index_file(workspace).with_name("index.sqlite.lock")).held(0):
            memory.start_session("one")
            eventually(lambda: not background_threads())
        assert memory.search("heron").warnings == ()


def test_with_the_setting_off_a_session_start_does_nothing(workspace: Path) -> None:
    with words_memory(workspace, NOTES, sync__on_session_start=False) as memory:
        memory.start_session("one")
        assert background_threads() == []


def test_a_memory_that_is_off_starts_no_session(workspace: Path) -> None:
    with words_memory(workspace, NOTES, enabled=False) as memory:
        memory.start_session("one")
        assert background_threads() == []


def test_the_keys_of_sessions_do_not_pile_up(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manager, "_MOST_SESSIONS", 3)
    with words_memory(workspace, NOTES) as memory:
        for number in range(10):
            memory.start_session(str(number))
        assert list(memory._manager._sessions) == ["7", "8", "9"]


# A search


def test_a_search_after_a_change_syncs(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        memory.sync()
        write(workspace, {"b.md": "An okapi.\n"})
        memory.search("anything")
        assert is_equal(workspace)


# A watch


def test_a_change_while_watching_syncs(workspace: Path) -> None:
    with words_memory(workspace, NOTES, sync__watch_debounce_ms=10) as memory, watching(memory):
        eventually(lambda: is_equal(workspace))
        write(workspace, {"b.md": "An okapi.\n"})
        eventually(lambda: is_equal(workspace))


# The clock


def test_the_interval_syncs_while_watching(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching_module, "_MINUTE", 0.1)
    monkeypatch.setattr(watching_module, "_POLL_SECONDS", 3600.0)  # so that nothing else looks
    settings = {"sync__interval_minutes": 1, "sync__watch": False}
    with words_memory(workspace, NOTES, **settings) as memory, watching(memory):
        eventually(lambda: is_equal(workspace))
        write(workspace, {"b.md": "An okapi.\n"})
        eventually(lambda: is_equal(workspace))


def served_by_engine(workspace: Path) -> Callable[[], None]:
    engine = Engine(workspace)
    engine.methods()["initialize"].call({"protocol": 1})
    return engine.close


def served_by_mcp(workspace: Path) -> Callable[[], None]:
    server = Server(workplace.Workplace(workspace))
    server.methods()["tools/list"].call({})
    return server.close


@pytest.fixture
def minutes(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Sync every minute, and say how long a minute is."""
    monkeypatch.setenv("MEMLINES_EMBEDDINGS__PROVIDER", "none")
    monkeypatch.setenv("MEMLINES_SYNC__INTERVAL_MINUTES", "1")
    return lambda seconds: monkeypatch.setattr(workplace, "_MINUTE", seconds)


SERVERS = pytest.mark.parametrize("serve", [served_by_engine, served_by_mcp])
Serve = Callable[[Path], Callable[[], None]]


@SERVERS
def test_the_interval_syncs_while_serving(
    workspace: Path, serve: Serve, minutes: Callable[[float], None]
) -> None:
    write(workspace, NOTES)
    minutes(0.05)
    close = serve(workspace)
    try:
        eventually(lambda: is_equal(workspace))
        write(workspace, {"b.md": "An okapi.\n"})
        eventually(lambda: is_equal(workspace))
    finally:
        close()
    assert not [thread for thread in threading.enumerate() if thread.name == "memlines-interval"]


@SERVERS
def test_a_folder_without_a_memory_gets_none_by_the_interval(
    tmp_path: Path, serve: Serve, minutes: Callable[[float], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = threading.Event()

    def holds_none(place: Workspace) -> bool:
        looked.set()
        return False

    monkeypatch.setattr(workplace, "holds_memory", holds_none)
    minutes(0.001)
    close = serve(tmp_path)
    looked.clear()
    assert looked.wait(30)
    looked.clear()
    assert looked.wait(30)
    close()
    assert not (tmp_path / ".memory").exists()


@pytest.mark.usefixtures("minutes")
def test_the_interval_follows_the_settings(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def clocks() -> int:
        return sum(thread.name == "memlines-interval" for thread in threading.enumerate())

    monkeypatch.delenv("MEMLINES_SYNC__INTERVAL_MINUTES")
    place = workplace.Workplace(workspace)
    place.memory()
    before = clocks()
    user_config_file().write_text("sync: {interval_minutes: 1}", encoding="utf-8")
    place.memory()
    during = clocks()
    place.close()
    assert (before, during, clocks()) == (0, 1, 0)


# Being asked to


def test_a_forced_sync_builds_the_index_anew(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        memory.sync()
        assert (memory.sync().changed, memory.sync(force=True).rebuilt) == (False, "forced")


# Transcripts that grow

SESSIONS = {**WORDS_ONLY, "sources": ["memory", "sessions"]}


def turn(text: str) -> str:
    message = {"role": "user", "content": [{"type": "text", "text": text}]}
    return json.dumps({"type": "message", "message": message}) + "\n"


@pytest.fixture
def transcript(workspace: Path) -> Path:
    """A transcript that was indexed, some time after it was written."""
    file = workspace / "sessions/one.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text(turn("the okapi"), encoding="utf-8")
    earlier = file.stat().st_mtime - 60
    os.utime(file, (earlier, earlier))
    with Memory(workspace, SESSIONS) as memory:
        memory.sync()
    return file


def say(transcript: Path, *texts: str) -> None:
    with transcript.open("a", encoding="utf-8") as stream:
        stream.writelines(map(turn, texts))


def found(workspace: Path, word: str, **deltas: int) -> bool:
    settings = SESSIONS | {f"sync.sessions.{name}": value for name, value in deltas.items()}
    with Memory(workspace, settings) as memory:
        return bool(memory.search(word, min_score=0))


def test_a_transcript_that_grew_a_little_is_not_read_again(workspace: Path, transcript: Path) -> None:
    say(transcript, "the gnu")
    assert not found(workspace, "gnu")


def test_a_transcript_that_grew_by_many_messages_is_read_again(workspace: Path, transcript: Path) -> None:
    say(transcript, *(f"message {number}" for number in range(49)), "the gnu")
    assert found(workspace, "gnu")


def test_a_transcript_that_grew_by_many_bytes_is_read_again(workspace: Path, transcript: Path) -> None:
    say(transcript, "the gnu " + "x" * 100_000)
    assert found(workspace, "gnu")


@pytest.mark.parametrize("name", ["delta_bytes", "delta_messages"])
def test_0_means_any_growth(workspace: Path, transcript: Path, name: str) -> None:
    say(transcript, "the gnu")
    assert found(workspace, "gnu", **{name: 0})


def test_a_transcript_that_shrank_is_read_again(workspace: Path, transcript: Path) -> None:
    transcript.write_text(turn("gnu"), encoding="utf-8")
    assert found(workspace, "gnu")


def test_a_sync_reads_what_grew_a_little_too(workspace: Path, transcript: Path) -> None:
    say(transcript, "the gnu")
    with Memory(workspace, SESSIONS) as memory:
        memory.sync()
        assert len(memory.search("gnu", min_score=0)) == 1
