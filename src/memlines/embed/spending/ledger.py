"""What was spent, day by day, in one file for all of a person's workspaces.

A day is a day in UTC, so that it is the same in every process and time zone, and has always 24 hours.
Every change is one locked read and write of a small file. It replaces the file whole, but does not wait
for the disk: a power cut may lose the last counts, and a file that is damaged is set aside.

Counting never stops a search. What cannot be written is kept in memory, counts there for the limits of
this process, and is written with the next change that can be.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from memlines.errors import StoreError, reason_of
from memlines.folders import make_own_folder, open_private
from memlines.locks import WriterLock
from memlines.paths import user_state_dir

KEPT_DAYS = 62
"""Enough to see this month and the one before."""

_VERSION = 1
_MOST_BYTES = 4_000_000
_WAIT_SECONDS = 10.0
_DIGITS = 12
"""Of a dollar; rounded after every sum, so that pennies add up to what people expect."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What was spent: tokens and requests sent, US dollars paid, and dollars saved by batches.

    `unknown_price_tokens` are those among the tokens that no dollars are counted for.
    """

    tokens: int = 0
    requests: int = 0
    dollars: float = 0.0
    saved: float = 0.0
    unknown_price_tokens: int = 0

    def __add__(self, other: Spent, sign: int = 1) -> Spent:
        pairs = ((getattr(self, name), getattr(other, name)) for name in _AMOUNTS)
        return Spent(*(round(own + sign * more, _DIGITS) for own, more in pairs))

    def __sub__(self, other: Spent) -> Spent:
        return self.__add__(other, -1)

    def at_least_zero(self) -> Spent:
        """Return the same with 0 in the place of negative amounts."""
        return Spent(*(max(getattr(self, name), 0) for name in _AMOUNTS))


@dataclass(frozen=True, slots=True, order=True)
class Account:
    """What is counted together: a day as `YYYY-MM-DD`, a provider and a model."""

    day: str
    provider: str
    model: str


Accounts = dict[Account, Spent]

_NAMES = tuple(field.name for field in fields(Account))
_AMOUNTS = tuple(field.name for field in fields(Spent))


class _Damaged(Exception):
    """The file is not one that a ledger wrote."""


class Ledger:
    """The file of what was spent; safe to use from several threads and processes at once."""

    def __init__(self, file: Path | None = None, today: Callable[[], date] | None = None) -> None:
        """Use the person's own file and the present day, if nothing else is given."""
        self.file = file or user_state_dir() / "spending.json"
        self._today = today or (lambda: datetime.now(UTC).date())
        self._lock = threading.Lock()
        self._unwritten: Accounts = {}
        self._warnings: list[str] = []
        self._warned = False

    def add(
        self, provider: str, model: str, spent: Spent, allowed: Callable[[Spent], None] | None = None
    ) -> str:
        """Count something for today; return that day.

        `allowed` is called with what was spent today by all processes, and may raise to stop it; no
        other one can count anything between that call and this count.
        """
        account = Account(self._today().isoformat(), provider, model)

        def change(accounts: Accounts) -> Accounts:
            if allowed is not None:
                allowed(_sum(accounts, account.day))
            return {account: spent}

        self._change(change)
        return account.day

    def correct(self, account: Account, difference: Spent) -> None:
        """Add a difference, which may be negative, to what was counted, which stays at least 0."""

        def change(accounts: Accounts) -> Accounts:
            before = accounts.get(account, Spent())
            return {account: (before + difference).at_least_zero() - before}

        self._change(change)

    def today(self) -> Spent:
        """Return what was spent today."""
        return _sum(self.accounts(), self._today().isoformat())

    def total(self) -> Spent:
        """Return what was spent on all the days that are kept."""
        return _sum(self.accounts())

    def accounts(self) -> Accounts:
        """Return what was spent by day, provider and model."""
        with self._lock:
            return self._read_without_writing()

    def take_warnings(self) -> tuple[str, ...]:
        """Return what a person should know about the counting, each thing once."""
        with self._lock:
            warnings, self._warnings = tuple(self._warnings), []
        return warnings

    def _change(self, change: Callable[[Accounts], Accounts]) -> None:
        """Add what `change` returns for the present accounts, in the file or else in memory."""
        with self._lock:
            try:
                make_own_folder(self.file.parent)
                lock = WriterLock(
                    self.file.with_name(self.file.name + ".lock"), "the record of what was spent"
                )
                with lock.held(_WAIT_SECONDS):
                    accounts = _merge(self._read_or_set_aside(), self._unwritten)
                    self._write(_merge(accounts, change(accounts)))
                    self._unwritten = {}
            except (OSError, StoreError) as error:
                self._unwritten = _merge(self._unwritten, change(self._read_without_writing()))
                if not self._warned:
                    self._warned = True
                    why = error.what if isinstance(error, StoreError) else reason_of(error)
                    self._warnings.append(
                        f"what is spent cannot be written to {str(self.file)!r} ({why}); it is counted in"
                        " memory, so limits hold for this process only. Check the permissions of the folder"
                        " and the room on the disk"
                    )

    def _read_without_writing(self) -> Accounts:
        """Return what can be read without writing anything, and what is in memory only."""
        try:
            kept = _read(self.file)
        except (OSError, _Damaged):
            kept = {}
        return _merge(kept, self._unwritten)

    def _read_or_set_aside(self) -> Accounts:
        try:
            return _read(self.file)
        except _Damaged:
            aside = self.file.with_name(self.file.name + ".damaged")
            self.file.replace(aside)
            self._warnings.append(
                f"the record of what was spent, {str(self.file)!r}, is damaged; it was set aside as"
                f" {aside.name}, and what was spent today is counted from nothing"
            )
            return {}

    def _write(self, accounts: Accounts) -> None:
        oldest = (self._today() - timedelta(days=KEPT_DAYS)).isoformat()
        kept = {account: spent for account, spent in accounts.items() if account.day >= oldest}
        # The lock is held, so no one else uses this name; what a killed process left there is overwritten.
        draft = self.file.with_name(self.file.name + ".new")
        try:
            handle = open_private(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                stream.write(_to_text(kept))
            draft.replace(self.file)
        except OSError:
            with contextlib.suppress(OSError):  # why it could not be written is what counts
                draft.unlink(missing_ok=True)
            raise


def _sum(accounts: Accounts, day: str | None = None) -> Spent:
    return sum((spent for account, spent in accounts.items() if day in (None, account.day)), Spent())


def _merge(accounts: Accounts, more: Accounts) -> Accounts:
    merged = dict(accounts)
    for account, spent in more.items():
        merged[account] = merged.get(account, Spent()) + spent
    return merged


def _to_text(accounts: Accounts) -> str:
    rows = []
    for account, spent in sorted(accounts.items()):
        whole = spent.at_least_zero()
        rows.append(
            {name: getattr(account, name) for name in _NAMES}
            | {name: getattr(whole, name) for name in _AMOUNTS}
        )
    return json.dumps({"version": _VERSION, "spent": rows}) + "\n"  # unlike asdict and indent, this is quick


def _read(file: Path) -> Accounts:
    """Return what a file holds, nothing if there is none; raise `_Damaged` if it makes no sense."""
    try:
        with file.open("rb") as stream:
            raw = stream.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        return {}
    try:
        content = json.loads(raw)
        if len(raw) > _MOST_BYTES or content["version"] != _VERSION:
            raise _Damaged
        return dict(map(_from_row, content["spent"]))
    except (ValueError, RecursionError, KeyError, TypeError) as error:
        raise _Damaged from error


def _from_row(row: dict[str, Any]) -> tuple[Account, Spent]:
    day, provider, model = (row[name] for name in _NAMES)
    tokens, requests, dollars, saved, unknown = amounts = [row[name] for name in _AMOUNTS]
    date.fromisoformat(day)
    if not (
        isinstance(provider, str)
        and isinstance(model, str)
        and all(type(x) in (int, float) and 0 <= x < math.inf for x in amounts)
    ):
        raise _Damaged
    return (
        Account(day, provider, model),
        Spent(int(tokens), int(requests), float(dollars), float(saved), int(unknown)),
    )
