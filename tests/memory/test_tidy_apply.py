"""Applying a proposal: only what was chosen, all of an item or nothing, undone byte for byte."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines import Memory
from memlines.errors import UsageError
from memlines.memory.tidy.apply import TidyResult
from memlines.memory.tidy.proposal import TidyItem
from tests.memories import WORDS_ONLY, words_memory, write

NOW = datetime(2026, 6, 15, 12, tzinfo=UTC)
PROPOSAL = ".memory/tidy/proposal.md"
SAME = "- Anna reviews every schema change.\n"
NOTES = {
    "MEMORY.md": f"# Memory\r\n\r\n{SAME[:-1]}\r\n- The freeze lasts until 2026-03-01.\r\n",
    "team.md": f"# Team\n\n{SAME}- Karl writes the release notes.\n",
    "shop.md": "- 2026-01-05: Our database is MySQL.\n- 2026-04-05: Our database is Postgres.",
    **{f"2026-04-0{day}.md": "- 10:00 The VPN must be up before a deploy.\n" for day in (1, 2, 3)},
}
LONG = "# Memory\n\n## Travel\n\n" + "".join(
    f"- 2026-01-{day:02}: Trip {day} went to {'a far away town ' * 30}{day}.\n" for day in range(1, 31)
)


def contents(folder: Path) -> dict[str, bytes]:
    """Return what every file of a workspace holds, but for what is private."""
    files = (file for file in folder.rglob("*") if file.is_file() and ".memory" not in file.parts)
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}


def logs(folder: Path) -> dict[str, str]:
    found = folder.glob("memory/2026-*.md")
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in found}


@pytest.fixture
def memory(workspace: Path) -> Iterator[Memory]:
    with words_memory(workspace, NOTES) as opened:
        yield opened


def item_of(memory: Memory, kind: str) -> TidyItem:
    return next(item for item in memory.tidy.propose(now=NOW).items if item.kind == kind)


def test_proposing_changes_no_note(memory: Memory, workspace: Path) -> None:
    before = contents(workspace)
    assert len(memory.tidy.propose(now=NOW).items) == 4
    assert contents(workspace) == before


def test_applying_all_makes_every_edit(memory: Memory, workspace: Path) -> None:
    memory.tidy.propose(now=NOW)
    assert len(memory.tidy.apply().applied) == 4
    after = contents(workspace)
    assert after["MEMORY.md"].decode() == (
        f"# Memory\r\n\r\n{SAME[:-1]}\r\n- 2026-06-15: The VPN must be up before a deploy.\r\n"
    )
    assert after["memory/team.md"].decode() == "# Team\n\n- Karl writes the release notes.\n"
    assert after["memory/shop.md"].decode() == "- 2026-04-05: Our database is Postgres."


def test_only_the_items_that_are_named_are_applied(memory: Memory, workspace: Path) -> None:
    before = contents(workspace)
    assert memory.tidy.apply([item_of(memory, "duplicate").id]).refused == ()
    changed = {path for path, content in contents(workspace).items() if content != before[path]}
    assert changed == {"memory/team.md"}


@pytest.mark.parametrize("undo", ["memory", "tidy"])
def test_undo_brings_every_byte_back(memory: Memory, workspace: Path, undo: str) -> None:
    before = contents(workspace)
    memory.tidy.propose(now=NOW)
    memory.tidy.apply()
    (memory if undo == "memory" else memory.tidy).undo()
    assert contents(workspace) == before


def test_undo_of_a_tidy_keeps_what_was_remembered_since(memory: Memory, workspace: Path) -> None:
    before = contents(workspace)
    memory.tidy.propose(now=NOW)
    memory.tidy.apply()
    memory.remember("Karl likes tea.", to="memory/tea.md")
    memory.tidy.undo()
    assert {path: text for path, text in contents(workspace).items() if path != "memory/tea.md"} == before


def test_undo_without_anything_applied_is_refused(memory: Memory) -> None:
    memory.remember("Karl likes tea.")
    with pytest.raises(UsageError, match="nothing to undo"):
        memory.tidy.undo()


def test_after_an_undo_the_items_are_open_again(memory: Memory) -> None:
    proposed = memory.tidy.propose(now=NOW).items
    memory.tidy.apply()
    assert memory.tidy.open_items() == ()
    memory.undo()
    assert memory.tidy.open_items() == proposed


def test_a_dry_run_changes_nothing(memory: Memory, workspace: Path) -> None:
    before = contents(workspace)
    memory.tidy.propose(now=NOW)
    assert len(memory.tidy.apply(dry_run=True).applied) == 4
    assert contents(workspace) == before


def test_an_item_whose_line_changed_is_refused_and_the_others_are_applied(
    memory: Memory, workspace: Path
) -> None:
    item = item_of(memory, "duplicate")
    write(workspace, {"team.md": "# Team\n\n- Anna reviews every schema change, or Karl does.\n"})
    done = memory.tidy.apply()
    assert [one.id for one in done.refused] == [item.id]
    assert len(done.applied) == 3


def test_a_duplicate_is_not_removed_if_the_entry_to_keep_is_gone(memory: Memory, workspace: Path) -> None:
    item = item_of(memory, "duplicate")
    write(workspace, {"MEMORY.md": "# Memory\n"})
    assert [one.id for one in memory.tidy.apply([item.id]).refused] == [item.id]
    assert SAME.encode() in contents(workspace)["memory/team.md"]


def test_lines_that_moved_are_found_where_they_are_now(memory: Memory, workspace: Path) -> None:
    item = item_of(memory, "duplicate")
    write(workspace, {"team.md": f"# Team\n\nA line more.\n\n{SAME}"})
    memory.tidy.apply([item.id])
    assert contents(workspace)["memory/team.md"] == b"# Team\n\nA line more.\n"


def test_an_item_without_an_edit_cannot_be_applied(workspace: Path) -> None:
    lines = "- The upload limit is 50 MB.\n- The upload limit is 90 MB.\n"
    with words_memory(workspace, {"shop.md": lines}) as memory:
        item = item_of(memory, "contradiction")
        assert [one.why for one in memory.tidy.apply([item.id]).refused] == [
            "there is nothing to apply, only to look at"
        ]


def test_applying_again_says_that_it_was_done(memory: Memory, workspace: Path) -> None:
    names = tuple(item.id for item in memory.tidy.propose(now=NOW).items)
    memory.tidy.apply()
    before = contents(workspace)
    assert memory.tidy.apply() == TidyResult(known=names)
    assert contents(workspace) == before


def test_what_needs_a_review_is_applied_only_by_its_id(workspace: Path) -> None:
    notes = {f"2026-04-0{day}.md": "- The VPN must be up for deploys. [session s1]\n" for day in (1, 2, 3)}
    with words_memory(workspace, notes) as memory:
        item = item_of(memory, "promote")
        assert memory.tidy.apply() == TidyResult(left=(item.id,))
        assert memory.tidy.apply([item.id]).applied == (item.id,)


def test_an_unknown_id_is_refused_before_anything_is_changed(memory: Memory, workspace: Path) -> None:
    before = contents(workspace)
    item = item_of(memory, "duplicate")
    with pytest.raises(UsageError, match="has no item 'zz'"):
        memory.tidy.apply([item.id, "zz"])
    assert contents(workspace) == before


def test_what_was_declined_is_neither_applied_nor_proposed_again(memory: Memory) -> None:
    item = item_of(memory, "duplicate")
    memory.tidy.decline([item.id])
    assert item.id not in memory.tidy.apply(dry_run=True).applied
    assert item.id not in [one.id for one in memory.tidy.propose(now=NOW).items]


@pytest.mark.parametrize("damage", [lambda text: text + b"x", lambda text: text[:-9], lambda text: b""])
def test_a_proposal_that_was_changed_is_refused(
    memory: Memory, workspace: Path, damage: Callable[[bytes], bytes]
) -> None:
    memory.tidy.propose(now=NOW)
    file = workspace / PROPOSAL
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(UsageError, match="was changed or damaged"):
        memory.tidy.apply()


def test_without_a_proposal_there_is_nothing_to_apply(memory: Memory) -> None:
    with pytest.raises(UsageError, match="there is no proposal"):
        memory.tidy.apply()


def test_forgetting_a_line_removes_the_proposal_that_quotes_it(memory: Memory, workspace: Path) -> None:
    memory.tidy.propose(now=NOW)
    receipt = memory.forget(memory.forget_candidates("memory/team.md#L3"))
    assert not (workspace / PROPOSAL).exists()
    assert receipt.removed["proposals"] == 1


def test_what_was_forgotten_is_not_proposed(memory: Memory, workspace: Path) -> None:
    memory.forget(memory.forget_candidates("memory/team.md#L3"))
    write(workspace, {"team.md": SAME})
    assert "duplicate" not in [item.kind for item in memory.tidy.propose(now=NOW).items]


def test_a_note_that_would_be_too_large_stops_everything(workspace: Path) -> None:
    with words_memory(workspace, {"MEMORY.md": LONG}, files__max_bytes=len(LONG) + 10) as memory:
        memory.tidy.propose(now=NOW)
        write(workspace, {"travel.md": "x" * len(LONG)})
        with pytest.raises(Exception, match="above the limit"):
            memory.tidy.apply()
    assert contents(workspace)["MEMORY.md"].decode() == LONG


LINES = st.sampled_from(
    [
        "- Anna reviews every schema change.",
        "- 2026-01-05: Our database is MySQL.",
        "- 2026-04-05: Our database is Postgres.",
        "- The freeze lasts until 2026-03-01.",
        "- 10:00 The VPN must be up before a deploy.",
        "- Karl writes the release notes. [session s1]",
        "",
        "# A heading",
    ]
)
NAMES = st.sampled_from(["MEMORY.md", "team.md", *(f"2026-04-0{day}.md" for day in range(1, 5))])


@given(st.dictionaries(NAMES, st.lists(LINES, max_size=6), max_size=6), st.booleans())
def test_whatever_is_applied_every_daily_log_keeps_its_bytes(
    tmp_path_factory: pytest.TempPathFactory, notes: dict[str, list[str]], by_id: bool
) -> None:
    folder = tmp_path_factory.mktemp("workspace")
    with words_memory(folder, {name: "\n".join(lines) for name, lines in notes.items()}) as memory:
        before, every = logs(folder), contents(folder)
        items = memory.tidy.propose(now=NOW).items
        done = memory.tidy.apply([item.id for item in items] if by_id else None)
        assert logs(folder) == before
        if done.changes:
            memory.undo()
        assert contents(folder) == every


# Programs that are killed, and several at once

_DIE_AFTER_A_NOTE = """
import os, signal, sys
from memlines import Memory
from memlines.files import atomic
replace, seen = atomic.replace, []
def die(path, *rest, **more):
    if path.suffix == ".md" and ".memory" not in path.parts:
        if seen:
            os.kill(os.getpid(), signal.SIGKILL)
        seen.append(path)
    replace(path, *rest, **more)
