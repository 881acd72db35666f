"""No text makes a rule run for ever: every search is linear, or these would run into the limit of a test."""

from __future__ import annotations

import pytest

from memlines.text.redaction import redact
from memlines.text.redaction.patterns import FORMS, MARKED

pytestmark = pytest.mark.promise("P8")

LENGTH = 300_000
KEYWORDS = sorted({word for rule in (*MARKED, *FORMS) for word in rule.keywords.split()})
HOSTILE = [
    "a", "=", " ", "\n", "-", '"', "\\", "4", "a1", "4111 ", "sk-", "eyJ", "-eyJ", "eyJaaaaaaaa.",
    "<private>", "</private>", "-----BEGIN PRIVATE KEY-----\n", "-----BEGIN PRIVATE KEY-----\nA: b\n",
    "://a:", "://a:b@",
    "[redacted:x]password=aB3dE5gH7 ", "cookie: a=b; ", "authorization: ", "login a ",
    "[redacted:x]", "mysql", "--a-", "password>aaaaaa<",
]  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE, ids=repr)
def test_one_piece_without_end_comes_to_an_end(piece: str) -> None:
    text = piece * (LENGTH // len(piece))
    assert redact(text).text.count("\n") == text.count("\n")


@pytest.mark.parametrize("between", ["", " ", "-", "aB3", "="], ids=repr)
def test_keywords_without_end_come_to_an_end(between: str) -> None:
    for keyword in KEYWORDS:
        text = (keyword + between) * (20_000 // len(keyword + between))
        assert "\n" not in redact(text).text, keyword


def test_a_long_line_with_a_keyword_at_its_beginning_comes_to_an_end() -> None:
    for keyword in KEYWORDS:
        assert redact(keyword + "a" * 100_000).text
