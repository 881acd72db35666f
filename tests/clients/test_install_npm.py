"""Without a network, OpenCode does not wait for npm; with one, npm still installs what plugins need."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from memlines.clients.apply import install, uninstall
from memlines.clients.opencode import gives_up_soon, global_folder, waits_for_npm
from memlines.clients.receipt import receipt_file
from tests.clients.places import Place, names, tree, write

LOCKED = {"packages": {"": {"dependencies": {"@opencode-ai/plugin": "1.0.0"}}}}


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home" / "config"))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def settle(folder: Path, package: object = None, lock: object = LOCKED) -> Path:
    """Leave in a folder what `npm install` left."""
    write(folder, {"package-lock.json": json.dumps(lock), "node_modules/x/index.js": ""})
    if package is not None:
        write(folder, {"package.json": json.dumps(package)})
    return folder


def test_npm_gives_up_at_once_where_the_plugin_is_and_in_the_settings_of_the_user(place: Place) -> None:
    install(place.targets)
    assert gives_up_soon(place.folder)
    assert gives_up_soon(global_folder())


def test_the_settings_of_the_user_get_nothing_else(place: Place) -> None:
    install(place.targets)
    assert names(global_folder()) == {".npmrc", "memlines/receipt.json"}


def test_npm_is_left_alone_where_it_has_done_its_work(place: Place) -> None:
    settle(place.folder)
    settle(global_folder())
    install(place.targets)
    assert not (place.folder / ".npmrc").exists()
    assert names(global_folder()) == {"package-lock.json", "node_modules/x/index.js"}


def test_what_was_written_for_npm_stays_ours_when_npm_has_done_its_work(place: Place) -> None:
    install(place.targets)
    settle(place.folder)
    assert {step.action for step in install(place.targets)} == {"unchanged"}


@pytest.mark.parametrize(
    ("package", "lock", "waits"),
    [
        (None, LOCKED, False),
        ({"dependencies": {"@opencode-ai/plugin": "9.9.9"}}, LOCKED, False),
        ({"dependencies": {"left-pad": "1"}}, LOCKED, True),
        ({"devDependencies": {"left-pad": "1"}}, LOCKED, True),
        (None, {}, True),
        (None, [], True),
        (None, {"packages": []}, True),
        ([], LOCKED, False),
    ],
)
def test_opencode_runs_npm_where_the_lock_lacks_a_name(
    tmp_path: Path, package: object, lock: object, waits: bool
) -> None:
    assert waits_for_npm(settle(tmp_path, package, lock)) is waits


def test_opencode_runs_npm_in_a_new_folder(tmp_path: Path) -> None:
    assert waits_for_npm(tmp_path / "new")


@pytest.mark.parametrize(
    ("text", "soon"),
    [
        ("fetch-retries=0\n", True),
        ("registry=https://example.org/\nfetch-retries = 0\n", True),
        ("offline=true\n", True),
        ("offline\n", True),
        ("; fetch-retries=0\n", False),
        ("fetch-retries=2\n", False),
        ("offline=false\n", False),
        ("", False),
    ],
)
def test_settings_of_npm_are_understood(tmp_path: Path, text: str, soon: bool) -> None:
    assert gives_up_soon(write(tmp_path, {".npmrc": text})) is soon


def test_settings_of_npm_that_are_there_stay_and_the_user_is_told(place: Place) -> None:
    write(place.folder, {".npmrc": "registry=https://example.org/\n"})
    (kept,) = [step for step in install(place.targets) if step.action == "keep"]
    assert "fetch-retries=0" in kept.why
    assert (place.folder / ".npmrc").read_text(encoding="utf-8") == "registry=https://example.org/\n"


@pytest.mark.parametrize("force", [False, True])
def test_settings_of_npm_that_the_user_extended_are_never_removed(place: Place, force: bool) -> None:
    install(place.targets)
    with (place.folder / ".npmrc").open("a", encoding="utf-8") as file:
        file.write("//example.org/:_authToken=secret\n")
    (kept,) = [step for step in uninstall(place.targets, force=force) if step.action == "keep"]
    assert "yours now" in kept.why
    assert names(place.folder) == {".npmrc"}


def test_settings_of_npm_that_do_already_are_not_spoken_of(place: Place) -> None:
    write(place.folder, {".npmrc": "fetch-retries=0\n"})
    assert not [step for step in install(place.targets) if step.path == place.folder / ".npmrc"]


def test_what_two_projects_need_stays_until_both_are_taken_out(tmp_path: Path) -> None:
    first, second = Place(tmp_path / "first"), Place(tmp_path / "second")
    install(first.targets)
    install(second.targets)
    uninstall(first.targets)
    assert gives_up_soon(global_folder())
    uninstall(second.targets)
    assert tree(tmp_path / "home") == {}


def test_a_project_that_was_deleted_needs_nothing_any_more(tmp_path: Path) -> None:
    first, second = Place(tmp_path / "first"), Place(tmp_path / "second")
    install(first.targets)
    install(second.targets)
    shutil.rmtree(first.project)
    uninstall(second.targets)
    assert tree(tmp_path / "home") == {}


def test_a_global_installation_outlasts_that_of_a_project(place: Place) -> None:
    install(place.everywhere)
    everything = tree(global_folder())
    install(place.targets)
    uninstall(place.targets)
    assert tree(global_folder()) == everything


def test_a_project_does_not_tell_of_what_the_global_installation_needs(place: Place) -> None:
    install(place.everywhere)
    here = {step.path for step in install(place.targets)}
    assert {path for path in here if global_folder() in path.parents} == {global_folder() / ".npmrc"}


def test_a_project_leaves_the_version_of_the_global_installation(place: Place) -> None:
    install(place.everywhere)
    told = json.loads(receipt_file(global_folder()).read_bytes()) | {"version": "0.0.1"}
    receipt_file(global_folder()).write_text(json.dumps(told), encoding="utf-8")
    install(place.targets)
    assert json.loads(receipt_file(global_folder()).read_bytes())["version"] == "0.0.1"


def test_a_project_outlasts_a_global_installation(place: Place) -> None:
    install(place.targets)
    everything = tree(global_folder())
    install(place.everywhere)
    uninstall(place.everywhere)
    assert tree(global_folder()) == everything
