"""What a selector or a session points at."""

from __future__ import annotations

from pathlib import Path

import pytest

from memlines.errors import PathError, UsageError
from memlines.memory.notes.candidates import ForgetCandidate
from tests.indexes import write
from tests.memory.forgetting import DAY, Home, home_in, talk_in


@pytest.fixture
def home(workspace: Path) -> Home:
    return home_in(workspace)


@pytest.fixture
def talk(workspace: Path) -> Home:
    return talk_in(workspace)


def test_a_citation_selects_the_whole_entry(home: Home) -> None:
    write(home.folder, {"memory/x.md": "- one\n  and more\n- two\n"})
    found = home.candidates("memory/x.md#L2")
    assert found == (ForgetCandidate("memory/x.md", 1, 2, "- one\n  and more", "item"),)


def test_lines_over_several_entries_select_all_of_them(home: Home) -> None:
    found = home.candidates(f"{DAY}#L3-L4")
    assert [candidate.citation for candidate in found] == [f"{DAY}#L3", f"{DAY}#L4"]


def test_lines_without_an_entry_select_nothing(home: Home) -> None:
    with pytest.raises(PathError, match="nothing to forget"):
        home.candidates(f"{DAY}#L2")


def test_a_path_selects_the_note(home: Home) -> None:
    (found,) = home.candidates("memory/people/anna.md")
    assert (found.kind, found.citation) == ("note", "memory/people/anna.md")


@pytest.mark.parametrize(
    "selector", ["memory/none.md", "memory/none.md#L1", "../x.md", "sessions/none.jsonl"]
)
def test_what_does_not_exist_cannot_be_selected(home: Home, selector: str) -> None:
    with pytest.raises(PathError):
        home.candidates(selector)


@pytest.mark.parametrize("selector", ["", "  ", f"{DAY}#L0", f"{DAY}#L4-L3"])
def test_what_names_nothing_is_refused(home: Home, selector: str) -> None:
    with pytest.raises(UsageError):
        home.candidates(selector)


def test_words_select_the_entries_that_hold_them(home: Home) -> None:
    found = home.candidates("where does the vaultkeeper hide the xylophones?")
    assert [candidate.citation for candidate in found] == [f"{DAY}#L4"]


def test_words_that_nothing_holds_select_nothing(home: Home) -> None:
    assert home.candidates("zeppelin timetable") == ()


def test_words_select_turns_of_a_conversation(talk: Home) -> None:
    found = talk.candidates("train to Ghent source:sessions")
    assert [(candidate.citation, candidate.kind) for candidate in found] == [("sessions/s1.jsonl#L4", "turn")]


def test_a_session_selects_what_was_remembered_in_it(home: Home) -> None:
    write(home.folder, {"memory/x.md": "- 10:00 One [session abc]\n- 11:00 Two [session abd]\n- Three\n"})
    found = home.candidates(session="abc")
    assert [candidate.text for candidate in found] == ["- 10:00 One [session abc]"]


BLOCK = "<!-- session abc -->\n- 10:00 One\n- 10:00 Two\n  and more\n<!-- /session -->\n"


def of_session(home: Home, text: str, session: str = "abc") -> list[str]:
    write(home.folder, {"memory/x.md": text})
    return [candidate.citation.removeprefix("memory/x.md#") for candidate in home.candidates(session=session)]


def test_a_session_selects_what_stands_between_its_comments_and_what_names_it(home: Home) -> None:
    text = f"- 09:00 Zero [session abc]\n{BLOCK}- 11:00 Three\n- 12:00 Four [session abd]\n"
    assert of_session(home, text) == ["L1", "L3", "L4-L5"]


def test_an_entry_that_names_another_session_belongs_to_that_one(home: Home) -> None:
    text = "<!-- session abc -->\n- 10:00 One [session abd]\n- Two\n<!-- /session -->\n"
    assert (of_session(home, text), of_session(home, text, "abd")) == (["L3"], ["L2"])


@pytest.mark.parametrize(
    "text",
    [
        "<!-- session abc -->\n- 10:00 One\n- 11:00 Two\n",
        "<!-- session abc -->\n- One\n<!-- session abd -->\n- Two\n<!-- /session -->\n",
        "<!-- session abc -->\n- One\n\n# Later\n\n- Two\n<!-- /session -->\n",
        "- One\n<!-- /session -->\n- Two\n<!-- session abc -->\n",
        "```\n<!-- session abc -->\n```\n- One\n<!-- /session -->\n",
        "<!-- session abc -->\n- One\n  <!-- /session -->\n- Two\n",
        "<!-- session abcd -->\n- One\n<!-- /session -->\n",
        "<!-- session abc -->\nWords of somebody else.\n<!-- /session -->\n",
        "<!-- session abc -->\n<!-- /session -->\n- One\n",
    ],
)
def test_comments_that_are_not_a_whole_pair_select_nothing(home: Home, text: str) -> None:
    assert of_session(home, text) == []


def test_comments_are_read_with_other_line_ends_and_blank_lines(home: Home) -> None:
    text = "<!-- session abc -->  \r\n\r\n- One\r\n\r\n- Two\r\n\r\n<!-- /session -->\r\n- Three\r\n"
    assert of_session(home, text) == ["L3", "L5"]


def test_a_comment_that_names_a_session_is_nothing_to_forget(home: Home) -> None:
    write(home.folder, {"memory/x.md": BLOCK})
    with pytest.raises(PathError, match="nothing to forget"):
        home.candidates("memory/x.md#L1")


def test_a_session_selects_its_transcript_and_snapshots(talk: Home) -> None:
    folder = talk.folder / ".memory/snapshots"
    folder.mkdir()
    (folder / "s1.json").write_text("{}", encoding="utf-8")
    (folder / "x.json").write_text('{"session_id": "s1"}', encoding="utf-8")
    (folder / "s2.json").write_text('{"session_id": "s2"}', encoding="utf-8")
    found = {candidate.citation: candidate.kind for candidate in talk.candidates(session="s1")}
    assert found == {
        "sessions/s1.jsonl": "transcript",
        ".memory/snapshots/s1.json": "snapshot",
        ".memory/snapshots/x.json": "snapshot",
    }
