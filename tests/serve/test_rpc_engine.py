"""The methods of the engine, called as a client's requests call them."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memlines import MemoryOff, UsageError
from memlines.embed.select import Choice
from memlines.serve.rpc.engine import Engine
from memlines.serve.rpc.messages import Refused, raised_line
from memlines.serve.tools import shown_tools
from tests.memories import write
from tests.providers import MeaningsProvider
from tests.waiting import eventually

if TYPE_CHECKING:
    from memlines.embed.base import Vector

SAID = "We decided to use Postgres 17 for billing."
TALK = [{"role": "user", "content": SAID}, {"role": "assistant", "content": "Noted."}]


class Client:
    """Calls the methods of an engine on one workspace."""

    def __init__(self, workspace: Path) -> None:
        self.engine = Engine()
        self.methods = self.engine.methods()
        self.workspace = workspace

    def __call__(self, method: str, **params: Any) -> Any:
        result = self.methods[method].call(params)
        return json.loads(json.dumps(result))

    def begin(self) -> Any:
        return self("initialize", protocol=1, client={"name": "test"}, directory=str(self.workspace))


@pytest.fixture
def client(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    monkeypatch.setenv("MEMLINES_EMBEDDINGS__PROVIDER", "none")
    write(workspace, {"birds.md": "The kestrel nests in the old church tower.\n"})
    one = Client(workspace)
    one.begin()
    yield one
    one.engine.close()


@pytest.fixture
def stranger(tmp_path: Path) -> Iterator[Client]:
    """A client in a folder that holds no memory."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    one = Client(folder)
    one.begin()
    yield one
    one.engine.close()


# The handshake


def test_the_handshake_names_the_workspace_and_the_tools(client: Client) -> None:
    told = client.begin()
    assert (told["workspace"], told["active"], told["enabled"]) == (str(client.workspace), True, True)
    assert [tool["name"] for tool in told["tools"]] == [tool.name for tool in shown_tools()]


def test_an_unknown_version_is_refused(client: Client) -> None:
    with pytest.raises(Refused, match="known are: 1") as refused:
        client("initialize", protocol=2)
    answer = json.loads(raised_line(7, refused.value))["error"]
    assert (answer["code"], answer["data"]["known"]) == (-32003, [1])


def test_a_folder_below_a_workspace_uses_that_workspace(workspace: Path) -> None:
    (workspace / "MEMORY.md").write_text("# Memory\n", encoding="utf-8")
    below = workspace / "src" / "deep"
    below.mkdir(parents=True)
    assert Client(below).begin()["workspace"] == str(workspace)


def test_a_folder_of_a_worktree_without_memory_uses_the_worktree(tmp_path: Path) -> None:
    below = tmp_path / "shop" / "src"
    below.mkdir(parents=True)
    told = Client(below)("initialize", protocol=1, directory=str(below), worktree=str(tmp_path / "shop"))
    assert told["workspace"] == str(tmp_path / "shop")


def test_the_root_of_the_disk_is_no_worktree(tmp_path: Path) -> None:
    told = Client(tmp_path)("initialize", protocol=1, directory=str(tmp_path), worktree="/")
    assert told["workspace"] == str(tmp_path)


def test_a_workspace_that_was_named_is_used(workspace: Path, tmp_path: Path) -> None:
    told = Engine(workspace).methods()["initialize"].call({"protocol": 1, "directory": str(tmp_path)})
    assert told["workspace"] == str(workspace)


def test_settings_that_cannot_be_read_are_told_and_the_engine_stays(workspace: Path) -> None:
    (workspace / ".memory").mkdir()
    (workspace / ".memory/config.yaml").write_text("enabled: [\n", encoding="utf-8")
    client = Client(workspace)
    assert "not valid YAML" in client.begin()["trouble"]
    (workspace / ".memory/config.yaml").unlink()
    assert client("tools/call", name="memory_status", arguments={})["text"]


def test_unknown_parameters_are_refused(client: Client) -> None:
    with pytest.raises(UsageError, match="no argument 'sesion'"):
        client("session/start", sesion="a")


@pytest.mark.parametrize("params", [{}, {"session": None}, {"session": 5}, {"session": ["a"]}])
def test_parameters_of_the_wrong_kind_are_refused(client: Client, params: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="session"):
        client("session/start", **params)


# Tools


