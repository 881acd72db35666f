"""The ledger: what was spent, kept through restarts, crowds, damage and disks that take nothing."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path

import pytest

from memlines.embed.spending.ledger import KEPT_DAYS, Account, Ledger, Spent
from memlines.paths import user_state_dir
from tests.programs import unprivileged_run

SOME = Spent(tokens=100, requests=1, dollars=0.25)


class Calendar:
    """A day that tests turn over."""

    def __init__(self, day: str = "2026-03-01") -> None:
        self.day = date.fromisoformat(day)

    def __call__(self) -> date:
        return self.day

    def pass_days(self, number: int) -> None:
        self.day += timedelta(days=number)


def test_nothing_is_spent_at_first() -> None:
    assert Ledger().today() == Spent()


def test_looking_at_an_empty_ledger_writes_nothing() -> None:
    Ledger().today()
    assert not user_state_dir().exists()


def test_it_lives_in_the_persons_own_folder() -> None:
    Ledger().add("openai", "small", SOME)
    assert (user_state_dir() / "spending.json").is_file()


def test_what_one_object_counted_another_one_knows() -> None:
    Ledger().add("openai", "small", SOME)
    assert Ledger().today() == SOME


def test_what_is_counted_for_several_models_adds_up() -> None:
    ledger = Ledger()
    ledger.add("openai", "small", SOME)
    ledger.add("voyage", "large", Spent(10, 1, saved=0.5, unknown_price_tokens=10))
    assert ledger.today() == Spent(110, 2, 0.25, 0.5, 10)


def test_each_model_of_each_day_has_its_own_account() -> None:
    calendar = Calendar()
    ledger = Ledger(today=calendar)
    ledger.add("openai", "small", SOME)
    ledger.add("openai", "small", SOME)
    calendar.pass_days(1)
    ledger.add("openai", "large", SOME)
    assert ledger.accounts() == {
        Account("2026-03-01", "openai", "small"): SOME + SOME,
        Account("2026-03-02", "openai", "large"): SOME,
    }


def test_a_new_day_begins_with_nothing() -> None:
    calendar = Calendar()
    ledger = Ledger(today=calendar)
    ledger.add("openai", "small", SOME)
    calendar.pass_days(1)
    assert ledger.today() == Spent()


def test_the_total_holds_earlier_days() -> None:
    calendar = Calendar()
    ledger = Ledger(today=calendar)
    ledger.add("openai", "small", SOME)
    calendar.pass_days(1)
    ledger.add("openai", "small", SOME)
    assert ledger.total() == SOME + SOME


@pytest.mark.parametrize(("days", "kept"), [(KEPT_DAYS, 2), (KEPT_DAYS + 1, 1)])
def test_days_are_dropped_when_they_are_old(days: int, kept: int) -> None:
    calendar = Calendar()
    ledger = Ledger(today=calendar)
    ledger.add("openai", "small", SOME)
    calendar.pass_days(days)
    ledger.add("openai", "small", SOME)
    assert len(ledger.accounts()) == kept


def test_fractions_of_a_dollar_add_up() -> None:
    ledger = Ledger()
    for _ in range(10):
        ledger.add("openai", "small", Spent(dollars=0.1))
    assert ledger.today().dollars == 1.0


def test_a_correction_takes_back_what_was_not_used() -> None:
    ledger = Ledger()
    day = ledger.add("openai", "small", SOME)
    ledger.correct(Account(day, "openai", "small"), Spent(tokens=-40))
    assert ledger.today().tokens == 60


def test_a_correction_never_leaves_less_than_nothing() -> None:
    ledger = Ledger()
    day = ledger.add("openai", "small", SOME)
    ledger.correct(Account(day, "openai", "small"), Spent(tokens=-1000))
    assert ledger.today().tokens == 0


DAMAGE = {
    "half": b'{"version": 1, "spent": [{"day": "2026-',
    "empty": b"",
    "zeros": b"\0" * 500,
    "list": b"[]",
    "number": b"7",
    "nested": b"[" * 100_000,
    "newer": b'{"version": 2, "spent": []}',
    "no rows": b'{"version": 1, "spent": 5}',
    "no row": b'{"version": 1, "spent": [5]}',
    "huge": b" " * 5_000_000,
}


def row(**changes: object) -> bytes:
    fields: dict[str, object] = {
        "day": "2026-03-01",
        "provider": "openai",
        "model": "small",
        "tokens": 1,
        "requests": 1,
        "dollars": 0.5,
        "saved": 0,
        "unknown_price_tokens": 0,
    }
    return json.dumps({"version": 1, "spent": [{**fields, **changes}]}).encode()


DAMAGE |= {
    "negative": row(tokens=-1),
    "not finite": row(dollars=float("nan")),
    "text": row(dollars="1"),
    "truth": row(tokens=True),
    "no day": row(day="soon"),
    "no model": row(model=None),
}


def test_a_row_as_it_should_be_is_read(tmp_path: Path) -> None:
    file = tmp_path / "spending.json"
    file.write_bytes(row())
    assert Ledger(file).total() == Spent(1, 1, 0.5)


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_file_is_set_aside_and_begun_anew(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "spending.json"
    file.write_bytes(DAMAGE[kind])
    ledger = Ledger(file)
    ledger.add("openai", "small", SOME)
    assert (tmp_path / "spending.json.damaged").read_bytes() == DAMAGE[kind]
    assert Ledger(file).today() == SOME


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_file_can_be_looked_at(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "spending.json"
    file.write_bytes(DAMAGE[kind])
    assert Ledger(file).total() == Spent()


def test_damage_is_told_once(tmp_path: Path) -> None:
    file = tmp_path / "spending.json"
    file.write_bytes(b"?")
    ledger = Ledger(file)
    ledger.add("openai", "small", SOME)
    assert "set aside as spending.json.damaged" in ledger.take_warnings()[0]
    assert ledger.take_warnings() == ()


def test_what_a_killed_writer_left_is_no_hindrance(tmp_path: Path) -> None:
    (tmp_path / "spending.json.new").write_text("half", encoding="utf-8")
    ledger = Ledger(tmp_path / "spending.json")
    ledger.add("openai", "small", SOME)
    assert ledger.today() == SOME


def test_a_ledger_leaves_no_draft_behind(tmp_path: Path) -> None:
    Ledger(tmp_path / "spending.json").add("openai", "small", SOME)
    assert not (tmp_path / "spending.json.new").exists()


def blocked(tmp_path: Path) -> Ledger:
    """A ledger whose folder cannot be made, because a file has its name."""
    (tmp_path / "state").write_text("in the way", encoding="utf-8")
    return Ledger(tmp_path / "state" / "spending.json")


def test_what_cannot_be_written_is_counted_in_memory(tmp_path: Path) -> None:
    ledger = blocked(tmp_path)
    ledger.add("openai", "small", SOME)
    ledger.add("openai", "small", SOME)
    assert ledger.today() == SOME + SOME


def test_that_nothing_can_be_written_is_told_once(tmp_path: Path) -> None:
    ledger = blocked(tmp_path)
    ledger.add("openai", "small", SOME)
    ledger.add("openai", "small", SOME)
    assert len(ledger.take_warnings()) == 1
    ledger.add("openai", "small", SOME)
    assert ledger.take_warnings() == ()


def test_what_was_counted_in_memory_is_written_when_it_can_be(tmp_path: Path) -> None:
    ledger = blocked(tmp_path)
    ledger.add("openai", "small", SOME)
    (tmp_path / "state").unlink()
    ledger.add("openai", "small", SOME)
    assert Ledger(ledger.file).today() == SOME + SOME


def test_what_was_written_is_not_counted_twice(tmp_path: Path) -> None:
    ledger = blocked(tmp_path)
    ledger.add("openai", "small", SOME)
    (tmp_path / "state").unlink()
    ledger.add("openai", "small", SOME)
    ledger.add("openai", "small", SOME)
    assert ledger.today() == SOME + SOME + SOME


def test_a_correction_of_what_is_in_memory_counts(tmp_path: Path) -> None:
    ledger = blocked(tmp_path)
    day = ledger.add("openai", "small", SOME)
    ledger.correct(Account(day, "openai", "small"), Spent(tokens=-40))
    assert ledger.today().tokens == 60


READ_ONLY = """\
import sys
from pathlib import Path
from memlines.embed.spending.ledger import Ledger, Spent
ledger = Ledger(Path(sys.argv[1]))
ledger.add("openai", "small", Spent(tokens=5))
print(ledger.today().tokens, len(ledger.take_warnings()))
"""


def test_in_a_read_only_folder_what_was_spent_before_still_counts(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    Ledger(folder / "spending.json").add("openai", "small", SOME)
    folder.chmod(0o500)
    try:
        done = unprivileged_run(READ_ONLY, folder / "spending.json")
    finally:
        folder.chmod(0o700)
    assert (done.stdout.split(), done.stderr) == (["105", "1"], "")


FULL = """\
import resource, signal, sys
from pathlib import Path
from memlines.embed.spending.ledger import Ledger, Spent
ledger = Ledger(Path(sys.argv[1]))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
sys.dont_write_bytecode = True
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
ledger.add("openai", "small", Spent(tokens=5))
print(ledger.today().tokens, len(ledger.take_warnings()))
"""


def test_where_the_disk_takes_no_more_the_old_file_stays(tmp_path: Path) -> None:
    file = tmp_path / "state" / "spending.json"
    Ledger(file).add("openai", "small", SOME)
    before = file.read_bytes()
    done = unprivileged_run(FULL, file)
    assert (done.stdout.split(), done.stderr) == (["105", "1"], "")
    assert file.read_bytes() == before
