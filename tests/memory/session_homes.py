"""Homes of all clients, with real transcripts of a workspace in them."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from memlines.transcripts import claude_code
from tests.transcripts.recorded import (
    CLAUDE_CODE,
    CODEX,
    OPENCLAW,
    OPENCLAW_ROWS,
    OPENCODE_ROWS,
    SHOP,
    content,
)

CLIENTS = ("claude-code", "codex", "opencode", "openclaw")
SETTINGS = {
    "embeddings.provider": "none",
    "sources": ["memory", "sessions"],
    "sessions.clients": list(CLIENTS),
    "timezone": "UTC",
}
TOKEN = "ghp_" + "k7Rq2Zt9Lw4Xc8Vb3Nm6"[::-1] * 2  # made up; only its form is a token's

SESSION = "11111111-1111-4111-8111-111111111111"
IN_CLAUDE_CODE = f"sessions/claude-code/{SESSION}.jsonl"
IN_CODEX = f"sessions/codex/{CODEX.name}"
IN_OPENCLAW = f"sessions/openclaw/main/{SESSION}.jsonl"
IN_OPENCLAW_DELETED = f"sessions/openclaw/main/{OPENCLAW.name}"
IN_OPENCODE = "sessions/opencode/ses_e1d428195ffeJ1CURLcgjASt7b.jsonl"
ALL = (IN_CLAUDE_CODE, IN_CODEX, IN_OPENCLAW, IN_OPENCLAW_DELETED, IN_OPENCODE)


def make_homes(home: Path, workspace: Path) -> Mapping[str, str]:
    """Put every client's transcripts in their places; return the variables that name these."""
    real = str(workspace.resolve())

    def put(fixture: Path, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content(fixture).replace(str(SHOP), real), encoding="utf-8")

    def put_rows(fixture: Path, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(file)) as connection:
            # One transaction: a hundred tests make these databases.
            connection.executescript(f"BEGIN;{content(fixture).replace(str(SHOP), real)};COMMIT;")

    put(CLAUDE_CODE, home / "claude/projects" / claude_code.slug(real) / CLAUDE_CODE.name)
    put(CODEX, home / "codex/sessions/2026/11/16" / CODEX.name)
    put(OPENCLAW, home / "openclaw/agents/main/sessions" / OPENCLAW.name)
    put_rows(OPENCLAW_ROWS, home / "openclaw/agents/main/agent/openclaw-agent.sqlite")
    put_rows(OPENCODE_ROWS, home / "data/opencode/opencode.db")
    return {
        "HOME": str(home),
        "CLAUDE_CONFIG_DIR": str(home / "claude"),
        "CODEX_HOME": str(home / "codex"),
        "OPENCLAW_STATE_DIR": str(home / "openclaw"),
        "XDG_DATA_HOME": str(home / "data"),
    }


def codex_file(home: Path) -> Path:
    """Return the transcript of Codex in a home."""
    (file,) = (home / "codex/sessions").rglob("rollout-*.jsonl")
    return file
