"""The one place where vectors are checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from memlines.embed.base import Provider, embed_documents, embed_query, to_blobs, validated
from memlines.errors import BadVectors, UsageError
from tests.providers import ROOMY

if TYPE_CHECKING:
    from memlines.embed.base import Vector, Vectors


class FakeProvider(Provider):
    """Answers with what it was given and remembers what it was asked."""

    id = "fake"
    model = "fake-1"
    dims = 3
    key = "local"
    limits = ROOMY

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked: list[str] = []

    def embed_query(self, text: str) -> Vector:
        self.asked.append(text)
        vector: Vector = self.answer[0]
        return vector

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        self.asked.extend(texts)
        vectors: Vectors = self.answer
        return vectors


def test_rows_come_back_with_unit_length() -> None:
    assert np.allclose(validated([[3.0, 4.0], [0.0, -2.0]], 2, 2), [[0.6, 0.8], [0.0, -1.0]])


def test_the_result_is_float32() -> None:
    assert validated(np.ones((1, 4), dtype=np.float64), 1, 4).dtype == np.float32


def test_integers_are_numbers() -> None:
    assert np.allclose(validated([[0, 2]], 1, 2), [[0.0, 1.0]])


@pytest.mark.parametrize("factor", [1e300, 1e-300, 5e-324])
def test_very_large_and_very_small_numbers_are_no_problem(factor: float) -> None:
    assert np.allclose(validated([[factor, 0.0]], 1, 2), [[1.0, 0.0]])


def test_no_texts_give_no_rows() -> None:
    assert validated([], 0, 5).shape == (0, 5)


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        ([[1.0, 0.0]], "1 vectors for 2 texts"),
        ([[1.0, 0.0]] * 3, "3 vectors for 2 texts"),
        ([[1.0, 0.0], [1.0]], r"shape \(1,\) instead of \(2,\) for text 1"),
        ([[1.0, 0.0], 7.0], "for text 1"),
        ([[1.0, 0.0], None], "for text 1"),
        ([[1.0, 0.0], "ab"], "for text 1"),
        (np.ones((2, 3)), r"shape \(3,\) instead of \(2,\) for text 0"),
        (np.ones((2, 2, 1)), "for text 0"),
        ([[1.0, 0.0], [float("nan"), 1.0]], "not finite for text 1"),
        ([[float("-inf"), 0.0], [0.0, 1.0]], "not finite for text 0"),
        ([[1.0, 0.0], [0.0, 0.0]], "nothing but zeros for text 1"),
        ([[1.0, 0.0], [None, 1.0]], "other than numbers for text 1"),
        ([[1.0, 0.0], ["1", "2"]], "other than numbers for text 1"),
    ],
)
def test_what_is_no_vector_is_refused(vectors: Any, message: str) -> None:
    with pytest.raises(BadVectors, match=message):
        validated(vectors, 2, 2)


def test_a_bad_answer_names_the_provider() -> None:
    with pytest.raises(BadVectors, match=r"'fake' \(model 'fake-1'\)"):
        embed_documents(FakeProvider([]), ["a"])


def test_documents_are_checked_and_normalised() -> None:
    assert np.allclose(embed_documents(FakeProvider([[0, 0, 9]]), ["a"]), [[0, 0, 1]])


def test_a_query_is_checked_and_normalised() -> None:
    assert np.allclose(embed_query(FakeProvider([[0, 5, 0]]), "a"), [0, 1, 0])


def test_a_bad_query_vector_is_refused() -> None:
    with pytest.raises(BadVectors):
        embed_query(FakeProvider([[0, 0, 0]]), "a")


def test_no_documents_do_not_reach_the_provider() -> None:
    provider = FakeProvider(None)
    assert embed_documents(provider, []).shape == (0, 3)
    assert provider.asked == []


@pytest.mark.parametrize("blank", ["", " ", "\n\t", "\u3000"])
def test_a_blank_query_does_not_reach_the_provider(blank: str) -> None:
    provider = FakeProvider([[1, 0, 0]])
    with pytest.raises(UsageError):
        embed_query(provider, blank)
    assert provider.asked == []


def test_a_blank_document_is_named_and_nothing_is_sent() -> None:
    provider = FakeProvider([[1, 0, 0]] * 2)
    with pytest.raises(UsageError, match="text 1 is blank"):
        embed_documents(provider, ["a", " \n"])
    assert provider.asked == []


def test_blobs_are_little_endian_float32() -> None:
    assert to_blobs(np.array([[1.0, -2.0]], dtype=np.float32)) == [b"\x00\x00\x80\x3f\x00\x00\x00\xc0"]
