"""Search as of an earlier day: cited lines of that day, an index that is built once, nothing forgotten."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest

from memlines import Memory, PathError, UsageError
from memlines.embed.select import Choice
from memlines.memory.past import search
from memlines.paths import Workspace
from tests.memories import WORDS_ONLY, fake_memory, words_memory
from tests.memory.test_read_only import memlines
from tests.note_changes import edit
from tests.programs import Cli, read_only
from tests.providers import FakeProvider, MeaningsProvider
from tests.repositories import commit_notes, needs_git, set_clock, set_time

NOTE = "memory/decisions.md"
OLD = "- We use MySQL 8 for billing invoices."
NEW = "- We use Postgres 17 for billing invoices."
TEXT = f"# Decisions\n\n{OLD}\n\n## Drinks\n"
MARCH = "2026-03-01"


@pytest.fixture
def memory(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    """A memory whose note was changed in April."""
    with words_memory(workspace, {NOTE: TEXT}) as opened:
        changed(opened, monkeypatch)
        yield opened


def changed(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the note written in January and changed in April."""
    set_clock(monkeypatch, "2026-01-10")
    memory.remember("Coffee beans come from Anna.", to=NOTE)
    set_clock(monkeypatch, "2026-04-10")
    edit(memory.workspace, NOTE, 3, 3, NEW, OLD)
    set_time(memory.workspace.root / NOTE, "2026-04-10")


def cited(memory: Memory, query: str, day: str | None = MARCH) -> list[tuple[str, str]]:
    return [(hit.citation, hit.snippet.split("\n")[0]) for hit in memory.search(query, as_of=day)]


def kept(memory: Memory) -> list[Path]:
    return sorted((memory.workspace.private / "past").glob("*.sqlite"))


# Answers


def test_the_lines_of_that_day_answer_and_are_cited_with_it(memory: Memory) -> None:
    assert cited(memory, "billing invoices") == [(f"{NOTE}@{MARCH}#L3", OLD)]


def test_a_result_says_of_which_day_it_is(memory: Memory) -> None:
    assert [memory.search("billing", as_of=day).as_of for day in (MARCH, "2026-03", "2025", None)] == [
        date(2026, 3, 1),
        date(2026, 3, 31),
        date(2025, 12, 31),
        None,
    ]


def test_a_question_for_what_was_believed_is_answered_as_of_then(memory: Memory) -> None:
    result = memory.search("what did we believe about billing invoices in March 2026?")
    assert [(hit.path, hit.snippet) for hit in result] == [(f"{NOTE}@2026-03-31", OLD)]


def test_a_question_for_events_is_answered_from_the_notes_as_they_are(memory: Memory) -> None:
    assert memory.search("what did we do about billing invoices in March 2026?").as_of is None


def test_a_day_in_the_future_is_now(memory: Memory) -> None:
    day = (date.today() + timedelta(days=1)).isoformat()
    assert cited(memory, "billing invoices", day) == [(f"{NOTE}#L3", NEW)]


def test_before_all_history_the_answer_is_empty_and_says_since_when_it_is_known(memory: Memory) -> None:
    result = memory.search("billing", as_of="2020-01-01")
    known = "nothing is known of 2020-01-01: the notes are known since 2026-01-10"
    assert (result.hits, result.warnings) == ((), (known,))


@pytest.mark.parametrize("day", ["soon", "2026-02-31", "2026-13", ""])
def test_what_names_no_day_is_refused(memory: Memory, day: str) -> None:
    with pytest.raises(UsageError, match="names no day"):
        memory.search("billing", as_of=day)


def test_a_time_in_words_names_its_last_day(memory: Memory) -> None:
    yesterday = date.today() - timedelta(days=1)
    assert memory.search("billing", as_of="yesterday").as_of == yesterday


def test_days_in_a_query_are_seen_from_that_day(memory: Memory) -> None:
    log = memory.workspace.root / "memory/2026-02-28.md"
    log.write_text("- 10:00 The kiosk opened\n", encoding="utf-8")
    assert [path for path, _ in cited(memory, "what happened yesterday?")] == [
        f"memory/2026-02-28.md@{MARCH}#L1"
    ]


