"""What Codex was told to trust is read from its settings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memlines.clients import codex
from memlines.clients.apply import install
from memlines.clients.codex import is_trusted, untrusted_hooks

PLACES = ("session_start", "user_prompt_submit", "pre_compact", "stop", "session_end")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    install(codex.targets(None))
    return tmp_path / "codex"


def trust(folder: Path, *places: str, state: str = 'trusted_hash = "sha256:00"') -> None:
    with (folder / "config.toml").open("a", encoding="utf-8") as stream:
        for place in places:
            stream.write(f'[hooks.state."{folder / "hooks.json"}:{place}"]\n{state}\n')


def test_new_hooks_are_not_trusted(folder: Path) -> None:
    assert untrusted_hooks(None) == ["SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SessionEnd"]


def test_hooks_that_the_user_looked_at_are_trusted(folder: Path) -> None:
    trust(folder, *(f"{place}:0:0" for place in PLACES))

    assert untrusted_hooks(None) == []


def test_a_hook_that_was_switched_off_does_not_run(folder: Path) -> None:
    trust(folder, *(f"{place}:0:0" for place in PLACES[:3]))
    trust(folder, *(f"{place}:0:0" for place in PLACES[3:]), state='enabled = false\ntrusted_hash = "a"')

    assert untrusted_hooks(None) == ["Stop", "SessionEnd"]


def test_a_hook_is_known_by_its_place(folder: Path) -> None:
    values = json.loads((folder / "hooks.json").read_bytes())
    values["hooks"]["Stop"].insert(0, {"hooks": [{"type": "command", "command": "true"}]})
    (folder / "hooks.json").write_text(json.dumps(values), encoding="utf-8")
    trust(folder, *(f"{place}:0:0" for place in PLACES))

    assert untrusted_hooks(None) == ["Stop"]


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"hooks": 1}', b'{"hooks": {"Stop": [1]}}'], ids=repr
)
def test_a_file_without_hooks_of_ours_has_none_to_trust(folder: Path, content: bytes) -> None:
    (folder / "hooks.json").write_bytes(content)

    assert untrusted_hooks(None) == []


def test_a_project_is_trusted_if_codex_was_told_so(folder: Path, tmp_path: Path) -> None:
    with (folder / "config.toml").open("a", encoding="utf-8") as stream:
        stream.write(f'[projects."{tmp_path}"]\ntrust_level = "trusted"\n')

    assert is_trusted(tmp_path)
    assert not is_trusted(tmp_path / "other")


def test_settings_that_are_broken_trust_nothing(folder: Path, tmp_path: Path) -> None:
    (folder / "config.toml").write_text("= broken", encoding="utf-8")

    assert not is_trusted(tmp_path)
    assert untrusted_hooks(None)
