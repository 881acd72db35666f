"""Load the settings: defaults, user file, project files, environment, arguments."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from memlines import old_name
from memlines.errors import MemoryOff, SettingsError
from memlines.old_name import new_variable
from memlines.paths import HOME_VARIABLE, OPENCODE_DIR, Workspace, user_config_file
from memlines.records import dataclass
from memlines.settings.keys import (
    SESSION_MEMORY,
    VARIABLE_PREFIX,
    Leaf,
    build,
    flatten,
    known_keys,
    leaves,
    snake,
    unknown,
    variables,
    why_without_effect,
)
from memlines.settings.layers import AGENTS, Entry, Layer, active_agent, read_layer, with_sources
from memlines.settings.tree import BUILTIN_MODEL, Settings
from memlines.settings.trusted_files import is_trusted_content, read_project_file, read_user_file
from memlines.settings.values import Key, Rule, check_value, parse_value

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
"""What a profile sets, where the key itself is not set."""

_VECTOR_WEIGHT = "query.hybrid.vector_weight"
_TEXT_WEIGHT = "query.hybrid.text_weight"
_CANDIDATES = "query.hybrid.candidate_multiplier"
_FUSION = "query.fusion"
_PROVIDER = "embeddings.provider"

_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")

_URL_PASSWORD = re.compile(r"(?<=://)[^/?#@]+(?=@)")

_MASK = "***"

_ONLY_OWN = ("workspace", "personal_folder", "qmd.command", "qmd.paths", "qmd.sessions.export_dir")
"""What names folders of the user's, or a program, so that not even a trusted project may set it."""

_NOT_READ = ("config.yml", "config.json", "config.toml", "settings.yaml")
_NOT_READ_IN_ROOT = ("memlines.yaml", "memlines.yml", "memlines.json", "memlines.toml", ".memlines.yaml")
"""Names of files that look like settings beside those that are read, or in the root of a workspace."""


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
class ShownSetting:
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
    warnings: list[str] = []
    user = _from_user_file(user_config_file(), warnings)
    files = workspace.config_files if workspace else ()
    projects = [_ProjectFile(file, read_project_file(file), warnings) for file in files]
    layers = (
        user,
        *(project.layer for project in projects),
        Layer(_from_environment(environ, warnings)),
        _from_mapping(overrides or {}, "argument", warnings),
    )
    agent = active_agent(layers, known_keys()["agent"].default)
    for project in projects:
        project.refuse_untrusted(user, agent)
    entries: dict[str, Entry] = {}
    for layer in layers:
        entries = layer.over(entries, agent)
    entries = {name: entry for name, entry in entries.items() if not entry.is_cleared}

    values = {name: key.default for name, key in known_keys().items()}
    origins = dict.fromkeys(values, "default")
    profile = entries["profile"].value if "profile" in entries else values["profile"]
    for name, value in PROFILES.get(profile, {}).items():
        values[name], origins[name] = value, f"profile {profile}"
    for name, entry in entries.items():
        values[name] = _expand_variables(entry, environ) if entry.expands else entry.value
        origins[name] = entry.origin
    warnings += _choose_fusion(values, origins, entries)
    warnings += _find_unused(values, origins)
    warnings += _find_misnamed(workspace)
    _reconcile(values)
    paths = dict.fromkeys(path for layer in layers for path in layer.store_paths())
    return Loaded(build(values), MappingProxyType(origins), tuple(warnings), tuple(paths))


def switched_off(loaded: Loaded) -> str:
    """Say that memory is switched off and where; return nothing if it is on."""
    if loaded.settings.enabled:
        return ""
    return f"memory is switched off: enabled is false ({loaded.origins['enabled']})"


def refuse_if_off(loaded: Loaded) -> None:
    """Raise if the memory is switched off, saying where that was done."""
    if not loaded.settings.enabled:
        raise MemoryOff(
            switched_off(loaded), todo="Switch it on with 'memlines config on', or where it was set"
        )


def list_settings(loaded: Loaded) -> list[ShownSetting]:
    """Return every key with its value as plain data, secrets masked, and its origin."""
    values = flatten(loaded.settings)
    return [
        ShownSetting(name, _mask(key, values[name]), loaded.origins[name])
        for name, key in known_keys().items()
    ]


