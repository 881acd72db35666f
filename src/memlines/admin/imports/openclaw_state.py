"""Where OpenClaw keeps its state, and what its configuration says."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memlines.errors import PathError, reason_of
from memlines.paths import check_agent, expand_home
from memlines.settings.json5 import parse
from memlines.transcripts.lines import table, tidy

CONFIG = "openclaw.json"
_LONGEST_CONFIG = 10_000_000


def default_state_dir(environ: Mapping[str, str] = os.environ) -> Path:
    """Return where OpenClaw keeps its state, unless somebody says otherwise."""
    return expand_home(environ.get("OPENCLAW_STATE_DIR") or "~/.openclaw")


def find_database(state_dir: Path, agent: str) -> Path | None:
    """Return the database of an agent: where newer versions keep it, or where older ones did."""
    check_agent(agent)
    places = (
        state_dir / "agents" / agent / "agent" / "openclaw-agent.sqlite",
        state_dir / "memory" / f"{agent}.sqlite",
    )
    return next((place for place in places if place.is_file() and not place.is_symlink()), None)


def config_of(state_dir: Path) -> Mapping[str, Any]:
    """Return the configuration; nothing if there is none, and a `PathError` if it cannot be read."""
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
    for told in (*own, table(agents.get("defaults"))):
        if named := tidy(told.get("workspace")):
            return expand_home(named)
    return state_dir / ("workspace" if agent == "main" else f"workspace-{agent}")
