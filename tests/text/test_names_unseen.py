"""A name that shows another name than it is comes in nowhere, and is named where it is refused."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.admin.backup.manifest import digest
from memlines.text.neutral import unseen_in
from tests.admin.backups import back_up, bring_back, export, fill, tree
from tests.programs import Cli

UNSEEN = {
    "escape": "\x1b",
    "tab": "\t",
    "line feed": "\n",
    "delete": "\x7f",
    "next line": "\x85",
    "C1": "\x9b",
    "override": "\u202e",
    "isolate": "\u2066",
    "left-to-right mark": "\u200e",
    "zero width space": "\u200b",
    "joiner between letters": "\u200d",
    "word joiner": "\u2060",
    "byte order mark": "\ufeff",
    "soft hyphen": "\u00ad",
    "line separator": "\u2028",
    "tag": "\U000e0041",
    "filler": "\u3164",
}
SEEN = [
    "memory/plain.md",
    "memory/größe é.md",
    "memory/日本.md",
    "memory/\u0645\u06cc\u200c\u062e\u0648.md",
    "memory/👩\u200d💻.md",
]

unseen = pytest.mark.parametrize("character", UNSEEN.values(), ids=UNSEEN.keys())


def code_point(character: str) -> str:
    return f"U+{ord(character):04X}"


@unseen
def test_an_archive_with_such_a_name_is_refused_whole(
    cli: Cli, workspace: Path, tmp_path: Path, character: str
) -> None:
    name = f"memory/a{character}b.md"
    files = {"MEMORY.md": b"x", name: b"harm"}
    listed = [{"path": path, "size": len(c), "sha256": digest(c), "mtime_ns": 1} for path, c in files.items()]
    told = {"format": "recollect-backup", "version": 1, "created": "", "workspace": "", "settings": None}
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for path, content in files.items():
            archive.writestr(path, content)
        archive.writestr("manifest.json", json.dumps(told | {"files": listed}))
    outcome = cli("import", tmp_path / "a.zip", "-w", workspace, "--json")
    assert (outcome.code, outcome.json["code"]) == (8, "backup")
    assert code_point(character) in outcome.json["error"]
    assert tree(workspace) == {}


@unseen
def test_a_vault_is_imported_without_such_a_note(
    cli: Cli, workspace: Path, tmp_path: Path, character: str
) -> None:
    vault = fill(tmp_path / "vault", {"plain.md": b"x", f"a{character}b.md": b"harm"})
    told = cli("import", "obsidian", vault, "-w", workspace, "--json")
    assert (told.code, told.json["created"]) == (1, ["memory/vault/plain.md"])
    assert [code_point(character) in problem["reason"] for problem in told.json["failed"]] == [True]


@unseen
def test_no_note_is_made_with_such_a_name(cli: Cli, workspace: Path, character: str) -> None:
    made = cli("remember", "Tea", "--to", f"memory/a{character}b.md", "-w", workspace)
    assert (made.code, code_point(character) in made.err) == (2, True), made.err
    assert tree(workspace) == {}


@pytest.mark.parametrize("character", [one for one in UNSEEN.values() if not one.isspace()])
def test_no_topic_has_such_a_name(cli: Cli, workspace: Path, character: str) -> None:
    made = cli("remember", "Tea", "--topic", f"ab{character}cd", "-w", workspace)
    assert (made.code, code_point(character) in made.err) == (2, True), made.err
    assert tree(workspace) == {}


@unseen
def test_a_copy_names_such_a_note_and_stays_usable(workspace: Path, tmp_path: Path, character: str) -> None:
    notes = fill(tmp_path / "notes", {"MEMORY.md": b"x", f"memory/a{character}b.md": b"y"})
    for done in (export(notes, tmp_path / "a.zip"), back_up(notes, tmp_path / "place")):
        assert [code_point(character) in problem.reason for problem in done.failed] == [True]
    bring_back(workspace, tmp_path / "place")
    assert tree(workspace) == {"MEMORY.md": b"x"}


def test_names_of_every_script_come_back(workspace: Path, tmp_path: Path) -> None:
    notes = fill(tmp_path / "notes", dict.fromkeys(SEEN, b"x"))
    assert back_up(notes, tmp_path / "place").failed == ()
    bring_back(workspace, tmp_path / "place")
    assert set(tree(workspace)) == set(SEEN)


@given(st.text())
def test_what_is_named_stands_in_the_name(name: str) -> None:
    found = unseen_in(name)
    assert not found or found in {code_point(one) for one in name}
