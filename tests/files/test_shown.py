"""The record of what agents were shown: what it keeps, its limits, and what damage does to it."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.errors import PathError
from memlines.files import shown
from memlines.files.place import ensure_private
from memlines.files.shown import Answer, ShownLine, append, erase, read_answers, shown_lock
from memlines.paths import Workspace

LINE = ShownLine("memory/x.md#L3", "0123456789abcdef", 0.5)

WRITER = """
import sys
from memlines.files.shown import Answer, ShownLine, append, shown_lock
from memlines.paths import Workspace
place = Workspace.at(sys.argv[1])
for at in range(int(sys.argv[3])):
    with shown_lock(place).held(60):
        append(place, Answer("t", "search", sys.argv[2], "", str(at), (ShownLine("memory/x.md#L3"),)))
"""


def answer(query: str = "which port?", session: str = "one") -> Answer:
    return Answer("2026-11-16T09:00:00+00:00", "search", session, "opencode", query, (LINE,))


@pytest.fixture
def place(workspace: Path) -> Workspace:
    made = Workspace.at(workspace)
    ensure_private(made)
    return made


def file_of(place: Workspace) -> Path:
    return place.private / shown.FILE_NAME


def test_what_was_appended_is_read(place: Workspace) -> None:
    append(place, answer("first"))
    append(place, answer("second"))
    assert read_answers(place) == [answer("first"), answer("second")]


def test_nothing_is_read_where_nothing_was_recorded(workspace: Path) -> None:
    assert read_answers(Workspace.at(workspace)) == []


@pytest.mark.promise("P13")
def test_the_file_is_closed_to_others(place: Workspace) -> None:
    append(place, answer())
    assert stat.S_IMODE(file_of(place).stat().st_mode) == 0o600


EMPTY = dict.fromkeys(["time", "kind", "session", "client", "query"], "")
DAMAGED = [
    b'{"time": "t", "kind": "sea',
    b"\xff\xfe",
    b"[]",
    b"null",
    b'{"time": "t"}',
    *(json.dumps({**EMPTY, "lines": lines}).encode() for lines in (7, [[1]], [["a", "b", "c"]])),
    b"[" * 100_000,
]


@pytest.mark.parametrize("damage", DAMAGED, ids=range(len(DAMAGED)))
def test_a_damaged_line_is_skipped(place: Workspace, damage: bytes) -> None:
    append(place, answer("before"))
    with file_of(place).open("ab") as stream:
        stream.write(b"\n" + damage)
    append(place, answer("after"))
    assert read_answers(place) == [answer("before"), answer("after")]


@given(st.binary(max_size=200))
def test_any_bytes_can_be_read(content: bytes) -> None:
    assert list(shown._answers_in(content + b"\n" + shown._line_of(answer()).encode()))[-1] == answer()


@pytest.mark.promise("P12")
def test_a_file_of_ten_megabytes_keeps_its_newest_part(place: Workspace) -> None:
    line = shown._line_of(answer("old" * 60))
    file_of(place).write_text(f"\n{line}" * (10_000_000 // len(line)), encoding="utf-8")
    append(place, answer("newest"))
    kept = read_answers(place)
    assert file_of(place).stat().st_size <= shown.MAX_BYTES // 2
    assert (kept[0], kept[-1], len(kept) > 1_000) == (answer("old" * 60), answer("newest"), True)


def test_a_record_that_is_dropped_in_part_stays_closed_to_others(
    place: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shown, "MAX_BYTES", 500)
    for number in range(9):
        append(place, answer(str(number)))
    assert stat.S_IMODE(file_of(place).stat().st_mode) == 0o600
    assert read_answers(place)[-1] == answer("8")


def test_two_processes_at_once_lose_nothing(place: Workspace) -> None:
    words = [sys.executable, "-c", WRITER, str(place.root)]
    programs = [subprocess.Popen([*words, name, "60"]) for name in ("a", "b")]
    assert [program.wait(60) for program in programs] == [0, 0]
    found = [(one.session, one.query) for one in read_answers(place)]
    assert sorted(found) == sorted((name, str(at)) for name in ("a", "b") for at in range(60))


def test_two_processes_at_once_lose_nothing_while_one_drops_the_oldest(place: Workspace) -> None:
    line = shown._line_of(answer("old" * 60))
    file_of(place).write_text(f"\n{line}" * (shown.MAX_BYTES // len(line)), encoding="utf-8")
    words = [sys.executable, "-c", WRITER, str(place.root)]
    programs = [subprocess.Popen([*words, name, "40"]) for name in ("a", "b")]
    assert [program.wait(60) for program in programs] == [0, 0]
    assert len([one for one in read_answers(place) if one.session in ("a", "b")]) == 80


def test_a_link_in_its_place_is_not_written_through(place: Workspace, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    target.write_text("mine", encoding="utf-8")
    file_of(place).symlink_to(target)
    with pytest.raises(PathError):
        append(place, answer())
    assert target.read_text(encoding="utf-8") == "mine"


def test_erasing_writes_answers_again_as_they_should_be(place: Workspace) -> None:
    for query in ("keep", "change", "drop"):
        append(place, answer(query))
    new = {"keep": answer("keep"), "change": answer("changed"), "drop": None}
    with shown_lock(place).held(1):
        count = erase(place, lambda one: new[one.query])
    assert (count, read_answers(place)) == (2, [answer("keep"), answer("changed")])


def test_erasing_removes_what_cannot_be_read(place: Workspace) -> None:
    append(place, answer())
    with file_of(place).open("ab") as stream:
        stream.write(b'\n{"query": "a torn que')
    erase(place, lambda one: one)
    assert b"torn" not in file_of(place).read_bytes()
