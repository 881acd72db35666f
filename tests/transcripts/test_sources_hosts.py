"""Which transcripts of the hosts belong to a workspace."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from memlines.errors import StoreError
from memlines.transcripts import claude_code
from memlines.transcripts.catalogue import CLIENTS, format_of
from memlines.transcripts.finding import Found, Known, Sightings
from memlines.types import Fingerprint
from tests.programs import unprivileged_run
from tests.transcripts.recorded import (
    CLAUDE_CODE,
    CODEX,
    HELPER,
    OPENCLAW,
    OPENCLAW_ROWS,
    OPENCODE_ROWS,
    SESSIONS,
    SHOP,
    content,
    database,
    query,
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder with every host's transcripts in their places."""
    shutil.copytree(SESSIONS / "claude-code", tmp_path / ".claude")
    shutil.copytree(SESSIONS / "codex", tmp_path / ".codex")
    sessions = tmp_path / ".openclaw/agents/main/sessions"
    sessions.mkdir(parents=True)
    shutil.copy(OPENCLAW, sessions)
    database(OPENCLAW_ROWS, tmp_path / ".openclaw/agents/main/agent/openclaw-agent.sqlite")
    database(OPENCODE_ROWS, tmp_path / ".local/share/opencode/opencode.db")
    return tmp_path


def look(
    host: str, home: Path, root: Path = SHOP, known: Known | None = None, agent: str = "main"
) -> Sightings:
    return CLIENTS[host].find(root, {"HOME": str(home)}, query, known, agent)


def paths(host: str, home: Path, root: Path = SHOP) -> list[str]:
    return [found.path for found in look(host, home, root).found]


def paths_with(host: str, home: Path, variable: str, value: str) -> list[str]:
    seen = CLIENTS[host].find(SHOP, {"HOME": str(home), variable: value}, query, None, "main")
    return [found.path for found in seen.found]


SESSION = "11111111-1111-4111-8111-111111111111"


def test_claude_code(home: Path) -> None:
    real = str(home / ".claude/projects/-home-ada-shop" / CLAUDE_CODE.name)
    expected = [Found(f"sessions/claude-code/{SESSION}.jsonl", real)]
    assert look("claude-code", home) == Sightings(expected)


def test_codex(home: Path) -> None:
    assert paths("codex", home) == [f"sessions/codex/{CODEX.name}"]


def test_openclaw(home: Path) -> None:
    prefix = "sessions/openclaw/main/"
    assert paths("openclaw", home) == [f"{prefix}{OPENCLAW.name}", f"{prefix}{SESSION}.jsonl"]


def test_openclaw_keeps_its_agents_apart(home: Path) -> None:
    shutil.copytree(home / ".openclaw/agents/main", home / ".openclaw/agents/research")
    found = look("openclaw", home, agent="research").found
    assert {one.path.split("/")[2] for one in found} == {"research"}
    assert {Path(one.real).relative_to(home).parts[2] for one in found} == {"research"}
    assert len(found) == len(look("openclaw", home).found) == 2


def test_the_databases_of_other_agents_are_not_opened(home: Path) -> None:
    other = home / ".openclaw/agents/research/agent/openclaw-agent.sqlite"
    other.parent.mkdir(parents=True)
    other.write_bytes(b"damaged")
    asked = []

    def note(path: str, question: str, values: tuple[Any, ...]) -> Iterable[tuple[Any, ...]]:
        asked.append(Path(path).relative_to(home).parts[2])
        return ()

    CLIENTS["openclaw"].find(SHOP, {"HOME": str(home)}, note, None, "main")
    assert asked == ["main"]


def test_opencode_without_the_sessions_of_helpers(home: Path) -> None:
    (found,) = look("opencode", home).found
    assert found.path == f"sessions/opencode/{found.session}.jsonl"


