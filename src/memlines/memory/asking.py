"""Ask the memories that belong together: the project's and the personal one, as they are or as they were.

A query is parsed once. Each memory answers it by itself, from its index (`answering`) or from its notes of an
earlier day (`past`); the answers become one, and that one is reranked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from memlines.errors import MemlinesError
from memlines.index.search.query import Query, parse_query
from memlines.memory.answering import search_fresh
from memlines.memory.open_index import silent
from memlines.memory.scopes import LEFT_OUT, PERSONAL, mark_hits, merge_results, owner_of
from memlines.settings import Settings
from memlines.types import Lines, Mode, Progress, Scope, SearchResult, Source

if TYPE_CHECKING:
    from memlines.memory.manager import Manager
    from memlines.memory.memory import Memory


def parse(
    settings: Settings,
    said: str,
    *,
    max_results: int | None = None,
    min_score: float | None = None,
    mode: Mode = "hybrid",
    sources: Sequence[Source] | None = None,
    now: datetime | None = None,
    full: bool = False,
    strict: bool = False,
    as_of: date | str | None = None,
) -> Query:
    """Parse a query once, for all memories that are asked; see `Memory.search` for what each option means."""
    day, moment = None, now or datetime.now(UTC)
    if as_of is not None:
        from memlines.memory.past.days import parse_moment

        day, moment = parse_moment(as_of, settings, moment)
    wanted = settings.query if max_results is None else replace(settings.query, max_results=max_results)
    return parse_query(
        said,
        wanted,
        settings.profile,
        mode=mode,
        sources=tuple(sources) if sources else settings.sources,
        now=moment,
        cut=min_score,
        full=full,
        corrects=not strict,
        strict=strict,
        as_of=day,
    )


def search_scopes(memory: Memory, query: Query, scopes: Sequence[Scope], progress: Progress) -> SearchResult:
    """Answer a query from a memory and from the personal one beside it, as far as both are asked."""
    elsewhere = bool(query.workspaces)
    query = query if elsewhere else replace(query, workspaces=memory.settings.store.searches)
    trouble, personal = "", None
    try:
        personal = memory.personal if "personal" in scopes and not elsewhere else None
    except MemlinesError as error:
        trouble = LEFT_OUT.format(error)
    if memory.scope == "personal" or (personal and "project" not in scopes):
        return mark_hits(search_asked((personal or memory)._manager, _in_personal(query), progress))
    if personal:
        result = search_asked(memory._manager, replace(query, vectors={}), progress, personal._manager)
    else:
        result = search_asked(memory._manager, query, progress)
    return replace(result, warnings=(*result.warnings, trouble)) if trouble else result


def find_left_out(memory: Memory, citations: Sequence[str]) -> tuple[Lines, ...]:
    """Return the lines of the entries that citations name, in whichever memory, for a search without them."""
    from memlines.memory.recording import whole_entries

    found: list[Lines] = []
    for citation in citations:
        owner, own = owner_of(memory, citation.strip())
        for path, first, last in whole_entries(owner.workspace, owner.settings, [own]):
            found.append((owner._manager.prefix + path, first, last))
    return tuple(found)


def _in_personal(query: Query) -> Query:
    """Return a query as the personal memory is asked it, by its own paths."""
    own = tuple([(path.removeprefix(PERSONAL), first, last) for path, first, last in query.left_out])
    return replace(query, left_out=own)


def search_asked(
    manager: Manager, query: Query, progress: Progress = silent, beside: Manager | None = None
) -> SearchResult:
    """Answer a query that a person or an agent asks for, reranked if so set.

    The personal memory `beside` is asked too. A strict query, which no one asked for, is not reranked.
    """
    wanted = manager.settings.rerank
    is_ordered = query.is_only_days or query.profile == "openclaw"  # by time, or as OpenClaw would
    if wanted.provider == "none" or query.mode == "words" or is_ordered or query.strict:
        if beside is None:
            return _find(manager, query, progress)
        return _search_both(manager, query, progress, beside)
    from memlines.memory.reranking import rerank

    manager.reranker.load_soon()  # while search does its work
    most = query.settings.max_results
    more = replace(query.settings, max_results=max(most, wanted.candidates))
    found = _search_both(manager, replace(query, settings=more), progress, beside)
    result = rerank(manager, query.text, found)
    return replace(result, hits=result.hits[:most])


def _search_both(manager: Manager, query: Query, progress: Progress, beside: Manager | None) -> SearchResult:
    """Answer a query from a memory and the personal one beside it, whose trouble is only a warning."""
    own = _find(manager, query, progress)
    narrowed = query.filters.sources or query.sources
    if beside is None or "memory" not in narrowed:  # conversations belong to projects
        return own
    try:
        personal = _find(beside, _in_personal(replace(query, sources=("memory",))), progress)
    except MemlinesError as error:
        warning = f"your personal memory could not be searched: {error}"
        return replace(own, warnings=(*own.warnings, warning))
    by_score = query.cut is not None or query.profile == "openclaw"
    return merge_results(own, mark_hits(personal), query.settings.max_results, by_score=by_score)


def _find(manager: Manager, query: Query, progress: Progress) -> SearchResult:
    """Answer a query from the notes of one memory, as they are or as they were."""
    if query.as_of is None:
        qmd = manager.qmd
        return search_fresh(manager, query, progress) if qmd is None else qmd.search(query, progress)
    from memlines.memory.past.search import search_past

    return search_past(manager, query, progress)
