"""What was forgotten is known again by its hashes, and only by them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.errors import WorkspaceError
from memlines.files.tombstones import FILE_NAME, SALT_NAME, Forgotten, adopt, bury, session_of
from memlines.paths import Workspace
from memlines.text.matching import bare
from memlines.types import Turn

pytestmark = pytest.mark.promise("P14")

ENTRY = "- 14:32 The vault in Lyon opens with 4471 zebra. Only Anna knows it. [session s1]"
SENTENCE = "the vault in Lyon opens with 4471 zebra"


@pytest.fixture
def home(workspace: Path) -> Workspace:
    return Workspace.at(workspace)


def forgotten(home: Workspace, *texts: str) -> Forgotten:
    bury(home, texts)
    return Forgotten.load(home)


# Knowing it again


@pytest.mark.parametrize(
    "text",
    [
        ENTRY,
        "The vault in Lyon opens with 4471 zebra.",
        "THE VAULT IN LYON\n  OPENS WITH 4471 ZEBRA",
        "Please note that the vault in Lyon opens with 4471-zebra, thanks",
        "* **The vault** in `Lyon` opens with 4471 _zebra_!",
        "- 2026-11-16: The vault in Lyon opens with 4471 zebra. Only Anna knows it.",
    ],
)
def test_the_words_count_and_not_how_they_are_written(home: Workspace, text: str) -> None:
    assert forgotten(home, ENTRY).drops(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The vault in Lyon opens with 4472 zebra.",
        "The vault in Lyon opens",
        "Only Anna knows the way",
        "zebra 4471 with opens Lyon in vault The",
    ],
)
def test_other_words_are_not_forgotten(home: Workspace, text: str) -> None:
    assert not forgotten(home, ENTRY).drops(text)


def test_accents_are_the_same_composed_or_not(home: Workspace) -> None:
    assert forgotten(home, "Le café de Zoé ouvre à sept heures").drops(
        "le cafe\u0301 de Zoe\u0301 ouvre a\u0300 sept heures"
    )


def test_a_sentence_inside_a_run_of_chinese_is_found(home: Workspace) -> None:
    assert forgotten(home, "- 保险箱的密码是斑马").drops("请记住保险箱的密码是斑马谢谢")


def test_a_short_entry_counts_only_as_a_whole_line(home: Workspace) -> None:
    known = forgotten(home, "- PIN 4471")
    assert known.drops("so:\nPIN 4471.\nok")
    assert not known.drops("my PIN 4471 is new")


@pytest.mark.parametrize(
    "line",
    [
        "- 11:40 Ana has the key",
        "- 2026-11-16: Ana has the key",
        "- [ ] Ana has the key [session s1]",
        "- [fact] Ana has the key {user} ^abcdefghij",
    ],
)
def test_marks_and_times_around_a_short_entry_do_not_count(home: Workspace, line: str) -> None:
    bury(home, [line])
    forgotten = Forgotten.load(home)
    assert forgotten.drops(f"# Today\n\n- 10:15 We chose Postgres\n{line}\n- Lunch")
    assert not forgotten.drops("- 11:40 Ana has the key of the house")


def test_lines_of_an_entry_count_by_themselves(home: Workspace) -> None:
    known = forgotten(home, "- Anna\n  - lives in the Rue de la Harpe\n  - likes tea")
    assert known.drops("She lives in the Rue de la Harpe, I think")
    assert not known.drops("Ben likes tea")


def test_headings_and_lines_of_code_are_the_same_everywhere(home: Workspace) -> None:
    note = "# Architecture decisions of 2026\n\n```python\nfrom __future__ import annotations\nx = 1\n```\n"
    known = forgotten(home, note)
    assert not known.drops("# Architecture decisions of 2026")
    assert not known.drops("from __future__ import annotations")
    assert known.drops("```python\nfrom __future__ import annotations\nx = 1\n```")


def test_a_heading_that_is_all_there_is_counts(home: Workspace) -> None:
    assert forgotten(home, "## The takeover of Acme Corporation").drops("the takeover of Acme Corporation")


# Taking it out


def test_only_the_forgotten_sentence_goes(home: Workspace) -> None:
    text = "Hello. The vault in Lyon opens with 4471 zebra. Bye."
    assert forgotten(home, ENTRY).redact(text) == "Hello. Bye."


def test_a_line_of_which_nothing_is_left_goes(home: Workspace) -> None:
    text = "one\n- The vault in Lyon opens with 4471 zebra.\ntwo"
    assert forgotten(home, ENTRY).redact(text) == "one\ntwo"


@given(st.lists(st.sampled_from(["one", "", ENTRY, SENTENCE, f"Hello. {SENTENCE}", "The vault in Lyon"])))
def test_lines_can_keep_their_numbers(lines: list[str]) -> None:
    known = Forgotten.of([ENTRY])
    rest = known.redact("\n".join(lines), keep_lines=True)
    assert (len(rest.split("\n")), known.drops(rest)) == (max(1, len(lines)), False)


def test_a_text_of_which_nothing_is_left_is_empty(home: Workspace) -> None:
    assert forgotten(home, ENTRY).redact("The vault in Lyon opens with 4471 zebra.") == ""


@pytest.mark.parametrize("text", ["", "  two  blanks \n\n\n", "Only Anna knows the way", "e\u0301"])
def test_a_text_without_it_is_the_same_object(home: Workspace, text: str) -> None:
    assert forgotten(home, ENTRY).redact(text) is text


@given(
    st.lists(st.sampled_from([SENTENCE, "the vault", "in Lyon", "opens with", "4471 zebra", "\n", ". ", "x"]))
)
def test_nothing_of_it_is_left_however_it_was_wrapped(parts: list[str]) -> None:
    known = Forgotten.of([ENTRY])
    assert not known.drops(known.redact(" ".join(parts)))


@given(st.text(), st.text())
def test_any_entry_is_found_in_itself_if_it_has_words(before: str, text: str) -> None:
    known = Forgotten.of([text])
    assert not known.drops(known.redact(f"{before}\n{text}"))


@given(st.text(st.sampled_from("aB_9 .-\n"), max_size=30))
def test_words_are_the_same_whether_other_letters_stand_beside_them(text: str) -> None:
    known = Forgotten.of([text])
    assert known.drops(text) == known.drops(f"\u00e9\n{text}\n\u00e9")


WORDINGS = st.text(st.sampled_from("aBs_9 .-\n\u00df\u0130\u0345\u03a3\u0301\u6771\u0e01"), max_size=12)


@given(WORDINGS, WORDINGS, WORDINGS)
def test_a_text_that_is_known_is_found_where_its_hash_is_found(before: str, text: str, after: str) -> None:
    known = Forgotten.of([text])
    hashed = known.merge(Forgotten([]))
    for other in (before, f"{before}{text}{after}", f"{before}\n{text.upper()}\n{after}"):
        assert (known.drops(other), known.redact(other)) == (hashed.drops(other), hashed.redact(other))


def test_turns_lose_it_and_those_without_words_go(home: Workspace) -> None:
    moment = datetime(2026, 11, 16, tzinfo=UTC)
    turns = [
        Turn("user", f"Remember: {SENTENCE}", 2, moment),
        Turn("assistant", SENTENCE, 3),
        Turn("user", "ok", 4),
    ]
    kept = forgotten(home, ENTRY).turns("sessions/a.jsonl", turns)
    assert kept == (Turn("user", "Remember:", 2, moment), Turn("user", "ok", 4))


def test_where_nothing_was_forgotten_turns_are_not_looked_at(home: Workspace) -> None:
    turns = (Turn("user", "anything", 1),)
    assert Forgotten.load(home).turns("sessions/a.jsonl", turns) is turns


def test_a_forgotten_session_has_no_turns(home: Workspace) -> None:
    bury(home, [], ["s1"])
    known = Forgotten.load(home)
    assert known.turns("sessions/s1.jsonl.reset.2026-01-01T00-00-00Z", [Turn("user", "hello", 1)]) == ()
    assert known.turns("sessions/s2.jsonl", [Turn("user", "hello", 1)]) == (Turn("user", "hello", 1),)


# On disk


def test_the_file_holds_no_word_of_it(home: Workspace) -> None:
    forgotten(home, ENTRY)
    kept = (home.private / FILE_NAME).read_text(encoding="utf-8").lower()
    assert not [word for word in ("vault", "lyon", "4471 ", "zebra", "anna") if word in kept]


def test_the_files_are_for_the_owner_alone(home: Workspace) -> None:
    forgotten(home, ENTRY)
    modes = [(home.private / name).stat().st_mode & 0o777 for name in (FILE_NAME, SALT_NAME)]
    assert modes == [0o600, 0o600]


def test_the_same_text_has_other_hashes_in_another_workspace(tmp_path: Path) -> None:
    seen = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        home = Workspace.at(tmp_path / name)
        bury(home, [ENTRY])
        lines = (home.private / FILE_NAME).read_text(encoding="utf-8").splitlines()
        seen.append({json.loads(line)["hash"] for line in lines})
    assert seen[0].isdisjoint(seen[1])


def test_forgetting_twice_notes_it_once(home: Workspace) -> None:
    hashes = []
    for _ in range(2):
        bury(home, [ENTRY])
        lines = (home.private / FILE_NAME).read_text(encoding="utf-8").splitlines()
        hashes.append([json.loads(line)["hash"] for line in lines])
    assert hashes[0] == hashes[1]


def test_more_is_added_to_what_was_forgotten(home: Workspace) -> None:
    bury(home, [ENTRY])
    known = forgotten(home, "The second text that nobody should know")
    assert known.drops(SENTENCE)
    assert known.drops("the second text that nobody should know")


def test_a_forgotten_file_is_known_by_its_path(home: Workspace) -> None:
    bury(home, [], files=["memory/a.md"])
    known = Forgotten.load(home)
    assert (known.drops_file("memory/a.md"), known.drops_file("memory/b.md")) == (True, False)


def test_what_a_copy_forgot_is_counted_once(home: Workspace, tmp_path: Path) -> None:
    theirs = forgotten(home, ENTRY)
    (tmp_path / "other").mkdir()
    other = Workspace.at(tmp_path / "other")
    assert adopt(other, theirs) == len((home.private / FILE_NAME).read_text(encoding="utf-8").splitlines())
    assert adopt(other, theirs) == 0


def test_of_a_copy_that_forgot_nothing_nothing_is_taken(home: Workspace) -> None:
    assert adopt(home, Forgotten([])) == 0
    assert not home.private.exists()


def test_what_never_forgot_takes_the_salt_of_the_other(home: Workspace, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    merged = Forgotten.load(Workspace.at(tmp_path / "other")).merge(forgotten(home, ENTRY))
    assert merged.salt == (home.private / SALT_NAME).read_bytes()


def test_a_line_that_somebody_changed_takes_no_other_with_it(home: Workspace) -> None:
    bury(home, [ENTRY])
    path = home.private / FILE_NAME
    path.write_bytes(b'{"hash": 1\n[]\n"x"\n\xff\n' + path.read_bytes())
    assert Forgotten.load(home).drops(SENTENCE)


def test_without_the_salt_nobody_pretends_to_know(home: Workspace) -> None:
    bury(home, [ENTRY])
    (home.private / SALT_NAME).unlink()
    with pytest.raises(WorkspaceError, match="does not say what was forgotten"):
        Forgotten.load(home)


def test_a_workspace_without_the_files_forgot_nothing(home: Workspace) -> None:
    assert not Forgotten.load(home)
    assert not home.private.exists()


# Remembering again


def test_what_is_remembered_again_is_not_forgotten_any_more(home: Workspace) -> None:
    assert forgotten(home, ENTRY).lift(ENTRY)
    assert not Forgotten.load(home).drops(ENTRY)


def test_only_what_is_remembered_again_is_lifted(home: Workspace) -> None:
    known = forgotten(home, ENTRY, "The second text that nobody should know")
    known.lift(f"New: {SENTENCE}")
    assert not Forgotten.load(home).drops(SENTENCE)
    assert Forgotten.load(home).drops("the second text that nobody should know")


def test_lifting_something_else_changes_nothing(home: Workspace) -> None:
    known = forgotten(home, ENTRY)
    before = (home.private / FILE_NAME).read_bytes()
    assert not known.lift("Something else entirely, of some length")
    assert (home.private / FILE_NAME).read_bytes() == before


# Names and markers


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("- 14:32 text", "text"),
        ("- [ ] task", "task"),
        ("  1. 9:05 — text", "text"),
        ("* 2026-11-16: text [session a b]", "text"),
        ("- **14:32** text", "text"),
        ("14 apples", "14 apples"),
        ("- 5% off", "5% off"),
    ],
)
def test_marker_time_day_and_session_are_not_part_of_the_words(line: str, words: str) -> None:
    assert bare(line) == words


@pytest.mark.parametrize(
    ("path", "session"),
    [("sessions/a.b.jsonl", "a.b"), ("sessions/a.jsonl.deleted.2026-01-01T00-00-00Z", "a"), ("x.jsonl", "x")],
)
def test_a_transcript_is_named_by_its_session(path: str, session: str) -> None:
    assert session_of(path) == session
