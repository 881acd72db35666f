"""`memlines hook`: the same as the script, for those who have the program on their path."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from memlines.cli.main import run
from memlines.serve.hooks import thin
from tests.serve.hooks import NOTES


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "MEMORY.md").write_text(NOTES, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMLINES_EMBEDDINGS__PROVIDER", "none")
    monkeypatch.setenv(thin.FOLDER_VARIABLE, "")  # so that what the command sets is undone
    return tmp_path


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be on a system where the work has to be done in the same process."""
    monkeypatch.delattr(os, "fork")


def say(monkeypatch: pytest.MonkeyPatch, said: bytes) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(said)))


@pytest.mark.usefixtures("alone")
def test_without_sockets_the_process_does_the_work_itself(
    shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    say(monkeypatch, b'{"session_id": "one"}')
    assert run(["hook", "claude-code", "SessionStart"]) == 0
    assert "port 5433" in json.loads(capsys.readouterr().out)["hookSpecificOutput"]["additionalContext"]


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("said", [b"", b"no JSON", b"[1]"])
def test_whatever_the_client_says_it_ends_well(
    shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], said: bytes
) -> None:
    say(monkeypatch, said)
    assert run(["hook", "claude-code", "UserPromptSubmit"]) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.usefixtures("alone")
def test_a_folder_without_a_memory_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(thin.FOLDER_VARIABLE, "")
    say(monkeypatch, b"{}")
    assert run(["hook", "claude-code", "SessionStart", "-w", str(tmp_path)]) == 0
    assert (capsys.readouterr().out, list(tmp_path.iterdir())) == ("", [])


def test_elsewhere_it_does_what_the_script_does(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    def main(words: list[str]) -> int:
        asked.append(words)
        return 0

    monkeypatch.setattr(thin, "main", main)
    assert run(["hook", "claude-code", "Stop", "/home/of/ours"]) == 0
    assert asked == [["claude-code", "Stop", "/home/of/ours"]]
