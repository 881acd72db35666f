"""Remember a text: find the note it belongs to, leave it out if it is known, write it durably."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from recollect.files.notes import append
from recollect.files.place import place_of
from recollect.files.scan import ROOT_FILES, SUFFIX
from recollect.files.tombstones import Forgotten
from recollect.paths import Workspace
from recollect.redaction import refuse_secrets, rules_of
from recollect.settings.tree import Settings
from recollect.types import Hit, cite
from recollect.writing.clock import local_now
from recollect.writing.duplicates import Search
from recollect.writing.form import block_of, session_mark, usable_text
from recollect.writing.known import daily_log, known_entry
from recollect.writing.reading import text_of
from recollect.writing.topics import heading_like, main_note, place_of_topic, topic_title

DAILY = "daily"
"""What to write to when the daily log of today is meant."""

_MAIN_TITLE = "Memory"


@dataclass(frozen=True, slots=True)
class Remembered:
    """Where a text stands; `duplicate` is the entry that said it already, in which case nothing was written.

    `created` tells whether a new note was begun for it.
    """

    path: str
    start_line: int
    end_line: int
    created: bool = False
    duplicate: Hit | None = None

    @property
    def citation(self) -> str:
        """The lines as `path#L3` or `path#L3-L9`."""
        return cite(self.path, self.start_line, self.end_line)


@dataclass(frozen=True, slots=True)
class _Destination:
    """The note an entry goes to, its label there, the heading it goes under, and a title for a new note."""

    path: str
    label: str
    under: str | None
    title: str


def _nothing(query: str) -> tuple[Hit, ...]:
    """Find nothing, where there is no index."""
    return ()


def remember(
    workspace: Workspace,
    settings: Settings,
    text: str,
    *,
    topic: str | None = None,
    session: str | None = None,
    to: str | None = None,
    now: datetime | None = None,
    force: bool = False,
    allow_secret: bool = False,
    search: Search = _nothing,
) -> Remembered:
    """Write a text into the notes as an entry and return where it stands.

    `to` names the note: "daily" or a path. Without it, a topic has its own note, and everything else goes
    into the daily log. An entry or a fact that says the same already is returned instead, unless `force` is
    set; those of the note itself and the facts are always looked at, others as far as the search finds them.
    A text that holds a secret raises `SecretRefused`, unless `allow_secret` is set.
    """
    words = usable_text(text)
    if not allow_secret:
        refuse_secrets(words, rules_of(settings.redaction.rules))
    mark = "" if session is None else session_mark(session)
    moment = local_now(settings, now)
    place = _destination(workspace, settings, topic, to, moment)
    known = None
    if not force:
        known = known_entry(workspace, settings, words, moment, paths=[place.path], search=search)
    if known is not None:
        return Remembered(known.path, known.start_line, known.end_line, duplicate=known)
    Forgotten.load(workspace).lift(words)  # whoever says it again wants it remembered again
    written = append(
        workspace,
        place.path,
        block_of(place.label, words, mark),
        under=place.under,
        title=place.title,
        max_bytes=settings.files.max_bytes,
    )
    return Remembered(written.path, written.start_line, written.end_line, created=written.created)


def _destination(
    workspace: Workspace, settings: Settings, topic: str | None, to: str | None, moment: datetime
) -> _Destination:
    today = moment.date().isoformat()
    log = daily_log(moment)
    title = None if topic is None else topic_title(topic)
    if to is None and title is not None:
        kept = place_of_topic(workspace, settings, title)
        return _Destination(kept.path, f"{today}:", kept.under, kept.title or title)
    path = log if to is None or to == DAILY else place_of(workspace, to).path
    if path == log:
        # Not under a heading of the log: what is added to its end later would stand there as well.
        time = f"{moment:%H:%M}"
        return _Destination(log, time if title is None else f"{time} {title}:", None, today)
    if path in ROOT_FILES:
        path = main_note(workspace, path)
    under = title and (heading_like(text_of(workspace, settings, path), title) or title)
    return _Destination(path, f"{today}:", under, _title_for(path))


def _title_for(path: str) -> str:
    """Return the title of a new note with this name."""
    stem = path.rpartition("/")[2].removesuffix(SUFFIX)
    return _MAIN_TITLE if path in ROOT_FILES else stem
