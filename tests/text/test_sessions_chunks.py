"""How conversations are cut into chunks along their turns."""

from __future__ import annotations

import re
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.text.chunk import limit_of, text_hash, weigh
from memlines.text.turns import chunk_turns
from memlines.types import Chunk, Role, Turn

TOKENS, OVERLAP = 400, 80
LIMIT = limit_of(TOKENS)


def cut(*turns: Turn, tokens: int = TOKENS, overlap: int = OVERLAP) -> list[Chunk]:
    return chunk_turns(turns, "2026-03-01 09:30", tokens, overlap)


def lines(chunks: list[Chunk]) -> list[tuple[int, int]]:
    return [(chunk.start_line, chunk.end_line) for chunk in chunks]


def talk(*words: int) -> list[Turn]:
    """Return turns of so many words, by turns of user and assistant, on every other line from the second.

    A word tells the line of its turn and its own place in it: `L2x0 L2x1 …`.
    """
    return [
        Turn("assistant" if place % 2 else "user", said(2 + 2 * place, count), 2 + 2 * place)
        for place, count in enumerate(words)
    ]


def said(line: int, words: int) -> str:
    return " ".join(f"L{line}x{place}" for place in range(words))


def words_in(text: Chunk | Turn) -> list[tuple[int, int]]:
    """Return the words of a chunk or a turn as line and place."""
    return [(int(line), int(place)) for line, place in re.findall(r"L(\d+)x(\d+)", text.text)]


# What a chunk looks like.


def test_the_golden_example() -> None:
    (chunk,) = cut(Turn("user", "Which port?", 2), Turn("assistant", "Port 5433.", 4))
    text = "User: Which port?\nAssistant: Port 5433."
    assert chunk == Chunk(2, 4, text, text_hash(text), "2026-03-01 09:30", ((0, 2), (1, 4)))


def test_a_chunk_knows_the_line_of_every_turn() -> None:
    (chunk,) = cut(Turn("user", "One.\nTwo.", 2), Turn("assistant", "Three.", 9), Turn("user", "Four.", 10))
    assert chunk.turns == ((0, 2), (2, 9), (3, 10))


def test_no_turns() -> None:
    assert cut() == []


def test_only_the_assistant_speaks() -> None:
    assert lines(cut(Turn("assistant", "Hello", 3))) == [(3, 3)]


def test_a_question_without_an_answer() -> None:
    assert lines(cut(Turn("user", "Hello?", 3), Turn("user", "Anybody?", 5))) == [(3, 5)]


def test_paragraphs_and_indentation_stay_and_other_white_space_goes() -> None:
    (chunk,) = cut(Turn("user", "one  two \t three  \n\n\n\nif x:\n    y\n ", 1))
    assert chunk.text == "User: one two three\n\nif x:\n    y"


def test_a_long_turn_bears_its_role_in_every_piece_and_marks_where_it_was_cut() -> None:
    first, middle, last = [chunk.text for chunk in cut(Turn("user", said(1, 600), 1))]
    assert [bool(re.match(r"User: … L1x\d", piece)) for piece in (first, middle, last)] == [False, True, True]
    assert [piece.endswith(" …") for piece in (first, middle, last)] == [True, True, False]


@pytest.mark.parametrize("break_", ["\n\n", "\n", ". ", " "])
def test_a_long_turn_is_cut_where_it_pauses(break_: str) -> None:
    text = "x" * 1200 + break_ + "y" * 1200
    assert [chunk.text[-3:] for chunk in cut(Turn("user", text, 1))] == [
        "x. …"[-3:] if break_ == ". " else "x …",
        "yyy",
    ]


def test_the_last_piece_is_no_scrap() -> None:
    assert min(len(chunk.text) for chunk in cut(Turn("user", said(1, 250), 1))) > LIMIT // 3


# What stands together.


def test_short_exchanges_share_a_chunk() -> None:
    assert lines(cut(*talk(10, 10, 10, 10))) == [(2, 8)]


def test_whole_turns_are_carried_into_the_next_chunk() -> None:
    first, second = cut(*talk(*[30] * 12))
    assert words_in(first)[-30:] == words_in(second)[:30]


def test_nothing_is_carried_without_overlap() -> None:
    first, second = cut(*talk(*[30] * 12), overlap=0)
    assert first.end_line < second.start_line


def test_the_beginning_of_a_long_answer_stands_with_its_question() -> None:
    first = cut(*talk(20, 900))[0]
    assert {(2, 19), (4, 0)} <= set(words_in(first))


