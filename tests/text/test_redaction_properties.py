"""What holds for every text."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.text.redaction import redact
from memlines.text.redaction.patterns import FORMS, MARKED
from memlines.text.redaction.tokens import _matcher
from tests.text.redaction_corpus import Form, Planted, forms, planted, survives

pytestmark = pytest.mark.promise("P8")

KEYWORDS = sorted({*_matcher()[1], *(word for rule in (*MARKED, *FORMS) for word in rule.keywords.split())})
SECRETS = [found.secret for found in planted(11, held_out=False, each=1)]
PREFIXED = [form for form in forms() if form.prefixed]
PIECES = st.one_of(
    st.sampled_from(KEYWORDS),
    st.sampled_from(SECRETS),
    st.sampled_from(
        ["=", ": ", '"', "'", "\\", "\\n", "\n", " ", "<private>", "</private>", "`", "@", "://"]
    ),
    st.sampled_from(
        ["[redacted:token]", "-----BEGIN PRIVATE KEY-----", "k7Qz2mXw9Rt4Lp8v", "4111", "İ", "Bearer "]
    ),
    st.text(max_size=12),
)
TEXTS = st.lists(PIECES, max_size=14).map("".join)


@given(TEXTS)
def test_what_was_redacted_stays_as_it_is(text: str) -> None:
    once = redact(text).text
    assert redact(once).text == once


@given(TEXTS)
def test_lines_keep_their_numbers(text: str) -> None:
    assert redact(text).text.count("\n") == text.count("\n")


@given(TEXTS)
def test_something_is_counted_if_anything_changes(text: str) -> None:
    found = redact(text)
    assert bool(found.counts) == (found.text != text)


@given(st.text(alphabet=st.characters(exclude_characters="<0123456789"), max_size=200))
def test_a_text_without_keywords_stays_as_it_is(text: str) -> None:
    if not any(keyword in text.lower() for keyword in KEYWORDS):
        assert redact(text).text == text


@given(st.text(), st.sampled_from(PREFIXED), st.text(), st.integers(0, 10**6))
def test_no_text_around_a_token_saves_it(before: str, form: Form, after: str, seed: int) -> None:
    found = Planted(form.name, True, "", form.draw(random.Random(seed)))
    assert not survives(found, redact(f"{before} {found.secret} {after}").text)


@pytest.mark.parametrize(
    "signs", ["()", "[]", "``", '""', "''", "<>", "=;", ":,", "\n\n", "\t|", "é。", "//", "__"]
)
def test_no_signs_right_beside_a_token_save_it(signs: str) -> None:
    for form in PREFIXED:
        found = Planted(form.name, True, "", form.draw(random.Random(8)))
        assert not survives(found, redact(found.secret.join(signs)).text), form.name
