"""The transcripts of real clients, and a reader for their databases."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from memlines.transcripts.opencode import read_export
from memlines.types import Transcript, Turn

SESSIONS = Path(__file__).parents[1] / "fixtures/sessions"
SHOP = Path("/home/ada/shop")
"""The workspace that they all belong to."""

(CLAUDE_CODE,) = (SESSIONS / "claude-code/projects/-home-ada-shop").glob("*.jsonl")
(HELPER,) = (SESSIONS / "claude-code").glob("projects/*/*/subagents/*.jsonl")
(CODEX,) = (SESSIONS / "codex").rglob("rollout-*.jsonl")
(OPENCLAW,) = (SESSIONS / "openclaw").glob("*.jsonl.deleted.*")
OPENCLAW_ROWS = SESSIONS / "openclaw/openclaw-agent.sql"
OPENCODE_EXPORT = SESSIONS / "opencode/export.json"
OPENCODE_ROWS = SESSIONS / "opencode/opencode.sql"


def content(file: Path) -> str:
    """Return the text of a file."""
    return file.read_text(encoding="utf-8")


def exported(text: str) -> Transcript:
    """Return what was said in a session that OpenCode exported."""
    export = read_export(text)
    return export[1] if export else Transcript(())


def database(statements: Path, file: Path) -> Path:
    """Make a database out of the statements in a fixture."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(content(statements))
    return file


def query(path: str, question: str, values: tuple[Any, ...]) -> Iterable[tuple[Any, ...]]:
    """Ask a database a question."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        return connection.execute(question, values).fetchall()


def shown(turns: Iterable[Turn]) -> list[str]:
    """Write turns in a few words: who, with which tools, what."""
    return [
        f"{turn.role}{''.join(f' [{tool}]' for tool in getattr(turn, 'tools', ()))}: {turn.text}"
        for turn in turns
    ]
