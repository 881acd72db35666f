"""Puts the settings together: defaults, user file, project file, environment, arguments."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from recollect.errors import SettingsError
from recollect.paths import HOME_VARIABLE, Workspace, user_config_file
from recollect.settings.config_file import read_project_file, read_user_file
from recollect.settings.given import AGENTS, Entry, Given, agent_in_force, read_given
from recollect.settings.keys import (
    VARIABLE_PREFIX,
    build,
    flatten,
    groups,
    known_keys,
    snake,
    unknown,
    variables,
)
from recollect.settings.rules import Key
from recollect.settings.tree import Settings
from recollect.settings.trusted import is_trusted_content
from recollect.settings.values import checked, from_variable

NOT_SETTINGS = frozenset({HOME_VARIABLE})
"""Variables that begin like a setting but say something else."""

PROFILES: Mapping[str, Mapping[str, Any]] = {
    "openclaw": {
        "query.max_results": 6,
        "query.min_score": 0.35,
        "query.fusion": "weighted",
        "query.hybrid.enabled": True,
        "query.hybrid.vector_weight": 0.7,
        "query.hybrid.text_weight": 0.3,
        "query.hybrid.candidate_multiplier": 4,
        "query.mmr.enabled": False,
        "query.mmr.lambda": 0.7,
        "query.temporal_decay.enabled": False,
        "query.temporal_decay.half_life_days": 30.0,
    }
}
"""What a profile sets, wherever nobody set the key itself."""

_VECTOR_WEIGHT = "query.hybrid.vector_weight"
_TEXT_WEIGHT = "query.hybrid.text_weight"
_CANDIDATES = "query.hybrid.candidate_multiplier"
_FUSION = "query.fusion"

_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")

_URL_PASSWORD = re.compile(r"(?<=://)[^/?#@]+(?=@)")

_MASK = "***"


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings in force, and for every key where its value came from."""

    settings: Settings
    origins: Mapping[str, str]
    warnings: tuple[str, ...] = ()
    """Settings that have no effect as they are, in sentences."""
    store_paths: tuple[str, ...] = ()
    """What `store.path` is for any agent: an index of another agent holds the same notes."""


@dataclass(frozen=True, slots=True)
class Shown:
    """One line of `config show`: plain data with every secret masked."""

    key: str
    value: Any
    origin: str


def load(
    workspace: Workspace | None = None,
    overrides: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
) -> Loaded:
    """Return the settings for a workspace; `overrides` has dotted keys or nested mappings."""
    environ = os.environ if environ is None else environ
    user = _from_user_file(user_config_file())
    file = workspace.config_file if workspace is not None else None
    content = read_project_file(file) if file else None
    project = _from_content(content, f"project file {file}") if content else Given()
    given = (user, project, Given(_from_environment(environ)), _from_mapping(overrides or {}, "argument"))
    agent = agent_in_force(given, known_keys()["agent"].default)
    if file and content:
        _refuse_untrusted(file, content, project, user, agent)
    entries: dict[str, Entry] = {}
    for one in given:
        entries = one.over(entries, agent)

    values = {name: key.default for name, key in known_keys().items()}
    origins = dict.fromkeys(values, "default")
    profile = entries["profile"].value if "profile" in entries else values["profile"]
    for name, value in PROFILES.get(profile, {}).items():
        values[name], origins[name] = value, f"profile {profile}"
    for name, entry in entries.items():
        values[name] = _expanded(entry, environ) if entry.expands else entry.value
        origins[name] = entry.origin
    warnings = _choose_fusion(values, origins, entries)
    _settle(values)
    paths = dict.fromkeys(path for one in given for path in one.values("store.path"))
    return Loaded(build(values), MappingProxyType(origins), warnings, tuple(paths))


def overridden(loaded: Loaded, overrides: Mapping[str, Any]) -> Settings:
    """Return settings with some values replaced for one call, checked and clamped like any other."""
    if not overrides:
        return loaded.settings
    values = flatten(loaded.settings)
    entries = _from_mapping(overrides, "argument").over({}, loaded.settings.agent)
    values.update((name, entry.value) for name, entry in entries.items())
    _settle(values)
    return build(values)


def switched_off(loaded: Loaded) -> str:
    """Say that memory is not to be used and who said so; nothing if it is to be used."""
    if loaded.settings.enabled:
        return ""
    return f"memory is switched off: enabled is false ({loaded.origins['enabled']})"


def shown(loaded: Loaded) -> list[Shown]:
    """Return every key with its value as plain data, secrets masked, and its origin."""
    values = flatten(loaded.settings)
    return [
        Shown(name, _presentable(key, values[name]), loaded.origins[name])
        for name, key in known_keys().items()
    ]


def _from_user_file(file: Path) -> Given:
    """Read the user's own file, which may set everything."""
    content = read_user_file(file)
    return _from_content(content, f"user file {file}") if content else Given()


def _refuse_untrusted(file: Path, content: bytes, project: Given, user: Given, agent: str) -> None:
    """Raise if a project's file sets more than what is harmless, for any agent, and is not trusted."""
    before = user.over({}, agent)
    refused = [
        name for name, entry in project.entries.items() if not _project_may_set(entry, before.get(name))
    ]
    for other, entries in project.agents.items():
        before = user.over({}, other)
        refused += [
            f"{AGENTS}.{other}.{name}"
            for name, entry in entries.items()
            if not _project_may_set(entry, before.get(name))
        ]
    if refused and not is_trusted_content(file, content):
        raise SettingsError(
            f"project file {str(file)!r} sets {', '.join(refused)},"
            " which a project may not do unless you trust its file",
            todo="Review the file, then run 'recollect config trust'",
        )


