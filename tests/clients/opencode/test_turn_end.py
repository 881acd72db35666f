"""What is kept of a session: the snapshot after a turn, and what should last before a compaction."""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import Any

import pytest

from tests.clients.opencode.conftest import Open
from tests.clients.opencode.model import Request
from tests.clients.opencode.window import Window
from tests.waiting import eventually

DECISION = "We decided to use Postgres 17 for billing, because it is boring."


def kept(window: Window) -> list[dict[str, Any]]:
    """Return the snapshots of a project."""
    return [json.loads(file.read_text(encoding="utf-8")) for file in window.snapshots()]


def today(window: Window) -> str:
    """Return the log of today."""
    log = window.memory / f"{datetime.now().astimezone():%Y-%m-%d}.md"
    return log.read_text(encoding="utf-8") if log.exists() else ""


class TestSnapshot:
    @pytest.fixture
    def window(self, open_project: Open) -> Window:
        """A project where nothing was said yet."""
        return open_project(name="snapshots")

    def test_a_turn_is_kept(self, window: Window) -> None:
        window.say("The lighthouse is painted in June")
        eventually(window.snapshots)
        assert "The lighthouse is painted in June" in json.dumps(kept(window))

    def test_what_our_own_tools_and_context_said_is_not_kept(self, window: Window) -> None:
        window.call("memory_search", query="staging database")
        eventually(window.snapshots)
        assert "5433" not in json.dumps(kept(window))

    def test_a_session_has_one_file(self, window: Window) -> None:
        session = window.session()
        for number in range(3):
            window.say(f"Sentence {number} about the harbour", session)
        eventually(lambda: "Sentence 2" in json.dumps(kept(window)) and len(window.snapshots()) == 1)

    def test_an_aborted_turn_is_kept_once(self, window: Window) -> None:
        session = window.session()
        with window.model.silent(), window.saying("Count all the seagulls", session):
            eventually(lambda: window.model.about("Count all the seagulls"))
            window.request("POST", f"/session/{session}/abort", {})
        eventually(window.snapshots)
        window.say("Count the ships instead", session)
        eventually(lambda: "the ships" in json.dumps(kept(window)) and len(window.snapshots()) == 1)


@pytest.fixture(scope="module")
def compacted(open_project: Open) -> Window:
    """A project where a conversation was summed up because the user asked for it."""
    window = open_project(name="compaction")
    session = window.session()
    window.say(DECISION, session)
    window.compact(session)
    return window


class TestCompaction:
    @pytest.fixture
    def window(self, compacted: Window) -> Window:
        return compacted

    @pytest.fixture
    def request_for_it(self, window: Window) -> Request:
        """What the model was sent to sum the conversation up."""
        (found,) = [r for r in window.model.requests if r.is_for_compaction and DECISION in r.everything]
        return found

    def test_what_should_last_is_in_the_log_of_today(self, window: Window) -> None:
        assert "We decided to use Postgres 17 for billing" in today(window)

    def test_it_is_there_once(self, window: Window) -> None:
        assert today(window).count("Postgres 17") == 1

    def test_the_model_is_told_what_must_survive(self, request_for_it: Request) -> None:
        assert re.search(r"memory/[\d-]+\.md#L\d+:\n> .*Postgres 17 for billing", request_for_it.asked)

    def test_what_was_kept_is_found_in_another_session(self, window: Window) -> None:
        assert "Postgres 17" in window.search("which database for billing?")


@pytest.fixture(scope="module")
def overflown(open_project: Open) -> Window:
    """A project where a conversation became too long."""
    window = open_project(name="overflow")
    session = window.session()
    window.say("We decided to ship the parser on the 3rd of March 2027.", session)
    window.say("Read on until the context is full. USED 60000", session)
    return window


class TestCompactionThatNobodyAskedFor:
    @pytest.fixture
    def window(self, overflown: Window) -> Window:
        return overflown

    def test_what_should_last_is_in_the_log_of_today(self, window: Window) -> None:
        assert "ship the parser on the 3rd of March 2027" in today(window)

    def test_the_model_is_told_what_must_survive(self, window: Window) -> None:
        (asked,) = [
            request.asked
            for request in window.model.requests
            if request.is_for_compaction and "ship the parser" in request.asked
        ]
        assert re.search(r"memory/[\d-]+\.md#L\d+:\n> .*ship the parser", asked)

    def test_the_notes_are_told_again_afterwards(self, window: Window) -> None:
        (going_on,) = window.model.about("Continue if you have next steps")
        assert "The staging database listens on port 5433." in going_on.system
