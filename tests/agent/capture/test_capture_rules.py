"""The rules keep what lasts, in six languages, and leave out what only looks like it."""

from __future__ import annotations

import pytest

from memlines.agent.capture.find import find_facts
from tests.agent.capture.messages import captures


def kept(text: str) -> list[str]:
    return [one.text for one in captures(text)]


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("Remember that I live in Porto.", "I live in Porto."),
        ("Could you remember that our standup is at nine?", "Our standup is at nine?"),
        ("My dog is called Rex, please remember that.", "My dog is called Rex"),
        ("Merk dir bitte, dass ich in Graz wohne.", "Merk dir bitte, dass ich in Graz wohne."),
        ("Merk dir: Ich wohne in Graz.", "Ich wohne in Graz."),
        ("Onthoud dat ik in Gent woon.", "Onthoud dat ik in Gent woon."),
        ("Souviens-toi que je vis à Brest.", "Je vis à Brest."),
        ("Recuerda que vivo en Lugo.", "Vivo en Lugo."),
        ("Zapamatuj si, že bydlím v Plzni.", "Bydlím v Plzni."),
    ],
)
def test_what_asks_to_remember_is_cut_off_where_the_rest_stands_by_itself(said: str, text: str) -> None:
    assert kept(said) == [text]


def test_only_the_sentence_is_kept() -> None:
    assert kept("Thanks! I'm allergic to nuts. What can I bake?") == ["I'm allergic to nuts."]


def test_at_most_three_are_kept_and_the_wish_to_remember_counts_most() -> None:
    said = "My dog is called Rex. I love jazz. I live in Rome. Remember that I hate coriander."
    assert (len(kept(said)), kept(said)[-1]) == (3, "I hate coriander.")


def test_a_german_date_does_not_end_a_sentence() -> None:
    assert kept("Vergiss nicht, dass am 3. September die Prüfung ist.") == [
        "Vergiss nicht, dass am 3. September die Prüfung ist."
    ]


def test_a_wish_may_stand_in_a_sentence_of_its_own() -> None:
    assert kept("The blue bin goes out in even weeks. Please remember that.") == [
        "The blue bin goes out in even weeks."
    ]


def test_what_is_said_before_a_question_is_kept_without_it() -> None:
    assert kept("My daughter is called Mia, can you put that in?") == ["My daughter is called Mia"]


@pytest.mark.parametrize(
    "said",
    [
        "Do you remember what we decided?",
        "which do people usually prefer, tabs or spaces",
        "If I were vegan, what would you cook?",
        "Suppose we had decided to use Rust.",
        "Maybe we'll use Kafka.",
        "I hate this bug.",
        "I love your second answer!",
        "She said she always prefers tea.",
        "I need a function that always returns a list.",
        "I don't remember which branch it was.",
        "Forget what I told you about my boss.",
        'The article says: "I prefer tea in the morning."',
        "def remember(self):\n    # we always prefer the newest\n    return self.best",
        "Remember that my password is hunter2.",
        "Translate this:\nI live in Rome and I love jazz.",
        "ok",
    ],
)
def test_what_only_looks_like_it_is_left_out(said: str) -> None:
    assert captures(said) == ()


def test_a_long_paste_is_left_out() -> None:
    assert captures("I prefer tabs. " * 40) == ()


def test_how_long_a_message_may_be_is_a_choice() -> None:
    said = "I prefer tabs over spaces."
    assert (find_facts(said, max_chars=20), len(find_facts(said, max_chars=30))) == ((), 1)


def test_a_flood_of_emoji_is_left_out() -> None:
    assert captures("I prefer tabs 🎉🎉🎉🎉") == ()


def test_bold_words_and_bullets_are_left_out() -> None:
    assert captures("**Rules**\n- I prefer tabs\n- We always use tea") == ()


def test_markup_is_left_out() -> None:
    assert captures("<note>I prefer tabs over spaces.</note>") == ()


def test_what_memory_put_in_is_left_out() -> None:
    assert captures("<relevant-memories>I prefer tabs.</relevant-memories> ok, go on please") == ()


def test_a_trigger_of_ones_own_makes_a_sentence_count() -> None:
    said = "Kitchen law: shoes off at the door."
    assert (captures(said), len(find_facts(said, triggers=["Kitchen Law"]))) == ((), 1)


def test_a_trigger_is_a_word_and_no_part_of_one() -> None:
    assert find_facts("The ruler lies in the drawer.", triggers=["rule"]) == ()


def test_why_it_was_kept_is_told() -> None:
    assert captures("Remember that I prefer tabs.")[0].why == ("asked to remember", "preference")
