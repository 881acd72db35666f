"""Where things live."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memlines import paths
from memlines.errors import SettingsError, WorkspaceError
from memlines.files.place import holds_memory, writing
from memlines.paths import Workspace, contains, expand_home


def test_a_workspace_is_where_it_really_is(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert Workspace.at(tmp_path / "link").root == (tmp_path / "real").resolve()


def test_a_workspace_by_its_text(tmp_path: Path) -> None:
    assert Workspace.at(str(tmp_path)).root == tmp_path.resolve()


def test_a_workspace_in_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "notes").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Workspace.at("~/notes").root == (tmp_path / "notes").resolve()


def test_a_relative_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert Workspace.at(".").root == tmp_path.resolve()


@pytest.mark.parametrize("folder", ["missing", "~no-such-user/notes"])
def test_a_missing_workspace(folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(WorkspaceError, match=r"does not exist.*memlines init"):
        Workspace.at(folder)


def test_a_workspace_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(WorkspaceError, match="is not a folder"):
        Workspace.at(tmp_path / "file")


@pytest.mark.parametrize("name", ["loop", "a\0b", "x" * 5000, "file/below"])
def test_a_workspace_that_cannot_be_opened(tmp_path: Path, name: str) -> None:
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").touch()
    with pytest.raises(WorkspaceError, match="cannot be opened"):
        Workspace.at(tmp_path / name)


def test_places_of_a_workspace(tmp_path: Path) -> None:
    workspace = Workspace.at(tmp_path)
    assert workspace.private == workspace.root / ".memory"
    assert workspace.config_file == workspace.root / ".memory" / "config.yaml"
    assert workspace.index_file() == workspace.root / ".memory" / "index.sqlite"


def test_an_index_for_each_agent(tmp_path: Path) -> None:
    workspace = Workspace.at(tmp_path)
    assert workspace.index_file("idx/{agent}.sqlite", "coder") == workspace.root / "idx" / "coder.sqlite"


def test_an_index_elsewhere(tmp_path: Path) -> None:
    assert Workspace.at(tmp_path).index_file("/var/idx.sqlite") == Path("/var/idx.sqlite")


def test_an_index_in_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert Workspace.at(tmp_path).index_file("~/x.sqlite") == tmp_path / "home" / "x.sqlite"


@pytest.mark.parametrize("agent", ["", "a/b", "..", ".a", "a b", "é", "x" * 65, "a\n", "a\0"])
@pytest.mark.promise("P7")
def test_an_agent_name_cannot_leave_the_folder(tmp_path: Path, agent: str) -> None:
    with pytest.raises(SettingsError, match="agent name"):
        Workspace.at(tmp_path).index_file("{agent}.sqlite", agent)


@pytest.mark.parametrize(
    ("place", "below"),
    [
        (paths.user_config_file, "config.yaml"),
        (paths.user_state_dir, "state"),
        (paths.user_cache_dir, "cache"),
    ],
)
def test_one_variable_moves_all_user_files(
    place: object, below: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert callable(place)
    monkeypatch.setenv(paths.HOME_VARIABLE, str(tmp_path))
    assert place() == tmp_path / below


@pytest.mark.parametrize("place", [paths.user_config_file, paths.user_state_dir, paths.user_cache_dir])
def test_without_it_they_are_where_the_system_says(place: object, monkeypatch: pytest.MonkeyPatch) -> None:
    assert callable(place)
    monkeypatch.delenv(paths.HOME_VARIABLE)
    assert "memlines" in place().parts


def test_the_personal_memory_is_below_the_folder_of_all_user_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(paths.HOME_VARIABLE, str(tmp_path))
    assert paths.personal_folder() == tmp_path / "personal"


def test_without_such_a_folder_the_personal_memory_is_among_the_users_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(paths.HOME_VARIABLE)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert paths.personal_folder().parts[-2:] == ("memlines", "personal")


def test_settings_may_name_the_personal_memory_from_their_own_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(paths.HOME_VARIABLE, str(tmp_path))
    assert paths.personal_folder("mine") == tmp_path / "mine"


def test_a_workspace_that_cannot_be_written_has_its_indexes_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(paths.HOME_VARIABLE, str(tmp_path / "home"))
    assert Workspace.at(tmp_path).cached_indexes.parent == tmp_path / "home" / "cache" / "indexes"


def test_a_home_that_is_not_known_stays_as_written() -> None:
    assert expand_home("~no-such-user/x") == Path("~no-such-user/x")


@pytest.mark.parametrize(
    ("path", "inside"),
    [("/a/b", True), ("/a/b/c", True), ("/a/b/c/d", True), ("/a/bc", False), ("/a", False), ("/", False)],
)
@pytest.mark.promise("P7")
def test_contains(path: str, inside: bool) -> None:
    assert contains(Path("/a/b"), Path(path)) is inside


def test_a_workspace_whose_name_is_not_utf8_is_refused(tmp_path: Path) -> None:
    folder = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9")
    try:
        Path(folder).mkdir()
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    with pytest.raises(WorkspaceError, match="not valid UTF-8"):
        Workspace.at(folder)


@pytest.mark.parametrize("file", ["MEMORY.md", "memory/a.md", ".memory/config.yaml"])
def test_a_folder_with_a_note_or_a_private_folder_holds_a_memory(tmp_path: Path, file: str) -> None:
    assert not holds_memory(Workspace.at(tmp_path))
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).touch()
    assert holds_memory(Workspace.at(tmp_path))


def test_every_version_waits_for_the_same_lock_of_the_notes(workspace: Path) -> None:
    with writing(Workspace.at(workspace)):
        assert [file.name for file in (workspace / ".memory").glob("*.lock")] == ["notes.lock"]
