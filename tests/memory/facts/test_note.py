"""The note of facts: what is read from it, and what is written to it."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memlines.errors import PathError, UsageError, WriteError
from memlines.files import atomic, history
from memlines.files.notes import append
from memlines.memory.facts.note import FactNote
from memlines.paths import Workspace
from memlines.settings import Settings
from memlines.settings.tree import Facts, Files
from memlines.text.fact_note import doubles_in, facts_in
from memlines.text.facts import Fact, FactLine, is_id
from memlines.text.merges import Doubles
from tests.memory.facts.test_fact_lines import ANY_NOTES
from tests.programs import unprivileged_run

TABS = Fact("k3f5x2m7qa", "Prefers tabs over spaces.", "preference", created=date(2026, 11, 16))
TABS_LINE = "- 2026-11-16 [preference] Prefers tabs over spaces. ^k3f5x2m7qa"
ACME = Fact("b7c5d2e6fg", "Works at Acme.", "fact")
ACME_LINE = "- [fact] Works at Acme. ^b7c5d2e6fg"
YEARS_AGO = 1_600_000_000_000_000_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace for tests that write the note many times."""
    made = tmp_path_factory.mktemp("workspace")
    (made / "memory").mkdir()
    return made


@pytest.fixture
def home(workspace: Path) -> Workspace:
    return Workspace.at(workspace)


@pytest.fixture
def facts(home: Workspace) -> FactNote:
    return FactNote(home, Settings())


def note(home: Workspace) -> Path:
    return home.root / "memory/facts.md"


def write(home: Workspace, text: str | bytes) -> None:
    note(home).write_bytes(text if isinstance(text, bytes) else text.encode())


def text_of(home: Workspace) -> str:
    return note(home).read_bytes().decode()


def facts_of(facts: FactNote) -> list[Fact]:
    return [line.fact for line in facts.lines()]


# Reading


def test_where_there_is_no_note_there_are_no_facts(facts: FactNote) -> None:
    assert facts.lines() == ()


def test_where_there_is_no_folder_there_are_no_facts(tmp_path: Path) -> None:
    assert FactNote(Workspace.at(tmp_path), Settings()).lines() == ()


def test_facts_are_read_in_their_order(home: Workspace, facts: FactNote) -> None:
    write(home, f"# Facts\n\n{TABS_LINE}\n{ACME_LINE}\n")
    assert facts.lines() == (FactLine(TABS, 3, 3, TABS_LINE), FactLine(ACME, 4, 4, ACME_LINE))


def test_a_fact_is_found_by_its_id(home: Workspace, facts: FactNote) -> None:
    write(home, f"{TABS_LINE}\n{ACME_LINE}\n")
    assert facts.find(ACME.id) == FactLine(ACME, 2, 2, ACME_LINE)


def test_an_unknown_id_is_not_found(home: Workspace, facts: FactNote) -> None:
    write(home, f"{TABS_LINE}\n")
    assert facts.find(ACME.id) is None


def test_a_note_is_parsed_once(home: Workspace, facts: FactNote) -> None:
    write(home, f"{TABS_LINE}\n")
    assert facts.lines() is facts.lines()


def test_a_settled_note_is_not_read_again(home: Workspace, facts: FactNote) -> None:
    write(home, f"{TABS_LINE}\n")
    os.utime(note(home), ns=(YEARS_AGO, YEARS_AGO))
    before = facts.lines()
    with note(home).open("r+b") as stream:  # a change that no fingerprint shows, to see who looks
        stream.write(b"+")
    os.utime(note(home), ns=(YEARS_AGO, YEARS_AGO))
    assert facts.lines() is before


def test_a_change_of_a_young_note_is_seen_though_its_fingerprint_is_the_same(
    home: Workspace, facts: FactNote
) -> None:
    write(home, f"{ACME_LINE}\n")
    facts.lines()
    info = note(home).stat()
    with note(home).open("r+b") as stream:
        stream.write(ACME_LINE.replace("Acme", "Ajax").encode())
    os.utime(note(home), ns=(info.st_atime_ns, info.st_mtime_ns))
    assert facts_of(facts)[0].text == "Works at Ajax."


