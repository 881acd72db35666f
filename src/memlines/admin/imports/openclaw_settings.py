"""Translate what OpenClaw's configuration says about memory into our settings. Keys are never copied."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memlines.admin.imports.openclaw_memories import PLUGIN, plugin_config
from memlines.errors import SettingsError
from memlines.paths import expand_home
from memlines.settings.aliases import translate
from memlines.settings.keys import known_keys, snake
from memlines.settings.rules import shown_value
from memlines.settings.services import SERVICES
from memlines.settings.values import checked
from memlines.transcripts.lines import table

_SEARCH = "memorySearch"
_AGENT = re.compile(r"[A-Za-z0-9_-]{1,64}")
_PLUGIN_KEYS = {
    "autoCapture": "facts.auto_capture",
    "autoRecall": "facts.auto_recall",
    "captureMaxChars": "facts.capture_max_chars",
    "customTriggers": "facts.capture_triggers",
}
_PLUGIN_LEFT_OUT = {
    "embedding": "facts are embedded as notes are",
    "dbPath": "its memories are imported, and facts stand in a note here",
    "storageOptions": "it may hold keys, and facts stand in a note here",
}
_PLACES = {
    "store.path": "an index of OpenClaw cannot be used here, and is made anew",
    "facts.uri": "facts stand in a note here",
}
_CREDENTIALS = re.compile(r"://[^/?#]*@|[?&][^=&#]*(?:key|token|secret|sig)[^=&#]*=", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Translated:
    """Settings by their keys (those of one agent as `agents.<name>.<key>`), and why others were left out."""

    values: Mapping[str, Any]
    left_out: tuple[str, ...]


def translated(config: Mapping[str, Any], workspace: Path) -> Translated:
    """Return the settings that a configuration means; relative paths in it begin at OpenClaw's workspace."""
    work = _Work(workspace)
    values, left_out = translate(_about_memory(config))
    work.left_out += left_out
    work.take(values)
    listed = table(config.get("agents")).get("list")
    for one in map(table, listed if isinstance(listed, list) else []):
        if isinstance(one.get(_SEARCH), Mapping):
            work.take_agent(one.get("id"), one[_SEARCH])
    work.take_plugin(plugin_config(config))
    return Translated(work.values, tuple(dict.fromkeys(work.left_out)))


def _about_memory(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of a whole configuration that are about memory, even if there are none."""
    agents = table(config.get("agents"))
    defaults = table(agents.get("defaults"))
    return {
        "agents": {"defaults": {_SEARCH: table(defaults.get(_SEARCH))}},
        _SEARCH: table(config.get(_SEARCH)),
        "memory": table(config.get("memory")),
    }


class _Work:
    """One translation: what was taken, and what was not."""

    def __init__(self, workspace: Path) -> None:
        self.values: dict[str, Any] = {}
        self.left_out: list[str] = []
        self._workspace = workspace

    def take_agent(self, agent: object, part: Mapping[str, Any]) -> None:
        """Take what holds for one agent alone; its name becomes a part of keys, where dots divide names."""
        if not isinstance(agent, str) or not _AGENT.fullmatch(agent):
            self.left_out.append(f"the settings of agent {shown_value(agent)}: its name cannot be used here")
            return
        values, left_out = translate({_SEARCH: part})
        self.left_out += [f"agent {agent}: {sentence}" for sentence in left_out]
        self.take(values, f"agents.{agent}.")

    def take(self, values: Mapping[str, Any], prefix: str = "") -> None:
        """Take settings, but for keys and what means something else here."""
        for name, value in values.items():
            why = _why_not(name, value, values)
            if why:
                self.left_out.append(f"{prefix}{name}: {why}")
            else:
                self.values[prefix + name] = self._here(name, value)
        if "sessions" in values.get("sources", ()):
            self.values[f"{prefix}sessions.clients"] = ["openclaw"]

    def take_plugin(self, config: Mapping[str, Any]) -> None:
        """Take the settings of the LanceDB plugin, which facts have here."""
        for name, value in config.items():
            key = known_keys().get(_PLUGIN_KEYS.get(name, ""))
            if key is None:
                why = _PLUGIN_LEFT_OUT.get(name, "there is no such setting")
                self.left_out.append(f"{PLUGIN} {name}: {why}")
                continue
            try:
                checked(key, value, f"the plugin {PLUGIN}")
            except SettingsError as error:
                self.left_out.append(error.what)
            else:
                self.values[key.name] = value
        embedding = table(config.get("embedding"))
        if embedding.get("apiKey"):
            self.left_out.append(f"{PLUGIN} embedding.apiKey: {_about_key('openai')}")

    def _here(self, name: str, value: Any) -> Any:
        """Return a value as it means the same here: paths are relative to OpenClaw's workspace."""
        if name != "extra_paths" or not isinstance(value, list):
            return value
        return [os.path.normpath(self._workspace / expand_home(path)) for path in value]


def _why_not(name: str, value: Any, values: Mapping[str, Any]) -> str:
    """Say why a setting is not taken; nothing if it is."""
    rule = known_keys()[name].rule
    if name == "embeddings.api_key":
        return _about_key(str(values.get("embeddings.provider", "openai")))
    if rule.secret or rule.kind == "pairs":
        return "it may hold a key, which is never copied; set it yourself"
    if isinstance(value, str) and _CREDENTIALS.search(value):
        return "the address holds a key, which is never copied; set it yourself"
    if name == "backend" and value != "builtin":
        return f"{value} is not used here; Memlines searches its own index"
    return _PLACES.get(name, "")


def _about_key(provider: str) -> str:
    _, variables = SERVICES.get(snake(provider), ("", ()))
    todo = f"set the variable {variables[0]}" if variables else "set embeddings.api_key to ${YOUR_VARIABLE}"
    return f"keys are never copied; {todo}"