def test_a_session_of_a_database_has_a_fingerprint_that_changes_with_it(home: Path) -> None:
    (before,) = look("opencode", home).found
    with sqlite3.connect(before.real) as connection:
        connection.execute("UPDATE session SET time_updated = time_updated + 1")
    connection.close()
    (after,) = look("opencode", home).found
    assert isinstance(before.fingerprint, Fingerprint)
    assert after.fingerprint == before.fingerprint._replace(mtime_ns=before.fingerprint.mtime_ns + 1_000_000)


@pytest.mark.parametrize("host", CLIENTS)
def test_a_session_of_another_folder_does_not_belong(host: str, home: Path) -> None:
    assert look(host, home, Path("/home/ada/other")) == Sightings()


@pytest.mark.parametrize("host", CLIENTS)
def test_a_session_of_a_folder_inside_does_not_belong(host: str, home: Path) -> None:
    assert look(host, home, SHOP.parent) == Sightings()


@pytest.mark.parametrize("host", CLIENTS)
def test_a_host_that_is_not_there(host: str, tmp_path: Path) -> None:
    assert look(host, tmp_path) == Sightings()


@pytest.mark.parametrize(
    ("host", "variable", "place"),
    [
        ("claude-code", "CLAUDE_CONFIG_DIR", ".claude"),
        ("codex", "CODEX_HOME", ".codex"),
        ("openclaw", "OPENCLAW_STATE_DIR", ".openclaw"),
        ("opencode", "XDG_DATA_HOME", ".local/share"),
    ],
)
def test_a_variable_names_another_place(host: str, variable: str, place: str, home: Path) -> None:
    expected = paths(host, home)
    moved = home / "elsewhere"
    (home / place).rename(moved)
    assert (paths(host, home), paths_with(host, home, variable, str(moved))) == ([], expected)


def test_a_variable_names_another_database_of_opencode(home: Path) -> None:
    folder = home / ".local/share/opencode"
    (folder / "opencode.db").rename(folder / "mine.db")
    assert len(paths_with("opencode", home, "OPENCODE_DB", "mine.db")) == 1


# Claude Code: folders of the same name.


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("/home/ada/shop", "-home-ada-shop"),
        ("/home/ada/a_b.c ü🚢東", "-home-ada-a-b-c-----"),
        ("/" + "x" * 300, "-" + "x" * 199),
    ],
)
def test_the_name_of_a_projects_folder(folder: str, name: str) -> None:
    assert claude_code.slug(folder) == name


def claude_session(home: Path, root: str, name: str = "", **fields: Any) -> Path:
    folder = home / ".claude/projects" / (name or claude_code.slug(root))
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{len(list(folder.iterdir()))}.jsonl"
    record = {"type": "user", "message": {"role": "user", "content": "Hi"}, "cwd": root, **fields}
    file.write_text(json.dumps(record) + "\n", encoding="utf-8")
    return file


def test_projects_whose_folders_have_the_same_name_are_told_apart(tmp_path: Path) -> None:
    for root in ("/home/ada/my-shop", "/home/ada/my/shop"):
        claude_session(tmp_path, root)
    found = look("claude-code", tmp_path, Path("/home/ada/my/shop")).found
    assert [one.path for one in found] == ["sessions/claude-code/1.jsonl"]


def test_a_long_name_is_found_by_its_beginning(tmp_path: Path) -> None:
    root = "/" + "x" * 300
    claude_session(tmp_path, root, f"{claude_code.slug(root)}-k3j2")
    assert len(paths("claude-code", tmp_path, Path(root))) == 1


def test_a_session_that_goes_into_a_folder_belongs_where_it_began(tmp_path: Path) -> None:
    file = claude_session(tmp_path, str(SHOP))
    with file.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps({"type": "user", "cwd": f"{SHOP}/src"}) + "\n")
    assert len(paths("claude-code", tmp_path)) == 1


def test_a_long_first_message_does_not_hide_the_folder(tmp_path: Path) -> None:
    file = claude_session(tmp_path, str(SHOP))
    first = json.dumps({"type": "queue-operation", "content": "word " * 60_000})
    file.write_text(f"{first}\n{content(file)}", encoding="utf-8")
    assert len(paths("claude-code", tmp_path)) == 1


