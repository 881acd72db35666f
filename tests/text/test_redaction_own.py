"""Rules that a user adds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.errors import SettingsError
from memlines.text.redaction import Rules, redact


def test_a_rule_of_ones_own_is_used_beside_the_others() -> None:
    rules = Rules([("ticket", r"TCK-[0-9]{6}")])
    assert redact("see TCK-123456, password=k7Qz2mXw9R", rules).counts == {"ticket": 1, "password": 1}


def test_only_the_group_of_a_rule_is_hidden() -> None:
    rules = Rules([("patient", r"patient ([0-9]+)")])
    assert redact("patient 4711 came", rules).text == "patient [redacted:patient] came"


def test_no_rules_of_ones_own_are_the_rules_that_are_built_in() -> None:
    assert redact("password=k7Qz2mXw9R", Rules([])).text == "password=[redacted:password]"


def test_a_rule_keeps_line_breaks() -> None:
    rules = Rules([("block", r"(?s)BEGIN.+?END")])
    assert redact("a\nBEGIN\nx\nEND\nb", rules).text == "a\n[redacted:block]\n\n\nb"


def test_a_rule_never_touches_a_placeholder() -> None:
    rules = Rules([("word", r"redacted|token")])
    assert redact("[redacted:github-token]", rules).text == "[redacted:github-token]"


@pytest.mark.parametrize(
    ("kind", "pattern"),
    [
        ("Not A Kind", "x[0-9]+"),
        ("", "x[0-9]+"),
        ("open-group", "(x"),
        ("two-groups", "(a)(b)"),
        ("anything", ".*"),
        ("blank", r"\s+"),
        ("nested", "(a+)+b"),
        ("nested-set", r"(?:[a-z]+\d*)*x"),
        ("choice", "(?:a|ab)+c"),
        ("many", "(?:x+y){20}"),
        ("deep", "(?:(?:a*)b)+c"),
    ],
)
def test_a_rule_that_cannot_be_used_is_named(kind: str, pattern: str) -> None:
    with pytest.raises(SettingsError) as caught:
        Rules([("fine", "x[0-9]{4}"), (kind, pattern)])
    assert repr(kind) in caught.value.what
    assert caught.value.todo


@pytest.mark.parametrize(
    "pattern",
    [
        r"ACME-[0-9a-f]{32}",
        r"(?i)emp-\d+",
        r"case (\d{4}/[A-Z]+)",
        r"[(+*)]x+",
        r"\(a+\)+b",
        r"(?:ab|cd){2}-\d+",
    ],
)
def test_a_plain_rule_is_taken(pattern: str) -> None:
    assert len(Rules([("own", pattern)]).extra) == 1


@given(st.text(max_size=30))
def test_any_pattern_is_taken_or_refused(pattern: str) -> None:
    try:
        rules = Rules([("own", pattern)])
    except SettingsError:
        return
    assert isinstance(redact("some text: 1234", rules).text, str)
