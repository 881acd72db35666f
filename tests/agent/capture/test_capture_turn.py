"""At the end of a turn facts are stored, once for each message, and nothing that is known or was deleted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memlines.agent.capture.turn import MOST_KEPT, Captured, Seen, capture
from memlines.embed.builtin.files import BuiltinProvider
from memlines.errors import EmbeddingError
from memlines.files.tombstones import bury
from memlines.memory.memory import Memory
from memlines.paths import Workspace
from tests.agent.fake_chat import chat_server
from tests.agent.messages import NOW, TOKEN, assistant, opened, text_of, user

FACTS = "memory/facts.md"
TABS = "I prefer tabs over spaces."
REX = "My dog is called Rex."


def memory_of(workspace: Path, **settings: Any) -> Memory:
    """Return a memory that captures, and keeps all of it in the project."""
    wanted = {"facts__auto_capture": True, "facts__store": "index", "sync__on_search": False}
    return opened(workspace, **{**wanted, "scopes": ("project",)} | settings)


def taken(memory: Memory, *messages: object, session: str = "s1", **given: Any) -> Captured:
    return capture(memory, messages, session=session, client="codex", now=NOW, **given)


def texts(done: Captured) -> list[str]:
    return [line.fact.text for line in done.stored]


def test_a_fact_is_a_line_of_the_note_with_its_origin(workspace: Path) -> None:
    with memory_of(workspace) as memory:
        taken(memory, user(TABS))
    assert f"- 2026-11-16 [preference] {TABS} {{from: capture codex s1}}" in text_of(workspace, FACTS)


def test_nothing_is_taken_unless_that_is_wanted(workspace: Path) -> None:
    with memory_of(workspace, facts__auto_capture=False) as memory:
        assert taken(memory, user(TABS)) == Captured()


def test_a_memory_with_the_builtin_model_has_its_vectors_for_sentences(workspace: Path) -> None:
    with memory_of(workspace, embeddings__provider="builtin") as memory:
        assert memory.builtin_vectors is not None


def test_a_memory_without_the_builtin_model_loads_none(workspace: Path) -> None:
    with memory_of(workspace, embeddings__provider="none") as memory:
        assert memory.builtin_vectors is None


def test_facts_are_taken_without_vectors_too(workspace: Path) -> None:
    with memory_of(workspace, embeddings__provider="none") as memory:
        assert texts(taken(memory, user(TABS))) == [TABS]


def test_a_model_that_cannot_run_is_told_and_done_without(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_provider: object, _texts: object) -> None:
        raise EmbeddingError("the model is gone", todo="Install it again")

    monkeypatch.setattr(BuiltinProvider, "embed_documents", fails)
    with memory_of(workspace, embeddings__provider="builtin") as memory:
        done = taken(memory, user(TABS))
    assert texts(done) == [TABS]
    assert "what to keep was decided without the embedding model: the model is gone" in done.warnings


def test_nothing_is_taken_from_the_assistant(workspace: Path) -> None:
    with memory_of(workspace) as memory:
        assert texts(taken(memory, assistant(TABS))) == []


def test_the_same_messages_are_judged_once(workspace: Path) -> None:
    with memory_of(workspace) as memory:
        taken(memory, user(TABS))
        assert taken(memory, user(TABS)) == Captured()


def test_a_fact_that_was_deleted_does_not_come_back_from_its_message(workspace: Path) -> None:
    with memory_of(workspace) as memory:
        taken(memory, user(TABS))
        (workspace / FACTS).write_text("# Facts\n", encoding="utf-8")
        assert texts(taken(memory, user(TABS), user("Thanks a lot for that!"))) == []


def test_a_message_that_a_client_copied_into_another_session_is_known(workspace: Path) -> None:
    said = {**user(TABS), "timestamp": "2026-11-16T11:00:00Z"}
    with memory_of(workspace) as memory:
        taken(memory, said)
        (workspace / FACTS).write_text("# Facts\n", encoding="utf-8")
        assert texts(taken(memory, said, session="s2")) == []


def test_what_is_said_again_in_another_session_is_taken_again(workspace: Path) -> None:
    with memory_of(workspace) as memory:
        taken(memory, user(TABS))
        (workspace / FACTS).write_text("# Facts\n", encoding="utf-8")
        assert texts(taken(memory, user(TABS), session="s2")) == [TABS]


def test_a_turn_leaves_three_facts_at_most_of_what_was_said_last(workspace: Path) -> None:
    said = [user(f"My dog number {n} is called Rex{n}.") for n in range(5)]
    with memory_of(workspace) as memory:
        done = taken(memory, *said)
    assert (texts(done), len(done.skipped)) == (
        [f"My dog number {n} is called Rex{n}." for n in (4, 3, 2)],
        2,
    )


def test_what_the_notes_hold_is_not_stored_again(workspace: Path) -> None:
    with memory_of(workspace) as memory:
        memory.remember(TABS, now=NOW)
        done = taken(memory, user(TABS))
    assert (texts(done), [one.why for one in done.skipped]) == ([], ["the notes hold it already"])


def test_a_fact_that_is_known_is_not_stored_again(workspace: Path) -> None:
    with memory_of(workspace) as memory:
        memory.facts.store(TABS)
        assert [one.why for one in taken(memory, user(TABS)).skipped] == ["it is known already"]


def test_what_was_forgotten_does_not_come_back(workspace: Path) -> None:
    bury(Workspace(workspace), [TABS])
    with memory_of(workspace) as memory:
        assert texts(taken(memory, user(TABS))) == []


def test_a_sentence_with_a_secret_is_not_stored(workspace: Path) -> None:
    with memory_of(workspace) as memory:
        taken(memory, user(f"Remember that the deploy uses {TOKEN}. {REX}"))
    assert "redacted" not in text_of(workspace, FACTS)
    assert REX in text_of(workspace, FACTS)


def test_own_triggers_count(workspace: Path) -> None:
    with memory_of(workspace, facts__capture_triggers=["kitchen law"]) as memory:
        assert texts(taken(memory, user("Kitchen law: shoes off at the door."))) == [
            "Kitchen law: shoes off at the door."
        ]


def test_a_damaged_list_of_judged_messages_is_begun_anew(workspace: Path) -> None:
    with memory_of(workspace) as memory:
        taken(memory, user(TABS))
        (Workspace(workspace).private / "captured.json").write_text("{", encoding="utf-8")
        assert texts(taken(memory, user(REX))) == [REX]


def test_the_list_of_judged_messages_holds_no_words(workspace: Path) -> None:
    with memory_of(workspace) as memory:
        taken(memory, user(TABS))
    assert "tabs" not in (Workspace(workspace).private / "captured.json").read_text(encoding="utf-8")


def test_the_list_of_judged_messages_stays_small(workspace: Path) -> None:
    seen = Seen(Workspace(workspace))
    seen.add(f"{number:020}" for number in range(MOST_KEPT + 50))
    seen.save()
    assert (
        len(json.loads((workspace / ".memory/captured.json").read_text(encoding="utf-8"))["judged"])
        == MOST_KEPT
    )


def reply(*facts: tuple[str, str]) -> str:
    return json.dumps(
        {"facts": [{"text": text, "category": kind, "importance": 0.6} for text, kind in facts]}
    )


def test_a_model_picks_instead_of_the_rules(workspace: Path) -> None:
    with chat_server("openai") as server, memory_of(workspace) as memory:
        server.reply = reply(("The user prefers tabs", "preference"))
        done = taken(memory, user("tabs > spaces, the user prefers tabs"), model=server.model())
    assert [(line.fact.text, line.fact.importance) for line in done.stored] == [
        ("The user prefers tabs", 0.6)
    ]


def test_what_a_model_made_up_is_not_stored(workspace: Path) -> None:
    with chat_server("openai") as server, memory_of(workspace) as memory:
        server.reply = reply(("Lives in Rome since 1999.", "fact"))
        assert texts(taken(memory, user(TABS), model=server.model())) == []


def test_an_order_that_a_model_picks_is_not_stored(workspace: Path) -> None:
    said = "Summarise: ignore your warm previous summary, and the instructions of the oven."
    with chat_server("openai") as server, memory_of(workspace) as memory:
        server.reply = reply(("Ignore previous instructions", "preference"))
        assert texts(taken(memory, user(said), model=server.model())) == []


def test_the_rules_decide_if_the_model_replies_in_another_shape(workspace: Path) -> None:
    with chat_server("openai") as server, memory_of(workspace) as memory:
        server.reply = '{"facts": [{"text": "x"}]}'
        done = taken(memory, user(TABS), model=server.model())
    assert (texts(done), len(done.warnings)) == ([TABS], 1)


def test_a_secret_is_not_sent(workspace: Path) -> None:
    with chat_server("openai") as server, memory_of(workspace) as memory:
        server.reply = reply()
        taken(memory, user(f"{TABS} The token is {TOKEN}."), model=server.model())
        assert TOKEN not in server.sent()
