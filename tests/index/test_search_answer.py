"""Snippets are whole lines of what is cited, and hold what matched."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memlines.index.search.passages import MAX_SNIPPET, snippet_of
from memlines.types import cite
from tests.memories import words_memory

LINES = [f"Line {number} of the note, with nothing special in it." for number in range(40)]


def snippet(text: str, *words: str) -> str:
    return snippet_of(text, lambda part: [word for word in words if word in part.lower()])


def test_a_short_chunk_is_its_own_snippet() -> None:
    assert snippet("\n\nOne.\n\nTwo.\n", "two") == "One.\n\nTwo."


def test_a_chunk_of_exactly_700_characters_is_not_cut() -> None:
    assert snippet("x" * MAX_SNIPPET) == "x" * MAX_SNIPPET


def test_a_long_chunk_is_cut_at_whole_lines() -> None:
    assert set(snippet("\n".join(LINES)).split("\n")) <= set(LINES)


def test_without_matches_the_snippet_is_the_beginning() -> None:
    assert snippet("\n".join(LINES)).startswith(LINES[0])


def test_the_snippet_holds_the_word_that_matched() -> None:
    lines = [*LINES[:35], "Here is the needle.", *LINES[35:]]
    assert "needle" in snippet("\n".join(lines), "needle")


def test_the_snippet_holds_as_many_of_the_words_as_fit() -> None:
    lines = ["A needle alone.", *LINES[:30], "The needle and the thread.", *LINES[30:]]
    assert "thread" in snippet("\n".join(lines), "needle", "thread")


def test_a_match_at_the_end_is_shown_with_the_lines_before_it() -> None:
    shown = snippet("\n".join([*LINES, "Here is the needle."]), "needle").split("\n")
    assert shown[-2:] == [LINES[-1], "Here is the needle."]
    assert len("\n".join(shown)) > MAX_SNIPPET - len(LINES[0]) - 2


def test_a_word_in_an_over_long_line_is_shown_with_what_is_around_it() -> None:
    line = "before " * 150 + "needle" + " after" * 150
    shown = snippet(line, "needle")
    assert "before needle after" in shown
    assert len(shown) == MAX_SNIPPET


def test_a_word_in_an_over_long_line_among_short_ones_is_shown() -> None:
    text = "\n".join([*LINES[:5], "before " * 150 + "needle", *LINES[5:10]])
    assert "needle" in snippet(text, "needle")


def test_an_over_long_line_after_blank_ones_gives_a_snippet() -> None:
    assert snippet("   \n\t\n" + "word " * 300).startswith("word word")


def test_a_snippet_neither_begins_nor_ends_with_blank_lines() -> None:
    text = "\n".join([*LINES[:12], "", "", *LINES[12:]])
    shown = snippet(text)
    assert shown == shown.strip("\n")


@given(st.lists(st.text("ab \n", max_size=900), min_size=1, max_size=6), st.sampled_from(["a", "ab", "zz"]))
def test_a_snippet_is_never_longer_than_700_and_always_part_of_the_text(parts: list[str], word: str) -> None:
    text = "\n".join(parts)
    if not text.strip():
        return
    shown = snippet(text, word)
    assert len(shown) <= MAX_SNIPPET
    assert shown in text
    assert shown.strip()


@given(st.lists(st.integers(0, 900), min_size=1, max_size=8), st.data())
def test_a_word_of_the_text_is_in_its_snippet(lengths: list[int], data: st.DataObject) -> None:
    lines = ["x " * (length // 2) for length in lengths]
    at = data.draw(st.integers(0, len(lines) - 1))
    lines[at] += "needle"
    assert "needle" in snippet("\n".join(lines), "needle")


def test_one_line_is_cited_by_its_number() -> None:
    assert cite("memory/a.md", 3, 3) == "memory/a.md#L3"


def test_several_lines_are_cited_by_the_first_and_the_last() -> None:
    assert cite("memory/a.md", 3, 9) == "memory/a.md#L3-L9"


def test_a_stemmed_match_deep_in_a_chunk_is_in_the_snippet(workspace: Path) -> None:
    text = "\n".join([*LINES[:28], "We compared two databases.", *LINES[28:30]])
    with words_memory(workspace, {"a.md": text}) as memory:
        hit = memory.search("database")[0]
    assert "databases" in hit.snippet


def test_a_folded_match_deep_in_a_chunk_is_in_the_snippet(workspace: Path) -> None:
    text = "\n".join([*LINES[:28], "We met in the café.", *LINES[28:30]])
    with words_memory(workspace, {"a.md": text}) as memory:
        assert "café" in memory.search("cafe")[0].snippet


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_hit_cites_the_lines_an_editor_shows(workspace: Path, ending: str) -> None:
    text = ending.join(["one", "two", "A kestrel.", "four", ""])
    with words_memory(workspace, {"a.md": text}, chunking__tokens=1, chunking__overlap=0) as memory:
        hit = memory.search("kestrel", min_score=0)[0]
        read = memory.read(hit.path, hit.start_line, hit.end_line - hit.start_line + 1).text
    assert "A kestrel." in read


WORDS = [
    "kestrel",
    "heron",
    "mill",
    "river",
    "décision",
    "数据库",
    "the",
    "#",
    "##",
    "- item",
    "```",
    "",
    "\t",
]
workspaces = st.dictionaries(
    st.sampled_from(["a.md", "b/c.md", "2026-01-01.md", "MEMORY.md"]),
    st.lists(st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join), max_size=60).map("\n".join),
    min_size=1,
)


def check_citations(notes: dict[str, str], query: list[str], tokens: int, *, whole_lines: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        settings = {"chunking__tokens": tokens, "chunking__overlap": tokens // 5}
        with words_memory(Path(folder), notes, **settings) as memory:
            for hit in memory.search(" ".join(query), min_score=0, max_results=50):
                cited = memory.read(hit.path, hit.start_line, hit.end_line - hit.start_line + 1)
                assert cited.found
                assert hit.why.words
                assert len(hit.snippet) <= MAX_SNIPPET
                if whole_lines:
                    assert hit.snippet in cited.text
                else:
                    assert hit.snippet.replace("\n", "") in cited.text.replace("\n", "")


queries = st.lists(st.sampled_from(WORDS[:5]), min_size=1, max_size=3)


@given(workspaces, queries, st.integers(90, 160))
@settings(max_examples=40)
def test_the_cited_lines_hold_the_snippet(notes: dict[str, str], query: list[str], tokens: int) -> None:
    check_citations(notes, query, tokens, whole_lines=True)


@given(workspaces, queries, st.integers(1, 20))
@settings(max_examples=40)
def test_cited_lines_hold_the_snippet_where_lines_are_cut_into_pieces(
    notes: dict[str, str], query: list[str], tokens: int
) -> None:
    check_citations(notes, query, tokens, whole_lines=False)
