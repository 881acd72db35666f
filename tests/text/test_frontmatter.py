"""Front matter, tags and wikilinks of a note find it, and leave its lines alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines import Memory
from memlines.index.search.query import parse_filters
from memlines.text.chunk import chunk_note, chunk_text
from memlines.text.outline import FrontMatter, front_matter
from tests.memories import WORDS_ONLY, write

NOTE = """\
---
title: Postgres migration
aliases: [PG move, "the big move"]
tags:
  - project/database
  - ops
status: draft
reviewer: 'Ada Lindqvist'  # for now
---
# Postgres migration

We keep version 17.

## Decisions
- The cutover is on a Sunday.
"""


def matter_of(*lines: str) -> FrontMatter:
    found = front_matter("\n".join(["---", *lines, "---", "text"]))
    assert found is not None
    return found


def found_paths(workspace: Path, query: str) -> list[str]:
    with Memory(workspace, WORDS_ONLY) as memory:
        return [hit.path for hit in memory.search(query, min_score=0.0)]


# What is read


def test_a_front_matter_is_read() -> None:
    assert front_matter(NOTE) == FrontMatter(
        9,
        "Postgres migration",
        ("PG move", "the big move"),
        ("project/database", "ops"),
        (("status", "draft"), ("reviewer", "Ada Lindqvist")),
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "---",
        "---\n",
        "title: x\n---\n",
        "---\ntitle: x\n",
        "text\n---\ntitle: x\n---\n",
        "----\ntitle: x\n----\n",
        "---\nThis is prose between two rules.\n---\n",
    ],
)
def test_what_is_no_front_matter_is_text(text: str) -> None:
    assert front_matter(text) is None


@pytest.mark.parametrize(
    "line", ["tags: [a, b]", "tags: a, b", "tags: a b", "tag: '#a #b'", "Tags: [ '#a', b ]"]
)
def test_tags_are_read_however_they_are_written(line: str) -> None:
    assert matter_of(line).tags == ("a", "b")


@pytest.mark.parametrize("lines", [("aliases: One",), ("aliases:", "- One"), ("alias:", '  - "One"')])
def test_aliases_are_read_however_they_are_written(lines: tuple[str, ...]) -> None:
    assert matter_of(*lines).aliases == ("One",)


@pytest.mark.parametrize("value", ["", "~", "null", "[]", "{}", "# a comment"])
def test_an_empty_value_says_nothing(value: str) -> None:
    assert matter_of(f"status: {value}").others == ()


def test_lines_of_text_belong_to_their_key() -> None:
    assert matter_of("summary: >-", "  Two", "  lines", "x: 1").others == (
        ("summary", "Two, lines"),
        ("x", "1"),
    )


def test_values_below_a_key_belong_to_it() -> None:
    assert matter_of("author:", "  name: Ada", "  city: Ghent").others == (("author", "Ada, Ghent"),)


def test_a_link_in_a_value_is_no_list() -> None:
    assert matter_of("up: [[Home page]]").others == (("up", "[[Home page]]"),)


def test_windows_line_ends_are_none_of_its_words() -> None:
    assert front_matter("---\r\ntitle: One\r\n---\r\ntext") == FrontMatter(3, "One")


@given(st.text(alphabet=st.sampled_from("---\n: #[]{},'\"|>ab\t\r")))
def test_any_text_is_read_without_an_error(text: str) -> None:
    found = front_matter(f"---\n{text}\n---\n{text}")
    assert found is None or 2 <= found.lines <= text.count("\n") + 3


@given(
    st.dictionaries(
        st.from_regex(r"[a-z]{1,8}", fullmatch=True), st.from_regex(r"[a-z]{1,20}", fullmatch=True)
    )
)
def test_plain_pairs_are_all_read(pairs: dict[str, str]) -> None:
    found = matter_of(*(f"{key}: {value}" for key, value in pairs.items()))
    told = {found.title, *found.aliases, *found.tags, *(value for _, value in found.others)} - {""}
    assert told == {value for value in pairs.values() if value != "null"}


# How a note is cut


def test_the_front_matter_is_not_in_the_first_chunk() -> None:
    assert chunk_note(NOTE, 400, 80)[0].text.startswith("# Postgres migration")


def test_a_chunk_keeps_the_lines_it_has_in_the_note() -> None:
    lines = NOTE.split("\n")
    for chunk in chunk_note(NOTE, 8, 0):
        assert chunk.text == "\n".join(lines[chunk.start_line - 1 : chunk.end_line])


def test_title_aliases_and_tags_stand_above_every_chunk() -> None:
    context = "Postgres migration (PG move, the big move) #project/database #ops"
    assert all(chunk.heading.startswith(context) for chunk in chunk_note(NOTE, 8, 0))


def test_other_values_stand_above_the_first_chunk() -> None:
    first, *others = chunk_note(NOTE, 8, 0)
    assert "status: draft" in first.heading
    assert not any("draft" in chunk.heading for chunk in others)


def test_a_title_that_is_the_first_heading_is_not_repeated() -> None:
    assert chunk_note(NOTE, 8, 0)[-1].heading.endswith("#ops > Decisions")


def test_a_comment_in_the_front_matter_is_no_heading() -> None:
    assert chunk_note("---\n# comment\ntitle: One\n---\ntext", 400, 80)[0].heading == "One"


def test_a_note_of_front_matter_alone_keeps_its_lines() -> None:
    assert [
        (chunk.start_line, chunk.end_line) for chunk in chunk_note("---\ntitle: One\n---\n", 400, 80)
    ] == [(1, 3)]


def test_values_that_do_not_fit_above_a_chunk_are_kept_as_lines() -> None:
    values = "\n".join(f"key{number}: value{number}" for number in range(100))
    chunks = chunk_note(f"---\n{values}\n---\ntext", 400, 80)
    assert any("value99" in chunk.text for chunk in chunks)
    assert (chunks[-1].start_line, chunks[-1].text) == (103, "text")


@given(st.text(alphabet="ab\n- #:[]", max_size=300))
def test_a_text_without_front_matter_is_cut_as_ever(text: str) -> None:
    assert chunk_note(f"x{text}", 8, 2) == chunk_text(f"x{text}", 8, 2)


@given(st.text(alphabet="ab\n #", max_size=300), st.integers(0, 5))
def test_front_matter_moves_chunks_and_changes_none(body: str, pairs: int) -> None:
    matter = "\n".join(["---", *(f"key{number}: v" for number in range(pairs)), "---"])
    plain = [
        (chunk.start_line + pairs + 2, chunk.end_line + pairs + 2, chunk.text)
        for chunk in chunk_text(body, 8, 2)
    ]
    if plain:
        cut = chunk_note(f"{matter}\n{body}", 8, 2)
        assert [(chunk.start_line, chunk.end_line, chunk.text) for chunk in cut] == plain


# What is found


@pytest.mark.parametrize(
    "query",
    [
        "PG move",
        "the big move",
        "database",
        "project/database",
        "#ops",
        "draft",
        "Lindqvist",
        '"status: draft"',
    ],
)
def test_a_note_is_found_by_its_front_matter(workspace: Path, query: str) -> None:
    write(workspace, {"a.md": NOTE, "b.md": "Something else entirely."})
    assert found_paths(workspace, query)[:1] == ["memory/a.md"]


def test_a_later_passage_is_found_with_the_alias_of_its_note(workspace: Path) -> None:
    filler = "\n".join(f"Line {number} about other things." for number in range(100))
    write(workspace, {"a.md": f"{NOTE}\n{filler}\n\n- Rollback takes nine minutes.\n"})
    with Memory(workspace, WORDS_ONLY) as memory:
        best = memory.search("PG move rollback", min_score=0.0)[0]
    assert "Rollback takes nine minutes." in best.snippet


def test_a_citation_into_a_note_with_front_matter_is_true(workspace: Path) -> None:
    write(workspace, {"a.md": NOTE})
    with Memory(workspace, WORDS_ONLY) as memory:
        hit = memory.search("cutover Sunday", min_score=0.0)[0]
        assert "cutover" in memory.read(hit.path, hit.start_line, hit.end_line - hit.start_line + 1).text


@pytest.mark.parametrize("query", ["Kestrel", "harbour plan"])
def test_a_link_is_found_by_its_target_and_by_what_it_shows(workspace: Path, query: str) -> None:
    write(workspace, {"a.md": "See [[Projects/Kestrel#Costs|harbour plan]].", "b.md": "Something else."})
    assert found_paths(workspace, query)[:1] == ["memory/a.md"]


# tag:


def test_a_tag_narrows(workspace: Path) -> None:
    write(
        workspace,
        {"a.md": "The move #project/database", "b.md": "The move #garden", "c.md": "The move, database"},
    )
    assert found_paths(workspace, "move tag:project") == ["memory/a.md"]


def test_a_tag_in_the_front_matter_narrows(workspace: Path) -> None:
    write(workspace, {"a.md": NOTE, "b.md": "The cutover is elsewhere."})
    assert found_paths(workspace, "cutover tag:#ops") == ["memory/a.md"]


def test_a_tag_alone_finds_what_bears_it(workspace: Path) -> None:
    write(workspace, {"a.md": "One thing #garden", "b.md": "The garden is wet"})
    assert found_paths(workspace, "tag:garden") == ["memory/a.md"]


@pytest.mark.parametrize(
    "text",
    [
        "The move #projection",
        "The move #other/project",
        "The move ##project",
        "The move #project-x",
        "a&#project;",
    ],
)
def test_another_tag_does_not_count(workspace: Path, text: str) -> None:
    write(workspace, {"a.md": text})
    assert found_paths(workspace, "move tag:project") == []


@pytest.mark.parametrize("query", ["move tag:", "move tag:--", "move tag:a.b"])
def test_what_cannot_be_a_tag_is_text(query: str) -> None:
    assert parse_filters(query)[1].tags == ()