import memlines.files.history as history
history.replace = die
Memory(sys.argv[1], {"embeddings.provider": "none"}).tidy.apply()
"""


_COUNT_REFUSED = """
import sys
from memlines import Memory
print(len(Memory(sys.argv[1], {"embeddings.provider": "none"}).tidy.apply().refused))
"""


@pytest.fixture
def killed(workspace: Path) -> Path:
    """A workspace in which moving entries from one note to another was killed between the two."""
    with words_memory(workspace, {"MEMORY.md": LONG}) as memory:
        memory.tidy.propose(now=NOW)
    died = subprocess.run([sys.executable, "-c", _DIE_AFTER_A_NOTE, workspace], check=False, timeout=60)
    assert died.returncode == -signal.SIGKILL
    assert (workspace / "memory/travel.md").exists()
    assert contents(workspace)["MEMORY.md"].decode() == LONG
    return workspace


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
def test_a_killed_apply_is_completed_by_the_next(killed: Path, tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    with words_memory(whole, {"MEMORY.md": LONG}) as memory:
        memory.tidy.propose(now=NOW)
        memory.tidy.apply()
    with Memory(killed, WORDS_ONLY) as memory:
        assert memory.tidy.apply().refused == ()
    assert contents(killed) == contents(whole)


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
def test_a_killed_apply_can_be_undone(killed: Path) -> None:
    with Memory(killed, WORDS_ONLY) as memory:
        memory.undo()
    assert contents(killed) == {"MEMORY.md": LONG.encode()}


def test_two_programs_that_apply_at_once_apply_each_item_once(workspace: Path, tmp_path: Path) -> None:
    write(workspace, NOTES)
    once = tmp_path / "once"
    write(once, NOTES)
    for folder in (workspace, once):
        with Memory(folder, WORDS_ONLY) as memory:
            memory.tidy.propose(now=NOW)
    with Memory(once, WORDS_ONLY) as memory:
        memory.tidy.apply()
    both = [
        subprocess.Popen([sys.executable, "-c", _COUNT_REFUSED, workspace], stdout=subprocess.PIPE)
        for _ in range(2)
    ]
    assert [process.communicate(timeout=60)[0].strip() for process in both] == [b"0", b"0"]
    assert contents(workspace) == contents(once)