def test_the_rest_of_a_long_answer_stands_under_its_question() -> None:
    rest = cut(*talk(20, 900, 20))[1:]
    assert {line for chunk in rest for line, _ in words_in(chunk)} == {2, 4}


def test_a_long_question_is_cut_short_above_the_rest_of_its_answer() -> None:
    last = cut(*talk(150, 900))[-1]
    assert len([line for line, _ in words_in(last) if line == 2]) < 50


def test_what_a_user_says_after_a_long_answer_is_not_in_a_chunk_with_the_rest_of_it() -> None:
    (chunk,) = [chunk for chunk in cut(*talk(20, 900, 20, 10)) if (6, 0) in words_in(chunk)]
    assert max(place for line, place in words_in(chunk) if line == 4) < 100


def test_many_answers_in_a_row_are_one_long_answer() -> None:
    turns = [Turn("user", said(1, 10), 1), *(Turn("assistant", said(n, 40), n) for n in range(2, 20))]
    (chunk,) = [chunk for chunk in cut(*turns) if (1, 9) in words_in(chunk) and chunk.start_line == 1][:1]
    assert len(chunk.text) < LIMIT // 2


def test_a_question_that_fills_a_chunk_leaves_its_answer_to_other_chunks() -> None:
    first, second = cut(*talk(240, 100))
    assert (lines([first]), (4, 0) in words_in(second)) == ([(2, 2)], True)


# Promises for every conversation.

counts = st.integers(1, 40) | st.integers(1, 900)
conversations = st.lists(st.tuples(st.sampled_from(["user", "assistant"]), counts), max_size=12)
budgets = st.integers(60, 500)


def turns_of(conversation: list[tuple[Role, int]]) -> list[Turn]:
    return [
        Turn(role, said(2 + 2 * place, count), 2 + 2 * place)
        for place, (role, count) in enumerate(conversation)
    ]


@given(conversations, budgets, st.integers(0, 200))
def test_a_chunk_begins_and_ends_with_turns_of_its_lines(
    conversation: list[tuple[Role, int]], tokens: int, overlap: int
) -> None:
    for chunk in cut(*turns_of(conversation), tokens=tokens, overlap=overlap):
        seen = [line for line, _ in words_in(chunk)]
        assert (min(seen), max(seen)) == (chunk.start_line, chunk.end_line)


@given(conversations, budgets, st.integers(0, 200))
def test_every_word_is_in_a_chunk(conversation: list[tuple[Role, int]], tokens: int, overlap: int) -> None:
    turns = turns_of(conversation)
    covered = {word for chunk in cut(*turns, tokens=tokens, overlap=overlap) for word in words_in(chunk)}
    assert covered == {word for turn in turns for word in words_in(turn)}


@given(
    st.lists(
        st.tuples(st.sampled_from(["user", "assistant"]), st.text("ab .\n 漢字", min_size=1, max_size=400))
    ),
    st.integers(1, 60),
    st.integers(0, 60),
)
def test_no_chunk_is_heavier_than_the_limit(
    conversation: list[tuple[Role, str]], tokens: int, overlap: int
) -> None:
    turns = [Turn(role, text, line) for line, (role, text) in enumerate(conversation, 1)]
    chunks = cut(*turns, tokens=tokens, overlap=overlap)
    assert all(weigh(chunk.text) <= limit_of(tokens) for chunk in chunks)


@given(st.text("ab .\n\t 漢字", min_size=1, max_size=2000).filter(str.strip), st.integers(1, 60))
def test_the_pieces_of_a_long_turn_are_all_of_it(text: str, tokens: int) -> None:
    chunks = cut(Turn("user", text, 1), tokens=tokens, overlap=0)
    shown = "".join(chunk.text.removeprefix("User: ").replace("…", "") for chunk in chunks)
    assert "".join(shown.split()) == "".join(text.split())


@given(conversations, budgets)
def test_everything_a_user_says_is_in_a_chunk_where_no_answer_is_long(
    conversation: list[tuple[Role, int]], tokens: int
) -> None:
    turns = turns_of(conversation)
    calm: set[tuple[int, int]] = set()
    for chunk in cut(*turns, tokens=tokens):
        spoken = groupby(chunk.text.split("\n"), key=lambda part: part.split(":")[0])
        longest = max((len("\n".join(parts)) for who, parts in spoken if who == "Assistant"), default=0)
        if longest <= limit_of(tokens) // 3:
            calm.update(words_in(chunk))
    assert {word for turn in turns if turn.role == "user" for word in words_in(turn)} <= calm
