"""What tests of looking after a memory share."""

from __future__ import annotations

from datetime import date
from typing import Self

import pytest

from tests.admin.backups import TODAY


class _SameDay(date):
    @classmethod
    def today(cls) -> Self:
        return cls.fromisoformat(TODAY)


@pytest.fixture(autouse=True)
def _midnight_never_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Name the copies that imports keep by the same day for every test, also when a run passes midnight."""
    monkeypatch.setattr("memlines.admin.backup.merge.date", _SameDay)
