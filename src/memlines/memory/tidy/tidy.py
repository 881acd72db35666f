"""Tidying of an open memory: make a proposal, look at it, apply or decline items, undo."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from memlines.files.place import writing
from memlines.memory.blame import count_uses
from memlines.memory.manager import Manager
from memlines.memory.notes.undo import Undone, undo
from memlines.memory.tidy import apply as applying
from memlines.memory.tidy import proposal
from memlines.memory.tidy.apply import TidyResult
from memlines.memory.tidy.proposal import Proposal, TidyItem
from memlines.memory.tidy.propose import EntryUses, propose
from memlines.settings import refuse_if_off


class Tidy:
    """What can be tidied in the notes of one open memory."""

    def __init__(self, manager: Manager) -> None:
        self._manager = manager

    def propose(self, uses: Mapping[str, EntryUses] | None = None, now: datetime | None = None) -> Proposal:
        """Look at all notes, and write down what could be tidied; no note is changed.

        `uses` says how often entries were shown and opened, by `memlines.text.matching.entry_id`; without it,
        that is read from the record of what agents were shown.
        """
        refuse_if_off(self._manager.loaded)
        known = count_uses(self._manager.workspace) if uses is None else uses
        return propose(self._manager, known, now)

    def load(self) -> Proposal:
        """Return the proposal that was made last."""
        refuse_if_off(self._manager.loaded)
        return proposal.load(self._manager.workspace)

    def open_items(self) -> tuple[TidyItem, ...]:
        """Return the items of that proposal that are still to decide: neither declined nor applied."""
        items = self.load().items
        changing = [item.id for item in items if item.edits]
        declined = proposal.read_decisions(self._manager.workspace)["declined"]
        decided = {*declined, *self.apply(changing, dry_run=True).known}
        return tuple(item for item in items if item.id not in decided)

    def word(self, texts: Mapping[str, str]) -> Proposal:
        """Set words that items may add instead of the lines they rest on, by the ids of the items."""
        with writing(self._manager.workspace):
            proposed = proposal.load(self._manager.workspace)
            items = (replace(item, worded=texts.get(item.id, item.worded)) for item in proposed.items)
            proposed = replace(proposed, items=tuple(items))
            proposal.save(self._manager.workspace, proposed)
        return proposed

    def apply(
        self, ids: Sequence[str] | None = None, *, worded: bool = False, dry_run: bool = False
    ) -> TidyResult:
        """Apply the items with these ids, or all but those that need a review, as one operation.

        An item whose lines have changed since the proposal is refused, and nothing of it is done. With
        `worded`, the words of the chat model are added instead of the lines they were made from.
        """
        refuse_if_off(self._manager.loaded)
        return applying.apply(self._manager, ids, worded=worded, dry_run=dry_run)

    def decline(self, ids: Iterable[str]) -> tuple[str, ...]:
        """Remember that items are not wanted: they are not proposed again."""
        refuse_if_off(self._manager.loaded)
        return applying.decline(self._manager, ids)

    def undo(self, *, dry_run: bool = False) -> Undone:
        """Undo what was applied last, whatever was written since."""
        refuse_if_off(self._manager.loaded)
        undone = undo(self._manager.workspace, dry_run=dry_run, command=applying.COMMAND)
        self._manager.look_again()
        return undone
