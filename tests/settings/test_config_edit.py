"""`config get`, `set`, `unset` and `path`: one setting changes, and nothing else in its file."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.errors import SettingsError, UsageError
from memlines.paths import Workspace, user_config_file
from memlines.settings import is_trusted, load, trust
from memlines.settings.loading import settings_in
from memlines.settings.yaml_text import with_value, without
from tests.programs import Cli
from tests.settings.test_settings import project_file, user_file


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, workspace: Path) -> Cli:
    monkeypatch.chdir(workspace)
    return Cli(capsys)


def content() -> str:
    return user_config_file().read_bytes().decode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "query:\n  max_results: 5\n"),
        ("# mine\n", "# mine\nquery:\n  max_results: 5\n"),
        ("agent: a", "agent: a\nquery:\n  max_results: 5\n"),
        ("query:\n  maxResults: 9 # few\n", "query:\n  maxResults: 5 # few\n"),
        ("query:\n", "query:\n  max_results: 5\n"),
        ("query: # mine\n# end\n", "query: # mine\n  max_results: 5\n# end\n"),
        ("query:\n  max_results:\nagent: a\n", "query:\n  max_results: 5\nagent: a\n"),
        (
            "query:\n    mmr:\n        enabled: true # yes\n\n# next\nagent: a\n",
            "query:\n    mmr:\n        enabled: true # yes\n    max_results: 5\n\n# next\nagent: a\n",
        ),
        ("query: {min_score: 0.1} # x\n", "query: {min_score: 0.1, max_results: 5} # x\n"),
        ("query: {}\n", "query: {max_results: 5}\n"),
        ("{}\n", "{query: {max_results: 5}}\n"),
        ('{\n\t"agent": "a"\n}\n', '{\n\t"agent": "a", "query": {"max_results": 5}\n}\n'),
        ("memory: {search: {maxResults: 9}}\n", "memory: {search: {maxResults: 5}}\n"),
        ("query.max_results: 9\n", "query.max_results: 5\n"),
        ("---\nagent: a\r\nquery:\r\n", "---\nagent: a\r\nquery:\r\n  max_results: 5\r\n"),
        ("\ufeffagent: a\n", "\ufeffagent: a\nquery:\n  max_results: 5\n"),
    ],
)
def test_a_number_is_set_and_the_rest_stays(cli: Cli, before: str, after: str) -> None:
    user_config_file().write_bytes(before.encode())
    outcome = cli("config", "set", "query.max_results", "5")
    assert (outcome.code, content()) == (0, after)
    assert load().settings.query.max_results == 5


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("sources:\n- memory\n- sessions # too\nagent: a\n", "sources: [memory] # too\nagent: a\n"),
        ("sources: [sessions]\n", "sources: [memory]\n"),
        ("sources:\n  - sessions\n", "sources: [memory]\n"),
    ],
)
def test_a_list_is_written_on_one_line(cli: Cli, before: str, after: str) -> None:
    user_file(before)
    cli("config", "set", "sources", "memory")
    assert content() == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("agent: a # me\nprofile: openclaw\n", "profile: openclaw\n"),
        ("profile: openclaw\nagent: a", "profile: openclaw\n"),
        ("{agent: a, profile: openclaw}\n", "{profile: openclaw}\n"),
        ("{profile: openclaw, agent: a}\n", "{profile: openclaw}\n"),
        ("# mine\nagent: a\n", "# mine\n"),
        ("memory:\n  agent: a\nprofile: openclaw\n", "memory:\nprofile: openclaw\n"),
    ],
)
def test_a_setting_is_taken_out_and_the_rest_stays(cli: Cli, before: str, after: str) -> None:
    user_file(before)
    assert cli("config", "unset", "agent").code == 0
    assert content() == after


def test_what_is_so_already_is_not_written(cli: Cli) -> None:
    user_file("agent:   a\n")
    assert cli("config", "set", "agent", "a", "--json").json["changed"] is False
    assert cli("config", "unset", "profile", "--json").json["changed"] is False
    assert content() == "agent:   a\n"


@pytest.mark.parametrize(
    ("name", "text", "key", "value"),
    [
        ("memory.search.maxResults", "5", "query.max_results", 5),
        ("provider", "none", "embeddings.provider", "none"),
        ("chunkSize", "2048", "chunking.tokens", 512),
        ("remote.batch.pollIntervalMs", "5000", "embeddings.batch.poll_seconds", 5.0),
        ("citations", "on", "citations", "on"),
        ("query.minScore", "0.2", "query.min_score", 0.2),
        ("sources", "[memory, sessions]", "sources", ("memory", "sessions")),
        ("enabled", "off", "enabled", False),
        ("embeddings.headers", "X-A=1,X-B=2", "embeddings.headers", (("X-A", "1"), ("X-B", "2"))),
        ("agent", "yes", "agent", "yes"),
        ("timezone", "Europe/Amsterdam", "timezone", "Europe/Amsterdam"),
    ],
)
def test_values_are_read_by_the_kind_of_their_key(
    cli: Cli, name: str, text: str, key: str, value: object
) -> None:
    assert cli("config", "set", name, text).code == 0
    assert settings_in(user_config_file().read_bytes(), "test") == {key: value}


def test_an_alias_that_counts_something_else_gives_way_to_the_key(cli: Cli) -> None:
    user_file("memory:\n  chunkSize: 2048\n  citations: off\n")
    cli("config", "set", "chunking.tokens", "300")
    assert content() == "memory:\n  citations: off\nchunking:\n  tokens: 300\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("query.max_results", "many"),
        ("query.max_results", "0"),
        ("query.min_score", "7"),
        ("query.min_score", "nan"),
        ("embeddings.provider", "acme"),
        ("sources", "web"),
        ("query.maxResult", "5"),
        ("query", "5"),
        ("memory", "5"),
        ("experimental.sessionMemory", "true"),
        ("store.path", "{x}"),
    ],
)
def test_what_is_wrong_changes_nothing(cli: Cli, name: str, text: str) -> None:
    user_file("agent: a\n")
    outcome = cli("config", "set", name, text)
    assert (outcome.code, content()) == (SettingsError.exit_code, "agent: a\n")


def test_a_file_that_cannot_be_read_stays_as_it_is(cli: Cli) -> None:
    user_file("nosuch: 1\n")
    assert cli("config", "set", "agent", "a").code == SettingsError.exit_code
    assert content() == "nosuch: 1\n"


@pytest.mark.skipif(os.name == "nt", reason="there are no such permissions")
@pytest.mark.parametrize("exists", [False, True])
def test_the_users_file_is_closed_to_others(cli: Cli, exists: bool) -> None:
    if exists:
        user_file("agent: b\n").chmod(0o644)
    cli("config", "set", "agent", "a")
    assert stat.S_IMODE(user_config_file().stat().st_mode) == 0o600
    assert [file.name for file in user_config_file().parent.iterdir()] == ["config.yaml"]


def test_a_linked_file_of_the_user_stays_a_link(cli: Cli, tmp_path: Path) -> None:
    target = tmp_path / "dotfiles.yaml"
    target.write_text("agent: b\n", encoding="utf-8")
    user_config_file().symlink_to(target)
    cli("config", "set", "agent", "a")
    assert user_config_file().is_symlink()
    assert target.read_text(encoding="utf-8") == "agent: a\n"


def test_a_secret_is_written_and_never_shown(cli: Cli) -> None:
    outcome = cli("config", "set", "embeddings.apiKey", "sk-secret")
    assert "sk-secret" not in outcome.out + outcome.err
    assert "${VARIABLE}" in outcome.err
    assert load().settings.embeddings.api_key == "sk-secret"
    assert cli("config", "get", "remote.apiKey").out == "***\n"


def test_a_reference_is_no_secret_in_the_file(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", "sk-secret")
    outcome = cli("config", "set", "embeddings.api_key", "${KEY}")
    assert (outcome.code, outcome.err) == (0, "")
    assert content() == "embeddings:\n  api_key: '${KEY}'\n"


def test_a_reference_to_a_variable_that_is_not_set_is_written_and_told(cli: Cli) -> None:
    outcome = cli("config", "set", "embeddings.api_key", "${KEY}")
    assert (outcome.code, content()) == (0, "embeddings:\n  api_key: '${KEY}'\n")
    assert "needs the environment variable KEY" in outcome.err


def test_json_with_comments_is_left_to_its_writer(cli: Cli) -> None:
    user_file("{agent: 'a'} // mine\n")
    outcome = cli("config", "set", "profile", "openclaw")
    assert outcome.code == SettingsError.exit_code
    assert "Change profile in it by hand" in outcome.err
    assert content() == "{agent: 'a'} // mine\n"


def test_what_overrules_the_file_is_told(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMLINES_AGENT", "b")
    assert (
        "as long as environment variable MEMLINES_AGENT sets agent" in cli("config", "set", "agent", "a").err
    )


@pytest.mark.parametrize(
    ("key", "value"), [("query.hybrid.vector_weight", "0.9"), ("chunking.overlap", "500")]
)
def test_a_value_that_is_fitted_to_another_has_an_effect(cli: Cli, key: str, value: str) -> None:
    assert cli("config", "set", key, value).err == ""
    assert cli("config", "set", key, value, "--project").err == ""


def test_a_projects_file_is_written_on_request(cli: Cli, workspace: Path) -> None:
    file = Workspace.at(workspace).config_file
    assert cli("config", "set", "query.max_results", "5", "--project").code == 0
    assert file.read_text(encoding="utf-8") == "query:\n  max_results: 5\n"
    assert not user_config_file().exists()
    assert cli("config", "unset", "query.max_results", "--project", "--json").json == {
        "key": "query.max_results",
        "file": str(file),
        "changed": True,
    }


def test_a_projects_file_may_not_be_given_more_than_it_may_set(cli: Cli, workspace: Path) -> None:
    file = project_file(workspace, "chunking: {tokens: 200}\n")
    outcome = cli("config", "set", "provider", "openai", "--project")
    assert outcome.code == SettingsError.exit_code
    assert "which a project may not do" in outcome.err
    assert file.read_text(encoding="utf-8") == "chunking: {tokens: 200}\n"


def test_a_trusted_file_of_a_project_takes_everything_and_stays_trusted(cli: Cli, workspace: Path) -> None:
    file = project_file(workspace, "agent: a\n")
    trust(file)
    assert cli("config", "set", "provider", "none", "--project").code == 0
    assert is_trusted(file)
    assert load(Workspace.at(workspace)).settings.embeddings.provider == "none"


def test_a_trusted_file_of_a_project_is_still_refused_what_only_the_users_own_may_set(
    cli: Cli, workspace: Path
) -> None:
    file = project_file(workspace, "agent: a\n")
    trust(file)
    outcome = cli("config", "set", "qmd.command", "/bin/qmd", "--project")
    assert (outcome.code, "which only your own file may do" in outcome.err) == (SettingsError.exit_code, True)
    assert file.read_text(encoding="utf-8") == "agent: a\n"


def test_a_workspace_goes_with_the_projects_file(cli: Cli, workspace: Path) -> None:
    assert cli("config", "set", "agent", "a", "-w", workspace).code == UsageError.exit_code
    assert not user_config_file().exists()


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("query.max_results", "6"),
        ("memory.search.maxResults", "6"),
        ("agent", "main"),
        ("enabled", "true"),
        ("sources", '["memory"]'),
        ("embeddings.model", ""),
    ],
)
def test_a_value_is_printed_alone(cli: Cli, name: str, printed: str) -> None:
    assert cli("config", "get", name).out == f"{printed}\n"


def test_a_value_is_printed_with_its_key_and_origin(cli: Cli) -> None:
    path = user_file("memory: {search: {maxResults: 9}}\n")
    origin = f"user file {path}, as memory.search.maxResults"
    result = cli("config", "get", "search.maxResults", "--json").json
    assert result == {"key": "query.max_results", "value": 9, "origin": origin}


def test_the_paths_of_the_files_are_printed(cli: Cli, workspace: Path) -> None:
    user = user_file("agent: a\n")
    lines = cli("config", "path").out.splitlines()
    assert [line.split()[:2] for line in lines] == [
        ["user", str(user)],
        ["opencode", str(workspace / ".opencode" / "config.yaml")],
        ["project", str(workspace / ".memory" / "config.yaml")],
    ]
    assert [line.endswith("(does not exist)") for line in lines] == [False, True, True]


def test_the_paths_of_the_files_are_data(cli: Cli, workspace: Path) -> None:
    result = cli("config", "path", "--json").json
    assert result["user"] == {"file": str(user_config_file()), "exists": False}
    assert result["workspace"] == {"folder": str(workspace), "origin": "the current folder"}


TEXTS = [
    "",
    "# a\nquery:\n  hybrid: {enabled: true} # b\n  mmr:\n    enabled: false\n\nagent: x\n",
    "memory:\n  search:\n    maxResults: 3\n  extraPaths:\n  - a\n  - b # c\nagents:\n  w: {backend: qmd}\n",
    "{agent: x, query: {mmr: {enabled: true}}}\n",
    "facts: {uri: 'it''s'}\ntimezone: |\n  UTC\nstore:\n",
]
CHANGES = [
    ("query.max_results", 5),
    ("query.mmr.enabled", True),
    ("query.hybrid.enabled", False),
    ("extra_paths", ("a, b", "c: d", "#e", "'")),
    ("facts.uri", "s3://x # y: {z}"),
    ("timezone", "Europe/Amsterdam"),
    ("agent", "true"),
    ("embeddings.headers", (("X-A", "1: 2"),)),
    ("store.vector.enabled", False),
]


@given(st.sampled_from(TEXTS), st.lists(st.sampled_from(CHANGES), max_size=6))
def test_any_changes_set_what_was_meant_and_can_be_taken_back(
    text: str, changes: list[tuple[str, object]]
) -> None:
    expected = settings_in(text.encode(), "test")
    for key, value in changes:
        text = with_value(text, key, value)
        expected[key] = value
        assert settings_in(text.encode(), "test") == expected
    for key, _ in changes:
        text = without(text, key)
        expected.pop(key, None)
        assert settings_in(text.encode(), "test") == expected
