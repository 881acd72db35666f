"""The terms a text is found by."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.text.language import language_of, stemmers, stop_words
from memlines.text.terms import (
    MOST_KNOWN,
    RUN,
    joined_words,
    known_terms,
    parts_of,
    query_terms,
    terms_of,
    title_of,
)


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("en", "decisions", "decision"),
        ("en", "running", "runs"),
        ("nl", "vergaderingen", "vergadering"),
        ("de", "Häuser", "Haus"),
        ("de", "Rechnungen", "Rechnung"),
        ("fr", "décisions", "décision"),
        ("es", "canciones", "canción"),
        ("pt", "reuniões", "reunioes"),
        ("it", "decisioni", "decisione"),
    ],
)
def test_forms_of_a_word_have_one_term(language: str, one: str, other: str) -> None:
    assert terms_of(one, language) == terms_of(other, language)


@pytest.mark.parametrize(
    ("written", "asked"), [("Crème", "creme"), ("STRASSE", "Straße"), ("naïve", "NAIVE"), ("ﬁle", "file")]
)
def test_case_accents_and_ligatures_do_not_matter(written: str, asked: str) -> None:
    assert terms_of(written, "en") == terms_of(asked, "en")


@pytest.mark.parametrize(
    ("identifier", "parts"),
    [
        ("parse_http2Url", ["parse", "http2", "url"]),
        ("HTTPServer", ["http", "server"]),
        ("max_bytes", ["max", "bytes"]),
        ("word", []),
        ("v2", []),
        ("__", []),
    ],
)
def test_parts_of_an_identifier(identifier: str, parts: list[str]) -> None:
    assert parts_of(identifier) == parts


@pytest.mark.parametrize("word", ["vánoce", "größte", "démarrer"])
def test_a_word_with_an_accent_is_no_identifier(word: str) -> None:
    assert parts_of(word) == []


def test_an_identifier_is_kept_whole_and_in_parts() -> None:
    assert terms_of("parse_http2Url", "") == ["_parsehttp2url", "parse", "http2", "url"]


@pytest.mark.parametrize(
    "one", ["invoiceRenderer", "invoice_renderer", "InvoiceRenderer", "INVOICE_RENDERER"]
)
def test_an_identifier_is_the_same_in_every_style(one: str) -> None:
    assert terms_of(one, "en")[0] == "_invoicerender"


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("roll-back", ["roll", "back", "_rollback"]),
        ("Roll\u2011Back", ["roll", "back", "_rollback"]),
        ("gpt-4", ["gpt", "4", "_gpt4"]),
        ("state-of-the-art", ["state", "of", "the", "art", "_stateoftheart"]),
        ("2026-11-17", ["2026", "11", "17"]),
        ("- item", ["item"]),
        ("one - two", ["one", "two"]),
    ],
)
def test_a_word_with_hyphens_is_kept_in_parts_and_as_one(text: str, terms: list[str]) -> None:
    assert terms_of(text, "") == terms


@pytest.mark.parametrize(
    ("query", "joined"),
    [
        ("roll back", {"roll": ["rollback"], "back": ["rollback"]}),
        ("Roll-Back", {"roll": ["rollback"], "back": ["rollback"]}),
        ("set up", {"set": ["setup"], "up": ["setup"]}),
        ("gpt 4", {"gpt": ["gpt4"], "4": ["gpt4"]}),
        ("not able", {}),
        ("roll, back", {}),
        ("\u5317\u4eac roll", {}),
    ],
)
def test_words_side_by_side_may_be_one_word(query: str, joined: dict[str, list[str]]) -> None:
    assert joined_words(query) == joined


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("北京大学", ["北京", "京大", "大学", "学"]),
        ("記憶", ["記憶", "憶"]),
        ("データ", ["デー", "ータ", "タ"]),
        ("서울시", ["서울", "울시", "시"]),
        ("hello世界", ["hello", "世界", "界"]),
    ],
)
def test_scripts_without_blanks_are_kept_in_pairs(text: str, terms: list[str]) -> None:
    assert terms_of(text, "") == terms


def test_voiced_kana_stay_what_they_are() -> None:
    assert terms_of("が", "") != terms_of("か", "")


def test_a_query_word_has_the_stem_of_every_language() -> None:
    terms = query_terms("Rechnungen", ("en", "de"), in_parts=False)
    assert terms == {"rechnungen": ["en"], "rechnung": ["de"]}


@pytest.mark.parametrize("word", ["서울", "가", "が", "北京", "ไทย"[:2]])
def test_a_query_word_of_a_script_without_blanks_stays_as_it_is(word: str) -> None:
    assert query_terms(word, ("en", "de")) == {word: ["en", "de"]}


def test_a_query_identifier_is_asked_for_whole() -> None:
    assert [*query_terms("parse_http2Url", ("",))] == ["parsehttp2url", "_parsehttp2url"]


def test_the_title_is_the_files_name_and_the_headings() -> None:
    assert title_of("memory/people/anna.md", "Team > Anna") == "anna Team > Anna"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("We decided to keep the old server until the end of the year.", "en"),
        ("We hebben besloten om de oude server tot het einde van het jaar te houden.", "nl"),
        ("Wir haben beschlossen, den alten Server bis zum Ende des Jahres zu behalten.", "de"),
        ("Nous avons décidé de garder l'ancien serveur jusqu'à la fin de l'année.", "fr"),
        ("Hemos decidido mantener el servidor viejo hasta el final del año.", "es"),
        ("Decidimos manter o servidor antigo até ao fim do ano para não perder nada.", "pt"),
        ("Abbiamo deciso di tenere il vecchio server fino alla fine dell'anno.", "it"),
        ("Postgres, Redis, nginx", "en"),
        ("", "en"),
    ],
)
def test_the_language_of_a_text(text: str, language: str) -> None:
    assert language_of(text) == language


def test_every_stemmed_language_has_stop_words() -> None:
    assert all(map(stop_words, stemmers()))


@given(st.text(), st.sampled_from(["", *stemmers()]))
def test_terms_never_hold_what_separates_them(text: str, language: str) -> None:
    assert all(term and not any(c.isspace() for c in term) for term in terms_of(text, language))


@given(st.text(), st.text())
def test_a_text_has_the_terms_of_its_lines(one: str, other: str) -> None:
    assert sorted(terms_of(f"{one}\n{other}", "en")) == sorted(terms_of(one, "en") + terms_of(other, "en"))


@given(st.text())
def test_a_query_word_is_found_in_the_text_it_is_taken_from(text: str) -> None:
    for word in text.split():
        for run in RUN.findall(word):
            if run.strip("_"):
                assert not query_terms(run, ("",)).keys().isdisjoint(terms_of(run, ""))


def test_stemmers_are_not_shared_between_threads() -> None:
    expected = terms_of("running decisions " * 200, "en")
    results: list[bool] = []

    def work() -> None:
        results.extend(terms_of("running decisions " * 200, "en") == expected for _ in range(20))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 80


@pytest.mark.promise("P12")
def test_words_that_never_end_are_remembered_up_to_one_number_for_all_languages() -> None:
    for language in ("en", "de", "fr"):
        for begin in range(0, MOST_KNOWN // 2, 1_000):
            words = " ".join(f"word{number}" for number in range(begin, begin + 1_000))
            assert len(terms_of(words, language)) == 1_000
            assert sum(map(len, known_terms)) <= MOST_KNOWN
    assert sum(map(len, known_terms)) > 0
