"""What is forgotten goes from the record of what agents were shown, too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from memlines.agent import snapshot
from memlines.files.shown import Answer, ShownLine, read_answers, shown_lock
from memlines.memory.notes import forget as forgetting
from memlines.memory.notes.candidates import RECORD
from memlines.memory.recording import record
from memlines.paths import Workspace
from memlines.settings import load
from memlines.text.matching import entry_id
from tests.indexes import write
from tests.memory.forgetting import DAY, SECRET, Home, home_in, talk_in

pytestmark = pytest.mark.promise("P14")

ANNA = "memory/people/anna.md"


@pytest.fixture
def home(workspace: Path) -> Home:
    return home_in(workspace)


def show(home: Home, *lines: str, session: str = "one", query: str = "a question") -> None:
    place = Workspace.at(home.folder)
    shown = [ShownLine(line) for line in lines]
    record(place, load(place).settings, "search", shown, session=session, query=query)


def answers(home: Home) -> list[Answer]:
    return read_answers(Workspace.at(home.folder))


def cited(home: Home) -> list[list[str]]:
    return [[line.citation for line in answer.lines] for answer in answers(home)]


def test_a_forgotten_entry_goes_with_the_query_that_found_it(home: Home) -> None:
    show(home, f"{DAY}#L3-L5", query="who hides them?")
    receipt = home.forget(f"{DAY}#L4")
    (left,) = answers(home)
    assert (left.query, [line.citation for line in left.lines]) == ("", [f"{DAY}#L3", f"{DAY}#L5"])
    assert (receipt.removed["shown"], receipt.complete) == (1, True)


def test_an_answer_that_showed_nothing_else_goes_whole(home: Home) -> None:
    show(home, f"{DAY}#L4")
    show(home, f"{ANNA}#L3")
    home.forget(f"{DAY}#L4")
    assert cited(home) == [[f"{ANNA}#L3"]]


def test_an_entry_is_recognised_wherever_it_was_shown(home: Home) -> None:
    show(home, f"{DAY}#L4")
    text = home.text(DAY)
    write(home.folder, {DAY: f"A line above.\n\n{text}"})
    home.forget(f"{DAY}#L6")
    assert cited(home) == []


def test_an_earlier_wording_on_the_same_line_goes_too(home: Home) -> None:
    show(home, f"{DAY}#L4")
    write(home.folder, {DAY: home.text(DAY).replace("Lyon", "Marseille")})
    home.forget(f"{DAY}#L4")
    assert cited(home) == []


def test_a_query_that_says_what_was_forgotten_goes(home: Home) -> None:
    show(home, f"{ANNA}#L3", query=f"Did I say that {SECRET}?")
    show(home, f"{ANNA}#L3", query="does Anna like trains?")
    receipt = home.forget(f"{DAY}#L4")
    assert [one.query for one in answers(home)] == ["", "does Anna like trains?"]
    assert (home.traces(), receipt.complete) == ([], True)


def test_a_piece_of_what_was_forgotten_goes_from_a_query(home: Home) -> None:
    show(home, f"{ANNA}#L3", query="The vaultkeeper Quintessa hides?")
    assert home.forget(f"{DAY}#L4").complete
    assert home.traces([b"vaultkeeper"]) == []


def test_a_forgotten_note_takes_all_that_cites_it(home: Home) -> None:
    show(home, f"{ANNA}#L3", f"{DAY}#L3")
    write(home.folder, {ANNA: "# Anna\n\nAnna moved away.\n"})
    home.forget(ANNA)
    assert cited(home) == [[f"{DAY}#L3"]]


def test_a_forgotten_fact_goes_with_its_earlier_wordings(home: Home) -> None:
    with home.memory as memory:
        first = memory.facts.store("The vaultkeeper sleeps in the attic on Mondays")
        show(home, first.citation)
        memory.facts.edit(first.line.fact.id, text="The vaultkeeper sleeps in the cellar on Sundays")
        other = memory.facts.store("Rain falls mainly on the plain in Spain")
        show(home, first.citation, other.citation)
        memory.facts.forget([first.line.fact.id])
    assert [[line.id for line in one.lines] for one in answers(home)] == [[entry_id(other.line.fact.text)]]


def test_a_forgotten_turn_of_a_conversation_goes(workspace: Path) -> None:
    talk = talk_in(workspace)
    show(talk, "sessions/s1.jsonl#L2-L3", "sessions/s1.jsonl#L5")
    talk.forget("sessions/s1.jsonl#L2")
    assert cited(talk) == [["sessions/s1.jsonl#L5"]]


def test_a_forgotten_conversation_goes_with_what_it_was_shown(workspace: Path) -> None:
    talk = talk_in(workspace)
    show(talk, "sessions/s1.jsonl#L5", f"{ANNA}#L3", session="later")
    show(talk, f"{ANNA}#L3", session="s1")
    talk.forget("sessions/s1.jsonl")
    assert [(one.session, [line.citation for line in one.lines]) for one in answers(talk)] == [
        ("later", [f"{ANNA}#L3"])
    ]


def test_a_forgotten_snapshot_goes(home: Home) -> None:
    with home.memory as memory:
        taken = snapshot.take(memory, "earlier", [{"role": "user", "content": "Good morning to all of you"}])
    assert taken is not None
    show(home, f"{taken.path}#L7", f"{ANNA}#L3")
    home.forget(taken.path.removeprefix(".memory/"))
    assert cited(home) == [[f"{ANNA}#L3"]]


def test_a_session_of_which_only_the_record_is_left_can_be_forgotten(home: Home) -> None:
    show(home, f"{ANNA}#L3", session="one")
    show(home, f"{ANNA}#L3", session="two")
    (found,) = home.candidates(session="one")
    receipt = home.forget(session="one")
    assert (found.kind, found.text, receipt.removed) == (RECORD, "one", {"shown": 1})
    assert [one.session for one in answers(home)] == ["two"]


def test_nothing_is_recorded_any_more_of_a_forgotten_session(home: Home) -> None:
    show(home, f"{ANNA}#L3", session="one")
    home.forget(session="one")
    show(home, f"{ANNA}#L3", session="one")
    assert answers(home) == []


def test_no_answer_is_recorded_while_something_is_forgotten(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer that was given before and is written down afterwards would name what is gone."""
    taken: list[bool] = []
    really: Callable[..., object] = forgetting._from_notes

    def look(plan: object) -> object:
        lock = shown_lock(Workspace.at(home.folder))
        try:
            with lock.held(0):
                taken.append(True)
        except Exception:  # noqa: BLE001 (whatever refuses it)
            taken.append(False)
        return really(plan)

    monkeypatch.setattr(forgetting, "_from_notes", look)
    home.forget(f"{DAY}#L4")
    assert taken == [False]


def test_a_run_that_is_cut_short_is_finished_by_the_next(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    show(home, f"{DAY}#L4")

    def fail(*_: object) -> int:
        raise OSError("the power is gone")

    chosen = home.candidates(f"{DAY}#L4")
    with monkeypatch.context() as broken:
        broken.setattr(forgetting, "forget_shown", fail)
        with pytest.raises(OSError, match="power"):
            home.forget_these(chosen)
    assert (cited(home), SECRET in home.text(DAY)) == ([[f"{DAY}#L4"]], True)
    home.forget(f"{DAY}#L4")
    assert (cited(home), SECRET in home.text(DAY)) == ([], False)
