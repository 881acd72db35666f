"""The provider `local` gives the vectors of the model in the file."""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("gguf")
pytest.importorskip("xllamacpp")

import gguf

from memlines import paths
from memlines.embed.base import embed_documents, embed_query
from memlines.embed.local import provider as local_provider
from memlines.embed.local.provider import DEFAULT_MODEL, LocalProvider, model_file
from memlines.embed.remote.services import prefixes_of
from memlines.embed.select import choose
from memlines.errors import ModelFilesError, ProviderUnreachable, ProviderUnusable, TextsRefused, UsageError
from memlines.settings import Settings
from memlines.settings.tree import Embeddings, Local
from tests.embed.gguf import CLS, MEAN, TinyBert
from tests.waiting import eventually

TEXTS = [
    "we chose postgres for billing",
    "water the tomatoes before the weekend .",
    "who restarted the servers ?",
    "a",
    "the train to cologne was late again , again and again !",
    "unknown words are spelled with letters",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def mean(folder: Path) -> LocalProvider:
    """A provider whose model stays loaded."""
    return _provider(MEAN.write(folder / "mean.gguf"))


@pytest.fixture(scope="module")
def cls(folder: Path) -> LocalProvider:
    return _provider(CLS.write(folder / "cls.gguf"))


@pytest.mark.parametrize("text", TEXTS)
def test_mean_pooling_gives_the_vector_of_the_reference(mean: LocalProvider, text: str) -> None:
    assert embed_query(mean, text) @ MEAN.vector(text) > 0.9999


@pytest.mark.parametrize("text", TEXTS)
def test_cls_pooling_gives_the_vector_of_the_reference(cls: LocalProvider, text: str) -> None:
    assert embed_query(cls, text) @ CLS.vector(text) > 0.9999


def test_the_reference_tells_the_poolings_and_texts_apart() -> None:
    vectors = [model.vector(text) for model in (MEAN, CLS) for text in TEXTS]
    cosines = np.array(vectors) @ np.array(vectors).T
    assert cosines[~np.eye(len(vectors), dtype=bool)].max() < 0.99


def test_a_batch_gives_what_its_texts_give_alone(mean: LocalProvider) -> None:
    alone = [embed_documents(mean, [text])[0] for text in TEXTS]
    assert np.array_equal(embed_documents(mean, TEXTS), alone)


def test_the_order_of_texts_is_kept(mean: LocalProvider) -> None:
    assert np.array_equal(embed_documents(mean, TEXTS[::-1]), embed_documents(mean, TEXTS)[::-1])


def test_vectors_have_unit_length_before_they_are_checked(mean: LocalProvider) -> None:
    assert np.allclose(np.linalg.norm(mean.embed_documents(TEXTS), axis=1), 1)


def test_vectors_are_float32_of_the_stated_length(mean: LocalProvider) -> None:
    vectors = mean.embed_documents(TEXTS)
    assert (str(vectors.dtype), vectors.shape) == ("float32", (len(TEXTS), mean.dims))


def test_threads_get_what_one_gets(mean: LocalProvider) -> None:
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda text: embed_query(mean, text), TEXTS * 10))
    assert np.array_equal(found, np.tile(embed_documents(mean, TEXTS), (10, 1)))


def test_a_question_does_not_wait_for_a_whole_batch(mean: LocalProvider) -> None:
    with ThreadPoolExecutor(1) as threads:
        batch = threads.submit(mean.embed_documents, ["the train is late again " * 12] * 1000)
        while not batch.running():
            pass
        mean.embed_query("who is late ?")
        assert not batch.done()


