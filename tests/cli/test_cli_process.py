"""The command line as a program: pipes, terminals, signals, locales, and what it imports."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from memlines.cli.output import harmless
from tests.memories import words_memory, write
from tests.programs import MAIN, Cli, environment, program

NOTES = {"MEMORY.md": "We like the heron.\n", "memory/a.md": "# Birds\n\nThe kestrel lives at the café.\n"}
HEAVY = ("numpy", "httpx", "mcp", "rich", "lancedb", "qdrant_client")

BUILTIN: dict[str, str | None] = {"MEMLINES_EMBEDDINGS__PROVIDER": "builtin"}

posix_only = pytest.mark.skipif(os.name == "nt", reason="needs a POSIX system")


@pytest.fixture
def notes(workspace: Path) -> Path:
    """A workspace with two notes."""
    write(workspace, NOTES)
    return workspace


# Imports


def imported(
    *arguments: str | Path, heavy: Sequence[str] = HEAVY, env: dict[str, str | None] | None = None
) -> set[str]:
    """Return which heavy packages a command imports."""
    code = (
        "import sys\n"
        "from memlines.cli.main import run\n"
        "code = run(sys.argv[1:])\n"
        f"print('IMPORTED', *[name for name in {heavy!r} if name in sys.modules])\n"
        "sys.exit(code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        env=environment(env or {}),
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return set(done.stdout.splitlines()[-1].split()[1:])


def test_help_imports_nothing_heavy() -> None:
    assert imported("--help") == set()


def test_a_first_search_by_words_imports_nothing_heavy(notes: Path) -> None:
    assert imported("search", "-w", notes, "kestrel") == set()


def test_reading_a_note_imports_nothing_heavy(notes: Path) -> None:
    assert imported("get", "-w", notes, "MEMORY.md") == set()


def test_remembering_imports_nothing_heavy(notes: Path) -> None:
    assert imported("remember", "-w", notes, "The kestrel moved.") == set()


@pytest.mark.parametrize("store", ["auto", "lancedb"])
def test_storing_a_fact_does_not_import_lancedb(notes: Path, store: str) -> None:
    pytest.importorskip("lancedb")
    chosen = {**BUILTIN, "MEMLINES_FACTS__STORE": store}
    program("facts", "store", "-w", notes, "Likes herons.", env=chosen)
    program("sync", "-w", notes, env=chosen)
    assert (notes / ".memory" / "facts" / "memories.lance").exists() == (store == "lancedb")
    heavy = ("lancedb", "pyarrow", "httpx2", "numpy.ma")
    assert imported("facts", "store", "-w", notes, "Likes kestrels.", heavy=heavy, env=chosen) == set()


def test_a_first_search_by_meaning_imports_only_what_it_needs(notes: Path) -> None:
    program("sync", "-w", notes, env=BUILTIN)
    heavy = ("numpy", "numpy.ma", "httpx2", "asyncio", "lancedb")
    assert imported("search", "-w", notes, "birds of prey", heavy=heavy, env=BUILTIN) == {"numpy"}


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = f"import sys, memlines; sys.exit(any(name in sys.modules for name in {(*HEAVY, 'apsw')!r}))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# Pipes and terminals


def test_a_pipe_gets_neither_colour_nor_a_progress_bar(notes: Path) -> None:
    synced = program("sync", "-w", notes)
    found = program("search", "-w", notes, "--why", "kestrel")
    failed = program("get", "-w", notes, "memory/none.md")
    every = b"".join([synced.stdout, synced.stderr, found.stdout, found.stderr, failed.stderr])
    assert b"\x1b" not in every
    assert (synced.stderr, found.stderr) == (b"", b"")


def on_a_terminal(*arguments: str | Path, errors: bool = True) -> bytes:
    """Run a command whose output (and errors) are a terminal, and return what it drew there."""
    pty = pytest.importorskip("pty")
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", MAIN, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=slave,
        stderr=slave if errors else subprocess.DEVNULL,
        env=environment({"TERM": "xterm"}),
    )
    os.close(slave)
    drawn = bytearray()
    while True:
        try:
            part = os.read(master, 65_536)
        except OSError:  # how Linux says that the other end is closed
            break
        if not part:
            break
        drawn += part
    os.close(master)
    assert process.wait(timeout=30) == 0
    return bytes(drawn)


@posix_only
def test_a_terminal_gets_colour_and_a_progress_bar(notes: Path) -> None:
    assert b"indexing" in on_a_terminal("sync", "-w", notes)
    assert b"\x1b[36m" in on_a_terminal("search", "-w", notes, "kestrel")


@posix_only
def test_a_terminal_gets_json_that_can_be_read(notes: Path) -> None:
    program("sync", "-w", notes)
    drawn = on_a_terminal("search", "-w", notes, "--json", "kestrel", errors=False).decode()
    assert drawn.startswith('{\r\n  "results": [\r\n')
    assert json.loads(drawn)["results"][0]["path"] == "memory/a.md"


@posix_only
def test_a_reader_that_leaves_is_no_error(notes: Path) -> None:
    write(notes, {f"{number}.md": f"The kestrel of {number}.\n" * 200 for number in range(60)})
    command = shlex.join([sys.executable, "-c", MAIN, "search", "-n", "100", "-w", str(notes), "kestrel"])
    script = f"{command} | head -n 1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], env=environment({}), capture_output=True, check=False)
    assert done.stderr == b""
    assert done.stdout.splitlines()[-1] == b"0"


@posix_only
@pytest.mark.parametrize("redirection", [">&-", "2>&-", ">&- 2>&-"])
@pytest.mark.parametrize("json_option", ["", "--json"])
def test_a_closed_stream_is_no_error(notes: Path, redirection: str, json_option: str) -> None:
    command = shlex.join([sys.executable, "-c", MAIN, "search", "-w", str(notes), "kestrel"])
    script = f"{command} {json_option} {redirection}"
    done = subprocess.run(["sh", "-c", script], env=environment({}), capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("arguments", [["search", "kestrel"], ["search", "--json", "kestrel"], ["--help"]])
def test_output_that_cannot_be_written_is_one_sentence(notes: Path, arguments: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = program(*arguments, cwd=notes, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert done.stderr == b"Error: the output cannot be written: no space left on device\n"


# What a note may not do

EVIL = "\x1b[31mred\x1b]0;title\x07 \x9b2J bell\x07 back\x08 line\rover \x7f kestrel"


@pytest.fixture
def evil(workspace: Path) -> Path:
    """A workspace whose notes try to command the terminal, by their text, headings and names."""
    lines = "\n".join(f"{EVIL} {number}" for number in range(100))
    write(workspace, {"a.md": f"# {EVIL}\n\n{lines}\n"})
    if os.name != "nt":
        write(workspace, {"\x1b[31mname.md": "kestrel\n"})
        (workspace / "memory/\x1b[31mbinary.md").write_bytes(b"\0")
    return workspace


def controls(output: bytes) -> set[str]:
    """Return the control characters of an output, without line breaks."""
    return {letter for letter in output.decode() if letter != "\n" and harmless(letter) != letter}


@pytest.mark.parametrize(
    "arguments",
    [
        ["search", "--why", "kestrel"],
        ["search", "--json", "kestrel"],
        ["get", "memory/a.md"],
        ["get", "memory/a.md", "--json"],
        ["get", "memory/\x1b[31mnone.md"],
        ["get", "\x1b[31m"],
        ["sync", "--force"],
        ["sync", "--json"],
        ["status"],
        ["status", "--json"],
        ["config", "show", "\x1b[31m"],
    ],
)
def test_control_characters_of_a_note_never_reach_the_output(evil: Path, arguments: list[str]) -> None:
    done = program(*arguments, cwd=evil)
    assert controls(done.stdout + done.stderr) == set()
    assert b"Traceback" not in done.stderr


def test_control_characters_of_a_workspaces_name_never_reach_the_output(tmp_path: Path) -> None:
    if os.name == "nt":
        pytest.skip("such names do not exist here")
    folder = tmp_path / "\x1b[31mred"
    for arguments in (["init"], ["status"], ["sync"], ["config", "trust"], ["config", "trust", "--revoke"]):
        done = program(*arguments, "-w", folder)
        assert controls(done.stdout + done.stderr) == set()


# Ctrl-C


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.002)


@posix_only
def test_ctrl_c_during_a_sync_is_one_sentence_and_keeps_what_was_done(workspace: Path) -> None:
    write(workspace, {f"{number}.md": f"kestrel{number} " * 40 for number in range(2_500)})
    process = subprocess.Popen(
        [sys.executable, "-c", MAIN, "sync", "-w", str(workspace)],
        env=environment({}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    log = workspace / ".memory/index.sqlite-wal"
    wait_for(lambda: log.exists() and log.stat().st_size > 1_000_000, process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert out == b""
    assert err.decode().strip() == ("Interrupted. Progress is saved; run the command again to continue.")
    with words_memory(workspace, {}) as memory:
        report = memory.sync()
    assert report.unchanged > 0
    assert report.unchanged + len(report.indexed) == 2_500
    assert report.warnings == ()


# Surroundings


@pytest.mark.parametrize(
    "variables",
    [
        {"LC_ALL": "C", "LANG": None, "PYTHONIOENCODING": None},
        {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": None},
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "latin-1"},
        {"PYTHONIOENCODING": "cp437"},
    ],
)
def test_a_locale_that_lacks_letters_is_no_error(notes: Path, variables: dict[str, str | None]) -> None:
    write(notes, {"wide.md": "kestrel 数据库 😀 ¿naïve? €\n"})
    plain = program("search", "-w", notes, "kestrel", env=variables)
    assert (plain.returncode, plain.stderr) == (0, b"")
    as_json = program("search", "-w", notes, "kestrel", "--json", env=variables)
    snippets = [hit["snippet"] for hit in json.loads(as_json.stdout)["results"]]
    assert "kestrel 数据库 😀 ¿naïve? €" in snippets


@posix_only
def test_a_query_that_is_not_valid_utf_8_is_no_error(notes: Path) -> None:
    done = program("search", "-w", notes, os.fsdecode(b"kestrel caf\xe9"))
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"memory/a.md" in done.stdout


@posix_only
def test_a_workspace_whose_name_is_not_valid_utf_8_is_refused_as_json(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    try:
        write(folder, NOTES)
    except OSError:
        pytest.skip("the file system refuses such names")
    done = program("status", "-w", folder, "--json")
    assert (done.returncode, json.loads(done.stdout)["code"]) == (4, "workspace")


def test_without_a_home_everything_works(notes: Path, tmp_path: Path) -> None:
    nobody = dict.fromkeys(("HOME", "USERPROFILE", "XDG_CONFIG_HOME", "MEMLINES_HOME"))
    done = program("search", "-w", notes, "kestrel", env={**nobody, "XDG_STATE_HOME": str(tmp_path)})
    assert (done.returncode, done.stderr) == (0, b"")


@posix_only
def test_in_a_folder_that_was_deleted_the_workspace_has_to_be_named(notes: Path, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    command = shlex.join([sys.executable, "-c", MAIN, "search", "kestrel"])
    for named, code in ((shlex.join(["-w", str(notes)]), 0), ("", 4)):
        gone.mkdir()
        script = f"cd {shlex.quote(str(gone))} && rmdir {shlex.quote(str(gone))} && {command} {named}"
        done = subprocess.run(["sh", "-c", script], env=environment({}), capture_output=True, check=False)
        assert done.returncode == code
        assert b"Traceback" not in done.stderr


def test_the_installed_command_is_there(notes: Path) -> None:
    command = Path(sys.executable).with_name("memlines.exe" if os.name == "nt" else "memlines")
    if not command.exists():
        pytest.skip("the package is not installed as a command")
    done = subprocess.run([command, "--version"], capture_output=True, check=True)
    assert done.stdout.startswith(b"memlines, version ")


def test_a_fresh_process_sees_changed_new_and_deleted_files(notes: Path) -> None:
    program("search", "-w", notes, "kestrel")
    write(notes, {"MEMORY.md": "We like the submarine.\n", "b.md": "Another submarine.\n"})
    (notes / "memory/a.md").unlink()
    found = json.loads(program("search", "-w", notes, "submarine kestrel", "--json").stdout)
    assert sorted(hit["path"] for hit in found["results"]) == ["MEMORY.md", "memory/b.md"]


def test_click_and_a_process_agree(capsys: pytest.CaptureFixture[str], notes: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMLINES_EMBEDDINGS__PROVIDER", "none")
        inside = Cli(capsys)("search", "-w", notes, "--json", "kestrel")
    outside = program("search", "-w", notes, "--json", "kestrel")
    assert json.loads(outside.stdout) == inside.json
