"""The tree of settings, the order of its sources and what is shown of it."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest

from memlines.errors import SettingsError
from memlines.paths import Workspace, user_config_file
from memlines.settings import Loaded, Settings, flatten, list_settings, load
from memlines.settings.keys import known_keys
from memlines.settings.loading import PROFILES
from memlines.settings.tree import BUILTIN_MODEL
from memlines.settings.values import check_value

DESIGN = {
    "enabled": True,
    "sources": ("memory",),
    "extra_paths": (),
    "embeddings.provider": "auto",
    "embeddings.fallback": "none",
    "embeddings.model": None,
    "embeddings.base_url": None,
    "embeddings.api_key": None,
    "embeddings.headers": (),
    "embeddings.dimensions": None,
    "chunking.tokens": 400,
    "chunking.overlap": 80,
    "store.driver": "sqlite",
    "store.vector.enabled": True,
    "cache.enabled": True,
    "cache.max_entries": 10000,
    "sync.on_session_start": True,
    "sync.on_search": True,
    "sync.sessions.delta_bytes": 100000,
    "sync.sessions.delta_messages": 50,
    "intent.enabled": True,
    "intent.languages": ("en", "nl", "de", "fr", "es", "pt"),
    "intent.confidence_threshold": 0.7,
    "facts.auto_capture": False,
    "facts.auto_recall": True,
    "facts.capture_max_chars": 500,
    "query.max_results": 6,
    "query.min_score": 0.35,
    "query.hybrid.enabled": True,
    "query.hybrid.vector_weight": 0.7,
    "query.hybrid.text_weight": 0.3,
    "query.hybrid.candidate_multiplier": 4,
    "query.mmr.enabled": False,
    "query.mmr.lambda": 0.7,
    "query.temporal_decay.enabled": False,
    "query.temporal_decay.half_life_days": 30,
    "citations": "auto",
    "sync.watch": True,
    "sync.watch_debounce_ms": 1500,
    "sync.interval_minutes": 0,
    "backend": "builtin",
    "snapshots.enabled": True,
    "snapshots.max_messages": 15,
    "snapshots.max_content_length": 500,
    "spend.max_per_day": None,
}


def user_file(text: str) -> Path:
    path = user_config_file()
    path.write_text(text, encoding="utf-8")
    return path


def project_file(workspace: Path, text: str) -> Path:
    path = Workspace.at(workspace).config_file
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def value_and_origin(loaded: Loaded, key: str) -> tuple[object, str]:
    return flatten(loaded.settings)[key], loaded.origins[key]


@pytest.mark.parametrize("key", DESIGN)
def test_the_defaults_are_those_of_the_design(key: str) -> None:
    assert flatten(Settings())[key] == DESIGN[key]


def test_nothing_set_gives_the_defaults() -> None:
    assert load().settings == Settings()


def test_nothing_set_has_the_origin_default() -> None:
    assert set(load().origins.values()) == {"default"}


def test_every_key_has_an_origin() -> None:
    assert list(load().origins) == list(flatten(Settings()))


def test_settings_can_be_hashed() -> None:
    assert hash(load(overrides={"embeddings.headers": {"X-Team": "a"}}).settings)


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        load().settings.query.max_results = 3  # type: ignore[misc]


@pytest.mark.parametrize("name", list(known_keys()))
def test_every_default_passes_its_own_check(name: str) -> None:
    key = known_keys()[name]
    default = dict(key.default) if key.rule.kind == "dict" else key.default
    assert check_value(key, default, "test") == key.default


@pytest.mark.parametrize("name", list(known_keys()))
def test_every_key_is_described_in_a_sentence(name: str) -> None:
    doc = known_keys()[name].rule.doc
    assert doc.endswith(".")
    assert "\n" not in doc


def test_the_user_file_wins_over_the_defaults() -> None:
    path = user_file("query:\n  max_results: 9\n")
    assert value_and_origin(load(), "query.max_results") == (9, f"user file {path}")


def test_the_project_file_wins_over_the_user_file(workspace: Path) -> None:
    user_file("query: {max_results: 9}")
    path = project_file(workspace, "query: {max_results: 8}")
    loaded = load(Workspace.at(workspace))
    assert value_and_origin(loaded, "query.max_results") == (8, f"project file {path}")


def test_the_environment_wins_over_the_project_file(workspace: Path) -> None:
    project_file(workspace, "query: {max_results: 8}")
    loaded = load(Workspace.at(workspace), environ={"MEMLINES_QUERY__MAX_RESULTS": "7"})
    expected = (7, "environment variable MEMLINES_QUERY__MAX_RESULTS")
    assert value_and_origin(loaded, "query.max_results") == expected


def test_an_argument_wins_over_the_environment() -> None:
    loaded = load(overrides={"query.max_results": 5}, environ={"MEMLINES_QUERY__MAX_RESULTS": "7"})
    assert value_and_origin(loaded, "query.max_results") == (5, "argument")


def test_the_real_environment_is_used_if_none_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMLINES_AGENT", "helper")
    assert load().settings.agent == "helper"


def test_arguments_may_be_nested() -> None:
    assert load(overrides={"query": {"mmr": {"lambda": 0.2}}}).settings.query.mmr.lambda_ == 0.2


def test_arguments_may_mix_nested_and_dotted_names() -> None:
    assert load(overrides={"query": {"mmr.enabled": True}}).settings.query.mmr.enabled


def test_one_argument_given_in_two_ways_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"'query\.max_results' is set twice in argument"):
        load(overrides={"query.max_results": 1, "query": {"max_results": 2}})


def test_the_project_file_is_not_read_without_a_workspace(workspace: Path) -> None:
    project_file(workspace, "query: {max_results: 8}")
    assert load().settings.query.max_results == 6


def test_the_profile_names_itself_as_origin() -> None:
    loaded = load(overrides={"profile": "openclaw"})
    assert value_and_origin(loaded, "query.min_score") == (0.35, "profile openclaw")


def test_the_profile_gives_way_to_a_key_that_is_set() -> None:
    user_file("query: {minScore: 0.2}")
    loaded = load(overrides={"profile": "openclaw"})
    assert loaded.settings.query.min_score == 0.2


def test_the_profile_fixes_every_ranking_key() -> None:
    assert PROFILES["openclaw"].keys() == {key for key in known_keys() if key.startswith("query.")}


@pytest.mark.parametrize("key", list(PROFILES["openclaw"]))
def test_the_profile_sets_values_that_are_allowed(key: str) -> None:
    value = PROFILES["openclaw"][key]
    assert check_value(known_keys()[key], value, "test") == value


def test_the_default_profile_sets_nothing() -> None:
    loaded = load(overrides={"profile": "default"})
    assert loaded.origins["query.min_score"] == "default"


def test_an_api_key_is_masked_when_shown() -> None:
    lines = {
        line.key: line.value for line in list_settings(load(overrides={"embeddings.api_key": "sk-secret"}))
    }
    assert lines["embeddings.api_key"] == "***"


def test_an_absent_api_key_is_shown_as_absent() -> None:
    lines = {line.key: line.value for line in list_settings(load())}
    assert lines["embeddings.api_key"] is None


def test_headers_are_shown_without_their_values() -> None:
    loaded = load(overrides={"embeddings.headers": {"X-Token": "hush"}})
    lines = {line.key: line.value for line in list_settings(loaded)}
    assert lines["embeddings.headers"] == {"X-Token": "***"}


def test_a_password_in_an_address_is_masked_when_shown() -> None:
    loaded = load(overrides={"embeddings.base_url": "https://me:hush@example.org/v1"})
    lines = {line.key: line.value for line in list_settings(loaded)}
    assert lines["embeddings.base_url"] == "https://***@example.org/v1"


def test_secrets_are_not_in_the_repr() -> None:
    loaded = load(overrides={"embeddings": {"api_key": "sk-secret", "headers": {"X-Token": "sk-secret"}}})
    assert "sk-secret" not in repr(loaded)


def test_shown_has_every_key_in_order_with_its_origin() -> None:
    loaded = load(overrides={"agent": "helper"})
    assert {line.key: line.origin for line in list_settings(loaded)} == dict(loaded.origins)


def test_importing_and_loading_stays_light() -> None:
    heavy = ["yaml", "platformdirs", "difflib", "hashlib", "json", "tempfile"]
    code = f"import sys, memlines.settings as s; s.load(); print([m for m in {heavy} if m in sys.modules])"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", check=True
    )
    assert run.stdout.strip() == "[]"


# Settings that choose another

WEIGHTS = {
    "query.hybrid.vector_weight": 0.6,
    "query.hybrid.text_weight": 0.4,
    "query.hybrid.candidate_multiplier": 2,
}


@pytest.mark.parametrize(("key", "value"), WEIGHTS.items())
def test_a_weight_selects_the_weighted_fusion_and_the_origin_says_so(key: str, value: float) -> None:
    loaded = load(overrides={key: value})
    assert value_and_origin(loaded, "query.fusion") == ("weighted", f"because {key} is set in argument")
    assert loaded.warnings == ()


def test_a_weight_in_a_file_or_the_environment_selects_it_too(workspace: Path) -> None:
    path = project_file(workspace, "query: {hybrid: {textWeight: 0.4}}")
    expected = ("weighted", f"because query.hybrid.text_weight is set in project file {path}")
    assert value_and_origin(load(Workspace.at(workspace)), "query.fusion") == expected
    variable = "MEMLINES_QUERY__HYBRID__VECTOR_WEIGHT"
    expected = ("weighted", f"because query.hybrid.vector_weight is set in environment variable {variable}")
    assert value_and_origin(load(environ={variable: "0.5"}), "query.fusion") == expected


@pytest.mark.parametrize("fusion", ["weighted", "rrf"])
def test_a_fusion_that_is_set_stays_beside_weights(fusion: str) -> None:
    loaded = load(overrides={**WEIGHTS, "query.fusion": fusion})
    assert value_and_origin(loaded, "query.fusion") == (fusion, "argument")
    assert loaded.warnings == ()


def test_weights_beside_the_fusion_that_has_none_are_warned_of() -> None:
    path = user_file("query: {fusion: evidence}")
    loaded = load(overrides={"query.hybrid.vector_weight": 0.6})
    assert loaded.settings.query.fusion == "evidence"
    assert loaded.warnings == (
        "query.hybrid.vector_weight (set in argument) has no effect, because query.fusion is evidence"
        f" (set in user file {path})",
    )


def test_a_weight_beside_the_profile_leaves_the_fusion_to_the_profile() -> None:
    loaded = load(overrides={"profile": "openclaw", "query.hybrid.vector_weight": 0.6})
    assert value_and_origin(loaded, "query.fusion") == ("weighted", "profile openclaw")


@pytest.mark.parametrize(("model", "warned"), [(BUILTIN_MODEL, False), ("another", True), (None, False)])
def test_a_model_that_the_provider_does_not_use_is_warned_of(model: str | None, warned: bool) -> None:
    loaded = load(overrides={"embeddings.provider": "builtin", "embeddings.model": model})
    assert ["embeddings.model" in warning for warning in loaded.warnings] == [True] * warned


@pytest.mark.parametrize(("profile", "warned"), [("openclaw", False), ("default", True)])
def test_only_the_profile_looks_at_so_many_candidates_whatever_the_fusion(profile: str, warned: bool) -> None:
    candidates = {"query.fusion": "evidence", "query.hybrid.candidate_multiplier": 4}
    loaded = load(overrides={"profile": profile, **candidates})
    assert ["candidate_multiplier" in warning for warning in loaded.warnings] == [True] * warned


@pytest.mark.parametrize("name", [".memory/config.yml", ".memory/config.json", "memlines.yaml"])
def test_a_file_that_looks_like_the_projects_settings_is_warned_of(workspace: Path, name: str) -> None:
    opened = Workspace.at(workspace)
    file = opened.root / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("query: {max_results: 3}", encoding="utf-8")
    expected = f"{file} is not read: settings belong in {opened.config_file}"
    assert load(opened).warnings == (expected,)


def test_a_file_that_looks_like_the_users_settings_is_warned_of() -> None:
    file = user_config_file().with_suffix(".yml")
    file.write_text("query: {max_results: 3}", encoding="utf-8")
    assert load().warnings == (f"{file} is not read: settings belong in {user_config_file()}",)
