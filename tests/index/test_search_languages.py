"""A stem finds the words of its own language: what another language would cut to it is another word."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.index.search.matches import Matcher
from memlines.index.search.words import find, look_up
from memlines.index.store.sqlite.index import Index
from memlines.text.chunk import text_hash
from memlines.text.language import stemmers
from memlines.text.terms import terms_of
from memlines.types import Chunk
from tests.indexes import IDENTITY, document
from tests.memories import words_memory

NOTES = {
    "en": "The new server was moved to the second floor, and this is what we have of it.",
    "nl": "De nieuwe server is naar de tweede verdieping verhuisd en dat is wat we ervan hebben.",
    "de": "Der neue Server ist in den zweiten Stock umgezogen, und das ist alles, was wir davon haben.",
    "fr": "Le nouveau serveur est dans la cuisine et nous avons tout ce que les autres ont dit.",
    "es": "El servidor nuevo está en la cocina y no tenemos nada de lo que los otros han dicho.",
    "pt": "O servidor novo está na cozinha e não temos nada do que os outros disseram para nós.",
    "it": "Il server nuovo è nella cucina e non abbiamo niente di quello che gli altri hanno detto.",
}
"""A note of each language, so that the index holds its stems."""


@pytest.mark.parametrize(
    ("language", "text", "other", "query"),
    [
        ("en", "The teams are both of one mind about it.", "de", "bother"),
        ("en", "The rats are what we have to get rid of.", "fr", "rates"),
        ("en", "The cars are what we have to wash of it.", "it", "care"),
        ("en", "The water is deep, and this is what we know of it.", "nl", "depends"),
        ("en", "The errors are what we logged, and not the rest of it.", "it", "logo"),
        ("es", "Los casos son lo que no está en los otros, y nada más que eso.", "fr", "casi"),
        ("es", "Las manos son lo que los otros han dicho, y no es nada más.", "pt", "manera"),
    ],
)
def test_a_stem_of_one_language_does_not_match_in_another(
    workspace: Path, language: str, text: str, other: str, query: str
) -> None:
    shared = set(terms_of(query, other)) & set(terms_of(text, language))
    assert shared, "the languages would make the same term of different words"

    notes = {f"{code}.md": f"{NOTES[code]}\n" for code in (language, other)}
    with words_memory(workspace, notes | {"a.md": f"{text}\n"}) as memory:
        result = memory.search(query, min_score=0)
    assert [(hit.path, hit.why.words) for hit in result if hit.path == "memory/a.md"] == []


@pytest.mark.parametrize(
    ("language", "written", "asked", "named"),
    [
        ("en", "decisions", "decision", "decision"),
        ("nl", "vergaderingen", "vergadering", "vergadering"),
        ("de", "Rechnungen", "rechnung", "rechnung"),
        ("fr", "réunions", "réunion", "réunion"),
        ("es", "canciones", "canción", "canción"),
        ("pt", "ligações", "ligação", "ligacoes"),  # met by a correction, and named as the notes spell it
        ("it", "decisioni", "decisione", "decisione"),
    ],
)
def test_forms_of_a_word_meet_in_an_index_of_every_language(
    workspace: Path, language: str, written: str, asked: str, named: str
) -> None:
    notes = {f"{code}.md": f"{text}\n" for code, text in NOTES.items()}
    notes["a.md"] = f"{NOTES[language]} {written}.\n"
    with words_memory(workspace, notes) as memory:
        result = memory.search(asked, min_score=0)
    assert [(hit.path, hit.why.words) for hit in result] == [("memory/a.md", (named,))]


def test_a_word_counts_as_unknown_if_only_another_language_has_its_stem(workspace: Path) -> None:
    notes = {"de.md": f"{NOTES['de']}\n", "a.md": "The teams are both of one mind about it.\n"}
    with words_memory(workspace, notes) as memory:
        memory.sync()
    index = Index.reader(workspace / ".memory/index.sqlite")
    assert index is not None
    with index:
        assert [(term.word, term.chunks) for term in look_up(index, "bother").terms] == [("bother", 0)]


def test_a_few_chunks_of_another_language_do_not_change_a_score(workspace: Path) -> None:
    notes = {f"n{number}.md": f"{NOTES['en']} Number {number}.\n" for number in range(20)}
    notes["a.md"] = f"{NOTES['en']} Kestrels are hovering.\n"
    with words_memory(workspace, notes) as memory:
        alone = memory.search("kestrel hovers", min_score=0).hits[0]
        (workspace / "memory/de.md").write_text(f"{NOTES['de']}\n", encoding="utf-8")
        beside = memory.search("kestrel hovers", min_score=0).hits[0]
    assert beside.score == pytest.approx(alone.score, abs=0.01)


def test_an_index_without_marks_answers_until_it_is_rebuilt(workspace: Path) -> None:
    notes = {f"{code}.md": f"{NOTES[code]}\n" for code in ("en", "de")}
    with words_memory(workspace, notes) as memory:
        memory.sync()
    with Index.writer(workspace / ".memory/index.sqlite", IDENTITY) as index:
        rows = [
            (number, " ".join(terms_of(text, language)))
            for number, language, text in index.connection.execute(
                "SELECT number, language, text FROM chunks"
            )
        ]
        index.connection.execute("DROP TABLE chunks_terms; DROP TABLE chunks_fts")
        index.connection.execute(
            "CREATE VIRTUAL TABLE chunks_fts USING fts5(words, title, content='', contentless_delete=1);"
            "CREATE VIRTUAL TABLE chunks_terms USING fts5vocab(chunks_fts, row)"
        )
        index.connection.executemany("INSERT INTO chunks_fts(rowid, words) VALUES(?, ?)", rows)
        found = index.chunks(find(index, look_up(index, "umgezogene"), 10, ()))
        assert [chunk.path for chunk in found.values()] == ["memory/de.md"]


WORDS = st.text("abcdefghinorst", min_size=3, max_size=9)


@given(st.sampled_from([*stemmers()]), st.sampled_from([*stemmers()]), WORDS, st.lists(WORDS, max_size=6))
def test_the_words_of_a_text_are_those_with_a_term_in_its_language(
    language: str, other: str, word: str, text: list[str]
) -> None:
    is_in = terms_of(word, language)[0] in terms_of(" ".join(text), language)
    match = Matcher({word: (word,)})
    match(" ".join(text), other)  # what was seen in another language does not count
    assert match(" ".join(text), language) == ({word} if is_in else set())


@given(st.sampled_from([*stemmers()]), st.sampled_from([*stemmers()]), WORDS, WORDS)
def test_the_index_finds_exactly_what_has_a_term_in_its_language(
    language: str, other: str, word: str, written: str
) -> None:
    with Index.in_memory(IDENTITY) as index:
        for code in {language, other}:
            index.put(document(f"memory/{code}.md", NOTES[code]), [Chunk(1, 1, "1234", text_hash("1234"))])
        index.put(document("memory/a.md", NOTES[language]), [Chunk(1, 1, written, text_hash(written))])
        found = index.chunks(find(index, look_up(index, word), 10, ()))
    is_in = terms_of(word, language) == terms_of(written, language)
    assert [chunk.path for chunk in found.values()] == (["memory/a.md"] if is_in else [])
