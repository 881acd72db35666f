"""Snapshots on disk: one file for the end of a session, whole or not there, and never too many."""

from __future__ import annotations

import json
import stat
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.errors import PathError
from memlines.files import snapshots
from memlines.files.snapshots import Said, Snapshot
from memlines.paths import Workspace

NOW = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)
A, B, C, D = (Said("user" if place % 2 == 0 else "assistant", text) for place, text in enumerate("abcd"))


@pytest.fixture
def home(workspace: Path) -> Workspace:
    return Workspace.at(workspace)


def snap(*messages: Said, session: str = "s1", minutes: int = 0) -> Snapshot:
    return Snapshot(session, messages, NOW + timedelta(minutes=minutes))


def files(home: Workspace) -> list[Path]:
    return sorted((home.private / snapshots.FOLDER).glob("*"))


def saved_texts(home: Workspace) -> list[str]:
    return ["".join(said.text for said in one.messages) for one in snapshots.list_all(home).snapshots]


def test_what_is_saved_is_read_again(home: Workspace) -> None:
    taken = Snapshot("s1", (replace(A, time=NOW, truncated=True), B), NOW, "opencode", "src")
    kept = snapshots.save(home, taken)
    back = snapshots.read(home, kept.id)
    assert replace(back, id="", messages=tuple(replace(said, line=0) for said in back.messages)) == taken


def test_the_name_is_the_time_and_an_id_of_the_session(home: Workspace) -> None:
    assert snapshots.save(home, snap(A)).id == "20261116T120000.000000Z-e8bc163c82ee"


def test_the_file_holds_a_message_a_line(home: Workspace) -> None:
    kept = snapshots.save(home, snap(A, B))
    lines = (home.root / kept.path).read_text(encoding="utf-8").split("\n")
    assert [json.loads(line.rstrip(","))["text"] for line in lines if line.startswith('{"role"')] == [
        "a",
        "b",
    ]


def test_times_are_written_with_a_z(home: Workspace) -> None:
    kept = snapshots.save(home, snap(A))
    assert '"2026-11-16T12:00:00.000Z"' in (home.root / kept.path).read_text(encoding="utf-8")


def test_the_file_is_json_with_a_session(home: Workspace) -> None:
    kept = snapshots.save(home, snap(A))
    assert json.loads((home.root / kept.path).read_text(encoding="utf-8"))["session"] == "s1"


@pytest.mark.skipif(sys.platform == "win32", reason="permission bits mean nothing there")
def test_only_the_owner_may_read_it(home: Workspace) -> None:
    kept = snapshots.save(home, snap(A))
    assert stat.S_IMODE((home.root / kept.path).stat().st_mode) == 0o600


def test_the_same_messages_make_one_file(home: Workspace) -> None:
    first = snapshots.save(home, snap(A, B))
    second = snapshots.save(home, snap(A, B, minutes=1))
    assert (second.id, len(files(home))) == (first.id, 1)


def test_fewer_messages_with_the_same_end_change_nothing(home: Workspace) -> None:
    snapshots.save(home, snap(A, B, C))
    snapshots.save(home, snap(B, C, minutes=1))
    assert saved_texts(home) == ["abc"]


def test_a_session_that_goes_on_replaces_its_snapshot(home: Workspace) -> None:
    snapshots.save(home, snap(A, B))
    snapshots.save(home, snap(B, C, D, minutes=1))
    assert saved_texts(home) == ["bcd"]


def test_other_messages_with_the_same_last_one_replace_it(home: Workspace) -> None:
    snapshots.save(home, snap(A, D))
    snapshots.save(home, snap(B, C, D, minutes=1))
    assert saved_texts(home) == ["bcd"]


def test_messages_that_do_not_follow_on_begin_a_new_file(home: Workspace) -> None:
    snapshots.save(home, snap(A, B))
    snapshots.save(home, snap(C, D, minutes=1))
    assert saved_texts(home) == ["cd", "ab"]


def test_another_session_has_its_own_file(home: Workspace) -> None:
    snapshots.save(home, snap(A))
    snapshots.save(home, snap(A, session="s2", minutes=1))
    assert len(files(home)) == 2


@pytest.mark.promise("P12")
def test_a_session_keeps_only_its_newest_files(home: Workspace) -> None:
    for number in range(snapshots.PER_SESSION + 3):
        snapshots.save(home, snap(Said("user", str(number)), minutes=number))
    assert saved_texts(home) == ["7", "6", "5", "4", "3"]


@pytest.mark.promise("P12")
def test_there_are_never_more_than_the_limit(home: Workspace) -> None:
    for number in range(snapshots.MOST + 5):
        snapshots.save(home, snap(A, session=f"s{number}", minutes=number))
    kept = [one.session for one in snapshots.list_all(home).snapshots]
    assert (len(kept), kept[0], kept[-1]) == (snapshots.MOST, "s54", "s5")


def test_the_last_ten_sessions_always_have_one(home: Workspace) -> None:
    for number in range(20 * 7):
        snapshots.save(home, snap(Said("user", f"{number}"), session=f"s{number // 7}", minutes=number))
    assert {one.session for one in snapshots.list_all(home).snapshots} == {f"s{n}" for n in range(10, 20)}


def test_the_newest_is_the_last_saved_whatever_the_clock_did(home: Workspace) -> None:
    snapshots.save(home, snap(A, session="s1", minutes=60))
    snapshots.save(home, snap(B, session="s2"))
    assert [one.session for one in snapshots.list_all(home).snapshots] == ["s2", "s1"]


