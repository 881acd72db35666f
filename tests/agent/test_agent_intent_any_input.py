"""Whatever somebody writes, the rules answer, soon, and make nothing up."""

from __future__ import annotations

import subprocess
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.agent.intent import about_past, detect
from memlines.agent.intent.detect import KINDS
from memlines.text.patterns import fold
from memlines.text.speech import FIRST, LAST, MOST_SENTENCES, sentences
from tests.agent.intents import labelled

DEVELOP = [one.text for one in labelled("develop")]
PIECES = st.sampled_from([word for text in DEVELOP for word in text.split()] + list("\"'`«»\n\t.,:;?!¿()->"))
MESSAGES = st.one_of(
    st.text(max_size=300),
    st.lists(PIECES, max_size=60).map(" ".join),
    st.sampled_from(DEVELOP),
)


def plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


@given(MESSAGES)
def test_every_text_has_an_intent(text: str) -> None:
    found = detect(text)
    assert found.intent in KINDS
    assert 0 <= found.confidence <= 1


@given(MESSAGES)
def test_the_same_text_has_the_same_intent(text: str) -> None:
    assert detect(text) == detect(text)


@given(MESSAGES)
def test_entities_occur_in_the_text(text: str) -> None:
    known = plain(text)
    assert all(entity in known for entity in detect(text).entities)


@given(MESSAGES)
def test_there_are_few_and_short_entities(text: str) -> None:
    found = detect(text)
    assert len(found.entities) <= (3 if found.intent != "none" else 0)
    assert all(0 < len(entity) <= 200 for entity in found.entities)


@given(st.sampled_from(DEVELOP))
def test_a_quotation_is_none(text: str) -> None:
    quoted = "\n".join(f"> {line}" for line in text.splitlines())
    assert (detect(quoted).intent, about_past(quoted)) == ("none", False)


@given(st.sampled_from(DEVELOP))
def test_a_block_of_code_is_none(text: str) -> None:
    assert detect(f"~~~~\n{text}\n~~~~").intent == "none"


@given(st.sampled_from([text for text in DEVELOP if not set(text) & set("\n“”")]))
def test_words_in_quotation_marks_are_none(text: str) -> None:
    assert detect(f"“{text}”").intent == "none"


@given(st.text(max_size=200))
def test_folding_keeps_the_length(text: str) -> None:
    assert len(fold(text)) == len(text)


@given(MESSAGES)
def test_a_sentence_is_matched_as_long_as_it_is_shown(text: str) -> None:
    assert all(len(sentence.low) == len(sentence.shown) for sentence in sentences(text))


HOSTILE = {
    "one word": "a" * 200_000,
    "one cue": "remember " * 22_000,
    "half a question": "what did we " * 17_000,
    "brackets": "(" * 200_000,
    "quotation marks": '"' * 200_000,
    "apostrophes": "it's 'x " * 25_000,
    "openings": "please, " * 25_000,
    "lines": "\n" * 200_000,
    "fences": "```\n" * 50_000,
    "tags": "<memlines-context>" * 10_000,
    "joints": "and remember and " * 12_000,
    "late verbs": "was hatten wir ge " * 11_000,
    "short forms": "e.g. " * 40_000,
    "wrapped": ("word " * 30 + "\n") * 1_300,
    "blanks": " " * 200_000,
    "surrogates": "\ud800 remember " * 15_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_little_is_looked_at_of_a_hostile_text(text: str) -> None:
    said = sentences(text)
    assert sum(len(sentence.low) for sentence in said) <= FIRST + LAST
    assert len(said) <= MOST_SENTENCES
    assert detect(text).intent in KINDS


def test_nothing_heavy_is_imported() -> None:
    program = (
        "import sys; from memlines.agent.intent import detect; detect('remember that we use pnpm');"
        "print([name for name in ('numpy', 'httpx2', 'yaml', 'apsw', 'Stemmer') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, encoding="utf-8")
    assert done.stdout.strip() == "[]"
