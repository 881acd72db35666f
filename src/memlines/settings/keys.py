"""The keys of the tree by name, and the way between the tree and a flat mapping."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, fields
from operator import attrgetter
from types import MappingProxyType
from typing import Any

from memlines.errors import SettingsError
from memlines.settings.rules import Key, shown_value
from memlines.settings.tree import Settings

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
    """Return the error for a name nobody knows, with the one nearest to it, or to what it stands for."""
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
            yield Key(own_name, own_attribute, variable, member.default, member.metadata["rule"])


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