def test_a_tool_is_called(client: Client) -> None:
    told = client("tools/call", name="memory_search", arguments={"query": "kestrel"})
    assert "memory/birds.md#L1" in told["text"]
    assert told["data"]["results"][0]["path"] == "memory/birds.md"


def test_wrong_arguments_of_a_tool_are_refused(client: Client) -> None:
    with pytest.raises(UsageError, match="query is missing"):
        client("tools/call", name="memory_search", arguments={})


def test_a_note_that_another_program_wrote_is_found(client: Client) -> None:
    client("tools/call", name="memory_search", arguments={"query": "kestrel"})
    write(client.workspace, {"new.md": "The osprey came back.\n"})
    assert "osprey" in client("tools/call", name="memory_search", arguments={"query": "osprey"})["text"]


def test_settings_that_change_hold_from_the_next_request_on(client: Client) -> None:
    client("tools/call", name="memory_status", arguments={})
    (client.workspace / ".memory").mkdir(exist_ok=True)
    (client.workspace / ".memory/config.yaml").write_text("enabled: false\n", encoding="utf-8")
    with pytest.raises(MemoryOff, match="memory is switched off"):
        client("tools/call", name="memory_search", arguments={"query": "kestrel"})


# The turning points of a session


def test_a_session_starts_with_what_the_notes_say(client: Client) -> None:
    (client.workspace / "MEMORY.md").write_text("Anna likes tabs.\n", encoding="utf-8")
    assert "> Anna likes tabs." in client("session/start", session="s1")["context"]


def test_a_message_about_the_past_gets_what_the_memory_knows(client: Client) -> None:
    told = client("session/message", session="s1", text="What did we decide about where the kestrel nests?")
    assert told["about_past"]
    assert "memory/birds.md#L1" in told["context"]


class Loading(MeaningsProvider):
    """A model that is not loaded until a test lets it be."""

    def __init__(self) -> None:
        super().__init__({})
        self.loaded = threading.Event()

    def embed_query(self, text: str) -> Vector:
        self.loaded.wait(60)
        return super().embed_query(text)