def test_a_session_finds_its_newest_snapshot(home: Workspace) -> None:
    snapshots.save(home, snap(A))
    snapshots.save(home, snap(C, minutes=1))
    assert snapshots.read(home, "s1").messages[0].text == "c"


def test_the_name_may_bear_its_ending(home: Workspace) -> None:
    kept = snapshots.save(home, snap(A))
    assert snapshots.read(home, f"{kept.id}.json").id == kept.id


def test_an_unknown_name_is_told(home: Workspace) -> None:
    with pytest.raises(PathError, match="no snapshot 'nobody'"):
        snapshots.read(home, "nobody")


@pytest.mark.parametrize("name", ["../../etc/passwd", "..", "", "20261116T120000.000000Z-../../../x"])
def test_a_name_leads_nowhere_else(home: Workspace, name: str) -> None:
    with pytest.raises(PathError, match="no snapshot"):
        snapshots.read(home, name)


DAMAGED = {
    "not JSON": b"{",
    "not text": b"\xff\xfe",
    "no object": b"[]",
    "no messages": b'{"session": "s1", "created": "2026-11-16T12:00:00Z"}',
    "no session": b'{"created": "2026-11-16T12:00:00Z", "messages": []}',
    "no time": b'{"session": "s1", "created": "soon", "messages": []}',
    "no side": b'{"session": "s1", "created": "2026-11-16T12:00:00Z", "messages": [{"text": "a"}]}',
    "no words": b'{"session": "s1", "created": "2026-11-16T12:00:00Z", "messages": [{"role": "user"}]}',
    "deep": b'{"messages": ' + b"[" * 100_000,
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_file_is_passed_over_and_told(home: Workspace, content: bytes) -> None:
    kept = snapshots.save(home, snap(A))
    other = (home.root / kept.path).with_name(f"20261116T130000.000000Z-{kept.id[-12:]}.json")
    other.write_bytes(content)
    listing = snapshots.list_all(home)
    assert ([one.id for one in listing.snapshots], [p.path for p in listing.problems]) == (
        [kept.id],
        [f".memory/snapshots/{other.name}"],
    )


def test_a_damaged_newest_file_does_not_keep_a_session_from_saving(home: Workspace) -> None:
    kept = snapshots.save(home, snap(A))
    (home.root / kept.path).write_bytes(b"{")
    snapshots.save(home, snap(A, B, minutes=1))
    assert saved_texts(home) == ["ab"]


def test_a_link_in_the_folder_is_not_followed(home: Workspace, tmp_path: Path) -> None:
    kept = snapshots.save(home, snap(A))
    secret = tmp_path / "secret.json"
    secret.write_bytes((home.root / kept.path).read_bytes())
    (home.root / kept.path).unlink()
    (home.root / kept.path).symlink_to(secret)
    listing = snapshots.list_all(home)
    assert (listing.snapshots, len(listing.problems)) == ((), 1)


def test_a_linked_folder_is_refused(home: Workspace, tmp_path: Path) -> None:
    home.private.mkdir()
    (tmp_path / "elsewhere").mkdir()
    (home.private / snapshots.FOLDER).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(PathError, match="symbolic link"):
        snapshots.save(home, snap(A))


def test_files_of_others_are_left_alone(home: Workspace) -> None:
    snapshots.save(home, snap(A))
    other = home.private / snapshots.FOLDER / "mine.json"
    other.write_text("{}", encoding="utf-8")
    for number in range(6):
        snapshots.save(home, snap(Said("user", str(number)), minutes=number))
    assert other.exists()


def test_a_workspace_without_snapshots_has_none(home: Workspace) -> None:
    assert snapshots.list_all(home) == snapshots.Listing(())


# As a transcript


def test_its_turns_bear_the_lines_of_the_file(home: Workspace) -> None:
    kept = snapshots.save(home, snap(A, B))
    text = (home.root / kept.path).read_text(encoding="utf-8")
    turns = snapshots.transcript_of(text).turns
    assert [json.loads(text.split("\n")[turn.line - 1].rstrip(","))["text"] for turn in turns] == ["a", "b"]


@pytest.mark.parametrize("indent", [None, 2])
def test_its_turns_are_found_in_any_layout(indent: int | None) -> None:
    text = json.dumps(snap(A, B).to_json(), indent=indent)
    lines = text.split("\n")
    turns = snapshots.transcript_of(text).turns
    assert [(turn.text, "{" in lines[turn.line - 1]) for turn in turns] == [("a", True), ("b", True)]


def test_what_is_no_snapshot_has_no_turns() -> None:
    assert snapshots.transcript_of("one\ntwo\n").broken == 2


said = st.builds(
    Said,
    role=st.sampled_from(("user", "assistant")),
    text=st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
    time=st.none()
    | st.datetimes(datetime(1970, 1, 2), datetime(2100, 1, 1)).map(
        lambda t: t.replace(tzinfo=UTC, microsecond=0)
    ),
    truncated=st.booleans(),
)


@given(st.lists(said, max_size=6))
def test_any_messages_come_back_as_they_were(messages: list[Said]) -> None:
    back = snapshots.parse(snapshots.to_text(snap(*messages).to_json()))
    assert [replace(one, line=0) for one in back.messages] == messages


@given(st.text(max_size=200) | st.just(snapshots.to_text(snap(A, B).to_json())), st.integers(0, 200))
def test_any_text_is_a_transcript(text: str, cut: int) -> None:
    snapshots.transcript_of(text[:cut])
