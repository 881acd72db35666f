"""Write a remembered text as an entry of a note, and read notes and their entries again.

An entry is one list item: a label, which is the time in the daily log of that day and the day elsewhere, then
the text. A session is named in square brackets at the end of the item's first line:

    - 14:32 We chose Postgres 17 [session abc123]

Several entries that a session writes at once are between two comments instead, which name it once.

Further lines are indented, so that they belong to the item. A text that begins with Markdown of its own (a
list, a heading, code) is written below the label instead of behind it, and so is a text of several lines that
names a session.

A topic is kept in the note with its name, or below a heading. Two topics are the same if their slugs are:
case, accents written in another form, blanks and punctuation do not count.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

from memlines.errors import PathError, SettingsError, UsageError
from memlines.files.atomic import read
from memlines.files.read import decode, resolve_note
from memlines.files.scan import NOTES_DIR, ROOT_FILES, SUFFIX, discover
from memlines.paths import Workspace, is_unicode
from memlines.settings import Settings
from memlines.text.edits import tidy
from memlines.text.entries import Entry, entries_of, session_comments, session_in, title_of
from memlines.text.neutral import unseen_in
from memlines.text.outline import outline
from memlines.types import FoundFile

MAX_CHARACTERS = 100_000
_LONGEST_SESSION = 200
_SHOWN = 200

_OWN_BLOCK = re.compile(
    r"[ \t]|#{1,6}(?:[ \t]|$)|[>|]|```|~~~|(?:[-+*]|\d{1,9}[.)])(?:[ \t]|$)|(?:=+|-+|[*_]{3,})[ \t]*$"
)
"""A first line that means something in Markdown, and would not behind a label."""

_FOLLOWS_WORDS = re.compile(r"#|>|```|~~~|(?:[-+*]|1[.)])[ \t]+\S")
"""Such a line that has its meaning also directly below words; others need a blank line above."""

_HEADING_OR_CODE = re.compile(r"^[ \t]*(?:#|```|~~~)", re.MULTILINE)
_INDENT = "  "
_WIDE_INDENT = "    "
"""How far headings and code fences are indented: they are part of the item then, and do not change the
outline of the note."""

_MARKER = re.compile(r"^ {0,3}(?:[-+*]|\d{1,9}[.)])[ \t]+")
_LABELLED = re.compile(_MARKER.pattern + r"(?:(?:(?P<day>\d{4}-\d{2}-\d{2}):?|\d{1,2}:\d{2})(?:[ \t]+|$))?")
_SESSION = re.compile(r"(?:^|[ \t])\[session (?P<id>[^\[\]]{1,200})\]$")


def usable_text(text: str) -> str:
    """Return a text with plain line ends, no blank lines around it and its code closed, or refuse it."""
    words = tidy(text)
    if not words:
        raise UsageError("there is no text to remember", todo="Give some words")
    if "\0" in words or not is_unicode(words):
        raise UsageError("the text holds characters that no note can hold", todo="Leave them out")
    if len(words) > MAX_CHARACTERS:
        raise UsageError(
            f"the text has {len(words):,} characters, and an entry may have {MAX_CHARACTERS:,}",
            todo="Remember what matters in it, or write a note of its own",
        )
    return words


def session_mark(session: str) -> str:
    """Return what names a session in an entry, or say why it cannot be named."""
    name = session.strip()
    if not 0 < len(name) <= _LONGEST_SESSION or not name.isprintable() or set("[]") & set(name):
        raise UsageError(
            f"{session[:60]!r} cannot be the name of a session",
            todo=f"Use at most {_LONGEST_SESSION} printable characters without square brackets",
        )
    return f"[session {name}]"


def comments_around(session: str) -> tuple[str, str] | None:
    """Return the comments around what a session writes; nothing if its name would end a comment.

    Both name it: a merge of two logs may keep a line only once that both sides end with.
    """
    name = session.strip()
    opening = f"<!-- session {name} -->"
    return (opening, f"<!-- /session {name} -->") if session_in(opening) == name else None


def block_of(label: str, text: str, mark: str = "") -> str:
    """Return a usable text as an entry."""
    first, *below = lines = text.split("\n")
    indent = _WIDE_INDENT if _HEADING_OR_CODE.search(text) else _INDENT
    head = f"- {label}"
    if _OWN_BLOCK.match(first) or (mark and below):
        head, below = f"{head} {mark}".rstrip(), lines
        if not _FOLLOWS_WORDS.match(first) and _OWN_BLOCK.match(first):
            head += "\n"
    else:
        head = f"{head} {first} {mark}" if mark else f"{head} {first}"
    return "\n".join([head, *(indent + line if line.strip(" \t") else "" for line in below)])


def body_of(entry: str) -> str:
    """Return the text of an entry without marker, label, session and indentation."""
    first, *others = entry.split("\n")
    label = _LABELLED.match(first)
    if label is None:
        return entry.strip()
    said = _SESSION.sub("", first[label.end() :])
    width = min((len(line) - len(line.lstrip(" ")) for line in others if line.strip()), default=0)
    return "\n".join([said, *(line[width:] for line in others)]).strip()


def one_line(entry: str) -> str:
    """Return an entry for a list of several: on one line, without its marker, cut if it is long."""
    line = " ".join(_MARKER.sub("", entry, count=1).split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"


def session_of(entry: str) -> str | None:
    """Return the session that an entry was remembered in, if it names one itself."""
    first = entry.split("\n", 1)[0]
    mark = _SESSION.search(first) if _LABELLED.match(first) else None
    return mark["id"] if mark else None


def sessions_in(text: str) -> Iterator[tuple[Entry, str]]:
    """Yield the entries of a note that were remembered in a session, each with the name of that session.

    An entry that names a session itself belongs to that one; other list items belong to the session whose
    comments they are between. A comment that opens a session owns nothing if it is not closed before the
    next heading or the next session: what was added below it since then may be from elsewhere.
    """
    entries = entries_of(text)
    borders: dict[int, str | None] = {entry.first: None for entry in entries if entry.kind == "heading"}
    borders.update(session_comments(text))
    owners = {
        line: name
        for first, last in pairwise(sorted(borders))
        if (name := borders[first]) and borders[last] == ""
        for line in range(first, last)
    }
    for entry in entries:
        around = owners.get(entry.first) if entry.kind == "item" else None
        session = session_of(entry.text) or around
        if session:
            yield entry, session


def daily_log(now: datetime) -> str:
    """Return the path of the log of a day."""
    return f"{NOTES_DIR}/{now.date().isoformat()}{SUFFIX}"


def local_now(settings: Settings, now: datetime | None = None) -> datetime:
    """Return a moment, by default the present one, in the user's time zone."""
    moment = datetime.now(UTC) if now is None else now
    if settings.timezone is None:
        return moment.astimezone()
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        zone = ZoneInfo(settings.timezone)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # OSError: the name of a folder of zones
        raise SettingsError(
            f"setting 'timezone' is {settings.timezone!r}, which this system does not know",
            todo="Set it to a name such as Europe/Amsterdam, or nothing for the zone of this machine",
        ) from None
    return moment.astimezone(zone)


