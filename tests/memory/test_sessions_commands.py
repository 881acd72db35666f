"""What there is of conversations, and what is shown of one."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines import Memory
from memlines.agent import snapshot
from memlines.errors import PathError, SettingsError, UsageError
from memlines.files.read import MAX_CHARACTERS
from memlines.files.tombstones import bury
from memlines.memory.conversations import reading
from memlines.memory.conversations.listing import SessionInfo, list_sessions
from memlines.memory.conversations.reading import (
    MOST_CHARACTERS,
    Session,
    quote_turn,
    read_session,
    read_turns,
)
from memlines.paths import Workspace
from memlines.settings import load
from memlines.types import Excerpt, Turn
from tests.indexes import write
from tests.memory.session_homes import (
    ALL,
    CLIENTS,
    IN_CLAUDE_CODE,
    IN_CODEX,
    IN_OPENCODE,
    SESSION,
    SETTINGS,
    TOKEN,
    codex_file,
    make_homes,
)
from tests.programs import unprivileged_run
from tests.transcripts.records import HEADER, assistant, jsonl, message, user

TALK = jsonl(HEADER, user("My kestrel is called Ada."), "", assistant("A fine name."))
LONG_TALK = jsonl(HEADER, *(user(f"Turn {number}") for number in range(2, 42)))


class Look:
    """Looks at the conversations of a workspace with all clients."""

    def __init__(self, root: Path, home: Path) -> None:
        self.root = root
        self.home = home
        self.workspace = Workspace.at(root)
        self.environ: Mapping[str, str] = make_homes(home, root)

    def settings(self, **changes: Any) -> Any:
        changed = {key.replace("__", "."): value for key, value in changes.items()}
        return load(self.workspace, SETTINGS | changed).settings

    def sync(self) -> None:
        with Memory(self.root, SETTINGS) as memory:
            memory.sync()

    def listed(self, **changes: Any) -> dict[str, SessionInfo]:
        infos = list_sessions(self.workspace, self.settings(**changes))
        return {info.path: info for info in infos}

    def states(self, **changes: Any) -> dict[str, str]:
        return {path: info.state for path, info in self.listed(**changes).items()}

    def show(self, path: str, line: int | None = None, around: int = 5, **options: Any) -> Session:
        return read_session(self.workspace, self.settings(), path, line, around, **options)

    def excerpt(self, path: str, start: int | None = None, lines: int | None = None, **more: Any) -> Excerpt:
        return read_turns(self.workspace, self.settings(), path, start, lines, **more)


@pytest.fixture
def look(workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Look:
    made = Look(workspace, tmp_path / "clients")
    for name, value in made.environ.items():
        monkeypatch.setenv(name, value)
    return made


# Listing.


def test_every_transcript_that_is_there_is_listed(look: Look) -> None:
    assert look.states() == dict.fromkeys(ALL, "new")


def test_after_a_sync_all_are_indexed(look: Look) -> None:
    look.sync()
    assert set(look.states().values()) == {"indexed"}


def test_a_listed_transcript_tells_its_client(look: Look) -> None:
    assert {info.client for info in look.listed().values()} == set(CLIENTS)


def test_an_indexed_transcript_tells_how_many_chunks_it_has(look: Look) -> None:
    look.sync()
    assert {info.chunks for info in look.listed().values()} == {1}


@pytest.mark.parametrize(
    ("path", "time"),
    [(IN_CODEX, "2026-11-16 05:03"), (IN_CLAUDE_CODE, "2026-11-16 05:02"), (IN_OPENCODE, "2026-11-16 05:03")],
)
@pytest.mark.parametrize("is_indexed", [False, True])
def test_a_listed_transcript_tells_when_it_began(look: Look, path: str, time: str, is_indexed: bool) -> None:
    if is_indexed:
        look.sync()
    started = look.listed()[path].started
    assert started is not None
    assert f"{started:%Y-%m-%d %H:%M}" == time


def test_a_listed_transcript_tells_when_it_changed(look: Look) -> None:
    os.utime(codex_file(look.home), (1_000_000_000, 1_000_000_000))
    assert look.listed()[IN_CODEX].changed == datetime.fromtimestamp(1_000_000_000, UTC)


def test_the_transcript_that_changed_last_comes_first(look: Look) -> None:
    os.utime(codex_file(look.home), (2_000_000_000, 2_000_000_000))
    assert next(iter(look.listed())) == IN_CODEX


def test_a_transcript_that_grew_says_so(look: Look) -> None:
    look.sync()
    with codex_file(look.home).open("a", encoding="utf-8") as stream:
        stream.write("{}\n")
    assert look.states()[IN_CODEX] == "grew"


def test_a_transcript_that_was_written_anew_says_so(look: Look) -> None:
    look.sync()
    file = codex_file(look.home)
    file.write_text(file.read_text(encoding="utf-8").partition("\n")[0] + "\n", encoding="utf-8")
    assert look.states()[IN_CODEX] == "changed"


def test_a_transcript_that_is_gone_says_so_until_the_next_sync(look: Look) -> None:
    look.sync()
    codex_file(look.home).unlink()
    before = look.states()[IN_CODEX]
    look.sync()
    assert (before, IN_CODEX in look.states()) == ("gone", False)


def test_a_file_that_is_no_transcript_is_left_out_with_the_reason(look: Look) -> None:
    write(look.root, {"sessions/a.jsonl": "hello\n"})
    look.sync()
    info = look.listed()["sessions/a.jsonl"]
    assert (info.state, info.reason) == ("left out", "is no transcript (no line of it is a message)")


def test_a_link_is_left_out_with_the_reason(look: Look) -> None:
    write(look.root, {"elsewhere.jsonl": TALK})
    (look.root / "sessions").mkdir()
    (look.root / "sessions/a.jsonl").symlink_to(look.root / "elsewhere.jsonl")
    info = look.listed()["sessions/a.jsonl"]
    assert (info.state, info.reason) == ("left out", "is a symbolic link; links are not followed")


def test_where_sessions_are_not_asked_for_they_are_left_out(look: Look) -> None:
    states = look.listed(sources=["memory"])
    assert {(info.state, info.reason) for info in states.values()} == {
        ("left out", "the setting 'sources' does not ask for sessions")
    }


def test_a_client_that_is_not_asked_for_is_not_looked_at(look: Look) -> None:
    assert set(look.states(sessions__clients=["codex"])) == {IN_CODEX}


def test_a_session_that_was_forgotten_is_left_out(look: Look) -> None:
    bury(look.workspace, [], [SESSION])
    info = look.listed()[IN_CLAUDE_CODE]
    assert (info.state, info.reason) == ("left out", "was forgotten")


def test_snapshots_are_not_listed_among_transcripts(look: Look) -> None:
    with Memory(look.root, SETTINGS) as memory:
        snapshot.take(memory, "s1", [{"role": "user", "content": "Keep the port"}])
        memory.sync()
    assert set(look.states()) == set(ALL)


def test_with_a_damaged_index_everything_is_new(look: Look) -> None:
    look.sync()
    (look.workspace.private / "index.sqlite").write_bytes(b"x" * 5000)
    assert set(look.states().values()) == {"new"}


BLIND = """
import sys
from memlines.paths import Workspace
from memlines.memory.conversations.listing import list_sessions
from memlines.settings import load
workspace = Workspace.at(sys.argv[1])
settings = load(workspace, {"sources": ["memory", "sessions"], "sessions.clients": ["codex"]}).settings
print(*[(info.state, info.reason) for info in list_sessions(workspace, settings) if info.path == sys.argv[2]])
"""


def test_what_nobody_can_look_at_is_not_gone(look: Look) -> None:
    look.sync()
    folder = codex_file(look.home).parent
    folder.chmod(0)
    done = unprivileged_run(BLIND, look.root, IN_CODEX)
    folder.chmod(0o755)
    assert done.stdout == "('indexed', 'cannot be looked at now')\n"


def test_a_listed_transcript_as_json(look: Look) -> None:
    os.utime(codex_file(look.home), (1_000_000_000, 1_000_000_000))
    assert look.listed()[IN_CODEX].to_json() == {
        "path": IN_CODEX,
        "client": "codex",
        "state": "new",
        "reason": "",
        "started": "2026-11-16T05:03:17Z",
        "changed": "2001-09-09T01:46:40Z",
        "chunks": 0,
    }


# Showing a conversation.


@pytest.mark.parametrize("path", ALL)
def test_a_conversation_of_every_client_is_shown(look: Look, path: str) -> None:
    assert look.show(path).turns[0].text == "Which port does the staging database use?"


def test_turns_around_a_line(look: Look) -> None:
    write(look.root, {"sessions/a.jsonl": LONG_TALK})
    assert [turn.line for turn in look.show("sessions/a.jsonl", 20, 2).turns] == [18, 19, 20, 21, 22]


def test_turns_around_several_lines(look: Look) -> None:
    write(look.root, {"sessions/a.jsonl": LONG_TALK})
    session = look.show("sessions/a.jsonl", 20, 1, last_line=22)
    assert [(turn.line, session.is_marked(turn)) for turn in session.turns] == [
        (19, False),
        (20, True),
        (21, True),
        (22, True),
        (23, False),
    ]


def test_how_many_turns_come_before_and_after_and_where_to_go_on(look: Look) -> None:
    write(look.root, {"sessions/a.jsonl": LONG_TALK})
    session = look.show("sessions/a.jsonl", 20, 2)
    assert (session.earlier, session.later, session.next_line) == (16, 19, 23)


def test_a_line_on_which_nothing_is_said_shows_the_turn_before(look: Look) -> None:
    write(look.root, {"sessions/a.jsonl": TALK})
    session = look.show("sessions/a.jsonl", 3, 0)
    assert [(turn.line, session.is_marked(turn)) for turn in session.turns] == [(2, False)]


def test_the_header_shows_the_first_turn(look: Look) -> None:
    write(look.root, {"sessions/a.jsonl": TALK})
    assert [turn.line for turn in look.show("sessions/a.jsonl", 1, 0).turns] == [2]


def test_a_line_beyond_the_end_is_refused(look: Look) -> None:
    write(look.root, {"sessions/a.jsonl": TALK})
    with pytest.raises(UsageError, match="has 4 lines, so there is no line 5"):
        look.show("sessions/a.jsonl", 5)


def test_without_a_line_all_of_it_is_shown(look: Look) -> None:
    write(look.root, {"sessions/a.jsonl": LONG_TALK})
    session = look.show("sessions/a.jsonl")
    assert (len(session.turns), session.next_line) == (40, None)


def test_a_long_conversation_is_gone_on_with(look: Look) -> None:
    said = [f"{number} " + "word " * 4_000 for number in range(8)]
    write(look.root, {"sessions/a.jsonl": jsonl(HEADER, *map(user, said))})
    shown: list[str] = []
    start: int | None = 1
    while start:
        session = look.show("sessions/a.jsonl", start=start)
        assert sum(len(turn.text) for turn in session.turns) <= MOST_CHARACTERS
        shown += [turn.text for turn in session.turns]
        start = session.next_line
    assert shown == [text.strip() for text in said]


def test_a_turn_above_the_limit_is_shown_whole(look: Look) -> None:
    write(look.root, {"sessions/a.jsonl": jsonl(HEADER, user("x" * (MOST_CHARACTERS + 1)), user("y"))})
    session = look.show("sessions/a.jsonl")
    assert ([len(turn.text) for turn in session.turns], session.next_line) == ([MOST_CHARACTERS + 1], 3)


def test_turns_around_are_shortened_and_the_one_asked_for_is_not(look: Look) -> None:
    write(look.root, {"sessions/a.jsonl": jsonl(HEADER, user("x" * 3_000), user("y" * 3_000))})
    around, asked = look.show("sessions/a.jsonl", 3).turns
    assert (len(around.text), around.text[-4:], len(asked.text)) == (2_004, " […]", 3_000)


def test_a_shown_conversation_tells_whose_it_is_and_when_it_began(look: Look) -> None:
    session = look.show(IN_CODEX)
    assert (session.client, f"{session.started:%Y-%m-%d %H:%M}") == ("codex", "2026-11-16 05:03")


def test_a_conversation_that_was_brought_in_tells_its_client(look: Look) -> None:
    write(look.root, {"sessions/codex-x1.jsonl": TALK})
    assert look.show("sessions/codex-x1.jsonl").client == "codex"


def test_a_secret_is_not_shown(look: Look) -> None:
    write(look.root, {"sessions/a.jsonl": jsonl(HEADER, user(f"Use {TOKEN} for it."))})
    assert look.show("sessions/a.jsonl").turns[0].text == "Use [redacted:github-token] for it."


def test_a_rule_of_the_settings_counts(look: Look) -> None:
    write(look.root, {"sessions/a.jsonl": jsonl(HEADER, user("My badge is B-12345678."))})
    settings = look.settings(redaction__rules={"badge": "B-[0-9]{8}"})
    session = read_session(look.workspace, settings, "sessions/a.jsonl")
    assert session.turns[0].text == "My badge is [redacted:badge]."


def test_a_turn_of_which_nothing_is_left_is_not_shown(look: Look) -> None:
    write(look.root, {"sessions/a.jsonl": jsonl(HEADER, user("<private>Mine.</private>"), user("Yours."))})
    assert [turn.text for turn in look.show("sessions/a.jsonl").turns] == ["Yours."]


def test_what_was_forgotten_is_not_shown(look: Look) -> None:
    write(
        look.root, {"sessions/a.jsonl": jsonl(HEADER, user("The safe is behind the painting."), user("Hi"))}
    )
    bury(look.workspace, ["The safe is behind the painting."])
    assert [turn.text for turn in look.show("sessions/a.jsonl").turns] == ["Hi"]


def test_a_session_that_was_forgotten_is_not_shown(look: Look) -> None:
    bury(look.workspace, [], [SESSION])
    with pytest.raises(PathError, match="there is no transcript"):
        look.show(IN_CLAUDE_CODE)


def test_a_transcript_that_is_gone_is_told(look: Look) -> None:
    with pytest.raises(PathError, match=r"there is no transcript 'sessions/x\.jsonl'"):
        look.show("sessions/x.jsonl")


def test_a_shown_conversation_as_json(look: Look) -> None:
    talk = jsonl(
        HEADER,
        message("user", "Look", timestamp="2026-03-01T09:31:00Z"),
        assistant([{"type": "text", "text": "Done"}, {"type": "toolCall", "name": "exec"}]),
    )
    write(look.root, {"sessions/a.jsonl": talk})
    assert look.show("sessions/a.jsonl", 3).to_json() == {
        "path": "sessions/a.jsonl",
        "client": "openclaw",
        "started": "2026-03-01T09:30:00Z",
        "turns": [
            {
                "line": 2,
                "role": "user",
                "text": "Look",
                "time": "2026-03-01T09:31:00Z",
                "tools": [],
                "marked": False,
            },
            {"line": 3, "role": "assistant", "text": "Done", "time": None, "tools": ["exec"], "marked": True},
        ],
        "earlier": 0,
        "later": 0,
        "next_line": None,
        "warnings": [],
    }


# What may be read.

NOT_A_TRANSCRIPT = [
    "",
    "sessions",
    "sessions/",
    "sessions/a.md",
    "sessions/../MEMORY.md",
    "sessions/../secret.jsonl",
    "sessions/codex/../../secret.jsonl",
    "sessions/./a.jsonl",
    "sessions//a.jsonl",
    "/etc/secret.jsonl",
    "sessions/a.jsonl\0",
    "sessions/\udcff.jsonl",
    "sessions/other-client/a.jsonl",
    "snapshots/../config.json",
    "snapshots/a/b.json",
    "memory/a.md",
]


@pytest.mark.parametrize("path", NOT_A_TRANSCRIPT)
def test_what_is_no_transcript_is_refused(look: Look, path: str) -> None:
    (look.root / "secret.jsonl").write_text(TALK, encoding="utf-8")
    with pytest.raises(PathError, match="is not part of this memory: it is no transcript"):
        look.excerpt(path)


def test_a_link_is_refused_with_the_reason(look: Look) -> None:
    write(look.root, {"elsewhere.jsonl": TALK})
    (look.root / "sessions").mkdir()
    (look.root / "sessions/a.jsonl").symlink_to(look.root / "elsewhere.jsonl")
    with pytest.raises(PathError, match="is a symbolic link"):
        look.excerpt("sessions/a.jsonl")


def test_a_client_that_is_not_asked_for_is_refused(look: Look) -> None:
    settings = look.settings(sessions__clients=["claude-code"])
    with pytest.raises(PathError, match="the transcripts of codex are not asked for"):
        read_turns(look.workspace, settings, IN_CODEX)


def test_where_sessions_are_not_asked_for_nothing_is_read(look: Look) -> None:
    write(look.root, {"sessions/a.jsonl": TALK})
    with pytest.raises(SettingsError, match="Set sources to"):
        read_turns(look.workspace, look.settings(sources=["memory"]), "sessions/a.jsonl")


def test_a_session_of_another_folder_is_not_found(look: Look, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    read = read_turns(Workspace.at(other), look.settings(), IN_CODEX)
    assert not read.found


UNREADABLE = """
import sys
from memlines.errors import PathError
from memlines.paths import Workspace
from memlines.memory.conversations.reading import read_turns
from memlines.settings import load
workspace = Workspace.at(sys.argv[1])
settings = load(workspace, {"sources": ["memory", "sessions"], "sessions.clients": ["codex"]}).settings
try:
    print(read_turns(workspace, settings, sys.argv[2]).found)
