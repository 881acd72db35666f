"""`memlines migrate` in a project whose settings file nobody trusted."""

from __future__ import annotations

from pathlib import Path
from secrets import token_hex

import pytest

from memlines.paths import Workspace, user_config_file
from tests.cluster import Nodes
from tests.memories import write
from tests.programs import Cli


@pytest.fixture
def file(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the settings of a project with one note are."""
    monkeypatch.setenv("MEMLINES_STORE__COLLECTION", f"team{token_hex(4)}")
    write(workspace, {"api.md": "The kestrel API rotates its tokens weekly.\n"})
    path = Workspace.at(workspace).config_file
    path.parent.mkdir(exist_ok=True)
    return path


def test_a_harmless_file_is_trusted_with_the_new_place(
    cli: Cli, workspace: Path, file: Path, qdrant: Nodes
) -> None:
    file.write_text("chunking:\n  tokens: 300\n", encoding="utf-8")
    assert cli("migrate", "-w", workspace, "--to", "qdrant", "--uri", qdrant.uri).code == 0
    shown = cli("config", "get", "store.driver", "-w", workspace)
    assert (shown.code, shown.out.strip()) == (0, "qdrant")
    assert cli("migrate", "-w", workspace, "--to", "sqlite").code == 0
    assert cli("search", "kestrel", "-w", workspace).code == 0


def test_a_file_that_needs_trust_stops_the_move_before_anything_is_copied(
    cli: Cli, workspace: Path, file: Path, qdrant: Nodes
) -> None:
    before = qdrant.collections()
    user_config_file().write_text("agents: {ada: {embeddings: {provider: none}}}\n", encoding="utf-8")
    text = "embeddings:\n  provider: none\n"  # which repeats what is in force for one agent only
    file.write_text(text, encoding="utf-8")
    options = ("-w", workspace, "--to", "qdrant", "--uri", qdrant.uri)
    for agent in ((), ("--agent", "ada")):
        outcome = cli("migrate", *options, *agent)
        assert (outcome.code, "run 'memlines config trust'" in outcome.err) == (3, True)
    assert (qdrant.collections(), file.read_text(encoding="utf-8")) == (before, text)