def notes_in(workspace: Workspace, settings: Settings) -> tuple[FoundFile, ...]:
    """List the notes of a memory."""
    return discover(workspace, settings.extra_paths, settings.files.max_bytes).files


def text_of(workspace: Workspace, settings: Settings, path: str) -> str:
    """Return the text of a note; empty if it is not there or is not text.

    Writing to such a note raises; looking for what it says does not.
    """
    try:
        real, root = resolve_note(workspace, settings.extra_paths, path)
    except PathError:
        return ""
    return _decoded(real, root, settings.files.max_bytes)


def text_in(file: FoundFile, settings: Settings) -> str:
    """Return the text of a note that was listed; empty if it is gone meanwhile or is not text."""
    return _decoded(Path(file.real), Path(file.root) if file.root else None, settings.files.max_bytes)


def _decoded(real: Path, root: Path | None, limit: int) -> str:
    try:
        content = read(real, limit, root=root)
        return decode(content) if content is not None and len(content) <= limit else ""
    except (PathError, OSError, ValueError):
        return ""


_LONGEST_TOPIC = 100
_HEAD_BYTES = 4_000
"""How much of a note is read for its title."""

_SIGNS = {"+": "plus", "#": "sharp"}
_SIGN = re.compile(r"(?<=\w)[+#]|(?<=[+#])[+#]")
"""Signs that belong to a name: C, C++ and C# are three topics."""

