"""Bring in what OpenClaw remembers: its vectors, the memories of its LanceDB plugin and, if asked, its notes.

Its notes need no import: Memlines reads a workspace of OpenClaw as it is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal

from memlines.admin.imports import vault
from memlines.admin.imports.openclaw_memories import (
    PLUGIN,
    Memories,
    place_of_memories,
    plugin_config,
    take_memories,
)
from memlines.admin.imports.openclaw_vectors import Vectors, take_vectors
from memlines.errors import PathError, SettingsError, reason_of
from memlines.files.journal import operation
from memlines.memory.memory import Memory
from memlines.memory.notes.settings_file import add_settings
from memlines.paths import check_agent, expand_home
from memlines.records import dataclass
from memlines.settings.json5 import parse
from memlines.settings.keys import known_keys, snake, translate
from memlines.settings.tree import SERVICES
from memlines.settings.values import check_value, shown_value
from memlines.transcripts.lines import table, tidy
from memlines.types import Progress

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
    "dbPath": "its memories are imported, and facts are kept in a note here",
    "storageOptions": "it may hold keys, and facts are kept in a note here",
}
_PLACES = {
    "store.path": "an index of OpenClaw cannot be used here, and is rebuilt",
    "facts.uri": "facts are kept in a note here",
}
_CREDENTIALS = re.compile(r"://[^/?#]*@|[?&][^=&#]*(?:key|token|secret|sig)[^=&#]*=", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TheirSettings:
    """OpenClaw's settings by our keys, what of them was left out and why, and where they were written.

    The keys of one agent are `agents.<name>.<key>`.
    """

    values: Mapping[str, Any]
    left_out: tuple[str, ...]
    file: str = ""
    kept: tuple[str, ...] = ()
    """The keys that the file set before, which stay as they were."""


def translate_settings(config: Mapping[str, Any], workspace: Path) -> TheirSettings:
    """Return the settings of a configuration by our keys; relative paths begin at OpenClaw's workspace."""
    work = _Translation(workspace)
    defaults = table(table(config.get("agents")).get("defaults"))
    about_memory = {
        "agents": {"defaults": {_SEARCH: table(defaults.get(_SEARCH))}},
        _SEARCH: table(config.get(_SEARCH)),
        "memory": table(config.get("memory")),
    }
    values, left_out = translate(about_memory)
    work.left_out += left_out
    work.take(values)
    listed = table(config.get("agents")).get("list")
    for one in map(table, listed if isinstance(listed, list) else []):
        agent, part = one.get("id"), one.get(_SEARCH)
        if not isinstance(part, Mapping):
            continue
        if isinstance(agent, str) and _AGENT.fullmatch(agent):
            values, left_out = translate({_SEARCH: part})
            work.left_out += [f"agent {agent}: {sentence}" for sentence in left_out]
            work.take(values, f"agents.{agent}.")
        else:  # its name becomes a part of keys, where dots divide names
            work.left_out.append(f"the settings of agent {shown_value(agent)}: its name cannot be used here")
    work.take_plugin(plugin_config(config))
    return TheirSettings(work.values, tuple(dict.fromkeys(work.left_out)))


class _Translation:
    """One translation: what was taken over, and what was not."""

    def __init__(self, workspace: Path) -> None:
        self.values: dict[str, Any] = {}
        self.left_out: list[str] = []
        self._workspace = workspace

    def take(self, values: Mapping[str, Any], prefix: str = "") -> None:
        """Take over settings, but for secrets and what means something else here."""
        for name, value in values.items():
            why = _why_not(name, value, values)
            if why:
                self.left_out.append(f"{prefix}{name}: {why}")
            else:
                if name == "extra_paths" and isinstance(value, list):
                    value = [os.path.normpath(self._workspace / expand_home(path)) for path in value]
                self.values[prefix + name] = value
        if "sessions" in values.get("sources", ()):
            self.values[f"{prefix}sessions.clients"] = ["openclaw"]

    def take_plugin(self, config: Mapping[str, Any]) -> None:
        """Take over the settings of the LanceDB plugin, which are those of facts here."""
        for name, value in config.items():
            key = known_keys().get(_PLUGIN_KEYS.get(name, ""))
            if key is None:
                why = _PLUGIN_LEFT_OUT.get(name, "there is no such setting")
                self.left_out.append(f"{PLUGIN} {name}: {why}")
                continue
            try:
                check_value(key, value, f"the plugin {PLUGIN}")
            except SettingsError as error:
                self.left_out.append(error.what)
            else:
                self.values[key.name] = value
        if table(config.get("embedding")).get("apiKey"):
            self.left_out.append(f"{PLUGIN} embedding.apiKey: {_about_key('openai')}")


def _why_not(name: str, value: Any, values: Mapping[str, Any]) -> str:
    """Return why a setting is not taken over; empty if it is."""
    rule = known_keys()[name].rule
    if name == "embeddings.api_key":
        return _about_key(str(values.get("embeddings.provider", "openai")))
    if rule.secret or rule.kind == "dict":
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


CONFIG = "openclaw.json"
_LONGEST_CONFIG = 10_000_000


