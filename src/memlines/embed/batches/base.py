"""What a batch API is: a file of texts is handed in, and the vectors are fetched when they are made.

A service promises an answer within hours and takes less money for that. Every text carries a key of
ours, so results are of use whatever happened to this process in between. `sync.batched` decides what
is handed in and when; the modules of this package only give requests and replies their shape.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from memlines.embed.base import Vector


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """How much one batch may hold."""

    texts: int
    file_bytes: int


USUAL_LIMITS = BatchLimits(texts=50_000, file_bytes=100_000_000)
"""Within what all services take; OpenAI's limits are the narrowest: 50,000 texts in 200 MB."""

Phase = Literal["running", "done", "failed", "expired", "cancelled"]


@dataclass(frozen=True, slots=True)
class BatchState:
    """How far a batch has come."""

    phase: Phase
    completed: int = 0
    total: int = 0
    reason: str = ""
    """Why it failed, in the words of the service."""


class Answer(NamedTuple):
    """What one line of results says: a unit vector, or the reason why there is none.

    There is no key where nobody can tell which text the line is about; `tokens` counts even then.
    """

    key: str | None
    vector: Vector | None
    reason: str = ""
    tokens: int = 0


class BatchApi(Protocol):
    """The batches of one model of one service. Every method may raise an `EmbeddingError`."""

    @property
    def service(self) -> str:
        """How messages call the service."""

    @property
    def limits(self) -> BatchLimits:
        """How much one batch may hold."""

    def line(self, key: str, text: str) -> bytes:
        """Return what stands for a text in the file that is handed in."""

    def upload(self, texts: Mapping[str, str]) -> str:
        """Bring a file with texts by their keys to the service and return its name there."""

    def create(self, file: str, token: str) -> str:
        """Make a batch of a file and return its id; `find` finds it by the token.

        `ProviderUnusable` means that the service offers no batches for this model.
        """

    def find(self, token: str) -> str | None:
        """Return the id of the batch that was made with a token; `None` if there is none."""

    def state(self, batch_id: str) -> BatchState:
        """Ask how far a batch has come; `ProviderUnusable` if it is not known."""

    def results(self, batch_id: str, texts: Mapping[str, str]) -> Iterator[Answer]:
        """Yield what a batch that has ended says about these texts, while it arrives.

        A line that is no good is an answer without a vector, never an error, and takes nothing from
        the lines after it. An error is raised only if the file cannot be had, or breaks off.
        """

    def cancel(self, batch_id: str) -> None:
        """Ask the service to stop."""

    def tidy(self, batch_id: str) -> None:
        """Remove the files of a batch that has ended, which hold the texts, from the service."""


def grouped(api: BatchApi, texts: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Yield texts in groups that each fit into one batch."""
    group: dict[str, str] = {}
    size = 0
    for key, text in texts.items():
        more = len(api.line(key, text))
        if group and (len(group) == api.limits.texts or size + more > api.limits.file_bytes):
            yield group
            group, size = {}, 0
        group[key] = text
        size += more
    if group:
        yield group
