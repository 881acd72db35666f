"""A line of a transcript that is far too long is left out and told, and takes neither time nor the others."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from memlines import Memory
from memlines.files import read
from memlines.files.read import bounded_lines
from memlines.memory.conversations.conversation import import_transcripts
from memlines.memory.conversations.reading import read_session
from memlines.serve.hooks.events import last_turns
from memlines.transcripts.lines import record_of
from memlines.types import LONGEST_LINE
from tests.transcripts.records import HEADER, assistant, jsonl, user

LONG = json.dumps(user("x" * LONGEST_LINE))
PATH = "sessions/one.jsonl"


@pytest.fixture
def memory(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    monkeypatch.setenv("MEMLINES_EMBEDDINGS__PROVIDER", "none")
    monkeypatch.setenv("MEMLINES_SOURCES", "memory,sessions")
    (workspace / "sessions").mkdir(parents=True)
    (workspace / PATH).write_text(
        jsonl(HEADER, user("The kestrel nests here."), LONG, assistant("The heron waits at the weir.")),
        encoding="utf-8",
    )
    return Memory(workspace)


def test_a_sync_tells_which_line_it_left_out_and_indexes_the_others(memory: Memory) -> None:
    with memory:
        report = memory.sync()
        assert report.warnings == (f"line 3 of '{PATH}' was left out: it has 8 MB, and a line may have 8 MB",)
        assert [hit.end_line for hit in memory.search("heron", mode="words")] == [4]


def test_what_is_added_behind_such_a_line_is_read_on_from_the_right_place(
    memory: Memory, workspace: Path
) -> None:
    with memory:
        memory.sync()
        with (workspace / PATH).open("a", encoding="utf-8") as file:
            file.write(jsonl(user("And the osprey?"), assistant("The osprey left in May.")))
        memory.sync()
        with (workspace / PATH).open("a", encoding="utf-8") as file:
            file.write(jsonl(user("The bittern booms on line seven.")))
        memory.sync()
        hits = memory.search("bittern booms", mode="words")
        assert [hit.end_line for hit in hits][:1] == [7]


def test_a_conversation_is_shown_with_what_was_left_out(memory: Memory) -> None:
    with memory:
        session = read_session(memory.workspace, memory.settings, PATH)
    assert ([turn.line for turn in session.turns], len(session.warnings)) == ([2, 4], 1)


def test_an_import_counts_it_as_damaged(memory: Memory, workspace: Path, tmp_path: Path) -> None:
    file = tmp_path / "brought.jsonl"
    file.write_bytes((workspace / PATH).read_bytes())
    with memory:
        (done,) = import_transcripts(memory.workspace, memory.settings, [file])
    assert (done.messages, done.damaged) == (2, 1)


def test_the_end_of_a_transcript_is_read_without_it(tmp_path: Path) -> None:
    file = tmp_path / "client.jsonl"
    said = {"type": "user", "message": {"role": "user", "content": "hello"}}
    file.write_text(
        jsonl(said, json.dumps({**said, "message": {"content": "x" * LONGEST_LINE}}), said), encoding="utf-8"
    )
    assert [turn.text for turn in last_turns(file, "claude-code")] == ["hello", "hello"]


def test_no_record_is_made_of_it() -> None:
    assert record_of(LONG) is None


def test_no_more_than_a_line_and_a_block_is_held_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "LONGEST_LINE", 1000)
    monkeypatch.setattr(read, "_AT_ONCE", 100)
    sizes: list[int] = []

    class Watched(io.BytesIO):
        def readline(self, size: int | None = -1, /) -> bytes:
            sizes.append(size or 0)
            return super().readline(size)

    stream = Watched(b"a\n" + b"x" * 50_000 + b"\n" + b"b\n" + b"y" * 1000 + b"\n" + b"z" * 1001)
    assert bounded_lines(stream, 10**6) == (b"a\n!\nb\n" + b"y" * 1000 + b"\n!", ((1, 50_000), (4, 1001)))
    assert max(sizes) <= 1001


def test_as_much_as_may_be_read_is_read_whole() -> None:
    assert bounded_lines(io.BytesIO(b"a\n" * 5), 10) == (b"a\n" * 5, ())


def test_what_is_more_than_may_be_read_is_noticed_by_one_byte() -> None:
    content, _ = bounded_lines(io.BytesIO(b"a\n" * 6), 10)
    assert len(content) == 11
