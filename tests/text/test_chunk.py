"""Chunks cover the text, stay within the limit and keep true line numbers."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from itertools import pairwise
from types import FrameType
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memlines.text import chunk as chunk_module
from memlines.text.chunk import chunk_text, limit_of, text_hash, weigh
from memlines.types import Chunk

WIDE = [(0x2E80, 0x9FFF), (0xA000, 0xA4FF), (0xAC00, 0xD7AF), (0xF900, 0xFAFF), (0x20000, 0x2FA1F)]

pieces_of_lines = st.sampled_from(
    ["a", "bc ", " ", "\t", "# ", "#", "```", "你", "漢字", "😀", "é", "\r", "-"]
)
short_lines = st.lists(pieces_of_lines, max_size=8).map("".join)
any_lines = st.one_of(short_lines, st.lists(pieces_of_lines, max_size=90).map("".join), st.just(""))
texts = st.lists(any_lines, max_size=30).map("\n".join)
sizes = st.integers(1, 40)
overlaps = st.integers(0, 60)


def spans(chunks: list[Chunk]) -> list[tuple[int, int, int]]:
    return [(chunk.start_line, chunk.end_line, len(chunk.text)) for chunk in chunks]


def lines_of(text: str) -> list[str]:
    lines = text.split("\n")
    return lines[:-1] if len(lines) > 1 and not lines[-1] else lines


# The values that the original gives, run and written down.


def test_golden_six_lines() -> None:
    text = "\n".join(f"line-{number:04d}" for number in range(1, 7))
    assert spans(chunk_text(text, 8, 2)) == [(1, 3, 29), (3, 5, 27), (5, 6, 17)]


def test_golden_carry_is_the_end_of_the_last_line() -> None:
    text = "\n".join(f"line-{number:04d}" for number in range(1, 7))
    assert chunk_text(text, 8, 2)[1].text.startswith("ne-0003\nline-0004")


def test_golden_long_line_with_overlap() -> None:
    assert spans(chunk_text("a" * 70 + "\nend", 8, 2)) == [(1, 1, 32), (1, 1, 32), (1, 2, 18)]


def test_golden_long_line_without_overlap() -> None:
    assert spans(chunk_text("a" * 70 + "\nend", 8, 0)) == [(1, 1, 32), (1, 1, 32), (1, 2, 10)]


def test_golden_chinese() -> None:
    assert [len(chunk.text) for chunk in chunk_text("你" * 20, 8, 0)] == [8, 8, 4]


def test_golden_fifty_lines() -> None:
    text = "\n".join("x" * 99 for _ in range(50))
    found = [(chunk.start_line, chunk.end_line) for chunk in chunk_text(text, 400, 80)]
    assert found == [(1, 16), (14, 29), (27, 42), (40, 50)]


# Weight.


@pytest.mark.parametrize("point", [point for first, last in WIDE for point in (first, last)])
def test_a_wide_character_weighs_four(point: int) -> None:
    assert weigh(chr(point)) == 4


@pytest.mark.parametrize("point", [0x2E7F, 0xA500, 0xABFF, 0xD7B0, 0xF8FF, 0xFB00, 0x1FFFF, 0x2FA20])
def test_its_neighbours_weigh_one(point: int) -> None:
    assert weigh(chr(point)) == 1


def test_an_emoji_weighs_one() -> None:
    assert weigh("😀") == 1


@pytest.mark.parametrize(("tokens", "limit"), [(0, 32), (1, 32), (8, 32), (9, 36), (400, 1600)])
def test_limit(tokens: int, limit: int) -> None:
    assert limit_of(tokens) == limit


@given(texts, sizes, overlaps)
def test_no_chunk_is_above_the_limit(text: str, tokens: int, overlap: int) -> None:
    assert all(weigh(chunk.text) <= limit_of(tokens) for chunk in chunk_text(text, tokens, overlap))


# Coverage and line numbers.


Part = tuple[str, int]


def heavy(part: str) -> int:
    return sum(4 if any(low <= ord(char) <= high for low, high in WIDE) else 1 for char in part)


def naive_parts(text: str, limit: int) -> list[Part]:
    parts: list[Part] = []
    for number, line in enumerate(lines_of(text), 1):
        piece = ""
        for char in line:
            if heavy(piece + char) > limit:
                blanks = [at for at in range(len(piece)) if piece[at] in " \t" and at >= len(piece) * 3 // 4]
                end = blanks[-1] + 1 if blanks else len(piece)
                parts.append((piece[:end], number))
                piece = piece[end:]
            piece += char
        parts.append((piece, number))
    return parts


def naive_carry(full: list[Part], window: int) -> list[Part]:
    fitting = [
        place for place in range(len(full)) if sum(heavy(part) + 1 for part, _ in full[place:]) <= window
    ]
    if fitting:
        return full[fitting[0] :]
    tail, number = full[-1]
    while tail and heavy(tail) > window - 1:
        tail = tail[1:]
    return [(tail, number)] if tail else []


def naive(text: str, tokens: int, overlap: int) -> list[tuple[int, int, str]]:
    """The same rules, one character at a time, with no thought for speed."""
    limit = max(32, tokens * 4)
    runs: list[list[Part]] = [[]]
    for part in naive_parts(text, limit):
        size = heavy(part[0]) + 1
        full = runs[-1]
        if full and sum(heavy(kept) + 1 for kept, _ in full) + size > limit:
            runs.append(naive_carry(full, min(max(0, min(overlap, tokens - 1)) * 4, limit - size)))
        runs[-1].append(part)
    joined = [(run[0][1], run[-1][1], "\n".join(part for part, _ in run)) for run in runs]
    return [run for run in joined if run[2].strip()]


@given(texts, sizes, overlaps)
@example("a" * 32 + "\n" + "b" * 31, 8, 7)
@example("你" * 8 + "a", 8, 7)
@example("\n\n\n", 8, 2)
def test_chunks_are_what_the_plain_rules_give(text: str, tokens: int, overlap: int) -> None:
    found = [(chunk.start_line, chunk.end_line, chunk.text) for chunk in chunk_text(text, tokens, overlap)]
    assert found == naive(text, tokens, overlap)


@given(st.lists(short_lines, max_size=40), sizes, overlaps)
def test_a_chunk_of_whole_lines_equals_them(lines: list[str], tokens: int, overlap: int) -> None:
    """All lines but the first are the text's own; the first may be the end of one, if it was carried."""
    lines = [line for line in lines if weigh(line) <= limit_of(tokens)]
    chunks = chunk_text("\n".join(lines), tokens, overlap)
    for before, chunk in zip([None, *chunks], chunks, strict=False):
        first, *rest = chunk.text.split("\n")
        source = lines[chunk.start_line - 1]
        assert rest == lines[chunk.start_line : chunk.end_line]
        assert source.endswith(first)
        carried = before is not None and before.end_line >= chunk.start_line
        assert first == source or carried or not source.strip()