def settings_in(content: bytes, origin: str) -> dict[str, Any]:
    """Return what the content of a file sets, by key; what it sets for one agent as `agents.<name>.<key>`."""
    layer = _from_mapping(_parse(content, origin), origin, [])
    places = {"": layer.entries} | {f"{AGENTS}.{agent}.": entries for agent, entries in layer.agents.items()}
    return {
        place + name: None if entry.is_cleared else entry.value
        for place, entries in places.items()
        for name, entry in entries.items()
    }


def refuse_project_content(file: Path, content: bytes, *, trusted: bool = False) -> None:
    """Raise if a project's file with this content would set more than it may, or more than one ever may."""
    user = _from_user_file(user_config_file(), [])
    project = _ProjectFile(file, content, [])
    agent = active_agent((user, project.layer), known_keys()["agent"].default)
    project.refuse_untrusted(user, agent, trusted=trusted)


def _from_user_file(file: Path, warnings: list[str]) -> Layer:
    """Read the user's own file, which may set everything."""
    content = read_user_file(file)
    return _from_mapping(_parse(content, f"user file {file}"), f"user file {file}", warnings)


class _ProjectFile:
    """A project's file, which may set what is harmless, or everything once it is trusted."""

    def __init__(self, file: Path, content: bytes | None, warnings: list[str]) -> None:
        self.file = file
        self.content = content
        origin = f"project file {file}"
        data = _parse(content, origin)
        if file.parent.name == OPENCODE_DIR:  # the rest of it is about other things than memory
            data = {name: value for name, value in data.items() if name == "memory"}
        self.layer = _from_mapping(data, origin, warnings)

    def refuse_untrusted(self, user: Layer, agent: str, *, trusted: bool = False) -> None:
        """Raise if it sets more than what is harmless, for any agent, and is not trusted.

        Even if it is `trusted`, it may not set what only the user's own file may.
        """
        refused = _refused(self.layer.entries, user.over({}, agent))
        own = {*refused}.intersection(_ONLY_OWN)
        for other, entries in self.layer.agents.items():
            names = _refused(entries, user.over({}, other))
            own.update({*names}.intersection(_ONLY_OWN))
            refused += [f"{AGENTS}.{other}.{name}" for name in names]
        if own:
            raise SettingsError(
                f"project file {str(self.file)!r} sets {min(own)}, which only your own file may do",
                todo=f"Write it into {user_config_file()}",
            )
        if refused and not (trusted or is_trusted_content(self.file, self.content or b"")):
            raise SettingsError(
                f"project file {str(self.file)!r} sets {', '.join(refused)},"
                " which a project may not do unless you trust its file",
                todo="Review the file, then run 'memlines config trust'",
            )


def _refused(entries: Mapping[str, Entry], before: Mapping[str, Entry]) -> list[str]:
    """Return the keys that an untrusted file may not set as it does; it may repeat what is in force."""
    refused = []
    for name, entry in with_sources(entries, before).items():
        present = before[name].value if name in before else entry.key.default
        is_less = entry.key.rule.project == "less" and _asks_for_less(entry.value, present)
        if not (is_less or entry.key.rule.project == "yes" or entry.value == present):
            refused.append(name)
    return refused


def _asks_for_less(value: Any, present: Any) -> bool:
    """Return whether a value asks for no more than another: a smaller number, or a part of a list."""
    return set(value) <= set(present) if isinstance(value, tuple) else bool(value <= present)


def _parse(content: bytes | None, origin: str) -> dict[str, Any]:
    """Return the mapping that the content of a settings file holds."""
    if not content:
        return {}
    from memlines.settings.yaml_text import parse

    return parse(content, origin)


def _from_mapping(data: Mapping[Any, Any], origin: str, warnings: list[str]) -> Layer:
    """Check every value of a configuration, and warn of what has no effect."""

    def entries_of(part: Mapping[Any, Any], origin: str) -> dict[str, Entry]:
        entries: dict[str, Entry] = {}
        for leaf in leaves(part, origin):
            if isinstance(leaf, SettingsError):
                raise leaf
            if why := why_without_effect(leaf.key):
                warnings.append(f"{leaf.written} from {origin} has no effect: {why}")
                continue
            entry = _entry(leaf, origin)
            before = entries.setdefault(leaf.key, entry)
            if before.value != entry.value:
                raise SettingsError(
                    f"setting {leaf.key!r} is set twice in {origin}:"
                    f" as {before.written} and as {entry.written}",
                    todo="Keep one of the two",
                )
        return entries

    return read_layer(data, origin, entries_of)


