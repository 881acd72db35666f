"""What Codex was told to trust; it leaves out the rest without a word. Trust is for the user to give."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memlines.clients import toml_text
from memlines.clients.codex import CONFIG, HOOKS, folder_of, global_folder, is_our_hook
from memlines.errors import PathError
from memlines.files.atomic import read

_MOST_BYTES = 20_000_000
_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")


def is_trusted(project: Path) -> bool:
    """Tell whether Codex reads the settings of a project."""
    told = toml_text.value_at(_settings(), ("projects", str(project)))
    return isinstance(told, dict) and told.get("trust_level") == "trusted"


def untrusted_hooks(project: Path | None) -> list[str]:
    """Return the events whose hook of ours Codex does not run, because nobody said yet that it may."""
    file = folder_of(project) / HOOKS
    noted = toml_text.value_at(_settings(), ("hooks", "state"))
    states = noted if isinstance(noted, dict) else {}
    return [event for event, place in _our_hooks(file) if not _may_run(states.get(f"{file}:{place}"))]


def _may_run(state: Any) -> bool:
    return isinstance(state, dict) and "trusted_hash" in state and state.get("enabled") is not False


def _our_hooks(file: Path) -> Iterator[tuple[str, str]]:
    """Return each hook of ours: its event, and its place by which Codex knows it."""
    try:
        events = json.loads(read(file, _MOST_BYTES) or b"{}")["hooks"]
        for event, groups in events.items():
            for number, group in enumerate(groups):
                for inner, hook in enumerate(group["hooks"]):
                    if is_our_hook(("hooks", event, number, "hooks", inner), hook):
                        yield event, f"{_CAPITAL.sub('_', event).lower()}:{number}:{inner}"
    except (PathError, OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return  # a file that is not as it should be is for the check of files to tell


def _settings() -> dict[str, Any]:
    try:
        return toml_text.values_of((read(global_folder() / CONFIG, _MOST_BYTES) or b"").decode())
    except (PathError, OSError, ValueError):
        return {}