@given(texts, sizes, overlaps)
def test_every_line_is_found_under_its_number(text: str, tokens: int, overlap: int) -> None:
    chunks = chunk_text(text, tokens, overlap)
    for number, line in enumerate(lines_of(text), 1):
        if line.strip() and weigh(line) <= limit_of(tokens):
            over = [chunk for chunk in chunks if chunk.start_line <= number <= chunk.end_line]
            assert any(line in chunk.text.split("\n") for chunk in over)


@given(st.sampled_from([0x10000, 0x4E00]), st.integers(1, 3000), sizes, overlaps)
def test_the_pieces_of_a_long_line_make_it_up(first: int, length: int, tokens: int, overlap: int) -> None:
    line = "".join(chr(first + place) for place in range(length))  # no character twice: no place is doubtful
    done = 0
    for chunk in chunk_text(line, tokens, overlap):
        for place, part in enumerate(chunk.text.split("\n")):
            carried = place == 0 and line[:done].endswith(part)
            assert carried or line.startswith(part, done)
            done += 0 if carried else len(part)
    assert done == len(line)


@given(texts, sizes, overlaps)
def test_line_numbers_go_forward(text: str, tokens: int, overlap: int) -> None:
    chunks = chunk_text(text, tokens, overlap)
    assert all(1 <= chunk.start_line <= chunk.end_line <= len(lines_of(text)) for chunk in chunks)
    for before, after in pairwise(chunks):
        assert before.start_line <= after.start_line
        assert before.end_line <= after.end_line


@given(texts, sizes, overlaps)
def test_cutting_twice_gives_the_same(text: str, tokens: int, overlap: int) -> None:
    assert chunk_text(text, tokens, overlap) == chunk_text(text, tokens, overlap)


@given(texts, sizes, overlaps)
def test_headings_never_move_a_border(text: str, tokens: int, overlap: int) -> None:
    plain = text.replace("#", "x")
    assert spans(chunk_text(text, tokens, overlap)) == spans(chunk_text(plain, tokens, overlap))


@given(texts, texts, sizes, overlaps)
def test_text_added_at_the_end_changes_only_the_last_chunk(
    text: str, more: str, tokens: int, overlap: int
) -> None:
    settled = chunk_text(text + "\n", tokens, overlap)[:-1]
    assert chunk_text(text + "\n" + more, tokens, overlap)[: len(settled)] == settled


@given(texts, sizes, overlaps)
def test_a_final_line_break_adds_no_line(text: str, tokens: int, overlap: int) -> None:
    closed = text.rstrip("\n")
    assert chunk_text(closed + "\n", tokens, overlap) == chunk_text(closed, tokens, overlap)


@pytest.mark.parametrize("text", ["", "\n", "\n\n\n", "   ", "\t\n \n", "\r\n\r\n", "\u3000\n\u00a0"])
def test_nothing_visible_gives_no_chunk(text: str) -> None:
    assert chunk_text(text, 400, 80) == []


def test_blank_lines_before_the_text_count() -> None:
    assert spans(chunk_text("\n\nhello", 400, 80)) == [(1, 3, 7)]


