"""What OpenClaw's configuration says about memory is shown as our settings, and written only if asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memlines.admin.imports.openclaw import translate_settings
from memlines.paths import Workspace, user_config_file
from memlines.settings import is_trusted, load
from tests.admin.backups import tree
from tests.programs import Cli

KEY = "sk-proj-" + "a1B2" * 10
CONFIG = """
// mine
{
  gateway: {port: 18789, auth: {token: 'not yours'}},
  memory: {citations: 'off', backend: 'builtin'},
  agents: {
    defaults: {
      workspace: '~/notes',
      memorySearch: {
        provider: 'openai',
        model: 'text-embedding-3-small',
        remote: {apiKey: '%s', headers: {'X-Team': 'one'}, baseUrl: 'https://example.org/v1'},
        extraPaths: ['../shared', '/papers'],
        experimental: {sessionMemory: true},
        sources: ['memory', 'sessions'],
        query: {maxResults: 8, hybrid: {vectorWeight: 0.6, textWeight: 0.4,}},
        store: {path: '~/.openclaw/memory/{agentId}.sqlite', vector: {enabled: true}},
      },
    },
    list: [{id: 'research', memorySearch: {query: {maxResults: 3}}}, {id: 'other', model: 'big'}],
  },
  plugins: {entries: {'memory-lancedb': {config: {
    embedding: {apiKey: '%s', model: 'text-embedding-3-small'},
    autoCapture: true, autoRecall: false, captureMaxChars: 900, dbPath: '~/there',
  }}}},
}
""" % (KEY, KEY)  # noqa: UP031 (it is full of braces)

EXPECTED = {
    "embeddings.provider": "openai",
    "embeddings.model": "text-embedding-3-small",
    "embeddings.base_url": "https://example.org/v1",
    "sources": ["memory", "sessions"],
    "sessions.clients": ["openclaw"],
    "query.max_results": 8,
    "query.hybrid.vector_weight": 0.6,
    "query.hybrid.text_weight": 0.4,
    "store.vector.enabled": True,
    "citations": "off",
    "backend": "builtin",
    "agents.research.query.max_results": 3,
    "facts.auto_capture": True,
    "facts.auto_recall": False,
    "facts.capture_max_chars": 900,
}


@pytest.fixture
def state(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    folder.mkdir()
    (folder / "openclaw.json").write_text(CONFIG, encoding="utf-8")
    return folder


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cli:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MEMLINES_EMBEDDINGS__PROVIDER", "none")
    return Cli(capsys)


def imported(cli: Cli, state: Path, workspace: Path, *more: str) -> dict[str, Any]:
    outcome = cli("import", "openclaw", "--state-dir", state, "-w", workspace, "--json", *more)
    assert outcome.code == 0, outcome.err
    settings: dict[str, Any] = json.loads(outcome.out)["settings"]
    return settings


def test_they_are_translated_and_shown(cli: Cli, state: Path, workspace: Path, tmp_path: Path) -> None:
    paths = [str(tmp_path / "home/shared"), "/papers"]
    assert imported(cli, state, workspace)["values"] == {**EXPECTED, "extra_paths": paths}


def test_showing_them_writes_nothing(cli: Cli, state: Path, workspace: Path) -> None:
    before = tree(workspace)
    told = cli("import", "openclaw", "--state-dir", state, "-w", workspace).out
    imported(cli, state, workspace, "--settings", "user", "--dry-run")
    assert (tree(workspace), user_config_file().exists()) == (before, False)
    assert "  query.max_results: 8\n" in told


def test_what_was_left_out_is_told_with_the_reason(cli: Cli, state: Path, workspace: Path) -> None:
    left_out = imported(cli, state, workspace)["left_out"]
    assert "embeddings.api_key: keys are never copied; set the variable OPENAI_API_KEY" in left_out
    assert "store.path: an index of OpenClaw cannot be used here, and is rebuilt" in left_out
    assert {sentence.split(":")[0] for sentence in left_out} == {
        "embeddings.api_key",
        "embeddings.headers",
        "store.path",
        "memory-lancedb embedding",
        "memory-lancedb embedding.apiKey",
        "memory-lancedb dbPath",
    }


@pytest.mark.parametrize("file", ["user", "project"])
def test_written_they_hold(
    cli: Cli, state: Path, workspace: Path, file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = imported(cli, state, workspace, "--settings", file)
    monkeypatch.delenv("MEMLINES_EMBEDDINGS__PROVIDER")
    opened = Workspace.at(workspace)
    path = user_config_file() if file == "user" else opened.config_file
    ours, research = load(opened).settings, load(opened, {"agent": "research"}).settings
    assert (told["file"], told["kept"]) == (str(path), [])
    assert (ours.embeddings.provider, ours.query.max_results, research.query.max_results) == ("openai", 8, 3)
    assert (ours.sources, ours.facts.auto_capture) == (("memory", "sessions"), True)
    assert KEY not in path.read_text(encoding="utf-8")


def test_what_a_file_says_already_stays(cli: Cli, state: Path, workspace: Path) -> None:
    mine = "# mine\nquery:\n  maxResults: 2  # few\nagents: {research: {query: {max_results: 1}}}"
    user_config_file().write_text(mine, encoding="utf-8")
    told = imported(cli, state, workspace, "--settings", "user")
    text = user_config_file().read_text(encoding="utf-8")
    assert (text.startswith(mine), told["kept"]) == (
        True,
        ["query.max_results", "agents.research.query.max_results"],
    )
    assert load().settings.query.max_results == 2
    imported(cli, state, workspace, "--settings", "user")
    assert user_config_file().read_text(encoding="utf-8") == text


def test_a_file_that_cannot_be_added_to_stays(cli: Cli, state: Path, workspace: Path) -> None:
    mine = "{query: {max_results: 2}}\n"
    user_config_file().write_text(mine, encoding="utf-8")
    outcome = cli("import", "openclaw", "--state-dir", state, "-w", workspace, "--settings", "user")
    assert (outcome.code, "by hand" in outcome.err) == (3, True)
    assert user_config_file().read_text(encoding="utf-8") == mine


@pytest.mark.parametrize("before", [None, "query: {min_score: 0.2}\n"])
def test_a_projects_file_is_trusted_with_them(
    cli: Cli, state: Path, workspace: Path, before: str | None
) -> None:
    file = Workspace.at(workspace).config_file
    if before is not None:
        file.parent.mkdir()
        file.write_text(before, encoding="utf-8")
    imported(cli, state, workspace, "--settings", "project")
    assert is_trusted(file)
    assert load(Workspace.at(workspace)).settings.query.max_results == 8


def test_a_projects_file_that_needs_trust_and_has_none_is_not_written(
    cli: Cli, state: Path, workspace: Path
) -> None:
    file = Workspace.at(workspace).config_file
    file.parent.mkdir()
    file.write_text("extra_paths: [/elsewhere]\n", encoding="utf-8")
    arguments = ("--state-dir", state, "-w", workspace, "--settings", "project")
    outcome = cli("import", "openclaw", *arguments)
    assert (outcome.code, "config trust" in outcome.err) == (3, True)
    assert file.read_text(encoding="utf-8") == "extra_paths: [/elsewhere]\n"
    assert not is_trusted(file)


@pytest.mark.parametrize(
    ("part", "why"),
    [
        ({"remote": {"baseUrl": "https://me:secret@host/v1"}}, "the address holds a key"),
        ({"remote": {"baseUrl": "https://host/v1?api_key=abc"}}, "the address holds a key"),
        ({"remote": {"apiKey": "${MINE}"}, "provider": "voyage"}, "set the variable VOYAGE_API_KEY"),
        ({"provider": "something"}, "'something'"),
        ({"query": {"maxResults": "many"}}, "'many'"),
        ({"store": {"fts": {"tokenizer": "trigram"}}}, "has no effect"),
    ],
)
def test_what_cannot_be_a_setting_is_left_out(part: dict[str, Any], why: str) -> None:
    found = translate_settings({"agents": {"defaults": {"memorySearch": part}}}, Path("/notes"))
    assert any(why in sentence for sentence in found.left_out)
    assert not any("secret" in str(value) or "abc" in str(value) for value in found.values.values())


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"agents": 3},
        {"agents": {"list": 3}},
        {"memory": [1]},
        {"plugins": {"entries": {"memory-lancedb": 1}}},
    ],
)
def test_a_configuration_without_memory_has_no_settings(config: dict[str, Any]) -> None:
    found = translate_settings(config, Path("/notes"))
    assert (dict(found.values), found.left_out) == ({}, ())


def test_an_agent_with_an_odd_name_is_left_out() -> None:
    agents = [{"id": name, "memorySearch": {"query": {"maxResults": 3}}} for name in ("../x", None, "a.b", 7)]
    found = translate_settings({"agents": {"list": agents}}, Path("/notes"))
    assert (dict(found.values), len(found.left_out)) == ({}, 4)


def test_a_configuration_that_cannot_be_read_sets_nothing(cli: Cli, state: Path, workspace: Path) -> None:
    (state / "openclaw.json").write_text("{agents: ", encoding="utf-8")
    outcome = cli("import", "openclaw", "--state-dir", state, "-w", workspace, "--settings", "user")
    assert (outcome.code, user_config_file().exists()) == (2, False)
