"""What a value may be: limits, choices, kinds, and what an error says about them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from memlines.errors import SettingsError
from memlines.paths import Workspace, user_config_file
from memlines.settings import flatten, load
from memlines.settings.keys import known_keys, snake


def loaded_value(key: str, value: Any) -> Any:
    return flatten(load(overrides={key: value}).settings)[key]


def from_environment(variable: str, text: str) -> dict[str, Any]:
    return flatten(load(environ={variable: text}).settings)


@pytest.mark.parametrize(
    ("key", "given", "kept"),
    [
        ("query.hybrid.candidate_multiplier", 0, 1),
        ("query.hybrid.candidate_multiplier", 99, 20),
        ("query.min_score", -1, 0),
        ("query.min_score", 7, 1),
        ("query.mmr.lambda", 1.5, 1),
        ("query.mmr.lambda", -0.5, 0),
        ("query.max_results", 0, 1),
        ("chunking.tokens", 0, 1),
        ("chunking.tokens", 10**6, 8000),
        ("chunking.overlap", -3, 0),
        ("chunking.overlap", 400, 399),
        ("query.temporal_decay.half_life_days", 0, 0.01),
        ("files.max_bytes", 0, 1),
        ("facts.capture_max_chars", 1, 100),
        ("facts.capture_max_chars", 10**6, 10_000),
        ("spend.max_per_day", -2, 0),
    ],
)
def test_numbers_are_clamped(key: str, given: float, kept: float) -> None:
    assert loaded_value(key, given) == kept


def test_a_number_too_long_to_print_is_clamped() -> None:
    assert loaded_value("query.max_results", 10**5000) == 1000


def test_a_number_too_long_to_print_is_refused_where_it_is_wrong() -> None:
    with pytest.raises(SettingsError, match="a very long int"):
        load(overrides={"query.min_score": 10**5000})


def test_the_overlap_stays_below_a_small_chunk() -> None:
    assert load(overrides={"chunking.tokens": 50}).settings.chunking.overlap == 49


def test_a_chunk_of_one_token_has_no_overlap() -> None:
    assert load(overrides={"chunking.tokens": 1}).settings.chunking.overlap == 0


@pytest.mark.parametrize(
    ("vector", "text", "expected"),
    [(0.9, 0.3, (0.75, 0.25)), (5, 1, (0.5, 0.5)), (1, 0, (1, 0)), (0, 0.2, (0, 1)), (0.7, 0.3, (0.7, 0.3))],
)
def test_weights_add_up_to_one(vector: float, text: float, expected: tuple[float, float]) -> None:
    hybrid = load(
        overrides={"query.hybrid": {"vector_weight": vector, "text_weight": text}}
    ).settings.query.hybrid
    assert (hybrid.vector_weight, hybrid.text_weight) == pytest.approx(expected)


def test_weights_of_zero_become_the_defaults() -> None:
    hybrid = load(overrides={"query.hybrid": {"vector_weight": 0, "text_weight": 0}}).settings.query.hybrid
    assert (hybrid.vector_weight, hybrid.text_weight) == (0.7, 0.3)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("enabled", 1),
        ("enabled", "true"),
        ("query.max_results", True),
        ("query.max_results", 6.0),
        ("query.max_results", "6"),
        ("query.min_score", False),
        ("query.min_score", math.nan),
        ("query.min_score", math.inf),
        ("query.min_score", 10**400),
        ("embeddings.provider", "acme"),
        ("embeddings.provider", True),
        ("embeddings.model", 4),
        ("embeddings.model", "nul\0"),
        ("embeddings.model", "half a pair \ud800"),
        ("embeddings.api_key", 4),
        ("embeddings.headers", ["a"]),
        ("embeddings.headers", {"a": 1}),
        ("embeddings.headers", {1: "a"}),
        ("embeddings.headers", {"": "a"}),
        ("store.path", "{agentid}.sqlite"),
        ("store.path", "{}/index.sqlite"),
        ("store.path", "index}.sqlite"),
        ("store.path", "{{agent}}.sqlite"),
        ("sources", "memory"),
        ("sources", ["memory", "web"]),
        ("extra_paths", [1]),
        ("intent.languages", ["en", False]),
        ("query.hybrid", 1),
    ],
)
def test_a_wrong_value_is_refused(key: str, value: Any) -> None:
    with pytest.raises(SettingsError, match=key.replace(".", r"\.")):
        load(overrides={key: value})


def test_a_number_in_whole_numbers_becomes_a_float() -> None:
    assert isinstance(loaded_value("query.temporal_decay.half_life_days", 14), float)


def test_an_optional_key_may_be_cleared() -> None:
    assert loaded_value("embeddings.dimensions", None) is None


@pytest.mark.parametrize("name", list(known_keys()))
def test_nothing_means_the_default(name: str) -> None:
    user_config_file().write_text("agent: other\nquery: {max_results: 9}\n", encoding="utf-8")
    loaded = load(overrides={name: None})
    assert (flatten(loaded.settings)[name], loaded.origins[name]) == (known_keys()[name].default, "default")


@pytest.mark.parametrize("written", ["idx/{agent}.sqlite", "idx/{agentId}.sqlite"])
def test_the_agent_has_two_names_in_the_path_of_the_index(tmp_path: Path, written: str) -> None:
    settings = load(overrides={"store.path": written, "agent": "work"}).settings
    workspace = Workspace.at(tmp_path)
    file = workspace.index_file(settings.store.path, settings.agent)
    assert file == workspace.root / "idx" / "work.sqlite"


def test_braces_that_mean_nothing_name_those_that_do() -> None:
    with pytest.raises(SettingsError) as caught:
        load(environ={"MEMLINES_STORE__PATH": "~/{agent_id}.sqlite"})
    assert caught.value.todo == "It takes text, with {agent} or {agentId} for the agent and no other braces"


def test_nothing_leaves_a_key_to_the_profile() -> None:
    loaded = load(overrides={"profile": "openclaw", "query.fusion": None})
    assert loaded.settings.query.fusion == "weighted"


@pytest.mark.parametrize(("given", "kept"), [(True, "on"), (False, "off"), ("auto", "auto")])
def test_citations_take_the_booleans_that_yaml_makes_of_on_and_off(given: Any, kept: str) -> None:
    assert loaded_value("citations", given) == kept


def test_lists_are_trimmed_and_freed_of_repetitions() -> None:
    assert loaded_value("extra_paths", [" a ", "", "b", "a"]) == ("a", "b")


def test_no_sources_at_all_means_notes() -> None:
    assert loaded_value("sources", []) == ("memory",)


def test_an_error_names_key_origin_value_and_what_is_allowed() -> None:
    with pytest.raises(SettingsError) as caught:
        load(overrides={"backend": "grep"})
    assert str(caught.value) == (
        "setting 'backend' from argument is 'grep', which is not one of its choices. "
        "It takes one of: builtin, qmd"
    )


def test_an_error_names_the_limits_of_a_number() -> None:
    with pytest.raises(SettingsError, match="a whole number from 1 to 1000"):
        load(overrides={"query.max_results": "many"})


def test_an_error_names_the_environment_variable() -> None:
    with pytest.raises(SettingsError, match="from environment variable MEMLINES_ENABLED is 'maybe'"):
        load(environ={"MEMLINES_ENABLED": "maybe"})


def test_an_error_does_not_show_a_secret() -> None:
    with pytest.raises(SettingsError) as caught:
        load(overrides={"embeddings.api_key": ["sk-secret"]})
    assert "sk-secret" not in str(caught.value)


def test_an_error_cuts_a_long_value() -> None:
    with pytest.raises(SettingsError) as caught:
        load(overrides={"backend": "x" * 10_000})
    assert len(str(caught.value)) < 300


def test_a_group_with_a_value_names_its_keys() -> None:
    with pytest.raises(SettingsError, match=r"Set one of: chunking\.tokens, chunking\.overlap"):
        load(overrides={"chunking": 3})


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("query.max_result", "query.max_results"),
        ("embeding", "embedding"),
        ("vectorWeight", "query.hybrid.vector_weight"),
        ("query.hybrid.mmr.lamda", "query.mmr.lambda"),
        ("enabledd", "enabled"),
    ],
)
def test_an_unknown_key_names_the_nearest(wrong: str, right: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load(overrides={wrong: 1})
    assert f"unknown setting {wrong!r} from argument. The nearest known one is {right!r}" in str(caught.value)


@pytest.mark.parametrize("name", [3, None, ("a", "b"), "", ".", pytest.param("a" * 100_000, id="long")])
def test_no_name_at_all_breaks_the_search_for_the_nearest(name: Any) -> None:
    with pytest.raises(SettingsError, match="unknown setting"):
        load(overrides={name: 1})


@pytest.mark.parametrize(
    ("camel", "expected"),
    [
        ("maxResults", "max_results"),
        ("watchDebounceMs", "watch_debounce_ms"),
        ("baseURL", "base_url"),
        ("min_score", "min_score"),
        ("query.halfLifeDays", "query.half_life_days"),
    ],
)
def test_camel_case_becomes_snake_case(camel: str, expected: str) -> None:
    assert snake(camel) == expected


@pytest.mark.parametrize("text", ["true", "1", "yes", "on", "TRUE", " On "])
def test_a_variable_switches_on(text: str) -> None:
    assert from_environment("MEMLINES_QUERY__MMR__ENABLED", text)["query.mmr.enabled"] is True


@pytest.mark.parametrize("text", ["false", "0", "no", "off", "False"])
def test_a_variable_switches_off(text: str) -> None:
    assert from_environment("MEMLINES_ENABLED", text)["enabled"] is False


def test_a_variable_holds_a_list() -> None:
    assert from_environment("MEMLINES_SOURCES", "memory, sessions")["sources"] == ("memory", "sessions")


def test_a_variable_holds_headers() -> None:
    values = from_environment("MEMLINES_EMBEDDINGS__HEADERS", "X-A=1, X-B=2=3")
    assert values["embeddings.headers"] == (("X-A", "1"), ("X-B", "2=3"))


def test_headers_without_a_value_are_refused() -> None:
    with pytest.raises(SettingsError, match="name=value"):
        load(environ={"MEMLINES_EMBEDDINGS__HEADERS": "X-A"})


def test_a_variable_is_clamped_too() -> None:
    assert from_environment("MEMLINES_QUERY__MIN_SCORE", "3")["query.min_score"] == 1


def test_a_variable_reaches_lambda_by_its_plain_name() -> None:
    assert from_environment("MEMLINES_QUERY__MMR__LAMBDA", "0.1")["query.mmr.lambda"] == 0.1


@pytest.mark.parametrize("text", ["nan", "inf", "1e999", "six", ""])
def test_a_variable_that_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="MEMLINES_QUERY__MIN_SCORE"):
        load(environ={"MEMLINES_QUERY__MIN_SCORE": text})


def test_an_empty_variable_clears_an_optional_key() -> None:
    assert from_environment("MEMLINES_SPEND__MAX_PER_DAY", "")["spend.max_per_day"] is None


def test_the_home_variable_is_no_setting() -> None:
    assert load(environ={"MEMLINES_HOME": "/somewhere"}).settings.enabled


@pytest.mark.parametrize("variable", ["MEMLINES_FOO", "MEMLINES_QUERY", "MEMLINES_QUERY__X", "MEMLINES_"])
def test_an_unknown_variable_is_refused(variable: str) -> None:
    with pytest.raises(SettingsError, match=f"unknown setting '{variable}' from the environment"):
        load(environ={variable: "1"})


def test_an_unknown_variable_names_the_nearest() -> None:
    with pytest.raises(SettingsError, match="'MEMLINES_EMBEDDINGS__PROVIDER'"):
        load(environ={"MEMLINES_EMBEDDING_PROVIDER": "none"})


def test_other_variables_are_left_alone() -> None:
    assert load(environ={"MEMLINESQUE": "1", "PATH": "/bin"}).settings.enabled


def test_a_reference_is_replaced_by_the_variable() -> None:
    loaded = load(overrides={"embeddings.api_key": "${KEY}"}, environ={"KEY": "sk-1"})
    assert loaded.settings.embeddings.api_key == "sk-1"


def test_references_in_headers_are_replaced() -> None:
    loaded = load(overrides={"embeddings.headers": {"X": "Bearer ${KEY}"}}, environ={"KEY": "sk-1"})
    assert loaded.settings.embeddings.headers == (("X", "Bearer sk-1"),)


def test_a_replaced_reference_is_not_looked_at_again() -> None:
    loaded = load(overrides={"embeddings.api_key": "${KEY}"}, environ={"KEY": "${KEY}"})
    assert loaded.settings.embeddings.api_key == "${KEY}"


def test_a_reference_to_a_missing_variable_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"'embeddings\.base_url' from argument needs .* HOST"):
        load(overrides={"embeddings.base_url": "https://${HOST}/v1"}, environ={})


def test_a_variable_is_taken_as_it_is() -> None:
    loaded = load(environ={"MEMLINES_EMBEDDINGS__API_KEY": "${NOT_THERE}"})
    assert loaded.settings.embeddings.api_key == "${NOT_THERE}"


def test_other_keys_hold_no_references() -> None:
    assert load(overrides={"facts.uri": "${HOME}"}, environ={"HOME": "/x"}).settings.facts.uri == "${HOME}"
