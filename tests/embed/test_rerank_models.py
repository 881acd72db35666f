"""Rerankers on this machine give the scores of the model in their files, in time."""

from __future__ import annotations

import importlib.util
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from memlines.embed.rerank import onnx as onnx_reranker
from memlines.embed.rerank.base import Reranker
from memlines.embed.rerank.local import LocalReranker
from memlines.embed.rerank.onnx import OnnxReranker
from memlines.errors import ModelFilesError, ProviderUnusable
from memlines.settings.rerank import Rerank
from tests.embed import tiny_onnx
from tests.embed.gguf import MEAN, RANK

QUERY = "which database did billing pick"
TEXTS = ["the train was late", "we chose postgres for billing", "billing did pick the database", "tea"]


def ask(reranker: Reranker, query: str, texts: list[str], seconds: float = 60) -> list[float]:
    return reranker.score(query, texts, time.monotonic() + seconds)


def in_folder(folder: Path) -> OnnxReranker:
    return OnnxReranker(Rerank(provider="onnx", path=str(folder)))


# onnx


def test_an_onnx_model_scores_pairs(tmp_path: Path) -> None:
    reranker = in_folder(tiny_onnx.write(tmp_path / "tiny"))

    assert ask(reranker, QUERY, TEXTS) == [tiny_onnx.score_of(QUERY, text) for text in TEXTS]
    assert (reranker.id, reranker.model, reranker.sends_to, reranker.place) == ("onnx", "tiny", "", "")


def test_more_pairs_than_fit_into_one_run_keep_their_order(tmp_path: Path) -> None:
    texts = [" ".join(["billing"] * count) for count in (9, 1, 7, 3, 5, 2, 8, 4, 6, 1, 3)]

    scores = ask(in_folder(tiny_onnx.write(tmp_path)), "billing", texts)

    assert scores == [1.0 + len(text.split()) for text in texts]


def test_texts_are_not_made_as_long_as_the_tokenizer_says(tmp_path: Path) -> None:
    reranker = in_folder(tiny_onnx.write(tmp_path, padded_to=512))
    reranker.load()

    assert len(reranker._tokenizer.encode(QUERY, "tea").ids) == len([*QUERY.split(), "tea"]) + 3


def test_a_text_longer_than_the_model_reads_is_cut(tmp_path: Path) -> None:
    scores = ask(in_folder(tiny_onnx.write(tmp_path)), "billing", ["billing " * 2_000])
    assert scores == [1.0 + 512 - len(["[CLS]", "billing", "[SEP]", "[SEP]"])]


def test_half_a_surrogate_pair_is_no_reason_to_fail(tmp_path: Path) -> None:
    assert ask(in_folder(tiny_onnx.write(tmp_path)), "billing \udcff", ["billing \udcff"])[0] >= 2


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
def test_a_missing_file_is_named(tmp_path: Path, missing: str) -> None:
    tiny_onnx.write(tmp_path)
    (tmp_path / missing).unlink()

    with pytest.raises(ModelFilesError, match=f"has no {missing}"):
        in_folder(tmp_path)


@pytest.mark.parametrize("damaged", ["model.onnx", "tokenizer.json"])
def test_a_damaged_file_is_an_error_of_ours(tmp_path: Path, damaged: str) -> None:
    tiny_onnx.write(tmp_path)
    (tmp_path / damaged).write_bytes(b"nonsense")

    with pytest.raises(ModelFilesError, match="cannot be loaded"):
        ask(in_folder(tmp_path), QUERY, TEXTS)


def test_a_model_with_two_numbers_a_pair_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelFilesError, match="one finite number"):
        ask(in_folder(tiny_onnx.write(tmp_path, numbers=2)), QUERY, TEXTS)


def test_a_model_with_other_inputs_is_refused(tmp_path: Path) -> None:
    tiny_onnx.write(tmp_path, inputs=(*tiny_onnx.INPUTS, "pixel_values"))

    with pytest.raises(ModelFilesError, match="'pixel_values'"):
        ask(in_folder(tmp_path), QUERY, TEXTS)


def test_without_a_path_it_says_what_to_set() -> None:
    with pytest.raises(ProviderUnusable) as caught:
        OnnxReranker(Rerank(provider="onnx"))
    assert caught.value.todo == "Set rerank.path to a folder with model.onnx and tokenizer.json"


def test_without_the_package_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny_onnx.write(tmp_path)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)

    with pytest.raises(ProviderUnusable) as caught:
        in_folder(tmp_path)
    assert caught.value.todo == "Run: pip install 'memlines[rerank]'"


def test_a_run_that_cannot_begin_in_time_is_a_time_out(tmp_path: Path) -> None:
    reranker = in_folder(tiny_onnx.write(tmp_path))
    reranker.load()
    with onnx_reranker._RUNNING, pytest.raises(TimeoutError):
        ask(reranker, QUERY, TEXTS, seconds=0.05)


def test_several_threads_get_their_own_scores(tmp_path: Path) -> None:
    reranker = in_folder(tiny_onnx.write(tmp_path))
    found: dict[str, list[float]] = {}
    queries = ["billing", "tea", "train late"]
    threads = [
        threading.Thread(target=lambda query=query: found.update({query: ask(reranker, query, TEXTS)}))
        for query in queries
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found == {query: [tiny_onnx.score_of(query, text) for text in TEXTS] for query in queries}


# local


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> LocalReranker:
    """A reranker whose model stays loaded."""
    path = RANK.write(tmp_path_factory.mktemp("models") / "rank.gguf")
    return LocalReranker(Rerank(provider="local", path=str(path)))


def test_a_gguf_model_scores_pairs(local: LocalReranker) -> None:
    texts = ["we chose postgres for billing", "the train was late again"]
    query = "who chose postgres"

    expected = [RANK.score(query, text) for text in texts]

    # llama.cpp computes attention with less precision than numpy does
    assert np.allclose(ask(local, query, texts), expected, atol=0.02)
    assert abs(expected[0] - expected[1]) > 0.05


def test_texts_longer_than_a_gguf_model_reads_are_cut(local: LocalReranker) -> None:
    assert len(ask(local, "postgres " * 500, ["billing " * 500, "tea"])) == 2


def test_a_gguf_model_stops_between_two_texts(local: LocalReranker) -> None:
    with pytest.raises(TimeoutError):
        ask(local, QUERY, TEXTS, seconds=0)


def test_a_gguf_model_for_embeddings_is_refused(tmp_path: Path) -> None:
    path = MEAN.write(tmp_path / "mean.gguf")
    with pytest.raises(ModelFilesError) as caught:
        LocalReranker(Rerank(provider="local", path=str(path)))
    assert caught.value.todo == "Set rerank.path to a GGUF reranker"


def test_a_missing_gguf_file_is_named_with_its_setting(tmp_path: Path) -> None:
    with pytest.raises(ModelFilesError) as caught:
        LocalReranker(Rerank(provider="local", path=str(tmp_path / "none.gguf")))
    assert caught.value.todo == "Put the file there, or set rerank.path"


def test_a_gguf_model_that_llama_cpp_refuses_is_an_error_of_ours(tmp_path: Path) -> None:
    path = replace(RANK, architecture="unheard-of").write(tmp_path / "odd.gguf")
    with pytest.raises(ModelFilesError) as caught:
        ask(LocalReranker(Rerank(provider="local", path=str(path))), QUERY, TEXTS)
    assert caught.value.todo == "Use a GGUF reranker, or set rerank.provider to none"
