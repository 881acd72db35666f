"""The table of the facts is written again from the index, whatever happened to either."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memlines.errors import PathError, StoreError
from memlines.index.sync.vectors import renew
from memlines.memory.facts import lance
from memlines.memory.facts import rebuild as rebuilding
from memlines.memory.facts.lance import LanceTable, Row
from memlines.memory.facts.places import folder_of, lock_of, stamp_of, write_stamp
from memlines.memory.facts.rebuild import absent, state_in
from memlines.memory.facts.table import FactTable
from memlines.settings import load
from memlines.text.facts import Fact
from tests.indexes import REPOSITORY, job, program, reading
from tests.memory.facts.table import NOTE, Kept, named, note_of
from tests.providers import FakeProvider

pytest.importorskip("lancedb", reason="needs the extra 'facts'")

TEA, CAKE, ACME = "Likes tea in the morning.", "Bakes cake on Sundays.", "Works at Acme since spring."


@pytest.fixture
def kept(workspace: Path) -> Kept:
    return Kept(workspace)


# What changes in the note


def test_the_first_sync_writes_the_table(kept: Kept) -> None:
    assert kept.keep(note_of(TEA, CAKE)) == "rebuilt"
    assert kept.texts() == {named(0): TEA, named(1): CAKE}


def test_a_row_has_the_vector_that_the_index_has(kept: Kept) -> None:
    kept.keep(note_of(TEA, CAKE))
    assert kept.nearest(TEA) == {named(0): pytest.approx(1, abs=1e-3)}


@pytest.mark.parametrize(
    "text",
    [
        note_of(TEA, CAKE, ACME),
        note_of(TEA, ACME),
        note_of(TEA),
        note_of(TEA, f"~~{CAKE}~~"),
        note_of(TEA, CAKE).replace("[fact] Bakes", "[preference] Bakes"),
        note_of(TEA, CAKE).replace("# Facts", "# Facts\n\nWhat is known of me.\n"),
        note_of(TEA, CAKE) + f"- {CAKE} ^{named(1)}\n",
        f"- {CAKE} ^{named(1)}\n- {TEA} ^{named(0)}\n",
        "# Facts\n",
    ],
    ids=["add", "edit", "delete", "strike", "category", "prose", "copy", "reorder", "empty"],
)
def test_every_change_of_the_note_reaches_the_table(kept: Kept, text: str) -> None:
    kept.keep(note_of(TEA, CAKE))
    assert kept.keep(text) == "rebuilt"
    assert kept.texts() == kept.of_the_note()


def test_until_the_table_is_written_again_it_is_of_another_state(kept: Kept) -> None:
    kept.keep(note_of(TEA, CAKE))
    kept.write(note_of(TEA, ACME))
    kept.sync()
    stamp = stamp_of(kept.uri)
    assert stamp is not None
    with reading(kept.root) as index:
        assert stamp.state != state_in(index, NOTE)


def test_a_struck_fact_is_no_longer_current(kept: Kept) -> None:
    kept.keep(note_of(TEA, f"~~{CAKE}~~"))
    assert [*kept.nearest(CAKE, 5, current_only=True)] == [named(0)]


def test_a_note_that_is_deleted_empties_the_table(kept: Kept) -> None:
    kept.keep(note_of(TEA))
    (kept.root / NOTE).unlink()
    kept.sync()
    kept.rebuild()
    assert kept.rows() == {}
    assert kept.opened() is None


def test_the_last_change_of_many_counts(kept: Kept) -> None:
    kept.keep(note_of(TEA))
    kept.keep(note_of(CAKE))
    kept.keep(note_of(TEA))
    assert kept.nearest(TEA) == {named(0): pytest.approx(1, abs=1e-3)}


# Where nothing is to be done


def test_a_workspace_without_facts_gets_no_table(kept: Kept) -> None:
    kept.sync()
    assert kept.rebuild() == "unchanged"
    assert not Path(kept.uri).exists()


@pytest.fixture
def without_lance(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    def forbid() -> None:
        def refuse(uri: str) -> None:
            raise AssertionError("LanceDB was used")

        monkeypatch.setattr(lance, "connect", refuse)

    return forbid


def test_where_nothing_changed_lancedb_is_not_needed(kept: Kept, without_lance: Callable[[], None]) -> None:
    kept.keep(note_of(TEA))
    without_lance()
    assert kept.rebuild() == "unchanged"


def test_facts_that_wait_for_vectors_do_not_need_lancedb(
    kept: Kept, without_lance: Callable[[], None]
) -> None:
    kept.keep(note_of(TEA))
    kept.write(note_of(TEA, CAKE))
    kept.sync(embed_limit=0)
    kept.rebuild()
    without_lance()
    assert kept.rebuild() == "unchanged"


def test_an_open_table_is_opened_again_only_once_it_changed(kept: Kept) -> None:
    uses_table = load(kept.workspace, {"facts.store": "lancedb"}).settings
    table = FactTable(kept.workspace, uses_table, kept.root / "unused")

    def opened() -> LanceTable:
        table.prepare()
        assert table._opened is not None
        return table._opened[1]

    kept.keep(note_of(TEA))
    before = opened()
    assert opened() is before
    kept.keep(note_of(TEA, CAKE))
    assert (opened() is before, opened().count) == (False, 2)


# Vectors


def test_facts_without_a_vector_are_in_the_table_once_they_have_one(kept: Kept) -> None:
    kept.keep(note_of(TEA))
    kept.write(note_of(TEA, CAKE))
    kept.sync(embed_limit=0)
    assert kept.rebuild() == "rebuilt"
    stamp = stamp_of(kept.uri)
    assert stamp is not None
    assert (stamp.count, len(stamp.lacking)) == (1, 1)
    kept.sync()
    assert kept.rebuild() == "rebuilt"
    assert kept.texts() == {named(0): TEA, named(1): CAKE}


def test_a_table_is_not_worth_writing_while_most_facts_have_no_vector(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rebuilding, "_MOST_LACKING", 1)
    kept.keep(note_of(TEA))
    kept.write(note_of(TEA, CAKE, ACME))
    kept.sync(embed_limit=0)
    assert kept.rebuild() == "put off"


def test_an_edited_fact_without_a_vector_is_not_found_by_its_old_one(kept: Kept) -> None:
    kept.keep(note_of(TEA, CAKE))
    kept.write(note_of(TEA, ACME))
    kept.sync(embed_limit=0)
    kept.rebuild()
    assert named(1) not in kept.texts()


def test_without_vectors_there_is_no_table(kept: Kept) -> None:
    kept.write(note_of(TEA))
    kept.sync(embed_limit=0)
    kept.rebuild()
    assert kept.rows() == {}


def test_vectors_of_another_model_write_the_table_again(kept: Kept) -> None:
    kept.keep(note_of(TEA, CAKE))
    kept.provider = FakeProvider(model="another", dims=32)
    kept.sync()
    assert kept.rebuild() == "rebuilt"
    assert kept.nearest(TEA) == {named(0): pytest.approx(1, abs=1e-3)}


def test_vectors_that_were_made_again_write_the_table_again(kept: Kept) -> None:
    kept.keep(note_of(TEA))
    renew(job(kept.root, kept.provider))
    kept.sync()
    assert kept.rebuild() == "rebuilt"


def test_a_note_that_is_ahead_of_the_index_waits_for_a_sync(kept: Kept) -> None:
    kept.keep(note_of(TEA, CAKE))
    kept.write(note_of(TEA))
    assert kept.rebuild() == "put off"  # the index still knows of the cake
    kept.write(note_of(TEA, CAKE))
    assert kept.rebuild() == "unchanged"
    assert kept.texts() == kept.of_the_note()


# How often


def test_a_large_table_is_not_written_again_at_once(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rebuilding, "LARGE", 2)
    kept.keep(note_of(TEA, CAKE))
    assert kept.keep(note_of(TEA, CAKE, ACME)) == "put off"
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + 3_600)
    assert kept.rebuild() == "rebuilt"
    assert kept.texts() == kept.of_the_note()


def test_a_large_table_of_the_future_is_written_again(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rebuilding, "LARGE", 2)
    kept.keep(note_of(TEA, CAKE))
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() - 3_600)
    assert kept.keep(note_of(TEA, CAKE, ACME)) == "rebuilt"


# Stamps that lie


def distrusted(kept: Kept) -> None:
    """Ask as a recall does, then refresh as the next sync does."""
    kept.opened()
    kept.rebuild()
    assert kept.texts() == kept.of_the_note()
    assert kept.opened() is not None


def test_a_table_that_was_deleted_by_hand_is_written_again(kept: Kept) -> None:
    kept.keep(note_of(TEA, CAKE))
    lance.drop(kept.uri)
    assert kept.rebuild() == "rebuilt"
    distrusted(kept)


@pytest.mark.parametrize("name", ["_versions", "data"])
@pytest.mark.parametrize("content", [None, b"", b"no table" * 500])
def test_a_damaged_table_is_written_again(kept: Kept, name: str, content: bytes | None) -> None:
    kept.keep(note_of(TEA, CAKE))
    for file in (kept.folder / name).iterdir():
        if content is None:
            file.unlink()
        else:
            file.write_bytes(content)
    kept.keep(note_of(TEA, CAKE, ACME))
    distrusted(kept)


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"format": 1}', '{"format": 3}', '{"format": 99}', "null"]
)
def test_a_damaged_stamp_makes_the_table_written_again(kept: Kept, content: str) -> None:
    kept.keep(note_of(TEA, CAKE))
    (folder_of(kept.uri) / "record.json").write_text(content, encoding="utf-8")
    assert kept.opened() is None
    assert kept.rebuild() == "rebuilt"
    distrusted(kept)


def test_a_table_that_somebody_else_changed_is_not_trusted(kept: Kept) -> None:
    kept.keep(note_of(TEA, CAKE))
    table = LanceTable.open(kept.uri)
    assert table is not None
    table._inner.delete("current")
    assert kept.opened() is None
    distrusted(kept)


def test_a_stamp_of_another_version_is_not_trusted(kept: Kept) -> None:
    kept.keep(note_of(TEA, CAKE))
    stamp = stamp_of(kept.uri)
    assert stamp is not None
    (folder_of(kept.uri) / "record.json").unlink()
    write_stamp(kept.uri, replace(stamp, version=stamp.version + 1))
    distrusted(kept)


def test_another_table_of_the_same_version_is_not_trusted(kept: Kept) -> None:
    kept.keep(note_of(TEA, CAKE))
    own = LanceTable.open(kept.uri)
    assert own is not None
    lance.drop(kept.uri)
    other = LanceTable.create(kept.uri, [Row(5, Fact(named(5), ACME), kept.query(ACME))])
    assert other.version == own.version
    assert kept.opened() is None
    distrusted(kept)


def test_a_link_in_the_place_of_its_folder_is_not_followed(kept: Kept, tmp_path: Path) -> None:
    kept.write(note_of(TEA))
    kept.sync()
    Path(kept.uri).symlink_to(tmp_path, target_is_directory=True)
    with pytest.raises(PathError, match="symbolic link"):
        kept.rebuild()


def test_a_file_in_the_place_of_its_folder_is_told(kept: Kept) -> None:
    kept.write(note_of(TEA))
    kept.sync()
    Path(kept.uri).write_text("x", encoding="utf-8")
    with pytest.raises(StoreError):
        kept.rebuild()


# Forgetting


def bytes_below(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())


def test_no_byte_of_a_changed_fact_is_left(kept: Kept) -> None:
    kept.keep(note_of("The password is swordfish.", TEA))
    kept.keep(note_of(CAKE, TEA))
    assert b"swordfish" not in bytes_below(Path(kept.uri))


def test_no_byte_of_a_fact_is_left_once_the_table_is_forgotten(kept: Kept) -> None:
    kept.keep(note_of("The password is swordfish.", TEA))
    assert b"swordfish" in bytes_below(Path(kept.uri))
    with absent(kept.uri):
        assert b"swordfish" not in bytes_below(Path(kept.uri))
        assert kept.opened() is None
    kept.rebuild()
    assert kept.texts() == kept.of_the_note()


def test_a_table_that_is_not_there_can_be_forgotten(kept: Kept) -> None:
    with absent(kept.uri):
        pass
    assert not Path(kept.uri).exists()


def test_many_small_changes_leave_few_files(kept: Kept) -> None:
    files = []
    for number in range(8):
        kept.keep(note_of(TEA, f"Fact number {number}."))
        files.append(sum(1 for file in kept.folder.rglob("*") if file.is_file()))
    assert len({*files}) == 1
    assert kept.texts() == kept.of_the_note()


def test_a_table_that_grew_large_is_indexed(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lance, "_EXACT_UP_TO", 300)
    monkeypatch.setattr(lance, "_PARTITION", 100)
    texts = [f"Fact {number} is about item{number}." for number in range(320)]
    kept.keep(note_of(*texts[:290]))
    kept.keep(note_of(*texts))
    assert kept.table()._is_indexed
    assert kept.nearest(texts[300], 320)[named(300)] == pytest.approx(1, abs=1e-3)


# Any sequence of edits

WORDS = st.sampled_from(
    ["tea", "cake", "Acme", "Sunday", "works", "likes", "\u00e9t\u00e9", "42", "{x}", "^a"]
)
TEXTS = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)
EDITS = st.one_of(
    st.tuples(st.just("add"), TEXTS),
    st.tuples(st.just("edit"), TEXTS),
    st.tuples(st.sampled_from(["delete", "strike", "copy", "reverse", "prose", "unnamed"]), st.just("")),
)


def edited(lines: list[str], kind: str, text: str, place: int) -> list[str]:
    """Return the lines of a note after somebody worked on it in an editor."""
    if kind == "add" or not lines:
        return [*lines, f"- 2026-11-16 [fact] {text or 'tea'} ^{named(place + 100)}"]
    at = place % len(lines)
    old = lines[at]
    changed = {
        "edit": [old.rpartition(" ^")[0] + f" {text} ^" + old.rpartition(" ^")[2]],
        "delete": [],
        "strike": [f"- ~~{old.removeprefix('- ')}~~"],
        "copy": [old, old],
        "prose": ["", "Some words.", "", old],
        "unnamed": [old.rpartition(" ^")[0] or old],
    }
    if kind == "reverse":
        return lines[::-1]
    return [*lines[:at], *changed[kind], *lines[at + 1 :]]


@settings(max_examples=10)
@given(st.lists(st.tuples(st.lists(st.tuples(EDITS, st.integers(0, 50)), max_size=4)), max_size=4))
def test_after_any_edits_the_rows_are_the_facts_of_the_note(
    rounds: list[tuple[list[tuple[tuple[str, str], int]]]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        kept = Kept(Path(folder))
        lines: list[str] = []
        for (edits,) in rounds:
            for (kind, text), place in edits:
                lines = edited(lines, kind, text, place)
            kept.keep("\n".join(lines) + "\n")
            rows = {name: (row["text"], row["category"], row["current"]) for name, row in kept.rows().items()}
            facts = {line.fact.id: line.fact for line in kept.note.lines()}
            assert rows == {name: (fact.text, fact.category, fact.is_current) for name, fact in facts.items()}


# Other processes


def test_a_table_that_another_process_writes_is_left_to_it(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rebuilding, "_WAIT", 0.0)
    kept.keep(note_of(TEA))
    kept.write(note_of(TEA, CAKE))
    kept.sync()
    with lock_of(kept.uri).held(0):
        assert kept.rebuild() == "busy"
    assert kept.rebuild() == "rebuilt"


REBUILD = """
import sys
from pathlib import Path
from tests.memory.facts.table import Kept
kept = Kept(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
kept.write_again()
print("done", flush=True)
"""


def process(root: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*program("import lancedb\n" + REBUILD), str(root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        cwd=REPOSITORY,
    )


@pytest.mark.slow
def test_two_processes_write_at_once(kept: Kept) -> None:
    kept.write(note_of(TEA, CAKE, ACME))
    kept.sync()
    with process(kept.root) as one, process(kept.root) as other:
        for each in (one, other):
            assert each.stdout is not None
            assert each.stdout.readline() == "ready\n"
        for each in (one, other):
            print(file=each.stdin, flush=True)
        assert [each.wait(60) for each in (one, other)] == [0, 0]
    kept.rebuild()
    distrusted(kept)


BE_KILLED = """
import os, signal, sys
from pathlib import Path
from memlines.memory.facts import rebuild as rebuilding
from tests.memory.facts.table import Kept

kept = Kept(Path(sys.argv[1]))
cut, after = sys.argv[2], sys.argv[3] == "after"
real = getattr(rebuilding, cut)

def killed(*arguments, **options):
    if after:
        real(*arguments, **options)
    os.kill(os.getpid(), signal.SIGKILL)

setattr(rebuilding, cut, killed)
kept.write_again()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
@pytest.mark.parametrize(
    ("cut", "when"),
    [
        ("drop", "before"),
        ("_write", "after"),
        pytest.param("drop", "after", marks=pytest.mark.slow),
        pytest.param("remove_stamp", "after", marks=pytest.mark.slow),
        pytest.param("_make_durable", "after", marks=pytest.mark.slow),
        pytest.param("write_stamp", "before", marks=pytest.mark.slow),
    ],
)
def test_what_a_killed_process_leaves_is_written_again(kept: Kept, cut: str, when: str) -> None:
    kept.keep(note_of(TEA, CAKE))
    kept.write(note_of(TEA, ACME))
    kept.sync()
    done = subprocess.run(
        [*program(BE_KILLED), str(kept.root), cut, when], check=False, cwd=REPOSITORY, timeout=60
    )
    assert done.returncode == -signal.SIGKILL
    assert kept.opened() is None or kept.table().count == 2
    kept.rebuild()
    distrusted(kept)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_a_process_may_be_killed_at_any_time(kept: Kept) -> None:
    texts = [f"Fact {number}." for number in range(300)]
    for milliseconds in range(0, 120, 6):
        texts[milliseconds] = f"Changed at {milliseconds}."
        kept.write(note_of(*texts))
        kept.sync()
        with process(kept.root) as healer:
            assert healer.stdout is not None
            healer.stdout.readline()
            print(file=healer.stdin, flush=True)
            try:
                healer.wait(milliseconds / 1000)
            except subprocess.TimeoutExpired:
                os.kill(healer.pid, signal.SIGKILL)
        kept.rebuild()
        distrusted(kept)