def default_state_dir() -> Path:
    """Return where OpenClaw keeps its state, by the environment or by default."""
    return expand_home(os.environ.get("OPENCLAW_STATE_DIR") or "~/.openclaw")


def find_database(state_dir: Path, agent: str) -> Path | None:
    """Return the database of an agent: where newer versions keep it, or where older ones did."""
    check_agent(agent)
    places = (
        state_dir / "agents" / agent / "agent" / "openclaw-agent.sqlite",
        state_dir / "memory" / f"{agent}.sqlite",
    )
    return next((place for place in places if place.is_file() and not place.is_symlink()), None)


def config_of(state_dir: Path) -> Mapping[str, Any]:
    """Return the configuration, empty if there is none; raise a `PathError` if it cannot be read."""
    file = state_dir / CONFIG
    try:
        with file.open("rb") as stream:
            content = stream.read(_LONGEST_CONFIG + 1)
        if len(content) > _LONGEST_CONFIG:
            raise ValueError("it is too large")
        text = content.decode("utf-8-sig")
        return table(parse(text)) if text.strip() else {}
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError) as error:
        raise PathError(
            f"the configuration {str(file)!r} cannot be read: {reason_of(error)}",
            todo="Correct it, or name another folder with --state-dir",
        ) from error


def workspace_of(state_dir: Path, agent: str) -> Path:
    """Return the workspace of an agent by the configuration in a folder."""
    return workspace_in(config_of(state_dir), state_dir, agent)


def workspace_in(config: Mapping[str, Any], state_dir: Path, agent: str) -> Path:
    """Return the workspace of an agent: what a configuration says, or where it is without one."""
    agents = table(config.get("agents"))
    listed = agents.get("list")
    own = [table(one) for one in listed if table(one).get("id") == agent] if isinstance(listed, list) else []
    for one in (*own, table(agents.get("defaults"))):
        if named := tidy(one.get("workspace")):
            return expand_home(named)
    return state_dir / ("workspace" if agent == "main" else f"workspace-{agent}")


SettingsFile = Literal["user", "project"]
"""Whose settings file OpenClaw's settings are written into."""


@dataclass(frozen=True, slots=True)
class ImportedOpenClaw:
    """What an import did, or would do if `dry_run`; a part that OpenClaw does not have is `None`."""

    vectors: Vectors | None
    memories: Memories | None
    notes: vault.CopiedNotes | None
    dry_run: bool
    settings: TheirSettings | None = None
    trouble: str = ""
    """Why OpenClaw's configuration could not be read, so that its usual places were looked at."""

    @property
    def failed(self) -> bool:
        """Whether something that is there could not be brought in."""
        return bool((self.notes and self.notes.failed) or (self.memories and self.memories.reason))

    def to_json(self) -> dict[str, Any]:
        """Return it with field names that stay; the fields of vectors are at the top."""
        result = asdict(self)
        vectors = result.pop("vectors") or asdict(Vectors(""))
        return {**vectors, **result}


@operation("import")
def import_openclaw(
    memory: Memory,
    *,
    state_dir: Path,
    notes_from: Path | None = None,
    dry_run: bool = False,
    with_forgotten: bool = False,
    settings_to: SettingsFile | None = None,
    progress: Progress,
) -> ImportedOpenClaw:
    """Take over the memories and vectors of an agent of OpenClaw, and copy notes if a folder is named."""
    workspace, settings = memory.workspace, memory.settings
    database = find_database(state_dir, settings.agent)
    trouble = ""
    try:
        config = config_of(state_dir)
    except PathError as error:
        if settings_to is not None:
            raise
        config, trouble = {}, str(error)
    place = place_of_memories(state_dir, config)
    ours = _settings(memory, config, state_dir, None if dry_run else settings_to)
    if database is None and place is None and notes_from is None and ours is None:
        raise PathError(
            f"OpenClaw has no memory of the agent {settings.agent!r} in {str(state_dir)!r}",
            todo="Name its folder with --state-dir and the agent with --agent",
        )
    notes = None
    if notes_from is not None:
        notes = vault.copy_notes(
            workspace, settings, notes_from, dry_run=dry_run, with_forgotten=with_forgotten, progress=progress
        )
    memories = None
    if place is not None:
        memories = take_memories(
            memory, place, dry_run=dry_run, with_forgotten=with_forgotten, progress=progress
        )
    vectors = None
    if database is not None:
        memory.close()  # what it does in the background would be in the way
        vectors = take_vectors(workspace, settings, str(database), dry_run=dry_run, progress=progress)
    return ImportedOpenClaw(vectors, memories, notes, dry_run, ours, trouble)


def _settings(
    memory: Memory, config: Mapping[str, Any], state_dir: Path, file: SettingsFile | None
) -> TheirSettings | None:
    """Translate OpenClaw's settings, and write them into a file if one is named."""
    found = translate_settings(config, workspace_in(config, state_dir, memory.settings.agent))
    if not found.values and not found.left_out:
        return None
    if file is None or not found.values:
        return found
    heading = f"From {state_dir / CONFIG}"
    path, kept = add_settings(found.values, heading, None if file == "user" else memory.workspace)
    return replace(found, file=str(path), kept=tuple(kept))
