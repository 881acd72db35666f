"""What a union merge leaves in notes is read as one: facts by their ids, entries of a log by their words."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from memlines import Memory
from memlines.text.merges import repeats_in
from tests.memories import WORDS_ONLY, write

ID, OTHER = "k3f5x2m7qa", "m2p6t7u4wc"
LIVE = f"- 2026-11-14 [fact] Staging listens on port 8080. ^{ID}"
STRUCK = f"- 2026-11-14 [fact] ~~Staging listens on port 8080.~~ {{until: 2026-11-15, now: {OTHER}}} ^{ID}"
EDITED = f"- 2026-11-14 [fact] Staging listens on port 9090. {{edited: 2026-11-16}} ^{ID}"
SAME_DAY = f"- 2026-11-14 [fact] Staging listens on port 9191. {{edited: 2026-11-14}} ^{ID}"
LATER = f"- 2026-11-14 [fact] Staging listens on port 7070. {{edited: 2026-11-17}} ^{ID}"
REDATED = f"- 2026-11-18 [fact] Staging listens on port 6060. ^{ID}"
REVIEWED = f"- 2026-11-14 [fact] Staging listens on port 8080. {{reviewed}} ^{ID}"
REWORDED = f"- 2026-11-14 [fact] Staging answers on port 8181. ^{ID}"
WEIGHED = f"- 2026-11-14 [fact] Staging listens on port 8080. {{importance: 0.9}} ^{ID}"
STRUCK_TOO = f"- 2026-11-14 [fact] ~~Staging listens on port 8080.~~ {{until: 2026-11-15}} ^{ID}"
TEA = f"- 2026-11-16 [preference] Likes green tea. ^{OTHER}"
LOG = "memory/2026-11-16.md"


def note(*lines: str) -> str:
    return "\n".join(["# Facts", "", *lines, ""])


def opened(folder: Path, *lines: str, **others: str) -> Memory:
    write(folder, {"facts.md": note(*lines), **others})
    return Memory(folder, WORDS_ONLY)


def shown(memory: Memory) -> list[str]:
    """Return the raw lines that count."""
    return [line.raw for line in memory.facts.list(current=False)]


def text_of(folder: Path, path: str = "memory/facts.md") -> str:
    return (folder / path).read_text(encoding="utf-8")


def either_order(*lines: str) -> list[tuple[str, ...]]:
    return [lines, lines[::-1]]


# Which line counts


@pytest.mark.parametrize(
    ("winner", "loser"),
    [
        (STRUCK, LIVE),
        (STRUCK, LATER),
        (STRUCK, REDATED),
        (EDITED, LIVE),
        (SAME_DAY, LIVE),
        (LATER, EDITED),
        (REDATED, LATER),
        (REVIEWED, LIVE),
        (LIVE, LIVE),
        (STRUCK_TOO, STRUCK_TOO),
    ],
)
def test_one_of_two_lines_counts_in_either_order(workspace: Path, winner: str, loser: str) -> None:
    for lines in either_order(winner, loser):
        with opened(workspace, *lines, TEA) as memory:
            assert shown(memory) == [winner, TEA]


def test_of_three_lines_the_newest_counts(workspace: Path) -> None:
    with opened(workspace, LIVE, LATER, EDITED) as memory:
        assert shown(memory) == [LATER]


@pytest.mark.parametrize("lines", either_order(STRUCK, STRUCK_TOO))
def test_what_replaced_a_fact_is_no_conflict(workspace: Path, lines: tuple[str, ...]) -> None:
    with opened(workspace, *lines) as memory:
        assert (len(shown(memory)), memory.sync().warnings) == (1, ())


@pytest.mark.parametrize("other", [REWORDED, WEIGHED])
def test_lines_that_contradict_each_other_both_count(workspace: Path, other: str) -> None:
    with opened(workspace, LIVE, other) as memory:
        assert shown(memory) == [LIVE, other]


def test_in_a_conflict_the_same_line_has_the_id_in_either_order(workspace: Path) -> None:
    found = []
    for lines in either_order(LIVE, REWORDED):
        with opened(workspace, *lines) as memory:
            found.append({line.fact for line in memory.facts.list()})
    assert found[0] == found[1]


def test_a_conflict_is_reported_with_both_lines(workspace: Path) -> None:
    with opened(workspace, LIVE, TEA, REWORDED) as memory:
        (warning,) = memory.sync().warnings
    assert warning.startswith("memory/facts.md has a merge conflict on lines 3 and 5, which say different")


def test_storing_a_fact_beside_a_conflict_reports_it(workspace: Path) -> None:
    with opened(workspace, LIVE, REWORDED) as memory:
        stored = memory.facts.store("Prefers tabs over spaces")
    assert any("lines 3 and 4" in warning for warning in stored.warnings)


def test_what_was_decided_is_not_reported(workspace: Path) -> None:
    with opened(workspace, LIVE, STRUCK) as memory:
        assert memory.sync().warnings == ()


def test_a_fact_that_was_written_by_hand_is_the_same_after_a_command_changed_it(workspace: Path) -> None:
    with opened(workspace, "- Likes green tea", "- Likes rain") as memory:
        struck = memory.facts.store("Likes black tea", replaces=memory.facts.list()[0].fact.id).old
        assert struck is not None
    for lines in either_order("- Likes green tea", struck.raw):
        with opened(workspace, *lines, "- Likes rain") as memory:
            assert shown(memory) == [struck.raw, "- Likes rain"]


def test_equal_lines_without_an_id_are_one(workspace: Path) -> None:
    with opened(workspace, "- Likes tea", TEA, "- Likes tea") as memory:
        assert [line.first for line in memory.facts.list()] == [3, 4]


def test_equal_lines_without_an_id_below_other_headings_are_others(workspace: Path) -> None:
    with opened(workspace, "## Ana", "- Likes tea", "", "## Ben", "- Likes tea") as memory:
        assert len(memory.facts.list()) == 2


def test_forgetting_a_line_without_an_id_removes_its_copy(workspace: Path) -> None:
    with opened(workspace, "- Likes peppermint tea", TEA, "- Likes peppermint tea") as memory:
        memory.facts.forget([memory.facts.list()[0].fact.id])
    assert text_of(workspace) == note(TEA)


# Where it counts


def test_a_search_finds_the_line_that_counts_and_no_other(workspace: Path) -> None:
    with opened(workspace, LIVE, EDITED) as memory:
        assert [hit.citation for hit in memory.search("which port does staging listen on?")] == [
            "memory/facts.md#L4"
        ]


def test_words_of_the_other_line_find_nothing(workspace: Path) -> None:
    with opened(workspace, LIVE, EDITED) as memory:
        assert memory.search("8080").hits == ()


def test_a_recall_of_entries_shows_one_line(workspace: Path) -> None:
    with opened(workspace, LIVE, EDITED) as memory:
        assert [one.citation for one in memory.recall("staging")] == ["memory/facts.md#L4"]


def test_a_note_that_loses_the_line_that_counts_shows_the_other(workspace: Path) -> None:
    many = [f"- 2026-11-14 [fact] Number {n} is a number among many others of its kind." for n in range(900)]
    named = [
        f"{line} ^{'abcdefghij'[n // 100]}{'abcdefghij'[n // 10 % 10]}{'abcdefghij'[n % 10]}aaaaaaa"
        for n, line in enumerate(many)
    ]
    with opened(workspace, *named, LIVE) as memory:
        memory.facts.list()
        for lines in ([LIVE, EDITED], [LIVE]):
            write(workspace, {"facts.md": note(*named, *lines)})
            assert shown(memory)[900:] == lines[-1:]


# The next write


@pytest.mark.parametrize("lines", either_order(LIVE, EDITED))
def test_the_next_fact_takes_the_other_line_out(workspace: Path, lines: tuple[str, ...]) -> None:
    with opened(workspace, *lines, TEA) as memory:
        stored = memory.facts.store("Prefers tabs over spaces")
    assert text_of(workspace) == note(EDITED, TEA, stored.line.raw)


def test_a_change_of_the_fact_takes_the_other_line_out(workspace: Path) -> None:
    with opened(workspace, LIVE, EDITED, TEA) as memory:
        changed = memory.facts.edit(ID, "Staging listens on port 5050.")
    assert text_of(workspace) == note(changed.raw, TEA)


def test_replacing_the_fact_takes_the_other_line_out(workspace: Path) -> None:
    with opened(workspace, EDITED, LIVE) as memory:
        stored = memory.facts.store("Staging listens on a socket", replaces=ID)
    assert stored.old is not None
    assert text_of(workspace) == note(stored.old.raw, stored.line.raw)


def test_an_undo_brings_the_other_line_back(workspace: Path) -> None:
    with opened(workspace, LIVE, EDITED) as memory:
        memory.facts.store("Prefers tabs over spaces")
        memory.undo()
    assert text_of(workspace) == note(LIVE, EDITED)


def test_changing_one_side_of_a_conflict_decides_it(workspace: Path) -> None:
    with opened(workspace, LIVE, REWORDED) as memory:
        name = next(line.fact.id for line in memory.facts.list() if line.fact.id == ID)
        memory.facts.edit(name, "Staging listens on port 5050.")
        assert [line.fact.text for line in memory.facts.list()] == ["Staging listens on port 5050."]


@pytest.mark.parametrize("text", ["Staging listens on port 5050.", "Staging listens on port 9090."])
@pytest.mark.parametrize("lines", either_order(EDITED, LATER.replace("-17}", "-16}")))
def test_an_edit_decides_a_conflict_of_edits_on_any_day(
    workspace: Path, lines: tuple[str, ...], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(workspace, *lines, TEA) as memory:
        moment = datetime(2026, 11, 16, 12, tzinfo=UTC)
        monkeypatch.setattr("memlines.memory.facts.facts.local_now", lambda *_: moment)
        changed = memory.facts.edit(ID, text)
        assert (changed.fact.text, memory.facts.conflicts()) == (text, ())
    assert text_of(workspace) == note(changed.raw, TEA)


def test_changing_the_other_side_makes_it_a_fact_of_its_own(workspace: Path) -> None:
    with opened(workspace, LIVE, REWORDED) as memory:
        name = next(line.fact.id for line in memory.facts.list() if line.fact.id != ID)
        memory.facts.edit(name, "Production listens on port 443.")
        assert len(memory.facts.list()) == 2
        assert memory.sync().warnings == ()


def test_an_edit_says_its_day(workspace: Path) -> None:
    with opened(workspace, TEA) as memory:
        line = memory.facts.edit(OTHER, "Likes black tea.")
    assert line.raw == f"- 2026-11-16 [preference] Likes black tea. {{edited: {line.fact.edited}}} ^{OTHER}"


# Forgetting


@pytest.mark.parametrize("lines", either_order(STRUCK, EDITED))
def test_forgetting_a_fact_removes_both_lines(workspace: Path, lines: tuple[str, ...]) -> None:
    with opened(workspace, *lines, TEA) as memory:
        receipt = memory.facts.forget([ID])
    assert (text_of(workspace), receipt.complete) == (note(TEA), True)


def test_forgetting_the_line_that_counts_by_its_citation_removes_both(workspace: Path) -> None:
    with opened(workspace, LIVE, EDITED, TEA) as memory:
        memory.forget(memory.forget_candidates("memory/facts.md#L4"))
    assert text_of(workspace) == note(TEA)


def test_forgetting_removes_the_words_of_a_line_that_was_taken_out_before(workspace: Path) -> None:
    with opened(workspace, LIVE, LATER) as memory:
        memory.facts.store("Prefers tabs over spaces")
        memory.facts.forget([ID])
    kept = [path.read_bytes() for path in (workspace / ".memory").rglob("*") if path.is_file()]
    assert not any(b"8080" in content or b"7070" in content for content in kept)


def test_forgetting_one_side_of_a_conflict_leaves_the_other(workspace: Path) -> None:
    with opened(workspace, LIVE, REWORDED) as memory:
        memory.facts.forget([line for line in memory.facts.list() if line.raw == LIVE])
    assert text_of(workspace) == note(REWORDED)


# Marks of conflicts


MARKED = note("<<<<<<< HEAD", LIVE, "=======", TEA, ">>>>>>> other")


def test_facts_between_the_marks_of_a_conflict_are_read(workspace: Path) -> None:
    write(workspace, {"facts.md": MARKED})
    with Memory(workspace, WORDS_ONLY) as memory:
        assert [line.fact.text for line in memory.facts.list()] == [
            "Staging listens on port 8080.",
            "Likes green tea.",
        ]


def test_a_fact_is_stored_behind_the_marks_and_the_conflict_is_reported(workspace: Path) -> None:
    write(workspace, {"facts.md": MARKED})
    with Memory(workspace, WORDS_ONLY) as memory:
        stored = memory.facts.store("Prefers tabs over spaces")
    assert text_of(workspace) == f"{MARKED}{stored.line.raw}\n"
    assert "memory/facts.md has a merge conflict on line 3" in " ".join(stored.warnings)


def test_a_fact_between_the_marks_can_be_replaced(workspace: Path) -> None:
    write(workspace, {"facts.md": MARKED})
    with Memory(workspace, WORDS_ONLY) as memory:
        stored = memory.facts.store("Likes black tea", replaces=OTHER)
    assert stored.old is not None
    assert text_of(workspace) == f"{MARKED.replace(TEA, stored.old.raw)}{stored.line.raw}\n"


def test_an_entry_is_remembered_behind_the_marks(workspace: Path) -> None:
    marked = "# Day\n\n<<<<<<< HEAD\n- 10:00 one\n=======\n- 10:05 two\n>>>>>>> other\n"
    write(workspace, {"tea.md": marked})
    with Memory(workspace, WORDS_ONLY) as memory:
        memory.remember("Tea is served at four", to="memory/tea.md")
        (warning,) = memory.search("tea").warnings
        assert [one.text for one in memory.recall(topic="tea")] == [
            text_of(workspace, "memory/tea.md").splitlines()[-1],
            "- 10:05 two",
            "- 10:00 one",
        ]
    assert text_of(workspace, "memory/tea.md").startswith(marked)
    assert warning.startswith("memory/tea.md has a merge conflict on line 3")


# Logs

DOUBLED = "# 2026-11-16\n\n- 10:00 The heron is grey\n- 10:05 Tea\n- 10:00 The heron is grey\n"


def test_an_entry_that_a_log_has_twice_is_recalled_once(workspace: Path) -> None:
    write(workspace, {"2026-11-16.md": DOUBLED})
    with Memory(workspace, WORDS_ONLY) as memory:
        assert [one.citation for one in memory.recall("heron")] == [f"{LOG}#L3"]
        assert [one.citation for one in memory.recall(recent=True)] == [f"{LOG}#L4", f"{LOG}#L3"]


def test_an_entry_that_a_log_has_twice_is_found_once(workspace: Path) -> None:
    far = "".join(f"- 11:{minute:02} Something else happened, number {minute}\n" for minute in range(60))
    write(workspace, {"2026-11-16.md": DOUBLED.replace("- 10:05 Tea\n", far)})
    with Memory(workspace, WORDS_ONLY) as memory:
        assert [hit.start_line for hit in memory.search("heron grey")] == [3]


@pytest.mark.parametrize("line", [3, 5])
def test_forgetting_an_entry_of_a_log_removes_its_copy(workspace: Path, line: int) -> None:
    write(workspace, {"2026-11-16.md": DOUBLED})
    with Memory(workspace, WORDS_ONLY) as memory:
        receipt = memory.forget(memory.forget_candidates(f"{LOG}#L{line}"))
    assert (text_of(workspace, LOG), receipt.complete) == ("# 2026-11-16\n\n- 10:05 Tea\n", True)


def test_equal_entries_of_a_topic_note_are_both_shown(workspace: Path) -> None:
    write(workspace, {"tea.md": "# Tea\n\n- green\n- black\n- green\n"})
    with Memory(workspace, WORDS_ONLY) as memory:
        assert len(memory.recall(topic="tea")) == 3


def test_equal_entries_below_other_headings_are_others() -> None:
    assert repeats_in("# Anna\n\n- done\n\n# Bert\n\n- done\n") == []


def test_equal_paragraphs_of_a_log_are_repeats() -> None:
    assert [one.first for one in repeats_in("Rain.\n\n- tea\n\nRain.\n")] == [5]


def test_an_entry_of_several_lines_repeats_only_an_equal_one() -> None:
    log = "- 10:00 one\n  more\n- 10:00 one\n- 10:00 one\n  more\n"
    assert [(one.first, one.last) for one in repeats_in(log)] == [(4, 5)]
