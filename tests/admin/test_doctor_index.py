"""The doctor finds damage in the index and repairs it; no note is touched by that."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from memlines.admin.doctor.examine import examine, examine_and_repair
from memlines.index.store.sqlite import db
from tests.admin.doctor import (
    WORDS_ONLY,
    cut_off,
    execute,
    finding_of,
    folder_instead,
    foreign_instead,
    look,
    made_by_a_newer_version,
    make_synced,
    middle_zeroed,
    only,
    repair,
    text_instead,
    words_garbled,
    wrong,
)
from tests.indexes import (
    assert_sound,
    hashes,
    index_file,
    notes,
    program,
    reading,
    silent,
    sync,
    write,
)
from tests.providers import FakeProvider

Damage = Callable[[Path], None]


@pytest.fixture
def synced(workspace: Path) -> Path:
    """A workspace whose index equals its notes, by words."""
    return make_synced(workspace)


@pytest.fixture
def vectored(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace whose index holds vectors, of a provider that `auto` chooses."""
    monkeypatch.setattr("memlines.embed.builtin.files.BuiltinProvider", FakeProvider)
    write(workspace, notes(5))
    sync(workspace, FakeProvider())
    return workspace


# An index that cannot be used


DAMAGES: list[Damage] = [
    cut_off,
    middle_zeroed,
    text_instead,
    folder_instead,
    foreign_instead,
    made_by_a_newer_version,
    words_garbled,
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_index_is_a_problem_that_can_be_repaired(synced: Path, damage: Damage) -> None:
    damage(index_file(synced))
    found = [item for item in wrong(look(synced), "index") if item.level == "problem"]
    assert found
    assert found[0].repair == "rebuild"
    assert found[0].todo


@pytest.mark.parametrize("damage", DAMAGES)
def test_repairing_a_damaged_index_leaves_no_problem(synced: Path, damage: Damage) -> None:
    damage(index_file(synced))
    assert repair(synced).count("problem") == 0
    assert_sound(index_file(synced))


@pytest.mark.parametrize("damage", DAMAGES)
def test_repairing_a_damaged_index_touches_no_note(synced: Path, damage: Damage) -> None:
    before = hashes(synced)
    damage(index_file(synced))
    repair(synced)
    assert hashes(synced) == before


def test_a_missing_index_is_not_wrong_and_made_by_repair(workspace: Path) -> None:
    write(workspace, notes(2))
    missing = finding_of(workspace, "index")
    assert (missing.level, missing.message, missing.repair) == (
        "ok",
        "there is no index yet: every note is new",
        "sync",
    )


def test_a_missing_index_is_made_by_repair(workspace: Path) -> None:
    write(workspace, notes(2))
    assert wrong(repair(workspace)) == []


def test_an_index_of_an_unfinished_first_sync_is_a_warning(synced: Path) -> None:
    execute(synced, "DELETE FROM meta WHERE key = 'synced_at'")
    assert only(look(synced), "index").message == "the first sync was never finished"


def test_an_index_that_another_program_locked_is_a_problem(
    synced: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(db, "_BUSY_MS", 50)
    body = (
        f"import apsw; c = apsw.Connection({str(index_file(synced))!r})\n"
        "c.pragma('locking_mode', 'exclusive')\n"
        "c.execute('BEGIN IMMEDIATE; CREATE TABLE t(a); ROLLBACK'); print('locked', flush=True); input()"
    )
    with subprocess.Popen(program(body), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        try:
            assert "locked by another program" in only(look(synced), "index").message
        finally:
            other.communicate(b"\n")


# Rows that contradict each other


def test_text_that_is_not_what_was_written_is_a_problem(synced: Path) -> None:
    execute(synced, "UPDATE chunks SET text = 'forged' WHERE number = 3")
    assert only(look(synced), "texts").repair == "rebuild"


def test_text_that_is_not_what_was_written_is_repaired(synced: Path) -> None:
    execute(synced, "UPDATE chunks SET text = 'forged' WHERE number = 3")
    assert repair(synced).count("problem") == 0


def test_chunks_without_words_are_a_problem(synced: Path) -> None:
    execute(synced, "DELETE FROM chunks_fts WHERE rowid = 3")
    assert only(look(synced), "words").message.endswith(": 1")


def test_chunks_without_words_are_repaired(synced: Path) -> None:
    execute(synced, "DELETE FROM chunks_fts WHERE rowid = 3")
    assert wrong(repair(synced)) == []


def test_words_without_a_chunk_are_a_problem_and_repaired(synced: Path) -> None:
    execute(synced, "INSERT INTO chunks_fts(rowid, words, title) VALUES(9999, 'lost', '')")
    assert only(look(synced), "words").repair == "orphans"
    assert wrong(repair(synced)) == []


def test_chunks_without_a_file_are_a_problem_and_repaired(synced: Path) -> None:
    execute(synced, "DELETE FROM files WHERE path = 'memory/n3.md'")
    (synced / "memory" / "n3.md").unlink()
    assert "memory/n3.md" in only(look(synced), "orphans").message
    assert wrong(repair(synced)) == []


def test_vectors_without_a_chunk_are_a_problem_and_repaired(vectored: Path) -> None:
    execute(
        vectored, "INSERT INTO chunks_vec(chunk, embedding) SELECT 9999, embedding FROM chunks_vec LIMIT 1"
    )
    assert only(examine(vectored), "orphans").repair == "orphans"
    assert wrong(examine_and_repair(vectored, progress=silent)) == []


def test_sentences_without_a_chunk_are_a_problem_and_repaired(vectored: Path) -> None:
    execute(vectored, "INSERT INTO chunks_sentences VALUES(9999, zeroblob(64))")
    assert only(examine(vectored), "orphans").repair == "orphans"
    assert wrong(examine_and_repair(vectored, progress=silent)) == []


def test_settings_the_index_was_not_made_with_are_a_warning(synced: Path) -> None:
    found = only(examine(synced, {**WORDS_ONLY, "chunking.tokens": 100}), "identity")
    assert "chunk tokens was 400 and is now 100" in found.message


# Vectors


BAD_VECTORS = {
    "blank": bytes(64),
    "not-encoded": np.full(64, 1 / 8, "<f4").tobytes(),
    "too-small": b"\x20" * 64,
    "other-dims": b"\x7f" * 32,
}


@pytest.mark.parametrize("bad", BAD_VECTORS.values(), ids=BAD_VECTORS)
def test_a_damaged_vector_is_a_problem(vectored: Path, bad: bytes) -> None:
    execute(vectored, "UPDATE chunks_vec SET embedding = ? WHERE chunk = 2", bad)
    found = only(examine(vectored), "vectors")
    assert (found.message, found.repair) == ("vectors that are damaged: 1", "vectors")


@pytest.mark.parametrize("bad", BAD_VECTORS.values(), ids=BAD_VECTORS)
def test_a_damaged_vector_is_made_again(vectored: Path, bad: bytes) -> None:
    with reading(vectored) as index:
        before = dict(index.vectors.by_chunk())
    execute(vectored, "UPDATE chunks_vec SET embedding = ? WHERE chunk = 2", bad)
    assert wrong(examine_and_repair(vectored, progress=silent)) == []
    with reading(vectored) as index:
        assert dict(index.vectors.by_chunk()) == before


def test_a_damaged_vector_in_the_cache_is_removed(vectored: Path) -> None:
    write(vectored, {"memory/n1.md": "something else\n"})
    sync(vectored, FakeProvider())
    execute(vectored, "UPDATE embedding_cache SET embedding = ?", BAD_VECTORS["blank"])
    assert only(examine(vectored), "cache").repair == "vectors"
    assert wrong(examine_and_repair(vectored, progress=silent)) == []


def test_nothing_is_wrong_with_vectors_in_sqlite_vec(vectored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMLINES_STORE__VECTOR__ENGINE", "sqlite-vec")
    sync(vectored, FakeProvider())
    assert wrong(examine(vectored)) == []


def test_a_vector_without_a_chunk_in_sqlite_vec_is_a_problem_and_removed(
    vectored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMLINES_STORE__VECTOR__ENGINE", "sqlite-vec")
    sync(vectored, FakeProvider())
    execute(vectored, "DELETE FROM chunks WHERE path = 'memory/n1.md'")
    execute(vectored, "DELETE FROM chunks_fts WHERE rowid NOT IN (SELECT number FROM chunks)")
    assert only(examine(vectored), "orphans").message == "vectors of chunks that are gone: 1"
    assert wrong(examine_and_repair(vectored, progress=silent), "orphans") == []


def test_chunks_that_wait_for_vectors_are_a_warning_and_get_them(vectored: Path) -> None:
    execute(vectored, "DELETE FROM chunks_vec WHERE chunk > 3")
    assert only(examine(vectored), "vectors").message.endswith(": 2")
    assert wrong(examine_and_repair(vectored, progress=silent)) == []