_SESSION_MEMORY_KEY = Key(SESSION_MEMORY, "", "", None, Rule("", kind="bool"))


def _entry(leaf: Leaf, origin: str) -> Entry:
    """Check one value; nothing means the default."""
    if snake(leaf.written) != leaf.key:
        origin = f"{origin}, as {leaf.written}"
    key = _SESSION_MEMORY_KEY if leaf.key == SESSION_MEMORY else known_keys()[leaf.key]
    if leaf.value is None:
        return Entry(key, key.default, origin, written=leaf.written, is_cleared=True)
    return Entry(key, check_value(key, leaf.value, origin), origin, key.rule.expands, leaf.written)


def _from_environment(environ: Mapping[str, str], warnings: list[str]) -> dict[str, Entry]:
    """Read the variables that begin with our name, or with the old one where the new one is not set."""
    entries: dict[str, Entry] = {}
    for variable, text in environ.items():
        name = new_variable(variable)
        if not name.startswith(VARIABLE_PREFIX) or name in NOT_SETTINGS:
            continue
        key = variables().get(name)
        if name != variable:
            if key is None or name in environ:
                continue  # a variable of another program, or one that is set by both names
            old_name.in_use[variable] = name
            warnings.append(f"environment variable {variable} is the old name of {name}: rename it")
        if key is None:
            raise unknown(variable, "the environment", variables())
        origin = f"environment variable {variable}"
        entries[key.name] = Entry(key, parse_value(key, text, origin), origin)
    return entries


def _expand_variables(entry: Entry, environ: Mapping[str, str]) -> Any:
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


def _find_unused(values: Mapping[str, Any], origins: Mapping[str, str]) -> tuple[str, ...]:
    """Warn of a model or an address that the provider in force does not use."""
    provider = values[_PROVIDER]
    if provider not in ("builtin", "none"):
        return ()
    return tuple(
        f"{name} (set in {origins[name]}) has no effect, because {_PROVIDER} is {provider}"
        f" (set in {origins[_PROVIDER]})"
        for name in ("embeddings.model", "embeddings.base_url")
        if values[name] and (provider, values[name]) != ("builtin", BUILTIN_MODEL)
    )


def _find_misnamed(workspace: Workspace | None) -> list[str]:
    """Warn of files that look like settings and are not read, naming the file that is."""
    own = user_config_file()
    places = [(own.with_name(name), own) for name in _NOT_READ]
    if workspace is not None:
        read = workspace.config_file
        places += [(read.with_name(name), read) for name in _NOT_READ]
        places += [(workspace.root / name, read) for name in _NOT_READ_IN_ROOT]
    there = [(file, read) for file, read in places if os.path.lexists(file)]
    return [f"{file} is not read: settings belong in {read}" for file, read in there]


def _reconcile(values: dict[str, Any]) -> None:
    """Bring the values that depend on each other into agreement."""
    values["chunking.overlap"] = min(values["chunking.overlap"], values["chunking.tokens"] - 1)
    values["sources"] = values["sources"] or known_keys()["sources"].default
    values["scopes"] = tuple(dict.fromkeys(("project", *values["scopes"])))
    vector, text = values[_VECTOR_WEIGHT], values[_TEXT_WEIGHT]
    if vector + text == 0:
        vector, text = known_keys()[_VECTOR_WEIGHT].default, known_keys()[_TEXT_WEIGHT].default
    total = vector + text
    values[_VECTOR_WEIGHT], values[_TEXT_WEIGHT] = vector / total, text / total


def _mask(key: Key, value: Any) -> Any:
    """Return a value as plain data that may be shown to anyone."""
    if key.rule.kind == "dict":
        return {name: _MASK for name, _ in value}
    if key.rule.secret:
        return _MASK if value else value
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, str):
        return _URL_PASSWORD.sub(_MASK, value)
    return value
