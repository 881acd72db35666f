"""The slash commands, typed in the real OpenCode."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.clients.opencode.conftest import Open
from tests.clients.opencode.model import END
from tests.clients.opencode.window import Window
from tests.waiting import eventually


def asked_after(window: Window, command: str, arguments: str = "", session: str = "") -> str:
    """Type a command and return what the model was asked by it."""
    before = len(window.model.requests)
    answer = window.command(command, arguments, session)
    assert answer.text == END
    return next(request.asked for request in window.model.requests[before:] if request.tools)


class TestMemory:
    def test_status_tells_where_the_memory_is(self, shop: Window) -> None:
        assert f"Memory of {shop.folder}: on" in asked_after(shop, "memory", "status")

    def test_nothing_means_status(self, shop: Window) -> None:
        assert f"Memory of {shop.folder}: on" in asked_after(shop, "memory")

    def test_sync_tells_what_was_done(self, shop: Window) -> None:
        assert "The index is up to date" in asked_after(shop, "memory", "sync")

    def test_sync_can_be_forced(self, shop: Window) -> None:
        assert "0 unchanged" in asked_after(shop, "memory", "sync --force")

    def test_compact_writes_down_what_should_last(self, shop: Window) -> None:
        session = shop.session()
        shop.say("We decided to paint the lighthouse red and white.", session)
        assert "Written down:" in asked_after(shop, "memory", "compact", session)
        assert "We decided to paint the lighthouse red and white." in shop.notes()

    def test_an_unknown_word_is_answered_with_the_known_ones(self, shop: Window) -> None:
        assert "on, off, status, sync [--force], compact" in asked_after(shop, "memory", "explode")

    def test_a_command_in_its_words_is_not_run(self, shop: Window) -> None:
        shop.command("memory", "status `touch pwned`; $(touch pwned)")
        assert not (shop.folder / "pwned").exists()


@pytest.fixture(scope="module")
def switched_off(open_project: Open) -> Window:
    """A project whose memory was switched off."""
    window = open_project(name="off")
    window.say("Good morning before it is off")
    eventually(window.snapshots)
    window.command("memory", "off")
    return window


class TestOff:
    @pytest.fixture
    def window(self, switched_off: Window) -> Window:
        return switched_off

    def test_the_tools_say_so(self, window: Window) -> None:
        (call,) = window.call("memory_search", query="port of the staging database").calls
        assert call.output.startswith("memory is switched off: enabled is false")
        assert call.metadata["data"]["disabled"] is True

    def test_nothing_is_found(self, window: Window) -> None:
        assert "5433" not in window.call("memory_search", query="port of the staging database").output

    def test_nothing_is_remembered(self, window: Window) -> None:
        window.call("memory_remember", text="The harbour is closed on Mondays.")
        assert "closed on Mondays" not in window.notes()

    def test_a_session_starts_without_notes(self, window: Window) -> None:
        window.say("Good morning while it is off")
        (asked,) = window.model.about("Good morning while it is off")
        assert "memlines-context" not in asked.everything

    def test_a_question_about_the_past_brings_nothing(self, window: Window) -> None:
        question = "What did we say earlier about the warehouse robots?"
        before = len(window.model.about(question))
        window.say(question)
        assert "Grace" not in window.model.about(question)[before].everything

    def test_no_snapshot_is_taken(self, window: Window) -> None:
        former = [file.read_text(encoding="utf-8") for file in window.snapshots()]
        window.say("A turn that nobody keeps")
        window.call("memory_recall")
        assert [file.read_text(encoding="utf-8") for file in window.snapshots()] == former

    def test_nothing_is_written_down_before_a_compaction(self, window: Window) -> None:
        session = window.session()
        window.say("We decided to sell the second boat.", session)
        window.compact(session)
        assert "second boat" not in window.notes()

    def test_on_brings_it_back(self, window: Window) -> None:
        window.command("memory", "on")
        try:
            answer = window.call("memory_search", query="port of the staging database")
            assert "MEMORY.md#L" in answer.output
        finally:
            window.command("memory", "off")


def test_on_begins_a_memory_where_there_was_none(open_project: Open) -> None:
    window = open_project({}, name="begun")
    window.command("memory", "on")
    assert (window.folder / "MEMORY.md").exists()


class TestRemember:
    def test_the_model_is_asked_to_call_the_tool(self, shop: Window) -> None:
        asked = asked_after(shop, "remember", "Edsger writes letters by hand")
        assert "memory_remember" in asked
        assert "Edsger writes letters by hand" in asked

    def test_what_the_tool_is_given_is_remembered(self, shop: Window) -> None:
        words = "Edsger has no television"
        shop.model.when(words, ("memory_remember", {"text": words}))
        assert "Remembered in" in shop.command("remember", words).output
        assert words in shop.notes()

    def test_a_topic_is_passed_on(self, shop: Window) -> None:
        words = "Margaret wrote the guidance software"
        shop.model.when(words, ("memory_remember", {"text": words, "topic": "history"}))
        asked = asked_after(shop, "remember", f"--topic history {words}")
        assert "--topic history" in asked
        assert words in (shop.memory / "history.md").read_text(encoding="utf-8")

    def test_the_session_is_passed_on(self, shop: Window) -> None:
        words = "This one belongs to the session"
        session = shop.session()
        shop.model.when(words, ("memory_remember", {"text": words, "session": True}))
        asked = asked_after(shop, "remember", f"--session {words}", session)
        assert "--session" in asked
        assert re.search(rf"{words}.*\[session {session}\]", shop.notes())


class TestRecall:
    @pytest.fixture(autouse=True)
    def _decision(self, shop: Window) -> Iterator[None]:
        note = shop.write("memory/2026-11-01.md", "- 10:00 We decided to use SQLite for the index.\n")
        yield
        note.unlink()

    def test_the_model_is_asked_to_search(self, shop: Window) -> None:
        asked = asked_after(shop, "recall", "port of the staging database")
        assert "memory_search" in asked
        assert "port of the staging database" in asked

    @pytest.mark.parametrize("option", ["--recent", "--decisions"])
    def test_the_model_is_asked_to_list_entries(self, shop: Window, option: str) -> None:
        asked = asked_after(shop, "recall", option)
        assert "memory_recall" in asked
        assert option in asked

    @pytest.mark.parametrize("option", ["--recent", "--decisions"])
    def test_what_was_decided_is_listed(self, shop: Window, option: str) -> None:
        words = f"{option} about the index"
        shop.model.when(words, ("memory_recall", {option.removeprefix("--"): True}))
        assert "memory/2026-11-01.md#L1" in shop.command("recall", words).output


class TestForget:
    def test_the_model_is_asked_for_both_steps(self, shop: Window) -> None:
        asked = asked_after(shop, "forget", "the blue painting")
        assert "memory_forget" in asked
        assert "the blue painting" in asked

    def test_nothing_goes_before_the_user_chose(self, shop: Window) -> None:
        shop.write("memory/vault.md", "- The vault is behind the yellow door.\n")
        assert "yellow door" in shop.search("vault behind the yellow door")
        shop.model.when("the yellow door", ("memory_forget", {"query": "vault behind the yellow door"}))
        assert "memory/vault.md#L1~" in shop.command("forget", "the yellow door").output
        assert "yellow door" in shop.notes()


@pytest.mark.parametrize("name", ["memory", "remember", "recall", "forget"])
def test_the_command_is_listed_with_what_it_does(shop: Window, name: str) -> None:
    (listed,) = [command for command in shop.request("GET", "/command") if command["name"] == name]
    assert listed["description"]


@pytest.mark.parametrize("name", ["remember", "recall", "forget"])
def test_what_is_typed_is_never_run(shop: Window, name: str) -> None:
    shop.command(name, 'x"; touch pwned; echo "')
    assert not (shop.folder / "pwned").exists()
