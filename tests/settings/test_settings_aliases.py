"""Configurations that were written for OpenClaw or OpenCode: every name is understood or explained."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from memlines.errors import SettingsError
from memlines.paths import Workspace
from memlines.settings import Settings, flatten, load, trust
from memlines.settings.keys import (
    ALIASES,
    CONVERSIONS,
    WITHOUT_EFFECT,
    groups,
    known_keys,
    resolve,
    translate,
)
from tests.programs import Cli
from tests.settings.test_settings import project_file, user_file

DOCUMENTS = Path(__file__).resolve().parents[3] / "shared" / "seeds"

OPENCODE = """\
theme: dark
memory:
  enabled: true
  embeddings: {provider: auto, model: null, batchSize: 100}
  search:
    hybrid: {enabled: true, vectorWeight: 0.7, textWeight: 0.3, candidateMultiplier: 4}
    minScore: 0.35
    maxResults: 10
  chunking: {tokens: 300, overlap: 60}
  storage:
    vector: {enabled: true, extensionPath: null}
    cache: {enabled: true, maxEntries: 9000}
  citations: on
  intent: {enabled: true, languages: [en, nl], confidenceThreshold: 0.8}
  snapshots: {enabled: true, maxMessages: 12, maxContentLength: 400}
"""

SMALL = """\
memory:
  enabled: true
  workspace: ./notes
  chunkSize: 2048
  embedding: {provider: openai, model: text-embedding-3-small}
  cache: {maxEntries: 1000}
"""

MEMORY_SEARCH = """\
enabled: true
sources: [memory, sessions]
extraPaths: [../team]
provider: openai
fallback: gemini
model: text-embedding-3-large
remote:
  baseUrl: https://example.org/v1
  apiKey: sk-1
  headers: {X-Team: a}
  batch: {enabled: true, wait: false, concurrency: 3, pollIntervalMs: 500, timeoutMinutes: 30}
local: {modelPath: model.gguf, modelCacheDir: ~/models}
experimental: {sessionMemory: true}
store:
  driver: sqlite
  path: ~/memory/index.sqlite
  vector: {enabled: true, extensionPath: /lib/vec0.so}
chunking: {tokens: 200, overlap: 40}
sync:
  onSessionStart: false
  onSearch: false
  watch: false
  watchDebounceMs: 100
  intervalMinutes: 5
  sessions: {deltaBytes: 10, deltaMessages: 5}
query:
  maxResults: 5
  minScore: 0.2
  hybrid:
    enabled: true
    vectorWeight: 0.6
    textWeight: 0.4
    candidateMultiplier: 3
    mmr: {enabled: true, lambda: 0.5}
    temporalDecay: {enabled: true, halfLifeDays: 10}
