"""Make the items of a proposal: what to remove, to mark, to add and to move, and why.

Nothing is changed. What a proposal quotes is without secrets, and a line with a secret is never copied into
another note. Text that no person wrote or reviewed gains no weight unasked: such items need a review.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Protocol

from memlines.errors import MemlinesError, UsageError
from memlines.files.place import writing
from memlines.files.scan import NOTES_DIR, SUFFIX
from memlines.files.tombstones import Forgotten
from memlines.memory.manager import Manager
from memlines.memory.notes.entries import (
    block_of,
    local_now,
    main_note,
    slug_of,
    topic_notes,
    topic_title,
)
from memlines.memory.tidy import proposal
from memlines.memory.tidy.alike import find_contradictions, group_same, is_ordered
from memlines.memory.tidy.gather import FACT, LOG, TOPIC, Noted, gather
from memlines.memory.tidy.proposal import Proposal, TidyEdit, TidyItem, TidyKind, TidyLines, name_item
from memlines.memory.tidy.repository import Repository
from memlines.memory.tidy.stale import Stale, find_stale
from memlines.paths import note_path
from memlines.text.aliases import PATH as ALIASES
from memlines.text.chunk import sentences_of, weigh
from memlines.text.redaction import redact, rules_of
from memlines.text.terms import terms_of
from memlines.types import SESSION_TOKENS

_DAYS = 3
"""On how many days logs must say the same before it is promoted."""

_OPENED, _SHOWN = 3, 10
"""How often an entry was opened that is recalled often, and how often it was shown that is not useful."""

_SHORT = 160
"""Characters of an entry that goes with what it names; of a longer one, more may still be true."""

_OLD = timedelta(days=90)
_LONGEST_TITLE = 60
_ROOM = SESSION_TOKENS * 4 - 600
"""Characters of the main note that a session can start with, beside what introduces them."""
_PER_LINE = 3
"""Characters that quoting a line takes."""
_FILLED = 0.9
"""How much of that a main note takes that was too long: the next entry must not make it too long again."""


class EntryUses(Protocol):
    """How often an entry was shown to an agent, and how often the agent opened it then."""

    @property
    def shown(self) -> int:
        """How often it was shown."""

    @property
    def opened(self) -> int:
        """How often it was opened."""


def propose(manager: Manager, uses: Mapping[str, EntryUses], now: datetime | None = None) -> Proposal:
    """Look for what can be tidied in the notes of a workspace, write it down as a proposal, and return it."""
    workspace = manager.workspace
    moment = local_now(manager.settings, now)
    found = _Work(manager, uses, moment).items()
    with writing(workspace):
        gone = Forgotten.load(workspace)  # by now: what is forgotten meanwhile must not be written
        declined = set(proposal.read_decisions(workspace)["declined"])
        items = [
            item
            for item in found
            if item.id not in declined
            and not any(gone.drops(text) for text in [*(one.text for one in item.cited), item.why])
        ]
        made = Proposal(
            moment.isoformat(timespec="seconds"),
            tuple(items[: proposal.MOST_ITEMS]),
            max(0, len(items) - proposal.MOST_ITEMS),
        )
        proposal.save(workspace, made)
    return made


class _Work:
    """One look at all notes."""

    def __init__(self, manager: Manager, uses: Mapping[str, EntryUses], now: datetime) -> None:
        self._manager = manager
        self._uses = uses
        self._now = now
        notes = list(gather(manager.workspace, manager.settings))
        self._texts = {path: text for path, text, _ in notes}
        self._entries = [entry for _, _, entries in notes for entry in entries]
        self._taken: set[str] = set()
        rules = rules_of(manager.settings.redaction.rules)
        self._clean: Callable[[str], str] = lambda text: redact(text, rules).text

    def items(self) -> list[TidyItem]:
        """Return the items, kind by kind; what one of them removes is in no other."""
        groups = group_same(self._entries, self._now)
        grouped = {id(entry) for group in groups for entry in group}
        kept = [group[0] for group in groups] + [one for one in self._entries if id(one) not in grouped]
        kept.sort(key=lambda one: (one.path, one.entry.first))
        items = [self._duplicate(group[0], one) for group in groups for one in group[1:] if one.kind != LOG]
        decided: set[int] = set()
        for older, newer in find_contradictions(kept):
            if id(older) not in decided:
                items.append(self._contradiction(older, newer))
                decided.add(id(older))
        repository = Repository.around(self._manager.workspace)
        for one in find_stale([entry for entry in kept if id(entry) not in decided], repository, self._now):
            items.append(self._stale(one))
            decided.add(id(one.entry))
        items += self._promote(groups)
        items += self._shorten([entry for entry in kept if id(entry) not in decided])
        return items

    # Duplicates and contradictions

    def _duplicate(self, kept: Noted, removed: Noted) -> TidyItem:
        return self._item(
            "duplicate",
            f"{kept.citation} says what {removed.citation} says",
            [kept, removed],
            [self._remove(removed)],
            needs_review=removed.is_trusted and not kept.is_trusted,
        )

    def _contradiction(self, older: Noted, newer: Noted) -> TidyItem:
        if not is_ordered(older, newer):
            why = f"{newer.citation} and {older.citation} contradict each other; which is newer is not known"
            return self._item("contradiction", why, [older, newer])
        return self._item(
            "contradiction",
            f"{newer.citation} is newer and contradicts {older.citation}",
            [older, newer],
            self._end(older, newer),
            needs_review=older.is_trusted and not newer.is_trusted,
        )

    # What is stale

    def _stale(self, one: Stale) -> TidyItem:
        entry = one.entry
        text = entry.entry.text
        edits: Sequence[TidyEdit] = ()
        if one.new_path:
            if self._clean(text) == text:
                edits = [replace(self._remove(entry), new=text.replace(one.old_path, one.new_path))]
            why = f"{one.why}; {one.new_path} does"
        else:
            why = one.why
            body = entry.body
            if len(body) <= _SHORT and len(sentences_of(body)) < 2 and "\n" not in body:
                edits = self._end(entry)
        return self._item("stale", f"{entry.citation}: {why}", [entry], edits)

    # What should be promoted

    def _promote(self, groups: Sequence[Sequence[Noted]]) -> Iterator[TidyItem]:
        """Yield what logs say again and again, or what was recalled often, and no curated note says."""
        for group in groups:
            newest = max(group, key=lambda one: (one.day or self._now.date(), one.entry.first))
            if group[0].kind != LOG or newest.is_task:
                continue
            days = {one.day for one in group}
            opened = sum(self._uses[one.id].opened for one in group if one.id in self._uses)
            if len(days) >= _DAYS:
                why = f"logs of {len(days)} days say this"
            elif opened >= _OPENED:
                why = f"agents opened this {opened} times"
            else:
                continue
            text = newest.body
            if self._clean(text) != text:
                continue
            path, title = self._place_for(newest)
            new = block_of(f"{self._now.date().isoformat()}:", text)
            cited = sorted(group, key=lambda one: one.path)[-5:]
            yield self._item(
                "promote",
                f"{why}, and no curated note does",
                cited,
                [TidyEdit(path, new, title=title)],
                needs_review=not all(one.is_trusted for one in group),
                named=group[0],
            )

    def _place_for(self, entry: Noted) -> tuple[str, str]:
        """Return the topic note whose name the entry names, or else the main note, with its title."""
        for path in dict.fromkeys(one.path for one in self._entries if one.kind == TOPIC):
            stem = path.rpartition("/")[2].removesuffix(SUFFIX)
            words = frozenset(terms_of(stem.replace("-", " "), "en"))
            if words and words <= entry.terms:
                return path, stem
        return main_note(self._manager.workspace), "Memory"

    # What makes the main note too long

    def _shorten(self, kept: Sequence[Noted]) -> Iterator[TidyItem]:
        """Yield which entries of the main note to move to which topic, until a session can start with it."""
        main = main_note(self._manager.workspace)
        size = _size_of(self._texts.get(main, ""))
        if size <= _ROOM:
            return
        excess = size - _ROOM * _FILLED
        sections: dict[str, list[Noted]] = {}
        movable = [one for one in kept if one.path == main and self._clean(one.entry.text) == one.entry.text]
        for entry in sorted(movable, key=self._least_useful_first):
            if excess <= 0:
                break
            excess -= _size_of(entry.entry.text)
            sections.setdefault(entry.entry.heading.split(" > ")[-1], []).append(entry)
        for heading, entries in sections.items():
            entries.sort(key=lambda one: one.entry.first)
            path, topic = self._topic_for(heading)
            edits = [TidyEdit(path, one.entry.text, title=topic) for one in entries]
            edits += [self._remove(one) for one in entries]
            pointer = f"- More in {path}."
            if pointer not in self._texts[main]:
                edits[-1] = replace(edits[-1], new=pointer)
            count = f"{len(entries)} entries" if len(entries) > 1 else "an entry"
            why = f"{main} is longer than a session can start with: move {count} to {path}"
            yield self._item("long", why, entries, edits)

    def _topic_for(self, heading: str) -> tuple[str, str]:
        """Return the note of the topic that a heading names, and its title; or a general note."""
        workspace, settings = self._manager.workspace, self._manager.settings
        own = {note_path(settings.facts.file), ALIASES}  # in which every line has a meaning of its own
        for title in (heading[:_LONGEST_TITLE], "Notes"):
            with suppress(UsageError):
                named = topic_notes(workspace, settings, topic_title(title))
                path = next(filter(self._texts.__contains__, named), f"{NOTES_DIR}/{slug_of(title)}{SUFFIX}")
                if path not in own and slug_of(title) != "memory":
                    break
        return path, title

    def _least_useful_first(self, entry: Noted) -> tuple[int, int, str, int]:
        used = self._uses.get(entry.id)
        day = entry.day.isoformat() if entry.day else ""
        if used is not None and used.shown >= _SHOWN and not used.opened:
            rank = 0
        elif self._uses and used is None and entry.day and self._now.date() - entry.day > _OLD:
            rank = 1
        else:
            rank = 2
        return rank, used.opened if used else 0, day or "9999", -len(entry.entry.text)

    # How

    def _item(
        self,
        kind: TidyKind,
        why: str,
        entries: Sequence[Noted],
        edits: Sequence[TidyEdit] = (),
        *,
        needs_review: bool = False,
        named: Noted | None = None,
    ) -> TidyItem:
        parts = [named.id] if named else [f"{one.id} {one.path}" for one in entries]
        name = name_item(kind, parts, self._taken)
        self._taken.add(name)
        cited = tuple(
            TidyLines(one.path, one.entry.first, one.entry.last, one.hash, self._clean(one.entry.text))
            for one in entries
        )
        return TidyItem(name, kind, self._clean(why), cited, tuple(edits), needs_review)

    def _remove(self, entry: Noted) -> TidyEdit:
        lines = entry.entry
        return TidyEdit(entry.path, "", lines.first, lines.last, entry.hash, self._clean(lines.text))

    def _end(self, entry: Noted, newer: Noted | None = None) -> Sequence[TidyEdit]:
        """Return how an entry ends: a fact is marked as no longer true, any other entry is removed."""
        if entry.kind != FACT or entry.fact is None:
            return [self._remove(entry)]
        by = newer.fact.fact.id if newer and newer.fact else ""
        day = (newer.day if newer else None) or self._now.date()
        try:
            note = self._manager.fact_table.note
            text = self._texts[entry.path]
            _, line = note.put_fact(text, entry.fact, entry.fact.fact.supersede(by, day))
        except MemlinesError:
            return ()  # it is written in a way that only a person can change
        if self._clean(line.raw) != line.raw:
            return ()
        return [replace(self._remove(entry), new=line.raw)]


def _size_of(text: str) -> int:
    """Return how many characters a text takes where a session starts with it."""
    return sum(weigh(line) + _PER_LINE for line in text.split("\n"))
