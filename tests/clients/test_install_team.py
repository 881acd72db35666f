"""In a team, the files are committed without the receipt, and colleagues have other versions of Memlines."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from memlines.admin.doctor.clients import check_clients
from memlines.admin.doctor.findings import Checkup, Finding
from memlines.clients.apply import install, uninstall
from memlines.clients.plan import BROUGHT
from memlines.clients.receipt import MANIFEST, read_receipt
from memlines.paths import Workspace
from tests.clients.places import FILES, MADE, OURS, Place, names, tree, write

NOT_COMMITTED = OURS - {MANIFEST}


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home" / "config"))


@pytest.fixture
def clone(tmp_path: Path) -> Place:
    """A clone of a project that a colleague installed Memlines into, whose version has another file."""
    theirs, ours = Place(tmp_path / "theirs"), Place(tmp_path / "ours")
    write(theirs.source, {"commands/memory.md": "of another version\n", "memlines/other.js": "other\n"})
    install(theirs.targets)
    shutil.copytree(theirs.folder, ours.folder, ignore=lambda _, names: {Path(n).name for n in NOT_COMMITTED})
    return ours


def look(place: Place) -> list[Finding]:
    with Checkup(Workspace.at(place.project), {"embeddings.provider": "none"}) as checkup:
        return list(check_clients(checkup))


def test_files_of_another_version_are_replaced(clone: Place) -> None:
    install(clone.targets)
    assert all((clone.folder / name).read_text(encoding="utf-8") == text for name, text in FILES.items())


def test_what_only_the_other_version_has_goes(clone: Place) -> None:
    install(clone.targets)
    assert names(clone.folder) == MADE


def test_what_a_colleague_changed_is_kept(clone: Place) -> None:
    write(clone.folder, {"commands/memory.md": "theirs\n"})
    (kept,) = [step for step in install(clone.targets) if step.action == "keep"]
    assert kept.path == clone.folder / "commands/memory.md"


def test_a_manifest_does_not_reach_beyond_our_folders(clone: Place) -> None:
    write(clone.folder, {"opencode.json": "other\n"})
    told = json.loads((clone.folder / MANIFEST).read_bytes())
    told["files"]["opencode.json"] = told["files"]["memlines/other.js"]
    (clone.folder / MANIFEST).write_text(json.dumps(told), encoding="utf-8")
    install(clone.targets)
    assert (clone.folder / "opencode.json").exists()


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../b"])
def test_a_manifest_that_leads_elsewhere_counts_for_nothing(clone: Place, path: str) -> None:
    told = json.loads((clone.folder / MANIFEST).read_bytes())
    told["files"][path] = ""
    (clone.folder / MANIFEST).write_text(json.dumps(told), encoding="utf-8")
    assert uninstall(clone.targets) == ()


def test_a_clone_is_not_taken_out_but_told_of(clone: Place) -> None:
    before = tree(clone.project)
    assert {step.why for step in uninstall(clone.targets)} == {BROUGHT}
    assert tree(clone.project) == before


def test_an_installation_in_a_clone_leaves_what_came_with_it(clone: Place) -> None:
    install(clone.targets)
    kept = {step.why for step in uninstall(clone.targets) if step.action == "keep"}
    assert kept == {BROUGHT}
    assert names(clone.folder) == {*FILES, MANIFEST, ".npmrc"}


def test_what_git_brought_after_the_installation_is_ours(clone: Place) -> None:
    committed = {name: (clone.folder / name).read_text(encoding="utf-8") for name in names(clone.folder)}
    shutil.rmtree(clone.folder)
    install(clone.targets)
    write(clone.folder, committed)
    install(clone.targets)
    assert (clone.folder / "commands/memory.md").read_text(encoding="utf-8") == "the command\n"


def test_what_git_brought_after_the_installation_is_taken_out(clone: Place) -> None:
    committed = {name: (clone.folder / name).read_text(encoding="utf-8") for name in names(clone.folder)}
    shutil.rmtree(clone.folder)
    install(clone.targets)
    write(clone.folder, committed)
    assert not [step for step in uninstall(clone.targets) if step.action == "keep"]


def test_installing_again_in_a_clone_writes_nothing(clone: Place) -> None:
    install(clone.targets)
    before = read_receipt(clone.folder)
    assert {step.action for step in install(clone.targets)} == {"unchanged"}
    assert read_receipt(clone.folder) == before


def test_the_doctor_tells_of_a_clone(clone: Place) -> None:
    (finding,) = look(clone)
    assert finding.level == "warning"
    assert finding.todo == "Run 'memlines install opencode --project'"
