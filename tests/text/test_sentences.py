"""The sentences of a chunk, and their vectors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.embed.base import Limits, embed_documents, embed_query, to_blobs
from memlines.embed.codec import cosines, encode, is_packed, sentence_cosines, sentence_size, unpack
from memlines.embed.passages import embed_passages
from memlines.text.chunk import pieces_of, sentences_of
from tests.indexes import reading, sync, write
from tests.providers import FakeProvider

TEXT = "The zebra crosses the road. An okapi hides in the forest!\n- a giraffe eats leaves\n"
FINE = FakeProvider(by_sentence=True)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        (
            TEXT,
            ["The zebra crosses the road.", "An okapi hides in the forest!", "a giraffe eats leaves"],
        ),
        ("## Heading here\n\n> a quoted line", ["Heading here", "a quoted line"]),
        ("猫は屋根の上にいる。犬は庭で寝ている！", ["猫は屋根の上にいる。", "犬は庭で寝ている！"]),  # noqa: RUF001
        ("short\nok", []),
        ("", []),
        ("the same line\nthe same line", ["the same line"]),
    ],
)
def test_sentences_lines_and_list_items(text: str, sentences: list[str]) -> None:
    assert sentences_of(text) == sentences


@given(st.text())
def test_every_sentence_is_in_the_text(text: str) -> None:
    assert all(sentence in text for sentence in sentences_of(text))


@given(st.text(alphabet="ab. \n", max_size=3_000))
def test_a_chunk_has_a_bounded_number_of_sentences(text: str) -> None:
    assert len(sentences_of(text)) <= 32


def test_a_passage_is_its_vector_and_those_of_its_sentences() -> None:
    blob = embed_passages(FINE, [TEXT])[0]
    vector, sentences = unpack(blob, FINE.dims)
    assert [vector] == encode(embed_documents(FINE, [TEXT]))
    assert len(sentences) == 3 * sentence_size(FINE.dims)


def test_a_provider_that_does_not_want_them_embeds_no_sentences() -> None:
    provider = FakeProvider()
    assert [len(blob) for blob in embed_passages(provider, [TEXT, "more"])] == [64, 64]
    assert provider.texts == [TEXT, "more"]


def test_packed_blobs_are_told_from_others() -> None:
    assert [is_packed(bytes(size), 64) for size in (64, 84, 104, 20, 65)] == [
        True,
        True,
        True,
        False,
        False,
    ]


def test_the_best_sentence_has_nearly_its_true_cosine() -> None:
    query = embed_query(FINE, "okapi hides in the forest")
    asked = to_blobs(query[None, :])[0]
    packed = embed_passages(FINE, [TEXT, TEXT * 2])
    (vector, sentences), (longer, others) = (unpack(blob, 64) for blob in packed)
    true = float(np.max(embed_documents(FINE, sentences_of(TEXT)) @ query))
    passages = dict(enumerate(cosines(asked, [vector, longer])))
    found = sentence_cosines(asked, {0: sentences, 1: others}, passages)
    assert {number: max(each) for number, each in found.items()} == pytest.approx({0: true, 1: true}, abs=0.1)


def test_without_sentences_there_are_no_cosines() -> None:
    assert sentence_cosines(bytes(256), {}, {}) == {}


def test_the_index_keeps_sentences_until_their_chunk_goes(workspace: Path) -> None:
    write(workspace, {"memory/a.md": TEXT})
    sync(workspace, FakeProvider(by_sentence=True))
    with reading(workspace) as index:
        assert [len(blob) for blob in index.vectors.sentences([1]).values()] == [3 * 20]
    (workspace / "memory/a.md").unlink()
    sync(workspace, FakeProvider(by_sentence=True))
    with reading(workspace) as index:
        assert index.connection.execute("SELECT count(*) FROM chunks_sentences").get == 0


def test_a_rebuild_embeds_no_sentence_again(workspace: Path) -> None:
    write(workspace, {"memory/a.md": TEXT})
    small = {"cache.max_entries": 1}
    sync(workspace, FakeProvider(by_sentence=True), settings=small)
    provider = FakeProvider(by_sentence=True)
    sync(workspace, provider, settings=small, force=True)
    with reading(workspace) as index:
        kept = list(index.vectors.sentences([1]).values())
    assert (provider.texts, [len(blob) for blob in kept]) == ([], [3 * 20])


# Pieces of what is too long


@given(st.text(max_size=300), st.integers(4, 60))
def test_pieces_fit_and_leave_out_nothing_but_white_space(text: str, most: int) -> None:
    pieces = pieces_of(text, most)
    assert all(len(piece.encode()) <= most for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join(text.split())


def test_a_text_that_fits_is_its_own_piece() -> None:
    assert pieces_of("as it is\n", 100) == ["as it is\n"]


def test_a_text_is_cut_after_a_line_if_it_can_be() -> None:
    assert pieces_of("first line here\nsecond line here", 20) == ["first line here\n", "second line here"]


def test_a_word_is_cut_only_if_it_must_be() -> None:
    assert pieces_of("one two three four", 10) == ["one two ", "three four"]


class Narrow(FakeProvider):
    """Takes twenty bytes at most."""

    def __init__(self) -> None:
        super().__init__(limits=Limits(text_bytes=20, request_bytes=1000, request_texts=100))


def test_a_passage_in_pieces_has_their_mean_and_each_of_them() -> None:
    provider = Narrow()
    (packed,) = embed_passages(provider, ["zebra zebra zebra\nokapi okapi okapi\n"])
    vector, pieces = unpack(packed, provider.dims)
    assert provider.texts == ["zebra zebra zebra\n", "okapi okapi okapi\n"]
    assert len(pieces) == 2 * sentence_size(provider.dims)
    for word in ("zebra", "okapi"):
        query = to_blobs(embed_query(provider, word)[None, :])[0]
        (cosine,) = cosines(query, [vector])
        assert cosine > 0.5
        assert max(sentence_cosines(query, {1: pieces}, {1: cosine})[1]) == pytest.approx(1.0, abs=0.1)


def test_a_passage_that_fits_has_no_pieces() -> None:
    provider = Narrow()
    (packed,) = embed_passages(provider, ["zebra"])
    assert unpack(packed, provider.dims)[1] == b""
