"""JSON5 as OpenClaw's configuration is written in."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.settings.json5 import NotJson5, parse

ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "// first\n{a: 1, /* two\nlines */ b_2: [1, 2,], $c: 'it\\'s',}",
            {"a": 1, "b_2": [1, 2], "$c": "it's"},
        ),
        ('\ufeff{"url": "http://x/*y*/"} // end', {"url": "http://x/*y*/"}),
        ("[+1, -2, .5, 2., 0x1F, 1e3, -Infinity]", [1, -2, 0.5, 2.0, 31, 1000.0, -math.inf]),
        (
            r"['\u00e9\x41\n\q', 'a\
b', '\ud83d\ude00']",
            ["éA\nq", "ab", "😀"],
        ),
        ("{ünï: true, n: null, f: false}", {"ünï": True, "n": None, "f": False}),
        ("'text'", "text"),
        ("{}", {}),
        ("[]", []),
    ],
)
def test_what_json5_says(text: str, expected: Any) -> None:
    assert parse(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "{", "[1", "{a}", "{a: }", "{a: 1 b: 2}", "{,}", "[,]", "'a", "'a\nb'", "yes", "{} {}", "/* no end"],
)
def test_what_is_no_json5_is_refused(text: str) -> None:
    with pytest.raises(NotJson5, match=r"line \d"):
        parse(text)


def test_what_is_nested_too_deep_is_refused() -> None:
    with pytest.raises(NotJson5, match="too deep"):
        parse("[" * 100_000)


@given(ANY)
def test_everything_that_is_json_is_read_the_same(value: Any) -> None:
    text = json.dumps(value)
    assert parse(f"{text} // so") == json.loads(text)


@given(st.text(alphabet="{}[]:,'\"\\/*ab1.- \n", max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        parse(text)
    except ValueError:
        return