def test_sessions_are_not_part_of_it(memory: Memory) -> None:
    with pytest.raises(UsageError, match="sessions are not searched as of a day"):
        memory.search("billing", as_of=MARCH, sources=["sessions"])


def test_notes_of_which_only_dates_are_known_are_counted(memory: Memory) -> None:
    (memory.workspace.root / "memory/new.md").write_text("undated\n", encoding="utf-8")
    assert memory.search("billing", as_of=MARCH).warnings == (
        "of 1 note, only entries with a date are known for that day",
    )


def test_recall_lists_entries_of_the_notes_as_they_are(memory: Memory) -> None:
    found = memory.recall("what did we believe about billing invoices in March 2026?")
    assert (f"{NOTE}#L3", NEW) in [(entry.citation, entry.text) for entry in found]


# Reading what was cited


def test_a_citation_of_that_day_is_read_as_it_was(memory: Memory) -> None:
    excerpt = memory.read(f"{NOTE}@{MARCH}", 3, 1)
    assert (excerpt.path, excerpt.text, excerpt.total_lines) == (f"{NOTE}@{MARCH}", OLD, 7)


def test_a_note_that_was_not_there_is_not_found(memory: Memory) -> None:
    assert [memory.read(f"memory/{name}.md@{MARCH}").found for name in ("none", "decisions")] == [False, True]


def test_a_note_with_such_a_name_is_read_as_before(memory: Memory) -> None:
    name = "memory/me@2026-03-01.md"
    (memory.workspace.root / name).write_text("plain\n", encoding="utf-8")
    set_time(memory.workspace.root / name, "2026-01-01")
    assert [memory.read(path).text for path in (name, f"{name}@{MARCH}")] == ["plain", "plain"]


def test_no_path_outside_the_memory_is_read(memory: Memory) -> None:
    with pytest.raises(PathError, match="not part of this memory"):
        memory.read(f"../secret.md@{MARCH}")


def test_private_blocks_are_left_out(workspace: Path) -> None:
    with words_memory(workspace, {NOTE: "open words\n<private>\nhidden words\n</private>\n"}) as memory:
        set_time(workspace / NOTE, "2026-01-01")
        shown = memory.read(f"{NOTE}@{MARCH}", private=False).text
        assert ("hidden" in shown, cited(memory, "hidden")) == (False, [])


# The index of that day


def test_an_index_is_built_once(memory: Memory) -> None:
    cited(memory, "billing")
    before = [(file, file.stat().st_mtime_ns) for file in kept(memory)]
    cited(memory, "coffee")
    cited(memory, "coffee", "2026-03-02")  # on which the notes were the same
    assert [(file, file.stat().st_mtime_ns) for file in kept(memory)] == before


def test_an_index_is_private(memory: Memory) -> None:
    cited(memory, "billing")
    folder = memory.workspace.private / "past"
    assert {oct(file.stat().st_mode & 0o777) for file in (folder, *folder.iterdir())} == {"0o700", "0o600"}


def test_a_search_of_now_leaves_no_trace_of_this(memory: Memory) -> None:
    memory.search("billing")
    assert not (memory.workspace.private / "past").exists()


def test_another_index_is_built_when_more_is_known(memory: Memory) -> None:
    cited(memory, "billing")
    (memory.workspace.root / "memory/late.md").write_text("- 2026-02-01: billing is late\n", encoding="utf-8")
    assert f"memory/late.md@{MARCH}#L1" in [path for path, _ in cited(memory, "billing late")]


@pytest.mark.promise("P12")
def test_only_a_few_indexes_are_kept(memory: Memory) -> None:
    log = "".join(f"- 2026-02-{day:02}: billing\n" for day in range(1, 8))
    (memory.workspace.root / "memory/log.md").write_text(log, encoding="utf-8")
    for day in range(1, 8):
        cited(memory, "billing", f"2026-02-{day:02}")
    assert len(kept(memory)) == 4


@pytest.mark.parametrize("damage", [b"", b"no database", b"SQLite format 3\0 and no more"])
def test_a_damaged_index_is_built_again(memory: Memory, damage: bytes) -> None:
    before = cited(memory, "billing invoices")
    for file in kept(memory):
        file.write_bytes(damage)
    assert cited(memory, "billing invoices") == before


