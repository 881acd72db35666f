"""Rules make questions about notes from their own words, the same ones for the same notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from memlines.admin.evaluation.questions import Passage, make_questions, passages_of
from memlines.admin.evaluation.sets import Query
from memlines.settings import Settings
from memlines.text.terms import words_of
from tests.admin.garden import GARDEN, LOGS, TOPICS

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
TEXT = (
    "kestrel harbour ladder velvet orchard Quarz tunnel marble signal basket copper meadow lantern der and"
    " the 2026-11-03 x1 naïve Ärger 倉庫 https://a.b/c"
)
WORDS = st.sampled_from(TEXT.split())
LINES = st.one_of(
    st.builds("- {}".format, st.lists(WORDS, max_size=9).map(" ".join)),
    st.builds("## {}".format, st.lists(WORDS, min_size=1, max_size=3).map(" ".join)),
    st.lists(WORDS, max_size=12).map(" ".join),
    st.sampled_from(["", "", "```", "<private>", "</private>", "---", "  - nested basket signal"]),
)
NOTES = st.dictionaries(
    st.sampled_from(["MEMORY.md", "memory/orchard.md", "memory/2026-11-03.md", "memory/copper-ladder.md"]),
    st.lists(LINES, max_size=14).map("\n".join),
)


def passages(notes: Mapping[str, str]) -> list[Passage]:
    found: list[Passage] = []
    for path, text in notes.items():
        found += passages_of(path, text, Settings(), found[-1].entry + 1 if found else 0)
    return found


def questions(notes: Mapping[str, str], count: int = 60) -> list[Query]:
    return make_questions(passages(notes), count)


def answer(notes: Mapping[str, str], query: Query) -> str:
    (gold,) = query.gold
    return "\n".join(notes[gold.path].split("\n")[gold.start - 1 : gold.end])


@given(NOTES)
def test_the_lines_of_every_answer_exist_and_hold_the_words_of_its_question(notes: dict[str, str]) -> None:
    for query in questions(notes):
        (gold,) = query.gold
        assert 1 <= gold.start <= gold.end <= len(notes[gold.path].split("\n"))
        text = answer(notes, query).lower()
        assert all(word in text for word in query.text.split())


@given(NOTES)
def test_the_same_notes_make_the_same_questions(notes: dict[str, str]) -> None:
    backwards = dict(reversed(notes.items()))
    assert questions(notes) == questions(backwards)


def test_no_other_entry_holds_all_words_of_a_question() -> None:
    said = [set(words_of(passage.text.lower())) for passage in passages(GARDEN) if not passage.title]
    for query in questions(GARDEN):
        holders = [words for words in said if words.issuperset(query.text.split())]
        assert len(holders) == (query.kind != "heading")


def test_an_entry_is_asked_for_with_two_to_four_of_its_words_in_another_order() -> None:
    found = [query for query in questions(GARDEN) if query.kind == "entry"]
    assert found
    for query in found:
        words = query.text.split()
        places = [answer(GARDEN, query).lower().index(word) for word in words]
        assert 2 <= len(words) <= 4
        assert places != sorted(places)


def test_a_heading_is_asked_for_with_a_word_of_the_entry_below_it() -> None:
    notes = {
        "memory/bees.md": TOPICS["memory/bees.md"],
        "memory/greenhouse.md": TOPICS["memory/greenhouse.md"],
    }
    (query,) = [one for one in questions(notes) if one.kind == "heading" and one.gold[0].start == 5]
    heading, _, below = answer(notes, query).lower().partition("\n")
    assert [len([word for word in query.text.split() if word in part]) for part in (heading, below)] == [1, 1]


def test_a_log_that_names_a_topic_is_asked_for_with_it_and_another_word() -> None:
    found = {query.gold[0].path: query.text.split() for query in questions(GARDEN) if query.kind == "topic"}
    assert found.keys() == {"memory/2026-03-02.md", "memory/2026-04-11.md"}
    assert "greenhouse" in found["memory/2026-03-02.md"]
    assert len(found["memory/2026-03-02.md"]) == 2


def test_what_is_private_is_not_asked_for() -> None:
    notes = {"MEMORY.md": "<private>\n- Quentin hides copper lanterns beneath the orchard\n</private>\n"}
    assert questions(notes) == []


def test_an_entry_with_a_secret_is_not_asked_for() -> None:
    notes = {"MEMORY.md": f"- The deploy robot of the harbour project uses {SECRET} every night\n"}
    assert questions(notes) == []


def test_code_is_not_asked_for() -> None:
    notes = {"MEMORY.md": "```\nkestrel harbour ladder velvet orchard\n```\n"}
    assert questions(notes) == []


def test_a_line_that_is_in_two_notes_is_not_asked_for() -> None:
    line = "- Sungold ripens first behind the kitchen window\n"
    assert questions({"memory/a.md": line, "memory/b.md": line}) == []


def test_a_fact_is_not_asked_for_by_its_name() -> None:
    notes = {"memory/facts.md": "- 2026-11-03 [preference] Prefers velvet lanterns over copper ^qwertyuiop\n"}
    assert "qwertyuiop" not in " ".join(query.text for query in questions(notes))


def test_many_notes_give_a_few_questions_each() -> None:
    line = "- The {} barrel beside shelf {}{} holds {} {}\n"
    letters = "abcdefghij"
    notes = {
        f"memory/{one}{two}.md": "".join(
            line.format(f"{one}{two}{three}wood", one, three, f"{three}{one}resin", f"{two}{three}wax")
            for three in letters
        )
        for one in letters
        for two in letters[:4]
    }
    counts = Counter(query.gold[0].path for query in questions(notes, 60))
    assert (len(counts), sum(counts.values()), max(counts.values())) == (40, 60, 2)


def test_one_long_note_gives_many_questions() -> None:
    letters = "abcdefghijklmnop"
    lines = [f"- The {one}arrel {one}olds {one}esin beside {one}helf\n" for one in letters]
    assert len(questions({"MEMORY.md": "".join(lines)}, 16)) == 16


def test_few_questions_are_spread_over_languages_and_months() -> None:
    many = {f"memory/more-{name}.md": f"- {text}\n" for name, text in MORE.items()}
    first = questions({**many, **GARDEN}, 6)
    paths = {query.gold[0].path for query in first}
    assert "memory/gereedschap.md" in paths
    assert len(paths & LOGS.keys()) == 3


MORE = {
    name: f"The {name} barrel near the {name}gate holds {name}resin and {name}wax"
    for name in ("oak", "ash", "elm", "fir", "yew", "birch", "maple", "cedar")
}
