"""`memlines snapshots`: the last messages of sessions, for people, as JSON and to go on from."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memlines.agent import snapshot
from memlines.files import snapshots
from memlines.files.snapshots import Said, Snapshot
from memlines.paths import Workspace
from tests.agent.messages import TOKEN, assistant, opened, user
from tests.programs import Cli

AT = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    monkeypatch.setenv("MEMLINES_EMBEDDINGS__PROVIDER", "none")
    monkeypatch.setenv("MEMLINES_TIMEZONE", "UTC")
    return Cli(capsys)


def take(workspace: Path, session: str, *messages: dict[str, Any], **options: Any) -> Snapshot:
    with opened(workspace) as memory:
        kept = snapshot.take(memory, session, messages, now=AT, **options)
    assert kept is not None
    return kept


@pytest.fixture
def kept(workspace: Path) -> Snapshot:
    messages = [user("Keep the port"), assistant("I keep it.")]
    return take(workspace, "s1", *messages, client="codex", cwd=workspace / "memory")


# list


def test_list(cli: Cli, workspace: Path, kept: Snapshot) -> None:
    out = cli("snapshots", "list", "-w", workspace).out
    assert out == f"{kept.id}  2026-11-16 12:00  2 messages  codex s1 in memory\n"


def test_list_shows_the_newest_first(cli: Cli, workspace: Path, kept: Snapshot) -> None:
    newer = take(workspace, "s2", user("Another"))
    told = cli("snapshots", "list", "-w", workspace, "--json").json
    assert [one["id"] for one in told["snapshots"]] == [newer.id, kept.id]


def test_list_as_json(cli: Cli, workspace: Path, kept: Snapshot) -> None:
    assert cli("snapshots", "list", "-w", workspace, "--json").json == {
        "snapshots": [
            {
                "id": kept.id,
                "path": kept.path,
                "session": "s1",
                "client": "codex",
                "cwd": "memory",
                "created": "2026-11-16T12:00:00.000Z",
                "count": 2,
            }
        ],
        "problems": [],
    }


def test_list_without_any(cli: Cli, workspace: Path) -> None:
    outcome = cli("snapshots", "list", "-w", workspace)
    assert (outcome.code, outcome.out) == (0, "There are no snapshots.\n")


def test_list_tells_what_is_damaged(cli: Cli, workspace: Path, kept: Snapshot) -> None:
    (workspace / kept.path).write_text("{", encoding="utf-8")
    out = cli("snapshots", "list", "-w", workspace).out
    assert out == f"There are no snapshots.\nNot usable:\n  {kept.path} is damaged: it is not JSON\n"


# show


def test_show_by_its_id(cli: Cli, workspace: Path, kept: Snapshot) -> None:
    out = cli("snapshots", "show", kept.id, "-w", workspace).out
    assert out == f"{kept.id}  codex s1\nUser: Keep the port\nAssistant: I keep it.\n"


def test_show_by_its_session(cli: Cli, workspace: Path, kept: Snapshot) -> None:
    take(workspace, "s2", user("Another"))
    assert cli("snapshots", "show", "s1", "-w", workspace).out.startswith(kept.id)


def test_show_the_newest(cli: Cli, workspace: Path, kept: Snapshot) -> None:
    newer = take(workspace, "s2", user("Another"))
    assert cli("snapshots", "show", "-w", workspace).out.startswith(newer.id)


def test_show_tells_what_was_cut(cli: Cli, workspace: Path) -> None:
    take(workspace, "s1", user("x" * 600))
    assert cli("snapshots", "show", "-w", workspace).out.endswith(f"User: {'x' * 500} […]\n")


def test_show_as_json(cli: Cli, workspace: Path, kept: Snapshot) -> None:
    told = cli("snapshots", "show", "-w", workspace, "--json").json
    assert (told["id"], told["messages"]) == (
        kept.id,
        [
            {"role": "user", "text": "Keep the port", "truncated": False},
            {"role": "assistant", "text": "I keep it.", "truncated": False},
        ],
    )


@pytest.mark.parametrize("command", ["show", "restore"])
def test_one_that_is_not_there_is_told(cli: Cli, workspace: Path, kept: Snapshot, command: str) -> None:
    outcome = cli("snapshots", command, "s9", "-w", workspace)
    assert (outcome.code, outcome.out, "there is no snapshot 's9'" in outcome.err) == (2, "", True)


@pytest.mark.parametrize("command", ["show", "restore"])
def test_without_any_there_is_no_newest(cli: Cli, workspace: Path, command: str) -> None:
    outcome = cli("snapshots", command, "-w", workspace)
    assert (outcome.code, outcome.out, "there are no snapshots" in outcome.err) == (2, "", True)


# restore


def test_restore_prints_the_block_and_nothing_else(cli: Cli, workspace: Path, kept: Snapshot) -> None:
    outcome = cli("snapshots", "restore", kept.id, "-w", workspace)
    with opened(workspace) as memory:
        assert (outcome.out, outcome.err) == (f"{snapshot.restored(memory, kept.id)}\n", "")


def test_restore_the_newest(cli: Cli, workspace: Path, kept: Snapshot) -> None:
    take(workspace, "s2", user("Another"))
    assert "> User: Another" in cli("snapshots", "restore", "-w", workspace).out


def test_restore_as_json(cli: Cli, workspace: Path, kept: Snapshot) -> None:
    told = cli("snapshots", "restore", "-w", workspace, "--json").json
    with opened(workspace) as memory:
        assert (told["id"], told["text"]) == (kept.id, snapshot.restored(memory, kept.id))


# All of them


@pytest.mark.parametrize("options", [(), ("--json",)], ids=["people", "json"])
@pytest.mark.parametrize("command", ["list", "show", "restore"])
def test_a_secret_in_a_snapshot_is_not_shown(
    cli: Cli, workspace: Path, command: str, options: tuple[str, ...]
) -> None:
    # As if a rule had come since it was taken.
    snapshots.save(Workspace.at(workspace), Snapshot("s1", (Said("user", f"Use {TOKEN} for it"),), AT))
    outcome = cli("snapshots", command, "-w", workspace, *options)
    assert (outcome.code, TOKEN in outcome.out + outcome.err) == (0, False)


@pytest.mark.parametrize("command", ["list", "show", "restore"])
def test_a_memory_that_is_switched_off_is_left_alone(
    cli: Cli, workspace: Path, kept: Snapshot, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMLINES_ENABLED", "false")
    assert cli("snapshots", command, "-w", workspace).code == 10
