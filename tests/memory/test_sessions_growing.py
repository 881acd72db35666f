"""A transcript that grows is read on from its last stretch, and comes out as if it were read whole."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines import Memory
from memlines.admin.doctor.examine import examine
from memlines.files import read as reading_files
from memlines.index.sync import transcripts
from memlines.text import turns as turns_module
from memlines.text.turns import chunk_turns, stretches
from memlines.types import FoundFile, Role, Turn
from tests.indexes import indexed, reading, sync
from tests.providers import FakeProvider
from tests.transcripts.records import HEADER, assistant, jsonl, user

SETTINGS = {"sources": ["sessions"], "chunking.tokens": 40, "chunking.overlap": 8}


@pytest.fixture(autouse=True)
def _short_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns_module, "_STRETCH", 200)


@pytest.fixture
def bytes_read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many bytes each read of a transcript took."""
    taken: list[int] = []
    whole = reading_files.bounded_lines

    def count(*arguments: Any) -> Any:
        found = whole(*arguments)
        taken.append(len(found[0]))
        return found

    monkeypatch.setattr(reading_files, "bounded_lines", count)
    return taken


def exchange(number: int) -> list[dict[str, Any]]:
    return [
        user(f"question {number} about the okapi and the colour {number * 7}"),
        assistant(f"answer {number}: the okapi sleeps in place {number * 3}, and that is all of it"),
    ]


def transcript(workspace: Path, *records: Any, name: str = "s.jsonl") -> Path:
    file = workspace / "sessions" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(jsonl(HEADER, *records), encoding="utf-8")
    age(file)
    return file


def add(file: Path, *records: Any) -> None:
    with file.open("a", encoding="utf-8") as stream:
        stream.write(jsonl(*records))
    age(file)


def age(file: Path) -> None:
    """Make a file old enough for its fingerprint to be trusted, and each change of it another."""
    size = file.stat().st_size
    os.utime(file, (1_700_000_000 + size, 1_700_000_000 + size))


def exchanges(count: int) -> list[dict[str, Any]]:
    return [record for number in range(count) for record in exchange(number)]


def read_whole(workspace: Path, tmp_path: Path, file: Path) -> Any:
    """Return the chunks of a transcript in an index that never saw it before."""
    other = tmp_path / "other"
    (other / "sessions").mkdir(parents=True)
    (other / "sessions" / file.name).write_bytes(file.read_bytes())
    sync(other, None, SETTINGS)
    return indexed(other)


def test_only_the_last_stretch_is_read_again(workspace: Path, bytes_read: list[int]) -> None:
    file = transcript(workspace, *exchanges(60))
    sync(workspace, None, SETTINGS)
    bytes_read.clear()
    add(file, user("one more thing"))
    sync(workspace, None, SETTINGS)
    assert bytes_read
    assert max(bytes_read) < file.stat().st_size / 10


def test_what_is_read_on_equals_what_is_read_whole(workspace: Path, tmp_path: Path) -> None:
    file = transcript(workspace, *exchanges(20))
    sync(workspace, None, SETTINGS)
    for number in range(20, 26):
        add(file, *exchange(number))
        sync(workspace, None, SETTINGS)
    assert indexed(workspace) == read_whole(workspace, tmp_path, file)


def test_only_new_chunks_are_embedded(workspace: Path) -> None:
    file = transcript(workspace, *exchanges(60))
    sync(workspace, FakeProvider(), SETTINGS)
    add(file, *exchange(60))
    provider = FakeProvider()
    sync(workspace, provider, SETTINGS)
    assert 0 < len(provider.texts) <= 3


def test_an_answer_that_comes_later_joins_its_question(workspace: Path, tmp_path: Path) -> None:
    file = transcript(workspace, *exchanges(9), user("what about the giraffe?"))
    sync(workspace, None, SETTINGS)
    add(file, assistant("the giraffe eats leaves"))
    sync(workspace, None, SETTINGS)
    assert indexed(workspace) == read_whole(workspace, tmp_path, file)


@pytest.mark.parametrize("kept", [0.9, 0.5, 0.0])
def test_a_transcript_that_shrank_is_read_whole(workspace: Path, tmp_path: Path, kept: float) -> None:
    file = transcript(workspace, *exchanges(30))
    sync(workspace, None, SETTINGS)
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_text("".join(lines[: 1 + int(len(lines) * kept)]), encoding="utf-8")
    age(file)
    sync(workspace, None, SETTINGS)
    assert indexed(workspace) == read_whole(workspace, tmp_path, file)