def test_a_link_in_place_of_the_folder_is_refused(memory: Memory, tmp_path: Path) -> None:
    (memory.workspace.private / "past").symlink_to(tmp_path)
    with pytest.raises(Exception, match="symbolic link"):
        cited(memory, "billing")


def test_a_read_only_workspace_keeps_it_in_the_cache(workspace: Path) -> None:
    commit_notes(workspace, "2026-01-10", {NOTE: f"{OLD}\n"})
    commit_notes(workspace, "2026-04-10", {NOTE: f"{NEW}\n"})
    with read_only(workspace):
        found = memlines(workspace, "search", "billing", "--as-of", MARCH)["results"]
    assert ([hit["snippet"] for hit in found], (workspace / ".memory").exists()) == ([OLD], False)


_KILLED = """
import sys, os, signal
from memlines import Memory
from memlines.index.sync import documents
def die(*_): os.kill(os.getpid(), signal.SIGKILL)
documents.Index.note = die
Memory(sys.argv[1], {"embeddings.provider": "none"}).search("billing", as_of="2026-03-01")
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no process is killed like that here")
def test_an_index_whose_builder_was_killed_is_not_used(memory: Memory) -> None:
    subprocess.run([sys.executable, "-c", _KILLED, str(memory.workspace.root)], check=False)
    assert (len(kept(memory)), cited(memory, "billing invoices")) == (1, [(f"{NOTE}@{MARCH}#L3", OLD)])


# Vectors


def test_meaning_finds_what_was_there(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    provider = MeaningsProvider({"mysql": (1, 0, 0, 0), "database": (1, 0, 0, 0), "coffee": (0, 1, 0, 0)})
    with fake_memory(workspace, {NOTE: TEXT}, provider) as memory:
        changed(memory, monkeypatch)
        result = memory.search("database", as_of=MARCH)
    assert ([hit.snippet for hit in result][:1], result.mode) == ([OLD], "hybrid")


def test_a_vector_that_the_index_has_is_not_made_again(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = FakeProvider()
    with fake_memory(workspace, {}, MeaningsProvider({})) as memory:
        memory._manager.choice = Choice("fake", provider)
        (workspace / "memory/same.md").write_text("- The kiosk sells trams\n", encoding="utf-8")
        set_time(workspace / "memory/same.md", "2026-01-01")
        memory.sync()
        before = provider.texts
        memory.search("trams", as_of=MARCH)
    assert provider.texts == before


def test_nothing_is_sent_to_make_a_vector(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    provider = FakeProvider(sends_to="https://example.org")
    with fake_memory(workspace, {NOTE: TEXT}, MeaningsProvider({})) as memory:
        memory._manager.choice = Choice("fake", provider)
        changed(memory, monkeypatch)
        result = memory.search("billing invoices", as_of=MARCH)
    assert ([hit.snippet for hit in result], result.mode, provider.texts) == ([OLD], "words", [])


# What was forgotten


def forget(memory: Memory, selector: str) -> None:
    receipt = memory.forget(memory.forget_candidates(selector))
    assert receipt.complete


def nowhere(memory: Memory, word: str) -> bool:
    """Return whether a word is found neither by a search nor in the notes as of any day."""
    days = ("2026-01-15", MARCH, "2026-04-30")
    texts = [memory.read(f"{path}@{day}").text for path in (NOTE, "memory/facts.md") for day in days]
    hits = [hit for day in days for hit in memory.search(word, as_of=day, min_score=0.0)]
    log = "".join(change.diff for change in memory.log(NOTE))
    return not any(word in text for text in (log, *texts, *(hit.snippet for hit in hits)))


@pytest.mark.promise("P14")
def test_a_forgotten_line_does_not_come_back_from_history(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_clock(monkeypatch, "2026-05-10")
    edit(memory.workspace, NOTE, 3, 3, OLD, NEW)  # it is there again, and in a kept version
    set_time(memory.workspace.root / NOTE, "2026-05-10")
    found = bool(cited(memory, "MySQL"))
    forget(memory, f"{NOTE}#L3")
    assert (found, nowhere(memory, "MySQL"), kept(memory) != []) == (True, True, True)


@needs_git
@pytest.mark.promise("P14")
def test_a_forgotten_line_does_not_come_back_from_git(workspace: Path) -> None:
    coffee = "- Coffee beans come from Anna."
    commit_notes(workspace, "2026-01-10", {NOTE: f"{TEXT}\n{coffee}\n"})
    commit_notes(workspace, "2026-04-10", {NOTE: f"# Decisions\n\n{coffee}\n{OLD}\n"})
    with words_memory(workspace, {}) as memory:
        found = [path for path, _ in cited(memory, "MySQL")]
        forget(memory, f"{NOTE}#L4")
        line = memory.read(f"{NOTE}@{MARCH}", 7, 1).text
        assert (found, nowhere(memory, "MySQL"), line) == ([f"{NOTE}@{MARCH}#L3"], True, coffee)


@needs_git
@pytest.mark.promise("P14")
def test_a_note_that_was_forgotten_whole_does_not_come_back_from_git(workspace: Path) -> None:
    commit_notes(workspace, "2026-01-10", {NOTE: "# Short\n\n- PIN 1\n"})
    with words_memory(workspace, {}) as memory:
        forget(memory, NOTE)
        assert (memory.read(f"{NOTE}@{MARCH}").found, cited(memory, "PIN")) == (False, [])


@needs_git
@pytest.mark.promise("P14")
def test_a_forgotten_fact_does_not_come_back(workspace: Path) -> None:
    with words_memory(workspace, {}) as memory:
        stored = memory.facts.store("The vaultkeeper Quintessa lives in Lyon")
        commit_notes(workspace, "2026-01-10", {})
        memory.facts.forget([stored.line.fact.id])
        assert nowhere_in_facts(memory, "Quintessa")


def nowhere_in_facts(memory: Memory, word: str) -> bool:
    text = memory.read(f"memory/facts.md@{MARCH}").text
    return word not in text and not memory.search(word, as_of=MARCH, min_score=0.0)


@pytest.mark.promise("P14")
def test_what_is_forgotten_while_an_index_is_about_to_be_built_is_not_in_it(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_folder = search._make_folder

    def forget_first(workspace: Workspace, folder: Path) -> None:
        monkeypatch.setattr(search, "_make_folder", make_folder)
        with Memory(workspace.root, WORDS_ONLY) as other:
            forget(other, f"{NOTE}#L7")
        make_folder(workspace, folder)

    monkeypatch.setattr(search, "_make_folder", forget_first)
    assert cited(memory, "coffee beans") == []
    assert [b"Coffee beans" in file.read_bytes() for file in kept(memory)] == [False]


@pytest.mark.promise("P14")
def test_forgetting_removes_the_indexes_of_earlier_days(memory: Memory) -> None:
    cited(memory, "billing")
    receipt = memory.forget(memory.forget_candidates(f"{NOTE}#L7"))
    assert (receipt.removed["past"], kept(memory)) == (1, [])


# Commands


def test_the_command_says_of_which_day_it_answers(memory: Memory, cli: Cli) -> None:
    shown = cli("search", "billing invoices", "--as-of", MARCH, "-w", memory.workspace.root)
    assert (shown.out.split("\n")[0].split()[2], shown.err) == (
        f"{NOTE}@{MARCH}#L3",
        f"As the notes were at the end of {MARCH}.\n",
    )


def test_json_has_the_day(memory: Memory, cli: Cli) -> None:
    found = [
        cli("search", "billing", "--json", "-w", memory.workspace.root, *more).json["as_of"]
        for more in (["--as-of", MARCH], [])
    ]
    assert found == [MARCH, None]


def test_get_shows_the_lines_of_a_day(memory: Memory, cli: Cli) -> None:
    assert cli("get", f"{NOTE}@{MARCH}#L3", "-w", memory.workspace.root).out == f"{OLD}\n"


def test_a_wrong_day_is_an_error_of_the_command(memory: Memory, cli: Cli) -> None:
    shown = cli("search", "billing", "--as-of", "2026-02-31", "-w", memory.workspace.root)
    assert (shown.code, shown.err) == (
        2,
        "Error: as_of is '2026-02-31', which names no day. "
        "Give a day such as 2026-03-01, or a month such as 2026-03\n",
    )
