"""What a model wants to read before a query and before a passage, and how long a text it takes.

Some services add such words themselves; this is for those that hand the text to the model as it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_TASK = "Given a web search query, retrieve relevant passages that answer the query"
_REPRESENT = "Represent this sentence for searching relevant passages: "


@dataclass(frozen=True, slots=True)
class _Family:
    """Models that were trained alike."""

    name: str
    """A pattern of their names."""
    query: str = ""
    document: str = ""
    text_bytes: int = 8000
    """About two bytes a token of what the model reads, for text that is dense in digits and symbols."""


_FAMILIES = (
    _Family(r"nomic-embed-text", "search_query: ", "search_document: ", 4000),
    _Family(r"qwen3-embed", f"Instruct: {_TASK}\nQuery:", ""),
    _Family(r"mxbai-embed-large", _REPRESENT, "", 1000),
    _Family(r"embedding-?gemma", "task: search result | query: ", "title: none | text: ", 4000),
    _Family(r"e5-mistral|\be5-.*-instruct", f"Instruct: {_TASK}\nQuery: ", "", 1000),
    _Family(r"\be5[-_]", "query: ", "passage: ", 1000),
    _Family(r"arctic-embed.*v2|arctic-embed2", "query: ", ""),
    _Family(r"arctic-embed", _REPRESENT, "", 1000),
    _Family(r"bge-(small|base|large)-en", _REPRESENT, "", 1000),
    _Family(r"bge-(small|base|large)", "", "", 1000),
    _Family(r"minilm", "", "", 500),
    _Family(r"bge-m3"),
)
"""The first whose pattern is found counts."""


def prefixes_of(model: str) -> tuple[str, str]:
    """Return what goes before a query and before a passage, by the model's or its file's name."""
    family = _family(model)
    return (family.query, family.document) if family else ("", "")


def text_bytes_of(model: str, unknown: int) -> int:
    """Return how long a text the model takes, or the given number if nobody knows."""
    family = _family(model)
    return family.text_bytes if family else unknown


def _family(model: str) -> _Family | None:
    return next((family for family in _FAMILIES if re.search(family.name, model, re.IGNORECASE)), None)
