"""The headings above a line, as Markdown means them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.text.outline import heading_above, outline


def titles(text: str) -> list[str]:
    return [heading.title for heading in outline(text)]


def above(text: str, line: int) -> str:
    return heading_above(outline(text), line)


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("# One", "One"),
        ("###### Six", "Six"),
        ("#\tTab", "Tab"),
        ("   # Three spaces", "Three spaces"),
        ("#    Many spaces", "Many spaces"),
        ("# Trailing   ", "Trailing"),
        ("# Closed #", "Closed"),
        ("## Closed by more ######", "Closed by more"),
        ("# Closed and spaced ##   ", "Closed and spaced"),
        ("# C#", "C#"),
        ("# Ticket #12", "Ticket #12"),
        ("# Escaped \\#", "Escaped \\#"),
        ("# Two ## inside", "Two ## inside"),
        ("# Windows\r", "Windows"),
        ("# 你好", "你好"),
        ("# 😀", "😀"),
    ],
)
def test_a_heading(line: str, title: str) -> None:
    assert titles(line + "\n") == [title]


@pytest.mark.parametrize(
    "line",
    [
        "#hashtag",
        "####### Seven",
        "    # Code by indent",
        "\t# Tab",
        "text # no",
        "#",
        "# ",
        "##\t",
        "## ##",
        "\\# no",
    ],
)
def test_no_heading(line: str) -> None:
    assert titles(line + "\n") == []


def test_a_title_is_cut_so_that_context_stays_small() -> None:
    assert titles("# " + "x" * 500) == ["x" * 120]


def test_a_heading_knows_its_line() -> None:
    assert [heading.line for heading in outline("\n\n# A\ntext\n## B\n")] == [3, 5]


@pytest.mark.parametrize("fence", ["```", "~~~", "`````", "```python", "~~~ text", "  ```"])
def test_comments_in_fenced_code_are_no_headings(fence: str) -> None:
    close = fence.strip().rstrip("pythonex ")
    assert titles(f"# Real\n{fence}\n# comment\n{close}\n# After\n") == ["Real", "After"]


def test_a_shorter_fence_does_not_close() -> None:
    assert titles("````\n# a\n```\n# b\n````\n# After") == ["After"]


def test_the_other_fence_does_not_close() -> None:
    assert titles("```\n~~~\n# a\n```\n# After") == ["After"]


def test_a_fence_with_words_does_not_close() -> None:
    assert titles("```\n# a\n``` python\n# b\n```\n# After") == ["After"]


def test_an_open_fence_lasts_to_the_end() -> None:
    assert titles("# Before\n```\n# a\n# b") == ["Before"]


def test_inline_code_opens_no_fence() -> None:
    assert titles("```inline``` words\n# After") == ["After"]


def test_a_line_stands_under_the_nearest_headings() -> None:
    assert above("# A\n## B\n### C\ntext\n", 4) == "A > B > C"


def test_a_heading_stands_under_its_parents_only() -> None:
    assert above("# A\n## B\n", 2) == "A"


def test_a_line_before_every_heading_stands_under_none() -> None:
    assert above("text\n# A\n", 1) == ""


def test_a_skipped_level_leaves_no_gap() -> None:
    assert above("# A\n#### D\ntext\n", 3) == "A > D"


def test_a_higher_heading_closes_the_lower_ones() -> None:
    assert above("# A\n### C\n## B\ntext\n", 4) == "A > B"


def test_a_sibling_takes_the_place() -> None:
    assert above("# A\n## B\n## C\ntext\n", 4) == "A > C"


def test_a_text_may_start_below_the_first_level() -> None:
    assert above("### C\n# A\ntext\n", 3) == "A"


def test_an_empty_heading_is_passed_over() -> None:
    assert above("# A\n## ##\ntext\n", 3) == "A"


def test_no_headings_no_path() -> None:
    assert above("text\nmore\n", 2) == ""


@pytest.mark.parametrize(
    "line",
    [
        "# a" + " " * 200_000 + "b",
        "# a" + " \t" * 100_000 + "b",
        "#" + " " * 200_000,
        "# " + "#" * 200_000 + "b",
        "# " + " #" * 100_000 + "b",
        "```" + " `" * 100_000,
        "`" * 200_000,
        " " * 200_000 + "#",
    ],
    ids=["spaces", "tabs", "blank", "hashes", "spaced hashes", "backticks", "fence", "indent"],
)
def test_a_hostile_line_is_one_pass(line: str) -> None:
    """Each of these took minutes or more with a pattern that can match in two ways."""
    assert len(outline(line + "\n# After")) <= 2


@given(st.lists(st.sampled_from(["# A", "## B", "### C", "text", "```", "~~~", "", "# D #"]), max_size=30))
def test_every_heading_is_on_the_line_it_names(lines: list[str]) -> None:
    for heading in outline("\n".join(lines)):
        assert heading.title in lines[heading.line - 1]
        assert lines[heading.line - 1].startswith("#")


@given(st.text())
def test_any_text_has_an_outline_in_order(text: str) -> None:
    lines = [heading.line for heading in outline(text)]
    assert lines == sorted(set(lines))


@given(st.text(alphabet="# `~\nab\t"), st.integers(1, 20))
def test_a_path_has_at_most_six_headings(text: str, line: int) -> None:
    headings = outline(text)
    assert all(len(heading.parents) < 6 for heading in headings)
    assert "\n" not in heading_above(headings, line)
