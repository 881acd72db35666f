"""`memlines sessions`, for people and as JSON, over the transcripts of all clients."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from memlines import Memory
from memlines.agent import snapshot
from tests.indexes import write
from tests.memory.session_homes import ALL, CLIENTS, IN_CLAUDE_CODE, IN_CODEX, SESSION, TOKEN, make_homes
from tests.programs import Cli, program
from tests.transcripts.recorded import CLAUDE_CODE, CODEX, OPENCODE_EXPORT
from tests.transcripts.records import HEADER, assistant, jsonl, user

TALK = jsonl(HEADER, user("My kestrel is called Ada."), "", assistant("A fine name."))


@pytest.fixture
def cli(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, workspace: Path, tmp_path: Path
) -> Cli:
    """The command line where all clients are asked for and have transcripts of the workspace."""
    settings = {
        "EMBEDDINGS__PROVIDER": "none",
        "SOURCES": "memory,sessions",
        "SESSIONS__CLIENTS": ",".join(CLIENTS),
        "TIMEZONE": "UTC",
    }
    for name, value in make_homes(tmp_path / "clients", workspace).items():
        monkeypatch.setenv(name, value)
    for name, value in settings.items():
        monkeypatch.setenv(f"MEMLINES_{name}", value)
    return Cli(capsys)


# list


def test_list_names_the_state_of_every_transcript(cli: Cli, workspace: Path) -> None:
    cli("sync", "-w", workspace)
    lines = cli("sessions", "list", "-w", workspace).out.splitlines()
    assert {re.split(r"\s{2,}", line)[2] for line in lines} == set(ALL)
    assert all(line.endswith("  indexed  1 chunk") for line in lines)


def test_list_as_json(cli: Cli, workspace: Path) -> None:
    told = cli("sessions", "list", "-w", workspace, "--json").json
    assert {one["path"]: one["state"] for one in told["sessions"]} == dict.fromkeys(ALL, "new")


def test_list_of_one_client(cli: Cli, workspace: Path) -> None:
    told = cli("sessions", "list", "--client", "codex", "-w", workspace, "--json").json
    assert [one["path"] for one in told["sessions"]] == [IN_CODEX]


def test_list_at_most_so_many(cli: Cli, workspace: Path) -> None:
    assert len(cli("sessions", "list", "-n", "2", "-w", workspace).out.splitlines()) == 2


def test_list_tells_a_transcript_that_grew(cli: Cli, workspace: Path) -> None:
    write(workspace, {"sessions/a.jsonl": TALK})
    cli("sync", "-w", workspace)
    with (workspace / "sessions/a.jsonl").open("a", encoding="utf-8") as stream:
        stream.write(jsonl(user("It grew.")))
    assert "sessions/a.jsonl  grew since  1 chunk" in cli("sessions", "list", "-w", workspace).out


def test_list_tells_the_reason_why_one_is_left_out(cli: Cli, workspace: Path) -> None:
    write(workspace, {"sessions/a.jsonl": "hello\n"})
    cli("sync", "-w", workspace)
    out = cli("sessions", "list", "-w", workspace).out
    assert "sessions/a.jsonl  left out (is no transcript (no line of it is a message))" in out


def test_list_without_transcripts_says_how_to_switch_them_on(
    cli: Cli, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMLINES_SESSIONS__CLIENTS", "")
    outcome = cli("sessions", "list", "-w", workspace)
    assert outcome.out == "There are no transcripts.\n"
    assert outcome.err.startswith("Set sources to [memory, sessions], and sessions.clients to")


def test_list_where_sessions_are_off_says_so(
    cli: Cli, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMLINES_SOURCES", "memory")
    outcome = cli("sessions", "list", "-w", workspace)
    assert (outcome.code, "does not ask for sessions" in outcome.out) == (0, True)
    assert outcome.err.startswith("Set sources to")


# show


def test_show_marks_the_cited_lines(cli: Cli, workspace: Path) -> None:
    outcome = cli("sessions", "show", f"{IN_CLAUDE_CODE}#L22", "--around", "1", "-w", workspace)
    assert outcome.out.splitlines() == [
        f"{IN_CLAUDE_CODE}  claude-code, began 2026-11-16 05:02",
        "  20  User: Show me the settings.",
        "> 22  Assistant (Bash): I look at the file.",
        "  25  Assistant: The settings say:",
        "",
        "      ```toml",
        "      port = 5433",
        "      ```",
    ]


def test_show_tells_what_is_before_and_after(cli: Cli, workspace: Path) -> None:
    outcome = cli("sessions", "show", f"{IN_CLAUDE_CODE}#L22", "--around", "0", "-w", workspace)
    before, after = outcome.err.splitlines()
    assert before == "[3 turns before]"
    assert re.fullmatch(rf"\[\d+ turns after: memlines sessions show {IN_CLAUDE_CODE} --from 25\]", after)


def test_show_goes_on_from_a_line(cli: Cli, workspace: Path) -> None:
    write(workspace, {"sessions/a.jsonl": TALK})
    outcome = cli("sessions", "show", "sessions/a.jsonl", "--from", "3", "-w", workspace)
    assert outcome.out.splitlines()[1:] == ["  4  Assistant: A fine name."]


def test_show_as_json(cli: Cli, workspace: Path) -> None:
    told = cli("sessions", "show", f"{IN_CODEX}#L8-L11", "--around", "0", "-w", workspace, "--json").json
    assert [(turn["line"], turn["role"], turn["marked"]) for turn in told["turns"]] == [
        (8, "user", True),
        (11, "assistant", True),
    ]


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("sessions/missing.jsonl", 2),
        ("sessions/../../etc/passwd", 2),
        ("MEMORY.md", 2),
        (f"{IN_CODEX}#L0", 2),
        (f"{IN_CODEX}#L9-L8", 2),
        (f"{IN_CODEX}#L999999", 2),
    ],
)
def test_show_refuses_what_cannot_be_meant(cli: Cli, workspace: Path, path: str, code: int) -> None:
    outcome = cli("sessions", "show", path, "-w", workspace)
    assert (outcome.code, outcome.out, outcome.err.startswith("Error: ")) == (code, "", True)


def test_a_transcript_cannot_command_the_terminal(cli: Cli, workspace: Path) -> None:
    write(workspace, {"sessions/a.jsonl": jsonl(HEADER, user("a\x1b[2Jb\u009b\u202ec"))})
    assert not re.search("[\x1b\x9b\u202e]", cli("sessions", "show", "sessions/a.jsonl", "-w", workspace).out)


# search


def test_search_tells_client_date_and_citation(cli: Cli, workspace: Path) -> None:
    out = cli("sessions", "search", "staging database port", "-w", workspace).out
    assert re.search(rf"^0\.\d\d \w+ +{IN_CODEX}#L8-L\d+  codex, 2026-11-16 05:03$", out, re.MULTILINE)


def test_search_as_json_tells_client_and_date(cli: Cli, workspace: Path) -> None:
    told = cli("sessions", "search", "staging database port", "-w", workspace, "--json").json
    dates = {one["client"]: one["date"] for one in told["results"]}
    assert dates == {
        "claude-code": "2026-11-16 05:02",
        "codex": "2026-11-16 05:03",
        "opencode": "2026-11-16 05:03",
        "openclaw": "2026-11-16 05:07",
    }


def test_search_looks_at_conversations_only(cli: Cli, workspace: Path) -> None:
    write(workspace, {"memory/a.md": "The staging database port is 5433.\n"})
    told = cli("sessions", "search", "staging database port", "-w", workspace, "--json").json
    assert {one["source"] for one in told["results"]} == {"sessions"}


def test_search_tells_the_client_of_a_snapshot(cli: Cli, workspace: Path) -> None:
    with Memory(workspace) as memory:
        snapshot.take(memory, "s9", [{"role": "user", "content": "The heron nests here"}], client="codex")
    (hit,) = cli("sessions", "search", "heron", "-w", workspace, "--json").json["results"]
    assert (hit["path"].startswith("snapshots/"), hit["client"]) == (True, "codex")


def test_search_that_finds_nothing(cli: Cli, workspace: Path) -> None:
    outcome = cli("sessions", "search", "xylophone", "-w", workspace)
    assert (outcome.code, outcome.out) == (0, "Nothing in memory answers this. Try other words.\n")


def test_search_where_sessions_are_off_says_how_to_switch_them_on(
    cli: Cli, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMLINES_SOURCES", "memory")
    outcome = cli("sessions", "search", "port", "-w", workspace)
    assert (outcome.code, outcome.err) == (
        3,
        "Error: the setting 'sources' does not ask for sessions. Set sources to [memory, sessions], and "
        "sessions.clients to the clients whose transcripts to read "
        "(opencode, claude-code, codex, openclaw)\n",
    )


def test_an_empty_query_is_refused(cli: Cli, workspace: Path) -> None:
    assert cli("sessions", "search", " ", "-w", workspace).code == 2


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


QUERIES = ("staging database port", "settings", "Zürich", "東京", "written down", "helper", "agree", "backup")


@pytest.mark.parametrize("query", QUERIES)
def test_the_citation_of_every_hit_shows_its_words(cli: Cli, workspace: Path, query: str) -> None:
    hits = cli("sessions", "search", query, "-w", workspace, "--json").json["results"]
    assert hits
    for hit in hits:
        told = cli("sessions", "show", hit["citation"], "--around", "0", "-w", workspace)
        assert " ".join(words(hit["snippet"])) in " ".join(
            word for line in told.out.splitlines()[1:] for word in words(re.sub(r"^[> ] +\d+  ", "", line))
        )


def test_the_citation_of_a_hit_deep_in_a_long_turn_shows_its_words(cli: Cli, workspace: Path) -> None:
    long = " ".join(f"Sentence {number} tells nothing." for number in range(9_000))
    talk = jsonl(HEADER, user("Tell me all."), assistant(f"{long} The heron nests in the old mill. {long}"))
    write(workspace, {"sessions/a.jsonl": talk})
    (hit,) = cli("sessions", "search", "heron mill", "-n", "1", "-w", workspace, "--json").json["results"]
    assert "The heron nests in the old mill." in cli("sessions", "show", hit["citation"], "-w", workspace).out


# import


def test_import_tells_where_each_file_went(cli: Cli, workspace: Path) -> None:
    outcome = cli("sessions", "import", CODEX, OPENCODE_EXPORT, "-w", workspace)
    assert outcome.code == 0
    assert outcome.out.splitlines() == [
        "imported: sessions/codex-01a1e2bc-f7c0-7551-ae7d-cf6d81622378.jsonl (codex, 11 messages)",
        "imported: sessions/opencode-ses_e1d428195ffeJ1CURLcgjASt7b.jsonl (opencode, 16 messages)",
    ]


def test_import_again_says_that_it_is_there(cli: Cli, workspace: Path) -> None:
    cli("sessions", "import", CLAUDE_CODE, "-w", workspace)
    out = cli("sessions", "import", CLAUDE_CODE, "-w", workspace).out
    assert out.startswith(f"already there: sessions/claude-code-{SESSION}.jsonl (")


def test_import_goes_on_after_a_broken_file_and_fails(cli: Cli, workspace: Path, tmp_path: Path) -> None:
    write(tmp_path, {"broken.jsonl": "hello\n"})
    outcome = cli("sessions", "import", tmp_path / "broken.jsonl", CODEX, "-w", workspace)
    assert (outcome.code, outcome.out.startswith("imported: ")) == (1, True)
    assert outcome.err.startswith(f"Error: '{tmp_path}/broken.jsonl' is not a transcript of a known client")


def test_import_as_json(cli: Cli, workspace: Path, tmp_path: Path) -> None:
    write(tmp_path, {"a.jsonl": jsonl({**HEADER, "id": "s1"}, user(f"Use {TOKEN} for it."))})
    outcome = cli("sessions", "import", tmp_path / "a.jsonl", tmp_path / "b.jsonl", "-w", workspace, "--json")
    good, bad = outcome.json["imported"]
    assert (outcome.code, bad["outcome"], bad["path"]) == (1, "failed", "")
    assert good == {
        "file": str(tmp_path / "a.jsonl"),
        "outcome": "imported",
        "path": "sessions/openclaw-s1.jsonl",
        "client": "openclaw",
        "messages": 1,
        "damaged": 0,
        "redacted": {"github-token": 1},
        "problem": "",
    }


def test_import_says_if_it_is_not_searched(
    cli: Cli, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMLINES_SOURCES", "memory")
    assert cli("sessions", "import", CODEX, "-w", workspace).err.startswith("It is not searched yet. Set")


# All of them


def test_a_planted_secret_is_in_no_output(cli: Cli, workspace: Path, tmp_path: Path) -> None:
    talk = jsonl({**HEADER, "id": "s1"}, user(f"The heron's token is {TOKEN}"), assistant(f"I keep {TOKEN}."))
    write(workspace, {"sessions/a.jsonl": talk})
    write(tmp_path, {"b.jsonl": talk})
    commands = [
        ("sync",),
        ("list",),
        ("import", tmp_path / "b.jsonl"),
        ("search", "heron token"),
        ("search", TOKEN),
        ("show", "sessions/a.jsonl"),
        ("show", "sessions/a.jsonl#L2"),
        ("show", "sessions/openclaw-s1.jsonl"),
    ]
    for command in commands:
        for options in ((), ("--json",)):
            words = command if command[0] == "sync" else ("sessions", *command)
            outcome = cli(*words, "-w", workspace, *options)
            assert outcome.code == 0
            assert TOKEN not in outcome.out + outcome.err
    derived = [file for file in workspace.rglob("*") if file.is_file() and file.name != "a.jsonl"]
    assert not any(TOKEN.encode() in file.read_bytes() for file in derived)


@pytest.mark.parametrize(
    "words", [("list",), ("show", IN_CODEX), ("search", "port"), ("import", str(CODEX))], ids=lambda it: it[0]
)
def test_a_memory_that_is_switched_off_is_left_alone(
    cli: Cli, workspace: Path, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMLINES_ENABLED", "false")
    assert cli("sessions", *words, "-w", workspace).code == 10


def test_a_deleted_transcript_is_gone_from_the_answers(cli: Cli, workspace: Path) -> None:
    write(workspace, {"sessions/a.jsonl": TALK})
    before = cli("sessions", "search", "kestrel", "-w", workspace, "--json").json["results"]
    (workspace / "sessions/a.jsonl").unlink()
    after = cli("sessions", "search", "kestrel", "-w", workspace, "--json").json["results"]
    assert ([hit["path"] for hit in before], after) == (["sessions/a.jsonl"], [])


def test_as_a_program_of_its_own(cli: Cli, workspace: Path) -> None:
    done = program("sessions", "show", f"{IN_CODEX}#L8", "--around", "0", cwd=workspace)
    assert done.stdout.decode().splitlines()[1:] == ["> 8  User: Which port does the staging database use?"]
