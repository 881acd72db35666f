"""What people read in a terminal is true, complete and harmless."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from memlines.cli.output import counted, harmless, harmless_name
from memlines.errors import reason_of
from tests.memories import fake_memory, write
from tests.programs import MAIN, Cli, environment, program, unprivileged_run
from tests.providers import MeaningsProvider

# get


@pytest.mark.parametrize("citation", ["memory/a.md", "memory/a.md#L1", "memory/a.md#L1-L2"])
def test_a_line_that_is_cut_is_told(cli: Cli, workspace: Path, citation: str) -> None:
    write(workspace, {"a.md": "x" * 200_000 + "\nafter\n"})
    outcome = cli("get", "-w", workspace, citation)
    assert (outcome.code, outcome.out) == (0, "x" * 12_000 + "\n")
    assert outcome.err == (
        "[cut: line 1 is shown from character 1 to 12,000;"
        " more: memlines get memory/a.md --from 1 --column 12001]\n"
    )


def test_a_line_that_is_cut_as_json(cli: Cli, workspace: Path) -> None:
    write(workspace, {"a.md": "x" * 200_000})
    excerpt = cli("get", "-w", workspace, "memory/a.md#L1", "--json").json
    assert (excerpt["truncated"], excerpt["next_from"], excerpt["next_column"]) == (True, 1, 12_001)


def test_the_rest_of_a_line_can_be_asked_for(cli: Cli, workspace: Path) -> None:
    write(workspace, {"a.md": "x" * 12_000 + "yz\nafter\n"})
    outcome = cli("get", "-w", workspace, "memory/a.md", "--from", "1", "--column", "12001")
    assert (outcome.out, outcome.err) == ("yz\nafter\n", "")


def test_fewer_lines_than_were_asked_for_are_told(cli: Cli, workspace: Path) -> None:
    write(workspace, {"a.md": ("x" * 999 + "\n") * 20})
    assert "--from 13]" in cli("get", "-w", workspace, "memory/a.md#L1-L20").err
    assert cli("get", "-w", workspace, "memory/a.md#L1-L3").err == ""


def test_the_command_that_goes_on_can_be_pasted(cli: Cli, workspace: Path) -> None:
    write(workspace, {"two words.md": "line\n" * 200})
    outcome = cli("get", "-w", workspace, "memory/two words.md")
    assert outcome.err == "[more: memlines get 'memory/two words.md' --from 121]\n"


def test_an_empty_note(cli: Cli, workspace: Path) -> None:
    write(workspace, {"a.md": ""})
    outcome = cli("get", "-w", workspace, "memory/a.md")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "(empty)\n")


# search


def test_citations_can_be_switched_off(cli: Cli, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(workspace, {"a.md": "The kestrel.\n"})
    monkeypatch.setenv("MEMLINES_CITATIONS", "off")
    assert "citation" not in cli("search", "-w", workspace, "--json", "kestrel").json["results"][0]
    assert cli("search", "-w", workspace, "kestrel").out.splitlines()[0].endswith("  memory/a.md")


# status


def state(cli: Cli, workspace: Path) -> str:
    row = re.search(r"^state +(.+)$", cli("status", "-w", workspace).out, re.MULTILINE)
    assert row is not None
    return row[1]


def synced(cli: Cli, workspace: Path) -> None:
    """Sync notes that were written long ago, so that their fingerprints are trusted."""
    for file in workspace.rglob("*.md"):
        os.utime(file, (1, 1))
    cli("sync", "-w", workspace)


def test_a_workspace_that_was_never_synced(cli: Cli, workspace: Path) -> None:
    write(workspace, {"a.md": "The kestrel.\n"})
    assert state(cli, workspace) == "never synced; the first sync or search does it"


def test_a_workspace_that_is_up_to_date(cli: Cli, workspace: Path) -> None:
    write(workspace, {"a.md": "The kestrel.\n"})
    synced(cli, workspace)
    assert state(cli, workspace) == "up to date"


def test_a_workspace_that_is_behind(cli: Cli, workspace: Path) -> None:
    write(workspace, {"a.md": "The kestrel.\n"})
    synced(cli, workspace)
    write(workspace, {"b.md": "The heron.\n"})
    assert state(cli, workspace) == "behind the files; the next sync or search catches up"


def test_chunks_that_wait_for_vectors(cli: Cli, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    provider = MeaningsProvider({})
    provider.failing_documents = True
    with fake_memory(workspace, {"a.md": "The kestrel.\n"}, provider) as memory:
        os.utime(workspace / "memory/a.md", (1, 1))
        memory.sync()
        monkeypatch.setattr("memlines.cli.status.open_memory", lambda _: memory)
        assert state(cli, workspace) == "1 chunk waits for vectors"


def test_a_file_that_could_not_be_read(workspace: Path) -> None:
    write(workspace, {"a.md": "The kestrel.\n"})
    os.utime(workspace / "memory/a.md", (1, 1))
    (workspace / "memory/a.md").chmod(0o000)
    words_only = {"MEMLINES_EMBEDDINGS__PROVIDER": "none"}
    try:
        unprivileged_run(MAIN, "sync", "-w", workspace, env=words_only)
        done = unprivileged_run(MAIN, "status", "-w", workspace, env=words_only)
    finally:
        (workspace / "memory/a.md").chmod(0o644)
    assert "1 file could not be read" in done.stdout
    assert "up to date" not in done.stdout


def test_a_memory_that_is_switched_off(cli: Cli, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMLINES_ENABLED", "false")
    assert state(cli, workspace) == "switched off"
    assert cli("search", "-w", workspace, "x").code == 10


def test_one_of_a_thing_is_singular(cli: Cli, workspace: Path) -> None:
    write(workspace, {"a.md": "The kestrel.\n"})
    cli("sync", "-w", workspace)
    assert "1 file, 1 chunk\n" in cli("status", "-w", workspace).out
    assert [counted(number, "file") for number in (0, 1, 2)] == ["0 files", "1 file", "2 files"]


def test_the_last_sync_is_told_in_local_time(workspace: Path) -> None:
    write(workspace, {"a.md": "The kestrel.\n"})
    program("sync", "-w", workspace)
    out = program("status", "-w", workspace, env={"TZ": "Asia/Kolkata"}).stdout.decode()
    assert re.search(r"^last sync +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+05:30$", out, re.MULTILINE)


# Harmless text


def test_a_control_character_does_not_join_words() -> None:
    assert harmless("one\x07two\rthree") == "one two three"


def test_text_cannot_be_turned_around() -> None:
    assert harmless("a\u202eb\u2066c\u2069d") == "abcd"


def test_a_name_stays_on_its_line() -> None:
    assert harmless_name("one\ntwo\tthree\u2028four") == "one two three four"


@pytest.mark.skipif(os.name == "nt", reason="such names do not exist here")
def test_a_line_break_in_a_files_name_is_a_space(cli: Cli, workspace: Path) -> None:
    write(workspace, {"one\ntwo.md": "The kestrel.\n"})
    assert "memory/one two.md#L1" in cli("search", "-w", workspace, "kestrel").out.splitlines()[0]


def test_json_escapes_what_turns_text_around(cli: Cli, workspace: Path) -> None:
    write(workspace, {"a.md": "The kestrel \u202eis here.\n"})
    outcome = cli("search", "-w", workspace, "--json", "kestrel")
    assert "\\u202e" in outcome.out
    assert "\u202e" in outcome.json["results"][0]["snippet"]


# Messages of the system


def test_a_reason_of_the_system_has_no_number() -> None:
    assert reason_of(PermissionError(13, "Permission denied", "/x")) == "permission denied"
    assert reason_of(ValueError("Embedded NUL")) == "Embedded NUL"


def test_a_settings_file_that_may_not_be_read(workspace: Path) -> None:
    (workspace / ".memory").mkdir()
    (workspace / ".memory/config.yaml").touch(mode=0o000)
    done = unprivileged_run(MAIN, "status", "-w", workspace)
    assert done.returncode == 3
    assert "cannot be read: permission denied. " in done.stderr


def test_a_workspace_below_a_closed_folder(tmp_path: Path) -> None:
    (tmp_path / "closed/notes").mkdir(parents=True)
    (tmp_path / "closed").chmod(0o000)
    try:
        done = unprivileged_run(MAIN, "status", "-w", tmp_path / "closed/notes")
    finally:
        (tmp_path / "closed").chmod(0o755)
    assert done.returncode == 4
    assert "cannot be opened: permission denied. " in done.stderr


def test_init_where_the_private_folder_cannot_be_made(workspace: Path) -> None:
    write(workspace, {"MEMORY.md": "mine\n"})
    workspace.chmod(0o555)
    try:
        done = unprivileged_run(MAIN, "init", workspace)
    finally:
        workspace.chmod(0o755)
    assert done.returncode == 4
    assert "cannot be written: permission denied" in done.stderr


# Ctrl-C


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX system")
def test_ctrl_c_while_it_is_imported_leaves_no_traceback(tmp_path: Path) -> None:
    # A click that takes its time stands in for a slow disk.
    (tmp_path / "click.py").write_text(
        "import time\nopen('reached', 'wb').close()\ntime.sleep(60)\n", "utf-8"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", MAIN, "status"],
        cwd=tmp_path,
        env=environment({"PYTHONPATH": str(tmp_path)}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    deadline = time.monotonic() + 30
    while not (tmp_path / "reached").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, b"", b"Interrupted.\n")
