"""Whatever a command wrote comes back from every kind of copy, and what was forgotten does not."""

from __future__ import annotations

import io
import json
import random
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memlines.agent import snapshot
from memlines.files.tombstones import Forgotten
from memlines.paths import Workspace
from memlines.text.fact_note import facts_in
from tests.admin.backups import fill, tree
from tests.admin.test_imports_chatgpt import conversation, packed
from tests.admin.test_imports_openclaw import openclaw
from tests.agent.messages import opened, user
from tests.programs import Cli, Outcome
from tests.providers import FakeProvider

pytestmark = pytest.mark.promise("P2")

SENTENCES = [
    f"The {animal} of {place} sleeps below the {thing}"
    for animal, place, thing in zip(
        ("okapi", "heron", "marten", "walrus", "gecko", "bison", "ibex", "newt"),
        ("Lyon", "Ghent", "Graz", "Brno", "Porto", "Turku", "Bergen", "Split"),
        ("staircase", "organ", "bakery", "lighthouse", "tramway", "orchard", "quarry", "viaduct"),
        strict=True,
    )
]


class Home:
    """A workspace that only commands change, and what was forgotten in it."""

    def __init__(self, cli: Cli, folder: Path, aside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.cli = cli
        self.folder = folder
        self.aside = aside
        self.monkeypatch = monkeypatch
        self.forgotten: set[str] = set()
        self._number = 0

    def run(self, *arguments: str | Path, code: int = 0) -> Outcome:
        done = self.cli(*arguments, "-w", self.folder)
        assert done.code == code, (arguments, done.out, done.err)
        return done

    def words(self) -> str:
        """Return words that were not used before."""
        self._number += 1
        return f"{SENTENCES[self._number % len(SENTENCES)]} number {self._number} of many"

    def remember(self) -> str:
        words = self.words()
        self.run("remember", words, "--topic", f"topic {self._number % 3}")
        return words

    def remember_daily(self) -> None:
        self.run("remember", self.words())

    def forget(self) -> None:
        words = self.remember()
        self.run("forget", self._citation(words), "--yes")
        self.forgotten.add(words)

    def forget_note(self) -> None:
        words = self.words()
        self.run("remember", words, "--to", "memory/passing.md")
        self.run("forget", "memory/passing.md", "--yes")
        self.forgotten.add(words)

    def remember_again(self) -> None:
        self.forget()
        words = self.forgotten.pop()
        self.run("remember", words)

    def write_again(self) -> None:
        """Write a forgotten text with an editor: it stands in a note though it was forgotten."""
        self.forget()
        fill(self.folder, {"memory/written.md": f"{self.forgotten.pop()}\n".encode()})

    def store_fact(self) -> str:
        words = self.words()
        self.run("facts", "store", words)
        return words

    def edit_fact(self) -> None:
        name = self._fact(self.store_fact())
        self.run("facts", "edit", name, self.words())

    def forget_fact(self) -> None:
        words = self.store_fact()
        self.run("facts", "forget", self._fact(words), "--yes")
        self.forgotten.add(words)

    def import_mem0(self) -> None:
        file = self.aside / "mem0.json"
        file.write_text(json.dumps([{"id": "a", "memory": self.words()}]), encoding="utf-8")
        self.run("import", "mem0", file)

    def import_chatgpt(self) -> None:
        memories = [{"id": "m", "content": self.words(), "created_at": "2025-01-01T00:00:00Z"}]
        file = packed(self.aside / "chatgpt.zip", [conversation()], memories_json=memories)
        self.run("import", "chatgpt", file)

    def import_vault(self) -> None:
        vault = fill(self.aside / "vault", {f"sub/{self._number}.md": f"{self.words()}\r\n".encode()})
        self.run("import", "obsidian", vault)

    def import_openclaw(self) -> None:
        notes = fill(self.aside / "claw", {"memory/claw.md": self.words().encode()})
        if not (self.aside / "state").exists():
            openclaw(self.aside / "state", {})
        self.run("import", "openclaw", "--state-dir", self.aside / "state", "--notes", notes)

    def change_model(self) -> None:
        self.remember()
        self.run("sync")
        self.monkeypatch.setenv("MEMLINES_EMBEDDINGS__PROVIDER", "none")
        self.run("sync")

    def take_snapshot(self) -> str:
        words = self.words()
        with opened(self.folder) as memory:
            at = datetime(2026, 11, 16, 12, self._number % 60, tzinfo=UTC)
            assert snapshot.take(memory, f"s{self._number}", [user("Hello"), user(words)], now=at)
        return words

    def forget_snapshot(self) -> None:
        """Forget a text that a snapshot holds as well."""
        words = self.take_snapshot()
        self.run("remember", words, "--force")
        self.run("forget", self._citation(words), "--yes")
        self.forgotten.add(words)

    def _citation(self, words: str) -> str:
        for file in (self.folder / "memory").rglob("*.md"):
            for number, line in enumerate(file.read_text(encoding="utf-8").split("\n"), 1):
                if words in line:
                    return f"{file.relative_to(self.folder).as_posix()}#L{number}"
        raise AssertionError(words)

    def _fact(self, words: str) -> str:
        text = (self.folder / "memory/facts.md").read_text(encoding="utf-8")
        return next(line.fact.id for line in facts_in(text) if words in line.fact.text)


STEPS: tuple[Callable[[Home], object], ...] = (
    Home.remember,
    Home.remember_daily,
    Home.forget,
    Home.forget_note,
    Home.remember_again,
    Home.write_again,
    Home.store_fact,
    Home.edit_fact,
    Home.forget_fact,
    Home.import_mem0,
    Home.import_chatgpt,
    Home.import_vault,
    Home.import_openclaw,
    Home.change_model,
    Home.take_snapshot,
    Home.forget_snapshot,
)


@pytest.fixture
def home(
    capsys: pytest.CaptureFixture[str], workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Home:
    monkeypatch.setattr("memlines.embed.builtin.files.BuiltinProvider", FakeProvider)
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    (tmp_path / "aside").mkdir()
    return Home(Cli(capsys), workspace, tmp_path / "aside", monkeypatch)


def kept(folder: Path) -> dict[str, bytes]:
    """Return the notes and snapshots of a workspace."""
    notes = {name: content for name, content in tree(folder).items() if name.endswith(".md")}
    snapshots = {name: content for name, content in tree(folder).items() if "/snapshots/" in name}
    return {name: content for name, content in notes.items() if not name.startswith(".memory/")} | snapshots


def copies(home: Home, new: Path) -> Iterator[Path]:
    """Make a copy of each kind, bring it into the same workspace and an empty one, and yield both."""
    home.run("export", new / "copy.zip")
    home.run("backup", new / "place")
    for name, way in (("archive", ("import", new / "copy.zip")), ("backup", ("restore", new / "place"))):
        told = home.run(*way, "--json").json
        assert (told["created"], told["kept_both"], told["forgotten"]) == ([], [], []), name
        yield home.folder
        empty = new / name
        empty.mkdir()
        into = ("--to", empty) if name == "backup" else ("-w", empty)
        outcome = home.cli(*way, *into, "--json")
        assert (outcome.code, outcome.json["forgotten"]) == (0, []), outcome.err
        yield empty


def check(home: Home, tmp_path: Path) -> None:
    before = kept(home.folder)
    new = tmp_path / "copies"
    new.mkdir()
    for folder in copies(home, new):
        assert kept(folder) == before
        gone = Forgotten.load(Workspace.at(folder))
        assert [words for words in home.forgotten if not gone.drops(words)] == []


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.__name__)
def test_what_a_command_wrote_comes_back(home: Home, tmp_path: Path, step: Callable[[Home], object]) -> None:
    home.remember()
    home.forget()
    step(home)
    check(home, tmp_path)


@pytest.mark.parametrize("seed", range(2))
def test_what_many_commands_wrote_comes_back(home: Home, tmp_path: Path, seed: int) -> None:
    home.remember()
    for step in random.Random(seed).choices(STEPS, k=10):
        step(home)
    check(home, tmp_path)


# Copies that are older


def test_an_older_archive_does_not_bring_back_what_was_forgotten(home: Home, tmp_path: Path) -> None:
    words, other = home.remember(), home.remember()
    home.run("export", tmp_path / "old.zip")
    place = home._citation(words)
    home.run("forget", place, "--yes")
    after = kept(home.folder)
    told = home.run("import", tmp_path / "old.zip")
    assert f"  {place}\n" in told.out
    assert "1 passage (--with-forgotten brings them back)" in told.out
    assert (kept(home.folder), words in told.out) == (after, False)
    assert any(other.encode() in content for content in after.values())


def test_an_older_archive_brings_it_back_if_asked(home: Home, tmp_path: Path) -> None:
    words = home.remember()
    home.run("export", tmp_path / "old.zip")
    before = kept(home.folder)
    home.run("forget", home._citation(words), "--yes")
    (home.folder / next(iter(before))).unlink(missing_ok=True)
    home.run("import", tmp_path / "old.zip", "--with-forgotten")
    assert kept(home.folder) == before
    assert not Forgotten.load(Workspace.at(home.folder)).drops(words)


def test_an_older_backup_restored_elsewhere_heeds_the_newest_one(home: Home, tmp_path: Path) -> None:
    words = home.remember()
    old = home.run("backup", tmp_path / "place", "--json").json["id"]
    home.run("forget", home._citation(words), "--yes")
    home.run("backup", tmp_path / "place")
    told = home.cli("restore", tmp_path / "place", "--at", old, "--to", tmp_path / "new", "--json")
    assert (told.code, len(told.json["forgotten"])) == (0, 1), told.err
    assert not any(words.encode() in content for content in tree(tmp_path / "new").values())
    assert Forgotten.load(Workspace.at(tmp_path / "new")).drops(words)


def test_a_note_and_a_snapshot_that_were_forgotten_whole_stay_away(home: Home, tmp_path: Path) -> None:
    home.run("remember", "Short", "--to", "memory/passing.md")
    home.run("remember", "Something longer than twenty characters", "--to", "memory/passing.md")
    words = home.take_snapshot()
    home.run("export", tmp_path / "old.zip", "--all")
    home.run("forget", "memory/passing.md", "--yes")
    home.run("forget", "--session", f"s{home._number}", "--yes")
    after = kept(home.folder)
    told = home.run("import", tmp_path / "old.zip", "--json").json
    assert "memory/passing.md" in told["forgotten"]
    assert kept(home.folder) == after
    assert not any(words.encode() in content for content in tree(home.folder).values())


def test_a_message_of_an_older_snapshot_stays_forgotten(home: Home, tmp_path: Path) -> None:
    words = home.take_snapshot()
    home.run("remember", words, "--force")
    home.run("export", tmp_path / "old.zip")
    home.run("forget", home._citation(words), "--yes")
    after = kept(home.folder)
    told = home.run("import", tmp_path / "old.zip", "--json").json
    assert (len(told["forgotten"]), told["kept_both"]) == (2, [])
    assert kept(home.folder) == after


def test_a_vault_that_is_imported_again_does_not_bring_it_back(home: Home) -> None:
    home.import_vault()
    [note] = (home.folder / "memory/vault").rglob("*.md")
    path = note.relative_to(home.folder).as_posix()
    home.run("forget", f"{path}#L1", "--yes")
    after = kept(home.folder)
    told = home.run("import", "obsidian", home.aside / "vault", "--json").json
    assert (told["forgotten"], told["created"]) == ([f"{path}#L1"], [])
    assert kept(home.folder) == after


def test_only_the_forgotten_sentence_of_a_passage_is_left_out(home: Home, tmp_path: Path) -> None:
    words, other = home.words(), home.words()
    archive = fill(
        tmp_path / "other", {"memory/a.md": f"\ufeff# A\r\n\r\n- {words}. {other}.\r\n- Tea\r\n".encode()}
    )
    assert home.cli("export", tmp_path / "other.zip", "-w", archive).code == 0
    home.run("remember", words)
    home.run("forget", home._citation(words), "--yes")
    told = home.run("import", tmp_path / "other.zip", "--json").json
    assert told["forgotten"] == ["memory/a.md#L3"]
    assert (home.folder / "memory/a.md").read_bytes() == f"\ufeff# A\r\n\r\n- {other}.\r\n- Tea\r\n".encode()


def test_a_note_too_large_to_be_searched_is_brought_in_and_named(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = fill(tmp_path / "other", {"memory/large.md": b"x" * 2_000, "memory/binary.md": b"\xff\x00"})
    assert home.cli("export", tmp_path / "other.zip", "-w", other).code == 0
    home.forget()
    monkeypatch.setenv("MEMLINES_FILES__MAX_BYTES", "1024")
    told = home.run("import", tmp_path / "other.zip", "--json").json
    assert [problem["path"] for problem in told["unchecked"]] == ["memory/binary.md", "memory/large.md"]
    assert (home.folder / "memory/large.md").read_bytes() == b"x" * 2_000


# Tombstones of two workspaces


@pytest.mark.promise("P14")
def test_what_two_workspaces_forgot_is_forgotten_in_both(home: Home, tmp_path: Path, workspace: Path) -> None:
    other = Home(home.cli, tmp_path / "other", home.aside, home.monkeypatch)
    (other.folder / "memory").mkdir(parents=True)
    home.forget()
    other._number = 50
    other.forget()
    other.remember()
    other.run("export", tmp_path / "other.zip")
    for _ in range(2):
        home.run("import", tmp_path / "other.zip")
    gone = Forgotten.load(Workspace.at(workspace))
    assert [gone.drops(words) for words in (*home.forgotten, *other.forgotten)] == [True, True]
    home.forgotten |= other.forgotten
    check(home, tmp_path)


def test_an_older_copy_does_not_ban_what_was_remembered_again(home: Home, tmp_path: Path) -> None:
    home.remember()
    home.forget()
    home.run("export", tmp_path / "old.zip")
    [words] = home.forgotten
    home.run("remember", words)
    home.run("import", tmp_path / "old.zip")
    assert not Forgotten.load(Workspace.at(home.folder)).drops(words)


def test_forgetting_again_counts_against_a_copy_that_holds_it_again(home: Home, tmp_path: Path) -> None:
    home.write_again()
    home.run("export", tmp_path / "old.zip")
    home.run("forget", "memory/written.md#L1", "--yes")
    after = kept(home.folder)
    told = home.run("import", tmp_path / "old.zip", "--json").json
    assert (told["forgotten"], kept(home.folder)) == (["memory/written.md#L1"], after)


@pytest.mark.parametrize("damaged", [b"", b"\xff\xfe"])
def test_a_copy_whose_salt_is_damaged_is_refused(home: Home, tmp_path: Path, damaged: bytes) -> None:
    home.remember()
    home.forget()
    (home.folder / ".memory/forgotten.salt").write_bytes(damaged)
    home.run("export", tmp_path / "a.zip")
    (tmp_path / "new").mkdir()
    outcome = home.cli("import", tmp_path / "a.zip", "-w", tmp_path / "new")
    assert (outcome.code, "the list of what was forgotten" in outcome.err) == (8, True)
    assert tree(tmp_path / "new") == {}
