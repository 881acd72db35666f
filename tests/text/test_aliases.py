"""Aliases: what a note of them says, and what a query says with them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memlines.text.aliases import NO_EXPANSION, parse_aliases

NOTE = """\
# Aliases

Names that mean the same.

- k8s = Kubernetes
- pg = Postgres, PostgreSQL
* DBA = database administrator
"""


def test_every_item_is_a_group_of_names() -> None:
    aliases = parse_aliases(NOTE)
    assert [list(group) for group in aliases.groups] == [
        ["k8s", "Kubernetes"],
        ["pg", "Postgres", "PostgreSQL"],
        ["DBA", "database administrator"],
    ]
    assert aliases.problems == ()


def test_what_is_in_code_or_no_item_is_text() -> None:
    aliases = parse_aliases("a = b\n\n```\n- c = d\n```\n<!--\n- e = f\n-->\n")
    assert (aliases.groups, aliases.problems) == ((), ())


def test_a_line_that_makes_no_sense_is_ignored_and_reported() -> None:
    text = "- k8s\n- a = \n- a = b = c\n- A = a\n- C++ = cpp\n- ok = okay\n- one two three four five = x\n"
    aliases = parse_aliases(text)
    assert [list(group) for group in aliases.groups] == [["ok", "okay"]]
    assert [problem.split(" ")[1] for problem in aliases.problems] == ["1", "2", "3", "4", "5", "7"]


def test_a_name_adds_the_others() -> None:
    expansion = parse_aliases(NOTE).expand("which PG version do we run?")
    assert expansion.of("which PG version do we run?").endswith("run? Postgres PostgreSQL")
    assert expansion.shown == {"PG": "Postgres, PostgreSQL"}


def test_any_of_the_names_counts_as_the_one_that_was_said() -> None:
    expansion = parse_aliases(NOTE).expand("postgres")
    assert set(expansion.same["postgres"]) == {"pg", "postgresql"}


def test_all_words_of_a_longer_name_must_be_found() -> None:
    expansion = parse_aliases(NOTE).expand("who is our DBA?")
    assert expansion.same == {"database": ("dba",), "administrator": ("dba",)}
    assert expansion.left_out == {"dba"}


def test_a_longer_name_is_found_in_the_query() -> None:
    assert parse_aliases(NOTE).expand("ask the database administrator").added == ("DBA",)
    assert parse_aliases(NOTE).expand("the database needs an administrator") == NO_EXPANSION


def test_a_part_of_a_word_is_no_name() -> None:
    assert parse_aliases(NOTE).expand("a pgp key and k8s2") == NO_EXPANSION


def test_a_small_word_is_a_name_only_as_it_is_written() -> None:
    aliases = parse_aliases("- IT = information technology\n- is = information system\n")
    assert aliases.expand("what is it?") == NO_EXPANSION
    assert aliases.expand("who works in IT?").shown == {"IT": "information technology"}


def test_a_name_is_replaced_where_it_is() -> None:
    text = "which languages does the DBA of Coral speak?"
    replaced = parse_aliases(NOTE).expand(text).replaced(text)
    assert replaced == "which languages does the database administrator of Coral speak?"


NAMES = st.sampled_from(["k8s", "Kubernetes", "a b", "Ä", "", "is", "IT", "`x`", "C#", "家"]) | st.text(
    max_size=9
)
LINES = st.builds(lambda one, others: f"- {one} = {', '.join(others)}", NAMES, st.lists(NAMES, max_size=4))


@given(st.lists(LINES | st.text(max_size=20), max_size=6).map("\n".join), st.text() | NAMES)
def test_no_note_and_no_query_does_harm(note: str, query: str) -> None:
    expansion = parse_aliases(note).expand(query)
    assert expansion.of(query).startswith(query)
    assert not expansion.left_out & expansion.same.keys()
