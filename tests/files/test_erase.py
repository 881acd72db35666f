"""What is erased leaves no byte behind: in the index, beside it, and in notes and what is kept of them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import apsw
import numpy as np
import pytest

from memlines.errors import PathError, WriteError
from memlines.files import erase as notes_erase
from memlines.files import notes
from memlines.files.erase import Lines, erase_kept, erase_lines, erase_note, finish, is_done, kept_text
from memlines.files.history import versions
from memlines.files.trash import items
from memlines.index.store.sqlite import cache
from memlines.index.store.sqlite import erase as store
from memlines.index.store.sqlite.db import open_writer
from memlines.paths import Workspace
from memlines.text.terms import terms_of
from tests.indexes import assert_sound, index_file, indexed, near, reading, sync, write
from tests.note_changes import edit, remove_note
from tests.providers import FakeProvider

pytestmark = pytest.mark.promise("P14")

SECRET = "The vaultkeeper Quintessa hides xylophones"
RARE = [b"vaultkeeper", b"uintessa", b"xylophon"]
NOTES = {
    "memory/a.md": f"# Day\n\n- Bread is baked on Monday\n- {SECRET}\n- Rain again\n",
    "memory/b.md": "- Another note about trains\n",
}


def nothing(text: str) -> bool:
    """Hold nothing."""
    return False


@pytest.fixture
def provider() -> FakeProvider:
    return FakeProvider(by_sentence=True)


@pytest.fixture
def made(workspace: Path, provider: FakeProvider) -> Path:
    """A workspace with an index that holds vectors."""
    write(workspace, NOTES)
    sync(workspace, provider)
    return workspace


def raw(folder: Path, needles: list[bytes]) -> list[str]:
    """Return the files below a folder that hold one of the needles, whatever the case."""
    return sorted(
        path.name
        for path in folder.rglob("*")
        if path.is_file() and any(needle in path.read_bytes() for needle in needles)
    )


def vectors_of(workspace: Path) -> list[bytes]:
    with reading(workspace) as index:
        return [bytes(blob) for _, blob in index.vectors.by_chunk()]


@pytest.fixture
def open_reader(made: Path) -> Iterator[apsw.Connection]:
    """A connection of another program, which keeps the write-ahead log alive."""
    connection = apsw.Connection(str(index_file(made)))
    assert connection.execute("SELECT count(*) FROM chunks").get == 2
    yield connection
    connection.close()


# The index


def test_no_byte_of_the_text_is_left_in_the_index(made: Path) -> None:
    assert raw(made / ".memory", RARE)
    store.erase(index_file(made), ["memory/a.md"], nothing)
    assert raw(made / ".memory", RARE) == []


def test_no_byte_is_left_while_somebody_has_the_index_open(made: Path, open_reader: apsw.Connection) -> None:
    store.erase(index_file(made), ["memory/a.md"], nothing)
    assert raw(made / ".memory", RARE) == []


def test_no_byte_is_left_in_an_index_of_many_notes(workspace: Path, provider: FakeProvider) -> None:
    filler = {f"memory/n{number}.md": f"- entry {number} of trains\n" * 40 for number in range(60)}
    write(workspace, {**filler, **NOTES})
    sync(workspace, provider)
    store.erase(index_file(workspace), ["memory/a.md"], nothing)
    assert raw(workspace / ".memory", RARE) == []


def test_the_vector_of_the_chunk_is_gone(made: Path) -> None:
    before = vectors_of(made)
    store.erase(index_file(made), ["memory/a.md"], nothing)
    gone = [vector for vector in before if vector not in vectors_of(made)]
    assert len(gone) == 1
    assert raw(made / ".memory", gone) == []


def test_the_vectors_of_its_sentences_are_gone(made: Path) -> None:
    with reading(made) as index:
        number = next(iter(index.numbers_of(["memory/a.md"])))
        sentences = index.vectors.sentences([number])[number]
    store.erase(index_file(made), ["memory/a.md"], nothing)
    assert raw(made / ".memory", [sentences]) == []


def test_the_terms_are_gone_from_the_word_index(made: Path) -> None:
    store.erase(index_file(made), ["memory/a.md"], nothing)
    with reading(made) as index:
        known = {term for (term,) in index.connection.execute("SELECT term FROM chunks_terms")}
    assert known.isdisjoint(terms_of("vaultkeeper Quintessa xylophones", "en"))


def test_what_was_erased_is_counted(made: Path) -> None:
    gone = store.erase(index_file(made), ["memory/a.md"], nothing)
    assert gone == {"chunks": 1, "vectors": 1, "cached": 0}


def test_the_rest_of_the_index_is_sound_and_answers(made: Path, provider: FakeProvider) -> None:
    store.erase(index_file(made), ["memory/a.md"], nothing)
    assert_sound(index_file(made))
    with reading(made) as index:
        assert list(near(index, provider, "trains")) == ["- Another note about trains"]


def test_a_note_that_still_exists_is_read_again(made: Path, provider: FakeProvider) -> None:
    before = indexed(made)
    store.erase(index_file(made), ["memory/a.md"], nothing)
    sync(made, provider)
    assert indexed(made) == {"memory/b.md": before["memory/b.md"], "memory/a.md": before["memory/a.md"]}


def test_the_cache_loses_earlier_versions_of_chunks(made: Path, provider: FakeProvider) -> None:
    for more in range(3):
        write(made, {"memory/a.md": NOTES["memory/a.md"] + f"- line {more}\n"})
        sync(made, provider)
    with reading(made) as index:
        assert cache.count(index.connection) == 3
    store.erase(index_file(made), ["memory/a.md"], nothing)
    with reading(made) as index:
        assert cache.count(index.connection) == 0


def test_the_cache_keeps_what_is_still_in_the_index(made: Path, provider: FakeProvider) -> None:
    store.erase(index_file(made), ["memory/a.md"], nothing)
    (made / "memory/a.md").unlink()
    provider.texts.clear()
    sync(made, provider, force=True)
    assert provider.texts == []


def test_transcripts_that_hold_it_leave_the_index(workspace: Path) -> None:
    line = '{{"type": "message", "message": {{"role": "user", "content": "{}"}}}}\n'
    write(workspace, {"sessions/a.jsonl": line.format(SECRET), "sessions/b.jsonl": line.format("trains")})
    sync(workspace, None, {"sources": ["memory", "sessions"]})
    store.erase(index_file(workspace), [], lambda text: SECRET in text)
    assert list(indexed(workspace)) == ["sessions/b.jsonl"]


def test_an_index_that_cannot_be_used_is_removed(made: Path) -> None:
    index_file(made).write_bytes(b"SQLite format 3\0" + SECRET.encode() * 200)
    store.erase(index_file(made), ["memory/a.md"], nothing)
    assert not index_file(made).exists()


def test_copies_beside_the_index_go(made: Path) -> None:
    folder, name = made / ".memory", index_file(made).name
    for suffix in (
        ".damaged-20260101-000000-001",
        ".damaged-20260101-000000-001-wal",
        ".rebuild-9",
    ):
        (folder / (name + suffix)).write_bytes(SECRET.encode())
    store.remove_copies(index_file(made))
    assert raw(folder, [SECRET.encode()]) == ["index.sqlite"]


def test_rewriting_clears_what_was_deleted_without_care(made: Path) -> None:
    path = index_file(made)
    connection = apsw.Connection(str(path))
    connection.pragma("secure_delete", False)
    connection.execute("DELETE FROM chunks WHERE path = 'memory/a.md'")
    connection.close()
    assert raw(made / ".memory", [SECRET.encode()]) == ["index.sqlite"]
    store.rewrite(path)
    assert raw(made / ".memory", [SECRET.encode()]) == []


def test_a_writer_overwrites_what_it_deletes(tmp_path: Path) -> None:
    connection = open_writer(tmp_path / "x.sqlite")
    assert connection.pragma("secure_delete") == 1
    connection.close()


@pytest.mark.parametrize(
    ("piece", "live"), [("vaultkeeper Quintessa", True), ("Quintessa vaultkeeper", False)]
)
def test_a_piece_is_live_if_a_chunk_holds_it(made: Path, piece: str, live: bool) -> None:
    assert store.is_live(index_file(made), piece) is live


def test_the_indexes_of_all_agents_are_found(made: Path) -> None:
    folder = made / ".memory"
    shutil.copy(index_file(made), folder / "other.sqlite")
    shutil.copy(index_file(made), folder / "index.sqlite.damaged-x")
    (folder / "foreign.sqlite").write_bytes(b"SQLite format 3\0" + bytes(100))
    assert [path.name for path in store.indexes_in(folder)] == ["index.sqlite", "other.sqlite"]


def test_the_table_of_the_extension_loses_its_vectors(workspace: Path, provider: FakeProvider) -> None:
    pytest.importorskip("sqlite_vec")
    write(workspace, NOTES)
    sync(workspace, provider, {"store.vector.engine": "sqlite-vec"})
    before = vectors_of(workspace)
    store.erase(index_file(workspace), ["memory/a.md"], nothing)
    gone = [vector for vector in before if vector not in vectors_of(workspace)]
    assert gone
    assert all(np.frombuffer(vector, "<f4").any() for vector in gone)
    assert raw(workspace / ".memory", gone) == []


# Notes


@pytest.fixture
def home(workspace: Path) -> Workspace:
    write(workspace, NOTES)
    return Workspace.at(workspace)


def test_lines_go_and_their_neighbours_stay_byte_for_byte(home: Workspace) -> None:
    assert erase_lines(home, "memory/a.md", [Lines(4, 4, f"- {SECRET}")], 10**6) == 1
    text = (home.root / "memory/a.md").read_bytes()
    assert text == b"# Day\n\n- Bread is baked on Monday\n- Rain again\n"


def test_nothing_of_them_is_kept(home: Workspace) -> None:
    erase_lines(home, "memory/a.md", [Lines(4, 4, f"- {SECRET}")], 10**6)
    assert raw(home.root, [SECRET.encode()]) == []


def test_several_runs_of_lines_go_at_once(home: Workspace) -> None:
    lines = [Lines(3, 3, "- Bread is baked on Monday"), Lines(5, 5, "- Rain again")]
    assert erase_lines(home, "memory/a.md", lines, 10**6) == 2
    assert (home.root / "memory/a.md").read_text(encoding="utf-8") == f"# Day\n\n- {SECRET}\n"


def test_lines_that_moved_are_found(home: Workspace) -> None:
    (home.root / "memory/a.md").write_text("new\n\n" + NOTES["memory/a.md"], encoding="utf-8")
    assert erase_lines(home, "memory/a.md", [Lines(4, 4, f"- {SECRET}")], 10**6) == 1
    assert raw(home.root, [SECRET.encode()]) == []


def test_windows_line_ends_and_a_byte_order_mark_stay(home: Workspace) -> None:
    path = home.root / "memory/a.md"
    path.write_bytes(b"\xef\xbb\xbf- one\r\n- two\r\n- three\r\n")
    erase_lines(home, "memory/a.md", [Lines(2, 2, "- two")], 10**6)
    assert path.read_bytes() == b"\xef\xbb\xbf- one\r\n- three\r\n"


def test_lines_that_are_gone_are_gone(home: Workspace) -> None:
    assert erase_lines(home, "memory/a.md", [Lines(4, 4, "- never was there")], 10**6) == 0
    assert erase_lines(home, "memory/missing.md", [Lines(1, 1, "- x")], 10**6) == 0


def test_lines_that_stand_twice_elsewhere_are_left_alone(home: Workspace) -> None:
    path = home.root / "memory/b.md"
    path.write_text("- x\n- y\n- x\n", encoding="utf-8")
    with pytest.raises(WriteError, match="more than once"):
        erase_lines(home, "memory/b.md", [Lines(2, 2, "- x")], 10**6)
    assert path.read_text(encoding="utf-8") == "- x\n- y\n- x\n"


def test_a_note_goes_with_everything_that_is_kept_of_it(home: Workspace) -> None:
    edit(home, "memory/a.md", 5, 5, "- Sun", "- Rain again")
    remove_note(home, "memory/a.md")
    assert erase_kept(home, "memory/a.md") == (1, 1)
    assert versions(home, "memory/a.md") == ()
    assert items(home) == ()
    assert raw(home.root, [b"a.md", SECRET.encode()]) == []
    assert [path for path in home.private.rglob("*") if path.name == "a.md"] == []


def test_what_is_kept_of_other_notes_stays(home: Workspace) -> None:
    edit(home, "memory/a.md", 5, 5, "- Sun", "- Rain again")
    remove_note(home, "memory/b.md")
    erase_kept(home, "memory/a.md")
    assert [item.path for item in items(home)] == ["memory/b.md"]


def test_a_note_that_changed_is_left_alone(home: Workspace) -> None:
    with pytest.raises(WriteError, match="has changed"):
        erase_note(home, "memory/a.md", "something else")
    assert (home.root / "memory/a.md").exists()


def test_a_note_that_is_gone_is_gone(home: Workspace) -> None:
    assert erase_note(home, "memory/a.md", NOTES["memory/a.md"]) == 1
    assert erase_note(home, "memory/a.md", NOTES["memory/a.md"]) == 0


@pytest.mark.parametrize("path", ["../x.md", "notes.txt", ".memory/config.md", "/etc/x.md"])
def test_only_notes_are_erased(home: Workspace, path: str) -> None:
    with pytest.raises(PathError):
        erase_lines(home, path, [Lines(1, 1, "x")], 10**6)


def test_what_is_kept_of_a_note_that_is_gone_can_be_read(home: Workspace) -> None:
    assert kept_text(home, "memory/a.md") is None
    remove_note(home, "memory/a.md")
    assert kept_text(home, "memory/a.md") == NOTES["memory/a.md"]


# A run that was cut short


def test_a_note_is_done_until_the_run_is_over(home: Workspace) -> None:
    assert not is_done(home, "memory/a.md")
    erase_lines(home, "memory/a.md", [Lines(4, 4, f"- {SECRET}")], 10**6)
    assert is_done(home, "memory/a.md")
    assert not is_done(home, "memory/b.md")
    finish(home)
    assert not is_done(home, "memory/a.md")


def test_a_note_that_was_changed_since_is_not_done(home: Workspace) -> None:
    erase_lines(home, "memory/a.md", [Lines(4, 4, f"- {SECRET}")], 10**6)
    notes.append(home, "memory/a.md", "- new")
    assert not is_done(home, "memory/a.md")


def test_what_is_noted_meanwhile_holds_no_text(home: Workspace) -> None:
    erase_lines(home, "memory/a.md", [Lines(4, 4, f"- {SECRET}")], 10**6)
    erase_note(home, "memory/b.md", NOTES["memory/b.md"])
    assert (home.private / notes_erase.JOURNAL).exists()
    assert raw(home.private, [b"vaultkeeper", b"trains"]) == []
