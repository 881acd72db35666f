"""Recalling entries: the latest, the decisions, those of a topic, those that answer a query."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines import Memory
from memlines.errors import SettingsError, UsageError
from memlines.files.place import begin_workspace
from memlines.index.search.query import Query
from memlines.memory.asking import search_asked
from memlines.memory.manager import Manager
from memlines.memory.notes import recall as module
from memlines.memory.notes.entries import text_in
from memlines.memory.notes.recall import Recalled, recall
from memlines.memory.notes.remember import remember
from memlines.paths import Workspace
from memlines.settings import Settings, load
from memlines.types import FoundFile, Hit, SearchResult
from tests.memories import write
from tests.memory.managers import manager_of

NOW = datetime(2026, 11, 16, 14, 32, tzinfo=UTC)


@pytest.fixture
def home(workspace: Path) -> Workspace:
    return Workspace.at(workspace)


class Told(Manager):
    """A memory whose search finds these hits; without any there must be no search."""

    def __init__(self, home: Workspace, hits: Iterable[Hit] | None = None) -> None:
        super().__init__(home, load(home, {"timezone": "UTC"}))
        self.hits = hits


@pytest.fixture(autouse=True)
def _searches_find_what_they_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def search(manager: Manager, query: Query) -> SearchResult:
        if not isinstance(manager, Told):
            return search_asked(manager, query)
        assert manager.hits is not None, "there is nothing to search for"
        sure = any(hit.band != "weak" for hit in manager.hits)
        return SearchResult(tuple(manager.hits), "none", "", "words", 0, confident=sure)

    monkeypatch.setattr(module, "search_asked", search)


def found(
    home: Workspace,
    query: str | None = None,
    *,
    recent: bool = False,
    decisions: bool = False,
    topic: str | None = None,
    limit: int = 10,
    hits: Iterable[Hit] | None = None,
) -> list[str]:
    """Recall, and return the citations."""
    entries = recall(
        Told(home, hits),
        query,
        recent=recent,
        decisions=decisions,
        topic=topic,
        limit=limit,
        now=NOW,
    )
    return [entry.citation.removeprefix("memory/") for entry in entries]


def hit(path: str, first: int, last: int) -> Hit:
    return Hit(path, first, last, 0.9, "", "memory", band="likely")


# Recent


def test_the_latest_entries_come_first(home: Workspace) -> None:
    write(
        home.root,
        {
            "2026-11-15.md": "# 2026-11-15\n\n- 09:00 a\n- 10:00 b\n",
            "2026-11-16.md": "# 2026-11-16\n\n- 08:00 c\n  more\n\nwords\n",
        },
    )
    expected = ["2026-11-16.md#L6", "2026-11-16.md#L3-L4", "2026-11-15.md#L4", "2026-11-15.md#L3"]
    assert found(home, recent=True) == found(home) == expected


def test_an_entry_is_returned_as_it_stands(home: Workspace) -> None:
    write(home.root, {"2026-11-15.md": "# Day\n\n## Work\n- 09:00 a\n  b\n"})
    day = date(2026, 11, 15)
    assert recall(Told(home), now=NOW) == (
        Recalled("memory/2026-11-15.md", 4, 5, "- 09:00 a\n  b", day, "Day > Work"),
    )


def test_only_so_many_are_returned(home: Workspace) -> None:
    write(home.root, {"2026-11-15.md": "- a\n- b\n- c\n"})
    assert found(home, limit=2) == ["2026-11-15.md#L3", "2026-11-15.md#L2"]


def test_recent_means_every_entry_whose_day_is_known(home: Workspace) -> None:
    write(
        home.root,
        {
            "MEMORY.md": "# Memory\n\n- a\n- 2026-11-12: kept\n",
            "topic.md": "- b\n- 2026-11-16: newest\n- [ ] 2026-11-13 to do\n",
            "people.md": "# People\n\n## 2026-11-14\n\n- met Anna\n\n**2026-11-11** met Ben\n",
            "2026-11-15-standup.md": "- c\n",
        },
    )
    assert found(home) == [
        "topic.md#L2",
        "2026-11-15-standup.md#L1",
        "people.md#L5",
        "topic.md#L3",
        "MEMORY.md#L4",
        "people.md#L7",
    ]


def test_what_was_just_remembered_is_recent_wherever_it_went(home: Workspace) -> None:
    places = [remember(manager_of(home), f"thing {to}", to=to, now=NOW) for to in (None, "MEMORY.md")]
    places.append(remember(manager_of(home), "MariaDB was close", topic="Billing", now=NOW))
    assert sorted(found(home)) == sorted(one.citation.removeprefix("memory/") for one in places)


def test_facts_are_recent_while_they_are_true(home: Workspace) -> None:
    struck = "- 2026-11-15 [fact] ~~Works at Acme.~~ {until: 2026-11-16} ^b7c5d2e6fg\n"
    write(
        home.root, {"facts.md": f"# Facts\n\n{struck}- 2026-11-14 [decision] Runs on Postgres. ^m2p6t7u4wc\n"}
    )
    assert found(home) == found(home, decisions=True) == ["facts.md#L4"]


def test_what_stands_in_a_comment_is_no_entry(home: Workspace) -> None:
    write(home.root, {"2026-11-15.md": "<!--\n- decided x\n-->\n- a\n"})
    assert (found(home), found(home, decisions=True)) == (["2026-11-15.md#L4"], [])


def test_days_to_come_are_not_recent(home: Workspace) -> None:
    write(home.root, {"2026-11-18.md": "- plan\n", "2026-11-17.md": "- further east\n"})
    assert found(home) == ["2026-11-17.md#L1"]


def test_nothing_is_recalled_of_an_empty_workspace(home: Workspace) -> None:
    assert found(home) == []


@pytest.mark.skipif(os.name == "nt", reason="files are closed to others differently there")
def test_a_note_that_is_no_text_is_passed_over(home: Workspace) -> None:
    write(home.root, {"2026-11-15.md": "- a\n"})
    (home.root / "memory/2026-11-16.md").write_bytes(b"\xff\xfe\0")
    assert found(home) == ["2026-11-15.md#L1"]


def test_no_older_log_is_read_than_needed(home: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    write(home.root, {f"2026-10-{day:02}.md": "- a\n- b\n" for day in range(1, 31)})
    read: list[str] = []

    def noted(file: FoundFile, settings: Settings) -> str:
        read.append(file.path)
        return text_in(file, settings)

    monkeypatch.setattr(module, "text_in", noted)
    assert len(found(home, limit=4)) == 4
    assert read == ["memory/2026-10-30.md", "memory/2026-10-29.md"]


@pytest.mark.parametrize("limit", [0, -1, 1001])
def test_a_limit_that_makes_no_sense_is_refused(home: Workspace, limit: int) -> None:
    with Memory(home.root) as memory, pytest.raises(UsageError, match=r"limit is .* from 1 to 1000"):
        memory.recall(limit=limit)


def test_an_unknown_zone_is_an_error(home: Workspace) -> None:
    with pytest.raises(SettingsError, match="timezone"):
        Memory(home.root, {"timezone": "Nowhere"}).recall()


# Decisions


@pytest.mark.parametrize(
    "text",
    [
        "We decided to use tabs",
        "Decision: tabs",
        "chose Postgres",
        "agreed with Ben",
        "We hebben besloten",
        "het kabinetsbesluit",
        "Wir haben uns entschieden",
        "Grundsatzentscheidung: Tabs",
        "beschlossen",
        "On a décidé",
        "la de\u0301cision",
        "Hemos decidido",
        "DECISIÓN",
    ],
)
def test_a_decision_is_known_by_its_words(home: Workspace, text: str) -> None:
    write(home.root, {"2026-11-15.md": f"- 09:00 tea\n- 10:00 {text}\n"})
    assert found(home, decisions=True) == ["2026-11-15.md#L2"]


@pytest.mark.parametrize("text", ["undecided", "we have to decide", "indecision", "disagreed"])
def test_other_words_are_no_decision(home: Workspace, text: str) -> None:
    write(home.root, {"2026-11-15.md": f"- 10:00 {text}\n"})
    assert found(home, decisions=True) == []


LABELLED = [
    line.split("\t")
    for name in ("develop", "unseen")
    for line in (Path(__file__).parents[1] / f"agent/decisions/{name}.tsv")
    .read_text(encoding="utf-8")
    .splitlines()
]


@pytest.mark.parametrize("language", ["en", "nl", "de", "fr", "es"])
def test_labelled_decisions_are_listed_and_nothing_else(home: Workspace, language: str) -> None:
    entries = [(label, text) for spoken, label, text in LABELLED if spoken == language]
    write(home.root, {"2026-11-15.md": "".join(f"- 10:00 {text}\n" for _, text in entries)})
    lines = [f"2026-11-15.md#L{at}" for at, (label, _) in enumerate(entries, 1) if label == "+"]
    assert sorted(found(home, decisions=True, limit=100)) == sorted(lines)


@pytest.mark.parametrize(
    "text",
    [
        "Not Postgres but SQLite was chosen",
        "We did not like webpack, so we picked Vite",
        "Wir haben uns nicht für Vue, sondern für Svelte entschieden",
        "À la fin nous avons choisi Svelte",
    ],
)
def test_a_negation_of_something_else_leaves_a_decision_one(home: Workspace, text: str) -> None:
    write(home.root, {"2026-11-15.md": f"- {text}\n"})
    assert found(home, decisions=True) == ["2026-11-15.md#L1"]


@pytest.mark.parametrize(
    "text",
    ["(none yet)", "None yet.", "<what, and why>", "TBD", "[...]", "No decisions yet", "_Nothing so far_"],
)
def test_a_place_to_write_a_decision_is_none(home: Workspace, text: str) -> None:
    write(home.root, {"MEMORY.md": f"# Memory\n\n## Decisions\n\n- {text}\n\n{text}\n"})
    assert found(home, decisions=True) == []


def test_a_new_workspace_has_no_decisions(tmp_path: Path) -> None:
    assert found(begin_workspace(tmp_path / "new")[0], decisions=True) == []


def test_what_is_below_a_heading_of_open_decisions_is_none(home: Workspace) -> None:
    write(home.root, {"x.md": "# Open decisions\n\n- the colour\n"})
    assert found(home, decisions=True) == []


def test_all_below_a_heading_of_decisions_is_one(home: Workspace) -> None:
    write(home.root, {"x.md": "# X\n\n- a\n\n## Decisions\n\n- b\n\n### Billing\n\nc\n\n## Rest\n\n- d\n"})
    assert found(home, decisions=True) == ["x.md#L11", "x.md#L7"]


def test_decisions_of_all_notes_come_newest_first(home: Workspace) -> None:
    write(
        home.root,
        {
            "MEMORY.md": "## Decisions\n- always\n",
            "2026-11-14.md": "- decided a\n",
            "topic.md": "- 2026-11-15: chose b\n- 2026-11-13: chose c\n",
        },
    )
    assert found(home, decisions=True) == ["topic.md#L1", "2026-11-14.md#L1", "topic.md#L2", "MEMORY.md#L2"]


def test_recent_decisions_have_a_day(home: Workspace) -> None:
    write(home.root, {"MEMORY.md": "We decided x\n", "2026-11-14.md": "- decided a\n- tea\n"})
    assert found(home, decisions=True, recent=True) == ["2026-11-14.md#L1"]


def test_a_note_that_was_changed_long_ago_is_not_read(home: Workspace) -> None:
    write(home.root, {"2026-11-14.md": "- decided a\n", "old.md": "- decided b\n"})
    os.utime(home.root / "memory/old.md", (0, 0))
    assert found(home, decisions=True, limit=1) == ["2026-11-14.md#L1"]


@pytest.mark.parametrize("seconds", [-(10**9), 10**11])
def test_a_strange_clock_of_the_disk_harms_nobody(home: Workspace, seconds: int) -> None:
    write(home.root, {"x.md": "- decided a\n"})
    os.utime(home.root / "memory/x.md", (seconds, seconds))
    assert found(home, decisions=True) == ["x.md#L1"]


# Topics


def test_a_topic_is_its_note_and_every_heading_of_that_name(home: Workspace) -> None:
    write(
        home.root,
        {
            "MEMORY.md": "# Memory\n\n## Billing\n- a\n\n## Other\n- b\n",
            "work/billing.md": "# Notes\n\n- 2026-11-01: c\n",
            "2026-11-14.md": "# Day\n\n- 10:00 Billing: d\n- 11:00 e\n\n## billing\n\n### Deep\n\nf\n",
        },
    )
    expected = ["2026-11-14.md#L10", "2026-11-14.md#L3", "work/billing.md#L3", "MEMORY.md#L4"]
    assert found(home, topic=" BILLING") == expected


@pytest.mark.parametrize("to", [None, "daily", "MEMORY.md"])
def test_what_was_remembered_of_a_topic_is_recalled(home: Workspace, to: str | None) -> None:
    remember(manager_of(home), "tea", now=NOW)
    kept = remember(manager_of(home), "Postgres 17", topic="Billing", to=to, now=NOW)
    assert found(home, topic="billing") == [kept.citation.removeprefix("memory/")]


@pytest.mark.parametrize("topic", ["C++", "cplusplus", "Con", "Café crème", "topic x", "x: y"])
def test_a_heading_is_found_however_its_topic_is_written(home: Workspace, topic: str) -> None:
    write(home.root, {"2026-11-14.md": f"# Day\n\n### {topic} ###\n\n- a\n\n# Rest\n- b\n"})
    assert found(home, topic=topic.upper()) == ["2026-11-14.md#L5"]


def test_the_decisions_of_a_topic(home: Workspace) -> None:
    write(home.root, {"billing.md": "- tea\n- we chose Postgres\n", "search.md": "- we chose FTS5\n"})
    assert found(home, topic="billing", decisions=True) == ["billing.md#L2"]


def test_what_cannot_be_a_topic_is_refused(home: Workspace) -> None:
    with pytest.raises(UsageError, match="topic"):
        found(home, topic="!")


# Queries


@pytest.fixture
def birds(home: Workspace) -> Workspace:
    write(
        home.root,
        {
            "birds.md": "# Birds\n\n- the heron fishes\n- we chose herons for the logo\n- tea\n",
            "2026-11-14.md": "- 09:00 saw a heron\n",
            "2026-11-15.md": "- 09:00 heron decided to leave\n- 10:00 tea\n",
        },
    )
    return home


HITS = (hit("memory/birds.md", 1, 5), hit("memory/2026-11-14.md", 1, 1), hit("memory/2026-11-15.md", 1, 2))


def test_the_entries_that_answer_come_in_the_order_of_the_search(birds: Workspace) -> None:
    expected = ["birds.md#L3", "birds.md#L4", "2026-11-14.md#L1", "2026-11-15.md#L1"]
    assert found(birds, "heron", hits=HITS) == expected


def test_of_one_hit_the_entry_with_most_words_comes_first(birds: Workspace) -> None:
    assert found(birds, "heron logo", hits=HITS, limit=1) == ["birds.md#L4"]


def test_a_hit_that_shares_no_word_is_returned_whole(birds: Workspace) -> None:
    assert found(birds, "wader", hits=[hit("memory/birds.md", 3, 4)]) == ["birds.md#L3", "birds.md#L4"]


def test_recent_answers_come_newest_first(birds: Workspace) -> None:
    assert found(birds, "heron", recent=True, hits=HITS) == ["2026-11-15.md#L1", "2026-11-14.md#L1"]


def test_recent_decisions_about_something(birds: Workspace) -> None:
    assert found(birds, "heron", recent=True, decisions=True, hits=HITS) == ["2026-11-15.md#L1"]


def test_an_answer_within_a_topic(birds: Workspace) -> None:
    assert found(birds, "logo", topic="birds", decisions=True, hits=HITS) == ["birds.md#L4"]


def test_an_entry_in_two_hits_is_returned_once(birds: Workspace) -> None:
    twice = [hit("memory/2026-11-14.md", 1, 1)] * 2
    assert found(birds, "heron", hits=twice) == ["2026-11-14.md#L1"]


def test_what_was_said_in_a_session_is_no_entry(birds: Workspace) -> None:
    assert found(birds, "heron", hits=[Hit("sessions/a.jsonl", 1, 1, 0.9, "heron", "sessions")]) == []


def test_of_entries_that_are_only_near_three_are_returned_and_marked(birds: Workspace) -> None:
    weak = [replace(each, band="weak") for each in HITS]
    entries = recall(Told(birds, weak), "heron", now=NOW)
    assert [(entry.citation, entry.weak) for entry in entries] == [
        ("memory/birds.md#L3", True),
        ("memory/birds.md#L4", True),
        ("memory/2026-11-14.md#L1", True),
    ]
    assert found(birds, "heron", topic="birds", limit=1, hits=weak) == ["birds.md#L3"]


def test_a_blank_query_asks_for_what_is_recent(birds: Workspace) -> None:
    assert found(birds, " ") == found(birds)


@given(st.lists(st.tuples(st.integers(1, 16), st.integers(0, 3)), max_size=8), st.integers(1, 12))
def test_stopping_early_returns_what_reading_everything_would(
    tmp_path_factory: pytest.TempPathFactory, logs: list[tuple[int, int]], limit: int
) -> None:
    home = Workspace.at(tmp_path_factory.mktemp("notes"))
    write(home.root, {f"2026-11-{day:02}.md": "- decided\n" * count for day, count in logs})
    every = found(home, decisions=True, limit=1000)
    assert found(home, limit=limit) == found(home, decisions=True, limit=limit) == every[:limit]