def test_a_transcript_that_was_written_anew_is_read_whole(workspace: Path, tmp_path: Path) -> None:
    file = transcript(workspace, *exchanges(30))
    sync(workspace, None, SETTINGS)
    changed = file.read_text(encoding="utf-8").replace("question 1 ", "question one ")
    file.write_text(changed + jsonl(*exchange(30)), encoding="utf-8")
    age(file)
    sync(workspace, None, SETTINGS)
    assert indexed(workspace) == read_whole(workspace, tmp_path, file)


def test_a_line_that_is_not_finished_is_read_when_it_is(workspace: Path, tmp_path: Path) -> None:
    file = transcript(workspace, *exchanges(12))
    whole = jsonl(user("a late question about the giraffe"))
    for part in (whole[:20], whole[20:]):
        with file.open("a", encoding="utf-8") as stream:
            stream.write(part)
        age(file)
        sync(workspace, None, SETTINGS)
    assert indexed(workspace) == read_whole(workspace, tmp_path, file)
    assert "giraffe" in repr(indexed(workspace))


def test_an_edit_that_changes_no_size_is_noticed(workspace: Path) -> None:
    file = transcript(workspace, *exchanges(400))
    sync(workspace, None, SETTINGS)
    text = file.read_text(encoding="utf-8")
    place = text.index("question 200 ")
    file.write_text(text[:place] + "quaestio 200 " + text[place + 13 :], encoding="utf-8")
    os.utime(file, (1_800_000_000, 1_800_000_000))
    sync(workspace, None, SETTINGS)
    assert "quaestio 200" in repr(indexed(workspace))


def test_a_mark_of_utf_8_at_the_beginning_moves_no_line(workspace: Path, tmp_path: Path) -> None:
    file = transcript(workspace, *exchanges(20))
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    age(file)
    sync(workspace, None, SETTINGS)
    add(file, *exchange(20))
    sync(workspace, None, SETTINGS)
    assert indexed(workspace) == read_whole(workspace, tmp_path, file)