def _project_may_set(entry: Entry, before: Entry | None) -> bool:
    """Tell whether a file that nobody reviewed may set this value."""
    if entry.key.rule.project == "less":
        return bool(entry.value <= (before.value if before else entry.key.default))
    return entry.key.rule.project == "yes"


def _from_content(content: bytes, origin: str) -> Given:
    """Read the content of a settings file."""
    from recollect.settings.yaml_text import parse

    return _from_mapping(parse(content, origin), origin)


def _from_mapping(data: Mapping[Any, Any], origin: str) -> Given:
    """Check every value of a nested mapping, whose names may be dotted or in camelCase."""
    return read_given(data, origin, _entries_of)


def _entries_of(data: Mapping[Any, Any], origin: str) -> dict[str, Entry]:
    entries: dict[str, Entry] = {}
    for name, value in _leaves(data, "", origin):
        if name in entries:
            raise SettingsError(
                f"setting {name!r} is set twice in {origin}", todo="Keep one of the two spellings"
            )
        key = known_keys()[name]
        entries[name] = Entry(key, checked(key, value, origin), origin, key.rule.expands)
    return entries


def _leaves(data: Mapping[Any, Any], prefix: str, origin: str) -> Iterator[tuple[str, Any]]:
    """Walk a nested mapping down to the known keys."""
    for spelled, value in data.items():
        if not isinstance(spelled, str):
            raise unknown(spelled, origin, known_keys())
        name = prefix + snake(spelled)
        if name in known_keys():
            yield name, value
        elif name not in groups():
            raise unknown(prefix + spelled, origin, known_keys().keys() | groups() | {AGENTS})
        elif isinstance(value, Mapping):
            yield from _leaves(value, f"{name}.", origin)
        elif value is not None:  # a heading whose lines are all commented out is no mistake
            raise SettingsError(
                f"setting {name!r} from {origin} has a value, but it is a group of settings",
                todo=f"Set one of: {', '.join(key for key in known_keys() if key.startswith(f'{name}.'))}",
            )


def _from_environment(environ: Mapping[str, str]) -> dict[str, Entry]:
    """Read the variables that begin with our name."""
    entries: dict[str, Entry] = {}
    for variable, text in environ.items():
        if not variable.startswith(VARIABLE_PREFIX) or variable in NOT_SETTINGS:
            continue
        key = variables().get(variable)
        if key is None:
            raise unknown(variable, "the environment", variables())
        entries[key.name] = Entry(key, from_variable(key, text), f"environment variable {variable}")
    return entries


def _expanded(entry: Entry, environ: Mapping[str, str]) -> Any:
    """Replace every `${VAR}` by that variable; only a value that won gets here."""

    def variable(match: re.Match[str]) -> str:
        value = environ.get(match[1])
        if not value:
            raise SettingsError(
                f"setting {entry.key.name!r} from {entry.origin} needs the environment variable"
                f" {match[1]}, which is not set",
                todo=f"Set {match[1]}, or write another value",
            )
        return value

    if isinstance(entry.value, str):
        return _REFERENCE.sub(variable, entry.value)
    if isinstance(entry.value, tuple):
        return tuple((name, _REFERENCE.sub(variable, text)) for name, text in entry.value)
    return entry.value


def _choose_fusion(
    values: dict[str, Any], origins: dict[str, str], entries: Mapping[str, Entry]
) -> tuple[str, ...]:
    """Select the fusion that uses the weights if one of them is set; warn if another was asked for."""
    chosen = [name for name in (_VECTOR_WEIGHT, _TEXT_WEIGHT, _CANDIDATES) if name in entries]
    if not chosen or values[_FUSION] != "evidence":
        return ()
    if _FUSION not in entries:
        values[_FUSION] = "weighted"
        origins[_FUSION] = f"because {chosen[0]} is set in {origins[chosen[0]]}"
        return ()
    if values["profile"] == "openclaw" and _CANDIDATES in chosen:
        chosen.remove(_CANDIDATES)  # this profile looks at so many candidates whatever the fusion is
    return tuple(
        f"{name} (set in {origins[name]}) has no effect, because query.fusion is evidence"
        f" (set in {origins[_FUSION]})"
        for name in chosen
    )


def _settle(values: dict[str, Any]) -> None:
    """Bring the values that depend on each other into agreement."""
    values["chunking.overlap"] = min(values["chunking.overlap"], values["chunking.tokens"] - 1)
    values["sources"] = values["sources"] or known_keys()["sources"].default
    vector, text = values[_VECTOR_WEIGHT], values[_TEXT_WEIGHT]
    if vector + text == 0:
        vector, text = known_keys()[_VECTOR_WEIGHT].default, known_keys()[_TEXT_WEIGHT].default
    total = vector + text
    values[_VECTOR_WEIGHT], values[_TEXT_WEIGHT] = vector / total, text / total


def _presentable(key: Key, value: Any) -> Any:
    """Return a value as plain data that may be shown to anybody."""
    if key.rule.kind == "pairs":
        return {name: _MASK for name, _ in value}
    if key.rule.secret:
        return _MASK if value else value
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, str):
        return _URL_PASSWORD.sub(_MASK, value)
    return value
