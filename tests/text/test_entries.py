"""The entries of a note, as a person would point at them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.text.entries import Entry, entries_of, own_text_of, title_of
from memlines.text.outline import outline

Span = tuple[str, int, int]

MARKDOWN = st.lists(
    st.sampled_from(
        [
            "# A",
            "## B",
            "  ### C",
            "text",
            "more words",
            "- item",
            "* star",
            "1. one",
            "2. two",
            "  - nested",
            "  more",
            "    deep",
            "```",
            "~~~ python",
            "  ```",
            "- ```",
            "---",
            "***",
            "===",
            "> quote",
            "| a | b |",
            "<!-- note -->",
            "<!-- session s1 -->",
            "<!-- /session -->",
            "",
            "  ",
            "\t- tab",
            "text\r",
            "\r",
        ]
    ),
    max_size=30,
).map("\n".join)


def spans(text: str) -> list[Span]:
    return [(entry.kind, entry.first, entry.last) for entry in entries_of(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("\n\n", []),
        ("one\ntwo\n\nthree\n", [("paragraph", 1, 2), ("paragraph", 4, 4)]),
        ("- a\n- b\n", [("item", 1, 1), ("item", 2, 2)]),
        ("* a\n+ b\n1. c\n2) d\n", [("item", n, n) for n in (1, 2, 3, 4)]),
        ("- a\n  goes on\n- b\n", [("item", 1, 2), ("item", 3, 3)]),
        ("- a\nruns on\n- b\n", [("item", 1, 2), ("item", 3, 3)]),
        ("- a\n  - nested\n    - deeper\n- b", [("item", 1, 3), ("item", 4, 4)]),
        ("1. a\n  - nested by two\n2. b", [("item", 1, 2), ("item", 3, 3)]),
        ("- a\n - not nested\n", [("item", 1, 1), ("item", 2, 2)]),
        ("- a\n\t- nested by a tab\n", [("item", 1, 2)]),
        ("- a\n\n  second paragraph\n\n- b\n", [("item", 1, 3), ("item", 5, 5)]),
        ("- a\n\nparagraph\n", [("item", 1, 1), ("paragraph", 3, 3)]),
        ("-\n- b\n", [("item", 1, 1), ("item", 2, 2)]),
        ("Intro:\n- a\n- b\n", [("paragraph", 1, 1), ("item", 2, 2), ("item", 3, 3)]),
        ("It was in\n1986. Then\n", [("paragraph", 1, 2)]),
        ("# T\ntext\n## U\n", [("heading", 1, 1), ("paragraph", 2, 2), ("heading", 3, 3)]),
        ("- a\n# T\n", [("item", 1, 1), ("heading", 2, 2)]),
        ("Title\n===\n", [("paragraph", 1, 2)]),
        ("Title\n---\n", [("paragraph", 1, 2)]),
        ("a\n\n---\n\nb\n", [("paragraph", 1, 1), ("paragraph", 5, 5)]),
        ("- a\n---\n- b\n", [("item", 1, 1), ("item", 3, 3)]),
        ("* * *\n", []),
        ("-not an item\n", [("paragraph", 1, 1)]),
        ("> quote\n> more\n", [("paragraph", 1, 2)]),
        ("| a |\n|---|\n| b |\n", [("paragraph", 1, 3)]),
        ("- a\n<!-- note -->\n- b\n", [("item", 1, 1), ("paragraph", 2, 2), ("item", 3, 3)]),
        ("text\n<!-- note\nmore -->\n", [("paragraph", 1, 1), ("paragraph", 2, 3)]),
        ("- a\n  <!-- inside -->\n- b\n", [("item", 1, 2), ("item", 3, 3)]),
        ("<!-- session s1 -->\n- a\n<!-- /session -->\n- b\n", [("item", 2, 2), ("item", 4, 4)]),
        ("words\r\n<!-- session s1 -->\r\nwords\r\n", [("paragraph", 1, 1), ("paragraph", 3, 3)]),
        ("```\n<!-- session s1 -->\n```\n", [("code", 1, 3)]),
        ("text\r\n\r\n- a\r\n", [("paragraph", 1, 1), ("item", 3, 3)]),
        ("\ufeff# T\n", [("heading", 1, 1)]),
        ("\ufeff---\na: 1\n---\ntext", [("paragraph", 4, 4)]),
    ],
)
def test_what_is_one_entry(text: str, expected: list[Span]) -> None:
    assert spans(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```\na\n\n- b\n# c\n```\nafter", [("code", 1, 6), ("paragraph", 7, 7)]),
        ("~~~ py\na\n```\n~~~\n", [("code", 1, 4)]),
        ("````\n```\n````\n", [("code", 1, 3)]),
        ("```\nnever closed\n\n- a\n", [("code", 1, 4)]),
        ("```\n    ```\n```\n", [("code", 1, 3)]),
        ("text\n```\na\n```\n", [("paragraph", 1, 1), ("code", 2, 4)]),
        ("```inline``` words\n- a", [("paragraph", 1, 1), ("item", 2, 2)]),
        ("- a\n  ```\n  x\n\n  # y\n  ```\n- b\n", [("item", 1, 6), ("item", 7, 7)]),
        ("- a\n  ```\nnot indented\n\n- x\n  ```\n- b\n", [("item", 1, 6), ("item", 7, 7)]),
        ("- ```py\n  # x\n  ```\n- b\n", [("item", 1, 3), ("item", 4, 4)]),
        ("- a\n  - ```\n    x\n    ```\n- b\n", [("item", 1, 4), ("item", 5, 5)]),
        ("- ```\n  never closed\n- b\n", [("item", 1, 2), ("item", 3, 3)]),
        ("- a\n```\nx\n```\n", [("item", 1, 1), ("code", 2, 4)]),
    ],
)
def test_code_is_never_cut(text: str, expected: list[Span]) -> None:
    assert spans(text) == expected


def test_front_matter_is_no_entry() -> None:
    assert spans("---\ntitle: x\n# comment\n---\n\ntext\n") == [("paragraph", 6, 6)]


def test_front_matter_that_is_not_closed_is_text() -> None:
    assert spans("---\ntitle: x\n") == [("paragraph", 2, 2)]


def test_an_entry_has_its_text_with_plain_line_ends() -> None:
    assert entries_of("- a\r\n  b\r\n")[0] == Entry("item", 1, 2, "- a\n  b", "")


def test_an_entry_knows_the_headings_above_it() -> None:
    assert [entry.heading for entry in entries_of("# A\n## B\n- x\n# C\ny\n")] == ["", "A", "A > B", "", "C"]


def test_code_in_an_item_is_no_heading_above() -> None:
    assert entries_of("# A\n- ```\n  # x\n  ```\n- b\n")[-1].heading == "A"


def test_the_lines_of_an_entry() -> None:
    assert [(entry.first, entry.last) for entry in entries_of("- a\n  b\n\nc\n")] == [(1, 2), (4, 4)]


SECTIONS = "# Top\nintro\n\n## One\n- a\n### Deep\n- b\n\n## Two  words\n- c\n"


@pytest.mark.parametrize(
    ("title", "own"),
    [
        ("Top", (1, 3)),
        ("One", (4, 5)),
        ("Deep", (6, 8)),
        ("two WORDS", (9, 10)),
        ("  Two\twords ", (9, 10)),
        ("## Two words", (9, 10)),
        ("Two words ##", (9, 10)),
        ("Three", None),
        ("", None),
    ],
)
def test_the_own_text_of_a_section(title: str, own: tuple[int, int] | None) -> None:
    assert own_text_of(SECTIONS, title) == own


def test_of_two_sections_with_one_title_the_first_is_taken() -> None:
    assert own_text_of("# A\nx\n# A\ny\n", "a") == (1, 2)


def test_a_comment_in_code_begins_no_section() -> None:
    assert own_text_of("```\n# A\n```\n", "A") is None


@pytest.mark.parametrize(
    ("words", "title"),
    [
        ("Plans", "Plans"),
        ("a\n b", "a b"),
        ("# C#", "C#"),
        ("#tag", "#tag"),
        ("C #", "C"),
        ("#", ""),
        (" ", ""),
    ],
)
def test_words_as_a_heading_shows_them(words: str, title: str) -> None:
    assert title_of(words) == title


@given(MARKDOWN)
def test_entries_are_in_order_and_begin_and_end_with_words(text: str) -> None:
    lines = text.split("\n")
    after = 0
    for entry in entries_of(text):
        assert after < entry.first <= entry.last <= len(lines)
        assert lines[entry.first - 1].strip()
        assert lines[entry.last - 1].strip() or entry.kind in ("code", "item")
        after = entry.last


@given(st.lists(st.sampled_from(["# A", "text", "- b", "  c", "", "> d", "1. e", "| f |"])).map("\n".join))
def test_every_line_with_words_belongs_to_an_entry(text: str) -> None:
    inside = {number for entry in entries_of(text) for number in range(entry.first, entry.last + 1)}
    assert inside >= {number for number, line in enumerate(text.split("\n"), 1) if line.strip()}


@given(st.lists(st.sampled_from(["# A", "## B #", "   # C", "text", "```", "~~~", "    ```", "", "``` x"])))
def test_headings_are_those_of_the_outline(lines: list[str]) -> None:
    text = "\n".join(lines)
    headings = [entry.first for entry in entries_of(text) if entry.kind == "heading"]
    assert headings == [heading.line for heading in outline(text)]


@given(st.text())
def test_any_text_has_entries(text: str) -> None:
    lines = text.removeprefix("\ufeff").split("\n")
    for entry in entries_of(text):
        assert entry.text.split("\n") == [
            line.removesuffix("\r") for line in lines[entry.first - 1 : entry.last]
        ]


@pytest.mark.parametrize(
    "text",
    [
        "- ~~~\n" * 50_000,
        "- " * 200_000 + "x",
        "-" + " " * 200_000 + "x",
        "- - " * 50_000 + "x",
        "* " * 200_000,
    ],
    ids=["open fences", "markers", "spaces", "rules", "stars"],
)
def test_a_hostile_text_takes_one_pass(text: str) -> None:
    """Each of these took minutes when every line was looked at anew from every other."""
    assert len(entries_of(text)) in (0, 1, 50_000)
