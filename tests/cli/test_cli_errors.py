"""What goes wrong is said in one sentence, with the error's exit code, and as JSON if asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.memories import write
from tests.programs import Cli, unprivileged_run

NOTES = {"MEMORY.md": "We like the heron.\n", "memory/a.md": "The kestrel lives here.\n"}


@pytest.fixture
def notes(workspace: Path) -> Path:
    """A workspace with two notes."""
    write(workspace, NOTES)
    return workspace


ERRORS = [
    pytest.param(["search", "-w", "nowhere", "x"], 4, "workspace", "does not exist", id="no-workspace"),
    pytest.param(["sync", "-w", "file.txt"], 4, "workspace", "is not a folder", id="not-a-folder"),
    pytest.param(["init", "file.txt"], 4, "workspace", "is not a folder", id="init-not-a-folder"),
    pytest.param(["init", "file.txt/x"], 4, "workspace", "cannot be made", id="init-below-a-file"),
    pytest.param(["init", "one", "-w", "two"], 2, "usage", "two different folders", id="init-two"),
    pytest.param(["search", "-w", "workspace", ""], 2, "usage", "query is empty", id="empty-query"),
    pytest.param(["search", "-w", "workspace", " ", "\t"], 2, "usage", "query is empty", id="blank-query"),
    pytest.param(["search", "-w", "workspace"], 2, "usage", "query is empty", id="no-query"),
    pytest.param(["search", "-w", "workspace", "-n", "many", "x"], 2, "usage", "not a valid int", id="count"),
    pytest.param(["search", "-w", "workspace", "--min-score", "nan", "x"], 2, "usage", "nan", id="nan"),
    pytest.param(["search", "-w", "workspace", "--min-score", "2", "x"], 2, "usage", "is 2.0", id="score"),
    pytest.param(["search", "-w", "workspace", "-n", "0", "x"], 2, "usage", "--max-results is 0", id="none"),
    pytest.param(["search", "-w", "workspace", "-n", "1001", "x"], 2, "usage", "is 1001", id="many"),
    pytest.param(["search", "-w", "", "x"], 2, "usage", "the workspace is empty", id="empty-workspace"),
    pytest.param(["init", ""], 2, "usage", "the workspace is empty", id="init-empty"),
    pytest.param(["search", "-w", "workspace", "--mode", "magic", "x"], 2, "usage", "magic", id="mode"),
    pytest.param(
        ["search", "-w", "workspace", "--mode", "vectors", "x"], 2, "usage", "no vectors", id="vectors"
    ),
    pytest.param(["get", "-w", "workspace", "../outside.md"], 2, "path", "not part of this memory", id="up"),
    pytest.param(["get", "-w", "workspace", "/etc/passwd"], 2, "path", "not part of this memory", id="root"),
    pytest.param(["get", "-w", "workspace", ""], 2, "path", "no usable path", id="no-path"),
    pytest.param(["get", "-w", "workspace", "memory/a.md#L9-L3"], 2, "usage", "names no lines", id="turned"),
    pytest.param(["get", "-w", "workspace", "memory/a.md#L0"], 2, "usage", "names no lines", id="line-0"),
    pytest.param(["get", "-w", "workspace", "memory/a.md:3"], 2, "usage", "is no citation", id="colon"),
    pytest.param(["get", "-w", "workspace", "memory/a.md#l3"], 2, "usage", "is no citation", id="small-l"),
    pytest.param(["history", "-w", "workspace", "memory/no.md"], 2, "path", "memory/no.md", id="no-note"),
    pytest.param(["import", "chatgtp", "x.zip"], 2, "usage", "Did you mean 'chatgpt'", id="import"),
    pytest.param(["get", "-w", "workspace", "memory/a.md", "--from", "0"], 2, "usage", "--from", id="from"),
    pytest.param(
        ["get", "-w", "workspace", "memory/a.md", "--lines", "0"], 2, "usage", "--lines", id="lines"
    ),
    pytest.param(
        ["get", "-w", "workspace", "memory/a.md", "--column", "-1"], 2, "usage", "--column is -1", id="column"
    ),
    pytest.param(
        ["get", "-w", "workspace", "memory/a.md", "--column", "99"], 2, "usage", "less than 99", id="wide"
    ),
    pytest.param(["get", "-w", "workspace", "memory/a.md#L9"], 2, "usage", "has 1 line, so", id="beyond"),
    pytest.param(["config", "show", "-w", "workspace", "nope"], 3, "settings", "no setting 'nope'", id="key"),
    pytest.param(["config", "trust", "-w", "workspace"], 3, "settings", "no settings file", id="trust"),
    pytest.param(["nope"], 2, "usage", "No such command", id="no-command"),
    pytest.param(["serch", "x"], 2, "usage", "Did you mean 'search'?", id="nearly-a-command"),
    pytest.param(["add", "x"], 2, "usage", "Did you mean 'remember'?", id="another-word"),
    pytest.param(["help"], 2, "usage", "Did you mean '--help'?", id="help"),
    pytest.param(["sync", "--nope"], 2, "usage", "No such option", id="no-option"),
    pytest.param(
        ["-w", "workspace", "search", "x"],
        2,
        "usage",
        "Write it after the command: memlines search -w …",
        id="option-before-command",
    ),
    pytest.param(
        ["config", "--project", "set", "agent", "a"],
        2,
        "usage",
        "Write it after the command: memlines config set --project …",
        id="option-before-subcommand",
    ),
]


@pytest.mark.parametrize(("arguments", "code", "name", "words"), ERRORS)
def test_an_error_for_people(
    cli: Cli,
    notes: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    code: int,
    name: str,
    words: str,
) -> None:
    (notes.parent / "file.txt").touch()
    monkeypatch.chdir(notes.parent)
    outcome = cli(*arguments)
    assert (outcome.code, outcome.out) == (code, "")
    assert words in outcome.err
    assert outcome.err.count("Error: ") == 1
    assert "Traceback" not in outcome.err


@pytest.mark.parametrize(("arguments", "code", "name", "words"), ERRORS)
def test_an_error_as_json(
    cli: Cli,
    notes: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    code: int,
    name: str,
    words: str,
) -> None:
    (notes.parent / "file.txt").touch()
    monkeypatch.chdir(notes.parent)
    outcome = cli(*arguments, "--json")
    assert (outcome.code, outcome.err) == (code, "")
    assert list(outcome.json) == ["code", "error", "todo"]
    assert outcome.json["code"] == name
    assert words in outcome.json["error"]


@pytest.mark.parametrize("command", [["status"], ["sync"], ["search", "x"], ["config", "show"]])
@pytest.mark.parametrize(
    ("yaml", "words"),
    [
        ("query: {max_resluts: 3}\n", "max_resluts"),
        ("query: [unclosed\n", "config.yaml"),
        ("query:\n\tmax_results: 3\n", "config.yaml"),
        ("query: {max_results: many}\n", "many"),
        ("just text\n", "config.yaml"),
    ],
)
def test_a_broken_settings_file_is_named(
    cli: Cli, notes: Path, command: list[str], yaml: str, words: str
) -> None:
    (notes / ".memory").mkdir()
    (notes / ".memory/config.yaml").write_text(yaml, encoding="utf-8")
    outcome = cli(*command, "-w", notes)
    assert (outcome.code, outcome.out) == (3, "")
    assert words in outcome.err


def test_an_unknown_variable_is_named(cli: Cli, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMLINES_QUERY__MAX_RESLUTS", "3")
    outcome = cli("search", "-w", notes, "x")
    assert outcome.code == 3
    assert "MEMLINES_QUERY__MAX_RESLUTS" in outcome.err
    assert "MEMLINES_QUERY__MAX_RESULTS" in outcome.err


def test_a_provider_without_its_key_is_a_warning_beside_the_answer(
    cli: Cli, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMLINES_EMBEDDINGS__PROVIDER", "openai")
    outcome = cli("search", "-w", notes, "x")
    assert (outcome.code, "OPENAI_API_KEY" in outcome.err) == (0, True)


def test_a_damaged_index_is_a_warning_beside_the_answer(cli: Cli, notes: Path) -> None:
    (notes / ".memory").mkdir()
    (notes / ".memory/index.sqlite").write_text("no database at all", encoding="utf-8")
    outcome = cli("search", "-w", notes, "kestrel")
    assert outcome.code == 0
    assert "memory/a.md#L1" in outcome.out
    assert outcome.err.startswith("Warning: ")


def test_an_error_message_cannot_command_the_terminal(cli: Cli, notes: Path) -> None:
    (notes / ".memory").mkdir()
    (notes / ".memory/config.yaml").write_bytes(b'"\\e[31mred\\a": 1\n')
    outcome = cli("status", "-w", notes)
    assert outcome.code == 3
    assert not any(ord(letter) < 32 and letter != "\n" for letter in outcome.err)


MAIN = "from memlines.cli.start import main; main()"


def test_init_in_a_folder_that_may_not_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    try:
        done = unprivileged_run(MAIN, "init", tmp_path / "notes")
    finally:
        tmp_path.chmod(0o755)
    assert done.returncode == 4
    assert done.stderr.startswith("Error: workspace ")
    assert "permission denied" in done.stderr


def test_a_later_search_where_nothing_may_be_written_answers_with_a_warning(cli: Cli, notes: Path) -> None:
    cli("sync", "-w", notes)
    (notes / ".memory").chmod(0o555)
    try:
        done = unprivileged_run(
            MAIN, "search", "-w", notes, "kestrel", env={"MEMLINES_EMBEDDINGS__PROVIDER": "none"}
        )
    finally:
        (notes / ".memory").chmod(0o755)
    assert done.returncode == 0
    assert "memory/a.md#L1" in done.stdout
    assert "may be out of date" in done.stderr


def test_a_workspace_that_may_not_be_read(notes: Path) -> None:
    notes.chmod(0o000)
    try:
        done = unprivileged_run(
            MAIN, "search", "-w", notes, "x", env={"MEMLINES_EMBEDDINGS__PROVIDER": "none"}
        )
    finally:
        notes.chmod(0o755)
    assert done.returncode == 4
    assert done.stderr.startswith("Error: ")
    assert "permission denied" in done.stderr.lower()
    assert "Traceback" not in done.stderr


def test_a_note_that_may_not_be_read_fails_the_sync_and_is_named(notes: Path) -> None:
    (notes / "memory/a.md").chmod(0o000)
    try:
        done = unprivileged_run(MAIN, "sync", "-w", notes, env={"MEMLINES_EMBEDDINGS__PROVIDER": "none"})
    finally:
        (notes / "memory/a.md").chmod(0o644)
    assert done.returncode == 1
    assert "Failed:\n  memory/a.md cannot be read: permission denied" in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [["undo"], ["undo", "--redo"], ["tidy"], ["recall"], ["search", "x"], ["context", "hello there"]],
    ids=" ".join,
)
def test_a_folder_without_a_memory_stays_without_one(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    monkeypatch.chdir(folder)
    assert "Traceback" not in cli(*arguments).err
    assert [*folder.iterdir()] == []


def test_recall_says_that_there_is_no_memory(cli: Cli, tmp_path: Path) -> None:
    outcome = cli("recall", "-w", tmp_path)
    assert (outcome.code, outcome.out) == (0, "Nothing found.\n")
    assert f"there is no memory in {tmp_path}; 'memlines init' begins one" in outcome.err