def test_while_the_model_is_loaded_words_answer(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    provider = Loading()
    monkeypatch.setattr("memlines.memory.open_index.choose", lambda settings: Choice("fake", provider))
    write(workspace, {"birds.md": "The kestrel nests in the old church tower.\n"})
    client = Client(workspace)
    client.begin()
    client.engine.prepare()
    asked = "What did we decide about where the kestrel nests?"
    told = client("session/message", session="s1", text=asked)
    assert ("memory/birds.md#L1" in told["context"], provider.queries) == (True, [])
    provider.loaded.set()
    eventually(lambda: client.engine._memory().is_warm)
    client("session/message", session="s2", text=asked)
    assert asked in provider.queries
    client.engine.close()


def test_an_ordinary_message_gets_nothing(client: Client) -> None:
    told = client("session/message", session="s1", text="Refactor the kestrel class into two files")
    assert told == {"context": "", "about_past": False, "in_use": True, "warnings": []}


def test_the_same_lines_are_given_to_a_session_once(client: Client) -> None:
    asked = "What did we decide about where the kestrel nests?"
    client("session/message", session="s1", text=asked)
    assert client("session/message", session="s1", text=asked)["context"] == ""
    assert client("session/message", session="s2", text=asked)["context"]


def test_what_a_session_started_with_is_not_given_again(client: Client) -> None:
    (client.workspace / "MEMORY.md").write_text("The osprey came back in May.\n", encoding="utf-8")
    client("session/start", session="s1")
    asked = "Do you remember when the osprey came back?"
    assert client("session/message", session="s1", text=asked)["context"] == ""


def test_a_line_that_was_changed_since_is_given_again(client: Client) -> None:
    main = client.workspace / "MEMORY.md"
    main.write_text("The osprey came back in May.\n", encoding="utf-8")
    client("session/start", session="s1")
    main.write_text("The osprey came back in June.\n", encoding="utf-8")
    asked = "Do you remember when the osprey came back?"
    assert "June" in client("session/message", session="s1", text=asked)["context"]


def test_after_a_compaction_lines_may_be_given_again(client: Client) -> None:
    asked = "What did we decide about where the kestrel nests?"
    client("session/message", session="s1", text=asked)
    client("session/compacting", session="s1", messages=TALK)
    assert client("session/message", session="s1", text=asked)["context"]


def test_the_end_of_a_turn_leaves_a_snapshot(client: Client) -> None:
    told = client("session/idle", session="s1", messages=TALK, client="opencode")
    kept = client("tools/call", name="memory_get", arguments={"path": told["snapshot"]})["text"]
    assert SAID in kept


def test_the_end_of_the_same_turn_twice_leaves_one(client: Client) -> None:
    one, two = (client("session/idle", session="s1", messages=TALK)["snapshot"] for _ in range(2))
    assert one == two
    assert len(list((client.workspace / ".memory/snapshots").glob("*.json"))) == 1


def test_a_compaction_writes_down_what_should_last(client: Client) -> None:
    told = client("session/compacting", session="s1", messages=TALK)
    log = client.workspace / "memory" / f"{datetime.now().astimezone():%Y-%m-%d}.md"
    assert SAID in log.read_text(encoding="utf-8")
    assert SAID in told["context"]


def test_a_compaction_with_nothing_to_keep_says_nothing(client: Client) -> None:
    assert client("session/compacting", session="s1", messages=[])["context"] == ""


@pytest.mark.parametrize(
    ("path", "noticed"),
    [
        ("memory/birds.md", True),
        ("MEMORY.md", True),
        ("README.md", False),
        ("src/app.py", False),
        ("../../elsewhere.md", False),
        ("a\0.md", False),
    ],
)
def test_only_notes_that_change_are_noticed(client: Client, path: str, noticed: bool) -> None:
    assert client("file/changed", path=path) == {"noticed": noticed}


HOOKS: list[tuple[str, dict[str, Any]]] = [
    ("session/start", {"session": "s1"}),
    ("session/message", {"session": "s1", "text": "What did we decide about billing?"}),
    ("session/idle", {"session": "s1", "messages": TALK}),
    ("session/compacting", {"session": "s1", "messages": TALK}),
    ("file/changed", {"path": "memory/x.md"}),
]


@pytest.mark.parametrize(("method", "params"), HOOKS)
def test_hooks_leave_a_folder_without_memory_alone(
    stranger: Client, method: str, params: dict[str, Any]
) -> None:
    stranger(method, **params)
    assert list(stranger.workspace.iterdir()) == []


@pytest.mark.parametrize(("method", "params"), HOOKS)
def test_hooks_do_nothing_while_memory_is_off(client: Client, method: str, params: dict[str, Any]) -> None:
    client("command/run", arguments="off")
    before = sorted(file.name for file in client.workspace.rglob("*"))
    client(method, **params)
    assert sorted(file.name for file in client.workspace.rglob("*")) == before


def test_the_first_thing_to_remember_begins_a_memory(stranger: Client) -> None:
    assert not stranger.begin()["active"]
    stranger("tools/call", name="memory_remember", arguments={"text": "The owl sleeps in the barn"})
    assert stranger.begin()["active"]


# What the user means


def test_an_intent_comes_with_a_suggestion(client: Client) -> None:
    told = client("intent/detect", text="Remember that we use pnpm in this project")
    assert told["intent"] == "remember"
    assert told["suggestion"].startswith("/remember")


def test_a_suggestion_shows_no_secret(client: Client) -> None:
    token = "ghp_" + "aB3dE5gH7jK9" * 3
    told = client("intent/detect", text=f"Remember that the token is {token}")
    assert told["suggestion"]
    assert token not in told["suggestion"]


@pytest.mark.parametrize("who", ["client", "stranger"])
def test_nothing_is_asked_of_a_model_where_memory_is_not_used(
    who: str, request: pytest.FixtureRequest
) -> None:
    one: Client = request.getfixturevalue(who)
    one("command/run", arguments="off")
    assert one("intent/request", text="Remember that we use pnpm") == {"instructions": None, "prompt": None}
    assert one("intent/detect", text="Remember that we use pnpm")["intent"] == "none"


def test_a_message_tells_that_memory_was_switched_off(client: Client) -> None:
    client("command/run", arguments="off")
    assert not client("session/message", session="s1", text="What did we decide?")["in_use"]


@pytest.mark.parametrize("session", ["", " ", "a\nb", "x" * 201])
def test_a_session_that_cannot_be_one_is_refused(client: Client, session: str) -> None:
    with pytest.raises(UsageError, match="printable"):
        client("session/start", session=session)


def test_no_intent_has_no_suggestion(client: Client) -> None:
    assert client("intent/detect", text="Fix the failing test in parser.py")["suggestion"] is None


def test_intents_can_be_switched_off(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    (client.workspace / ".memory").mkdir(exist_ok=True)
    (client.workspace / ".memory/config.yaml").write_text("intent:\n  enabled: false\n", encoding="utf-8")
    assert client("intent/detect", text="Remember that we use pnpm")["intent"] == "none"


def test_a_model_of_the_client_can_be_asked(client: Client) -> None:
    text = "We use pnpm here, please keep that"
    assert text in client("intent/request", text=text)["prompt"]
    reply = json.dumps({"intent": "remember", "entities": ["pnpm"], "confidence": 0.9, "language": "en"})
    assert client("intent/parse", text=text, reply=reply)["intent"] == "remember"


def test_a_reply_that_is_not_what_was_asked_for_leaves_it_to_the_rules(client: Client) -> None:
    told = client("intent/parse", text="Remember that we use pnpm", reply="Sure! I think: remember")
    assert told["intent"] == "remember"
    assert told["warnings"]


# /memory


def command(client: Client, arguments: str, **more: Any) -> str:
    return str(client("command/run", arguments=arguments, **more)["text"])


def test_off_switches_the_memory_off_for_the_project(client: Client) -> None:
    assert command(client, "off").startswith("Memory is off")
    with pytest.raises(MemoryOff, match="memory is switched off"):
        client("tools/call", name="memory_search", arguments={"query": "kestrel"})


def test_on_switches_it_on_again(client: Client) -> None:
    command(client, "off")
    assert command(client, "on") == "Memory is on again for this project."
    assert "kestrel" in client("tools/call", name="memory_search", arguments={"query": "kestrel"})["text"]


def test_off_leaves_a_folder_without_memory_alone(stranger: Client) -> None:
    assert "no memory yet" in command(stranger, "off")
    assert list(stranger.workspace.iterdir()) == []


def test_on_begins_a_memory(stranger: Client) -> None:
    assert "is a workspace now" in command(stranger, "on")
    assert (stranger.workspace / "MEMORY.md").is_file()


def test_on_tells_who_else_keeps_it_off(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMLINES_ENABLED", "false")
    fresh = Client(client.workspace)
    fresh.begin()
    assert "MEMLINES_ENABLED" in command(fresh, "on")


@pytest.mark.parametrize("words", ["", "status", " STATUS "])
def test_status_is_what_no_words_mean(client: Client, words: str) -> None:
    assert command(client, words).startswith(f"Memory of {client.workspace}: on")


@pytest.mark.parametrize("words", ["status", "sync", "compact"])
def test_a_folder_without_memory_is_told_so(stranger: Client, words: str) -> None:
    assert "no memory yet" in command(stranger, words)
    assert list(stranger.workspace.iterdir()) == []


def test_sync_builds_the_index_again_if_it_is_forced(client: Client) -> None:
    command(client, "sync")
    assert "0 indexed, 1 unchanged" in command(client, "sync")
    assert "1 indexed, 0 unchanged" in command(client, "sync --force")


@pytest.mark.parametrize("words", ["status --force", "sync --hard", "sync force", "off --force"])
def test_options_that_a_command_does_not_have_are_refused(client: Client, words: str) -> None:
    with pytest.raises(UsageError, match=r"It knows on, off, status, sync \[--force\], compact"):
        command(client, words)


def test_status_tells_model_files_chunks_vectors_and_cache(client: Client) -> None:
    command(client, "sync")
    told = command(client, "status")
    assert "Holds 1 files in 1 chunks" in told
    assert "Model: none: words only" in told
    assert "Vectors: 0 of 1 chunks; cache: 0 vectors" in told


def test_sync_tells_what_it_did(client: Client) -> None:
    assert "1 indexed" in command(client, "sync")


def test_compact_writes_down_what_should_last(client: Client) -> None:
    assert SAID in command(client, "compact", session="s1", messages=TALK)


def test_compact_without_a_conversation_says_so(client: Client) -> None:
    assert "no conversation" in command(client, "compact")


def test_words_that_mean_nothing_are_refused(client: Client) -> None:
    with pytest.raises(UsageError, match="It knows on, off, status, sync"):
        command(client, "explode now")
