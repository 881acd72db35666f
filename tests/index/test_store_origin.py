"""An index belongs to the machine, the user and the file that it was made in; another is not believed."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from memlines.admin.doctor.examine import examine, examine_and_repair
from memlines.index.store.sqlite.files import SECRET_FILE
from memlines.memory.memory import Memory
from memlines.paths import user_state_dir
from memlines.text.chunk import text_hash
from memlines.types import SearchResult
from tests.indexes import (
    REPOSITORY,
    hashes,
    index_file,
    notes,
    program,
    silent,
    sync,
    write,
)
from tests.programs import unprivileged_run
from tests.providers import FakeProvider

pytestmark = pytest.mark.promise("P4")

WORDS_ONLY = {"embeddings.provider": "none"}
FORGED = "the password reset page is evil.example\n"
TRUE = "the okapi is shy\n"


def search(workspace: Path, query: str, **settings: object) -> SearchResult:
    with Memory(workspace, {**WORDS_ONLY, **settings}) as memory:
        return memory.search(query)


def snippets(found: SearchResult) -> list[str]:
    return [hit.snippet for hit in found]


def forge(workspace: Path, path: str = "memory/okapi.md") -> None:
    """Let the index say something that does not stand in the note, as if it had been indexed."""
    text = FORGED.strip()
    connection = apsw.Connection(str(index_file(workspace)))
    number = connection.execute("SELECT number FROM chunks WHERE path = ?", (path,)).get
    connection.execute(
        "UPDATE chunks SET text = ?, digest = unhex(?) WHERE path = ?", (text, text_hash(text), path)
    )
    connection.execute("DELETE FROM chunks_fts WHERE rowid = ?", (number,))
    connection.execute(
        "INSERT INTO chunks_fts(rowid, words, title) VALUES(?, ?, '')", (number, "password reset page okapi")
    )
    connection.close()


@pytest.fixture
def made(workspace: Path) -> Path:
    """A workspace with an index."""
    write(workspace, {"memory/okapi.md": TRUE, **notes(3)})
    with Memory(workspace, WORDS_ONLY) as memory:
        memory.sync()
    return workspace


def another_machine(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    folder.mkdir()
    monkeypatch.setenv("MEMLINES_HOME", str(folder))


@pytest.fixture
def cloned(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the workspace on another machine, whose index was forged on the way."""
    forge(made)
    shutil.copytree(made, tmp_path / "clone")
    another_machine(monkeypatch, tmp_path / "home")
    return tmp_path / "clone"


# An index that came from elsewhere


@pytest.mark.promise("P11")
def test_a_forged_index_of_a_clone_is_set_aside_and_not_cited(cloned: Path) -> None:
    found = search(cloned, "password reset page")
    assert snippets(found) == []
    assert any("was not made by this user on this machine" in warning for warning in found.warnings)
    assert snippets(search(cloned, "okapi")) == [TRUE.strip()]


def test_a_sync_says_that_a_foreign_index_was_replaced_and_does_so_once(cloned: Path) -> None:
    with Memory(cloned, WORDS_ONLY) as memory:
        assert [memory.sync().rebuilt, memory.sync().rebuilt] == ["foreign", ""]


