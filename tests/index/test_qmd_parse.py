"""What qmd prints becomes hits, or an error of ours."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.errors import QmdFailed
from memlines.index.qmd import QmdHit, parse_hits

ROW = {"docid": "#9e7db4", "score": 0.5, "file": "qmd://notes/a b.md?index=memlines", "line": 4}
HIT = QmdHit("notes", "a b.md", 4, 4, 0.5)

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
ROWS = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "file": ANYTHING | st.from_regex(r"qmd://[a-z]+/.+"),
            "score": ANYTHING,
            "line": ANYTHING,
            "end_line": ANYTHING,
            "snippet": ANYTHING | st.from_regex(r"@@ -[0-9]+,[0-9]+"),
        },
    )
)
NOISE = st.text(st.characters(exclude_characters="[]", codec="utf-8"))


def parsed(row: dict[str, Any]) -> QmdHit:
    (hit,) = parse_hits(json.dumps([row]))
    return hit


def test_a_hit_has_its_file_line_and_score() -> None:
    assert parsed(ROW) == HIT


def test_an_array_is_found_inside_noise() -> None:
    assert parse_hits(f"[info] loading [1]\n{json.dumps([ROW])}\n[done]") == [HIT]


@pytest.mark.parametrize("before", ["[]", '[{"level": "info"}]', "[] [ ]"])
def test_the_first_array_with_hits_counts(before: str) -> None:
    assert parse_hits(f"{before}\n{json.dumps([ROW])}\n[]") == [HIT]


def test_brackets_inside_strings_end_nothing() -> None:
    assert parse_hits(f"x {json.dumps([ROW | {'snippet': 'a ] [ b'}])} y") == [HIT]


@pytest.mark.parametrize("text", ["[]", "No results found.", "warming up\n  no results found above it\n"])
def test_nothing_found_is_an_answer(text: str) -> None:
    assert parse_hits(text) == []


@pytest.mark.parametrize("text", ["", "null", "{}", "Segmentation fault", "[1, 2]", "[" * 100_000, "[null]"])
def test_anything_else_is_an_error(text: str) -> None:
    with pytest.raises(QmdFailed):
        parse_hits(text)


@pytest.mark.parametrize("text", ["[" * 200_000, '[{"a":' * 33_000, "[{}," * 1000 + "{}," * 65_000])
def test_brackets_that_are_never_closed_take_little_time(text: str) -> None:
    begin = time.process_time()
    with pytest.raises(QmdFailed):
        parse_hits(text)
    assert time.process_time() - begin < 1


def test_lines_above_a_snippet_count_if_none_are_named() -> None:
    row = {"file": ROW["file"], "snippet": "@@ -9,3 @@ (8 before, 0 after)\none\ntwo\nthree"}
    assert parsed(row)[2:4] == (9, 11)


def test_without_any_lines_a_hit_has_those_of_its_snippet() -> None:
    assert parsed({"file": ROW["file"], "snippet": "one\ntwo"})[2:4] == (1, 2)


@pytest.mark.parametrize(
    "file", [None, 3, "notes/a.md", "qmd://notes", "qmd://notes/", "qmd://notes/\0", "qmd://notes/\ud800"]
)
def test_a_row_without_a_file_of_a_collection_is_left_out(file: Any) -> None:
    assert parse_hits(json.dumps([ROW | {"file": file}])) == []


@given(before=NOISE, rows=ROWS, after=st.text())
def test_any_array_of_rows_is_read_whatever_is_around_it(before: str, rows: Any, after: str) -> None:
    alone = parse_hits(json.dumps(rows))
    assert parse_hits(f"{before}{json.dumps(rows)}{after}") == alone


@given(rows=ROWS)
def test_every_hit_has_lines_and_a_score_that_can_be(rows: Any) -> None:
    hits = parse_hits(json.dumps(rows))
    assert all(1 <= hit.first <= hit.last and 0 <= hit.score <= 1 for hit in hits)


@given(text=st.text() | ANYTHING.map(json.dumps))
def test_any_text_is_hits_or_an_error_of_ours(text: str) -> None:
    try:
        hits = parse_hits(text)
    except QmdFailed:
        hits = []
    assert isinstance(hits, list)
