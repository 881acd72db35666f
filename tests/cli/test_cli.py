"""Every command does what it says, for people and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memlines import __version__
from memlines.settings import load
from tests.memories import write
from tests.programs import Cli
from tests.settings.test_settings import user_file

NOTES = {
    "MEMORY.md": "# Memory\n\nWe like the heron.\n",
    "memory/a.md": "# Birds\n\n## Kestrel\nThe kestrel lives here.\nIt hunts mice.\n",
}


@pytest.fixture
def notes(workspace: Path) -> Path:
    """A workspace with two notes."""
    write(workspace, NOTES)
    return workspace


# memlines


def test_version(cli: Cli) -> None:
    assert cli("--version").out == f"memlines, version {__version__}\n"


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help(cli: Cli, option: str) -> None:
    outcome = cli(option)
    assert outcome.code == 0
    assert "Find the lines that answer a question." in outcome.out


def test_without_a_command_the_help_is_shown(cli: Cli) -> None:
    outcome = cli()
    assert outcome.code == 2
    assert "Commands:" in outcome.out + outcome.err


# init


def test_init_makes_a_workspace(cli: Cli, tmp_path: Path) -> None:
    outcome = cli("init", tmp_path / "deep/notes")
    assert outcome.code == 0
    assert (tmp_path / "deep/notes/MEMORY.md").read_text(encoding="utf-8").startswith("# Memory\n")
    assert (tmp_path / "deep/notes/memory").is_dir()
    assert (tmp_path / "deep/notes/.memory/.gitignore").read_text(encoding="utf-8") == "*\n"


def test_init_begins_here_unless_told_otherwise(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli("init").code == 0
    assert (tmp_path / "MEMORY.md").is_file()


def test_init_below_a_workspace_makes_another(cli: Cli, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (notes / "below").mkdir()
    monkeypatch.chdir(notes / "below")
    assert cli("init").code == 0
    assert (notes / "below/MEMORY.md").is_file()


def test_init_takes_the_folder_as_an_option_too(cli: Cli, tmp_path: Path) -> None:
    assert cli("init", "--workspace", tmp_path / "notes").code == 0
    assert (tmp_path / "notes/MEMORY.md").is_file()


def test_init_twice_changes_nothing(cli: Cli, tmp_path: Path) -> None:
    cli("init", tmp_path)
    before = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*")}
    outcome = cli("init", tmp_path)
    assert (outcome.code, {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*")}) == (0, before)
    assert "nothing to do" in outcome.out


@pytest.mark.parametrize("name", ["MEMORY.md", "memory.md"])
def test_init_leaves_existing_notes_alone(cli: Cli, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine\n", encoding="utf-8")
    cli("init", tmp_path)
    assert [(file.name, file.read_text(encoding="utf-8")) for file in tmp_path.glob("*.md")] == [
        (name, "mine\n")
    ]


def test_init_as_json(cli: Cli, tmp_path: Path) -> None:
    assert cli("init", tmp_path, "--json").json == {
        "workspace": str(tmp_path.resolve()),
        "made": ["memory/", "MEMORY.md"],
    }


# sync


def test_sync(cli: Cli, notes: Path) -> None:
    outcome = cli("sync", "-w", notes)
    assert (outcome.code, outcome.out, outcome.err) == (0, "2 indexed, 0 unchanged, 0 removed\n", "")


def test_sync_forced(cli: Cli, notes: Path) -> None:
    cli("sync", "-w", notes)
    assert "Index rebuilt: forced\n2 indexed" in cli("sync", "-w", notes, "--force").out


def test_sync_lists_what_it_skipped(cli: Cli, notes: Path) -> None:
    (notes / "memory/binary.md").write_bytes(b"\0\1")
    outcome = cli("sync", "-w", notes)
    assert outcome.code == 0
    assert "1 skipped" in outcome.out
    assert "memory/binary.md is binary" in outcome.out


def test_sync_as_json(cli: Cli, notes: Path) -> None:
    assert cli("sync", "-w", notes, "--json").json == {
        "indexed": ["MEMORY.md", "memory/a.md"],
        "unchanged": 0,
        "removed": [],
        "pending": 0,
        "skipped": [],
        "failed": [],
        "rebuilt": "",
        "warnings": [],
        "held_back": 0,
        "switched": "",
        "unindexed": 0,
        "vectors_made": 0,
        "vectors_cached": 0,
    }


# search


def test_search(cli: Cli, notes: Path) -> None:
    outcome = cli("search", "-w", notes, "kestrel")
    first, *rest = outcome.out.splitlines()
    assert outcome.code == 0
    assert first.endswith("  memory/a.md#L4-L5  Birds > Kestrel")
    assert "      The kestrel lives here." in rest


def test_search_joins_its_words(cli: Cli, notes: Path) -> None:
    joined = cli("search", "-w", notes, "--json", "where", "kestrel", "lives").json
    assert joined == cli("search", "-w", notes, "--json", "where kestrel lives").json


def test_search_says_why(cli: Cli, notes: Path) -> None:
    assert "words: kestrel; lexical 0." in cli("search", "-w", notes, "--why", "kestrel submarine").out


def test_search_that_finds_nothing_is_no_error(cli: Cli, notes: Path) -> None:
    outcome = cli("search", "-w", notes, "submarine")
    assert (outcome.code, outcome.out) == (0, "Nothing in memory answers this. Try other words.\n")


def test_search_in_an_empty_workspace_hints_at_init(cli: Cli, workspace: Path) -> None:
    outcome = cli("search", "-w", workspace, "kestrel")
    assert (outcome.code, outcome.out) == (0, "Nothing in memory answers this. Try other words.\n")
    assert "Warning: there are no notes" in outcome.err
    assert not (workspace / ".memory").exists()


def test_search_as_json(cli: Cli, notes: Path) -> None:
    outcome = cli("search", "-w", notes, "--json", "kestrel")
    answer = outcome.json
    assert list(answer) == [
        "results",
        "confident",
        "likelihood",
        "provider",
        "model",
        "fallback",
        "citations",
        "mode",
        "as_of",
        "pending",
        "unindexed",
        "corrections",
        "aliases",
        "missing_sources",
        "nearest",
        "warnings",
    ]
    assert list(answer["results"][0]) == [
        "path",
        "start_line",
        "end_line",
        "score",
        "snippet",
        "band",
        "source",
        "scope",
        "citation",
        "heading",
        "chunk_start_line",
        "chunk_end_line",
        "why",
    ]
    assert list(answer["results"][0]["why"]) == [
        "words",
        "lexical",
        "vector",
        "fusion",
        "by_words",
        "days",
        "reranked",
    ]
    assert answer["results"][0]["citation"] == "memory/a.md#L4-L5"
    assert (answer["provider"], answer["mode"]) == ("none", "words")


def test_search_as_json_is_one_line_in_a_pipe(cli: Cli, notes: Path) -> None:
    assert cli("search", "-w", notes, "--json", "kestrel").out.count("\n") == 1


def test_search_for_nothing_as_json_is_an_empty_list(cli: Cli, notes: Path) -> None:
    assert cli("search", "-w", notes, "--json", "submarine").json["results"] == []


@pytest.mark.parametrize(("asked", "given"), [("1", 1), ("5", 2), ("1000", 2)])
def test_search_max_results(cli: Cli, notes: Path, asked: str, given: int) -> None:
    arguments = ("search", "-w", notes, "--json", "--max-results", asked, "--min-score", "0")
    assert len(cli(*arguments, "kestrel heron").json["results"]) == given


def test_search_min_score(cli: Cli, notes: Path) -> None:
    few = cli("search", "-w", notes, "--json", "--min-score", "0.5", "heron heron kestrel mice").json
    every = cli("search", "-w", notes, "--json", "--min-score", "0", "heron heron kestrel mice").json
    assert len(few["results"]) < len(every["results"])


def test_search_in_a_source(cli: Cli, notes: Path) -> None:
    told = cli("search", "-w", notes, "--json", "--source", "sessions", "kestrel").json
    assert (told["results"], told["missing_sources"]) == ([], ["sessions"])
    assert (
        "no sessions are indexed. Set sources" in cli("search", "-w", notes, "--source", "sessions", "x").err
    )
    assert len(cli("search", "-w", notes, "--json", "--source", "memory", "kestrel").json["results"]) == 1


def test_search_for_something_that_looks_like_an_option(cli: Cli, notes: Path) -> None:
    assert len(cli("search", "-w", notes, "--", "--kestrel").out.splitlines()) > 1


# get


def test_get(cli: Cli, notes: Path) -> None:
    outcome = cli("get", "-w", notes, "memory/a.md", "--from", "4", "--lines", "1")
    assert (outcome.code, outcome.out) == (0, "The kestrel lives here.\n")


@pytest.mark.parametrize(
    ("citation", "text"),
    [
        ("memory/a.md#L4", "The kestrel lives here.\n"),
        ("memory/a.md#L4-L5", "The kestrel lives here.\nIt hunts mice.\n"),
        ("memory/a.md#L4-5", "The kestrel lives here.\nIt hunts mice.\n"),
    ],
)
def test_get_of_a_citation(cli: Cli, notes: Path, citation: str, text: str) -> None:
    assert cli("get", "-w", notes, citation).out == text


def test_get_from_a_line_wins_over_the_citation(cli: Cli, notes: Path) -> None:
    assert cli("get", "-w", notes, "memory/a.md#L1-L2", "--from", "5").out == "It hunts mice.\n"


def test_get_of_what_search_cited(cli: Cli, notes: Path) -> None:
    hit = cli("search", "-w", notes, "--json", "kestrel").json["results"][0]
    assert hit["snippet"] in cli("get", "-w", notes, hit["citation"]).out


def test_get_says_where_to_go_on(cli: Cli, notes: Path) -> None:
    write(notes, {"long.md": "\n".join(f"line {number}" for number in range(1, 200))})
    outcome = cli("get", "-w", notes, "memory/long.md")
    assert outcome.out.endswith("line 120\n")
    assert outcome.err == "[more: memlines get memory/long.md --from 121]\n"


def test_get_of_a_note_that_does_not_exist(cli: Cli, notes: Path) -> None:
    outcome = cli("get", "-w", notes, "memory/none.md")
    assert (outcome.code, outcome.out, outcome.err) == (1, "", "Error: memory/none.md does not exist\n")


def test_get_names_the_note_that_was_meant(cli: Cli, notes: Path) -> None:
    write(notes, {"decisions.md": "- We chose Postgres\n"})
    assert "Did you mean 'memory/decisions.md'?" in cli("get", "-w", notes, "decisions.md#L1").err
    assert "not exist. Did you mean memory/decisions.md?" in cli("get", "-w", notes, "memory/decision.md").err


def test_get_of_a_note_that_does_not_exist_as_json(cli: Cli, notes: Path) -> None:
    outcome = cli("get", "-w", notes, "memory/none.md", "--json")
    assert outcome.code == 1
    assert outcome.json == {
        "path": "memory/none.md",
        "text": "",
        "from": 1,
        "lines": 0,
        "found": False,
        "truncated": False,
        "next_from": None,
        "next_column": None,
        "total_lines": 0,
    }


def test_get_as_json(cli: Cli, notes: Path) -> None:
    assert cli("get", "-w", notes, "memory/a.md#L4", "--json").json == {
        "path": "memory/a.md",
        "text": "The kestrel lives here.",
        "from": 4,
        "lines": 1,
        "found": True,
        "truncated": True,
        "next_from": 5,
        "next_column": None,
        "total_lines": 5,
    }


# status


def test_status_before_anything_was_indexed(cli: Cli, notes: Path) -> None:
    outcome = cli("status", "-w", notes)
    assert outcome.code == 0
    assert "last sync  never" in outcome.out
    assert "text goes  nowhere: text stays on this machine" in outcome.out
    assert not (notes / ".memory").exists()


def test_status_of_a_workspace(cli: Cli, notes: Path) -> None:
    cli("sync", "-w", notes)
    outcome = cli("status", "-w", notes)
    assert f"workspace  {notes.resolve()}" in outcome.out
    assert "files      2 files, 2 chunks" in outcome.out
    assert "model      none: search by words" in outcome.out


def test_status_lists_what_is_not_indexed(cli: Cli, notes: Path) -> None:
    (notes / "memory/binary.md").write_bytes(b"\0\1")
    cli("sync", "-w", notes)
    assert "Skipped:\n  memory/binary.md is binary" in cli("status", "-w", notes).out


def test_status_as_json(cli: Cli, notes: Path) -> None:
    cli("sync", "-w", notes)
    status = cli("status", "-w", notes, "--json").json
    assert (status["files"], status["chunks"], status["provider"]) == (2, 2, "none")
    assert status["workspace"] == str(notes.resolve())
    assert status["skipped"] == status["failed"] == []


# config


def test_config_show(cli: Cli, notes: Path) -> None:
    lines = cli("config", "show", "-w", notes).out.splitlines()
    row = next(line for line in lines if line.startswith("embeddings.provider "))
    assert row.split(maxsplit=2)[1:] == ['"none"', "environment variable MEMLINES_EMBEDDINGS__PROVIDER"]


def test_config_show_of_one_key(cli: Cli, notes: Path) -> None:
    outcome = cli("config", "show", "query.max_results", "-w", notes)
    assert outcome.out.split() == ["query.max_results", "6", "default"]


def test_config_show_of_a_group(cli: Cli, notes: Path) -> None:
    keys = [line.split()[0] for line in cli("config", "show", "query.mmr", "-w", notes).out.splitlines()]
    assert keys == ["query.mmr.enabled", "query.mmr.lambda"]


def test_config_show_as_json(cli: Cli, notes: Path) -> None:
    shown = cli("config", "show", "query.mmr", "-w", notes, "--json").json
    assert shown == {
        "query.mmr.enabled": {"value": False, "origin": "default"},
        "query.mmr.lambda": {"value": 0.7, "origin": "default"},
    }


def test_config_show_says_why_the_fusion_is_weighted(cli: Cli, notes: Path) -> None:
    (notes / ".memory").mkdir(exist_ok=True)
    file = (notes / ".memory/config.yaml").resolve()
    file.write_text("query: {hybrid: {vector_weight: 0.6}}\n", encoding="utf-8")
    line = cli("config", "show", "query.fusion", "-w", notes).out
    assert line.split(maxsplit=2)[1:] == [
        '"weighted"',
        f"because query.hybrid.vector_weight is set in project file {file}\n",
    ]


@pytest.mark.parametrize(
    "command", [("config", "show"), ("config", "show", "--json"), ("status",), ("doctor",)]
)
def test_weights_without_an_effect_are_warned_of(cli: Cli, notes: Path, command: tuple[str, ...]) -> None:
    (notes / ".memory").mkdir(exist_ok=True)
    text = "query: {fusion: evidence, hybrid: {vector_weight: 0.6}}\n"
    (notes / ".memory/config.yaml").write_text(text, encoding="utf-8")
    outcome = cli(*command, "-w", notes)
    said = " ".join(f"{outcome.out} {outcome.err}".split())
    assert said.count("has no effect, because query.fusion is evidence") == 1


@pytest.mark.parametrize("provider", ["builtin", "none"])
@pytest.mark.parametrize(
    "command", [("config", "show"), ("config", "show", "--json"), ("status",), ("doctor",)]
)
def test_a_model_and_an_address_without_an_effect_are_warned_of(
    cli: Cli, notes: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], provider: str
) -> None:
    monkeypatch.setenv("MEMLINES_EMBEDDINGS__PROVIDER", provider)
    user_file("embeddings: {model: text-embedding-3-small, base_url: 'http://127.0.0.1:1/v1'}\n")
    outcome = cli(*command, "-w", notes)
    said = " ".join(f"{outcome.out} {outcome.err}".split())
    assert said.count(f"has no effect, because embeddings.provider is {provider}") == 2


def test_the_model_of_the_builtin_provider_may_be_named() -> None:
    own = {"embeddings.provider": "builtin", "embeddings.model": "use-multilingual-v3"}
    assert load(overrides=own).warnings == ()
    assert load(overrides={**own, "embeddings.provider": "ollama"}).warnings == ()


def test_config_trust(cli: Cli, notes: Path) -> None:
    (notes / ".memory").mkdir()
    file = (notes / ".memory/config.yaml").resolve()
    file.write_text("extra_paths: [docs]\n", encoding="utf-8")
    assert cli("status", "-w", notes).code == 3
    trusted = cli("config", "trust", "-w", notes, "--json").json
    assert (trusted["file"], trusted["trusted"], len(trusted["sha256"])) == (str(file), True, 64)
    assert cli("status", "-w", notes).code == 0
    revoked = {"file": str(file), "trusted": False}
    assert cli("config", "trust", "-w", notes, "--revoke", "--json").json == {**revoked, "files": [revoked]}
    assert cli("status", "-w", notes).code == 3


def test_config_trust_in_words(cli: Cli, notes: Path) -> None:
    (notes / ".memory").mkdir()
    (notes / ".memory/config.yaml").write_text("extra_paths: [docs]\n", encoding="utf-8")
    assert "is trusted as it is now" in cli("config", "trust", "-w", notes).out
    assert "is no longer trusted" in cli("config", "trust", "--revoke", "-w", notes).out
    assert "was not trusted" in cli("config", "trust", "--revoke", "-w", notes).out


# Which workspace


def test_the_workspace_is_the_nearest_one_above(
    cli: Cli, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (notes / "src/deep").mkdir(parents=True)
    monkeypatch.chdir(notes / "src/deep")
    assert len(cli("search", "--json", "kestrel").json["results"]) == 1


def test_a_folder_with_an_index_is_a_workspace_too(
    cli: Cli, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(workspace, {"a.md": "The kestrel.\n"})
    cli("sync", "-w", workspace)
    (workspace / "src").mkdir()
    monkeypatch.chdir(workspace / "src")
    assert len(cli("search", "--json", "kestrel").json["results"]) == 1


def test_without_a_workspace_above_this_folder_is_it(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli("status", "--json").json["workspace"] == str(tmp_path.resolve())


def test_the_option_wins_over_the_nearest_workspace(
    cli: Cli, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "other", {"MEMORY.md": "A submarine.\n"})
    monkeypatch.chdir(notes)
    assert cli("status", "-w", tmp_path / "other", "--json").json["workspace"].endswith("other")


def test_the_workspace_may_be_named_relatively(
    cli: Cli, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(notes.parent)
    assert cli("status", "--workspace", notes.name, "--json").json["workspace"] == str(notes.resolve())


def test_json_keeps_every_letter(cli: Cli, notes: Path) -> None:
    write(notes, {"wide.md": "数据库 naïve 😀 kestrel42\n"})
    outcome = cli("search", "-w", notes, "--json", "kestrel42")
    assert json.loads(outcome.out)["results"][0]["snippet"] == "数据库 naïve 😀 kestrel42"


def test_init_in_the_home_of_nobody_takes_the_name_as_it_is(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli("init", "~nobody-of-this-name/notes").code == 0
    assert (tmp_path / "~nobody-of-this-name/notes/MEMORY.md").is_file()
