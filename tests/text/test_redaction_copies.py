"""A secret that was recognised once is hidden wherever it is said again."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

import pytest

from memlines import Memory
from memlines.embed.remote.provider import RemoteProvider
from memlines.memory.conversations.reading import read_session
from memlines.text.redaction import redact, redact_together
from tests.embed.fake_service import provider_server, remote
from tests.indexes import indexed, sync
from tests.memories import write
from tests.text.redaction_corpus import planted, survives
from tests.transcripts.records import HEADER, assistant, jsonl, user

pytestmark = pytest.mark.promise("P8")

SECRET = "k7Qz2mXw9Rt4Lp8v"
TOLD = f"DB_PASSWORD={SECRET}"
WORDS = {"embeddings.provider": "none", "sources": ["memory", "sessions"]}


def test_a_second_copy_is_hidden_where_nothing_tells_what_it_is() -> None:
    assert redact(f"{TOLD}\nthen I typed {SECRET} there").text == (
        "DB_PASSWORD=[redacted:password]\nthen I typed [redacted:password] there"
    )


def test_a_copy_before_the_place_that_tells_is_hidden() -> None:
    assert SECRET not in redact(f"it is {SECRET}, so {TOLD}").text


def test_copies_are_counted() -> None:
    assert redact(f"{TOLD} and {SECRET} and {SECRET}").counts == {"password": 3}


@pytest.mark.parametrize(
    "spelled",
    [quote, lambda value: json.dumps(value)[1:-1], lambda value: f"'{value}'", lambda v: f"a%20{v}b"],
)
def test_a_copy_is_recognised_in_the_spelling_of_an_address_and_of_json(spelled: object) -> None:
    secret = 'k7Qz2m/Xw9"R t4Lp8v'
    copy = spelled(secret)  # type: ignore[operator]
    assert copy not in redact(f"password = '{secret}'\nseen: {copy}").text


def test_what_was_found_in_a_spelling_is_recognised_as_it_was_meant() -> None:
    assert "k7Qz2m/Xw9R" not in redact("https://amy:k7Qz2m%2FXw9R@host/ with k7Qz2m/Xw9R").text


def test_the_full_stop_of_a_sentence_is_no_part_of_a_password() -> None:
    assert redact("The password is Falcon42x. Type Falcon42x again.").text.count("[redacted:password]") == 2


@pytest.mark.parametrize("word", ["test", "admin", "postgres", "database", "20261116", "changeme"])
def test_a_password_that_is_a_word_or_a_date_does_not_hide_the_word(word: str) -> None:
    text = f"password = '{word}'\nthe {word} of that day"
    assert redact(text).text.endswith(f"the {word} of that day")


def test_a_short_value_is_left_inside_of_longer_words() -> None:
    assert redact("password: winter24x\nwinter24xyz").text == "password: [redacted:password]\nwinter24xyz"


def test_of_the_planted_secrets_hardly_one_leaks_by_a_second_copy() -> None:
    leaks = hidden = 0
    for text in planted(7, held_out=True, each=3):
        if "\n" in text.secret or survives(text, redact(text.text).text):
            continue
        hidden += 1
        again = redact(f"{text.text}\n\nI used {text.secret} for that.").text
        leaks += survives(text, again)
    assert hidden > 250
    assert leaks <= hidden / 100


def test_what_one_text_tells_is_hidden_in_all() -> None:
    shown = [one.text for one in redact_together([f"I see {SECRET}", TOLD, f"now {SECRET}"])]
    assert shown == [
        "I see [redacted:password]",
        "DB_PASSWORD=[redacted:password]",
        "now [redacted:password]",
    ]


def test_values_are_in_no_printed_form() -> None:
    assert SECRET not in repr(redact(TOLD))


# In conversations


def session(workspace: Path, *records: object) -> Path:
    (workspace / "sessions").mkdir(exist_ok=True)
    file = workspace / "sessions/s.jsonl"
    file.write_text(jsonl(HEADER, *records), encoding="utf-8")
    return file


def test_a_copy_in_another_turn_is_not_indexed(workspace: Path) -> None:
    session(workspace, user(f"is {SECRET} right?"), assistant("yes"), user(TOLD), assistant(f"ok {SECRET}"))
    with Memory(workspace, WORDS) as memory:
        memory.sync()
    assert SECRET not in repr(indexed(workspace))


def test_a_copy_in_another_turn_is_not_shown(workspace: Path) -> None:
    session(workspace, user(TOLD), assistant("noted"), user(f"is {SECRET} right?"))
    with Memory(workspace, WORDS) as memory:
        shown = read_session(memory.workspace, memory.settings, "sessions/s.jsonl", 4, 0)
    assert [turn.text for turn in shown.turns] == ["is [redacted:password] right?"]


# In notes that are sent


def test_a_copy_in_another_part_of_a_note_is_not_sent(workspace: Path) -> None:
    filling = "\n\n".join(f"## Part {number}\n\n" + "The okapi sleeps. " * 30 for number in range(6))
    write(workspace, {"a.md": f"# Login\n\n{TOLD}\n\n{filling}\n\n## Later\n\nI typed {SECRET} there.\n"})
    with provider_server("openai") as server:
        provider = remote(server)
        provider.sends_to = "api.example.org"
        assert isinstance(provider, RemoteProvider)
        sync(workspace, provider, {"chunking.tokens": 100})
        sent = "\n".join(server.texts())
    assert "I typed [redacted:password] there." in sent
    assert SECRET not in sent
