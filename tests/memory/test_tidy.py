"""What a tidy proposes: each group finds what it should, and leaves alone what only looks like it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from subprocess import run

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.memory.tidy.gather import TOPIC, Noted
from memlines.memory.tidy.proposal import TidyItem
from memlines.memory.tidy.repository import Repository
from memlines.memory.tidy.stale import find_stale
from memlines.paths import Workspace
from memlines.text.entries import Entry
from memlines.text.matching import entry_id
from memlines.types import SESSION_TOKENS
from tests.memories import words_memory

NOW = datetime(2026, 6, 15, 12, tzinfo=UTC)
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


@dataclass(frozen=True)
class Used:
    """How often an entry was shown and opened."""

    shown: int = 0
    opened: int = 0


def propose(
    folder: Path, notes: Mapping[str, str], uses: Mapping[str, Used] | None = None
) -> tuple[TidyItem, ...]:
    with words_memory(folder, notes) as memory:
        return memory.tidy.propose(uses, now=NOW).items


def kinds(folder: Path, notes: Mapping[str, str]) -> list[tuple[str, tuple[str, ...]]]:
    """Return each item as its kind and the citations it rests on."""
    return [(item.kind, tuple(one.citation for one in item.cited)) for item in propose(folder, notes)]


@pytest.fixture
def repository(workspace: Path) -> Path:
    """A workspace that is a git repository with some code."""
    run(["git", "init", "-q", "-b", "main", workspace], check=True)
    (workspace / "src/app").mkdir(parents=True)
    (workspace / "src/app/main.py").write_text("def load_settings(): ...\n", encoding="utf-8")
    (workspace / "docs").mkdir()
    (workspace / "docs/guide.md").write_text("# Guide\n", encoding="utf-8")
    config = '[remote "origin"]\n\turl = git@example.com:acme/shop.git\n'
    with (workspace / ".git/config").open("a", encoding="utf-8") as stream:
        stream.write(config)
    (workspace / ".git/refs/heads/main").write_text("0" * 40 + "\n", encoding="utf-8")
    return workspace


# Duplicates


def test_of_two_equal_entries_the_one_in_the_main_note_is_kept(workspace: Path) -> None:
    notes = {
        "MEMORY.md": "- Anna reviews every schema change.\n",
        "team.md": "- anna reviews every schema change\n",
    }
    (item,) = propose(workspace, notes)
    assert [(edit.path, edit.old, edit.new) for edit in item.edits] == [
        ("memory/team.md", "- anna reviews every schema change", "")
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The cache of billing listens on port 5432.", "The cache of billing listens on port 5433 at night."),
        ("Anna reviews every change to billing.", "Karl reviews every change to billing."),
        ("Run `make test` before you push.", "Run `make lint` before you push."),
        ("Billing was down yesterday morning.", "Billing was down this morning."),
    ],
)
def test_entries_with_other_numbers_names_code_or_days_are_not_duplicates(
    workspace: Path, one: str, other: str
) -> None:
    assert propose(workspace, {"MEMORY.md": f"- {one}\n", "team.md": f"- {other}\n"}) == ()


def test_the_same_sentence_about_two_projects_is_not_a_duplicate(workspace: Path) -> None:
    notes = {"shop.md": "- Deploys run on Fridays.\n", "billing.md": "- Deploys run on Fridays.\n"}
    assert propose(workspace, notes) == ()


def test_an_entry_of_a_daily_log_is_not_removed_because_a_note_says_it(workspace: Path) -> None:
    notes = {
        "MEMORY.md": "- Anna reviews every schema change.\n",
        "2026-04-01.md": "- Anna reviews every schema change.\n",
    }
    assert propose(workspace, notes) == ()


def test_a_captured_fact_goes_rather_than_the_note_that_a_person_wrote(workspace: Path) -> None:
    notes = {
        "facts.md": "- 2026-04-01 [fact] Anna reviews schema changes. {from: capture codex 01} ^abcdefghij\n",
        "team.md": "- Anna reviews schema changes.\n",
    }
    (item,) = propose(workspace, notes)
    assert [edit.path for edit in item.edits] == ["memory/facts.md"]


def test_a_private_block_is_in_no_proposal(workspace: Path) -> None:
    notes = {
        "MEMORY.md": "<private>\n- Anna reviews every schema change.\n</private>\n",
        "team.md": "- Anna reviews every schema change.\n",
    }
    assert propose(workspace, notes) == ()


# Contradictions


def test_the_older_of_two_contradicting_entries_is_removed(workspace: Path) -> None:
    notes = {"shop.md": "- 2026-01-05: Our database is MySQL.\n- 2026-04-05: Our database is Postgres.\n"}
    (item,) = propose(workspace, notes)
    assert (item.kind, [edit.old for edit in item.edits]) == (
        "contradiction",
        ["- 2026-01-05: Our database is MySQL."],
    )


def test_an_older_fact_is_marked_as_no_longer_true(workspace: Path) -> None:
    notes = {
        "facts.md": "- 2026-01-05 [fact] I live in Berlin. ^aaaaaaaaaa\n"
        "- 2026-05-05 [fact] I live in Madrid now. ^bbbbbbbbbb\n"
    }
    (item,) = propose(workspace, notes)
    assert item.edits[0].new == (
        "- 2026-01-05 [fact] ~~I live in Berlin.~~ {until: 2026-05-05, now: bbbbbbbbbb} ^aaaaaaaaaa"
    )


def test_a_contradiction_whose_order_is_not_known_is_only_shown(workspace: Path) -> None:
    notes = {"shop.md": "- The upload limit is 50 MB.\n- The upload limit is 90 MB.\n"}
    assert [(item.kind, item.edits) for item in propose(workspace, notes)] == [("contradiction", ())]


def test_what_two_projects_do_differently_is_no_contradiction(workspace: Path) -> None:
    notes = {
        "shop.md": "- 2026-01-05: The default branch is main.\n",
        "billing.md": "- 2026-04-05: The default branch is develop.\n",
    }
    assert propose(workspace, notes) == ()


def test_what_an_old_log_said_is_no_contradiction(workspace: Path) -> None:
    notes = {
        "2026-01-05.md": "- Our database is MySQL.\n",
        "MEMORY.md": "- 2026-04-05: Our database is Postgres.\n",
    }
    assert propose(workspace, notes) == ()


def test_an_agents_log_does_not_remove_what_a_person_wrote_unasked(workspace: Path) -> None:
    notes = {
        "MEMORY.md": "- 2026-01-05: Our database is MySQL.\n",
        "2026-04-05.md": "- 10:00 Our database is Postgres. [session s1]\n",
    }
    assert [item.needs_review for item in propose(workspace, notes)] == [True]


# What is stale


@pytest.mark.parametrize(
    "line",
    [
        "The retries live in `src/app/retry.py`.",
        "See docs/runbook.md when it is down.",
        "`load_profile()` reads the environment.",
        "The class `LegacyGateway` talks to the bank.",
        "Work happens on the branch `feature/checkout`.",
        "Design: https://example.com/acme/shop/blob/main/docs/design.md",
        "See the [runbook](../docs/runbook.md) first.",
        "The freeze lasts until 2026-03-01.",
        "2026-02-01: The deadline is May 3.",
        "2026-05-04: The survey closes on May 22.",
        "Der Vertrag gilt bis zum 31.03.2026.",
    ],
)
def test_what_names_something_that_is_gone_is_stale(repository: Path, line: str) -> None:
    assert kinds(repository, {"shop.md": f"- {line}\n"}) == [("stale", ("memory/shop.md#L1",))]


@pytest.mark.parametrize(
    "line",
    [
        "The entry point is `src/app/main.py`, line 3.",
        "See [the guide](../docs/guide.md) first.",
        "`load_settings()` reads the environment.",
        "Work happens on the branch `main`.",
        "Guide: https://example.com/acme/shop/blob/main/docs/guide.md",
        "Upstream: https://example.com/other/thing/blob/main/docs/none.md",
        "Permalink: https://example.com/acme/shop/blob/0a1b2c3d4e/docs/none.md",
        "We removed `src/app/old.py` in the spring.",
        "Put handlers into a file such as src/app/handlers.py.",
        "Copy it to /etc/shop/config.py or ~/src/app/config.py.",
        "All of `src/**/*.py` is linted.",
        "Put yours into `src/path/to/file.py`.",
        "Branches are named like `feature/ABC-12`.",
        "`useEffect` confuses everyone, and `os.replace` is atomic.",
        "It is either/or, client/server and 3/4.",
        "The contract runs until 2027-03-01.",
        "2026-06-01: The deadline is July 9.",
        "2026-04-02: We used Jenkins until 2026-03-01.",
        "We were on Jenkins until 2026-03-01.",
    ],
)
def test_what_exists_is_planned_or_only_an_example_is_not_stale(repository: Path, line: str) -> None:
    assert kinds(repository, {"shop.md": f"- {line}\n"}) == []


def test_a_daily_log_is_never_stale(repository: Path) -> None:
    assert kinds(repository, {"2026-01-05.md": "- The retries live in `src/app/retry.py`.\n"}) == []


def test_without_a_repository_no_path_is_stale(workspace: Path) -> None:
    assert kinds(workspace, {"shop.md": "- The retries live in `src/app/retry.py`.\n"}) == []


def test_without_code_in_the_repository_no_name_is_stale(repository: Path) -> None:
    (repository / "src/app/main.py").unlink()
    assert kinds(repository, {"shop.md": "- `load_profile()` reads the environment.\n"}) == []


def test_the_path_of_a_file_that_moved_is_corrected(repository: Path) -> None:
    (repository / "src/net").mkdir()
    (repository / "src/net/retry.py").touch()
    (item,) = propose(repository, {"shop.md": "- The retries live in `src/app/retry.py`. Mind the limit.\n"})
    assert item.edits[0].new == "- The retries live in `src/net/retry.py`. Mind the limit."


def test_an_entry_that_says_more_than_what_is_stale_is_only_shown(repository: Path) -> None:
    (item,) = propose(repository, {"shop.md": "- The retries live in `src/app/retry.py`. Anna wrote them.\n"})
    assert item.edits == ()


HOSTILE = st.text(alphabet="ab/.`[]()#:-_ *<>{}\n\0", max_size=60) | st.sampled_from(
    [
        "file://[x",
        "[x](" + "a" * 400 + ")",
        "`src/" + "a" * 400 + ".py`",
        "[x](%00)",
        "until 9999-99-99",
        "`src/..`",
    ]
)


@given(HOSTILE)
def test_whatever_an_entry_says_it_can_be_looked_at(
    tmp_path_factory: pytest.TempPathFactory, line: str
) -> None:
    folder = tmp_path_factory.mktemp("repository")
    (folder / ".git/refs").mkdir(parents=True)
    (folder / "src").mkdir()
    (folder / "src/main.py").touch()
    entry = Noted("memory/x.md", TOPIC, Entry("item", 1, 1, f"- src/main.py {line}", ""))
    found = find_stale([entry], Repository.around(Workspace.at(folder)), NOW)
    assert len(list(found)) <= 1


# What should be promoted

RECURRING = {f"2026-04-0{day}.md": "- 10:00 The VPN must be up before a deploy.\n" for day in (1, 2, 3)}


def test_what_three_logs_say_is_promoted(workspace: Path) -> None:
    (item,) = propose(workspace, {"MEMORY.md": "# Memory\n", **RECURRING})
    assert [(edit.path, edit.new) for edit in item.edits] == [
        ("MEMORY.md", "- 2026-06-15: The VPN must be up before a deploy.")
    ]


def test_it_is_promoted_to_the_topic_that_it_names(workspace: Path) -> None:
    (item,) = propose(workspace, {"vpn.md": "# VPN\n\n- The VPN is WireGuard.\n", **RECURRING})
    assert [edit.path for edit in item.edits] == ["memory/vpn.md"]


@pytest.mark.parametrize(
    "notes",
    [
        {name: text for name, text in RECURRING.items() if "03" not in name},
        {"MEMORY.md": "- The VPN must be up before a deploy.\n", **RECURRING},
        dict.fromkeys(RECURRING, "- [ ] write the report for the board\n"),
        {name: f"- The deploy took {at} minutes.\n" for at, name in enumerate(RECURRING, 5)},
    ],
)
def test_what_is_said_twice_is_known_is_to_do_or_differs_is_not_promoted(
    workspace: Path, notes: Mapping[str, str]
) -> None:
    assert propose(workspace, notes) == ()


def test_what_agents_opened_often_is_promoted(workspace: Path) -> None:
    line = "- The VPN must be up before a deploy."
    (item,) = propose(workspace, {"2026-04-01.md": f"{line}\n"}, {entry_id(line): Used(shown=9, opened=4)})
    assert item.kind == "promote"


def test_what_an_agent_wrote_down_is_promoted_only_by_a_person(workspace: Path) -> None:
    notes = {name: text.replace(".\n", ". [session s1]\n") for name, text in RECURRING.items()}
    assert [item.needs_review for item in propose(workspace, notes)] == [True]


# A main note that is too long

LONG = "# Memory\n\n## Travel\n\n" + "".join(
    f"- 2026-01-{day:02}: Trip {day} went to {'a far away town ' * 30}{day}.\n" for day in range(1, 31)
)


def test_a_main_note_that_is_too_long_loses_its_oldest_entries_to_a_topic(workspace: Path) -> None:
    (item,) = propose(workspace, {"MEMORY.md": LONG})
    assert {edit.path for edit in item.edits if not edit.first} == {"memory/travel.md"}
    assert "- 2026-01-01: " in item.edits[0].new


def test_when_that_is_applied_a_session_can_start_with_all_of_it(workspace: Path) -> None:
    with words_memory(workspace, {"MEMORY.md": LONG}) as memory:
        memory.tidy.propose(now=NOW)
        memory.tidy.apply()
        text = (workspace / "MEMORY.md").read_text(encoding="utf-8")
        assert SESSION_TOKENS * 3 < len(text) < SESSION_TOKENS * 4
        assert memory.tidy.propose(now=NOW).items == ()


@pytest.mark.parametrize("heading", ["Facts", "Aliases", "2026-01-01", "?!", "Memory"])
def test_no_entry_is_moved_to_a_note_whose_lines_have_another_meaning(workspace: Path, heading: str) -> None:
    (item,) = propose(workspace, {"MEMORY.md": LONG.replace("Travel", heading)})
    assert {edit.path for edit in item.edits if not edit.first} == {"memory/notes.md"}


def test_what_was_shown_often_and_never_opened_goes_first(workspace: Path) -> None:
    line = LONG.splitlines()[-1]
    (item,) = propose(workspace, {"MEMORY.md": LONG}, {entry_id(line): Used(shown=12)})
    assert line in [edit.new for edit in item.edits]


# The proposal


def test_a_proposal_quotes_no_secret(workspace: Path) -> None:
    line = f"- The deploy token of billing is {SECRET}.\n"
    propose(workspace, {"MEMORY.md": line, "team.md": line, "2026-04-01.md": line})
    text = (workspace / ".memory/tidy/proposal.md").read_text(encoding="utf-8")
    assert (SECRET in text, "[redacted:" in text) == (False, True)


def test_a_line_with_a_secret_is_copied_into_no_note(workspace: Path) -> None:
    line = f"- The deploy token of billing is {SECRET}.\n"
    assert propose(workspace, dict.fromkeys(RECURRING, line)) == ()


def test_a_proposal_is_private(workspace: Path) -> None:
    propose(workspace, {"MEMORY.md": "- Anna likes tea.\n"})
    assert (workspace / ".memory/tidy/proposal.md").stat().st_mode & 0o777 == 0o600


def test_a_proposal_is_read_as_it_was_made(workspace: Path) -> None:
    notes = {
        "MEMORY.md": "- Anna --> reviews “every” change.\n",
        "team.md": "- Anna --> reviews “every” change.\n",
    }
    with words_memory(workspace, notes) as memory:
        assert memory.tidy.propose(now=NOW) == memory.tidy.load()


def test_a_proposal_has_at_most_two_hundred_items(workspace: Path) -> None:
    lines = "".join(f"- Entry number {at} says something of its own.\n" for at in range(230))
    with words_memory(workspace, {"MEMORY.md": lines, "team.md": lines}) as memory:
        proposed = memory.tidy.propose(now=NOW)
    assert (len(proposed.items), proposed.left_out) == (200, 30)


def test_an_item_keeps_its_id_when_other_notes_change(workspace: Path) -> None:
    notes = {"MEMORY.md": "- Anna likes green tea.\n", "team.md": "- Anna likes green tea.\n"}
    before = [item.id for item in propose(workspace, notes)]
    more = {**notes, "MEMORY.md": "- Something else is here.\n" + notes["MEMORY.md"]}
    assert [item.id for item in propose(workspace, more)] == before


def test_a_note_with_a_conflict_of_a_merge_is_left_out(workspace: Path) -> None:
    conflict = "<<<<<<< a\n- Anna likes green tea.\n=======\n- x\n>>>>>>> b\n"
    assert propose(workspace, {"MEMORY.md": "- Anna likes green tea.\n", "team.md": conflict}) == ()