def test_the_sessions_of_helpers_are_left_out(tmp_path: Path) -> None:
    folder = tmp_path / ".claude/projects/-home-ada-shop"
    folder.mkdir(parents=True)
    shutil.copy(HELPER, folder / "other-name.jsonl")
    assert paths("claude-code", tmp_path) == []


# Codex.


def codex_session(home: Path, payload: dict[str, Any], name: str = "rollout-1.jsonl") -> Path:
    folder = home / ".codex/sessions/2026/01/02"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(json.dumps({"type": "session_meta", "payload": payload}) + "\n", encoding="utf-8")
    return file


@pytest.mark.parametrize("mark", [{"thread_source": "subagent"}, {"source": {"subagent": {"depth": 1}}}])
def test_the_sessions_of_codex_that_it_started_itself_are_left_out(mark: Any, tmp_path: Path) -> None:
    codex_session(tmp_path, {"cwd": str(SHOP), **mark})
    assert paths("codex", tmp_path) == []


def test_long_instructions_do_not_hide_the_folder(tmp_path: Path) -> None:
    codex_session(tmp_path, {"base_instructions": "word " * 60_000, "cwd": str(SHOP)})
    assert len(paths("codex", tmp_path)) == 1


@pytest.mark.parametrize("root", ["/home/ada/größe", "/home/ada/a\"b'c", "/home/ada/a\\b"])
def test_a_folder_whose_name_can_be_written_in_several_ways(root: str, tmp_path: Path) -> None:
    codex_session(tmp_path, {"cwd": root})
    assert len(paths("codex", tmp_path, Path(root))) == 1


@pytest.mark.parametrize(
    "name", ["session.jsonl", "rollout-1.jsonl.tmp", "rollout-1.json", ".rollout-1.jsonl"]
)
def test_other_files_are_left_alone(name: str, tmp_path: Path) -> None:
    codex_session(tmp_path, {"cwd": str(SHOP)}, name)
    assert paths("codex", tmp_path) == []


# OpenClaw.

AT = "2026-03-01T09-30-00.123Z"


@pytest.mark.parametrize(
    ("name", "is_taken"),
    [
        ("a.jsonl", True),
        (f"a.jsonl.reset.{AT}", True),
        (f"a.jsonl.deleted.{AT}", True),
        (f"a.jsonl.bak.{AT}", False),
        (f"a.jsonl.deleted.{AT}.zst", False),
        ("sessions.json", False),
        ("sessions.json.bak.1", False),
    ],
)
def test_the_files_of_openclaw(name: str, is_taken: bool, tmp_path: Path) -> None:
    folder = tmp_path / ".openclaw/agents/main/sessions"
    folder.mkdir(parents=True)
    (folder / name).write_text(f'{{"type": "session", "cwd": "{SHOP}"}}\n', encoding="utf-8")
    assert paths("openclaw", tmp_path) == ([f"sessions/openclaw/main/{name}"] if is_taken else [])


# What cannot be read.


@pytest.mark.parametrize("host", ["claude-code", "codex", "openclaw"])
def test_links_are_not_followed(host: str, home: Path) -> None:
    for found in look(host, home).found:
        if not found.session:
            moved = Path(found.real).rename(home / "moved.jsonl")
            Path(found.real).symlink_to(moved)
    assert [one for one in look(host, home).found if not one.session] == []


def test_a_folder_that_is_a_link_is_not_followed(home: Path) -> None:
    projects = home / ".claude/projects"
    (projects / "-home-ada-shop").rename(home / "moved")
    (projects / "-home-ada-shop").symlink_to(home / "moved")
    assert paths("claude-code", home) == []


@pytest.mark.parametrize("text", ["", "\n", "garbage\n", "[]\n", '{"type": "session_meta"}\n', "{" * 100_000])
@pytest.mark.parametrize("host", ["claude-code", "codex"])
def test_a_file_that_does_not_tell_its_folder_does_not_belong(host: str, text: str, home: Path) -> None:
    for found in look(host, home).found:
        Path(found.real).write_text(text, encoding="utf-8")
    assert look(host, home) == Sightings()


