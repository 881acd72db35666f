"""What has to be written down about batches, so that a later process can go on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Handed:
    """A batch that was handed in; without an `id` it is only certain that it was about to be."""

    token: str
    keys: frozenset[str]
    created_at: float
    """Seconds since 1970."""
    reserved: int = 0
    """The tokens that a meter counted for it."""
    id: str = ""


@dataclass(frozen=True, slots=True)
class Failures:
    """How many batches in a row came to nothing, and when the last one did, in seconds since 1970."""

    count: int = 0
    at: float = 0.0
    error: str = ""
    """Why the last one did."""


class Journal(Protocol):
    """What survives the end of a process, for one vector space. A call returns when it is kept."""

    def open(self) -> list[Handed]:
        """Return what was noted and not dropped, oldest first."""

    def note(self, handed: Handed) -> None:
        """Keep a batch, in the place of what was noted with the same token."""

    def drop(self, token: str) -> None:
        """Forget a batch."""

    def failures(self) -> Failures:
        """Return the failures that were noted last; none if there never were any."""

    def note_failures(self, failures: Failures) -> None:
        """Keep these failures in the place of the ones before."""
