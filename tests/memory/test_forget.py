"""Forgetting removes something for good, everywhere, and says what is left."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from memlines import Memory
from memlines.agent import snapshot
from memlines.errors import MemlinesError, PathError, StoreBusy
from memlines.files import history, notes, trash
from memlines.files.tombstones import Forgotten
from memlines.index.store.sqlite.index import Index
from memlines.locks import WriterLock
from memlines.memory.notes import forget as forgetting
from memlines.memory.notes.candidates import ForgetCandidate
from memlines.memory.notes.proof import find_holders, pieces_of, sample, telling_lines
from tests.indexes import index_file, indexed, job, write
from tests.memories import WORDS_ONLY, words_memory
from tests.memory.forgetting import AFTER, BEFORE, DAY, NOTES, SECRET, Home, home_in, talk_in
from tests.note_changes import edit, remove_note

pytestmark = pytest.mark.promise("P14")


@pytest.fixture
def home(workspace: Path) -> Home:
    return home_in(workspace)


@pytest.fixture
def talk(workspace: Path) -> Home:
    return talk_in(workspace)


# Removing


BLOCK = "<!-- session abc -->\n- 10:00 Anvils are heavy\n- 10:00 Bees are light\n<!-- /session -->\n"


def test_a_session_loses_its_entries_and_their_comments_and_nothing_else(home: Home) -> None:
    write(home.folder, {DAY: f"{BEFORE}- 09:30 Old words [session abc]\n{BLOCK}{AFTER}"})
    receipt = home.forget(session="abc")
    assert (receipt.removed["entries"], receipt.complete) == (3, True)
    assert home.text(DAY) == BEFORE + AFTER


def test_an_entry_of_a_session_goes_without_the_comments_around_the_others(home: Home) -> None:
    write(home.folder, {DAY: f"{BEFORE}{BLOCK}{AFTER}"})
    home.forget(f"{DAY}#L6")
    assert home.text(DAY) == BEFORE + BLOCK.replace("- 10:00 Bees are light\n", "") + AFTER
    home.forget(f"{DAY}#L5")
    assert home.text(DAY) == BEFORE + AFTER


def test_the_entry_goes_and_its_neighbours_stay_byte_for_byte(home: Home) -> None:
    home.forget(f"{DAY}#L4")
    assert home.text(DAY) == BEFORE + AFTER


def test_no_file_of_the_workspace_holds_a_byte_of_it(home: Home) -> None:
    receipt = home.forget(f"{DAY}#L4")
    assert home.traces() == []
    assert receipt.complete
    assert receipt.removed == {"entries": 1, "chunks": 1, "vectors": 1}


def test_other_notes_are_not_touched(home: Home) -> None:
    home.forget(f"{DAY}#L4")
    assert home.text("memory/people/anna.md") == NOTES["memory/people/anna.md"]


def test_the_rest_of_the_note_is_found_afterwards(home: Home) -> None:
    home.forget(f"{DAY}#L4")
    assert [hit.path for hit in home.search("bread")] == [DAY]


def test_it_does_not_come_back_when_the_index_is_built_anew(home: Home) -> None:
    home.forget(f"{DAY}#L4")
    home.sync(force=True)
    assert home.traces() == []


def test_history_and_trash_lose_it(home: Home) -> None:
    place = job(home.folder).workspace
    edit(place, DAY, 5, 5, "- Sun", AFTER.strip())
    notes.append(place, "memory/copy.md", f"- 14:32 {SECRET}\n- something else")
    remove_note(place, "memory/copy.md")
    home.sync()
    receipt = home.forget(f"{DAY}#L4")
    assert receipt.removed["history"] == 1
    assert receipt.removed["trash"] == 1
    assert home.traces() == []
    assert len(history.versions(place, DAY)) == 1
    assert [item.path for item in trash.items(place)] == ["memory/copy.md"]


def test_an_earlier_version_with_a_part_of_the_entry_loses_that(home: Home) -> None:
    place = job(home.folder).workspace
    write(home.folder, {"memory/x.md": "- The zebra code is 4471\n- other\n"})
    edit(place, "memory/x.md", 1, 1, "- The zebra code is 4471\n  for Lyon", "- The zebra code is 4471")
    home.forget("memory/x.md#L1")
    assert home.traces([b"zebra"]) == []


def test_a_whole_note_goes_with_all_that_is_kept_of_it(home: Home) -> None:
    place = job(home.folder).workspace
    edit(place, DAY, 4, 4, "- 14:32 Something harmless instead", f"- 14:32 {SECRET}")
    home.sync()
    receipt = home.forget(DAY)
    assert not (home.folder / DAY).exists()
    assert history.versions(place, DAY) == ()
    assert receipt.complete
    assert home.traces() == []


def test_a_note_in_the_trash_can_be_forgotten(home: Home) -> None:
    place = job(home.folder).workspace
    remove_note(place, DAY)
    assert home.forget(DAY).complete
    assert trash.items(place) == ()
    assert home.traces() == []


def test_damaged_indexes_go(home: Home) -> None:
    (home.folder / ".memory" / "index.sqlite.damaged-20260101-000000-000").write_bytes(SECRET.encode())
    assert home.forget(f"{DAY}#L4").complete
    assert home.traces() == []


def test_the_indexes_of_all_agents_lose_it(home: Home) -> None:
    home.given = {"store.path": "agents/{agent}.sqlite", "agent": "second"}
    other = home.folder / "agents/second.sqlite"
    (home.folder / "agents").mkdir()
    other.write_bytes(index_file(home.folder).read_bytes())
    (home.folder / "agents/third.sqlite").write_bytes(index_file(home.folder).read_bytes())
    home.forget(f"{DAY}#L4")
    assert home.traces() == []


def test_snapshots_keep_everything_else(home: Home) -> None:
    folder = home.folder / ".memory/snapshots"
    folder.mkdir()
    messages = [{"role": "user", "content": f"Also: {SECRET}!"}, {"role": "user", "content": "Hello"}]
    (folder / "s.json").write_text(json.dumps({"messages": messages}), encoding="utf-8")
    receipt = home.forget(f"{DAY}#L4")
    kept = json.loads((folder / "s.json").read_text(encoding="utf-8"))
    assert [message["content"] for message in kept["messages"]] == ["[forgotten]", "Hello"]
    assert receipt.removed["snapshots"] == 1


def test_a_snapshot_that_cut_the_text_loses_it_too(home: Home) -> None:
    folder = home.folder / ".memory/snapshots"
    folder.mkdir()
    (folder / "s.json").write_text(json.dumps([f"So {SECRET[:-6]}"]), encoding="utf-8")
    home.forget(f"{DAY}#L4")
    assert json.loads((folder / "s.json").read_text(encoding="utf-8")) == ["[forgotten]"]


def test_other_private_files_that_hold_it_are_reported(home: Home) -> None:
    facts = home.folder / ".memory/facts/data.bin"
    facts.parent.mkdir()
    facts.write_bytes(b"\x00\x01" + SECRET.encode() + b"\x02")
    receipt = home.forget(f"{DAY}#L4")
    assert receipt.left == (".memory/facts/data.bin",)


def test_what_an_older_index_left_in_free_pages_goes(home: Home) -> None:
    connection = apsw.Connection(str(index_file(home.folder)))
    connection.pragma("secure_delete", False)
    connection.execute("UPDATE chunks SET text = 'x' WHERE path = ?", (DAY,))
    connection.close()
    assert ".memory/index.sqlite" in home.traces()
    assert home.forget(f"{DAY}#L4").complete
    assert home.traces() == []


def test_no_word_of_it_is_in_what_is_noted(home: Home) -> None:
    receipt = home.forget(f"{DAY}#L4")
    assert home.traces([b"vaultkeeper", b"Quintessa", b"Lyon", b"lyon"], ".memory") == []
    assert "Quintessa" not in json.dumps(receipt.to_json())


def test_forgetting_needs_no_index(workspace: Path) -> None:
    write(workspace, NOTES)
    home = Home(workspace)
    assert home.remove(home.candidates(f"{DAY}#L4")).removed == {"entries": 1}


def test_while_somebody_writes_the_index_nothing_is_changed(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forgetting, "_WAIT_SECONDS", 0.0)
    lock = WriterLock(index_file(home.folder).with_name("index.sqlite.embedding.lock"))
    with lock.held(1), pytest.raises(StoreBusy):
        home.forget(f"{DAY}#L4")
    assert home.text(DAY) == NOTES[DAY]
    assert not (home.folder / ".memory/forgotten.jsonl").exists()


@pytest.mark.parametrize(("path", "line"), [("../outside.md", 1), ("memory/twice.md", 2)])
def test_what_cannot_be_taken_out_changes_nothing_at_all(home: Home, path: str, line: int) -> None:
    write(home.folder, {"memory/twice.md": "- the same line\n- other\n- the same line\n"})
    chosen = [*home.candidates(f"{DAY}#L4"), ForgetCandidate(path, line, line, "- the same line", "item")]
    with pytest.raises(MemlinesError):
        home.forget_these(chosen)
    assert home.text(DAY) == NOTES[DAY]
    assert not (home.folder / ".memory/forgotten.jsonl").exists()


def test_links_out_of_the_private_folder_are_not_followed(home: Home, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.json").write_text(json.dumps([SECRET]), encoding="utf-8")
    (home.folder / ".memory/snapshots").symlink_to(outside)
    home.forget(f"{DAY}#L4")
    assert json.loads((outside / "x.json").read_text(encoding="utf-8")) == [SECRET]


@pytest.mark.parametrize("name", ["history", "trash"])
def test_links_in_the_place_of_kept_notes_are_refused(home: Home, tmp_path: Path, name: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.md").write_text(SECRET, encoding="utf-8")
    (home.folder / ".memory" / name).symlink_to(outside)
    with pytest.raises(PathError, match="symbolic link"):
        home.forget(f"{DAY}#L4")
    assert (outside / "x.md").read_text(encoding="utf-8") == SECRET


def test_a_made_up_snapshot_removes_no_other_file(home: Home) -> None:
    home.forget_these([ForgetCandidate("memory/people/anna.md", 1, 1, "x", "snapshot")])
    assert home.text("memory/people/anna.md") == NOTES["memory/people/anna.md"]


# The same text elsewhere


def test_the_same_text_in_another_note_stays_and_is_reported(home: Home) -> None:
    write(home.folder, {"memory/copy.md": f"Copied:\n\n- {SECRET.upper()}\n"})
    home.sync()
    receipt = home.forget(f"{DAY}#L4")
    assert receipt.left == ("memory/copy.md#L3",)
    assert home.text("memory/copy.md") == f"Copied:\n\n- {SECRET.upper()}\n"
    assert home.forget(receipt.left[0]).complete
    assert home.traces() == home.traces([SECRET.upper().encode()]) == []


def test_lines_that_other_notes_share_are_not_reported(home: Home) -> None:
    entry = f"- 15:00 {SECRET}\n  Status: it is in progress"
    write(
        home.folder,
        {"memory/x.md": f"{entry}\n", "memory/y.md": "- Trains\n  Status: it is in progress now\n"},
    )
    home.sync()
    assert home.forget("memory/x.md#L1", f"{DAY}#L4").left == ("memory/y.md#L1-L2",)


def test_a_note_that_is_written_again_by_hand_is_remembered_again(home: Home) -> None:
    home.forget(f"{DAY}#L4")
    write(home.folder, NOTES)
    assert [hit.path for hit in home.search("vaultkeeper")] == [DAY]


# Transcripts


def test_a_transcript_is_reported_and_not_changed(talk: Home) -> None:
    before = talk.text("sessions/s1.jsonl")
    receipt = talk.forget(f"{DAY}#L4")
    assert receipt.transcripts == ("sessions/s1.jsonl",)
    assert talk.text("sessions/s1.jsonl") == before


def test_a_forgotten_sentence_does_not_come_back_from_a_transcript(talk: Home) -> None:
    receipt = talk.forget(f"{DAY}#L4")
    assert receipt.complete
    for force in (False, True):
        talk.sync(force=force)
        assert talk.traces(below=".memory") == []
    text = "\n".join(chunk for _, _, chunk in indexed(talk.folder)["sessions/s1.jsonl"])
    assert "User: Please remember: Thanks!" in text
    assert "Assistant: The one at eight." in text


def test_a_turn_can_be_forgotten(talk: Home) -> None:
    receipt = talk.forget("sessions/s1.jsonl#L4")
    assert receipt.removed["turns"] == 1
    talk.sync(force=True)
    assert talk.traces([b"Ghent"], ".memory") == []


def test_a_forgotten_session_does_not_come_back(talk: Home) -> None:
    assert talk.forget(session="s1").complete
    talk.sync(force=True)
    assert list(indexed(talk.folder)) == [DAY, "memory/people/anna.md"]


def test_what_is_remembered_again_may_come_back(talk: Home) -> None:
    talk.forget(f"{DAY}#L4")
    place = job(talk.folder).workspace
    assert Forgotten.load(place).lift(SECRET)
    talk.sync(force=True)
    assert ".memory/index.sqlite" in talk.traces(below=".memory")


# The proof


def telling_pieces(texts: list[str]) -> list[str]:
    return sample(pieces_of(telling_lines(texts)))


def test_a_copy_is_found_across_the_blocks_that_are_read(tmp_path: Path) -> None:
    file = tmp_path / "large"
    for offset in (-3, 0, 5):
        file.write_bytes(b"x" * ((1 << 20) + offset) + SECRET.encode() + b"y")
        assert find_holders([file], telling_pieces([SECRET]))


def test_a_copy_inside_json_is_found(tmp_path: Path) -> None:
    text = 'Le "café" de Zoé ouvre à sept heures'
    file = tmp_path / "x.json"
    file.write_text(json.dumps([text]), encoding="utf-8")
    assert find_holders([file], telling_pieces([text]))


def test_a_part_of_a_long_line_is_enough(tmp_path: Path) -> None:
    text = " ".join(f"word{number}" for number in range(100))
    file = tmp_path / "x"
    file.write_text(text[200:300], encoding="utf-8")
    assert find_holders([file], telling_pieces([text]))


def test_the_number_of_pieces_is_bounded() -> None:
    assert len(telling_pieces([f"- entry number {number}\n" * 3 for number in range(5000)])) <= 64


def test_a_search_that_still_finds_it_is_reported(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    before = home.search("vaultkeeper")
    chosen = home.candidates(f"{DAY}#L4")
    monkeypatch.setattr(forgetting, "search_fresh", lambda *asked: before)
    receipt = home.forget_these(chosen)
    assert receipt.left == (before[0].citation,)


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="needs a system that lists its locks")
def test_forgetting_does_not_drop_the_locks_of_who_reads_the_index(workspace: Path) -> None:
    with words_memory(workspace, {"a.md": "- The kestrel nests\n- The heron waits\n"}) as memory:
        memory.search("heron")
        reader = Index.reader(workspace / ".memory" / "index.sqlite")
        assert reader is not None
        before = locks_below(workspace / ".memory")
        memory.forget(memory.forget_candidates("memory/a.md#L1"))
        after = locks_below(workspace / ".memory")
        reader.close()
    assert set(before) == {"index.sqlite", "index.sqlite-shm"}
    assert set(before) <= set(after)


def locks_below(folder: Path) -> list[str]:
    """Return the files of an index on which this process holds locks."""
    names = {f":{file.stat().st_ino} ": file.name for file in folder.glob("index.sqlite*")}
    lines = Path("/proc/locks").read_text(encoding="utf-8").splitlines()
    ours = [line for line in lines if f" {os.getpid()} " in line]
    return [name for inode, name in names.items() if any(inode in line for line in ours)]


OKAPI = "The okapi lives in the Congo basin, said the keeper."


@pytest.fixture
def snapped(workspace: Path) -> Iterator[Memory]:
    """A memory whose only word of a session is a snapshot, which is searched."""
    with Memory(workspace, {**WORDS_ONLY, "sources": ["memory", "sessions"]}) as memory:
        messages = [{"role": "user", "content": OKAPI}, {"role": "user", "content": "yes"}]
        assert snapshot.take(memory, "s1", messages)
        memory.sync()
        assert memory.search("okapi").hits
        yield memory


@pytest.mark.parametrize("by", ["session", "path"])
def test_nothing_of_a_snapshot_is_left_in_the_index(snapped: Memory, by: str) -> None:
    (hit,) = snapped.search("okapi").hits
    chosen = snapped.forget_candidates(
        hit.path if by == "path" else "", session="s1" if by != "path" else None
    )
    assert [(one.kind, OKAPI in one.text) for one in chosen] == [("snapshot", True)]
    receipt = snapped.forget(chosen)
    files = [file for file in snapped.workspace.private.rglob("*") if file.is_file()]
    assert [file.name for file in files if b"okapi" in file.read_bytes()] == []
    assert (receipt.removed["snapshots"], receipt.removed["chunks"]) == (1, 1)
    assert (receipt.left, receipt.transcripts) == ((), ())
    assert not snapshot.listed(snapped).snapshots


def test_a_snapshot_that_is_cleaned_is_no_transcript_that_holds_it(snapped: Memory) -> None:
    (hit,) = snapped.search("okapi").hits
    receipt = snapped.forget(snapped.forget_candidates(f"{hit.path}#L1-L99"))
    assert receipt.removed["snapshots"] == 1
    assert receipt.transcripts == ()


def test_a_snapshot_that_is_not_there_is_told(snapped: Memory) -> None:
    with pytest.raises(PathError, match="there is no snapshot"):
        snapped.forget_candidates("snapshots/none.json")
