"""Whatever is put into a settings source: it loads, or it is a SettingsError."""

from __future__ import annotations

import math
from typing import Any

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memlines.errors import SettingsError
from memlines.paths import user_config_file
from memlines.settings import Loaded, list_settings, load
from memlines.settings.keys import ALIASES, SESSION_MEMORY, WRAPPERS, groups, known_keys, variables

shared_home = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.dates()
    | st.binary()
    | st.sampled_from(["auto", "none", "memory", "on", "${HOME}", "en"])
)
names = st.sampled_from(sorted({*known_keys(), *groups(), *ALIASES, *WRAPPERS, SESSION_MEMORY})) | st.text()
parts = st.sampled_from(sorted({part for name in known_keys() for part in name.split(".")})) | st.text()
data = st.dictionaries(
    names,
    st.recursive(
        scalars, lambda inner: st.lists(inner) | st.dictionaries(parts | st.integers(), inner), max_leaves=8
    ),
    max_size=6,
)


def loads_or_refuses(**arguments: Any) -> Loaded | None:
    try:
        return load(**arguments)
    except SettingsError:
        return None


@shared_home
@given(data)
def test_any_mapping_in_a_file_loads_or_is_refused(mapping: dict[str, Any]) -> None:
    user_config_file().write_text(yaml.safe_dump(mapping), encoding="utf-8")
    loads_or_refuses(environ={})


@shared_home
@given(st.binary() | st.text().map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_in_a_file_load_or_are_refused(content: bytes) -> None:
    user_config_file().write_bytes(content)
    loads_or_refuses(environ={})


@given(data)
def test_any_mapping_of_arguments_loads_or_is_refused(mapping: dict[str, Any]) -> None:
    loads_or_refuses(overrides=mapping, environ={})


@given(st.sampled_from(sorted(variables())) | st.text().map("MEMLINES_".__add__), st.text())
def test_any_variable_loads_or_is_refused(variable: str, text: str) -> None:
    loads_or_refuses(environ={variable: text})


@given(st.dictionaries(st.sampled_from(sorted(known_keys())), st.integers() | st.floats(), max_size=8))
def test_any_numbers_that_load_are_within_their_limits(mapping: dict[str, float]) -> None:
    loaded = loads_or_refuses(overrides=mapping, environ={})
    for line in list_settings(loaded) if loaded else ():
        rule = known_keys()[line.key].rule
        if rule.kind in ("int", "float") and line.value is not None and line.key != "chunking.overlap":
            assert (rule.low or 0) <= line.value <= (math.inf if rule.high is None else rule.high)


@given(st.floats(0, 1), st.floats(0, 1))
def test_weights_always_add_up_to_one(vector: float, text: float) -> None:
    weights = {"query.hybrid.vector_weight": vector, "query.hybrid.text_weight": text}
    hybrid = load(overrides=weights, environ={}).settings.query.hybrid
    assert math.isclose(hybrid.vector_weight + hybrid.text_weight, 1)