_DEVICE = re.compile(r"con|prn|aux|nul|com\d|lpt\d")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def topic_title(topic: str) -> str:
    """Return a topic as a heading shows it, or say why it cannot be one."""
    title = title_of(topic[: _LONGEST_TOPIC + 1])
    if unseen := unseen_in(title):
        raise UsageError(
            f"{title!r} has the character {unseen}, which cannot be seen", todo="Leave that character out"
        )
    controls = any(unicodedata.category(character) in ("Cc", "Cs") for character in title)
    if controls or len(topic) > _LONGEST_TOPIC or not slug_of(title):
        raise UsageError(
            f"{topic[:60]!r} cannot be a topic", todo=f"Use some words, at most {_LONGEST_TOPIC} characters"
        )
    if _DAY.fullmatch(slug_of(title)):
        raise UsageError(f"{title!r} is a day, not a topic", todo="Name the daily log itself as the note")
    return title


def slug_of(topic: str) -> str:
    """Return the name of a topic's file without its ending: lower case, dashes, usable on every system."""
    signs = _SIGN.sub(lambda sign: _SIGNS[sign[0]], topic)
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFKC", signs).casefold())
    kept = [letter if unicodedata.category(letter)[0] in "LNM" else " " for letter in folded]
    name = "-".join("".join(kept).split())
    return f"topic-{name}" if _DEVICE.fullmatch(name) else name


def place_of_topic(workspace: Workspace, settings: Settings, title: str) -> tuple[str, str | None]:
    """Return the note of a topic, and the heading in it if the note is about more.

    A topic that neither a note nor a heading is named after gets a note of its own.
    """
    for path in topic_notes(workspace, settings, title):
        if path.startswith(f"{NOTES_DIR}/"):
            return path, None
    main = main_note(workspace)
    heading = heading_like(text_of(workspace, settings, main), title)
    return (main, heading) if heading else (f"{NOTES_DIR}/{slug_of(title)}{SUFFIX}", None)


def list_topics(workspace: Workspace, settings: Settings) -> tuple[str, ...]:
    """Return the topics that notes are named after."""
    return tuple(sorted({_stem(file.path) for file in _notes_of_topics(workspace, settings)}))


def _notes_of_topics(workspace: Workspace, settings: Settings) -> list[FoundFile]:
    return [
        file
        for file in notes_in(workspace, settings)
        if file.path not in ROOT_FILES and not _DAY.fullmatch(_stem(file.path))
    ]


def topic_notes(workspace: Workspace, settings: Settings, title: str) -> tuple[str, ...]:
    """Return the notes of a topic: those with its name, or else those with its title."""
    slug, notes = slug_of(title), _notes_of_topics(workspace, settings)
    named = [file.path for file in notes if slug_of(_stem(file.path)) == slug]
    for file in [] if named else notes:
        try:
            head = read(Path(file.real), _HEAD_BYTES, root=Path(file.root))
        except (PathError, OSError):
            continue
        headings = outline((head or b"").decode("utf-8-sig", "ignore"))
        if headings and slug_of(headings[0].title) == slug:
            named.append(file.path)
    return tuple(sorted(named, key=lambda path: (path.count("/"), path)))


def heading_like(text: str, title: str) -> str | None:
    """Return the first heading of a text that is a topic."""
    slug = slug_of(title)
    titles = (heading.title for heading in outline(text))
    return next((heading for heading in titles if slug_of(heading) == slug), None)


def main_note(workspace: Workspace, wanted: str = ROOT_FILES[0]) -> str:
    """Return the root file of a workspace: the one that is wanted, or the one there is instead."""
    names = {entry.name for entry in workspace.root.iterdir()}
    return next((name for name in (wanted, *ROOT_FILES) if name in names), ROOT_FILES[0])


def _stem(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(SUFFIX)
