"""Long-term facts of an open memory: recall them, store them, change and forget them.

Facts are lines of their note. What is stored is known when the note is durable; the index and the table that
find it follow, as after any change of a note.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import asdict, replace
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any, Literal

from memlines.errors import StoreError, UsageError
from memlines.files.journal import operation
from memlines.files.place import ensure_private
from memlines.files.tombstones import Forgotten
from memlines.locks import WriterLock
from memlines.memory.arguments import FACT, RECALL, SEARCH, check
from memlines.memory.facts.categories import category_of
from memlines.memory.facts.contradiction import find_contradicted
from memlines.memory.facts.near import KnownFacts, Near, about_the_same, duplicate_of, find_near
from memlines.memory.facts.places import stamp_of
from memlines.memory.facts.recall import FoundFact, Recollection, recall
from memlines.memory.facts.table import INDEX, LANCEDB
from memlines.memory.manager import Manager
from memlines.memory.notes.candidates import ForgetCandidate
from memlines.memory.notes.duplicates import find_known
from memlines.memory.notes.entries import body_of, daily_log, local_now
from memlines.records import dataclass
from memlines.settings import refuse_if_off
from memlines.settings.values import shown_value
from memlines.text.fact_note import held_on, is_in_scope
from memlines.text.facts import CATEGORIES, IMPORTANCE, Category, Fact, FactLine, is_id, new_id, plain
from memlines.types import Mode, cite

if TYPE_CHECKING:
    from memlines.memory.notes.proof import ForgetReceipt

StoreAction = Literal["created", "duplicate", "superseded"]
"""What storing a fact came to."""

_MOST_CANDIDATES = 5
_LOCK = "facts.lock"
_WAIT_SECONDS = 30.0
_ITEM = "item"


@dataclass(frozen=True, slots=True)
class StoredFact:
    """What storing a text came to: the line that holds it now, and the one that is no longer true.

    A duplicate was known before, so nothing was written, and `line` is the one that was there; without an
    id it is an entry of a note. `similar` are facts about the same thing that the new one may or may not
    replace: the rules cannot decide it.
    """

    action: StoreAction
    """What was done."""
    line: FactLine
    """The fact and its lines."""
    old: FactLine | None = None
    """The fact that is no longer true since."""
    similarity: float | None = None
    """How similar the fact is that it repeats or replaces."""
    citation: str = ""
    warnings: tuple[str, ...] = ()
    similar: tuple[FactLine, ...] = ()
    """Facts about the same thing, which the new one may replace."""

    def to_json(self) -> dict[str, Any]:
        """Return it with field names that stay."""
        return {
            "action": self.action,
            "fact": self.line.fact.to_json(),
            "citation": self.citation,
            "superseded": self.old.fact.to_json() if self.old else None,
            "similar": [line.fact.to_json() for line in self.similar],
            "similarity": None if self.similarity is None else round(self.similarity, 4),
            "warnings": list(self.warnings),
        }


@dataclass(frozen=True, slots=True)
class FactStats:
    """How many facts there are of each kind, and where they are."""

    file: str
    """The note that holds them."""
    total: int
    """How many there are."""
    current: int
    """How many still hold."""
    captured: int
    """How many were captured from conversations."""
    unreviewed: int
    """Captured facts that still hold and wait for a review."""
    by_category: Mapping[str, int]
    """How many of those that hold are in each category."""
    oldest: date | None
    """The day of the oldest."""
    newest: date | None
    """The day of the newest."""
    store: str
    """What finds them by meaning: `lancedb` or `index`."""
    uri: str
    """Where the table is, if one is used."""
    rows: int | None
    """How many facts the table holds, if there is one."""

    @property
    def superseded(self) -> int:
        """How many are no longer true."""
        return self.total - self.current

    def to_json(self) -> dict[str, Any]:
        """Return it with field names that stay."""
        return {
            **asdict(self),
            "superseded": self.superseded,
            "oldest": self.oldest.isoformat() if self.oldest else None,
            "newest": self.newest.isoformat() if self.newest else None,
            "uri": self.uri or None,
        }


class Facts:
    """The facts of one open memory; safe in several threads."""

    def __init__(self, manager: Manager) -> None:
        self._manager = manager
        self._table = manager.fact_table
        self._note = self._table.note

    @property
    def path(self) -> str:
        """The note that holds the facts."""
        return self._manager.prefix + self._note.path

    # Looking

    def list(
        self,
        category: Category | None = None,
        current: bool = True,
        scope: str | None = None,
        as_of: date | str | None = None,
    ) -> tuple[FactLine, ...]:
        """Return facts in the order of their note: those that still hold, or all.

        With a category or a scope, only those of it; with a day `as_of`, those that held at its end.
        """
        refuse_if_off(self._manager.loaded)
        check(FACT, category=category, scope=scope)
        every = self._note.lines()
        if as_of is not None:
            from memlines.memory.past.days import parse_day

            every = held_on(every, parse_day(as_of, self._manager.settings))
        lines = (line for line in every if line.fact.is_current or not current)
        lines = (line for line in lines if scope is None or is_in_scope(line.fact, scope))
        return tuple(line for line in lines if category in (None, line.fact.category))

    def get(self, name: str) -> FactLine:
        """Return a fact by its id, and where it is."""
        refuse_if_off(self._manager.loaded)
        check(FACT, id=name)
        line = self._note.find(name) if is_id(name) else None
        if line is None:
            reason = "there is no such fact" if is_id(name) else "no fact has such an id"
            raise UsageError(
                f"{shown_value(name)}: {reason} in {self.path}",
                todo="Take an id that a search of facts shows, or 'memlines facts list'",
            )
        return line

    def recall(
        self,
        query: str,
        limit: int = 5,
        min_score: float | None = None,
        current_only: bool = True,
        *,
        asked: bool = True,
        now: datetime | None = None,
        mode: Mode = "hybrid",
    ) -> Recollection:
        """Return the facts that answer a query, best first. No facts are an answer too.

        Where none reaches `facts.recall_min_score`, the nearest are returned, at most three, and the answer
        is not `confident`. With `min_score` nothing below that is returned, and everything above it.

        The query may narrow as in a search of notes (`after:2026-05`, `-word`, `"a phrase"`), and to a scope
        (`scope:writing`). If it speaks of days only ("what did I do yesterday?"), facts that were stored then
        answer it. With `asked` off none of that is done, and spelling is not corrected. What is no longer
        true answers only with `current_only` off.
        """
        check(SEARCH, query=query, min_score=min_score, mode=mode)
        check(RECALL, limit=limit)
        refuse_if_off(self._manager.loaded)
        return recall(
            self._manager, query, limit, min_score, now, mode, current_only=current_only, asked=asked
        )

    def candidates(self, query: str) -> tuple[FoundFact, ...]:
        """Return up to five facts that a description may mean, best first.

        Those that are no longer true come last; they can be forgotten as well.
        """
        holding = self.recall(query, _MOST_CANDIDATES, current_only=True).found
        every = self.recall(query, _MOST_CANDIDATES, current_only=False).found
        return (*holding, *(one for one in every if not one.fact.is_current))[:_MOST_CANDIDATES]

    def was_forgotten(self, text: str) -> bool:
        """Return whether a text holds something that was forgotten for good."""
        check(FACT, text=text)
        return Forgotten.load(self._manager.workspace).drops(text)

    def knows(self, text: str, now: datetime | None = None) -> bool:
        """Return whether a fact or an entry of the notes says the same in the same words."""
        check(FACT, text=text)
        moment = local_now(self._manager.settings, now)
        notes = [daily_log(moment), *self._manager.changed_notes()]
        return find_known(self._manager, plain(text), moment, notes) is not None

    def conflicts(self) -> tuple[str, ...]:
        """Return a sentence about each conflict that a merge left in the note, for a person to decide."""
        return self._note.conflicts()

    def stats(self) -> FactStats:
        """Count the facts, and say where they are and what finds them."""
        refuse_if_off(self._manager.loaded)
        facts = [line.fact for line in self._note.lines()]
        days = sorted(fact.created for fact in facts if fact.created)
        uri = self._table.uri
        stamp = stamp_of(uri) if uri else None
        counts = Counter(fact.category for fact in facts if fact.is_current)
        return FactStats(
            file=self.path,
            total=len(facts),
            current=sum(fact.is_current for fact in facts),
            captured=sum(fact.is_captured for fact in facts),
            unreviewed=sum(fact.is_captured and fact.is_current and not fact.reviewed for fact in facts),
            by_category={category: counts[category] for category in CATEGORIES},
            oldest=days[0] if days else None,
            newest=days[-1] if days else None,
            store=LANCEDB if uri else INDEX,
            uri=uri,
            rows=stamp.count if stamp else None,
        )

    # Changing

    @operation("facts store")
    def store(
        self,
        text: str,
        importance: float = IMPORTANCE,
        category: Category | None = None,
        source: str = "",
        supersede: bool = True,
        force: bool = False,
        now: datetime | None = None,
        replaces: str | None = None,
        allow_secret: bool = False,
        scope: str | None = None,
    ) -> StoredFact:
        """Write a fact into the note, unless it is known; it is on disk when this returns.

        - `category` is guessed from the words if you give none.
        - `scope` compares the fact only with facts of that scope: what you prefer in one need not be what you
          prefer in another.
        - `supersede` looks for a fact that this one contradicts, which is kept and marked as no longer true.
        - `replaces` names it by its id instead.
        - `force` writes a fact that is known already, or that reads like an order to a model, which otherwise
          raises `UsageError`.
        - `allow_secret` writes a fact that holds a secret, which otherwise raises `SecretRefused`.
        """
        check(FACT, text=text, importance=importance, category=category, source=source)
        check(FACT, replaces=replaces, scope=scope)
        refuse_if_off(self._manager.loaded)
        words = plain(text)
        self._refuse_secrets(words, allow_secret)
        if not force:
            from memlines.text.injection import refuse_order  # which takes time to import

            refuse_order(text)
        category = category or category_of(words)
        moment = local_now(self._manager.settings, now)
        with self._locked():  # two that store the same would both find it unknown
            old = None if replaces is None else self.get(replaces)
            if old is not None and not old.fact.is_current:
                raise UsageError(
                    f"the fact {replaces} is no longer true already, so nothing can replace it",
                    todo="Name a fact that still holds, or leave it out",
                )
            near = find_near(self._manager, words)
            warnings = tuple(dict.fromkeys([*near.warnings, *self._note.conflicts()]))
            holding = [
                (line, value)
                for line, value in near.facts
                if line.fact.is_current and is_in_scope(line.fact, scope or "")
            ]
            known = None if force else duplicate_of(words, holding, moment)
            if known is not None:
                citation = self._cite(known)
                stored = StoredFact("duplicate", known, None, dict(holding)[known], citation, warnings)
                if old is None or old.fact.id == known.fact.id:
                    return stored
                struck = self._note.change(old, old.fact.supersede(known.fact.id, moment.date()))
                stored = replace(stored, action="superseded", old=struck)
            else:
                if old is None and supersede:
                    old = find_contradicted(words, category, holding)
                noted = None if force or old is not None else self._known_entry(words, category, moment)
                if noted is not None:
                    return noted
                Forgotten.load(self._manager.workspace).lift(words)  # said again, it is wanted again
                fact = Fact(new_id(), words, category, float(importance), moment.date(), source)
                fact = replace(fact, scope=scope or "")
                stored = self._write(fact, old, moment.date(), holding, warnings)
        self._index_soon()
        return stored

    @operation("facts store")
    def add_all(self, facts: Sequence[Fact], *, dry_run: bool = False) -> tuple[Fact, ...]:
        """Write those of many facts that are not known yet, all at once, and return them in their order.

        They are compared by their words alone, with each other too, and none replaces another.
        With `dry_run` nothing is written.
        """
        refuse_if_off(self._manager.loaded)
        with nullcontext() if dry_run else self._locked():
            if not dry_run:
                with suppress(StoreError):  # an index that cannot be used must not prevent storing
                    self._manager.run(words_only=True)
            known = KnownFacts(self._note.lines())
            new: dict[Fact, None] = {}
            now = local_now(self._manager.settings)
            for fact in facts:
                moment = now
                if fact.created is not None:
                    moment = datetime.combine(fact.created, time(12), now.tzinfo)
                if known.same_as(fact.text, moment) or find_known(
                    self._manager, fact.text, moment, (), with_facts=False
                ):
                    continue
                new[fact] = None
                known.add(FactLine(fact, 0, 0, ""))
            if new and not dry_run:
                self._note.add(tuple(new))
        if new and not dry_run:
            self._index_soon()
        return tuple(new)

    @operation("facts edit")
    def edit(self, name: str, text: str, *, allow_secret: bool = False) -> FactLine:
        """Replace the words of a fact, and return where it is; secrets are refused, as by `store`.

        If a merge left lines of its id that contradict each other, this one is left.
        """
        check(FACT, text=text)
        line = self.get(name)
        words = plain(text)
        self._refuse_secrets(words, allow_secret)
        today = local_now(self._manager.settings).date()
        new = self._note.decide(line, replace(line.fact, text=words, edited=today))
        self._index_soon()
        return new

    def _refuse_secrets(self, words: str, allow_secret: bool) -> None:
        from memlines.text.redaction import refuse_secrets, rules_of  # which takes time to import

        if not allow_secret:
            refuse_secrets(words, rules_of(self._manager.settings.redaction.rules))

    @operation("facts review")
    def review(self, name: str) -> FactLine:
        """Note that a person looked at a fact and kept it."""
        line = self.get(name)
        if line.fact.reviewed:
            return line
        new = self._note.change(line, replace(line.fact, reviewed=True))
        self._index_soon()
        return new

    def forget(self, facts: Iterable[str | FactLine]) -> ForgetReceipt:
        """Remove facts for good, by their ids, from the note and everything that was made of it."""
        from memlines.memory.notes.forget import forget  # which takes time to import

        refuse_if_off(self._manager.loaded)
        if isinstance(facts, str):
            raise UsageError("the facts to forget are one text", todo="Give a list of ids")
        chosen = [self.get(one.fact.id if isinstance(one, FactLine) else one) for one in facts]
        entries = [ForgetCandidate(self._note.path, one.first, one.last, one.raw, _ITEM) for one in chosen]
        return forget(self._manager, entries)

    # How

    def _known_entry(self, text: str, category: Category, now: datetime) -> StoredFact | None:
        """Return the entry of another note that says the same in the same words.

        The index is asked as it is, and notes that changed since are read: bringing it up to date would take
        longer with every fact.
        """
        notes = [daily_log(now), *self._manager.changed_notes()]
        entry = find_known(self._manager, text, now, notes, with_facts=False)
        if entry is None:
            return None
        fact = Fact("", body_of(entry.snippet), category)
        line = FactLine(fact, entry.start_line, entry.end_line, entry.snippet)
        return StoredFact("duplicate", line, citation=self._manager.prefix + entry.citation)

    def _locked(self) -> AbstractContextManager[None]:
        ensure_private(self._manager.workspace)
        lock = WriterLock(self._manager.workspace.private / _LOCK, "the facts of this workspace")
        return lock.held(_WAIT_SECONDS)

    def _index_soon(self) -> None:
        """Have the change found by its words at the next question, and by its meaning a moment later."""
        if self._manager.settings.sync.on_search:
            self._manager.sync_soon(after_change=True)

    def _write(
        self, fact: Fact, old: FactLine | None, day: date, near: Sequence[Near], warnings: tuple[str, ...]
    ) -> StoredFact:
        """Write a fact; one that it replaces is kept and marked in the same moment.

        If that one cannot be marked, the fact is stored all the same.
        """
        if old is None:
            (line,) = self._note.add([fact])
            stored = StoredFact("created", line, similar=about_the_same(fact.text, near))
        else:
            line, struck, trouble = self._note.supersede(old, fact, day)
            if struck is None:
                reason = f"the fact {old.fact.id} that it contradicts could not be marked: {trouble}"
                stored, warnings = StoredFact("created", line), (*warnings, reason)
            else:
                stored = StoredFact("superseded", line, struck, dict(near).get(old))
        return replace(stored, citation=self._cite(line), warnings=warnings)

    def _cite(self, line: FactLine) -> str:
        return cite(self.path, line.first, line.last)
