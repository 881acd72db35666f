"""The keys of the tree by name, and the other names that OpenClaw's and OpenCode's configurations use."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, fields
from operator import attrgetter
from types import MappingProxyType
from typing import Any, NamedTuple

from memlines.errors import SettingsError
from memlines.settings.tree import Settings
from memlines.settings.values import Key, check_value, shown_value, with_type

VARIABLE_PREFIX = "MEMLINES_"

_LONGEST_NAME = 100
"""A name longer than this is cut before it is compared with the known ones."""

_CAMEL_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@functools.cache
def known_keys() -> Mapping[str, Key]:
    """Return every key by its dotted name, in the order of the tree."""
    return MappingProxyType({key.name: key for key in _keys_below(Settings, "", "")})


@functools.cache
def groups() -> frozenset[str]:
    """Return the dotted names that hold other keys."""
    parts = [name.split(".") for name in known_keys()]
    return frozenset(".".join(part[:depth]) for part in parts for depth in range(1, len(part)))


@functools.cache
def variables() -> Mapping[str, Key]:
    """Return every key by the environment variable that sets it."""
    return MappingProxyType({key.variable: key for key in known_keys().values()})


def flatten(settings: Settings) -> dict[str, Any]:
    """Return every value by its dotted key, secrets included."""
    return {name: attrgetter(key.attribute)(settings) for name, key in known_keys().items()}


def build(values: Mapping[str, Any]) -> Settings:
    """Return the tree that holds these values, and the defaults for the rest."""
    settings: Settings = _build(Settings, "", values)
    return settings


def snake(name: str) -> str:
    """Turn `maxResults` into `max_results`; a name in snake_case stays as it is."""
    return _CAMEL_BOUNDARY.sub("_", name).lower()


def unknown(name: object, origin: str, known: Iterable[str], resolved: str = "") -> SettingsError:
    """Return the error for an unknown name, with the known one that is nearest to it or to what it means."""
    import difflib

    text = resolved or (name if isinstance(name, str) else shown_value(name))
    nearest = difflib.get_close_matches(text[:_LONGEST_NAME], sorted(known), n=1, cutoff=0.0)
    return SettingsError(
        f"unknown setting {shown_value(name)} from {origin}",
        todo=f"The nearest known one is {nearest[0]!r}; 'memlines config show' lists them all",
    )


def _keys_below(section: type, name: str, attribute: str) -> Iterator[Key]:
    """Walk the fields of a section and of the sections below it."""
    for member in fields(section):
        own_name = name + _plain(member.name)
        own_attribute = attribute + member.name
        inner = _section_of(member)
        if inner is not None:
            yield from _keys_below(inner, own_name + ".", own_attribute + ".")
        else:
            variable = VARIABLE_PREFIX + own_name.upper().replace(".", "__")
            yield Key(
                own_name,
                own_attribute,
                variable,
                member.default,
                with_type(member.metadata["rule"], member.type),
            )


def _build(section: type, name: str, values: Mapping[str, Any]) -> Any:
    """Make a section and the sections below it."""
    given: dict[str, Any] = {}
    for member in fields(section):
        own_name = name + _plain(member.name)
        inner = _section_of(member)
        if inner is not None:
            given[member.name] = _build(inner, own_name + ".", values)
        elif own_name in values:
            given[member.name] = values[own_name]
    return section(**given)


def _section_of(member: Field[Any]) -> type | None:
    """Return the class of a field that holds other settings."""
    factory = member.default_factory
    return factory if factory is not MISSING and isinstance(factory, type) else None


def _plain(attribute: str) -> str:
    """Drop the underscore that keeps an attribute apart from a Python keyword."""
    return attribute.removesuffix("_")


Convert = Callable[[float], float]

WRAPPERS = ("agents.defaults.memory_search", "memory_search", "memory")
"""Headings that a whole configuration may be below."""

SESSION_MEMORY = "experimental.session_memory"
"""Not a name of a key but half of one: conversations are read if this and `sources` ask for them."""

ALIASES: Mapping[str, str] = {
    "provider": "embeddings.provider",
    "fallback": "embeddings.fallback",
    "model": "embeddings.model",
    "output_dimensionality": "embeddings.dimensions",
    "remote.base_url": "embeddings.base_url",
    "remote.api_key": "embeddings.api_key",
    "remote.headers": "embeddings.headers",
    "remote.batch": "embeddings.batch",
    "local": "embeddings.local",
    "embedding": "embeddings",
    "embeddings.batch.poll_interval_ms": "embeddings.batch.poll_seconds",
    "chunk_size": "chunking.tokens",
    "storage": "store",
    "storage.cache": "cache",
    "search": "query",
    "hybrid": "query.hybrid",
    "mmr": "query.mmr",
    "temporal_decay": "query.temporal_decay",
    "max_injected_chars": "tools.max_chars",
    "query.hybrid.mmr": "query.mmr",
    "query.hybrid.temporal_decay": "query.temporal_decay",
}
"""What each name means: a key, or a group with all the keys in it."""

CONVERSIONS: Mapping[str, Convert] = {
    "chunk_size": lambda characters: int(characters // 4),
    "embeddings.batch.poll_interval_ms": lambda milliseconds: milliseconds / 1000,
}
"""How a number becomes the key's where the alias counts something else: characters, four a token, and
milliseconds."""

WITHOUT_EFFECT: Mapping[str, str] = {
    "qmd.mcporter": "qmd is run for each search, so there is no server that keeps it running",
    "qmd.search_tool": "qmd is run for each search, so there is no server that has tools",
    "qmd.update.interval": "write the minutes in qmd.update.interval_minutes",
    "qmd.update.embed_interval": "write the minutes in qmd.update.embed_interval_minutes",
    "qmd.update.command_timeout_ms": "no other command of qmd is run",
    "multimodal": "only text is indexed",
    "store.fts": "words are always indexed, by rules that need no choice",
}
"""Names that are accepted so that a configuration can be used as it is written, and why they do nothing."""


class Leaf(NamedTuple):
    """One value of a configuration: how its name was written, the key it sets, and the key's value."""

    written: str
    key: str
    value: Any


