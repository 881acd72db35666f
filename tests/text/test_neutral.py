# ruff: noqa: RUF001 (ordinary text of many scripts is what this is about)
"""Text for a model holds nothing invisible and nothing that passes for a command; the rest stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.text.neutral import Neutral, neutralise, quote_lines, visible, visible_values
from tests.text.hostile import ESCAPES, EVERYTHING, HIDDEN, IMAGES, INVISIBLE, TAGS, TURNS, hostile, unseen

pytestmark = pytest.mark.promise("P9")

ORDINARY = [
    "The kestrel nests in the old church tower, 3 < 4 and a <= b, x << 2, 5 > 4.",
    "Größe, façade, señor, žluťoučký kůň, naïve “quotes” – and … dashes—too; 50 € ½ ²",
    "Русский текст, ελληνικά, עברית, العربية، 日本語、中文，한국어 ไทย ქართული",
    "می\u200cخواهم کتاب\u200cها را بخوانم",  # Persian with ZWNJ inside words
    "क्\u200dष and क्\u200cष; ശ്രീലങ്ക, ന്\u200d at the end",  # joiners behind a virama
    "👨\u200d👩\u200d👧\u200d👦 👩🏽\u200d💻 🏳\ufe0f\u200d🌈",
    "❤\ufe0f ✔\ufe0e ☀\ufe0f 1\ufe0f⃣ #\ufe0f⃣ 🧑\u200d⚕\ufe0f 🇳🇱 ⏏\ufe0f",
    "ᠮᠣᠩᠭᠣᠯ\u180b",  # Mongolian with a variant of a letter
    "a\tb\n\n\tindented\n",
    "- [ ] a task, [a link](https://example.org/x?y=1), `code [x]`, # heading, 100 % & more",
    "![diagram](img/diagram-2.png) and wow!",
    "He said: human: lower case; the user: root; a Human is not a turn",
    "&lt;b&gt; is written so",
]

snippets = st.sampled_from(
    [
        *INVISIBLE,
        *TAGS,
        *IMAGES,
        *ESCAPES,
        *TURNS,
        *"\n\r\x0b\x85\u2028 <![a]()/|x❤👩नम\u094dب1\u20e3",
        HIDDEN,
    ]
)
texts = st.text() | st.lists(snippets, max_size=12).map("".join)


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert neutralise(text) == text


@pytest.mark.parametrize("one", INVISIBLE, ids=lambda one: f"U+{ord(one):04X}")
def test_what_cannot_be_seen_is_taken_out(one: str) -> None:
    assert neutralise(f"in{one}side{one} {one}{one}") == "inside "


@pytest.mark.parametrize("text", [*TAGS, *IMAGES, *ESCAPES, *TURNS, HIDDEN])
def test_what_passes_for_more_than_text_is_defused(text: str) -> None:
    assert hostile(neutralise(text)) == []


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("❤\ufe0f\ufe0f\ufe0f", "❤\ufe0f"),
        ("👩\u200d\u200d\u200c\u200d💻", "👩\u200d💻"),
        ("ب\u200c\u200d\u200c\u200dب", "ب\u200cب"),
        ("👩\u200dx", "👩x"),
        ("a\u200d💻", "a💻"),
        ("1\ufe0f", "1"),
        ("\u200d", ""),
        ("葛\U000e0100", "葛"),
    ],
)
def test_joiners_and_variants_stay_only_where_writing_needs_them(text: str, left: str) -> None:
    assert neutralise(text) == left


def test_what_a_link_of_a_terminal_shows_is_kept_and_its_address_is_not() -> None:
    assert [visible(text) for text in ESCAPES[1:3]] == ["click", "click"]


@given(texts)
def test_it_is_done_once(text: str) -> None:
    once = str(neutralise(text))
    assert neutralise(once) == once


@given(texts)
def test_nothing_hostile_is_left(text: str) -> None:
    left = neutralise(text)
    needed = set("\u200c\u200d\ufe0e\ufe0f")  # where writing needs them, which is tested above
    assert not unseen("".join(one for one in left if one not in needed))


@given(texts)
def test_every_line_stays_on_its_number(text: str) -> None:
    assert neutralise(text).count("\n") == quote_lines(text).count("\n") == text.count("\n")


def test_what_is_added_to_neutral_text_becomes_neutral() -> None:
    tag = Neutral("<memlines-context>")
    assert "<x>" + tag + "<y>" == "&lt;x><memlines-context>&lt;y>"
    assert Neutral(", ").join([tag, "<x>"]) == "<memlines-context>, &lt;x>"
    assert type("a" + tag) is type(tag + "a") is Neutral


def test_values_of_json_are_made_visible_whatever_they_are_in() -> None:
    value = {"a\u200b": ["x\u200b", {"b": ("y\x1b", 1, None)}], "kept": Neutral("<b>")}
    assert visible_values(value) == {"a": ["x", {"b": ["y", 1, None]}], "kept": "<b>"}


def test_the_sample_of_everything_is_hostile() -> None:
    assert len(set(hostile(EVERYTHING))) > len(set(unseen(EVERYTHING))) > 50
