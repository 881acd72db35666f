"""The command of a hook finds the folder of state by itself, and it is the same one on every system."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest
from platformdirs.api import PlatformDirsABC
from platformdirs.macos import MacOS
from platformdirs.unix import Unix
from platformdirs.windows import Windows, get_win_folder_from_env_vars

from memlines.serve.hooks import thin

VARIABLES = ("MEMLINES_HOME", "RECOLLECT_HOME", "XDG_STATE_HOME", "LOCALAPPDATA")


@pytest.mark.parametrize(("system", "folders"), [("linux", Unix), ("darwin", MacOS), ("win32", Windows)])
@pytest.mark.parametrize(
    "variables",
    [
        {"LOCALAPPDATA": "/users/ada/local"},
        {"LOCALAPPDATA": "/users/ada/local", "XDG_STATE_HOME": "/elsewhere"},
        {"LOCALAPPDATA": "/users/ada/local", "XDG_STATE_HOME": "relative"},
    ],
)
def test_a_hook_finds_the_state_where_all_else_keeps_it(
    system: str,
    folders: type[PlatformDirsABC],
    variables: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in ({"HOME": "/users/ada"} | variables).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(thin, "sys", SimpleNamespace(platform=system))
    monkeypatch.setattr("platformdirs.windows.get_win_folder", get_win_folder_from_env_vars)
    assert thin.state_folder() == folders("memlines", appauthor=False).user_state_dir


def test_without_any_home_there_is_no_such_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    with pytest.raises(thin.Trouble, match="home folder"):
        thin.state_folder()