def test_secrets_do_not_move_where_a_stretch_begins(workspace: Path, tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2" * 9
    said = [user(f"use {secret} and {secret} for {number}") for number in range(12)]
    answers = [assistant(f"done {number}") for number in range(12)]
    file = transcript(workspace, *(record for pair in zip(said, answers, strict=True) for record in pair))
    sync(workspace, None, SETTINGS)
    add(file, *exchange(20))
    sync(workspace, None, SETTINGS)
    assert indexed(workspace) == read_whole(workspace, tmp_path, file)


def test_doctor_finds_nothing_wrong_with_a_transcript(workspace: Path) -> None:
    file = transcript(workspace, *exchanges(20))
    with Memory(workspace, {**SETTINGS, "embeddings.provider": "none"}) as memory:
        memory.sync()
        add(file, *exchange(20))
        memory.sync()
    found = examine(workspace, {**SETTINGS, "embeddings.provider": "none"}, deep=True)
    assert [finding.message for finding in found.findings if finding.level == "problem"] == []


def test_a_deleted_transcript_leaves_the_index(workspace: Path) -> None:
    file = transcript(workspace, *exchanges(5))
    sync(workspace, None, SETTINGS)
    file.unlink()
    sync(workspace, None, SETTINGS)
    with reading(workspace) as index:
        assert (index.count_chunks(), index.connection.execute("SELECT count(*) FROM tails").get) == (0, 0)


def test_a_secret_in_what_was_added_is_not_indexed(workspace: Path) -> None:
    file = transcript(workspace, *exchanges(12))
    sync(workspace, None, SETTINGS)
    secret = "ghp_" + "a1B2" * 9
    add(file, user(f"use {secret} for it"))
    sync(workspace, None, SETTINGS)
    found = repr(indexed(workspace))
    assert "[redacted:github-token]" in found
    assert secret not in found


PASSWORD = "k7Qz2mXw9Rt4Lp8v"
TOLD = f"DB_PASSWORD={PASSWORD}"


@pytest.mark.parametrize("told_at", [0, 3, 14, 19])
def test_a_copy_of_a_secret_is_hidden_wherever_the_secret_was_told(
    workspace: Path, tmp_path: Path, told_at: int
) -> None:
    records = [exchange(number) for number in range(20)]
    for number in range(1, 20, 3):
        records[number][0]["message"]["content"] += f" with {PASSWORD}"
    records[told_at][1]["message"]["content"] += f"\n{TOLD}"
    file = transcript(workspace, *(record for pair in records[:2] for record in pair))
    for pair in records[2:]:
        sync(workspace, None, SETTINGS)
        add(file, *pair)
    sync(workspace, None, SETTINGS)
    assert PASSWORD not in repr(indexed(workspace))
    assert indexed(workspace) == read_whole(workspace, tmp_path, file)


def test_a_secret_told_long_ago_does_not_make_the_whole_be_read_again(
    workspace: Path, bytes_read: list[int]
) -> None:
    file = transcript(workspace, user(TOLD), assistant("noted"), *exchanges(60))
    sync(workspace, None, SETTINGS)
    bytes_read.clear()
    add(file, user(f"one more thing about {PASSWORD}"))
    sync(workspace, None, SETTINGS)
    assert PASSWORD not in repr(indexed(workspace))
    assert bytes_read
    assert max(bytes_read) < file.stat().st_size / 10


def test_a_transcript_that_goes_while_it_is_read_on_leaves_the_index(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = transcript(workspace, user(TOLD), assistant("noted"), *exchanges(60))
    sync(workspace, None, SETTINGS)
    add(file, user("one more thing"))

    def gone(found: FoundFile, position: int) -> str:
        file.unlink(missing_ok=True)
        return reading_files.read_line(found, position)

    monkeypatch.setattr(transcripts, "read_line", gone)
    sync(workspace, None, SETTINGS)
    with reading(workspace) as index:
        assert index.count_chunks() == 0


def test_a_value_is_in_no_byte_of_what_is_kept_to_read_on(workspace: Path) -> None:
    transcript(workspace, user(TOLD), assistant("noted"), *exchanges(30))
    sync(workspace, None, SETTINGS)
    with reading(workspace) as index:
        assert index.connection.execute("SELECT secrets FROM tails").get != "[]"
    kept = [file for file in (workspace / ".memory").rglob("*") if file.is_file()]
    assert [file for file in kept if PASSWORD.encode() in file.read_bytes()] == []


SAID = st.lists(
    st.sampled_from(["the okapi", PASSWORD, TOLD, "api_key: Zr8vN3pT6yQ1", "Zr8vN3pT6yQ1"]), max_size=3
)


@given(said=st.lists(SAID, min_size=2, max_size=8), data=st.data())
def test_secrets_come_out_as_if_read_whole(
    said: list[list[str]], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("grown")
    (folder / "MEMORY.md").write_text("# Memory\n", encoding="utf-8")
    pairs = [
        (user(f"question {place}: " + " ".join(words)), assistant("an answer of some length " * 6))
        for place, words in enumerate(said)
    ]
    file = transcript(folder, *pairs[0])
    for pair in pairs[1:]:
        if data.draw(st.booleans()):
            sync(folder, None, SETTINGS)
        add(file, *pair)
    sync(folder, None, SETTINGS)
    assert indexed(folder) == read_whole(folder, tmp_path_factory.mktemp("whole"), file)


turns_strategy = st.lists(st.tuples(st.sampled_from(get_args(Role)), st.integers(0, 120)), max_size=60).map(
    lambda said: [
        Turn(role, f"word{place} " * (length // 6 + 1), place + 1)
        for place, (role, length) in enumerate(said)
    ]
)


@given(turns_strategy, turns_strategy)
def test_whatever_is_said_later_changes_the_last_stretch_only(
    before: Sequence[Turn], more: Sequence[Turn]
) -> None:
    later = [Turn(turn.role, turn.text, turn.line + len(before)) for turn in more]
    first = list(stretches(before))
    both = list(stretches([*before, *later]))
    assert both[: max(0, len(first) - 1)] == first[:-1]
    assert [turn for stretch in both for turn in stretch] == [*before, *later]


@given(turns_strategy)
def test_chunks_of_stretches_are_the_chunks_of_the_whole(said: Sequence[Turn]) -> None:
    parts = [chunk for stretch in stretches(said) for chunk in chunk_turns(stretch, "h", 40, 8)]
    assert parts == chunk_turns(said, "h", 40, 8)
