"""`memlines facts review`: what was captured is looked at and kept, changed or forgotten."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from select import select

import click
import pytest

from memlines.cli import facts
from memlines.text.fact_note import facts_in
from tests.indexes import write
from tests.programs import MAIN, Cli, environment

NOTE = "memory/facts.md"
TEXT = (
    "# Facts\n\n"
    "- 2026-11-16 [decision] Billing runs on Postgres 17. {from: capture codex 01ab} ^m2p6t7u4wc\n"
    "- 2026-11-14 [preference] Prefers tabs over spaces. {from: capture opencode s1} ^k3f5x2m7qa\n"
    "- 2026-11-15 [entity] Anna answers at 4411. ^a2b3c4d5e6\n"
    "- 2026-11-13 [fact] Lives in Ghent. {from: capture codex 01ab, reviewed} ^c2c3c4c5c6\n"
    "- 2026-11-12 [fact] ~~Lives in Lyon.~~ {from: capture, until: 2026-11-13, now: c2c3c4c5c6} ^d2d3d4d5d6\n"
)
WAITING = ["k3f5x2m7qa", "m2p6t7u4wc"]


@pytest.fixture
def home(workspace: Path) -> Path:
    write(workspace, {NOTE: TEXT})
    return workspace


def text(home: Path) -> str:
    return (home / NOTE).read_text(encoding="utf-8")


def reviewed(home: Path) -> set[str]:
    return {line.fact.id for line in facts_in(text(home)) if line.fact.reviewed}


# Listed


def ids(cli: Cli, home: Path, *options: str) -> list[str]:
    return [fact["id"] for fact in cli("facts", "review", "-w", home, "--json", *options).json["facts"]]


def test_what_waits_is_listed_the_oldest_first(cli: Cli, home: Path) -> None:
    assert cli("facts", "review", "-w", home).out.splitlines() == [
        "k3f5x2m7qa  2026-11-14  preference  Prefers tabs over spaces.  (captured from opencode s1)",
        "m2p6t7u4wc  2026-11-16  decision    Billing runs on Postgres 17.  (captured from codex 01ab)",
    ]


def test_a_list_says_how_to_decide(cli: Cli, home: Path) -> None:
    assert "--keep ID" in cli("facts", "review", "-w", home).err


def test_listing_changes_nothing(cli: Cli, home: Path) -> None:
    cli("facts", "review", "-w", home)
    assert text(home) == TEXT


def test_all_that_was_ever_captured_can_be_listed(cli: Cli, home: Path) -> None:
    assert ids(cli, home, "--all") == ["d2d3d4d5d6", "c2c3c4c5c6", *WAITING]


def test_only_since_a_day(cli: Cli, home: Path) -> None:
    assert ids(cli, home, "--since", "2026-11-15") == ["m2p6t7u4wc"]


def test_only_since_some_days_ago(cli: Cli, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMLINES_TIMEZONE", "UTC")
    today = datetime.now(UTC).date()
    lines = [
        f"- {today - timedelta(days=days)} {days} days old {{from: capture}}\n" for days in (0, 6, 9, 40)
    ]
    write(workspace, {NOTE: "".join(lines)})
    counts = [len(ids(cli, workspace, "--since", since)) for since in ("1d", "8d", "2w")]
    assert counts == [1, 2, 3]


@pytest.mark.parametrize("since", ["yesterday", "7", "2026-13-01", "-3d", ""])
def test_a_day_that_is_none_is_refused(cli: Cli, home: Path, since: str) -> None:
    outcome = cli("facts", "review", "-w", home, "--since", since)
    assert (outcome.code, "2026-11-01" in outcome.err) == (2, True)


def test_nothing_to_review_is_said(cli: Cli, workspace: Path) -> None:
    outcome = cli("facts", "review", "-w", workspace)
    assert (outcome.code, outcome.out) == (0, "There is nothing to review.\n")


# Decided by options


def test_keep_marks_them_as_reviewed(cli: Cli, home: Path) -> None:
    outcome = cli("facts", "review", "-w", home, "--keep", WAITING[0], "--keep", WAITING[1])
    assert outcome.code == 0
    assert reviewed(home) == {*WAITING, "c2c3c4c5c6"}


def test_what_was_kept_does_not_wait_any_more(cli: Cli, home: Path) -> None:
    cli("facts", "review", "-w", home, "--keep", "k3f5x2m7qa")
    assert ids(cli, home) == ["m2p6t7u4wc"]


def test_edit_changes_the_text_and_keeps_it(cli: Cli, home: Path) -> None:
    cli("facts", "review", "-w", home, "--edit", "k3f5x2m7qa", "Prefers tabs in Makefiles.")
    changed = next(line.fact for line in facts_in(text(home)) if line.fact.id == "k3f5x2m7qa")
    assert (changed.text, changed.reviewed) == ("Prefers tabs in Makefiles.", True)


def test_forget_takes_it_out(cli: Cli, home: Path) -> None:
    outcome = cli("facts", "review", "-w", home, "--forget", "k3f5x2m7qa")
    assert (outcome.code, "Nothing of it is left" in outcome.out) == (0, True)
    assert "tabs" not in text(home)


def test_all_three_at_once(cli: Cli, home: Path) -> None:
    options = ("--keep", "m2p6t7u4wc", "--forget", "k3f5x2m7qa", "--edit", "a2b3c4d5e6", "Anna left.")
    told = cli("facts", "review", "-w", home, "--json", *options).json
    assert [fact["id"] for fact in told["kept"]] == ["m2p6t7u4wc"]
    assert [fact["text"] for fact in told["edited"]] == ["Anna left."]
    assert (told["forgotten"], told["receipt"]["complete"]) == (["k3f5x2m7qa"], True)


@pytest.mark.parametrize(
    "wrong",
    [
        ["--forget", "zzzzzzzzzz"],
        ["--edit", "a2b3c4d5e6", " "],
        ["--edit", "a2b3c4d5e6", "x" * 1001],
        ["--forget", "m2p6t7u4wc"],
    ],
    ids=["unknown", "empty", "long", "twice"],
)
def test_nothing_is_done_if_one_of_them_is_wrong(cli: Cli, home: Path, wrong: list[str]) -> None:
    assert cli("facts", "review", "-w", home, "--keep", "m2p6t7u4wc", *wrong).code == 2
    assert text(home) == TEXT


# On a terminal


Press = Callable[..., None]


@pytest.fixture
def press(monkeypatch: pytest.MonkeyPatch) -> Press:
    """Sits at the terminal and presses keys."""
    monkeypatch.setattr(facts, "is_terminal", lambda stream: True)

    def pressing(*keys: str) -> None:
        left: Iterator[str] = iter(keys)

        def getchar() -> str:
            key = next(left)
            if key == "ctrl-c":
                raise KeyboardInterrupt
            if key == "ctrl-d":
                raise EOFError
            return key

        monkeypatch.setattr(click, "getchar", getchar)

    return pressing


def test_keys_decide(cli: Cli, home: Path, press: Press) -> None:
    press("k", "s")
    outcome = cli("facts", "review", "-w", home)
    assert outcome.code == 0
    assert outcome.out.startswith("1 of 2  k3f5x2m7qa  2026-11-14  preference  Prefers tabs over spaces.")
    assert outcome.out.endswith("1 kept; 1 left.\n")
    assert reviewed(home) == {"k3f5x2m7qa", "c2c3c4c5c6"}


def test_a_capital_is_the_same_key(cli: Cli, home: Path, press: Press) -> None:
    press("K", "q")
    cli("facts", "review", "-w", home)
    assert "k3f5x2m7qa" in reviewed(home)


def test_a_key_that_means_nothing_is_asked_again(cli: Cli, home: Path, press: Press) -> None:
    press("x", "\x1b[A", "\r", "k", "q")
    cli("facts", "review", "-w", home)
    assert "k3f5x2m7qa" in reviewed(home)


@pytest.mark.parametrize("end", ["q", "ctrl-d", "\x04", ""])
def test_quitting_leaves_the_rest(cli: Cli, home: Path, press: Press, end: str) -> None:
    press(end)
    outcome = cli("facts", "review", "-w", home)
    assert (outcome.code, outcome.out.splitlines()[-1]) == (0, "Nothing was changed; 2 left.")
    assert text(home) == TEXT


def test_ctrl_c_keeps_what_was_decided(cli: Cli, home: Path, press: Press) -> None:
    press("k", "ctrl-c")
    assert cli("facts", "review", "-w", home).code == 130
    assert reviewed(home) == {"k3f5x2m7qa", "c2c3c4c5c6"}


def test_forgetting_is_confirmed(cli: Cli, home: Path, press: Press) -> None:
    press("f", "y", "q")
    assert cli("facts", "review", "-w", home).code == 0
    assert "tabs" not in text(home)


def test_forgetting_that_is_not_confirmed_asks_again(cli: Cli, home: Path, press: Press) -> None:
    press("f", "n", "s", "s")
    cli("facts", "review", "-w", home)
    assert text(home) == TEXT


def test_a_fact_that_took_the_place_of_another_shows_it(cli: Cli, home: Path, press: Press) -> None:
    press("s", "s", "s", "s")
    out = cli("facts", "review", "-w", home, "--all").out
    assert "Lives in Ghent.  (captured from codex 01ab)\n  It took the place of: Lives in Lyon.\n" in out


def test_editing_asks_for_the_text(
    cli: Cli, home: Path, press: Press, monkeypatch: pytest.MonkeyPatch
) -> None:
    press("e", "q")
    monkeypatch.setattr(click, "prompt", lambda *_, **__: "Prefers tabs in Makefiles.")
    cli("facts", "review", "-w", home)
    edited = next(line.fact for line in facts_in(text(home)) if line.fact.id == "k3f5x2m7qa")
    assert (edited.text, edited.reviewed) == ("Prefers tabs in Makefiles.", True)


def test_a_text_that_cannot_be_is_told_and_asked_again(
    cli: Cli, home: Path, press: Press, monkeypatch: pytest.MonkeyPatch
) -> None:
    press("e", "s", "q")
    monkeypatch.setattr(click, "prompt", lambda *_, **__: "x" * 1001)
    outcome = cli("facts", "review", "-w", home)
    assert "1,001 characters" in outcome.err
    assert text(home) == TEXT


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal of its own takes a pseudo terminal")
def test_a_real_terminal(home: Path) -> None:
    import pty

    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", MAIN, "facts", "review", "-w", str(home)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment({}),
        start_new_session=True,
    )
    os.close(theirs)
    try:
        screen = until(ours, "[q]uit?")
        type_key(ours, b"k")
        screen += until(ours, "[q]uit?")
        type_key(ours, b"\x03")
        screen += until(ours, "Interrupted")
        assert process.wait(timeout=60) == 130
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    assert "\x1b[36mk3f5x2m7qa" in screen
    assert reviewed(home) == {"k3f5x2m7qa", "c2c3c4c5c6"}


def until(terminal: int, words: str) -> str:
    """Return what a terminal shows up to some words."""
    screen = ""
    while words not in screen:
        assert select([terminal], [], [], 60)[0], screen
        screen += os.read(terminal, 4096).decode(errors="replace")
    return screen


def type_key(terminal: int, key: bytes) -> None:
    """Press a key as soon as the program reads single keys: what comes earlier is thrown away."""
    import termios

    for _ in range(6000):
        if not termios.tcgetattr(terminal)[3] & termios.ICANON:
            os.write(terminal, key)
            return
        time.sleep(0.01)
    raise AssertionError("the program does not read single keys")
