"""A text with a secret is not kept, unless a person says that it may be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memlines import Memory, SecretRefused
from memlines.serve.tools import call_tool
from tests.programs import Cli

pytestmark = pytest.mark.promise("P8")

TOKEN = "ghp_" + "a1B2" * 9
TEXT = f"The deploy token is {TOKEN}."
WORDS = {"embeddings.provider": "none"}


@pytest.fixture
def memory(workspace: Path) -> Memory:
    return Memory(workspace, WORDS)


def notes(workspace: Path) -> str:
    return "\n".join(file.read_text(encoding="utf-8") for file in sorted(workspace.glob("memory/*.md")))


def test_remember_refuses_a_secret_and_names_its_kind(memory: Memory, workspace: Path) -> None:
    before = notes(workspace)
    with pytest.raises(SecretRefused, match=r"\(github-token\)"):
        memory.remember(TEXT)
    assert notes(workspace) == before


def test_remember_keeps_a_secret_that_may_be_kept(memory: Memory, workspace: Path) -> None:
    memory.remember(TEXT, allow_secret=True)
    assert TOKEN in notes(workspace)


def test_a_rule_of_the_settings_refuses_too(workspace: Path) -> None:
    memory = Memory(workspace, {**WORDS, "redaction.rules": {"badge": r"B-\d{8}"}})
    with memory, pytest.raises(SecretRefused, match="badge"):
        memory.remember("my badge is B-12345678")


def test_what_is_private_may_be_written_down(memory: Memory, workspace: Path) -> None:
    memory.remember("The visit went well. <private>She is ill.</private>")
    assert "She is ill." in notes(workspace)


def test_a_fact_with_a_secret_is_refused(memory: Memory, workspace: Path) -> None:
    with pytest.raises(SecretRefused, match="github-token"):
        memory.facts.store(TEXT)
    assert TOKEN not in notes(workspace)


def test_a_fact_is_not_edited_to_hold_a_secret(memory: Memory, workspace: Path) -> None:
    fact = memory.facts.store("The deploy token is in the vault.").line.fact.id
    with pytest.raises(SecretRefused, match="github-token"):
        memory.facts.edit(fact, TEXT)
    assert TOKEN not in notes(workspace)
    memory.facts.edit(fact, TEXT, allow_secret=True)
    assert TOKEN in notes(workspace)


@pytest.mark.parametrize("command", [("remember",), ("facts", "store")])
def test_the_command_line_refuses_with_a_code_of_its_own(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    workspace: Path,
    command: tuple[str, ...],
) -> None:
    monkeypatch.setenv("MEMLINES_EMBEDDINGS__PROVIDER", "none")
    cli = Cli(capsys)
    refused = cli(*command, TEXT, "-w", workspace)
    assert (refused.code, TOKEN in notes(workspace), TOKEN in refused.err) == (9, False, False)
    assert "github-token" in refused.err
    assert cli(*command, "--allow-secret", TEXT, "-w", workspace).code == 0
    assert TOKEN in notes(workspace)


@pytest.mark.parametrize("tool", ["memory_remember", "memory_store"])
def test_a_model_never_may(memory: Memory, workspace: Path, tool: str) -> None:
    with pytest.raises(SecretRefused, match="github-token"):
        call_tool(memory, tool, {"text": TEXT})
    with pytest.raises(Exception, match="allow_secret"):
        call_tool(memory, tool, {"text": TEXT, "allow_secret": True})
    assert TOKEN not in notes(workspace)


def test_the_wording_is_the_same_everywhere(memory: Memory) -> None:
    said = set()
    for refused in (
        lambda: memory.remember(TEXT),
        lambda: memory.facts.store(TEXT),
        lambda: call_tool(memory, "memory_remember", {"text": TEXT}),
    ):
        with pytest.raises(SecretRefused) as caught:
            refused()
        said.add(json.dumps(caught.value.to_json()))
    (error,) = said
    assert "--allow-secret in the shell, allow_secret=True in Python" in error
