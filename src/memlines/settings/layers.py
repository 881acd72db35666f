"""One layer of settings: what a file, the environment or an argument sets, for all agents or for one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, replace
from typing import Any

from memlines.errors import SettingsError
from memlines.paths import MAIN_AGENT, check_agent
from memlines.records import dataclass
from memlines.settings.keys import SESSION_MEMORY, known_keys, with_session_memory
from memlines.settings.values import Key, shown_value

AGENTS = "agents"
"""The name below which a place sets something for one agent alone: `agents.<name>.<key>`."""

_DEFAULTS, _LIST, _SEARCH = "defaults", "list", ("memorySearch", "memory_search")
"""What OpenClaw calls the settings of all agents, those of each one, and their part about memory."""

_INDEX = "store.path"
"""What each agent needs for itself; a common value without `{agent}` gets it for all but the main agent."""

_EXTENDED = "extra_paths"
"""The list that an agent's own values are added to; any other value of an agent replaces the common one."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A value that was set, and where."""

    key: Key
    value: Any
    origin: str
    expands: bool = False
    written: str = ""
    """The name under which it was set."""
    is_cleared: bool = False
    """Whether nothing was written as its value, which means the default, or what the profile sets."""


@dataclass(frozen=True, slots=True)
class Layer:
    """Everything that one place sets."""

    entries: Mapping[str, Entry] = field(default_factory=dict)
    agents: Mapping[str, Mapping[str, Entry]] = field(default_factory=dict)

    def over(self, before: Mapping[str, Entry], agent: str) -> dict[str, Entry]:
        """Return what holds for an agent: what held before, what is set here, and what for it alone."""
        merged = {**before, **with_sources(self.entries, before)}
        if _INDEX in self.entries and agent != MAIN_AGENT:
            common = self.entries[_INDEX]
            merged[_INDEX] = replace(common, value=_with_agent(common.value))
        for name, entry in with_sources(self.agents.get(agent, {}), merged).items():
            if name == _EXTENDED and not entry.is_cleared:
                paths = merged[name].value if name in merged else entry.key.default
                entry = replace(entry, value=tuple(dict.fromkeys((*paths, *entry.value))))
            merged[name] = entry
        return merged

    def store_paths(self) -> Iterator[str]:
        """Yield where indexes are kept, of whatever agent."""
        if _INDEX in self.entries:
            yield self.entries[_INDEX].value
            yield _with_agent(self.entries[_INDEX].value)
        for entries in self.agents.values():
            if _INDEX in entries:
                yield entries[_INDEX].value


def _with_agent(path: str) -> str:
    """Return the path of an index with the agent in it, so that no agent writes to that of another."""
    if not path or "{agent}" in path:
        return path
    start, end = os.path.splitext(path)  # noqa: PTH122 (a template, with ~ and braces)
    return f"{start}-{{agent}}{end}"


def with_sources(entries: Mapping[str, Entry], before: Mapping[str, Entry]) -> dict[str, Entry]:
    """Put the sources that it means in the place of `experimental.sessionMemory`, if that is set."""
    others = {name: entry for name, entry in entries.items() if name != SESSION_MEMORY}
    switch = entries.get(SESSION_MEMORY)
    if switch is None or switch.is_cleared:
        return others
    key = known_keys()["sources"]
    sources = others.get("sources") or before.get("sources")
    value = with_session_memory(
        sources.value if sources else key.default, wanted=switch.value, chosen="sources" in others
    )
    return {**others, "sources": replace(switch, key=key, value=value)}


def active_agent(given: Iterable[Layer], default: str) -> str:
    """Return the agent whose settings hold: the last place that names one decides."""
    name = default
    for one in given:
        if "agent" in one.entries:
            name = one.entries["agent"].value
    check_agent(name)
    return name


def read_layer(
    data: Mapping[Any, Any],
    origin: str,
    read: Callable[[Mapping[Any, Any], str], dict[str, Entry]],
) -> Layer:
    """Read what a mapping sets, with `read` for the keys of all agents and for those of each one."""
    common: dict[Any, Any] = {}
    sections: dict[str, dict[Any, Any]] = {}
    for agent, values in _parts(data, origin):
        section = common if agent is None else sections.setdefault(_check_name(agent, origin), {})
        for name, value in values.items():
            if name in section:
                raise SettingsError(
                    f"setting '{AGENTS}.{agent}.{name}' is set twice in {origin}",
                    todo="Keep one of the two spellings",
                )
            section[name] = value
    agents = {agent: read(section, f"{origin}, for agent {agent}") for agent, section in sections.items()}
    for agent, entries in agents.items():
        if "agent" in entries:
            raise SettingsError(
                f"setting 'agents.{agent}.agent' from {origin} would choose the agent that it belongs to",
                todo="Set agent beside agents, or name it with --agent",
            )
    return Layer(read(common, origin), agents)


def _parts(data: Mapping[Any, Any], origin: str) -> Iterator[tuple[object | None, Mapping[Any, Any]]]:
    """Yield what a mapping sets, piece by piece, with the agent that it is for; None means all agents."""
    for name, value in data.items():
        if name == AGENTS:
            for agent, section in _check_table(value, AGENTS, origin).items():
                if agent == _DEFAULTS:
                    yield None, {f"{AGENTS}.{_DEFAULTS}": section}
                elif agent == _LIST and isinstance(section, list):
                    yield from _agents_in_list(section, origin)
                else:
                    yield agent, _check_table(section, f"{AGENTS}.{agent}", origin)
        elif isinstance(name, str) and name.startswith(f"{AGENTS}.") and name.split(".")[1] != _DEFAULTS:
            agent, _, rest = name.removeprefix(f"{AGENTS}.").partition(".")
            yield agent, {rest: value} if rest else _check_table(value, name, origin)
        else:
            yield None, {name: value}


def _agents_in_list(agents: list[Any], origin: str) -> Iterator[tuple[object, Mapping[Any, Any]]]:
    """Yield the agents of a list as OpenClaw writes it: each has an id, and its settings below a heading."""
    for number, one in enumerate(agents):
        place = f"{AGENTS}.{_LIST}.{number}"
        agent = _check_table(one, place, origin)
        for name in _SEARCH:
            yield agent.get("id") or "", _check_table(agent.get(name), f"{place}.{name}", origin)


def _check_name(agent: object, origin: str) -> str:
    if not isinstance(agent, str):
        raise SettingsError(
            f"{shown_value(agent)} below 'agents' from {origin} is not the name of an agent",
            todo="Write it in quotes",
        )
    check_agent(agent)
    return agent


def _check_table(value: Any, name: str, origin: str) -> Mapping[Any, Any]:
    if value is None:  # a heading whose lines are all commented out is not a mistake
        return {}
    if not isinstance(value, Mapping):
        raise SettingsError(
            f"setting {name!r} from {origin} has a value, but it is a group of settings",
            todo="Write agents: {NAME: {KEY: VALUE}}",
        )
    return value
