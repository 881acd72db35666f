"""Where a topic is kept: the note with its name, or a heading.

Two topics are the same if their slugs are: case, accents written in another form, blanks and punctuation do
not count.
"""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

from memlines.errors import PathError, UsageError
from memlines.files.atomic import read
from memlines.files.scan import NOTES_DIR, ROOT_FILES, SUFFIX
from memlines.memory.notes.entries import notes_in, text_of
from memlines.paths import Workspace
from memlines.settings.tree import Settings
from memlines.text.entries import title_of
from memlines.text.neutral import unseen_in
from memlines.text.outline import outline
from memlines.types import FoundFile

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


def topic_notes(workspace: Workspace, settings: Settings, title: str) -> tuple[str, ...]:
    """Return the notes of a topic: those with its name, or else those with its title."""
    slug = slug_of(title)
    notes = [
        file
        for file in notes_in(workspace, settings)
        if file.path not in ROOT_FILES and not _DAY.fullmatch(_stem(file.path))
    ]
    named = [file.path for file in notes if slug_of(_stem(file.path)) == slug]
    if not named:
        named = [file.path for file in notes if slug_of(_title_in(file)) == slug]
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


def _title_in(file: FoundFile) -> str:
    """Return the first heading of a note; what cannot be read has none."""
    try:
        head = read(Path(file.real), _HEAD_BYTES, root=Path(file.root))
    except (PathError, OSError):
        return ""
    headings = outline((head or b"").decode("utf-8-sig", "ignore"))
    return headings[0].title if headings else ""
