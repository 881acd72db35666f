"""Remembering what is known already: when a text says nothing new, and when it must not be lost."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.memory.notes.duplicates import find_duplicate
from memlines.memory.notes.entries import block_of, usable_text
from memlines.memory.notes.remember import Remembered, remember
from memlines.paths import Workspace
from memlines.text.entries import Entry
from memlines.text.terms import telling_words
from tests.memories import write
from tests.memory.managers import IN_UTC, manager_of

NOW = datetime(2026, 11, 16, 14, 32, tzinfo=UTC)
DAY = "memory/2026-11-16.md"


@pytest.fixture
def home(workspace: Path) -> Workspace:
    return Workspace.at(workspace)


def keep(
    home: Workspace,
    text: str,
    *,
    session: str | None = None,
    now: datetime = NOW,
    force: bool = False,
) -> Remembered:
    return remember(manager_of(home), text, session=session, now=now, force=force)


def text_of(home: Workspace) -> str:
    return (home.root / DAY).read_bytes().decode()


def notes_of(home: Workspace) -> list[str]:
    return sorted(file.relative_to(home.root).as_posix() for file in home.root.rglob("*.md"))


def entry(text: str, line: int = 1) -> Entry:
    return Entry("item", line, line + text.count("\n"), text, "")


def is_known(new: str, old: str, *, path: str = "memory/x.md") -> bool:
    return find_duplicate(new, NOW, [(path, entry(block_of("10:00", usable_text(old))))]) is not None


def test_what_is_known_is_not_written_again(home: Workspace) -> None:
    first = keep(home, "We chose Postgres 17.")
    again = keep(home, "we chose *Postgres* 17", now=NOW + timedelta(hours=1))
    assert again == replace(first, created=False, duplicate=again.duplicate)
    assert again.duplicate is not None
    assert again.duplicate.snippet == "- 14:32 We chose Postgres 17."
    assert text_of(home).count("Postgres") == 1


def test_it_is_written_if_that_is_wanted(home: Workspace) -> None:
    keep(home, "one")
    assert keep(home, "one", force=True) == Remembered(DAY, 4, 4)


def test_the_session_does_not_count(home: Workspace) -> None:
    keep(home, "one thing", session="a")
    assert keep(home, "one thing", session="b").duplicate


def test_a_note_that_is_indexed_is_looked_at(home: Workspace) -> None:
    write(home.root, {"memory/x.md": "# X\n\nother\n\n- tea\n- we chose Postgres\n"})
    manager_of(home).sync()
    kept = keep(home, "We chose Postgres")
    assert (kept.citation, notes_of(home)) == ("memory/x.md#L6", ["memory/x.md"])


def test_a_note_that_is_not_indexed_yet_is_looked_at(home: Workspace) -> None:
    write(home.root, {"memory/x.md": "# X\n\nother\n"})
    manager_of(home).sync()
    write(home.root, {"memory/x.md": "# X\n\nother\n\n- tea\n- we chose Postgres\n"})
    kept = keep(home, "We chose Postgres")
    assert (kept.citation, notes_of(home)) == ("memory/x.md#L6", ["memory/x.md"])


def test_what_was_said_in_a_session_is_no_note(home: Workspace) -> None:
    with_sessions = replace(IN_UTC, sources=("memory", "sessions"))
    said = {"type": "message", "message": {"role": "user", "content": [{"type": "text", "text": "tea"}]}}
    write(home.root, {"sessions/a.jsonl": f"{json.dumps(said)}\n", "memory/x.md": "- coffee\n"})
    manager_of(home, with_sessions).sync()
    assert remember(manager_of(home, with_sessions), "tea", now=NOW).created


def test_a_note_that_is_gone_knows_nothing(home: Workspace) -> None:
    write(home.root, {"memory/gone.md": "- tea\n"})
    manager_of(home).sync()
    (home.root / "memory" / "gone.md").unlink()
    assert keep(home, "tea").created


@pytest.mark.parametrize("content", [b"no index at all" * 1_000, b""])
def test_an_index_that_cannot_be_used_keeps_nobody_from_writing(home: Workspace, content: bytes) -> None:
    write(home.root, {"memory/x.md": "- we chose Postgres\n"})
    manager = manager_of(home)
    manager.index_file.parent.mkdir()
    manager.index_file.write_bytes(content)
    assert keep(home, "tea").created
    assert keep(home, "We chose Postgres").citation == "memory/x.md#L1"


def test_nothing_in_a_text_narrows_the_search_for_it() -> None:
    assert telling_words('-force path:x "after:2026" tabs') == ["force", "path", "x", "2026", "tabs"]


LONG = (
    "the user wants every commit of the billing service signed and reviewed by two people from her own team"
)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Use tabs", "use tabs!"),
        ("**Use** `tabs`", "**use**  `tabs`".replace("use", "Use")),
        ("one\ntwo", "one two"),
        ("- a\n- b", "- a\n- b"),
        ("port 5432", "Port 5432."),
        (LONG, LONG.replace("her own team", "her team")),
        (LONG.replace("wants every", "wants every last"), LONG.replace("wants every", "wants every last")),
        (LONG.replace("two people", "the two people"), LONG),
        ("お茶が好き", "お茶が好き。"),
    ],
)
def test_the_same_in_other_clothes_is_known(new: str, old: str) -> None:
    assert is_known(new, old)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("port 5433", "port 5432"),
        ("use tabs", "don't use tabs"),
        ("don't use tabs", "use tabs"),
        ("moves on 2026-11-17", "moves on 2026-11-18"),
        ("from 1 to 2", "from 2 to 1"),
        ("costs $5", "costs €5"),
        ("at -5 degrees", "at 5 degrees"),
        ("10\u00b2 cells", "102 cells"),
        ("C# it is", "C it is"),
        ("git push -f", "git push -F"),
        ("`Makefile`", "`makefile`"),
        ("ready ✅", "ready ❌"),
        ("do we use tabs?", "do we use tabs"),
        ("Anna reports to Ben now", "Ben reports to Anna now"),
        (LONG, LONG.replace("billing", "search")),
        (LONG.replace("signed", "signed, tested"), LONG),
        (LONG.replace("wants", "never wants"), LONG),
        (LONG, LONG.replace("wants", "no longer wants")),
        (LONG, LONG.replace("every", "only every")),
        (LONG.replace("two", "2"), LONG.replace("two", "3")),
        ("我喜欢茶", "我不喜欢茶"),
        ("tea", "tea and coffee"),
        ("...", "!!!"),
    ],
)
def test_what_says_something_else_is_not_known(new: str, old: str) -> None:
    assert not is_known(new, old)


@pytest.mark.parametrize(
    ("day", "known"), [("2026-11-16", True), ("2026-11-15", False), ("2026-11-09", False)]
)
def test_words_for_days_mean_those_of_their_own_day(day: str, known: bool) -> None:
    assert is_known("the release is tomorrow", "The release is tomorrow", path=f"memory/{day}.md") is known


def test_words_for_days_without_a_day_are_no_duplicates() -> None:
    assert not is_known("the release is tomorrow", "the release is tomorrow")


def test_a_heading_is_no_duplicate() -> None:
    assert find_duplicate("Tabs", NOW, [("memory/x.md", Entry("heading", 1, 1, "# Tabs", ""))]) is None


NUMBERS = st.from_regex(r"-?\d{1,4}([.,:]\d{1,3})?%?", fullmatch=True)
WORDS = st.sampled_from(["port", "the", "is", "version", "on", "host", "at", "billing", "runs"])


@given(st.lists(st.one_of(NUMBERS, WORDS), max_size=12), st.lists(st.one_of(NUMBERS, WORDS), max_size=12))
def test_texts_with_different_numbers_are_never_the_same(new: list[str], old: list[str]) -> None:
    one, other = " ".join(["note", *new]), " ".join(["note", *old])
    if re.findall(r"\d+", one) != re.findall(r"\d+", other):
        assert not is_known(one, other)
