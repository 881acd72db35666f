"""Facts as lines of their note: what is written is read again, and whatever people write does no harm."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from operator import attrgetter

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memlines.errors import UsageError
from memlines.paths import note_path
from memlines.text import facts as module
from memlines.text.entries import entries_of
from memlines.text.fact_note import doubles_in, facts_in
from memlines.text.facts import (
    CATEGORIES,
    LONGEST,
    SCOPE,
    Fact,
    FactLine,
    is_id,
    line_of,
    new_id,
    plain,
    source_of,
)

DAY = date(2026, 11, 16)
ID = "k3f5x2m7qa"
OTHER = "b7c5d2e6fg"

MARKS = st.sampled_from(
    ["~~", "~", "{", "}", "{importance: 1}", "{}", "{struck}", "{now: x}", "[fact]", "[x]"]
)
PIECES = st.sampled_from(
    ["2026-11-16", "2026-13-40:", f"^{OTHER}", "^", "-", "#", "```", ",", ":", " ", "\u2028", "家"]
)
WORDS = st.lists(MARKS | PIECES | st.text(max_size=8), min_size=1, max_size=8).map("".join)


@st.composite
def plain_texts(draw: st.DrawFn) -> str:
    try:
        return plain(draw(WORDS))
    except UsageError:
        assume(False)
        raise


IDS = st.text(alphabet="abcdefghijklmnopqrstuvwxyz234567", min_size=10, max_size=10)
DAYS = st.none() | st.dates()
FACTS = st.builds(
    Fact,
    id=IDS,
    text=plain_texts(),
    category=st.sampled_from(CATEGORIES),
    importance=st.floats(0, 1),
    created=DAYS,
    source=WORDS.map(source_of) | st.just(""),
    since=DAYS,
    until=DAYS,
    superseded_by=st.just("") | IDS,
    reviewed=st.booleans(),
    struck=st.booleans(),
    scope=st.just("") | st.from_regex(SCOPE, fullmatch=True),
)

BLOCKS = st.sampled_from(
    ["", " ", "# Facts", "---", "***", "```", "~~~", "  ```", "prose", "  below", "\ufeff"]
)
COMMENTS = st.sampled_from(["<!-- one -->", "<!--", "-->", "  <!-- in", "  -->", "- on its line <!--"])
ITEMS = st.sampled_from(
    ["- by hand", "- by hand\r", "  - nested", "    - deep", "1. one", "* [ ] task", "-", "- ```"]
)
OURS = st.sampled_from(
    [
        f"- [fact] Works. ^{ID}",
        f"- [fact] Works. ^{ID}\r",
        f"- 2026-11-16 [other] ~~Gone.~~ ^{OTHER}",
        "- [fact] no name",
        "- [fact] ",
        "- 2026-99-99 [fact] no day",
        "- [fact]  two  blanks ^mmmmmmmmmm",
    ]
)
LINES = BLOCKS | ITEMS | OURS | WORDS | FACTS.map(line_of)
NOTES = st.lists(LINES, max_size=12).map("\n".join)
ANY_NOTES = st.lists(LINES | COMMENTS, max_size=12).map("\n".join)


def only(text: str) -> Fact:
    (line,) = facts_in(text)
    return line.fact


def texts_in(text: str) -> list[str]:
    return [line.fact.text for line in facts_in(text)]


# Writing and reading


@given(FACTS)
def test_a_fact_is_read_as_it_was_written(fact: Fact) -> None:
    assert facts_in(line_of(fact)) == (FactLine(fact, 1, 1, line_of(fact)),)


@given(st.lists(FACTS, max_size=8, unique_by=lambda fact: fact.id))
def test_facts_are_read_in_the_order_they_stand_in(facts: list[Fact]) -> None:
    text = "# Facts\n\n" + "".join(f"{line_of(fact)}\n" for fact in facts)
    lines = [FactLine(fact, at, at, line_of(fact)) for at, fact in enumerate(facts, 3)]
    assert facts_in(text) == tuple(lines)


@given(NOTES)
def test_the_fast_way_reads_what_the_slow_way_reads(text: str) -> None:
    slow = []
    for entry in entries_of(text):
        fact = module._fact_by_hand(entry.text) if entry.kind == "item" else None
        if fact is not None:
            slow.append(FactLine(fact, entry.first, entry.last, entry.text))
    every = sorted([*facts_in(text), *doubles_in(text).lost], key=attrgetter("first"))
    fast = [replace(line, fact=replace(line.fact, id="")) for line in every]
    assert fast == [replace(line, fact=replace(line.fact, id="")) for line in slow]


@given(ANY_NOTES | st.text())
def test_every_fact_of_any_text_has_a_name_of_its_own(text: str) -> None:
    names = [line.fact.id for line in facts_in(text)]
    assert len(set(names)) == len(names)
    assert all(map(is_id, names))


@given(ANY_NOTES)
def test_lines_are_those_of_the_note(text: str) -> None:
    every = [line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n")]
    for line in facts_in(text):
        assert line.raw == "\n".join(every[line.first - 1 : line.last])


@given(st.lists(FACTS, min_size=1, max_size=6, unique_by=lambda fact: fact.id), st.data())
def test_an_edit_of_one_line_leaves_the_other_facts_alone(facts: list[Fact], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(facts) - 1))
    edited = data.draw(FACTS | WORDS.map(lambda words: Fact("", " ".join(words.split()))))
    lines = [line_of(fact) for fact in facts]
    lines[at] = line_of(edited) if edited.id else f"- {edited.text}"
    assume(not lines[at].startswith(("- ```", "- ~~~")) and edited.id not in {fact.id for fact in facts})
    found = {line.fact.id: line.fact for line in facts_in("\n".join(lines))}
    others = [fact for fact in facts if fact is not facts[at]]
    assume(not any(lines[at].endswith(f"^{fact.id}") for fact in others))
    assert [found[fact.id] for fact in others] == others


@given(st.text())
def test_a_plain_text_stays_as_it_is(text: str) -> None:
    try:
        once = plain(text)
    except UsageError:
        return
    assert plain(once) == once


@given(st.text())
def test_a_source_stays_as_it_is(text: str) -> None:
    assert source_of(source_of(text)) == source_of(text)


def test_a_line_shows_what_does_not_go_without_saying() -> None:
    fact = Fact(ID, "Billing runs on Postgres.", "decision", 0.9, DAY, "capture codex 01ab", reviewed=True)
    assert line_of(fact) == (
        "- 2026-11-16 [decision] Billing runs on Postgres."
        f" {{importance: 0.9, from: capture codex 01ab, reviewed}} ^{ID}"
    )


def test_a_superseded_fact_is_struck_through() -> None:
    fact = Fact(ID, "Works at Acme.", "fact", created=date(2026, 3, 1)).supersede(OTHER, DAY)
    assert line_of(fact) == (
        f"- 2026-03-01 [fact] ~~Works at Acme.~~ {{until: 2026-11-16, now: {OTHER}}} ^{ID}"
    )


# By hand


def test_an_item_needs_nothing_but_its_text() -> None:
    fact = only("* likes tea\n")
    assert fact == Fact(fact.id, "likes tea")


def test_an_item_without_a_name_keeps_the_one_it_gets() -> None:
    before = only("- likes tea\n").id
    after = {line.fact.text: line.fact.id for line in facts_in("# New\n\n- likes rain\n- likes  tea \n")}
    assert after["likes tea"] == before


@pytest.mark.parametrize(
    "item",
    [
        "- ~~Works at Acme.~~",
        f"- ~~Works at Acme.~~ ^{ID}",
        f"- ~~Works at Acme. ^{ID}~~",
        f"- ~~2026-03-01 [fact] Works at Acme. ^{ID}~~",
        f"- 2026-03-01 ~~[fact] Works at Acme. ^{ID}~~",
        f"- 2026-03-01 [fact] ~~Works at Acme. {{from: me}} ^{ID}~~",
        "- [x] ~~Works at Acme.~~",
        "- ~~Works\n  at Acme.~~",
    ],
)
def test_an_item_that_is_struck_through_is_no_longer_true(item: str) -> None:
    fact = only(item)
    assert (fact.text, fact.is_current) == ("Works at Acme.", False)


def test_an_item_of_which_parts_are_struck_through_is_true() -> None:
    fact = only(f"- [fact] ~~Anna~~ works at ~~Acme~~ ^{ID}")
    assert (fact.text, fact.is_current) == ("~~Anna~~ works at ~~Acme~~", True)


def test_striking_through_a_whole_line_keeps_its_name() -> None:
    assert only(f"- ~~2026-03-01 [fact] Works at Acme. ^{ID}~~").id == ID


def test_a_copied_line_with_other_words_is_another_fact() -> None:
    text = f"- [fact] Works at Acme. ^{ID}\n- [fact] Lives in Lisbon. ^{ID}\n"
    assert [(line.fact.id == ID, line.fact.text) for line in facts_in(text)] == [
        (False, "Works at Acme."),
        (True, "Lives in Lisbon."),
    ]


def test_a_written_name_comes_before_one_that_is_made() -> None:
    made = only("- likes tea\n").id
    first, second = facts_in(f"- likes tea\n- likes coffee ^{made}\n")
    assert (first.fact.id == made, second.fact.id) == (False, made)


def test_lines_below_a_fact_belong_to_it_and_leave_its_name() -> None:
    text = f"- 2026-11-16 [fact] Works at Acme. {{from: me}} ^{ID}\n  Since May.\n- next\n"
    line = facts_in(text)[0]
    assert (line.fact.id, line.fact.text, line.fact.source, line.last) == (
        ID,
        "Works at Acme. Since May.",
        "me",
        2,
    )


def test_an_item_may_go_on_below() -> None:
    assert texts_in("- likes tea\n  and rain\n  {importance: 1}\n") == ["likes tea and rain"]


@pytest.mark.parametrize("fence", ["```", "~~~"])
def test_code_holds_no_facts(fence: str) -> None:
    code = "\n".join(f"- [fact] code {number} ^{ID}" for number in range(3))
    assert texts_in(f"- before\n\n{fence}\n{code}\n{fence}\n\n- behind\n") == ["before", "behind"]


@pytest.mark.parametrize(
    "comment",
    [
        "<!--\n- hidden\n-->",
        "<!-- - hidden -->",
        "<!--\n- hidden\n\n```\n- more\n--> - behind it",
        "  <!--\n- hidden\n  -->",
        "   <!--\r\n- hidden\r\n-->\r",
    ],
)
def test_comments_hold_no_facts(comment: str) -> None:
    assert texts_in(f"- above\n{comment}\n- below") == ["above", "below"]


@pytest.mark.parametrize("indent", ["", "  ", "\t"])
def test_a_comment_below_a_fact_is_no_part_of_it(indent: str) -> None:
    (line,) = facts_in(f"- above\n{indent}<!-- hidden\n- more\n-->\n")
    assert (line.last, line.raw) == (1, "- above")


def test_a_comment_at_the_margin_ends_an_item() -> None:
    assert facts_in("- above\n<!-- hidden -->\n  below")[0].last == 1


def test_a_comment_inside_an_item_is_none_of_its_words() -> None:
    (line,) = facts_in("- above\n  <!-- hidden -->\n  below")
    assert (line.fact.text, line.last) == ("above below", 3)


def test_a_comment_on_the_line_of_a_fact_is_part_of_it() -> None:
    assert texts_in("- above <!-- really\n  so -->\n- below") == ["above <!-- really so -->", "below"]


def test_a_comment_that_is_never_closed_hides_nothing() -> None:
    assert texts_in("- above\n<!-- oops\n- below") == ["above", "below"]


def test_a_comment_in_code_is_code() -> None:
    assert texts_in("```\n<!--\n```\n- a fact\n```\n-->\n```\n") == ["a fact"]


def test_a_comment_in_the_front_matter_is_none() -> None:
    assert texts_in("---\na: b\n<!--\n---\n- a fact\n\n-->\n") == ["a fact"]


def test_prose_and_headings_are_no_facts() -> None:
    assert texts_in("# Facts\n\nWhat I know.\n\n- likes tea\n") == ["likes tea"]


def test_front_matter_holds_no_facts() -> None:
    assert texts_in("---\ntags:\n- one\n---\n- likes tea\n") == ["likes tea"]


def test_an_item_without_words_is_no_fact() -> None:
    assert facts_in(f"-\n- \n- [fact]\n- [x]\n- ^{ID}\n- ~~~~\n- {{importance: 1}}\n") == ()


@pytest.mark.parametrize(
    "words",
    [
        "uses {curly} braces",
        "ends in {curly: braces}",
        "ends in {since: forever}",
        "ends in {importance: high}",
        "ends in {now: nothing}",
    ],
)
def test_braces_that_are_not_ours_are_text(words: str) -> None:
    assert only(f"- {words}").text == words


@pytest.mark.parametrize(
    ("written", "read"), [("1", 1.0), ("0", 0.0), ("7", 1.0), ("-1", 0.0), (".25", 0.25)]
)
def test_importance_is_between_none_and_all(written: str, read: float) -> None:
    assert only(f"- tea {{importance: {written}}}").importance == read


def test_what_is_no_day_is_text() -> None:
    fact = only("- 2026-13-40: likes tea")
    assert (fact.text, fact.created) == ("2026-13-40: likes tea", None)


def test_a_name_that_is_none_is_text() -> None:
    assert only("- likes tea ^ABC").text == "likes tea ^ABC"


# What a fact may be


@pytest.mark.parametrize("text", ["", " \n", "~~~~", "~~ ~~", "a\0b", "\ud800", "x" * (LONGEST + 1)])
def test_what_cannot_be_a_fact_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        plain(text)


def test_a_new_name_is_none_that_is_taken() -> None:
    assert is_id(new_id({ID}))


@pytest.mark.parametrize(
    "text", ["", ID.upper(), ID + "a", ID[:-1], "k3f5x2m7q1", f"{ID}\n", "../../etc/p", "k3f5x2m7qä"]
)
def test_what_is_no_name(text: str) -> None:
    assert not is_id(text)


def test_the_path_of_the_note_is_the_one_of_the_index() -> None:
    assert note_path(" memory/./about//me.md ") == "memory/about/me.md"
