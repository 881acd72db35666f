"""Remember texts: find the note they belong to, leave out what is known, write the rest durably."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

from memlines.errors import SecretRefused, WriteError
from memlines.files.atomic import exists
from memlines.files.journal import operation
from memlines.files.notes import append
from memlines.files.place import place_of
from memlines.files.scan import ROOT_FILES, SUFFIX
from memlines.files.tombstones import Forgotten
from memlines.memory.manager import Manager
from memlines.memory.notes.duplicates import find_duplicate, find_known
from memlines.memory.notes.entries import (
    block_of,
    comments_around,
    daily_log,
    heading_like,
    local_now,
    main_note,
    place_of_topic,
    session_mark,
    text_of,
    topic_title,
    usable_text,
)
from memlines.records import dataclass
from memlines.text.edits import tidy
from memlines.text.entries import Entry
from memlines.text.redaction import refuse_secrets, rules_of
from memlines.types import Hit, cite

LOG = ("daily", "log")
"""What to write to when the daily log of today is meant."""
MAIN = "memory"
"""What to write to when the main note, MEMORY.md, is meant."""

_MAIN_TITLE = "Memory"


@dataclass(frozen=True, slots=True)
class Remembered:
    """Where a text is; `duplicate` is the entry that said it already, in which case nothing was written.

    `created` says whether a new note was begun for it.
    """

    path: str
    start_line: int
    end_line: int
    created: bool = False
    """Whether a new note was begun for it."""
    duplicate: Hit | None = None
    """The entry that said it already, if there is one."""

    @property
    def citation(self) -> str:
        """The lines as `path#L3` or `path#L3-L9`."""
        return cite(self.path, self.start_line, self.end_line)


@dataclass(frozen=True, slots=True)
class _New:
    """A text to remember, when it was said, and its note: label, heading, and a title if the note is new."""

    words: str
    moment: datetime
    path: str
    label: str
    under: str | None
    title: str


@operation("remember")
def remember(
    manager: Manager,
    text: str,
    topic: str | None = None,
    session: str | None = None,
    to: str | None = None,
    now: datetime | None = None,
    *,
    force: bool = False,
    allow_secret: bool = False,
    dry_run: bool = False,
) -> Remembered:
    """Write a text into the notes as an entry and return where it is; see `Memory.remember`."""
    words = usable_text(text)
    if not allow_secret:
        refuse_secrets(words, rules_of(manager.settings.redaction.rules))
    mark = "" if session is None else session_mark(session)
    moment = local_now(manager.settings, now)
    new = _place(manager, words, moment, topic, to)
    if dry_run:
        known = None if force else find_known(manager, words, moment, [new.path, *manager.changed_notes()])
        if known is not None:
            return Remembered(known.path, known.start_line, known.end_line, duplicate=known)
        return Remembered(new.path, 0, 0, created=not exists(manager.workspace.root / new.path))
    (done,) = _write(manager, [new], mark, force=force)
    return done


@operation("remember")
def remember_all(
    manager: Manager, said: Sequence[tuple[str, datetime]], *, session: str | None = None
) -> list[Remembered | None]:
    """Write texts into the logs of the days they were said on; see `Memory.remember_all`.

    A session is named in comments around what goes into one log.
    """
    mark = "" if session is None else session_mark(session)
    around = None if session is None else comments_around(session)
    rules = rules_of(manager.settings.redaction.rules)
    logs: dict[str, dict[int, _New]] = {}
    for at, (text, time) in enumerate(said):
        words = usable_text(text)
        with suppress(SecretRefused):
            refuse_secrets(words, rules)
            new = _place(manager, words, local_now(manager.settings, time), None, None)
            logs.setdefault(new.path, {})[at] = new
    done: dict[int, Remembered] = {}
    for log in logs.values():
        try:
            written = _write(manager, [*log.values()], mark, around)
        except WriteError as error:
            count = sum(one.duplicate is None for one in done.values())
            raise WriteError(
                f"{count} of {len(said)} entries were written, then {error.what}", todo=error.todo
            ) from error
        done.update(zip(log, written, strict=True))
    return [done.get(at) for at in range(len(said))]


def _write(
    manager: Manager,
    texts: Sequence[_New],
    mark: str,
    around: tuple[str, str] | None = None,
    *,
    force: bool = False,
) -> list[Remembered]:
    """Add the texts that are not known to the note they all go to, in one write; return where each is.

    With comments around them they need no mark of their own.
    """
    path = texts[0].path
    notes = [] if force else [path, *manager.changed_notes()]
    done: dict[int, Remembered] = {}
    fresh: dict[int, Entry] = {}
    for at, new in enumerate(texts):
        known = None if force else find_known(manager, new.words, new.moment, notes)
        if known is not None:
            done[at] = Remembered(known.path, known.start_line, known.end_line, duplicate=known)
        elif find_duplicate(new.words, new.moment, ((path, entry) for entry in fresh.values())) is None:
            block = tidy(block_of(new.label, new.words, "" if around else mark))
            fresh[at] = Entry("item", 1, 1 + block.count("\n"), block, "")
    if fresh:
        forgotten = Forgotten.load(manager.workspace)
        for at in fresh:
            forgotten.lift(texts[at].words)  # said again, so it is wanted again
        opening, closing = ([around[0]], [around[1]]) if around else ([], [])
        written = append(
            manager.workspace,
            path,
            "\n".join([*opening, *(entry.text for entry in fresh.values()), *closing]),
            under=texts[0].under,
            title=texts[0].title,
            max_bytes=manager.settings.files.max_bytes,
        )
        manager.look_again(path)
        line = written.start_line + len(opening)
        for at, entry in fresh.items():
            done[at] = Remembered(written.path, line, line + entry.last - 1, created=written.created)
            line += entry.last
    # A text that repeats one before it is known by now.
    again = [at for at in range(len(texts)) if at not in done]
    if again:
        rest = _write(manager, [texts[at] for at in again], mark, around)
        done.update(zip(again, rest, strict=True))
    return [done[at] for at in range(len(texts))]


def _place(manager: Manager, words: str, moment: datetime, topic: str | None, to: str | None) -> _New:
    """Choose the note that a text goes to, and how it is written there."""
    workspace, settings = manager.workspace, manager.settings
    today, time = moment.date().isoformat(), f"{moment:%H:%M}"
    log = daily_log(moment)
    title = None if topic is None else topic_title(topic)
    if to is None and title is not None:
        path, under = place_of_topic(workspace, settings, title)
        return _New(words, moment, path, f"{today}:", under, title)
    if to == MAIN:
        to = ROOT_FILES[0]
    path = log if to is None or to in LOG else place_of(workspace, to).path
    if path == log:
        # Not under a heading of the log: what is added to its end later would be under it as well.
        return _New(words, moment, log, time if title is None else f"{time} {title}:", None, today)
    new_title = path.rpartition("/")[2].removesuffix(SUFFIX)
    if path in ROOT_FILES:
        path, new_title = main_note(workspace, path), _MAIN_TITLE
    under = title and (heading_like(text_of(workspace, settings, path), title) or title)
    return _New(words, moment, path, f"{today}:", under, new_title)
