"""The sessions of OpenCode 2 are read from its own tables, as its users published them from 2.0.3 to 2.0.12.

The table of messages is also in the database that a real OpenCode 1.18.33 makes.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memlines.transcripts import opencode
from memlines.transcripts.catalogue import recognise
from memlines.transcripts.finding import Found
from tests.transcripts.recorded import OPENCODE_ROWS, SHOP, database, query, shown

TABLES = """
CREATE TABLE session_v2 (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, slug text NOT NULL,
    directory text NOT NULL, title text, version text NOT NULL, time_created integer NOT NULL,
    time_updated integer NOT NULL, time_archived integer);
CREATE TABLE session_message (id text PRIMARY KEY, session_id text NOT NULL, type text NOT NULL,
    seq integer NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
"""
BEGAN = 1_790_000_000_000
TALK: list[tuple[str, dict[str, Any]]] = [
    ("system", {"text": "The instructions have changed."}),
    ("user", {"text": "Use Postgres.", "time": {"created": BEGAN}, "files": []}),
    ("synthetic", {"text": "Put in by a program."}),
    (
        "assistant",
        {
            "agent": "build",
            "time": {"created": BEGAN + 1000},
            "content": [
                {"type": "reasoning", "text": "Thinking about it."},
                {"type": "tool", "name": "shell", "state": {"status": "completed", "content": []}},
                {"type": "text", "text": "It is done."},
            ],
        },
    ),
    ("shell", {"command": "ls", "output": {"output": "main.py"}}),
    ("compaction", {"status": "completed", "summary": "A summary.", "recent": ""}),
    ("idle", {"outcome": "succeeded"}),
]


def add(file: Path, session: str, directory: str = str(SHOP), parent: str | None = None) -> None:
    """Let a person, or an agent, have the conversation in a folder."""
    with closing(sqlite3.connect(file)) as connection, connection:
        row = (session, "prj_1", parent, "slug", directory, "2.0.12", BEGAN, BEGAN + 5000)
        connection.execute(
            "INSERT INTO session_v2 (id, project_id, parent_id, slug, directory, version, time_created,"
            " time_updated) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            row,
        )
        for seq, (kind, data) in enumerate(TALK):
            values = (f"msg_{session}_{seq}", session, kind, seq, BEGAN, BEGAN + seq, json.dumps(data))
            connection.execute("INSERT INTO session_message VALUES (?, ?, ?, ?, ?, ?, ?)", values)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A database of OpenCode 2 with one session."""
    made = tmp_path / ".local/share/opencode/opencode.db"
    made.parent.mkdir(parents=True)
    with closing(sqlite3.connect(made)) as connection:
        connection.executescript(TABLES)
    add(made, "ses_new")
    return made


def found(home: Path) -> list[Found]:
    seen = opencode.CLIENT.find(SHOP, {"HOME": str(home)}, query, None, "main")
    assert seen.problems == []
    return seen.found


def lines(file: Path, session: str = "ses_new") -> list[str]:
    return opencode.read_session(query, str(file), session)


@pytest.fixture
def both(file: Path) -> Path:
    """A database that OpenCode 2 took over: the tables of OpenCode 1 are still there."""
    return database(OPENCODE_ROWS, file)


def test_what_was_said_is_read_with_the_names_of_tools(file: Path) -> None:
    assert shown(opencode.CLIENT.parse(lines(file)).turns) == [
        "user: Use Postgres.",
        "assistant [shell]: It is done.",
    ]


def test_turns_have_the_time_of_their_message(file: Path) -> None:
    turns = opencode.CLIENT.parse(lines(file)).turns
    assert [turn.time and turn.time.timestamp() for turn in turns] == [BEGAN / 1000, BEGAN / 1000 + 1]


def test_the_head_names_the_folder(file: Path) -> None:
    head = opencode.CLIENT.head(lines(file))
    assert head
    assert (head.session, head.folder) == ("ses_new", str(SHOP))


def test_the_lines_are_recognised(file: Path) -> None:
    assert recognise(lines(file)) is opencode.CLIENT


def test_a_session_that_is_gone_has_no_lines(file: Path) -> None:
    assert lines(file, "ses_gone") == []


def test_sessions_of_other_folders_and_of_helpers_are_not_found(file: Path, tmp_path: Path) -> None:
    add(file, "ses_elsewhere", "/home/ada/other")
    add(file, "ses_helper", parent="ses_new")
    assert [one.session for one in found(tmp_path)] == ["ses_new"]


def test_a_message_that_grows_changes_the_fingerprint(file: Path, tmp_path: Path) -> None:
    (before,) = found(tmp_path)
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE session_message SET time_updated = ? WHERE seq = 3", (BEGAN + 9000,))
    (after,) = found(tmp_path)
    assert before.fingerprint != after.fingerprint


def test_a_message_that_is_damaged_spoils_no_other(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE session_message SET data = '{' WHERE seq = 1")
    assert shown(opencode.CLIENT.parse(lines(file)).turns) == ["assistant [shell]: It is done."]


def test_sessions_of_both_versions_are_found_in_one_database(both: Path, tmp_path: Path) -> None:
    sessions = [one.session for one in found(tmp_path)]
    assert sessions[0] == "ses_new"
    assert len(sessions) == len(set(sessions)) == 2


def test_an_old_session_is_read_from_the_old_tables(both: Path, tmp_path: Path) -> None:
    old = found(tmp_path)[1].session
    assert "Which port does the staging database use?" in "\n".join(lines(both, old))


def test_a_session_that_was_taken_over_is_read_from_the_new_tables(both: Path, tmp_path: Path) -> None:
    old = found(tmp_path)[1].session
    add(both, old)
    assert sorted(one.session for one in found(tmp_path)) == sorted(["ses_new", old])
    assert shown(opencode.CLIENT.parse(lines(both, old)).turns)[0] == "user: Use Postgres."


def test_a_database_with_other_tables_is_a_problem_that_is_told(tmp_path: Path) -> None:
    file = tmp_path / ".local/share/opencode/opencode.db"
    file.parent.mkdir(parents=True)
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE conversations (id)")

    def ask(path: str, question: str, values: tuple[Any, ...]) -> Any:
        try:
            return query(path, question, values)
        except sqlite3.Error as error:
            raise OSError(str(error)) from error

    seen = opencode.CLIENT.find(SHOP, {"HOME": str(tmp_path)}, ask, None, "main")
    assert (len(seen.problems), seen.blind) == (1, ["sessions/opencode"])
