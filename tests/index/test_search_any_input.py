"""No query is a syntax error, whatever is in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines import Memory, SearchResult
from memlines.paths import HOME_VARIABLE
from tests.memories import words_memory

NAUGHTY = Path(__file__).resolve().parents[3] / "shared/corpora/naughty-strings.json"

NOTES = {
    "a.md": "# Kestrel\n\nThe kestrel AND the heron, NOT the owl, NEAR the mill.\n",
    "b.md": 'Text with "quotes", (parentheses), * stars and ^ carets: col:umn.\n',
    "c.md": "数据库 😀 naïve Ελληνικά\n",
}

OPERATORS = [
    "AND",
    "kestrel AND",
    "AND OR NOT NEAR",
    "NOT kestrel",
    "kestrel NOT",
    "NEAR(kestrel heron, 5)",
    "NEAR(",
    "kestrel*",
    "*",
    "^kestrel",
    "text:kestrel",
    "- text : kestrel",
    "{text heading}: kestrel",
    "-kestrel",
    "kestrel + heron",
    '"',
    '""',
    '"kestrel',
    'kestrel"heron',
    '"kestrel" "',
    "'",
    "';--",
    "(",
    ")",
    "((kestrel)",
    "kestrel)",
    "\\",
    "\x00",
    "kestrel\x00heron",
    "\x1b[31mkestrel",
    "😀",
    "👩‍👩‍👧",
    "\u202ekestrel",
    "\ufeffkestrel",
    "\u200b",
    "\ud800",
    "kestrel \udc80",
    "½ ² ٣ Ⅷ",
    "_",
    "__init__",
    "e\u0301",
    "\u0301",
    "%s%s%n",
    "${HOME}",
    "kestrel\nheron\r\tmill",
    "ﬁ ﷺ ǆ İ ß",
]


@pytest.fixture(scope="module", params=["default", "openclaw"])
def memory(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """A memory that is made once for all queries."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(HOME_VARIABLE, str(tmp_path_factory.mktemp("home")))
        folder = tmp_path_factory.mktemp("workspace")
        with words_memory(folder, NOTES, profile=request.param) as opened:
            opened.sync()
            yield opened


def check(result: SearchResult) -> None:
    assert all(0 <= hit.score <= 1 for hit in result)


@pytest.mark.parametrize("query", OPERATORS)
def test_operators_and_odd_characters_are_only_text(memory: Memory, query: str) -> None:
    check(memory.search(query, min_score=0))


def test_operators_do_not_change_what_a_word_finds(memory: Memory) -> None:
    plain = [hit.citation for hit in memory.search("kestrel", min_score=0)]
    for query in ("kestrel*", "(kestrel", '"kestrel', "^kestrel", "-kestrel", "kestrel\x00"):
        assert [hit.citation for hit in memory.search(query, min_score=0)] == plain


@pytest.mark.skipif(not NAUGHTY.exists(), reason="the corpus is not there")
def test_the_list_of_naughty_strings(memory: Memory) -> None:
    for query in json.loads(NAUGHTY.read_text(encoding="utf-8")):
        check(memory.search(query, min_score=0))


def test_ten_thousand_words(memory: Memory) -> None:
    check(memory.search(" ".join(f"word{number}" for number in range(9_999)) + " kestrel", min_score=0))


def test_one_word_of_a_hundred_thousand_letters(memory: Memory) -> None:
    check(memory.search("k" * 100_000, min_score=0))


def test_ten_thousand_quotes(memory: Memory) -> None:
    check(memory.search('"' * 10_000, min_score=0))


@given(query=st.text())
def test_any_text(memory: Memory, query: str) -> None:
    check(memory.search(query, min_score=0))


@given(query=st.text(st.characters(categories=("Cs", "Cc", "Mn", "Nd", "Ll", "Po"))))
def test_any_mix_of_surrogates_controls_and_marks(memory: Memory, query: str) -> None:
    check(memory.search(query, min_score=0))


@given(query=st.lists(st.sampled_from(["kestrel", *OPERATORS]), max_size=6).map(" ".join))
def test_any_mix_of_operators(memory: Memory, query: str) -> None:
    check(memory.search(query, min_score=0))