def test_carriage_returns_are_kept_and_make_no_lines() -> None:
    chunk = chunk_text("one\r\ntwo\r\n", 400, 80)[0]
    assert (chunk.end_line, chunk.text) == (2, "one\r\ntwo\r")


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x0b", "\x0c", "\x85", "\x1c"])
def test_only_a_line_feed_ends_a_line(separator: str) -> None:
    assert chunk_text(f"one{separator}two", 400, 80)[0].end_line == 1


def test_an_overlap_as_large_as_the_chunk_still_advances() -> None:
    text = "\n".join(f"line {number}" for number in range(100))
    assert chunk_text(text, 8, 1000)[-1].end_line == 100


def test_a_negative_overlap_is_none() -> None:
    text = "\n".join(f"line {number}" for number in range(50))
    assert chunk_text(text, 8, -5) == chunk_text(text, 8, 0)


# Long lines.


@pytest.mark.parametrize(("character", "length"), [("a", 1600), ("你", 400), ("😀", 1600), ("é", 1600)])
def test_a_line_of_200_000_characters(character: str, length: int) -> None:
    chunks = chunk_text(character * 200_000, 400, 80)
    assert spans(chunks) == [(1, 1, length)] * (200_000 // length)


def test_an_emoji_is_never_halved() -> None:
    chunks = chunk_text("👩‍💻" * 500, 8, 2)
    assert all(chunk.text.encode().decode() == chunk.text for chunk in chunks)


# Work: counted, not timed.


def statements(work: Callable[[], object]) -> int:
    """Return how many lines of the chunker's source a call runs."""
    count = 0

    def trace(frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal count
        if frame.f_globals.get("__name__", "").startswith("memlines.text"):
            count += event == "line"
            return trace
        return None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


SHAPES: dict[str, Callable[[int], str]] = {
    "short lines": lambda n: "hello\n" * n,
    "blank lines": lambda n: "\n" * n,
    "one long line": lambda n: "a" * (n * 100),
    "one long Chinese line": lambda n: "你" * (n * 20),
    "Chinese first, then Latin": lambda n: ("你" * 400 + "a" * 1600) * (n // 20),
    "Latin first, then Chinese": lambda n: ("a" * 1600 + "你" * 400) * (n // 20),
    "lines as heavy as the limit": lambda n: ("b" * 1600 + "\n") * n,
    "headings": lambda n: "# title #\n" * n,
    "fences": lambda n: "```\n# code\n" * n,
    "ever deeper headings": lambda n: "# a\n## b\n### c\n" * n,
}


@pytest.mark.parametrize("shape", SHAPES)
def test_twice_the_text_is_twice_the_statements(shape: str) -> None:
    make = SHAPES[shape]
    once = statements(lambda: chunk_text(make(400), 400, 80))
    twice = statements(lambda: chunk_text(make(800), 400, 80))
    assert twice <= 2.1 * once + 200


@pytest.mark.parametrize("shape", SHAPES)
def test_every_character_is_weighed_a_bounded_number_of_times(
    shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, weighed = SHAPES[shape](400) + "é", 0

    def counting(part: str) -> int:
        nonlocal weighed
        weighed += len(part)
        return weigh(part)

    monkeypatch.setattr(chunk_module, "weigh", counting)
    chunk_text(text, 400, 80)
    # A piece is found by shrinking a slice of the limit's length by a quarter at a time.
    assert weighed <= 32 * len(text)


@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_carried_stays_a_part_of_the_text(shape: str) -> None:
    text = SHAPES[shape](400)
    assert sum(len(chunk.text) for chunk in chunk_text(text, 400, 80)) <= 1.5 * len(text)


# Headings and names.


def test_a_chunk_knows_the_headings_above_it() -> None:
    text = "# Decisions\n## Billing\n" + "we chose Postgres\n" * 5
    assert [chunk.heading for chunk in chunk_text(text, 8, 0)][-1] == "Decisions > Billing"


def test_the_embedded_text_starts_with_the_headings() -> None:
    chunk = Chunk(3, 3, "we chose Postgres", "", "Decisions > Billing")
    assert chunk.embedded_text == "Decisions > Billing\nwe chose Postgres"


def test_without_headings_the_embedded_text_is_the_text() -> None:
    assert Chunk(1, 1, "alone", "").embedded_text == "alone"


@given(texts)
def test_a_chunk_carries_the_hash_of_its_text(text: str) -> None:
    for chunk in chunk_text(text, 8, 2):
        assert chunk.hash == hashlib.sha256(chunk.text.encode("utf-8")).hexdigest()


def test_hash_is_sha256_of_utf8() -> None:
    assert text_hash("é") == "4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c"


def test_a_long_line_is_cut_between_words() -> None:
    line = "aaaa bbbb " * 10
    assert [chunk.text for chunk in chunk_text(line, 8, 0)] == [
        "aaaa bbbb aaaa bbbb aaaa bbbb ",
        "aaaa bbbb aaaa bbbb aaaa bbbb ",
        "aaaa bbbb aaaa bbbb aaaa bbbb ",
        "aaaa bbbb ",
    ]


def test_a_line_without_blanks_near_the_limit_is_cut_at_the_limit() -> None:
    assert [len(chunk.text) for chunk in chunk_text("a " + "b" * 40, 8, 0)] == [32, 10]