cache: {enabled: true, maxEntries: 500}
"""

MEMORY_SEARCH_KEYS = {
    "sources": ("memory", "sessions"),
    "extra_paths": ("../team",),
    "embeddings.provider": "openai",
    "embeddings.fallback": "gemini",
    "embeddings.model": "text-embedding-3-large",
    "embeddings.base_url": "https://example.org/v1",
    "embeddings.api_key": "sk-1",
    "embeddings.headers": (("X-Team", "a"),),
    "embeddings.batch.enabled": True,
    "embeddings.batch.wait": False,
    "embeddings.batch.concurrency": 3,
    "embeddings.batch.poll_seconds": 0.5,
    "embeddings.batch.timeout_minutes": 30.0,
    "embeddings.local.model_path": "model.gguf",
    "embeddings.local.model_cache_dir": "~/models",
    "store.path": "~/memory/index.sqlite",
    "store.vector.extension_path": "/lib/vec0.so",
    "chunking.tokens": 200,
    "chunking.overlap": 40,
    "sync.on_session_start": False,
    "sync.on_search": False,
    "sync.watch": False,
    "sync.watch_debounce_ms": 100,
    "sync.interval_minutes": 5,
    "sync.sessions.delta_bytes": 10,
    "sync.sessions.delta_messages": 5,
    "query.max_results": 5,
    "query.min_score": 0.2,
    "query.hybrid.vector_weight": 0.6,
    "query.hybrid.text_weight": 0.4,
    "query.hybrid.candidate_multiplier": 3,
    "query.mmr.enabled": True,
    "query.mmr.lambda": 0.5,
    "query.temporal_decay.enabled": True,
    "query.temporal_decay.half_life_days": 10.0,
    "cache.max_entries": 500,
    "query.fusion": "weighted",
}


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(capsys)


def changed(settings: Settings) -> dict[str, Any]:
    """Return what is not as it is by default."""
    return {name: value for name, value in flatten(settings).items() if value != known_keys()[name].default}


def indented(text: str) -> str:
    return "".join(f"  {line}\n" for line in text.splitlines())


def opencode_file(workspace: Path, text: str) -> Path:
    path = workspace / ".opencode" / "config.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def configurations_in(number: str) -> list[str]:
    """Return the configurations of other tools that a document shows as YAML."""
    (document,) = DOCUMENTS.glob(f"{number}_*")
    blocks = re.findall(r"```yaml\n(.*?)```", document.read_text(encoding="utf-8"), re.DOTALL)
    return [block for block in blocks if "\nmemory:\n" in block]


@pytest.mark.parametrize("heading", ["", "memorySearch:\n", "memory:\n"])
def test_a_memory_search_configuration_is_read_as_it_is(heading: str) -> None:
    user_file(heading + (indented(MEMORY_SEARCH) if heading else MEMORY_SEARCH))
    assert changed(load().settings) == MEMORY_SEARCH_KEYS


def test_the_configuration_of_openclaw_is_read_from_its_place() -> None:
    user_file("agents:\n  defaults:\n    memorySearch:\n" + indented(indented(indented(MEMORY_SEARCH))))
    assert changed(load().settings) == MEMORY_SEARCH_KEYS


def test_the_same_configuration_is_read_as_json() -> None:
    user_file(json.dumps({"memorySearch": {"query": {"maxResults": 5}, "model": None}}, indent="\t"))
    assert changed(load().settings) == {"query.max_results": 5}


def test_json_may_have_comments_bare_names_and_commas_at_an_end() -> None:
    user_file(
        "// mine\n{ memorySearch: { /* few */ query: { maxResults: 5, },\n"
        "  provider: 'none', extraPaths: [\"a // b\", 'it\\'s',], }, }\n"
    )
    expected = {
        "query.max_results": 5,
        "embeddings.provider": "none",
        "extra_paths": ("a // b", "it's"),
    }
    assert changed(load().settings) == expected


def test_a_key_that_json_sets_twice_is_refused() -> None:
    user_file('{"query": {"maxResults": 5, "maxResults": 6}}')
    with pytest.raises(SettingsError, match="'maxResults' is set twice"):
        load()


def test_the_opencode_configuration_is_read() -> None:
    user_file(OPENCODE.removeprefix("theme: dark\n"))
    assert changed(load().settings) == {
        "embeddings.batch_size": 100,
        "query.fusion": "weighted",
        "query.max_results": 10,
        "chunking.tokens": 300,
        "chunking.overlap": 60,
        "cache.max_entries": 9000,
        "citations": "on",
        "intent.languages": ("en", "nl"),
        "intent.confidence_threshold": 0.8,
        "snapshots.max_messages": 12,
        "snapshots.max_content_length": 400,
    }


def test_a_chunk_size_counts_characters_and_embedding_means_embeddings() -> None:
    user_file(SMALL)
    assert changed(load().settings) == {
        "workspace": "./notes",
        "chunking.tokens": 512,
        "embeddings.provider": "openai",
        "embeddings.model": "text-embedding-3-small",
        "cache.max_entries": 1000,
    }


@pytest.mark.skipif(not DOCUMENTS.is_dir(), reason="the documents are not beside this checkout")
@pytest.mark.parametrize(
    ("document", "key", "value"), [("000", "query.max_results", 10), ("002", "workspace", "./workspace")]
)
def test_configurations_of_other_tools_are_read_word_for_word(document: str, key: str, value: object) -> None:
    (text,) = configurations_in(document)
    user_file(text)
    assert flatten(load().settings)[key] == value


def test_the_word_of_a_project_is_heard_from_opencodes_file(workspace: Path) -> None:
    path = opencode_file(workspace, "theme: dark\nmemory: {search: {maxResults: 3}}\n")
    loaded = load(Workspace.at(workspace))
    assert loaded.settings.query.max_results == 3
    assert loaded.origins["query.max_results"] == f"project file {path}, as memory.search.maxResults"


def test_the_projects_own_file_wins_over_opencodes(workspace: Path) -> None:
    opencode_file(workspace, "memory: {search: {maxResults: 3, minScore: 0.1}}\n")
    project_file(workspace, "query: {max_results: 4}\n")
    query = load(Workspace.at(workspace)).settings.query
    assert (query.max_results, query.min_score) == (4, 0.1)


def test_the_projects_own_file_may_switch_on_what_opencodes_switched_off(workspace: Path) -> None:
    opencode_file(workspace, "memory: {enabled: false}\n")
    project_file(workspace, "enabled: true\n")
    assert load(Workspace.at(workspace)).settings.enabled


@pytest.mark.parametrize("text", ["", "theme: dark\n", "memory:\n", "query: {max_results: 3}\nprovider: x\n"])
def test_what_opencodes_file_says_beside_memory_is_not_looked_at(workspace: Path, text: str) -> None:
    opencode_file(workspace, text)
    assert load(Workspace.at(workspace)).settings == Settings()


def test_a_common_configuration_of_a_project_needs_no_trust(workspace: Path) -> None:
    opencode_file(workspace, OPENCODE.replace("9000", "10000").replace("citations: on", "citations: auto"))
    settings = load(Workspace.at(workspace)).settings
    assert (settings.embeddings.batch_size, settings.query.max_results) == (100, 10)


@pytest.mark.promise("P11")
def test_opencodes_file_may_not_set_what_a_project_may_not(workspace: Path) -> None:
    path = opencode_file(workspace, "memory: {embeddings: {provider: openai}, remote: {apiKey: x}}\n")
    with pytest.raises(SettingsError) as caught:
        load(Workspace.at(workspace))
    assert f"{str(path)!r} sets embeddings.provider, embeddings.api_key," in caught.value.what


def test_opencodes_file_can_be_trusted(workspace: Path) -> None:
    trust(opencode_file(workspace, "memory: {embeddings: {provider: none}}\n"))
    assert load(Workspace.at(workspace)).settings.embeddings.provider == "none"


def test_trust_takes_both_files_of_a_project(cli: Cli, workspace: Path) -> None:
    files = [opencode_file(workspace, "memory: {provider: none}\n"), project_file(workspace, "agent: a\n")]
    result = cli("config", "trust", "-w", workspace, "--json").json
    assert [entry["file"] for entry in result["files"]] == [str(file) for file in files]
    settings = load(Workspace.at(workspace)).settings
    assert (settings.embeddings.provider, settings.agent) == ("none", "a")


def test_the_trust_in_both_files_is_taken_back(cli: Cli, workspace: Path) -> None:
    opencode_file(workspace, "memory: {provider: none}\n")
    cli("config", "trust", "-w", workspace)
    cli("config", "trust", "--revoke", "-w", workspace)
    with pytest.raises(SettingsError, match="unless you trust"):
        load(Workspace.at(workspace))


def test_opencodes_file_may_repeat_what_is_so_already(workspace: Path) -> None:
    opencode_file(workspace, "memory: {provider: auto, model: null, storage: {vector: {enabled: true}}}\n")
    assert load(Workspace.at(workspace)).settings == Settings()


def test_damage_in_opencodes_file_names_the_file(workspace: Path) -> None:
    path = opencode_file(workspace, "memory: {enabled: true\n")
    with pytest.raises(SettingsError, match=re.escape(f"project file {path} is not valid YAML in line 2")):
        load(Workspace.at(workspace))


@pytest.mark.parametrize("name", ["memory", "memorySearch", "agents.defaults.memorySearch", "search"])
def test_a_value_in_the_place_of_a_heading_is_refused(name: str) -> None:
    with pytest.raises(SettingsError, match=f"'{name}' from argument has a value, but it is a group"):
        load(overrides={name: 3})


@pytest.mark.promise("P11")
def test_a_linked_opencode_file_is_refused(workspace: Path, tmp_path: Path) -> None:
    path = opencode_file(workspace, "")
    path.unlink()
    path.symlink_to(user_file("memory: {enabled: true}"))
    with pytest.raises(SettingsError, match="is a symbolic link"):
        load(Workspace.at(workspace))


@pytest.mark.promise("P11")
def test_a_linked_opencode_folder_is_refused_where_it_holds_settings(workspace: Path, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    target.mkdir()
    (workspace / ".opencode").symlink_to(target)
    assert load(Workspace.at(workspace)).settings == Settings()
    (target / "config.yaml").write_text("memory: {enabled: true}", encoding="utf-8")
    with pytest.raises(SettingsError, match=r"folder .*\.opencode' is a symbolic link"):
        load(Workspace.at(workspace))


def test_an_alias_and_its_key_may_say_the_same() -> None:
    user_file("provider: none\nembeddings: {provider: none}\n")
    assert load().settings.embeddings.provider == "none"


def test_an_alias_and_its_key_may_not_contradict_each_other() -> None:
    path = user_file("provider: none\nembeddings: {provider: openai}\n")
    with pytest.raises(SettingsError) as caught:
        load()
    assert caught.value.what == (
        f"setting 'embeddings.provider' is set twice in user file {path}:"
        " as provider and as embeddings.provider"
    )


def test_secrets_that_contradict_each_other_are_not_shown() -> None:
    with pytest.raises(SettingsError) as caught:
        load(overrides={"remote": {"apiKey": "sk-one"}, "embeddings": {"api_key": "sk-two"}})
    assert "sk-" not in str(caught.value)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("memory.search.maxResult", "query.max_results"),
        ("memorySearch.remote.baseUrll", "remote.base_url"),
        ("remote.batch.concurency", "embeddings.batch.concurrency"),
        ("storage.cache.maxEntry", "cache.max_entries"),
        ("experimental.sessionMemories", "experimental.session_memory"),
    ],
)
def test_an_unknown_name_in_these_shapes_names_the_nearest(wrong: str, right: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load(overrides={wrong: 1})
    assert f"unknown setting {wrong!r} from argument. The nearest known one is {right!r}" in str(caught.value)


@pytest.mark.parametrize(
    ("given", "sources"),
    [
        ({"experimental": {"sessionMemory": True}}, ("memory", "sessions")),
        ({"experimental": {"sessionMemory": False}}, ("memory",)),
        ({"experimental": {"sessionMemory": None}}, ("memory",)),
        ({"experimental.session_memory": True, "sources": ["memory"]}, ("memory",)),
        ({"experimental.session_memory": True, "sources": ["sessions"]}, ("sessions",)),
        ({"experimental.session_memory": False, "sources": ["memory", "sessions"]}, ("memory",)),
    ],
)
def test_conversations_are_read_if_both_switches_ask_for_them(given: Any, sources: tuple[str, ...]) -> None:
    assert load(overrides=given).settings.sources == sources


def test_session_memory_adds_to_the_sources_of_the_file_before() -> None:
    user_file("sources: [sessions]\n")
    assert load(overrides={"experimental.sessionMemory": False}).settings.sources == ("memory",)


def test_session_memory_that_is_no_switch_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"'experimental\.session_memory' from argument.* is 'yes'"):
        load(overrides={"experimental.sessionMemory": "yes"})


@pytest.mark.promise("P11")
def test_session_memory_is_not_for_projects(workspace: Path) -> None:
    project_file(workspace, "experimental: {sessionMemory: true}\n")
    with pytest.raises(SettingsError, match="sets sources, which a project may not do"):
        load(Workspace.at(workspace))


def test_a_name_without_effect_is_accepted_and_explained() -> None:
    path = user_file(
        "memory: {citations: off, qmd: {mcporter.enabled: true}}\nstore: {fts.tokenizer: trigram}\n"
    )
    loaded = load()
    assert loaded.settings.citations == "off"
    assert [warning.split(":")[0] for warning in loaded.warnings] == [
        f"memory.qmd.mcporter.enabled from user file {path} has no effect",
        f"store.fts.tokenizer from user file {path} has no effect",
    ]


@pytest.mark.parametrize("value", [-1, 0, 10**400, True, "many", [], float("nan"), float("inf")])
@pytest.mark.parametrize("alias", ["chunkSize", "remote.batch.pollIntervalMs"])
def test_whatever_is_converted_is_a_value_or_refused(alias: str, value: Any) -> None:
    try:
        settings = load(overrides={alias: value}).settings
    except SettingsError:
        return
    assert settings.chunking.tokens >= 1
    assert settings.embeddings.batch.poll_seconds > 0


@pytest.mark.parametrize("alias", ALIASES)
def test_every_alias_stands_for_something(alias: str) -> None:
    assert resolve(alias)[0] in known_keys().keys() | groups()


@pytest.mark.parametrize("name", [*ALIASES, *WITHOUT_EFFECT])
def test_no_alias_hides_a_setting(name: str) -> None:
    assert name not in known_keys().keys() | groups()


@pytest.mark.parametrize("name", list(known_keys()))
def test_every_setting_is_its_own_name(name: str) -> None:
    assert resolve(name) == (name, None)


@pytest.mark.parametrize("alias", CONVERSIONS)
def test_only_aliases_of_numbers_are_converted(alias: str) -> None:
    assert known_keys()[ALIASES[alias]].rule.kind in ("int", "float")


@pytest.mark.parametrize("alias", [name for name in ALIASES if resolve(name)[0] in known_keys()])
@pytest.mark.promise("P11")
def test_a_project_may_set_no_more_through_an_alias(workspace: Path, alias: str) -> None:
    rule = known_keys()[resolve(alias)[0]].rule
    value: Any = {"x": "y"} if rule.kind == "dict" else 7 if rule.kind in ("int", "float") else "gemini"
    project_file(workspace, json.dumps({alias: value}))
    refused = False
    try:
        load(Workspace.at(workspace))
    except SettingsError:
        refused = True
    assert refused is (rule.project == "no")


def test_the_settings_of_openclaw_are_translated() -> None:
    data = {
        "gateway": {"port": 1},
        "agents": {
            "defaults": {
                "workspace": "~/x",
                "memorySearch": {
                    "provider": "openai",
                    "model": None,
                    "remote": {"batch": {"pollIntervalMs": 5000}},
                    "experimental": {"sessionMemory": True},
                },
            },
            "list": [{"id": "work"}],
        },
        "memory": {"citations": "on"},
    }
    assert translate(data) == (
        {
            "embeddings.provider": "openai",
            "embeddings.batch.poll_seconds": 5.0,
            "sources": ["memory", "sessions"],
            "citations": "on",
        },
        [],
    )


def test_what_cannot_be_translated_is_said() -> None:
    settings, left_out = translate(
        {"provider": "github-copilot", "query": {"maxResults": 4}, "dreams": 1, "multimodal": True}
    )
    assert settings == {"query.max_results": 4}
    assert [sentence.split(" from ")[0] for sentence in left_out] == [
        "setting 'embeddings.provider'",
        "unknown setting 'dreams'",
        "multimodal has no effect: only text is indexed",
    ]


@pytest.mark.parametrize("data", [{}, {"agents": 3}, {"memory": None}, {1: 2}, {"agents": {"defaults": []}}])
def test_anything_can_be_translated(data: Any) -> None:
    assert translate(data)[0] == {}


def test_what_is_translated_can_be_loaded() -> None:
    settings, _ = translate({"memorySearch": {"query": {"maxResults": 4}, "chunkSize": 400}})
    assert changed(load(overrides=settings).settings) == {"query.max_results": 4, "chunking.tokens": 100}


def test_the_alias_that_set_a_value_is_shown(cli: Cli, workspace: Path) -> None:
    path = user_file("memory: {search: {maxResults: 9}}\n")
    shown = cli("config", "show", "query.max_results", "-w", workspace, "--json").json
    origin = f"user file {path}, as memory.search.maxResults"
    assert shown == {"query.max_results": {"value": 9, "origin": origin}}
    assert origin in cli("config", "show", "-w", workspace).out


def test_the_profile_of_the_original_keeps_its_least_score() -> None:
    assert load(overrides={"profile": "openclaw"}).settings.query.min_score == 0.35


@pytest.mark.parametrize("name", ["max_injected_chars", "memory.max_injected_chars"])
def test_the_limit_of_injected_characters_is_that_of_the_tools(name: str) -> None:
    assert resolve(name) == ("tools.max_chars", None)
