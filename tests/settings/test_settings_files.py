"""Settings files: what YAML is read, what a project may set, and how it is trusted."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from memlines.errors import SettingsError
from memlines.paths import Workspace, user_config_file, user_state_dir
from memlines.settings import Settings, distrust, is_trusted, load, trust
from memlines.settings.keys import known_keys
from tests.settings.test_settings import project_file, user_file

CAMEL_CASE = """
sources: [memory, sessions]
extraPaths: [../shared]
query:
  maxResults: 8
  minScore: 0.1
  hybrid: {vectorWeight: 0.5, textWeight: 0.5, candidateMultiplier: 3}
  temporalDecay: {enabled: true, halfLifeDays: 14}
sync:
  onSessionStart: false
  onSearch: false
  watchDebounceMs: 10
  sessions: {deltaBytes: 1, deltaMessages: 2}
cache: {maxEntries: 5}
"""


def test_the_camel_case_names_of_other_tools_are_read() -> None:
    user_file(CAMEL_CASE)
    settings = load().settings
    assert (settings.query.hybrid.candidate_multiplier, settings.sync.sessions.delta_messages) == (3, 2)


def test_a_key_in_both_spellings_is_refused() -> None:
    path = user_file("query: {maxResults: 8, max_results: 9}")
    with pytest.raises(SettingsError, match=rf"'query\.max_results' is set twice in user file {path}"):
        load()


@pytest.mark.parametrize(
    "text", ["", "\n", "# nothing\n", "---\n", "{}", "query:\n", "\ufeffenabled: true\n"]
)
def test_a_file_without_content_sets_nothing(text: str) -> None:
    user_file(text)
    assert load().settings == Settings()


def test_an_unquoted_on_is_understood() -> None:
    user_file("citations: on\n")
    assert load().settings.citations == "on"


def test_an_unknown_key_names_the_file_and_the_nearest_key() -> None:
    path = user_file("query: {maxResult: 8}")
    with pytest.raises(SettingsError) as caught:
        load()
    assert (
        f"unknown setting 'query.maxResult' from user file {path}. "
        "The nearest known one is 'query.max_results'" in str(caught.value)
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: 1\nb: [1\n", "line 3"),
        ("enabled: true\n\tquery: 1\n", "line 2"),
        ("enabled: true\nenabled: false\n", "line 2: 'enabled' is set twice"),
        ("sources: &all [memory]\n", "line 1: anchors and aliases"),
        ("enabled: *other\n", "line 1: anchors and aliases"),
        ("agent: !!python/object/apply:os.system [ls]\n", "line 1: tags"),
        ("enabled: !!bool maybe\n", "line 1: tags"),
        ("1: 2\n", "line 1: a key is not plain text"),
        ("[1]: 2\n", "line 1: a key is not plain text"),
        ("<<: {enabled: true}\n", "line 1: a key is not plain text"),
        pytest.param("a: " + "[" * 100_000, "nested too deeply", id="deep"),
        pytest.param("extra_paths: [" + "a," * 100_000 + "a]", "too many entries", id="many"),
        ("a: 1\n---\nb: 2\n", "single document"),
        ("enabled: true\nagent: a\x07b\n", "line 2: it contains a character"),
        pytest.param("query: {max_results: " + "9" * 5000 + "}\n", "digits", id="long"),
        ("agent: 2024-13-45\n", "month"),
        ('agent: "\\UFFFFFFFF"\n', "not valid YAML"),
    ],
)
def test_broken_or_dangerous_yaml_is_refused(text: str, problem: str) -> None:
    user_file(text)
    with pytest.raises(SettingsError, match=problem):
        load()


@pytest.mark.parametrize("text", ["- a\n", "enabled\n", "3\n"])
def test_a_file_that_is_no_mapping_is_refused(text: str) -> None:
    user_file(text)
    with pytest.raises(SettingsError, match="does not hold settings"):
        load()


def test_a_binary_file_is_refused() -> None:
    user_config_file().write_bytes(b"\x89PNG\xff\x00")
    with pytest.raises(SettingsError, match="not a text file"):
        load()


def test_a_huge_file_is_refused() -> None:
    user_file("#" * 1_000_001)
    with pytest.raises(SettingsError, match="larger than 1000000 bytes"):
        load()


def test_a_folder_in_the_place_of_a_file_is_refused() -> None:
    user_config_file().mkdir()
    with pytest.raises(SettingsError, match="not a regular file"):
        load()


def test_the_user_file_may_be_a_link(tmp_path: Path) -> None:
    target = tmp_path / "dotfiles.yaml"
    target.write_text("agent: linked\n", encoding="utf-8")
    user_config_file().symlink_to(target)
    assert load().settings.agent == "linked"


def test_references_in_the_user_file_are_replaced() -> None:
    user_file("embeddings: {apiKey: '${KEY}'}")
    assert load(environ={"KEY": "sk-1"}).settings.embeddings.api_key == "sk-1"


def test_a_missing_variable_does_not_matter_if_another_source_wins() -> None:
    user_file("embeddings: {apiKey: '${NOT_THERE}'}")
    assert load(overrides={"embeddings.api_key": "sk-2"}).settings.embeddings.api_key == "sk-2"


@pytest.mark.promise("P11")
def test_a_project_may_set_how_its_notes_are_found(workspace: Path) -> None:
    project_file(workspace, "chunking: {tokens: 200}\nprofile: openclaw\ncitations: off\n")
    assert load(Workspace.at(workspace)).settings.chunking.tokens == 200


@pytest.mark.parametrize(
    "text",
    [
        "sources: [memory, sessions]",
        "extra_paths: [~/.ssh]",
        "agent: other",
        "backend: qmd",
        "embeddings: {base_url: 'https://example.org'}",
        "embeddings: {provider: openai}",
        "embeddings: {remote_ok: true}",
        "embeddings: {api_key: '${HOME}'}",
        "store: {path: /tmp/index.sqlite}",
        "cache: {enabled: false}",
        "facts: {auto_capture: true}",
        "spend: {max_per_day: 100}",
        "files: {max_bytes: 50000000}",
        "snapshots: {max_messages: 500}",
    ],
)
@pytest.mark.promise("P11")
def test_a_project_may_not_widen_anything(workspace: Path, text: str) -> None:
    path = project_file(workspace, text)
    with pytest.raises(SettingsError) as caught:
        load(Workspace.at(workspace))
    assert repr(str(path)) in str(caught.value)
    assert caught.value.todo == "Review the file, then run 'memlines config trust'"


@pytest.mark.promise("P11")
def test_a_trusted_project_may_not_name_a_program_to_run(workspace: Path) -> None:
    trust(project_file(workspace, "agents: {w: {qmd: {command: evil}}}"))
    with pytest.raises(SettingsError, match=r"sets qmd\.command, which only your own file may do"):
        load(Workspace.at(workspace))


def test_a_trusted_project_may_name_its_workspace_on_a_cluster(workspace: Path) -> None:
    trust(project_file(workspace, "store: {workspace: shop}"))
    assert load(Workspace.at(workspace)).settings.store.workspace == "shop"


@pytest.mark.promise("P11")
def test_the_refusal_names_every_key_that_needs_trust(workspace: Path) -> None:
    project_file(workspace, "agent: x\nchunking: {tokens: 10}\nstore: {path: y}\n")
    with pytest.raises(SettingsError, match=r"sets agent, store\.path,"):
        load(Workspace.at(workspace))


def test_a_project_may_switch_snapshots_off(workspace: Path) -> None:
    project_file(workspace, "snapshots: {enabled: false}")
    assert not load(Workspace.at(workspace)).settings.snapshots.enabled


@pytest.mark.promise("P11")
def test_a_project_may_not_switch_on_what_the_user_switched_off(workspace: Path) -> None:
    user_file("snapshots: {enabled: false}")
    project_file(workspace, "snapshots: {enabled: true}")
    with pytest.raises(SettingsError, match=r"snapshots\.enabled"):
        load(Workspace.at(workspace))


def test_a_project_may_repeat_what_is_already_so(workspace: Path) -> None:
    project_file(workspace, "enabled: true\nfiles: {max_bytes: 10000000}\n")
    assert load(Workspace.at(workspace)).settings == Settings()


OPEN = [name for name, key in known_keys().items() if key.rule.project == "yes"]
HARMLESS = "embeddings.batch_size"
"""How many texts go into one request: neither what is sent nor where it goes."""


@pytest.mark.parametrize("name", [name for name in OPEN if name != HARMLESS])
@pytest.mark.promise("P11")
def test_nothing_that_reads_sends_runs_or_captures_is_open_to_projects(name: str) -> None:
    assert name.split(".")[0] not in {
        "sources",
        "extra_paths",
        "embeddings",
        "store",
        "cache",
        "facts",
        "spend",
        "agent",
        "backend",
    }


@pytest.mark.parametrize("name", [name for name, key in known_keys().items() if key.rule.secret])
@pytest.mark.promise("P11")
def test_no_secret_is_open_to_projects(name: str) -> None:
    assert known_keys()[name].rule.project == "no"


def test_a_trusted_project_may_set_everything(workspace: Path) -> None:
    trust(project_file(workspace, "agent: reviewed"))
    assert load(Workspace.at(workspace)).settings.agent == "reviewed"


@pytest.mark.promise("P11")
def test_a_changed_file_has_to_be_trusted_again(workspace: Path) -> None:
    trust(project_file(workspace, "agent: reviewed"))
    project_file(workspace, "agent: changed")
    with pytest.raises(SettingsError, match="memlines config trust"):
        load(Workspace.at(workspace))


@pytest.mark.promise("P11")
def test_trust_belongs_to_one_place(workspace: Path, tmp_path: Path) -> None:
    trust(project_file(workspace, "agent: reviewed"))
    other = tmp_path / "other"
    other.mkdir()
    assert not is_trusted(project_file(other, "agent: reviewed"))


def test_trust_does_not_depend_on_how_the_workspace_is_spelled(workspace: Path, tmp_path: Path) -> None:
    project_file(workspace, "agent: reviewed")
    (tmp_path / "link").symlink_to(workspace)
    trust(tmp_path / "link" / ".memory" / "config.yaml")
    assert is_trusted(Workspace.at(workspace).config_file)


@pytest.mark.promise("P11")
def test_trust_can_be_taken_back(workspace: Path) -> None:
    path = project_file(workspace, "agent: reviewed")
    trust(path)
    assert distrust(path)
    assert not is_trusted(path)


def test_distrust_says_when_there_was_nothing_to_take_back(workspace: Path) -> None:
    assert not distrust(project_file(workspace, "agent: reviewed"))


def test_distrust_works_after_the_file_is_gone(workspace: Path) -> None:
    path = project_file(workspace, "agent: reviewed")
    trust(path)
    path.unlink()
    assert distrust(path)


def test_trusting_one_project_keeps_the_others(workspace: Path, tmp_path: Path) -> None:
    first = project_file(workspace, "agent: one")
    trust(first)
    other = tmp_path / "other"
    other.mkdir()
    trust(project_file(other, "agent: two"))
    assert is_trusted(first)


def test_trust_returns_and_records_the_hash_of_the_content(workspace: Path) -> None:
    path = project_file(workspace, "agent: reviewed")
    digest = trust(path)
    record = json.loads((user_state_dir() / "trusted.json").read_text(encoding="utf-8"))
    assert record == {str(path): digest}


def test_trusting_leaves_no_draft_behind(workspace: Path) -> None:
    trust(project_file(workspace, "agent: reviewed"))
    assert [file.name for file in user_state_dir().iterdir()] == ["trusted.json"]


def test_a_missing_file_cannot_be_trusted(workspace: Path) -> None:
    with pytest.raises(SettingsError, match="there is no settings file"):
        trust(Workspace.at(workspace).config_file)


@pytest.mark.parametrize("text", ["{", "[]", '{"a": 1}', pytest.param("[" * 100_000, id="deep")])
@pytest.mark.promise("P11")
def test_a_damaged_record_grants_no_trust(workspace: Path, text: str) -> None:
    path = project_file(workspace, "agent: reviewed")
    user_state_dir().mkdir()
    (user_state_dir() / "trusted.json").write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match="is damaged"):
        is_trusted(path)


def test_a_record_that_cannot_be_written_is_reported(workspace: Path) -> None:
    user_state_dir().write_text("in the way", encoding="utf-8")
    with pytest.raises(SettingsError, match="record of trusted settings"):
        trust(project_file(workspace, "agent: reviewed"))


@pytest.mark.promise("P11")
def test_a_linked_project_file_is_refused(workspace: Path, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere.yaml"
    target.write_text("enabled: true", encoding="utf-8")
    path = project_file(workspace, "")
    path.unlink()
    path.symlink_to(target)
    with pytest.raises(SettingsError, match="is a symbolic link"):
        load(Workspace.at(workspace))


@pytest.mark.promise("P11")
def test_a_linked_private_folder_is_refused(workspace: Path, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    target.mkdir()
    (workspace / ".memory").symlink_to(target)
    with pytest.raises(SettingsError, match=r"folder .* is a symbolic link"):
        load(Workspace.at(workspace))


def test_a_binary_project_file_is_refused(workspace: Path) -> None:
    project_file(workspace, "").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SettingsError, match=r"project file .* is not a text file"):
        load(Workspace.at(workspace))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_project_file_is_refused(workspace: Path) -> None:
    path = project_file(workspace, "enabled: true")
    path.chmod(0)
    with pytest.raises(SettingsError, match="cannot be read"):
        load(Workspace.at(workspace))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_in_the_place_of_a_project_file_is_refused(workspace: Path) -> None:
    path = project_file(workspace, "")
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(SettingsError, match="not a regular file"):
        load(Workspace.at(workspace))