def resolve(name: str) -> tuple[str, Convert | None]:
    """Return the name in the tree that a name in snake_case means, and how its numbers are converted."""
    for wrapper in WRAPPERS:
        if _is_at_or_below(name, wrapper):
            name = name[len(wrapper) + 1 :]
            break
    convert: Convert | None = None
    while alias := max((alias for alias in ALIASES if _is_at_or_below(name, alias)), key=len, default=""):
        convert = CONVERSIONS.get(name, convert)
        name = ALIASES[alias] + name[len(alias) :]
    return name, convert


def leaves(data: Mapping[Any, Any], origin: str, heading: str = "") -> Iterator[Leaf | SettingsError]:
    """Walk a configuration down to its values; what is in it but is not a setting comes as an error.

    Names may be nested or dotted, in snake_case or camelCase, the tree's own or aliases.
    """
    for spelled, value in data.items():
        written = f"{heading}{spelled}"
        name, convert = resolve(snake(written))
        if not isinstance(spelled, str) or not spelled:
            yield unknown(spelled, origin, known_keys())
        elif name in known_keys() or name == SESSION_MEMORY or why_without_effect(name):
            yield Leaf(written, name, _convert(value, convert))
        elif name and not any(other.startswith(f"{name}.") for other in _all_names()):
            yield unknown(written, origin, _all_names(), name)
        elif isinstance(value, Mapping):
            yield from leaves(value, origin, f"{written}.")
        elif value is not None:  # a heading whose lines are all commented out is not a mistake
            inside = [key for key in known_keys() if _is_at_or_below(key, name)]
            yield SettingsError(
                f"setting {written!r} from {origin} has a value, but it is a group of settings",
                todo=f"Set one of: {', '.join(inside)}" if inside else "Write settings below it",
            )


def why_without_effect(name: str) -> str:
    """Say why a name is accepted but does nothing; empty if it is none of those."""
    return next((why for start, why in WITHOUT_EFFECT.items() if _is_at_or_below(name, start)), "")


def with_session_memory(sources: Iterable[str], *, wanted: bool, chosen: bool) -> tuple[str, ...]:
    """Return the sources that are meant by these and `experimental.sessionMemory`.

    Where the same configuration also chose the sources, both have to ask for conversations, as in the
    original. Where it did not, the switch alone decides.
    """
    if wanted and chosen:
        return tuple(sources)
    others = tuple(source for source in sources if source != "sessions")
    return (*others, "sessions") if wanted else others


def translate(data: Mapping[Any, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the settings that another program's configuration means, by key, and what was left out.

    The configuration is a whole `openclaw.json`, or what is below its `memorySearch`. What it says
    beside memory, and about single agents, is not looked at. Every part about memory that cannot be a
    setting is left out, with a sentence that says so.
    """
    parts = {wrapper: part for wrapper in WRAPPERS if (part := _part(data, wrapper)) is not None}
    settings: dict[str, Any] = {}
    left_out: list[str] = []
    session_memory: Any = None
    for part in parts.values() if parts else (data,):
        for leaf in leaves(part, "the configuration"):
            if isinstance(leaf, SettingsError):
                left_out.append(leaf.what)
            elif why := why_without_effect(leaf.key):
                left_out.append(f"{leaf.written} has no effect: {why}")
            elif leaf.key == SESSION_MEMORY:
                session_memory = leaf.value
            elif leaf.value is not None:
                try:
                    check_value(known_keys()[leaf.key], leaf.value, "the configuration")
                except SettingsError as error:
                    left_out.append(error.what)
                else:
                    settings[leaf.key] = leaf.value
    if isinstance(session_memory, bool):
        sources = settings.get("sources", known_keys()["sources"].default)
        chosen = "sources" in settings
        settings["sources"] = list(with_session_memory(sources, wanted=session_memory, chosen=chosen))
    return settings, left_out


def _part(data: Mapping[Any, Any], path: str) -> Mapping[Any, Any] | None:
    """Return the mapping at a dotted path of a nested configuration, if there is one."""
    found: Any = data
    for step in path.split("."):
        inner = [value for name, value in found.items() if isinstance(name, str) and snake(name) == step]
        if not inner or not isinstance(inner[0], Mapping):
            return None
        found = inner[0]
    return found  # type: ignore[no-any-return]


def _all_names() -> tuple[str, ...]:
    return (*known_keys(), *groups(), *ALIASES, *WRAPPERS, SESSION_MEMORY, *WITHOUT_EFFECT)


def _is_at_or_below(name: str, start: str) -> bool:
    return name == start or name.startswith(f"{start}.")


def _convert(value: Any, convert: Convert | None) -> Any:
    """Convert a number; anything else stays as it is, to be refused by the key's own check."""
    if convert is None or isinstance(value, bool) or not isinstance(value, int | float):
        return value
    try:
        return convert(value)
    except (OverflowError, ValueError):  # no number that anything could count
        return value