def test_a_pipe_is_no_transcript(home: Path) -> None:
    (found,) = look("codex", home).found
    Path(found.real).unlink()
    os.mkfifo(found.real)
    assert look("codex", home) == Sightings()


UNREADABLE = """
import sys
from pathlib import Path
from memlines.transcripts.catalogue import CLIENTS
root, environ = Path("/home/ada/shop"), {"HOME": sys.argv[2]}
seen = CLIENTS[sys.argv[1]].find(root, environ, lambda *question: (), None, "main")
print([problem.failed for problem in seen.problems], seen.blind)
"""


def test_a_file_that_cannot_be_read_is_told(home: Path) -> None:
    (found,) = look("codex", home).found
    Path(found.real).chmod(0)
    done = unprivileged_run(UNREADABLE, "codex", home)
    assert done.stdout == f"[True] ['{found.path}']\n"


def test_a_folder_that_cannot_be_listed_is_told(home: Path) -> None:
    folder = home / ".claude/projects"
    folder.chmod(0)
    done = unprivileged_run(UNREADABLE, "claude-code", home)
    folder.chmod(0o755)
    assert done.stdout == "[True] ['sessions/claude-code']\n"


def test_a_database_that_cannot_be_read_is_told(home: Path) -> None:
    def refuse(path: str, question: str, values: tuple[Any, ...]) -> Iterable[tuple[Any, ...]]:
        raise StoreError("it is damaged")

    seen = CLIENTS["opencode"].find(SHOP, {"HOME": str(home)}, refuse, None, "main")
    assert (len(seen.problems), seen.blind) == (1, ["sessions/opencode"])


# What is remembered.


def test_what_is_known_of_a_file_is_not_read_again(home: Path) -> None:
    known: Known = {}
    first = look("codex", home, known=known)
    Path(first.found[0].real).write_text("garbage\n", encoding="utf-8")
    assert look("codex", home, known=known) == first


def test_a_file_that_belongs_elsewhere_is_remembered(home: Path) -> None:
    known: Known = {}
    look("codex", home, Path("/home/ada/other"), known)
    assert list(known.values()) == [False]


def test_a_file_that_does_not_tell_yet_is_not_remembered(tmp_path: Path) -> None:
    file = claude_session(tmp_path, str(SHOP))
    told = content(file)
    known: Known = {}
    file.write_text('{"type": "queue-operation"}\n', encoding="utf-8")
    assert (look("claude-code", tmp_path, known=known).found, known) == ([], {})
    file.write_text(told, encoding="utf-8")
    assert len(look("claude-code", tmp_path, known=known).found) == 1


# Names.


@pytest.mark.parametrize(
    ("path", "host"),
    [
        ("sessions/a.jsonl", "openclaw"),
        ("sessions/codex.jsonl", "openclaw"),
        ("sessions/codex/a.jsonl", "codex"),
        ("sessions/claude-code/a.jsonl", "claude-code"),
        ("sessions/openclaw/main/a.jsonl", "openclaw"),
        ("sessions/opencode/a.jsonl", "opencode"),
        ("sessions/other/a.jsonl", "openclaw"),
    ],
)
def test_the_host_of_a_name(path: str, host: str) -> None:
    assert format_of(path).name == host


def test_an_odd_session_id_makes_no_odd_name(home: Path) -> None:
    with sqlite3.connect(home / ".local/share/opencode/opencode.db") as connection:
        connection.execute("UPDATE session SET id = '../x/y' WHERE parent_id IS NULL")
    connection.close()
    assert paths("opencode", home) == ["sessions/opencode/.._x_y.jsonl"]


@pytest.mark.parametrize("host", ["openclaw", "opencode"])
def test_a_session_that_is_gone_has_no_lines(host: str, home: Path) -> None:
    found = next(one for one in look(host, home).found if one.session)
    read_session = CLIENTS[host].read_session
    assert read_session is not None
    assert read_session(query, found.real, "gone") == []