class Hanging:
    """A llama.cpp that answers when it is let go."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.calls = 0
        self.let_go = threading.Event()

    def handle_embeddings(self, request: str) -> Any:
        self.calls += 1
        self.let_go.wait(30)
        return self.inner.handle_embeddings(request)


@pytest.fixture
def hanging(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[LocalProvider, Hanging]]:
    monkeypatch.setattr(local_provider, "QUERY_SECONDS", 0.2)
    monkeypatch.setattr(local_provider, "PASSAGES_SECONDS", 0.3)
    provider = _provider(MEAN.write(tmp_path / "hangs.gguf"))
    engine = provider._start()
    engine.vector("a", time.monotonic() + 60)
    engine._server = hangs = Hanging(engine._server)
    yield provider, hangs
    hangs.let_go.set()


@pytest.mark.promise("P6")
def test_a_model_that_hangs_is_an_error_after_a_time(hanging: tuple[LocalProvider, Hanging]) -> None:
    provider, _ = hanging
    with pytest.raises(ProviderUnreachable, match=r"hangs\.gguf' did not answer within 0\.2 seconds"):
        provider.embed_query("who is late ?")


def test_passages_get_a_limit_of_their_own_and_the_rest_is_not_embedded(
    hanging: tuple[LocalProvider, Hanging],
) -> None:
    provider, hangs = hanging
    with pytest.raises(ProviderUnreachable, match=r"0\.3 seconds"):
        provider.embed_documents(["a", "b", "c"])
    hangs.let_go.set()
    eventually(lambda: provider._start()._busy.acquire(blocking=False))
    provider._start()._busy.release()
    assert hangs.calls == 1


@pytest.mark.promise("P6")
def test_a_model_that_hangs_is_not_waited_for_again_at_once(hanging: tuple[LocalProvider, Hanging]) -> None:
    provider, hangs = hanging
    for _ in range(3):
        with pytest.raises(ProviderUnreachable):
            provider.embed_query("who is late ?")
    assert hangs.calls == 1


@pytest.mark.promise("P12")
def test_a_turn_that_never_comes_leaves_no_thread_behind(
    hanging: tuple[LocalProvider, Hanging], monkeypatch: pytest.MonkeyPatch
) -> None:
    provider, hangs = hanging
    monkeypatch.setattr("memlines.embed.remote.errors._OUTAGE_SECONDS", 0.0)
    for _ in range(3):
        with pytest.raises(ProviderUnreachable):
            provider.embed_query("who is late ?")

    def threads() -> int:
        return sum(thread.name == "memlines-local" for thread in threading.enumerate())

    eventually(lambda: threads() == 1)  # the one that hangs
    hangs.let_go.set()
    eventually(lambda: threads() == 0)
    assert len(provider.embed_query("who is late ?")) == provider.dims


def test_half_a_surrogate_pair_is_no_problem(mean: LocalProvider) -> None:
    assert embed_query(mean, "a \ud800 b").shape == (32,)


@pytest.mark.parametrize("blank", ["", " \n"])
def test_blank_text_does_not_reach_the_model(mean: LocalProvider, blank: str) -> None:
    with pytest.raises(UsageError, match="text 1 is blank"):
        embed_documents(mean, ["a", blank])


def test_the_longest_text_of_the_limits_fits_whatever_it_says(mean: LocalProvider) -> None:
    text = ". " * (mean.limits.text_bytes // 2)
    assert embed_query(mean, text).shape == (32,)


def test_a_text_longer_than_the_context_is_refused_and_not_cut(mean: LocalProvider) -> None:
    with pytest.raises(TextsRefused, match="up to 128 tokens"):
        embed_query(mean, "a " * 127)


def test_a_refused_text_does_not_harm_the_next(mean: LocalProvider) -> None:
    with pytest.raises(TextsRefused):
        embed_query(mean, "a " * 500)
    assert embed_query(mean, TEXTS[0]) @ MEAN.vector(TEXTS[0]) > 0.9999


def test_a_context_of_any_size_is_used_to_its_end(tmp_path: Path) -> None:
    model = replace(MEAN, context=101)
    provider = _provider(model.write(tmp_path / "odd.gguf"))
    text = " ".join(["a"] * 99)
    assert embed_query(provider, text) @ model.vector(text) > 0.9999


def test_nothing_leaves_the_machine(mean: LocalProvider) -> None:
    assert (mean.id, mean.sends_to, mean.by_sentence) == ("local", "", False)


def test_the_model_is_called_as_its_file(mean: LocalProvider) -> None:
    assert mean.model == "mean.gguf"


def test_a_long_context_is_bounded_to_save_memory(tmp_path: Path) -> None:
    provider = _provider(replace(MEAN, context=8192).write(tmp_path / "long.gguf"))
    assert provider.limits.text_bytes <= 2048


def test_a_context_too_short_for_a_passage_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelFilesError, match="only 16 tokens"):
        _provider(replace(MEAN, context=16).write(tmp_path / "short.gguf"))


def test_the_default_model_is_looked_for_among_the_models_of_the_user(tmp_path: Path) -> None:
    _default_model()
    assert LocalProvider(Embeddings()).model == DEFAULT_MODEL


def test_a_missing_default_model_says_where_it_belongs() -> None:
    with pytest.raises(ModelFilesError, match=r"embeddinggemma-300m-qat-Q8_0\.gguf' does not exist"):
        LocalProvider(Embeddings())


def test_a_tilde_is_the_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    MEAN.write(tmp_path / "own.gguf")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert _provider("~/own.gguf").model == "own.gguf"


@pytest.mark.parametrize(("named", "found"), [("own.gguf", "own.gguf"), (None, DEFAULT_MODEL)])
def test_a_relative_name_is_looked_for_in_the_folder_of_models(
    tmp_path: Path, named: str | None, found: str
) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    MEAN.write(folder / found)
    settings = Embeddings(local=Local(model_path=named, model_cache_dir=str(folder)))
    assert model_file(settings) == folder / found
    assert LocalProvider(settings).model == found
    chosen = choose(Settings(embeddings=settings), {}).provider
    assert chosen is not None
    assert chosen.id == ("local" if named else "builtin")


def test_the_folder_of_models_does_not_move_an_absolute_path(tmp_path: Path) -> None:
    own = tmp_path / "own.gguf"
    settings = Embeddings(local=Local(model_path=str(own), model_cache_dir=str(tmp_path / "models")))
    assert model_file(settings) == own


def test_questions_get_the_prefix_of_the_model(mean: LocalProvider) -> None:
    _default_model()
    prefix = prefixes_of(DEFAULT_MODEL)[0]
    assert prefix
    found = embed_query(LocalProvider(Embeddings()), "who is late ?")
    assert np.array_equal(found, embed_query(mean, f"{prefix}who is late ?"))


def test_passages_get_the_prefix_of_the_model(mean: LocalProvider) -> None:
    _default_model()
    prefix = prefixes_of(DEFAULT_MODEL)[1]
    assert prefix
    found = embed_documents(LocalProvider(Embeddings()), ["the train is late"])
    assert np.array_equal(found, embed_documents(mean, [f"{prefix}the train is late"]))


def test_the_same_file_has_the_same_key(tmp_path: Path, mean: LocalProvider) -> None:
    assert _provider(MEAN.write(tmp_path / "mean.gguf")).key == mean.key


@pytest.mark.parametrize("other", [replace(MEAN, seed=8), CLS])
def test_another_file_of_the_same_name_has_another_key(
    tmp_path: Path, mean: LocalProvider, other: TinyBert
) -> None:
    assert _provider(other.write(tmp_path / "mean.gguf")).key != mean.key


def test_another_prefix_is_another_key(tmp_path: Path, mean: LocalProvider) -> None:
    assert _provider(MEAN.write(tmp_path / DEFAULT_MODEL)).key != mean.key


def test_an_absent_package_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(ProviderUnusable, match=r"pip install 'memlines\[local\]'"):
        _provider(MEAN.write(tmp_path / "a.gguf"))


def test_a_package_that_does_not_load_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    provider = _provider(replace(MEAN, seed=9).write(tmp_path / "a.gguf"))
    monkeypatch.setattr(sys, "executable", "")
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(ProviderUnusable, match="xllamacpp cannot be loaded"):
        provider.embed_query("a")


@pytest.mark.parametrize(
    ("pooling", "message"),
    [
        (gguf.PoolingType.RANK, "reranker"),
        (gguf.PoolingType.NONE, "not made for embeddings"),
        (None, "not made for embeddings"),
    ],
)
def test_a_model_for_something_else_is_refused(
    tmp_path: Path, pooling: gguf.PoolingType | None, message: str
) -> None:
    with pytest.raises(ModelFilesError, match=message):
        _provider(replace(MEAN, pooling=pooling).write(tmp_path / "other.gguf"))


def test_an_architecture_that_llama_cpp_does_not_know_is_named(tmp_path: Path) -> None:
    provider = _provider(replace(MEAN, architecture="frobnicate").write(tmp_path / "a.gguf"))
    with pytest.raises(ModelFilesError, match="unknown model architecture: 'frobnicate'"):
        provider.embed_query("a")


@pytest.mark.promise("P6")
def test_a_model_that_stops_its_process_is_refused_and_not_loaded(tmp_path: Path) -> None:
    content = MEAN.write(tmp_path / "a.gguf").read_bytes()
    twice = content.replace("\u2581billing".encode(), "\u2581cologne".encode())
    (tmp_path / "a.gguf").write_bytes(twice)
    provider = _provider(tmp_path / "a.gguf")
    with pytest.raises(ModelFilesError, match="GGML_ASSERT"):
        provider.embed_query("a")


def test_a_model_that_was_tried_is_remembered(tmp_path: Path) -> None:
    _provider(replace(MEAN, seed=10).write(tmp_path / "a.gguf")).embed_query("a")
    assert len(list((paths.user_cache_dir() / "models" / "tried").iterdir())) == 1


def test_a_model_is_used_where_nothing_can_be_remembered(tmp_path: Path) -> None:
    paths.user_cache_dir().parent.mkdir(parents=True, exist_ok=True)
    paths.user_cache_dir().write_text("a file where a folder should be", encoding="utf-8")
    provider = _provider(replace(MEAN, seed=11).write(tmp_path / "a.gguf"))
    assert provider.embed_query("a").shape == (32,)


def test_a_file_replaced_before_the_first_text_is_refused(tmp_path: Path) -> None:
    provider = _provider(MEAN.write(tmp_path / "a.gguf"))
    CLS.write(tmp_path / "a.gguf")
    with pytest.raises(ModelFilesError, match="replaced"):
        provider.embed_query("a")


def test_a_temporary_folder_with_too_long_a_name_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = _provider(replace(MEAN, seed=12).write(tmp_path / "a.gguf"))
    deep = tmp_path / ("long" * 25)
    deep.mkdir()
    monkeypatch.setattr(sys, "executable", "")
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    with pytest.raises(ProviderUnusable, match="TMPDIR"):
        provider.embed_query("a")


def _provider(path: Path | str) -> LocalProvider:
    return LocalProvider(Embeddings(local=Local(model_path=str(path), threads=1)))


def _default_model() -> None:
    folder = paths.user_cache_dir() / "models"
    folder.mkdir(parents=True)
    MEAN.write(folder / DEFAULT_MODEL)
