"""`memlines tidy`: a proposal on paper, items by their ids, a walk on a terminal."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from memlines.cli import tidy
from tests.memories import write
from tests.programs import Cli

NOTES = {
    "MEMORY.md": "- Anna reviews every schema change.\n- The freeze lasts until 2020-03-01.\n",
    "team.md": "- Anna reviews every schema change.\n",
    "shop.md": "- The upload limit is 50 MB.\n- The upload limit is 90 MB.\n",
}


@pytest.fixture
def home(workspace: Path, cli: Cli) -> Path:
    write(workspace, NOTES)
    cli("tidy", "-w", workspace)
    return workspace


def ids(cli: Cli, home: Path) -> dict[str, str]:
    """Return the id of an item of each kind."""
    return {item["kind"]: item["id"] for item in cli("tidy", "show", "-w", home, "--json").json["items"]}


def text(home: Path, name: str) -> str:
    return (home / name).read_text(encoding="utf-8")


def unchanged(home: Path) -> bool:
    names = {name if name == "MEMORY.md" else f"memory/{name}": content for name, content in NOTES.items()}
    return all(text(home, name) == content for name, content in names.items())


def test_a_proposal_is_summed_up_and_changes_nothing(cli: Cli, home: Path) -> None:
    shown = cli("tidy", "-w", home)
    assert shown.out.splitlines()[:4] == [
        "   1 duplicate",
        "   1 contradiction",
        "   1 stale entry",
        "Nothing was changed. The proposal is .memory/tidy/proposal.md",
    ]
    assert unchanged(home)


def test_json_has_every_item_with_its_diff(cli: Cli, home: Path) -> None:
    made = cli("tidy", "-w", home, "--json").json
    assert made["counts"] == {"duplicate": 1, "contradiction": 1, "stale": 1, "promote": 0, "long": 0}
    assert made["items"][0]["edits"] == [
        {"path": "memory/team.md", "diff": "@@ memory/team.md#L1 @@\n-- Anna reviews every schema change."}
    ]


def test_notes_in_order_have_nothing_to_tidy(cli: Cli, workspace: Path) -> None:
    write(workspace, {"team.md": "Anna leads the parser team.\n"})
    assert cli("tidy", "-w", workspace).out == "There is nothing to tidy.\n"


def test_where_no_memory_is_nothing_can_be_tidied(cli: Cli, tmp_path: Path) -> None:
    outcome = cli("tidy", "-w", tmp_path)
    assert (outcome.code, "there is no memory in" in outcome.err) == (2, True)


def test_show_shows_the_item_that_is_named(cli: Cli, home: Path) -> None:
    name = ids(cli, home)["stale"]
    assert cli("tidy", "show", name, "-w", home).out.splitlines() == [
        f"{name}  stale: MEMORY.md#L2: 2020-03-01 has passed",
        "  MEMORY.md#L2",
        "    - The freeze lasts until 2020-03-01.",
        "  @@ MEMORY.md#L2 @@",
        "  -- The freeze lasts until 2020-03-01.",
        "",
    ]


def test_an_item_is_applied_by_its_id_and_undone(cli: Cli, home: Path) -> None:
    done = cli("tidy", "apply", ids(cli, home)["stale"], "-w", home)
    assert (done.code, text(home, "MEMORY.md")) == (0, "- Anna reviews every schema change.\n")
    assert cli("tidy", "undo", "-w", home).code == 0
    assert unchanged(home)


def test_an_item_that_is_refused_is_named_and_the_exit_code_is_1(cli: Cli, home: Path) -> None:
    names = ids(cli, home)
    write(home, {"team.md": "- Karl does.\n"})
    done = cli("tidy", "apply", names["duplicate"], names["stale"], "-w", home)
    assert done.code == 1
    assert f"{names['duplicate']} was refused: its lines are not in 'memory/team.md' any more" in done.err
    assert "freeze" not in text(home, "MEMORY.md")


def test_without_a_terminal_all_are_applied_only_with_yes(cli: Cli, home: Path) -> None:
    assert cli("tidy", "apply", "-w", home).code == 2
    assert unchanged(home)
    assert cli("tidy", "apply", "--yes", "-w", home, "--json").json["applied"] == [
        name for kind, name in ids(cli, home).items() if kind != "contradiction"
    ]


def test_a_dry_run_shows_and_changes_nothing(cli: Cli, home: Path) -> None:
    assert "Would apply 2 items." in cli("tidy", "apply", "--dry-run", "-w", home).out
    assert unchanged(home)


def test_what_is_declined_is_not_proposed_again(cli: Cli, home: Path) -> None:
    cli("tidy", "decline", ids(cli, home)["stale"], "-w", home)
    assert cli("tidy", "-w", home, "--json").json["counts"]["stale"] == 0


def test_a_workspace_before_the_command_is_refused(cli: Cli, home: Path) -> None:
    done = cli("tidy", "-w", home, "apply", "--yes")
    assert (done.code, unchanged(home)) == (2, True)


def test_a_note_cannot_command_the_terminal(cli: Cli, workspace: Path) -> None:
    line = "- Anna reviews \x1b[31mevery schema change.\n"
    write(workspace, {"MEMORY.md": line, "team.md": line})
    cli("tidy", "-w", workspace)
    assert "\x1b" not in cli("tidy", "show", "-w", workspace).out


def test_a_damaged_proposal_is_an_error_that_says_what_to_do(cli: Cli, home: Path) -> None:
    (home / ".memory/tidy/proposal.md").write_text("# Tidy\n", encoding="utf-8")
    done = cli("tidy", "apply", "--yes", "-w", home)
    assert (done.code, done.err) == (
        2,
        "Error: '.memory/tidy/proposal.md' was changed or damaged since it was written, and is not applied."
        " Make another one: memlines tidy\n",
    )


# On a terminal


@pytest.mark.parametrize(
    ("keys", "outcome"),
    [
        ("yny", "2 applied, 1 declined."),
        ("nq", "0 applied, 1 declined."),
        ("x\x04", "0 applied, 0 declined."),
    ],
)
def test_a_review_asks_about_each_item(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch, keys: str, outcome: str
) -> None:
    pressed = iter(keys)
    monkeypatch.setattr(tidy, "is_terminal", lambda stream: True)
    monkeypatch.setattr(click, "getchar", lambda: next(pressed))
    assert cli("tidy", "review", "-w", home).out.splitlines()[-1] == outcome


def test_without_a_terminal_there_is_no_review(cli: Cli, home: Path) -> None:
    assert cli("tidy", "review", "-w", home).code == 2


def test_all_are_applied_after_a_yes(cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tidy, "is_terminal", lambda stream: True)
    monkeypatch.setattr(click, "confirm", lambda *_, **__: True)
    assert cli("tidy", "apply", "-w", home).code == 0
    assert not unchanged(home)
