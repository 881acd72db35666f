"""What each event of a client does to the memory, and what the client is told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memlines import Memory
from memlines.agent import snapshot
from memlines.errors import UsageError
from memlines.serve.hooks import events as conversations
from memlines.serve.hooks.events import Conversations, Events, add_last_answer, last_turns
from memlines.types import Turn
from tests.serve.hooks import CLIENT, NOTES

QUESTION = "Which port did we choose for the staging database?"


@pytest.fixture(autouse=True)
def _words_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMLINES_EMBEDDINGS__PROVIDER", "none")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "MEMORY.md").write_text(NOTES, encoding="utf-8")
    return folder


@pytest.fixture
def events(shop: Path) -> Iterator[Events]:
    made = Events(shop)
    yield made
    made.close()


def said(role: str, text: str) -> str:
    content = text if role == "user" else [{"type": "text", "text": text}]
    record = {"type": role, "message": {"role": role, "content": content}, "cwd": "/x"}
    return json.dumps(record) + "\n"


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    file = tmp_path / "transcript.jsonl"
    lines = [
        said("user", "I decided that we always deploy on Tuesdays because Monday is for tests."),
        said("assistant", "Noted: Tuesdays."),
    ]
    file.write_text("".join(lines), encoding="utf-8")
    return file


def told(answer: dict[str, Any]) -> str:
    return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


def run(events: Events, event: str, **given: Any) -> str:
    return told(events.run(CLIENT, event, {"session_id": "one", **given}))


def kept(shop: Path) -> list[str]:
    with Memory(shop) as memory:
        (found,) = snapshot.listed(memory).snapshots
        return [message.text for message in snapshot.read(memory, found.id).messages]


def test_a_session_starts_with_the_notes(events: Events) -> None:
    assert "port 5433" in run(events, "SessionStart")


def test_what_a_session_has_seen_is_not_quoted_again(events: Events) -> None:
    run(events, "SessionStart")
    assert run(events, "UserPromptSubmit", prompt=QUESTION) == ""


def test_a_prompt_about_the_past_brings_lines(events: Events) -> None:
    assert "MEMORY.md#L" in run(events, "UserPromptSubmit", prompt=QUESTION)


def too_late(events: Events, event: str, **given: Any) -> str:
    """Run an event whose answer the client does not wait for."""
    said = {"session_id": "one", **given}
    answer = events.run(CLIENT, event, said)
    events.keep_late(CLIENT, event, said, answer)
    return told(answer)


def test_what_came_too_late_is_given_with_the_next_prompt_and_once(events: Events) -> None:
    first = too_late(events, "UserPromptSubmit", prompt=QUESTION)
    assert "MEMORY.md#L" in first
    assert run(events, "UserPromptSubmit", prompt="Thanks, go on.", session_id="other") == ""
    assert run(events, "UserPromptSubmit", prompt="Thanks, go on.") == first
    assert run(events, "UserPromptSubmit", prompt="Thanks, go on.") == ""


def test_a_start_that_came_too_late_is_made_up_for_at_the_next_prompt(events: Events, shop: Path) -> None:
    too_late(events, "SessionStart", source="startup")
    (shop / "MEMORY.md").write_text(f"{NOTES}- Grace is new.\n", encoding="utf-8")
    answer = run(events, "UserPromptSubmit", prompt=QUESTION)
    assert (answer.count("port 5433"), answer.count("Grace is new")) == (1, 1)


def test_what_came_too_late_is_kept_for_some_prompts_only(events: Events) -> None:
    for number in range(50):
        events.keep_late(CLIENT, "UserPromptSubmit", {"session_id": "one"}, context(f"text {number}"))
    answer = run(events, "UserPromptSubmit", prompt="Thanks, go on.")
    assert answer == "text 47\n\ntext 48\n\ntext 49"


def context(text: str) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": text}}


@pytest.mark.parametrize("client", ["claude-code", "codex"])
def test_a_conversation_that_is_taken_up_again_has_its_context(shop: Path, client: str) -> None:
    given = []
    for source in ("startup", "resume", "resume", "compact", "resume"):
        events = Events(shop)  # the engine may have ended in between
        given.append(bool(told(events.run(client, "SessionStart", {"session_id": "one", "source": source}))))
        events.close()
    assert given == [True, False, False, True, False]


def test_a_conversation_that_began_without_us_gets_its_context_when_it_is_taken_up(events: Events) -> None:
    assert "port 5433" in run(events, "SessionStart", source="resume")
    assert run(events, "SessionStart", source="resume") == ""
    assert "port 5433" in run(events, "SessionStart", source="resume", session_id="another")


def test_what_a_conversation_has_is_not_quoted_when_it_is_taken_up(events: Events, shop: Path) -> None:
    run(events, "SessionStart", source="startup")
    events.close()
    again = Events(shop)
    run(again, "SessionStart", source="resume")
    assert run(again, "UserPromptSubmit", prompt=QUESTION) == ""
    again.close()


def test_a_context_that_came_too_late_does_not_count_as_given(events: Events) -> None:
    too_late(events, "SessionStart", source="startup")
    assert "port 5433" in run(events, "SessionStart", source="resume")


def test_the_list_of_conversations_is_bounded_and_may_be_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversations, "_MOST_CONVERSATIONS", 3)
    file = tmp_path / "state/list.json"
    known = Conversations(file)
    for name in "abcda":
        known.note_context(name)
    assert [known.has_context(name) for name in "abcd"] == [True, False, True, True]
    file.write_bytes(b"{nonsense")
    assert not known.has_context("a")
    known.note_context("a")
    assert known.has_context("a")


@pytest.mark.parametrize(
    "prompt", ["/recall the port of yesterday", "/remember what we decided", "/forget it", ""]
)
def test_our_own_commands_bring_no_quotes(events: Events, prompt: str) -> None:
    assert run(events, "UserPromptSubmit", prompt=prompt) == ""


@pytest.mark.parametrize("typed", ["/memlines off", "/memlines:memlines off", " /memlines  OFF \n"])
def test_what_a_person_types_switches_the_memory_off(events: Events, typed: str) -> None:
    assert "Memory is off" in run(events, "UserPromptSubmit", prompt=typed)
    assert run(events, "SessionStart") == ""


def test_it_can_be_switched_on_again(events: Events) -> None:
    run(events, "UserPromptSubmit", prompt="/memlines off")
    assert "on again" in run(events, "UserPromptSubmit", prompt="/memlines on")
    assert "port 5433" in run(events, "SessionStart")


def test_a_wrong_word_is_told(events: Events) -> None:
    assert "does not know" in run(events, "UserPromptSubmit", prompt="/memlines dance")


def test_a_command_speaks_of_itself_by_its_name_in_the_client(events: Events) -> None:
    told = run(events, "UserPromptSubmit", prompt="/memlines off")
    assert "until /memlines on" in told
    assert "/memory" not in told


@pytest.mark.parametrize("prompt", ["/memlinesque", "/memlines-status", "please type /memlines off"])
def test_other_words_switch_nothing(events: Events, prompt: str) -> None:
    assert "memlines-result" not in run(events, "UserPromptSubmit", prompt=prompt)


def test_a_result_cannot_end_its_own_block(events: Events) -> None:
    answer = run(events, "UserPromptSubmit", prompt="/memlines </memlines-result>")
    assert answer.count("</memlines-result>") == 1


@pytest.mark.parametrize("event", ["Stop", "SessionEnd"])
def test_the_end_of_a_turn_keeps_the_last_messages(
    events: Events, shop: Path, transcript: Path, event: str
) -> None:
    run(events, event, transcript_path=str(transcript), cwd=str(shop))
    assert kept(shop)[-1] == "Noted: Tuesdays."


def test_an_answer_that_is_not_in_the_transcript_yet_is_kept(
    events: Events, shop: Path, transcript: Path
) -> None:
    run(events, "Stop", transcript_path=str(transcript), last_assistant_message="And on no other day.")
    assert kept(shop)[-1] == "And on no other day."


def test_another_hook_that_goes_on_is_not_held_up(events: Events, transcript: Path) -> None:
    given = {"session_id": "one", "transcript_path": str(transcript), "stop_hook_active": True}
    assert events.run(CLIENT, "Stop", given) == {}


def test_what_should_last_is_written_down_before_a_compaction(
    events: Events, shop: Path, transcript: Path
) -> None:
    run(events, "PreCompact", transcript_path=str(transcript), trigger="manual")
    (log,) = (shop / "memory").glob("*.md")
    assert "deploy on Tuesdays" in log.read_text(encoding="utf-8")


def test_a_person_can_have_that_done(events: Events, shop: Path, transcript: Path) -> None:
    answer = run(events, "UserPromptSubmit", prompt="/memlines compact", transcript_path=str(transcript))
    assert "Written down" in answer


@pytest.mark.parametrize("path", ["/no/such/file", "", "a\0b", 5, None])
def test_a_transcript_that_is_not_there_does_no_harm(events: Events, path: object) -> None:
    for event in ("Stop", "SessionEnd", "PreCompact"):
        assert run(events, event, transcript_path=path) == ""


def test_an_event_that_is_not_known_does_nothing(events: Events) -> None:
    assert events.run(CLIENT, "Notification", {}) == {}


def test_a_client_that_is_not_known_is_refused(events: Events) -> None:
    with pytest.raises(UsageError):
        events.run("other", "Stop", {})


def test_a_folder_without_a_memory_gets_none_by_itself(tmp_path: Path, transcript: Path) -> None:
    (tmp_path / "plain").mkdir()
    events = Events(tmp_path / "plain")
    for event in ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd", "PreCompact"):
        run(events, event, prompt=QUESTION, transcript_path=str(transcript))
    events.close()
    assert list((tmp_path / "plain").iterdir()) == []


def test_a_person_can_begin_one(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    events = Events(tmp_path / "plain")
    assert "is a workspace now" in run(events, "UserPromptSubmit", prompt="/memlines on")
    events.close()
    assert (tmp_path / "plain" / "MEMORY.md").exists()


def test_a_session_without_a_name_is_no_trouble(events: Events) -> None:
    assert "port 5433" in told(events.run(CLIENT, "SessionStart", {}))


# The end of a transcript


def test_of_a_long_transcript_only_the_end_is_read(tmp_path: Path) -> None:
    file = tmp_path / "long.jsonl"
    lines = [said("user", f"question {number} {'x' * 500}") for number in range(3000)]
    file.write_text("".join(lines), encoding="utf-8")
    turns = last_turns(file, CLIENT, 40)
    assert 40 <= len(turns) < 3000
    assert turns[-1].text.startswith("question 2999 ")


def test_if_the_end_says_little_more_is_read(tmp_path: Path) -> None:
    file = tmp_path / "long.jsonl"
    noise = json.dumps({"type": "progress", "data": "y" * 1000}) + "\n"
    file.write_text(said("user", "the first") + noise * 3000, encoding="utf-8")
    assert [turn.text for turn in last_turns(file, CLIENT, 40)] == ["the first"]


def test_letters_that_are_cut_in_two_do_no_harm(tmp_path: Path) -> None:
    file = tmp_path / "cut.jsonl"
    file.write_bytes(said("user", "東京 " * 200_000).encode() + said("user", "the end").encode())
    assert last_turns(file, CLIENT, 1)[-1].text == "the end"


def test_a_folder_holds_no_turns(tmp_path: Path) -> None:
    assert last_turns(tmp_path, CLIENT) == ()


def test_an_answer_that_is_there_is_not_added_again() -> None:
    turns = (Turn("user", "hi", 1), Turn("assistant", "Hello", 2))
    assert add_last_answer(turns, "Hello\n") == turns
