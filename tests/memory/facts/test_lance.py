"""The table of the facts in LanceDB: what it holds, what it finds, and how its troubles are told."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from memlines.errors import PathError, SettingsError, StoreDamaged, StoreError, StoreFull, StoreReadOnly
from memlines.memory.facts import lance
from memlines.memory.facts.lance import NAME, LanceTable, Row, drop, lance_errors
from memlines.memory.facts.places import uri_of
from memlines.paths import Workspace
from memlines.settings import load
from memlines.text.facts import Fact, new_id
from tests.programs import unprivileged_run

pytest.importorskip("lancedb", reason="needs the extra 'facts'")

DIMS = 16


def vectors(count: int, dims: int = DIMS) -> NDArray[np.float32]:
    made = np.random.default_rng(count).standard_normal((count, dims), dtype=np.float32)
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return made


def rows_of(count: int, dims: int = DIMS, struck: Sequence[int] = ()) -> list[Row]:
    return [
        Row(number, Fact(new_id(), f"fact {number}", struck=number in struck), vector.tobytes())
        for number, vector in enumerate(vectors(count, dims))
    ]


@pytest.fixture
def uri(tmp_path: Path) -> str:
    return str(tmp_path / "facts")


# Where it is


def place(root: Path, uri: str | None) -> str:
    workspace = Workspace.at(root)
    return uri_of(workspace, load(workspace, {"facts.uri": uri} if uri else None).settings)


def test_the_table_is_in_the_private_folder_by_default(workspace: Path) -> None:
    assert place(workspace, None) == str(workspace / ".memory" / "facts")


def test_a_relative_folder_is_one_of_the_workspace(workspace: Path) -> None:
    assert Path(place(workspace, "vectors")).parent == workspace / "vectors"


def test_a_home_is_found(workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Path(place(workspace, "~/vectors")).parent == tmp_path / "vectors"


@pytest.mark.parametrize("given", ["s3://bucket/facts", "gs://bucket/facts/"])
def test_a_bucket_is_taken_as_it_is(workspace: Path, given: str) -> None:
    assert place(workspace, given).rpartition("/")[0] == given.rstrip("/")


@pytest.mark.parametrize("given", ["vectors", "s3://bucket/facts"])
def test_two_workspaces_never_share_a_table(workspace: Path, tmp_path: Path, given: str) -> None:
    other = tmp_path / "other"
    other.mkdir()
    shared = given if "://" in given else str(tmp_path / given)
    assert place(workspace, shared) != place(other, shared)


@pytest.mark.parametrize("given", ["db://cloud", "http://example.org/x", "s3://", "memory://"])
def test_other_services_are_refused(workspace: Path, given: str) -> None:
    with pytest.raises(SettingsError, match="names no place"):
        place(workspace, given)


def test_a_folder_of_notes_is_refused(workspace: Path) -> None:
    with pytest.raises(SettingsError, match="place of notes"):
        place(workspace, "memory/vectors")


# What it holds


def test_a_row_holds_the_whole_fact(uri: str) -> None:
    fact = Fact(
        "abcdefghij",
        "Works at Acme.",
        "fact",
        0.9,
        date(2026, 11, 16),
        "capture codex 01ab",
        date(2026, 3, 1),
        date(2026, 11, 17),
        "klmnopqrst",
        struck=True,
    )
    [row] = LanceTable.create(uri, [Row(7, fact, vectors(1).tobytes())])._inner.to_arrow().to_pylist()
    assert row.pop("importance") == pytest.approx(0.9)
    assert row.pop("vector") == vectors(1)[0].tolist()
    assert row == {
        "number": 7,
        "id": "abcdefghij",
        "text": "Works at Acme.",
        "category": "fact",
        "created_at": date(2026, 11, 16),
        "source": "capture codex 01ab",
        "valid_from": date(2026, 3, 1),
        "superseded_by": "klmnopqrst",
        "current": False,
    }


def test_more_rows_than_fit_at_once_are_all_written_in_one_version(
    uri: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lance, "_AT_ONCE", 7)
    table = LanceTable.create(uri, rows_of(50))
    assert (table.count, table.version) == (50, 1)


def test_no_two_tables_have_the_same_token(uri: str) -> None:
    first = LanceTable.create(uri, rows_of(2)).token
    drop(uri)
    assert len(first) == 32
    assert LanceTable.create(uri, rows_of(2)).token != first


def test_a_table_has_its_token_when_it_is_opened_again(uri: str) -> None:
    table = LanceTable.create(uri, rows_of(2))
    again = LanceTable.open(uri)
    assert again is not None
    assert (again.token, again.version, again.count) == (table.token, table.version, 2)


def test_there_is_no_table_where_none_was_made(uri: str) -> None:
    assert LanceTable.open(uri) is None


# What it finds


def cosines(count: int, query: bytes) -> dict[int, float]:
    exact = vectors(count, len(query) // 4) @ np.frombuffer(query, "<f4")
    best = np.argsort(-exact)
    return {int(number): float(exact[number]) for number in best}


def test_the_nearest_are_found_with_their_cosines(uri: str) -> None:
    table, query = LanceTable.create(uri, rows_of(200)), vectors(1).tobytes()
    expected = dict(list(cosines(200, query).items())[:10])
    found = table.nearest(query, 10)
    assert [*found] == [*expected]
    assert found == pytest.approx(expected, abs=1e-5)


def test_a_cosine_does_not_depend_on_the_length_of_the_vector(uri: str) -> None:
    table = LanceTable.create(uri, rows_of(20))
    longer = (3 * vectors(1)).tobytes()
    assert table.nearest(longer, 20) == pytest.approx(table.nearest(vectors(1).tobytes(), 20), abs=1e-5)


def test_opposite_vectors_are_found_with_minus_one(uri: str) -> None:
    table = LanceTable.create(uri, rows_of(1))
    assert table.nearest((-vectors(1)).tobytes(), 1)[0] == pytest.approx(-1)


def test_only_current_facts_are_found_if_asked(uri: str) -> None:
    table = LanceTable.create(uri, rows_of(10, struck=range(5)))
    found = table.nearest(vectors(1).tobytes(), 5, current_only=True)
    assert sorted(found) == [*range(5, 10)]


def test_all_are_found_if_more_are_asked_for(uri: str) -> None:
    assert len(LanceTable.create(uri, rows_of(3)).nearest(vectors(1).tobytes(), 500)) == 3


@pytest.mark.parametrize("limit", [0, -1])
def test_nothing_is_found_if_nothing_is_asked_for(uri: str, limit: int) -> None:
    assert LanceTable.create(uri, rows_of(3)).nearest(vectors(1).tobytes(), limit) == {}


def test_a_vector_of_another_length_finds_nothing(uri: str) -> None:
    assert LanceTable.create(uri, rows_of(3)).nearest(vectors(1, 8).tobytes(), 3) == {}


@pytest.fixture
def _small_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lance, "_EXACT_UP_TO", 500)
    monkeypatch.setattr(lance, "_PARTITION", 300)


@pytest.mark.usefixtures("_small_is_large")
def test_a_large_table_is_indexed_and_finds_the_same(uri: str) -> None:
    table, query = LanceTable.create(uri, rows_of(1_000, 64)), vectors(1_000, 64)[7]
    query[:8] *= 0.5  # near one row, and to no other
    assert table._is_indexed
    exact, found = cosines(1_000, query.tobytes()), table.nearest(query.tobytes(), 10)
    length = float(np.linalg.norm(query))
    assert next(iter(found)) == 7
    assert found == pytest.approx({name: exact[name] / length for name in found}, abs=1e-5)


@pytest.mark.usefixtures("_small_is_large")
def test_an_index_is_known_when_the_table_is_opened_again(uri: str) -> None:
    LanceTable.create(uri, rows_of(1_000))
    again = LanceTable.open(uri)
    assert again is not None
    assert again._is_indexed


@pytest.mark.usefixtures("_small_is_large")
def test_an_index_finds_current_facts_only_if_asked(uri: str) -> None:
    table = LanceTable.create(uri, rows_of(1_000, struck=range(900)))
    found = table.nearest(vectors(1).tobytes(), 100, current_only=True)
    assert sorted(found) == [*range(900, 1_000)]


@pytest.mark.usefixtures("_small_is_large")
def test_vectors_that_no_code_fits_are_compared_all(uri: str) -> None:
    table = LanceTable.create(uri, rows_of(600, 12))
    assert not table._is_indexed
    assert len(table.nearest(vectors(1, 12).tobytes(), 7)) == 7


# What is left of it


def test_nothing_is_left_of_a_table_that_is_dropped(uri: str) -> None:
    LanceTable.create(uri, rows_of(5))
    drop(uri)
    assert list(Path(uri).rglob("*")) == []


def test_a_table_that_is_not_there_can_be_dropped(uri: str) -> None:
    drop(uri)


def test_a_file_in_the_place_of_a_table_can_be_dropped(uri: str) -> None:
    Path(uri).mkdir()
    Path(uri, f"{NAME}.lance").write_text("x", encoding="utf-8")
    drop(uri)
    assert LanceTable.create(uri, rows_of(2)).count == 2


def test_a_link_in_the_place_of_a_table_is_not_followed(uri: str, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    Path(uri).mkdir()
    Path(uri, f"{NAME}.lance").symlink_to(elsewhere)
    with pytest.raises(PathError, match="symbolic link"):
        drop(uri)
    with pytest.raises(PathError, match="symbolic link"):
        LanceTable.open(uri)


# Troubles


@pytest.mark.parametrize("name", ["_versions", "data"])
@pytest.mark.parametrize("content", [b"", b"no table" * 500])
def test_a_damaged_table_is_told_as_one(uri: str, name: str, content: bytes) -> None:
    LanceTable.create(uri, rows_of(20))
    for file in Path(uri, f"{NAME}.lance", name).iterdir():
        file.write_bytes(content)
    with pytest.raises(StoreDamaged, match="is damaged"):
        look_at(uri)


def look_at(uri: str) -> None:
    table = LanceTable.open(uri)
    assert table is not None
    table.nearest(vectors(1).tobytes(), 3)


def test_a_table_that_is_dropped_under_a_reader_is_told_as_damaged(uri: str) -> None:
    LanceTable.create(uri, rows_of(20))
    table = LanceTable.open(uri)
    assert table is not None
    drop(uri)
    with pytest.raises(StoreDamaged):
        table.nearest(vectors(1).tobytes(), 3)


@pytest.mark.parametrize(
    ("told", "kind"),
    [
        (OSError(28, "No space left on device"), StoreFull),
        (RuntimeError("lance error: LanceError(IO): Disk quota exceeded (os error 122)"), StoreFull),
        (PermissionError(13, "Permission denied"), StoreReadOnly),
        (RuntimeError("LanceError(IO): Read-only file system (os error 30)"), StoreReadOnly),
        (ValueError("Invalid input, no magic"), StoreDamaged),
    ],
)
def test_what_the_system_refuses_is_told_apart(uri: str, told: Exception, kind: type[StoreError]) -> None:
    with pytest.raises(kind) as caught, lance_errors(uri):
        raise told
    assert type(caught.value) is kind
    assert caught.value.todo


@pytest.mark.slow
def test_a_folder_that_may_not_be_written_is_told(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(0o555)
    code = (
        "import sys; from memlines import StoreReadOnly; from memlines.memory.facts.lance import LanceTable\n"
        "try: LanceTable.open(sys.argv[1])\n"
        "except StoreReadOnly as error: print(error)"
    )
    done = unprivileged_run(code, closed / "facts")
    assert "may not be read or written" in done.stdout, done.stderr


def test_a_missing_package_is_told(uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lancedb", None)
    with pytest.raises(StoreError, match="lancedb cannot be loaded") as caught:
        LanceTable.open(uri)
    assert "memlines[facts]" in caught.value.todo


# Processes


def run(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, check=False, encoding="utf-8", timeout=60)


def test_whether_it_is_installed_is_told_without_importing_it() -> None:
    code = (
        "import sys, memlines.memory.facts.table; from memlines.memory.facts.lance import is_installed\n"
        "print(is_installed(), sorted({'lancedb', 'pyarrow', 'numpy'} & set(sys.modules)))"
    )
    assert run(code).stdout == "True []\n"


USE = """\
import sys
from memlines.memory.facts.lance import LanceTable, Row, drop
from memlines.text.facts import Fact
table = LanceTable.create(sys.argv[1], [Row(1, Fact("aaaaaaaaaa", "one"), bytes(28) + b"\\0\\0\\x80?")])
table.nearest(bytes(28) + b"\\0\\0\\x80?", 3)
"""


def test_a_program_that_used_it_can_start_others_and_ends_without_a_word(uri: str) -> None:
    more = "import subprocess; subprocess.run([sys.executable, '-c', 'pass'], check=True)\ndrop(sys.argv[1])"
    done = run(USE + more, uri)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
