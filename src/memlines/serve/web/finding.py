"""Search as you type: cited lines, how sure they are, and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from memlines.memory.notes.entries import notes_in
from memlines.serve.http.listener import Reply
from memlines.serve.wire import say_changes, say_day
from memlines.text.days import log_day
from memlines.types import Hit, Mode, Scope, SearchResult, Source

if TYPE_CHECKING:
    from memlines.serve.web.site import Request

_FILTERS = ("scope", "source", "after", "before", "topic", "path", "as_of")
_MOST_OFFERED = 200
"""Topics that are offered for choice; all can be typed."""

_RECENT = 8


def show_search(request: Request) -> Reply:
    """Show the search with its answer, or what was written lately; with `part`, only that."""
    query = request.get("q")
    chosen = {name: request.get(name) for name in _FILTERS}
    narrowed = {name: value for name, value in chosen.items() if value}
    values: dict[str, Any] = {"query": query, "chosen": chosen, "narrowed": narrowed}
    if query:
        values |= _answer(request, query, narrowed)
    if request.get("recent"):  # which may take long to find in a large memory
        values["recent"] = request.memory.recall(recent=True, limit=_RECENT)
    if request.get("part"):
        return request.render("recent.html" if "recent" in values else "results.html", **values)
    memory = request.memory
    notes = [file.path for file in notes_in(memory.workspace, memory.settings)]
    topics = sorted(path for path in notes if path.startswith("memory/") and log_day(path) is None)
    return request.render(
        "search.html",
        topics=topics[:_MOST_OFFERED],
        has_personal=memory.scope == "project" and memory.personal is not None,
        is_empty=not notes,
        **{"recent": None, **values},
    )


def _answer(request: Request, query: str, chosen: dict[str, str]) -> dict[str, Any]:
    memory = request.memory
    words = [query, *(f"{name}:{chosen[name]}" for name in ("after", "before") if name in chosen)]
    words += [f'path:"{chosen[name].replace(chr(34), "")}"' for name in ("topic", "path") if name in chosen]
    # What is typed is sent nowhere and costs nothing until it is asked with Enter.
    models = memory.settings.embeddings.provider, memory.settings.rerank.provider
    is_remote = (models[0] != "none" and memory.builtin_vectors is None) or models[1] != "none"
    mode: Mode = "words" if request.get("part") and is_remote else "hybrid"
    result = memory.search(
        " ".join(words),
        mode=mode,
        scopes=[cast("Scope", chosen["scope"])] if "scope" in chosen else None,
        sources=[cast("Source", chosen["source"])] if "source" in chosen else None,
        as_of=chosen.get("as_of"),
    )
    return {
        "result": result,
        "bars_of": [_explain(hit) for hit in result],
        "changes": say_changes(result.corrections, result.aliases),
        "day": say_day(result.as_of),
        "advice": _advise(result, chosen),
        "by_words_only": mode == "words" and is_remote,
    }


def _explain(hit: Hit) -> Sequence[tuple[str, float | None]]:
    """Return the bars that say why a hit is where it is, each from 0 to 1.

    Without a word in common the bar of the words is empty, though the odds by words alone are never quite 0.
    """
    words = hit.why.by_words if hit.why.words else 0.0
    named = {"words": words, "meaning": hit.why.vector, "days": hit.why.days, "final": hit.score}
    return [(name, None if value is None else min(1.0, max(0.0, value))) for name, value in named.items()]


def _advise(result: SearchResult, chosen: dict[str, str]) -> list[str]:
    """Return what to try if nothing answers with confidence."""
    if result.confident:
        return []
    advice = ["Use the words that the note would use, or fewer of them."]
    if chosen:
        advice.insert(0, f"Leave out a filter: {', '.join(name.replace('_', ' ') for name in chosen)}.")
    if result.mode == "words" and not result.pending:
        advice.append("Only words were compared: a model of meaning would find other wordings too.")
    return advice