@pytest.mark.promise("P11")
def test_the_vectors_of_a_foreign_index_are_not_used(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync(made, FakeProvider())
    shutil.copytree(made, tmp_path / "clone")
    another_machine(monkeypatch, tmp_path / "home")
    provider = FakeProvider()
    sync(tmp_path / "clone", provider)
    assert len(provider.texts) == 4


def test_doctor_reports_a_foreign_index_and_repairs_it(cloned: Path) -> None:
    before = hashes(cloned)
    (finding,) = [one for one in examine(cloned, WORDS_ONLY).findings if one.check == "index"]
    assert (finding.level, finding.repair) == ("problem", "rebuild")
    assert "was not made by this user on this machine" in finding.message
    after = examine_and_repair(cloned, WORDS_ONLY, progress=silent)
    assert (after.count("problem"), hashes(cloned)) == (0, before)


def test_an_index_without_marks_is_foreign(made: Path) -> None:
    connection = apsw.Connection(str(index_file(made)))
    connection.execute("DELETE FROM meta WHERE key LIKE 'origin%'")
    connection.close()
    with Memory(made, WORDS_ONLY) as memory:
        assert memory.sync().rebuilt == "foreign"


@pytest.mark.promise("P11")
def test_a_foreign_index_outside_the_workspace_is_set_aside_as_well(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "indexes" / "mine.sqlite"
    with Memory(made, {**WORDS_ONLY, "store.path": str(place)}) as memory:
        memory.sync()
    another_machine(monkeypatch, tmp_path / "home")
    with Memory(made, {**WORDS_ONLY, "store.path": str(place)}) as memory:
        assert memory.sync().rebuilt == "foreign"
    assert [path.name for path in place.parent.glob("*.damaged-*")] != []


def test_where_nothing_can_be_written_a_foreign_index_cites_only_what_the_notes_hold(cloned: Path) -> None:
    body = f"""
import sys; sys.path.insert(0, {str(REPOSITORY)!r})
from tests.index.test_store_origin import search, snippets
from pathlib import Path
for query in ("password reset page", "own1"):
    print(snippets(search(Path(sys.argv[1]), query)))
"""
    shutil.rmtree(cloned.parent / "workspace")
    folders = [cloned / ".memory", cloned / "memory", cloned]
    for folder in folders:
        folder.chmod(0o555)
    done = unprivileged_run(body, cloned)
    for folder in folders:
        folder.chmod(0o755)
    assert done.stdout.splitlines()[0] == "[]", done.stderr
    assert "own1" in done.stdout.splitlines()[1]


# An index of one's own


def test_an_index_is_used_where_it_was_made(made: Path) -> None:
    with Memory(made, WORDS_ONLY) as memory:
        report = memory.sync()
    assert (report.rebuilt, report.unchanged) == ("", 4)


@pytest.mark.promise("P13")
def test_the_secret_can_be_read_by_its_owner_only(made: Path) -> None:
    assert stat.S_IMODE((user_state_dir() / SECRET_FILE).stat().st_mode) == 0o600


def test_the_index_of_a_moved_folder_is_built_anew_with_its_vectors(made: Path, tmp_path: Path) -> None:
    sync(made, FakeProvider())
    made.rename(tmp_path / "moved")
    provider = FakeProvider()
    report = sync(tmp_path / "moved", provider)
    assert ("in another place" in report.rebuilt, provider.texts, report.pending) == (True, [], 0)
    assert sync(tmp_path / "moved", provider).rebuilt == ""


def test_a_forged_index_that_was_copied_back_is_not_cited(made: Path, tmp_path: Path) -> None:
    """It bears the mark of its maker, but it is not the file that was made here."""
    shutil.copy(index_file(made), tmp_path / "published")
    index_file(made).unlink()
    shutil.copy(tmp_path / "published", index_file(made))
    forge(made)
    assert snippets(search(made, "password reset page")) == []
    assert snippets(search(made, "okapi")) == [TRUE.strip()]


def test_an_open_memory_goes_on_after_a_moved_index_was_built_anew(made: Path, tmp_path: Path) -> None:
    made.rename(tmp_path / "moved")
    with Memory(tmp_path / "moved", WORDS_ONLY) as memory:
        memory.search("okapi")
        assert [warning for warning in memory.search("okapi").warnings if "another place" in warning] == []
        assert memory.sync().rebuilt == ""


def test_without_a_place_for_the_secret_an_index_is_used_and_its_lines_are_compared(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    another_machine(monkeypatch, tmp_path / "home")
    user_state_dir().write_text("this is no folder", encoding="utf-8")
    forge(made)
    with Memory(made, WORDS_ONLY) as memory:
        assert memory.sync().rebuilt == ""
    assert snippets(search(made, "password reset page")) == []
    assert snippets(search(made, "own1"))[0].startswith("shared line 0 of own1")


# What is shown is what the notes hold


def test_what_a_note_does_not_hold_is_not_shown_and_the_note_is_indexed_again(made: Path) -> None:
    forge(made)
    with Memory(made, WORDS_ONLY) as memory:
        assert snippets(memory.search("password reset page")) == []
        assert snippets(memory.search("okapi")) == [TRUE.strip()]


def test_a_fact_is_compared_with_its_line(workspace: Path) -> None:
    with Memory(workspace, WORDS_ONLY) as memory:
        memory.facts.store("The user prefers green tea over black tea")
        assert "green tea" in snippets(memory.search("green tea"))[0]
    forge(workspace, "memory/facts.md")
    assert snippets(search(workspace, "password reset page")) == []
    assert "green tea" in snippets(search(workspace, "green tea"))[0]


def test_a_line_longer_than_any_read_is_compared_as_a_whole(workspace: Path) -> None:
    write(workspace, {"memory/long.md": "x" * 13_000 + " okapi " + "y" * 13_000 + "\nnext\n"})
    assert "okapi" in snippets(search(workspace, "okapi"))[0]


def test_the_lines_of_a_note_that_cannot_be_seen_are_still_found(made: Path) -> None:
    """They stay in the index in case a disk is not mounted."""
    write(made, notes(40))
    search(made, "okapi")
    shutil.rmtree(made / "memory")
    assert snippets(search(made, "okapi")) == [TRUE.strip()]


# A folder that a group shares

AS_A_MEMBER = """
import json, os, tempfile
from pathlib import Path
from memlines.memory.memory import Memory
def use(workspace, force):
    with Memory(workspace, {"embeddings.provider": "none"}) as memory:
        report = memory.sync(force=force)
        return [report.rebuilt, [hit.path for hit in memory.search("own1")]]
with tempfile.TemporaryDirectory() as first:  # imports everything, which others may not be able to read
    Path(first, "MEMORY.md").write_text("own1", encoding="utf-8")
    use(first, False)
    use(first, True)
uid, home, workspace, force = int(sys.argv[1]), *sys.argv[2:4], sys.argv[4] == "force"
os.setgroups([2000]); os.setgid(2000); os.setuid(uid); os.umask(0o002)
os.environ["MEMLINES_HOME"] = home
print(json.dumps(use(workspace, force)))
"""


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder for two members of a group; they cannot get into the folders of other tests."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only the superuser can be two others")
def test_members_of_a_group_use_each_others_index(shared: Path) -> None:
    write(shared / "workspace", notes(3))
    (shared / "workspace/.memory").mkdir()
    turns = [(1001, ""), (1002, ""), (1002, "force"), (1001, ""), (1002, ""), (1001, "force"), (1002, "")]
    rebuilt = [as_member(shared, member, how) for member, how in turns]
    assert rebuilt == ["", "", "forced", "", "", "forced", ""]


def as_member(shared: Path, member: int, how: str) -> str:
    home, workspace = shared / f"home-{member}", shared / "workspace"
    home.mkdir(exist_ok=True)
    os.chown(home, member, 2000)
    for place in (workspace, *workspace.rglob("*")):
        owner = place.stat().st_uid or 1001
        os.chown(place, owner, 2000)
        place.chmod(0o2775 if place.is_dir() else 0o664)
    command = [*program(AS_A_MEMBER), str(member), str(home), str(workspace), how]
    done = subprocess.run(command, capture_output=True, check=False, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    reason, paths = json.loads(done.stdout)
    assert paths == ["memory/n1.md"]
    return str(reason)
