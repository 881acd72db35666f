"""What a reranker is, and the settings that its errors name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from memlines.errors import EmbeddingError

_OURS = (
    ("embeddings.local.model_path", "rerank.path"),
    (" made for embeddings", " made for reranking"),
    (" and embeddings.headers", ""),
    ("embeddings.", "rerank."),
    ("Send shorter ones", "Use a model that reads longer texts"),
    ("Send others", "Check rerank.model and rerank.base_url"),
)
"""What the todo of a shared error says about embeddings, and what it means here."""


class Reranker:
    """Something that scores texts by how well they answer a query; safe to call from several threads.

    The constructor raises an `EmbeddingError` where the reranker cannot work, and loads nothing.
    """

    id: str
    """The name in the settings."""
    model: str
    sends_to: str = ""
    """Where the text goes, such as `api.cohere.com`; empty if it stays on this machine."""
    place: str = ""
    """The same for people: it also names a server on this machine."""

    def score(self, query: str, texts: Sequence[str], ends: float) -> list[float]:
        """Return one number a text, in their order; the higher, the better it answers.

        The scale is the model's own. A model on this machine raises `TimeoutError` if it is not done at
        `ends`, on the monotonic clock.
        """
        raise NotImplementedError

    def load(self) -> None:
        """Load a model that is on this machine, so that the first query need not wait for it."""


@contextmanager
def rerank_settings_named() -> Iterator[None]:
    """Raise errors of what reranking shares with embedding with the settings that concern reranking."""
    try:
        yield
    except EmbeddingError as error:
        todo = error.todo
        for theirs, ours in _OURS:
            todo = todo.replace(theirs, ours)
        raise type(error)(error.what, todo=todo) from None
