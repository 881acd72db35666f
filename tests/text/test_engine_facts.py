"""What the engine does with facts at the turning points of a session."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memlines.text.fact_note import facts_in
from tests.memories import write
from tests.serve.test_rpc_engine import Client

TABS = "Prefers tabs over spaces in Python files."
ASKED = "Please format the Python files with tabs or spaces as I like."
PAST = "What did we decide about tabs and spaces in Python files?"
SAID = [{"role": "user", "content": "My dentist is Dr. Novak in Brno. Can you fix the test?"}]


@pytest.fixture
def client(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    monkeypatch.setenv("MEMLINES_EMBEDDINGS__PROVIDER", "none")
    write(workspace, {"facts.md": f"# Facts\n\n- [preference] {TABS}\n"})
    one = Client(workspace)
    one.begin()
    yield one
    one.engine.close()


def captured(client: Client) -> list[str]:
    told = client("session/idle", session="s1", messages=SAID, client="codex")
    return [fact["text"] for fact in told["captured"]]


def test_a_message_that_is_not_about_the_past_gets_the_facts_that_fit(client: Client) -> None:
    told = client("session/message", session="s1", text=ASKED)
    assert not told["about_past"]
    assert f"> {TABS}" in told["context"]


def test_a_message_that_no_fact_fits_gets_none(client: Client) -> None:
    assert client("session/message", session="s1", text="Which bus goes to the harbour?")["context"] == ""


def test_a_fact_is_told_once_in_a_session(client: Client) -> None:
    client("session/message", session="s1", text=ASKED)
    assert client("session/message", session="s1", text=ASKED)["context"] == ""


def test_a_message_about_the_past_does_not_get_a_fact_twice(client: Client) -> None:
    assert client("session/message", session="s1", text=PAST)["context"].count(TABS) == 1


def test_without_auto_recall_only_messages_about_the_past_get_something(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMLINES_FACTS__AUTO_RECALL", "off")
    client.begin()
    assert client("session/message", session="s1", text=ASKED)["context"] == ""
    assert client("session/message", session="s1", text=PAST)["context"]


def test_nothing_is_captured_unless_the_user_switched_it_on(client: Client, workspace: Path) -> None:
    before = (workspace / "memory/facts.md").read_bytes()
    assert captured(client) == []
    assert (workspace / "memory/facts.md").read_bytes() == before


@pytest.fixture
def capturing(client: Client, monkeypatch: pytest.MonkeyPatch) -> Client:
    monkeypatch.setenv("MEMLINES_FACTS__AUTO_CAPTURE", "on")
    monkeypatch.setenv("MEMLINES_SCOPES", "project")
    client.begin()
    return client


def test_what_the_user_said_becomes_a_fact_with_its_origin(capturing: Client, workspace: Path) -> None:
    assert captured(capturing) == ["My dentist is Dr. Novak in Brno."]
    fact = facts_in((workspace / "memory/facts.md").read_text(encoding="utf-8"))[-1].fact
    assert (fact.text, fact.source) == ("My dentist is Dr. Novak in Brno.", "capture codex s1")


def test_a_turn_that_ends_twice_is_captured_once(capturing: Client) -> None:
    captured(capturing)
    assert captured(capturing) == []


def test_a_captured_fact_that_was_deleted_in_the_editor_stays_deleted(
    capturing: Client, workspace: Path
) -> None:
    captured(capturing)
    (workspace / "memory/facts.md").write_text("# Facts\n", encoding="utf-8")
    capturing.begin()
    assert captured(capturing) == []


def test_a_note_of_facts_that_is_no_text_does_not_hide_the_others(client: Client, workspace: Path) -> None:
    (workspace / "memory/facts.md").write_bytes(b"\xff\xfe\x00")
    write(workspace, {"birds.md": "We decided that the kestrel nests in the tower.\n"})
    told = client("session/message", session="s1", text="What did we decide about the kestrel?")
    assert "kestrel nests" in told["context"]
    assert "facts.md" in " ".join(told["warnings"])


def test_a_turn_is_kept_although_its_facts_cannot_be(capturing: Client, workspace: Path) -> None:
    (workspace / "memory/facts.md").write_bytes(b"\xff\xfe\x00")
    told = capturing("session/idle", session="s1", messages=SAID, client="codex")
    assert told["snapshot"]
    assert told["captured"] == []