def test_a_deleted_note_leaves_no_facts(home: Workspace, facts: FactNote) -> None:
    write(home, f"{ACME_LINE}\n")
    facts.lines()
    note(home).unlink()
    assert (facts.lines(), facts.find(ACME.id)) == ((), None)


def test_threads_read_the_same_facts(home: Workspace, facts: FactNote) -> None:
    write(home, "".join(f"- fact number {number}\n" for number in range(200)))
    seen: list[tuple[FactLine, ...]] = []
    threads = [threading.Thread(target=lambda: seen.append(facts.lines())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 8
    assert set(map(len, seen)) == {200}


def test_a_note_that_is_not_utf_8_is_an_error(home: Workspace, facts: FactNote) -> None:
    write(home, b"- caf\xe9\n")
    with pytest.raises(PathError, match=r"'memory/facts\.md' cannot be used: it is not valid UTF-8"):
        facts.lines()


def test_a_note_above_the_limit_is_an_error(home: Workspace) -> None:
    write(home, f"{ACME_LINE}\n")
    with pytest.raises(PathError, match=r"files\.max_bytes"):
        FactNote(home, Settings(files=Files(max_bytes=10))).lines()


def test_a_folder_in_its_place_is_an_error(home: Workspace, facts: FactNote) -> None:
    note(home).mkdir()
    with pytest.raises(PathError, match="cannot be read"):
        facts.lines()


def test_a_note_that_may_not_be_read_is_an_error(home: Workspace) -> None:
    write(home, f"{ACME_LINE}\n")
    note(home).chmod(0)
    program = """
import sys
from memlines.errors import PathError
from memlines.memory.facts.note import FactNote
from memlines.paths import Workspace
from memlines.settings import Settings
try:
    FactNote(Workspace.at(sys.argv[1]), Settings()).lines()
except PathError as error:
    print(error)
"""
    assert "permission denied" in unprivileged_run(program, home.root).stdout


def test_a_note_that_can_be_read_again_is_read_again(home: Workspace, facts: FactNote) -> None:
    write(home, b"- caf\xe9\n")
    with pytest.raises(PathError):
        facts.lines()
    write(home, "- café\n")
    assert facts_of(facts)[0].text == "café"


@pytest.mark.parametrize("file", ["../facts.md", "/tmp/facts.md", "memory/facts.txt", "notes/facts.md", ""])
def test_a_setting_that_names_no_note_is_refused(home: Workspace, file: str) -> None:
    with pytest.raises(PathError):
        FactNote(home, Settings(facts=Facts(file=file))).lines()


def test_a_link_is_refused(home: Workspace, facts: FactNote, tmp_path: Path) -> None:
    (tmp_path / "else.md").write_text("- secret\n", encoding="utf-8")
    note(home).symlink_to(tmp_path / "else.md")
    with pytest.raises(PathError, match="symbolic link"):
        facts.lines()


def test_the_path_is_that_of_the_index(home: Workspace) -> None:
    assert FactNote(home, Settings(facts=Facts(file=" memory//about/./me.md"))).path == "memory/about/me.md"


# Adding


def test_the_first_fact_begins_a_note(home: Workspace, facts: FactNote) -> None:
    facts.add([TABS])
    assert text_of(home) == f"# Facts\n\n{TABS_LINE}\n"


def test_what_is_added_stands_where_it_says(home: Workspace, facts: FactNote) -> None:
    write(home, f"# Mine\n\n{ACME_LINE}\n")
    added = facts.add([TABS, Fact("", "Lives in Lisbon.")])
    assert (added[0], tuple(added)) == (FactLine(TABS, 4, 4, TABS_LINE), facts.lines()[1:])


def test_nothing_to_add_writes_nothing(home: Workspace, facts: FactNote) -> None:
    assert (facts.add([]), note(home).exists()) == ([], False)


def test_a_fact_without_an_id_gets_one(facts: FactNote) -> None:
    assert is_id(facts.add([Fact("", "Lives in Lisbon.")])[0].fact.id)


def test_an_id_that_is_taken_is_not_given_twice(facts: FactNote) -> None:
    facts.add([ACME])
    facts.add([Fact(ACME.id, "Lives in Lisbon."), Fact(ACME.id, "Has a dog.")])
    assert len({fact.id for fact in facts_of(facts)}) == 3


def test_the_id_of_a_hand_written_fact_is_taken(home: Workspace, facts: FactNote) -> None:
    write(home, "- likes tea\n")
    (by_hand,) = facts.lines()
    assert facts.add([Fact(by_hand.fact.id, "Has a dog.")])[0].fact.id != by_hand.fact.id


def test_a_text_of_several_lines_is_written_on_one(facts: FactNote) -> None:
    facts.add([Fact("", " Lives\n- in\n\n# Lisbon. ", source="capture {codex},\n01ab")])
    assert [(fact.text, fact.source) for fact in facts_of(facts)] == [
        ("Lives - in # Lisbon.", "capture codex 01ab")
    ]


def test_an_unusable_fact_is_refused_and_the_others_are_not_written(home: Workspace, facts: FactNote) -> None:
    with pytest.raises(UsageError):
        facts.add([ACME, Fact("", " ")])
    assert not note(home).exists()


def test_a_note_without_a_final_line_break_keeps_its_last_line(home: Workspace, facts: FactNote) -> None:
    write(home, "- likes tea")
    facts.add([ACME])
    assert text_of(home) == f"- likes tea\n{ACME_LINE}\n"


def test_windows_line_ends_and_a_byte_order_mark_stay(home: Workspace, facts: FactNote) -> None:
    write(home, b"\xef\xbb\xbf# Facts\r\n\r\n- likes tea\r\n")
    added = facts.add([ACME])
    assert note(home).read_bytes().endswith(f"- likes tea\r\n{ACME_LINE}\r\n".encode())
    assert facts.lines()[1:] == tuple(added)


def test_nothing_is_added_inside_of_code(home: Workspace, facts: FactNote) -> None:
    write(home, "# Facts\n\n```\ncode\n")
    with pytest.raises(WriteError, match="ends in code"):
        facts.add([ACME])


def test_closed_code_is_no_obstacle(home: Workspace, facts: FactNote) -> None:
    write(home, "# Facts\n\n```\n- code\n```\n")
    facts.add([ACME])
    assert facts_of(facts) == [ACME]


def test_a_note_that_would_grow_above_the_limit_stays(home: Workspace) -> None:
    write(home, f"{ACME_LINE}\n")
    with pytest.raises(WriteError, match=r"files\.max_bytes"):
        FactNote(home, Settings(files=Files(max_bytes=60))).add([TABS])
    assert text_of(home) == f"{ACME_LINE}\n"


def test_writers_at_the_same_time_lose_nothing(home: Workspace) -> None:
    books = [FactNote(home, Settings()) for _ in range(4)]

    def write_some(facts: FactNote) -> None:
        for number in range(5):
            facts.add([Fact("", f"Fact {number} of {id(facts)}.")])

    threads = [threading.Thread(target=write_some, args=(facts,)) for facts in books]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({line.fact.text for line in books[0].lines()}) == 20


# Changing


def test_a_changed_fact_stands_in_its_place(home: Workspace, facts: FactNote) -> None:
    write(home, f"# Facts\n\n{ACME_LINE}\n{TABS_LINE}\n")
    changed = facts.change(facts.lines()[0], ACME.supersede(TABS.id, date(2026, 11, 16)))
    line = f"- [fact] ~~Works at Acme.~~ {{until: 2026-11-16, now: {TABS.id}}} ^{ACME.id}"
    assert text_of(home) == f"# Facts\n\n{line}\n{TABS_LINE}\n"
    assert (changed, facts.lines()[1].fact) == (facts.lines()[0], TABS)


def test_a_fact_that_moved_is_changed_where_it_is_now(home: Workspace, facts: FactNote) -> None:
    write(home, f"{ACME_LINE}\n")
    (old,) = facts.lines()
    write(home, f"# Facts\n\n{TABS_LINE}\n{ACME_LINE}\n")
    assert facts.change(old, Fact(ACME.id, "Works at Ajax.")).first == 4


def test_a_fact_that_somebody_else_changed_is_left_alone(home: Workspace, facts: FactNote) -> None:
    write(home, f"{ACME_LINE}\n")
    (old,) = facts.lines()
    write(home, f"{TABS_LINE}\n")
    with pytest.raises(WriteError, match="has changed since it was read"):
        facts.change(old, Fact(ACME.id, "Works at Ajax."))
    assert text_of(home) == f"{TABS_LINE}\n"


def test_a_change_keeps_the_id(home: Workspace, facts: FactNote) -> None:
    write(home, "- likes tea\n")
    (old,) = facts.lines()
    assert facts.change(old, Fact("", "Likes coffee.")).fact.id == old.fact.id


def test_a_change_of_an_indented_item_leaves_those_below_it_alone(home: Workspace, facts: FactNote) -> None:
    write(home, "  - likes tea\n  - likes rain\n")
    before = facts.lines()
    changed = facts.change(before[0], Fact("", "Likes coffee."))
    assert facts.lines() == (changed, before[1])


@pytest.mark.parametrize(
    ("item", "reviewed"),
    [
        ("- likes tea", "- likes tea {reviewed} ^NAME"),
        ("1. [x] likes tea", "1. [x] likes tea {reviewed} ^NAME"),
        ("*\tlikes tea ^k3f5x2m7qa", "*\tlikes tea {reviewed} ^NAME"),
        ("+ 2026-11-16: likes tea", "+ 2026-11-16: likes tea {reviewed} ^NAME"),
        ("- [fact] likes tea\n  - green\n", "- [fact] likes tea {reviewed} ^NAME\n  - green\n"),
        ("- likes tea\n\n  ```\n  a  b\n  ```", "- likes tea {reviewed} ^NAME\n\n  ```\n  a  b\n  ```"),
        ("- likes tea\nin the morning", "- likes tea {reviewed} ^NAME\nin the morning"),
        ("-\n  likes tea", "- {reviewed} ^NAME\n  likes tea"),
        ("- likes tea\n  ^k3f5x2m7qa", "- likes tea {reviewed} ^NAME"),
        ("- likes tea {from: a\n  b} ^k3f5x2m7qa", "- likes tea {from: a b, reviewed} ^NAME"),
        (
            "- likes tea\n  at noon {from: a} ^k3f5x2m7qa",
            "- likes tea {from: a, reviewed} ^NAME\n  at noon {from: a} ^k3f5x2m7qa",
        ),
        (f"- {'tea ' * 400}", f"- {'tea ' * 400}{{reviewed}} ^NAME"),
    ],
)
def test_a_review_keeps_an_item_as_it_was_made(
    home: Workspace, facts: FactNote, item: str, reviewed: str
) -> None:
    write(home, f"{item}\n- likes rain\n")
    (old, rain) = facts.lines()
    new = facts.change(old, replace(old.fact, reviewed=True))
    assert text_of(home) == f"{reviewed.replace('NAME', old.fact.id)}\n- likes rain\n"
    assert [line.fact for line in facts.lines()] == [new.fact, rain.fact]


@pytest.mark.parametrize(
    ("item", "struck"),
    [
        ("2) likes tea\n   - green", "2) ~~likes tea~~ {until: 2026-11-16} ^NAME\n   - green"),
        ("- likes tea\n  at noon", "- ~~likes tea~~ {until: 2026-11-16} ^NAME\n  at noon"),
        ("-\n  likes tea", "- {until: 2026-11-16, struck} ^NAME\n  likes tea"),
        ("- ~likes tea", "- [other] ~~~likes tea~~ {until: 2026-11-16} ^NAME"),
    ],
)
def test_a_fact_that_is_no_longer_true_keeps_its_item(
    home: Workspace, facts: FactNote, item: str, struck: str
) -> None:
    write(home, f"{item}\n- likes rain\n")
    (old, _) = facts.lines()
    facts.change(old, old.fact.supersede("", date(2026, 11, 16)))
    assert text_of(home) == f"{struck.replace('NAME', old.fact.id)}\n- likes rain\n"
    assert [line.fact.is_current for line in facts.lines()] == [False, True]


def test_other_words_stand_on_the_first_line(home: Workspace, facts: FactNote) -> None:
    write(home, "1. [ ] likes tea\n   - green\n2. likes rain\n")
    (old, _) = facts.lines()
    new = facts.change(old, replace(old.fact, text="likes coffee"))
    assert text_of(home) == f"1. [ ] likes coffee ^{old.fact.id}\n   - green\n2. likes rain\n"
    assert facts.lines()[0] == new


def test_words_below_are_not_written_twice(home: Workspace, facts: FactNote) -> None:
    write(home, "- likes tea ^k3f5x2m7qa\n  - green\n")
    (old,) = facts.lines()
    facts.change(old, replace(old.fact, text="likes cold tea - green"))
    assert text_of(home) == "- likes cold tea ^k3f5x2m7qa\n  - green\n"


@pytest.mark.parametrize("item", ["- likes tea\n  at noon", "- likes tea\n\n  and more", "-\n  tea"])
def test_words_on_several_lines_are_not_put_into_other_words(
    home: Workspace, facts: FactNote, item: str
) -> None:
    write(home, item)
    (old,) = facts.lines()
    with pytest.raises(UsageError, match="by hand"):
        facts.change(old, replace(old.fact, text="likes coffee"))
    assert text_of(home) == item


def test_new_words_are_not_longer_than_a_fact(home: Workspace, facts: FactNote) -> None:
    write(home, ACME_LINE)
    (old,) = facts.lines()
    with pytest.raises(UsageError, match="at most"):
        facts.change(old, replace(old.fact, text="x" * 1_001))


def test_code_on_the_line_of_an_item_is_not_struck_through(home: Workspace, facts: FactNote) -> None:
    text = "- ```\n  tea\n  ```\n- likes rain\n```\ncode\n```\n"
    write(home, text)
    with pytest.raises(WriteError, match="by hand"):
        facts.change(facts.lines()[0], facts.lines()[0].fact.supersede("", date(2026, 11, 16)))
    assert text_of(home) == text


@given(text=ANY_NOTES, data=st.data())
def test_a_change_touches_nothing_but_the_first_line(folder: Path, text: str, data: st.DataObject) -> None:
    home = Workspace.at(folder)
    write(home, text)
    facts = FactNote(home, Settings())
    try:
        lines = facts.lines()
    except PathError:
        assume(False)
        raise
    assume(lines and doubles_in(text_of(home)) == Doubles())  # lines that do not count are taken out
    old = data.draw(st.sampled_from(lines))
    reviewed = replace(old.fact, reviewed=True)
    new = data.draw(st.sampled_from([reviewed, old.fact.supersede(TABS.id, date(2026, 11, 16))]))
    every = text_of(home).split("\n")
    try:
        changed = facts.change(old, new)
    except WriteError:
        assert text_of(home).split("\n") == every
        return
    after = text_of(home).split("\n")
    first = old.first - 1
    joined = len(every) - len(after)  # lines on which nothing but a name and details stood
    assert after[:first] == every[:first]
    assert after[first + 1 :] == every[first + 1 + joined :]
    assert not joined or facts_in(every[first])[0].fact.text == old.fact.text
    assert [line.fact for line in facts.lines()] == [new if line == old else line.fact for line in lines]
    assert changed.fact == new


def test_a_fact_takes_the_place_of_another_in_one_write(
    home: Workspace, facts: FactNote, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(home, f"{ACME_LINE}\n")
    written: list[bytes] = []

    def recorded(path: Path, content: bytes, *, expected: bytes | None, root: Path) -> None:
        written.append(content)
        atomic.replace(path, content, expected=expected, root=root)

    monkeypatch.setattr(history, "replace", recorded)
    new, struck, _ = facts.supersede(facts.lines()[0], TABS, date(2026, 11, 16))
    assert len(written) == 1
    assert facts.lines() == (struck, new)
    assert [line.fact.is_current for line in facts.lines()] == [False, True]


def test_what_cannot_be_marked_is_told_and_the_new_fact_is_written(home: Workspace, facts: FactNote) -> None:
    write(home, f"{ACME_LINE}\n")
    (old,) = facts.lines()
    write(home, f"{ACME_LINE.replace('Acme', 'Globex')}\n")
    _, struck, trouble = facts.supersede(old, TABS, date(2026, 11, 16))
    assert (struck, "has changed" in trouble) == (None, True)
    assert text_of(home) == f"{ACME_LINE.replace('Acme', 'Globex')}\n{TABS_LINE}\n"


def test_a_change_in_a_note_that_is_gone_is_refused(home: Workspace, facts: FactNote) -> None:
    append(home, "memory/facts.md", ACME_LINE)
    (old,) = facts.lines()
    note(home).unlink()
    with pytest.raises(PathError, match="there is no note"):
        facts.change(old, TABS)