except PathError as error:
    print(error.what)
"""


def test_a_transcript_that_cannot_be_looked_at_is_not_taken_for_gone(look: Look) -> None:
    folder = codex_file(look.home).parent
    folder.chmod(0)
    done = unprivileged_run(UNREADABLE, look.root, IN_CODEX)
    folder.chmod(0o755)
    assert done.stdout == f"{str(folder)!r} cannot be listed: permission denied\n"


# Excerpts, as agents read them.


def test_an_excerpt_names_the_sides_and_the_tools(look: Look) -> None:
    text = look.excerpt(IN_CLAUDE_CODE, 20, 4).text
    assert text == "User: Show me the settings.\nAssistant (Bash): I look at the file."


@pytest.mark.parametrize("query", ["staging database port", "Zürich", "helper", "agree"])
def test_the_lines_of_every_hit_hold_its_words(look: Look, query: str) -> None:
    with Memory(look.root, SETTINGS) as memory:
        hits = memory.search(query, sources=["sessions"]).hits
    assert hits
    for hit in hits:
        read = look.excerpt(hit.path, hit.start_line, hit.end_line - hit.start_line + 1)
        assert " ".join(hit.snippet.split()) in " ".join(read.text.split())


def test_an_excerpt_tells_its_lines_and_where_to_go_on(look: Look) -> None:
    write(look.root, {"sessions/a.jsonl": LONG_TALK})
    assert look.excerpt("sessions/a.jsonl", 3, 2) == Excerpt(
        "sessions/a.jsonl",
        "User: Turn 3\nUser: Turn 4",
        3,
        2,
        truncated=True,
        next_start=5,
        total_lines=41,
    )


def test_an_excerpt_without_lines_begins_at_the_beginning(look: Look) -> None:
    write(look.root, {"sessions/a.jsonl": TALK})
    assert look.excerpt("sessions/a.jsonl") == Excerpt(
        "sessions/a.jsonl",
        "User: My kestrel is called Ada.\nAssistant: A fine name.",
        1,
        4,
        total_lines=4,
    )


def test_lines_on_which_nothing_is_said_are_empty(look: Look) -> None:
    write(look.root, {"sessions/a.jsonl": TALK})
    read = look.excerpt("sessions/a.jsonl", 3, 1)
    assert (read.text, read.found, read.next_start) == ("", True, 4)


@pytest.mark.parametrize("path", ["sessions/a.jsonl", "sessions/codex/a.jsonl", "snapshots/a.json"])
def test_a_transcript_that_is_gone_has_no_lines(look: Look, path: str) -> None:
    assert look.excerpt(path, 3, 2) == Excerpt(path, "", 3, 0, found=False)


def test_a_forgotten_session_has_no_lines(look: Look) -> None:
    bury(look.workspace, [], [SESSION])
    assert not look.excerpt(IN_CLAUDE_CODE).found


def test_a_secret_is_in_no_excerpt(look: Look) -> None:
    write(look.root, {"sessions/a.jsonl": jsonl(HEADER, user(f"Use {TOKEN} for it."))})
    assert look.excerpt("sessions/a.jsonl").text == "User: Use [redacted:github-token] for it."


def taken(look: Look) -> tuple[str, Path]:
    with Memory(look.root, SETTINGS) as memory:
        messages = [{"role": "user", "content": "Keep the port"}, {"role": "assistant", "content": "I do"}]
        kept = snapshot.take(memory, "s1", messages, client="codex")
    assert kept is not None
    return f"snapshots/{kept.id}.json", look.root / kept.path


def test_a_snapshot_is_read_by_its_name_in_the_index(look: Look) -> None:
    path, _ = taken(look)
    assert look.excerpt(path).text == "User: Keep the port\nAssistant: I do"


def test_a_shown_snapshot_tells_its_client(look: Look) -> None:
    path, _ = taken(look)
    assert look.show(path).client == "codex"


def test_messages_that_share_a_line_are_read_together(look: Look) -> None:
    path, file = taken(look)
    file.write_text(json.dumps(json.loads(file.read_text(encoding="utf-8"))), encoding="utf-8")
    assert look.excerpt(path, 1, 1).text == "User: Keep the port\nAssistant: I do"


words = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1, max_size=60)


@given(said=st.lists(words, max_size=12), factor=st.integers(1, 900), step=st.integers(1, 7))
def test_reading_on_gives_every_word_once(
    said: list[str], factor: int, step: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.mktemp("workspace")
    texts = [f"{text} {number} " * factor for number, text in enumerate(said)]
    write(root, {"sessions/a.jsonl": jsonl(HEADER, *map(user, texts))})
    workspace = Workspace.at(root)
    settings = load(workspace, {"sources": ["sessions"]}).settings
    shown: list[str] = []
    start, column = 1, 1
    while True:
        read = read_turns(workspace, settings, "sessions/a.jsonl", start, step, column)
        assert len(read.text) <= MAX_CHARACTERS
        if read.text:
            shown[-1:] = [shown[-1] + read.text] if column > 1 else [*shown[-1:], read.text]
        if read.next_start is None:
            break
        start, column = read.next_start, read.next_column or 1
    turns = reading.read_session(workspace, settings, "sessions/a.jsonl", 1, 1_000, last_line=1_000).turns
    assert "\n".join(shown) == "\n".join(quote_turn(turn) for turn in turns)


def test_a_turn_as_it_is_quoted() -> None:
    assert quote_turn(Turn("assistant", "Done", 3, None, ("Bash", "Edit"))) == "Assistant (Bash, Edit): Done"
