"""An installation adds what is needed, changes nothing of others, and can be taken out without a trace."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.clients.apply import install, uninstall, would_install, would_uninstall
from memlines.clients.client import integration_folder
from memlines.clients.opencode import global_folder
from memlines.clients.plan import Step
from memlines.clients.receipt import read_receipt, receipt_file
from memlines.errors import PathError, WriteError
from tests.clients.places import FILES, MADE, Place, names, tree, write
from tests.programs import unprivileged_run


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home" / "config"))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def actions(steps: tuple[Step, ...]) -> set[str]:
    return {step.action for step in steps}


# Installing


def test_everything_is_made(place: Place) -> None:
    install(place.targets)
    assert names(place.folder) == MADE


def test_files_are_copied_as_they_are(place: Place) -> None:
    install(place.targets)
    assert all((place.folder / name).read_text(encoding="utf-8") == text for name, text in FILES.items())


def test_a_global_installation_goes_into_the_settings_of_the_user(place: Place) -> None:
    install(place.everywhere)
    assert names(global_folder()) == MADE


def test_without_the_variable_the_settings_are_below_the_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setenv("HOME", "/home/ana")
    assert global_folder() == Path("/home/ana/.config/opencode")


def test_the_engine_is_started_by_the_python_that_installed_it(place: Place) -> None:
    install(place.targets)
    told = json.loads((place.folder / "memlines/command.json").read_bytes())
    assert told["command"] == [sys.executable, "-P", "-m", "memlines", "serve", "--stdio"]


def test_the_python_of_an_environment_is_not_replaced_by_the_one_it_links_to(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    linked = tmp_path / "python"
    linked.symlink_to(sys.executable)
    monkeypatch.setattr(sys, "executable", str(linked))
    install(place.targets)
    assert json.loads((place.folder / "memlines/command.json").read_bytes())["command"][0] == str(linked)


def test_a_home_of_its_own_is_passed_on_to_the_engine(place: Place) -> None:
    install(place.targets)
    told = json.loads((place.folder / "memlines/command.json").read_bytes())
    assert told["env"] == {"MEMLINES_HOME": os.environ["MEMLINES_HOME"]}


def test_the_usual_home_is_not_written_down(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMLINES_HOME")
    files = {file.path: file.content for file in place.targets[0].files}
    assert "env" not in json.loads(files["memlines/command.json"])


def test_git_does_not_see_what_is_true_on_one_machine_only(place: Place) -> None:
    install(place.targets)
    ignored = (place.folder / "memlines/.gitignore").read_text(encoding="utf-8").split("\n")
    assert {"command.json", "receipt.json"} <= set(ignored)


def test_the_plugin_is_written_last_so_that_it_never_lacks_its_code(place: Place) -> None:
    assert place.targets[0].files[-1].path == "plugins/memlines.js"


def test_installing_again_finds_nothing_to_do(place: Place) -> None:
    install(place.targets)
    assert actions(install(place.targets)) == {"unchanged"}


def test_installing_again_writes_nothing(place: Place) -> None:
    install(place.targets)
    before = {path: path.stat().st_mtime_ns for path in place.folder.rglob("*")}
    install(place.targets)
    assert {path: path.stat().st_mtime_ns for path in place.folder.rglob("*")} == before


def test_a_dry_run_writes_nothing(place: Place, tmp_path: Path) -> None:
    before = tree(tmp_path)
    would_install(place.targets)
    assert tree(tmp_path) == before


def test_a_dry_run_tells_what_would_be_done(place: Place) -> None:
    told = would_install(place.targets)
    assert told == install(place.targets)


def test_the_real_integration_is_found() -> None:
    assert (integration_folder("opencode") / "commands" / "memory.md").is_file()


# What is there already


def test_a_file_of_somebody_else_is_not_overwritten(place: Place) -> None:
    write(place.folder, {"commands/memory.md": "mine\n"})
    with pytest.raises(WriteError, match=r"memory\.md.*nothing was changed"):
        install(place.targets)


def test_a_conflict_changes_nothing_at_all(place: Place, tmp_path: Path) -> None:
    write(place.folder, {"commands/memory.md": "mine\n"})
    before = tree(tmp_path)
    with pytest.raises(WriteError):
        install(place.targets)
    assert tree(place.project) == {
        name.removeprefix("project/"): held for name, held in before.items() if name.startswith("project/")
    }


def test_a_dry_run_tells_of_a_conflict(place: Place) -> None:
    write(place.folder, {"commands/memory.md": "mine\n"})
    with pytest.raises(WriteError):
        would_install(place.targets)


def test_a_link_in_the_place_of_a_file_is_not_followed(place: Place, tmp_path: Path) -> None:
    (place.folder / "commands").mkdir(parents=True)
    (place.folder / "commands/memory.md").symlink_to(tmp_path / "elsewhere.md")
    with pytest.raises(WriteError, match="link"):
        install(place.targets)


def test_a_folder_in_the_place_of_a_file_is_a_conflict(place: Place) -> None:
    (place.folder / "commands/memory.md").mkdir(parents=True)
    with pytest.raises(WriteError, match="no plain file"):
        install(place.targets)


def test_a_file_in_the_place_of_a_folder_is_refused(place: Place) -> None:
    write(place.folder, {"commands": "mine\n"})
    with pytest.raises(PathError, match="not a folder"):
        install(place.targets)


def test_the_same_file_from_a_colleague_is_taken_as_it_is(place: Place) -> None:
    write(place.folder, FILES)
    steps = install(place.targets)
    assert [s.action for s in steps if s.path.name == "SKILL.md"] == ["unchanged"]


def test_a_file_that_was_there_before_stays_after_uninstalling(place: Place) -> None:
    write(place.folder, {"commands/memory.md": FILES["commands/memory.md"]})
    before = tree(place.project)
    install(place.targets)
    uninstall(place.targets)
    assert tree(place.project) == before


# A newer version


def test_a_newer_version_replaces_its_own_files(place: Place) -> None:
    install(place.targets)
    write(place.source, {"commands/memory.md": "the newer command\n"})
    install(place.targets)
    assert (place.folder / "commands/memory.md").read_text(encoding="utf-8") == "the newer command\n"


def test_a_newer_version_keeps_what_the_user_changed(place: Place) -> None:
    install(place.targets)
    write(place.folder, {"commands/memory.md": "mine\n"})
    write(place.source, {"commands/memory.md": "the newer command\n"})
    steps = install(place.targets)
    assert [step.path.name for step in steps if step.action == "keep"] == ["memory.md"]
    assert (place.folder / "commands/memory.md").read_text(encoding="utf-8") == "mine\n"


def test_what_the_user_deleted_comes_back(place: Place) -> None:
    install(place.targets)
    (place.folder / "commands/memory.md").unlink()
    install(place.targets)
    assert names(place.folder) == MADE


def test_permissions_of_a_replaced_file_stay(place: Place) -> None:
    install(place.targets)
    (place.folder / "commands/memory.md").chmod(0o600)
    write(place.source, {"commands/memory.md": "the newer command\n"})
    install(place.targets)
    assert (place.folder / "commands/memory.md").stat().st_mode & 0o777 == 0o600


def test_a_newer_version_removes_what_it_has_no_more(place: Place) -> None:
    install(place.targets)
    (place.source / "commands/memory.md").unlink()
    install(place.targets)
    assert names(place.folder) == MADE - {"commands/memory.md"}


def test_what_a_newer_version_has_no_more_is_kept_if_the_user_changed_it(place: Place) -> None:
    install(place.targets)
    write(place.folder, {"commands/memory.md": "mine\n"})
    (place.source / "commands/memory.md").unlink()
    install(place.targets)
    assert (place.folder / "commands/memory.md").read_text(encoding="utf-8") == "mine\n"


def test_after_an_upgrade_everything_can_still_be_taken_out(place: Place) -> None:
    before = tree(place.project)
    install(place.targets)
    write(
        place.source,
        {"commands/memory.md": "newer\n", "agents/extra/new.md": "", "memlines/deep/new.js": "x"},
    )
    (place.source / "skills/memory/SKILL.md").unlink()
    install(place.targets)
    uninstall(place.targets)
    assert tree(place.project) == before


# Uninstalling


def test_uninstalling_leaves_nothing(place: Place, tmp_path: Path) -> None:
    before = tree(place.project)
    install(place.targets)
    uninstall(place.targets)
    assert tree(place.project) == before
    assert tree(tmp_path / "home") == {}


def test_uninstalling_twice_finds_nothing_to_do(place: Place) -> None:
    install(place.targets)
    uninstall(place.targets)
    assert uninstall(place.targets) == ()


def test_uninstalling_keeps_what_the_user_changed(place: Place) -> None:
    install(place.targets)
    write(place.folder, {"commands/memory.md": "mine\n"})
    steps = uninstall(place.targets)
    assert [step.path.name for step in steps if step.action == "keep"] == ["memory.md"]
    assert names(place.folder) == {"commands/memory.md", "memlines/receipt.json", "memlines/.gitignore"}


def test_what_was_kept_goes_with_force_later(place: Place) -> None:
    before = tree(place.project)
    install(place.targets)
    write(place.folder, {"commands/memory.md": "mine\n"})
    uninstall(place.targets)
    uninstall(place.targets, force=True)
    assert tree(place.project) == before


def test_what_was_kept_is_named_again(place: Place) -> None:
    install(place.targets)
    write(place.folder, {"commands/memory.md": "mine\n"})
    assert [step for step in uninstall(place.targets) if step.action == "keep"] == list(
        uninstall(place.targets)
    )


def test_what_was_kept_is_ours_when_it_is_installed_again(place: Place) -> None:
    install(place.targets)
    write(place.folder, {"commands/memory.md": "mine\n"})
    uninstall(place.targets)
    steps = install(place.targets)
    assert [step.path.name for step in steps if step.action == "keep"] == ["memory.md"]
    assert names(place.folder) == MADE


def test_a_receipt_of_what_was_kept_is_no_installation(place: Place) -> None:
    install(place.targets)
    write(place.folder, {"commands/memory.md": "mine\n"})
    uninstall(place.targets)
    receipt = read_receipt(place.folder)
    assert receipt is not None
    assert not receipt.is_installed()


def test_the_receipt_goes_when_what_was_kept_is_gone(place: Place) -> None:
    install(place.targets)
    write(place.folder, {"commands/memory.md": "mine\n"})
    uninstall(place.targets)
    (place.folder / "commands/memory.md").unlink()
    uninstall(place.targets)
    assert names(place.project) == set()


def test_with_force_what_the_user_changed_goes_as_well(place: Place) -> None:
    before = tree(place.project)
    install(place.targets)
    write(place.folder, {"commands/memory.md": "mine\n"})
    uninstall(place.targets, force=True)
    assert tree(place.project) == before


def test_uninstalling_keeps_what_the_user_added_to_our_folders(place: Place) -> None:
    install(place.targets)
    write(place.folder, {"commands/own.md": "mine\n", "memlines/own.txt": "mine\n"})
    uninstall(place.targets)
    assert names(place.folder) == {"commands/own.md", "memlines/own.txt"}


def test_looking_at_what_would_be_removed_removes_nothing(place: Place) -> None:
    install(place.targets)
    before = tree(place.project)
    assert actions(would_uninstall(place.targets)) == {"remove"}
    assert tree(place.project) == before


def test_an_installation_goes_with_a_project_that_is_moved(place: Place, tmp_path: Path) -> None:
    install(place.targets)
    place.project = place.project.rename(tmp_path / "moved")
    uninstall(place.targets)
    assert tree(place.project) == {}


NAMES = [
    "a",
    "commands",
    "plugins",
    "memlines",
    "skills",
    "memory",
    "memory.md",
    "x.md",
    ".npmrc",
    "receipt",
]
PATHS = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map("/".join)
CONTENTS = st.sampled_from(["", "mine\n", "the command\n", "fetch-retries=0\n"])


@given(files=st.dictionaries(PATHS, CONTENTS, max_size=6), mode=st.sampled_from([0o600, 0o644, 0o755]))
def test_whatever_was_there_is_there_afterwards(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, str], mode: int
) -> None:
    place = Place(tmp_path_factory.mktemp("any"))
    for name, text in files.items():
        above = Path(name).parents[:-1]
        if not (place.folder / name).exists() and not any((place.folder / part).is_file() for part in above):
            write(place.folder, {name: text})
            (place.folder / name).chmod(mode)
    before = tree(place.project)
    try:
        install(place.targets)
    except (WriteError, PathError):
        assert tree(place.project) == before
    uninstall(place.targets)
    assert tree(place.project) == before


# Links, permissions, receipts that cannot be used


def test_a_link_that_leads_out_of_the_project_is_refused(place: Place, tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    place.folder.symlink_to(tmp_path / "shared")
    with pytest.raises(PathError, match="leads out of the project"):
        install(place.targets)


def test_a_link_inside_the_client_folder_that_leads_out_is_refused(place: Place, tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    place.folder.mkdir()
    (place.folder / "commands").symlink_to(tmp_path / "shared")
    with pytest.raises(PathError, match="leads out of the project"):
        install(place.targets)


def test_a_link_that_stays_in_the_project_is_followed(place: Place) -> None:
    (place.project / "config").mkdir()
    place.folder.symlink_to(place.project / "config")
    before = tree(place.project)
    install(place.targets)
    assert names(place.project / "config") == MADE
    uninstall(place.targets)
    assert tree(place.project) == before


def test_the_settings_of_the_user_may_be_a_link(place: Place, tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    global_folder().parent.mkdir(parents=True)
    global_folder().symlink_to(tmp_path / "dotfiles")
    install(place.everywhere)
    assert names(tmp_path / "dotfiles") == MADE


@pytest.mark.parametrize("name", [".opencode", ".opencode/commands"])
def test_a_link_that_leads_nowhere_is_refused_or_followed(place: Place, name: str) -> None:
    link = place.project / name
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(place.project / "nowhere")
    before = tree(place.project)
    try:
        install(place.targets)
    except PathError:
        assert tree(place.project) == before
    uninstall(place.targets)
    assert tree(place.project) == before


def test_a_link_to_itself_is_refused(place: Place) -> None:
    place.folder.symlink_to(place.folder)
    with pytest.raises((PathError, WriteError)):
        install(place.targets)


def test_a_folder_that_may_not_be_written_is_said(place: Place) -> None:
    code = (
        "import sys; from pathlib import Path; from memlines.clients import opencode, apply\n"
        "from memlines.errors import WriteError\n"
        "try: apply.install(opencode.targets(Path(sys.argv[1]), Path(sys.argv[2])))\n"
        "except WriteError as error: print(error)"
    )
    place.project.chmod(0o555)
    done = unprivileged_run(code, place.project, place.source)
    place.project.chmod(0o755)
    assert f"the folder '{place.project}' may not be written, so nothing was changed" in done.stdout
    assert tree(place.project) == {}


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"format": 2}', '{"format": 1, "files": [], "folders": []}', "[" * 100_000]
)
def test_a_receipt_that_cannot_be_used_is_said(place: Place, text: str) -> None:
    write(place.folder, {"memlines/receipt.json": text})
    with pytest.raises(WriteError, match=r"receipt\.json.*Delete it"):
        install(place.targets)


@pytest.mark.parametrize("path", ["../../outside.txt", "/etc/passwd", "a/../../b", "", "a\\..\\b", "."])
def test_a_receipt_of_a_cloned_project_cannot_remove_files_elsewhere(place: Place, path: str) -> None:
    install(place.targets)
    told = json.loads(receipt_file(place.folder).read_bytes())
    told["files"][path] = told["files"]["commands/memory.md"]
    receipt_file(place.folder).write_text(json.dumps(told), encoding="utf-8")
    with pytest.raises(WriteError, match="receipt"):
        uninstall(place.targets, force=True)


def test_the_receipt_names_the_version(place: Place) -> None:
    install(place.targets)
    receipt = read_receipt(place.folder)
    assert receipt is not None
    assert receipt.is_installed()
