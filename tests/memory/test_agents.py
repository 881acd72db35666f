"""Agents of one workspace: settings of their own, an index of their own, and one forgetting for all."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from memlines import Memory
from memlines.admin.doctor.examine import examine
from memlines.errors import SettingsError
from memlines.paths import Workspace, user_config_file
from memlines.serve.hooks import thin
from memlines.settings import list_settings, load, trust
from tests.memories import WORDS_ONLY
from tests.memory.forgetting import DAY, Home, home_in
from tests.programs import Cli
from tests.serve.rpc import engine
from tests.settings.test_settings import project_file, user_file

RESEARCH = """
extra_paths: [/shared]
query: {max_results: 8}
agents:
  research:
    query: {maxResults: 3}
    extra_paths: [/papers, /shared]
  empty:
"""


def settings_of(agent: str, workspace: Path | None = None) -> tuple[int, tuple[str, ...]]:
    settings = load(Workspace.at(workspace) if workspace else None, {"agent": agent}).settings
    return settings.query.max_results, settings.extra_paths


def refusal(workspace: Path | None = None, agent: str = "main") -> str:
    with pytest.raises(SettingsError) as caught:
        load(Workspace.at(workspace) if workspace else None, {"agent": agent})
    return str(caught.value)


# Settings


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        ("main", (8, ("/shared",))),
        ("research", (3, ("/shared", "/papers"))),
        ("empty", (8, ("/shared",))),
        ("other", (8, ("/shared",))),
    ],
)
def test_an_agent_has_settings_of_its_own(agent: str, expected: tuple[int, tuple[str, ...]]) -> None:
    user_file(RESEARCH)
    assert settings_of(agent) == expected


def test_the_origin_of_a_value_names_the_agent() -> None:
    path = user_file(RESEARCH)
    origins = {row.key: row.origin for row in list_settings(load(None, {"agent": "research"}))}
    assert origins["query.max_results"] == f"user file {path}, for agent research"
    assert origins["agent"] == "argument"


def test_a_later_place_wins_over_an_agent_of_an_earlier_one(workspace: Path) -> None:
    user_file(RESEARCH)
    project_file(workspace, "query: {max_results: 5}\nagents: {research: {query: {min_score: 0.1}}}")
    assert settings_of("research", workspace)[0] == 5
    loaded = load(Workspace.at(workspace), {"agent": "research", "query.max_results": 2})
    assert (loaded.settings.query.max_results, loaded.settings.query.min_score) == (2, 0.1)


def test_dotted_names_set_the_same() -> None:
    user_file("agents.research.query.max_results: 4\nagents.research: {query.min_score: 0.2}")
    query = load(None, {"agent": "research"}).settings.query
    assert (query.max_results, query.min_score) == (4, 0.2)


def test_the_list_of_openclaw_sets_the_same() -> None:
    user_file("agents: {list: [{id: research, model: big, memorySearch: {query: {maxResults: 4}}}, {id: x}]}")
    counts = [load(None, {"agent": agent}).settings.query.max_results for agent in ("research", "x", "main")]
    assert counts == [4, 6, 6]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("agents: {list: [{memorySearch: {}}]}", "agent name ''"),
        ("agents: {list: [3]}", "'agents.list.0' from user file"),
        ("agents: {research: {query: {maxResult: 1}}}", "nearest known one is 'query.max_results'"),
        ("agents: {research: {query: {max_results: many}}}", "for agent research is 'many'"),
        ("agents: {research: {agent: other}}", "would choose the agent that it belongs to"),
        ("agents: {../x: {enabled: true}}", "agent name '../x'"),
        ("agents: {.x: {enabled: true}}", "agent name '.x'"),
        ("agents: [research]", "'agents' from user file"),
        ("agents: {research: 3}", "'agents.research' from user file"),
        (
            "agents: {a: {query.fusion: rrf}}\nagents.a.query.fusion: rrf",
            "'agents.a.query.fusion' is set twice",
        ),
        ("agent: a/b", "agent name 'a/b'"),
    ],
)
def test_what_is_wrong_below_agents_is_told(text: str, expected: str) -> None:
    user_file(text)
    with pytest.raises(SettingsError) as caught:
        load()
    assert expected in str(caught.value)


def test_the_name_of_an_agent_is_a_text() -> None:
    with pytest.raises(SettingsError, match="7 below 'agents' from argument"):
        load(None, {"agents": {7: {}}})


def test_a_project_may_set_no_more_for_an_agent_than_for_all(workspace: Path) -> None:
    project_file(workspace, "agents: {research: {query: {max_results: 4}, sources: [memory, sessions]}}")
    told = refusal(workspace)
    assert ("agents.research.sources," in told, "max_results" in told) == (True, False)
    trust(Workspace.at(workspace).config_file)
    assert load(Workspace.at(workspace), {"agent": "research"}).settings.sources == ("memory", "sessions")


def test_a_project_may_not_give_back_what_the_user_took_from_an_agent(workspace: Path) -> None:
    user_file("agents: {research: {snapshots: {max_messages: 5}}}")
    project_file(workspace, "snapshots: {max_messages: 10}")
    assert load(Workspace.at(workspace)).settings.snapshots.max_messages == 10
    assert "snapshots.max_messages," in refusal(workspace, "research")
    project_file(workspace, "agents: {research: {snapshots: {max_messages: 10}}}")
    assert "agents.research.snapshots.max_messages," in refusal(workspace)


# Indexes


def test_every_agent_but_main_has_an_index_of_its_own(workspace: Path) -> None:
    found = Workspace.at(workspace)
    names = [found.index_file("", agent).name for agent in ("main", "research", "v1.2_b-c")]
    assert names == ["index.sqlite", "index-research.sqlite", "index-v1.2_b-c.sqlite"]


def test_agents_with_different_settings_do_not_rebuild_each_others_index(workspace: Path) -> None:
    (workspace / "MEMORY.md").write_text("# Boats\n\nPetrel is a yawl.\n", encoding="utf-8")
    user_file("agents: {research: {chunking: {tokens: 50}}}")

    def sync(agent: str) -> str:
        with Memory(workspace, {**WORDS_ONLY, "agent": agent}) as memory:
            return memory.sync().rebuilt

    first = [sync(agent) for agent in ("main", "research")]
    assert [sync(agent) for agent in ("main", "research", "main", "research")] == [""] * 4, first
    names = {path.name for path in (workspace / ".memory").glob("index*.sqlite")}
    assert names == {"index.sqlite", "index-research.sqlite"}


@pytest.mark.parametrize(
    ("text", "agent", "expected"),
    [
        ("store: {path: idx/all.sqlite}", "main", "idx/all.sqlite"),
        ("store: {path: idx/all.sqlite}", "b", "idx/all-{agent}.sqlite"),
        ("store: {path: ~/all}", "b", "~/all-{agent}"),
        ("store: {path: 'idx/{agentId}.sqlite'}", "b", "idx/{agent}.sqlite"),
        ("store: {path: ''}", "b", ""),
        ("store: {path: x}\nagents: {b: {store: {path: own.sqlite}}}", "b", "own.sqlite"),
    ],
)
def test_no_agent_uses_the_index_of_another_unless_it_is_told_to(
    text: str, agent: str, expected: str
) -> None:
    user_file(text)
    assert load(None, {"agent": agent}).settings.store.path == expected


def agent_home(workspace: Path, agent: str) -> Home:
    home = home_in(workspace)
    home.given = {"agent": agent}
    with home.memory as memory:
        memory.sync()
    return home


@pytest.mark.parametrize("agent", ["research", "a.damaged-b", "x.rebuild-7"])
def test_forgetting_takes_it_out_of_the_indexes_of_all_agents(workspace: Path, agent: str) -> None:
    home = agent_home(workspace, agent)
    assert f".memory/index-{agent}.sqlite" in home.traces(below=".memory")
    home.given = {}
    with home.memory as memory:
        assert memory.forget(memory.forget_candidates(f"{DAY}#L4")).complete
    assert home.traces() == []


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("agents: {research: {store: {path: 'elsewhere/of-[b].sqlite'}}}", "elsewhere/of-[b].sqlite"),
        ("store: {path: elsewhere/all.sqlite}", "elsewhere/all-research.sqlite"),
    ],
)
def test_forgetting_knows_where_other_agents_keep_their_index(workspace: Path, text: str, place: str) -> None:
    user_file(text)
    home = agent_home(workspace, "research")
    assert home.traces(below="elsewhere") == [place]
    home.given = {}
    with home.memory as memory:
        assert memory.forget(memory.forget_candidates(f"{DAY}#L4")).complete
    assert home.traces() == []


def test_the_doctor_names_the_indexes_of_other_agents(workspace: Path) -> None:
    agent_home(workspace, "research")
    told = [found.message for found in examine(workspace, WORDS_ONLY).findings if found.check == "agents"]
    assert len(told) == 1
    assert told[0].startswith("index-research.sqlite (")


def test_agents_do_not_share_an_engine_of_hooks(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places = set()
    for agent in ("", "research", "writer"):
        monkeypatch.setenv("MEMLINES_AGENT", agent)
        places.add(thin.socket_file(str(workspace)))
    assert len(places) == 3


def test_the_table_of_facts_stays_with_the_main_agent(workspace: Path) -> None:
    pytest.importorskip("lancedb", reason="needs the extra 'facts'")
    settings = {**WORDS_ONLY, "facts.store": "lancedb"}
    with Memory(workspace, settings) as memory, Memory(workspace, {**settings, "agent": "b"}) as other:
        assert (memory.facts.stats().store, other.facts.stats().store) == ("lancedb", "index")


# The option


def test_the_option_chooses_the_agent_for_one_command(cli: Cli, workspace: Path) -> None:
    (workspace / "MEMORY.md").write_text("# Boats\n\nPetrel is a yawl.\n", encoding="utf-8")
    user_file("agents: {research: {query: {max_results: 3}}}")
    status = json.loads(cli("status", "--agent", "research", "-w", workspace, "--json").out)
    assert (status["agent"], Path(status["index_path"]).name) == ("research", "index-research.sqlite")
    shown_value = json.loads(
        cli("config", "show", "query.max_results", "--agent", "research", "-w", workspace, "--json").out
    )["query.max_results"]
    path = user_config_file()
    assert shown_value == {"value": 3, "origin": f"user file {path}, for agent research"}
    assert "MEMLINES_AGENT" not in os.environ
    assert json.loads(cli("status", "-w", workspace, "--json").out)["agent"] == "main"


def test_search_and_sync_of_an_agent_use_its_index(cli: Cli, workspace: Path) -> None:
    (workspace / "MEMORY.md").write_text("# Boats\n\nPetrel is a yawl.\n", encoding="utf-8")
    assert cli("sync", "--agent", "research", "-w", workspace).code == 0
    assert not (workspace / ".memory/index.sqlite").exists()
    assert "MEMORY.md#L" in cli("search", "yawl", "--agent", "research", "-w", workspace).out
    assert not (workspace / ".memory/index.sqlite").exists()


@pytest.mark.parametrize("name", ["../x", "", ".x", "a b"])
def test_a_name_that_is_no_agents_is_refused(cli: Cli, workspace: Path, name: str) -> None:
    outcome = cli("status", "--agent", name, "-w", workspace)
    assert (outcome.code, "agent name" in outcome.err) == (3, True)
    assert not (workspace / ".memory").exists()


def test_a_server_serves_the_agent_that_is_named(workspace: Path) -> None:
    (workspace / "MEMORY.md").write_text("# Boats\n\nPetrel is a yawl.\n", encoding="utf-8")
    with engine("--agent", "research", "-w", str(workspace)) as client:
        client.initialize()
        found = client.ask("tools/call", name="memory_search", arguments={"query": "yawl"})
        assert "MEMORY.md#L" in found["text"]
        assert client.ends() == 0
    assert [path.name for path in (workspace / ".memory").glob("index*.sqlite")] == ["index-research.sqlite"]


def test_the_server_for_mcp_takes_the_option(cli: Cli) -> None:
    assert "--agent NAME" in cli("mcp", "--help").out
