"""Review what agents know and did: facts, conversations, what could be tidied, and what each was shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, urlencode

from memlines.errors import EditConflict, UsageError
from memlines.files.journal import operation
from memlines.memory.conversations.conversation import SWITCH_ON
from memlines.memory.conversations.listing import list_sessions
from memlines.memory.conversations.reading import read_session
from memlines.memory.scopes import PERSONAL, list_scopes, owner_of
from memlines.memory.tidy.apply import COMMAND
from memlines.serve.http.listener import Reply
from memlines.serve.web.notes import redirect
from memlines.serve.web.render import split_diff
from memlines.settings import refuse_if_off
from memlines.text.facts import CATEGORIES
from memlines.types import cite, cited

if TYPE_CHECKING:
    from memlines.serve.web.site import Request

_AT_ONCE = 100
"""Rows of a page."""

_FILTERS = ("q", "category", "review", "past")
_AROUND = 5
_MOST_AROUND = 1_000
_LONGEST_TURN = 20_000
_LAST_LINE = 999_999_999


def _cut(request: Request, found: Sequence[Any]) -> Mapping[str, Any]:
    """Return the rows of the page that is asked for, and what the links to the other pages need."""
    last = max(1, -(-len(found) // _AT_ONCE))
    number = min(max(1, request.number("page") or 1), last)
    given = {name: values[-1] for name, values in request.given.items() if name != "page" and values[-1]}
    rows = found[(number - 1) * _AT_ONCE : number * _AT_ONCE]
    return {"rows": rows, "number": number, "last": last, "total": len(found), "others": urlencode(given)}


# Facts


def show_facts(request: Request) -> Reply:
    """Show what was captured and stored, in this memory and the personal one beside it, the newest first."""
    chosen = {name: request.get(name) for name in _FILTERS}
    words = chosen["q"].casefold()
    warnings: list[str] = []
    found, counts, replaced = [], {}, {}
    for memory in list_scopes(request.memory, warnings):
        facts, prefix = memory.facts, PERSONAL if memory.scope == "personal" else ""
        counts[memory.scope] = facts.stats()
        for line in reversed(facts.list(current=False)):
            fact = line.fact
            replaced[prefix + fact.superseded_by] = fact.text
            is_open = fact.is_captured and fact.is_current and not fact.reviewed
            is_meant = is_open if chosen["review"] else fact.is_current or chosen["past"]
            if is_meant and chosen["category"] in ("", fact.category) and words in fact.text.casefold():
                found.append((prefix + fact.id, cite(facts.path, line.first, line.last), fact, is_open))
    found.sort(key=lambda row: row[2].created or date.min, reverse=True)
    values = {"chosen": chosen, "counts": counts, "replaced": replaced, "warnings": warnings, "asked": None}
    return request.render("facts.html", categories=CATEGORIES, **values, **_cut(request, found))


def change_fact(request: Request) -> Reply:
    """Keep a fact, change its words, or forget it, if it is still what was shown."""
    owner, name = owner_of(request.memory, request.rest)
    facts, action, was = owner.facts, request.get("action"), request.get("was")
    line = facts.get(name)
    asked = [(key, value) for key, value in parse_qsl(request.get("back")) if key in (*_FILTERS, "page")]
    back = f"/facts?{urlencode(asked)}#{quote(request.rest)}"
    if was and was != line.fact.text:
        raise EditConflict("the fact was changed meanwhile, and was left as it is", todo="Look at it again")
    if action == "forget" and request.get("sure"):
        return request.render("forget.html", what="", found=[], receipt=facts.forget([name]))
    if action == "forget":
        citation = cite(facts.path, line.first, line.last)
        return request.render("facts.html", asked=line.fact, fact=request.rest, citation=citation, back=back)
    if action == "edit":
        with operation("facts edit"):  # so that one undo brings both back
            facts.edit(name, request.text("text"))
            if line.fact.is_captured:
                facts.review(name)
    elif action == "review":
        facts.review(name)
    else:
        raise UsageError(f"{action[:60]!r} cannot be done to a fact", todo="Open the page again")
    return redirect(back)


# Conversations


def show_sessions(request: Request) -> Reply:
    """Show the conversations that there are, or one of them, around a line if one is asked for."""
    memory = request.memory
    refuse_if_off(memory.loaded)
    if not request.rest:
        found, settings = list_sessions(memory.workspace, memory.settings), memory.settings
        is_on = "sessions" in settings.sources and bool(found or settings.sessions.clients)
        return request.render("sessions.html", advice="" if is_on else SWITCH_ON, **_cut(request, found))
    owner, path = owner_of(memory, request.rest)
    line, around = request.number("line"), min(request.number("around") or _AROUND, _MOST_AROUND)
    start = max(1, request.number("from") or 1)
    session = read_session(owner.workspace, owner.settings, path, line or None, around, start=start)
    values = {"path": request.rest, "session": session, "more": around * 4, "longest": _LONGEST_TURN}
    return request.render("session.html", **values)


# Tidying


def show_tidy(request: Request, **said: Any) -> Reply:
    """Show what is open of the last proposal, below what is said of what was just done."""
    tidy, reason = request.memory.tidy, ""
    try:
        left_out, items = tidy.load().left_out, tidy.open_items()
    except UsageError as error:
        left_out, items, reason = 0, (), f"{error.what}."  # what to do about it is a button here
    # The diff of an item does not begin with the names of files.
    shown = [(item, [split_diff(f"\n\n{edit.diff}") for edit in item.edits]) for item in items]
    diffs = [(change.path, split_diff(change.diff)) for change in said.pop("changes", ())]
    values = {"done": "", "outcomes": (), "undone": None, "warnings": (), **said}
    return request.render("tidy.html", items=shown, left_out=left_out, reason=reason, diffs=diffs, **values)


def change_tidy(request: Request) -> Reply:
    """Make a proposal, apply or decline items of it, or undo what was applied last; say what came of it."""
    tidy, action = request.memory.tidy, request.get("action")
    chosen, worded = request.given.get("chosen", []), request.given.get("worded", [])
    if action == "propose":
        from memlines.agent.tidy import word  # which takes time to import

        _, warnings = word(request.memory, tidy.propose())
        return show_tidy(request, done="proposed", warnings=warnings)
    if action == "undo":
        undone = tidy.undo(dry_run=not request.get("sure"))
        return show_tidy(request, done=request.get("sure"), undone=undone, changes=undone.changes)
    if action not in ("apply", "decline"):
        raise UsageError(f"{action[:60]!r} is not known here", todo="Open the page again")
    if not chosen:
        raise UsageError("nothing was chosen", todo=f"Choose what to {action}")
    if action == "decline":
        tidy.decline(chosen)
        return show_tidy(request, done="declined")
    split = [[one for one in chosen if (one in worded) is has_words] for has_words in (False, True)]
    with operation(COMMAND):  # so that one undo brings all of it back
        outcomes = [tidy.apply(ids, worded=ids is split[1]) for ids in split if ids]
    changes = [change for one in outcomes for change in one.changes]
    return show_tidy(request, done="applied", outcomes=outcomes, changes=changes)


# What agents were shown


def show_blame(request: Request) -> Reply:
    """Show the sessions of agents, what one of them was shown, or which were shown some lines or a note."""
    from memlines.memory import blame

    memory, line, session = request.memory, request.get("line"), ""
    found: Sequence[Any]
    if request.rest:
        session = blame.find_session(memory, request.rest)
        line, found = "", blame.blame_session(memory, session)
    elif line:
        answers = blame.blame_line(memory, line if cited(line) else cite(line, 1, _LAST_LINE))
        found = [(answer, answer.lines) for answer in reversed(answers)]
    else:
        found = blame.list_sessions(memory)
    values = {"line": line, "session": session, "clock": _clock, "is_on": memory.settings.blame.enabled}
    return request.render("blame.html", **values, **_cut(request, found))


def _clock(time: str) -> datetime | str:
    """Return a time of the record; what is no time stays as it is."""
    try:
        return datetime.fromisoformat(time)
    except ValueError:
        return time
