"""Take text out of notes without keeping it anywhere, as forgetting asks for.

Every other change of a note keeps the old text in the history or in the trash. Here nothing is kept. What a
note will be is noted by its hash in `<private>/forgetting.json` just before it is changed: if a run that
changes several notes is cut short, the next one knows which are done, although the lines it was given have
moved in them. The last step of a run removes that file.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import stat
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from memlines.errors import WriteError
from memlines.files import atomic, history, journal, trash
from memlines.files.place import Place, attempt, place_of, reading, writing
from memlines.files.read import decode
from memlines.files.scan import SUFFIX, files_below
from memlines.files.tombstones import Forgotten
from memlines.folders import PRIVATE_FILE, open_folder
from memlines.paths import Workspace
from memlines.records import dataclass
from memlines.text.edits import cut, line_end_of, locate, split, tidy_end
from memlines.text.entries import Entry, entries_of
from memlines.text.matching import bare
from memlines.text.terms import RUN
from memlines.types import cite

JOURNAL = "forgetting.json"
KEPT_DIRS = ("history", "trash")
"""Where the private folder keeps what notes held, and notes that were removed."""

_GONE = ""


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines of a note, and the text they are expected to hold."""

    first: int
    last: int
    expected: str


def without(text: str, lines: Iterable[Lines], path: str) -> tuple[str, int]:
    """Return a text without some lines, and how many runs of them were in it.

    Lines that moved are found where they are now; those that are gone are not an error.
    """
    taken = 0
    for run in sorted(lines, key=lambda run: run.first, reverse=True):
        place = locate(text, run.first, run.last, run.expected)
        if place is not None:
            text = cut(text, *place)
            taken += 1
        elif _holds(text, run.expected):
            raise WriteError(
                f"{path!r} has changed since it was read, and holds the lines that were meant more than once",
                todo="Read the note again and name the lines that are meant",
            )
    return text, taken


def erase_lines(workspace: Workspace, path: str, lines: Sequence[Lines], max_bytes: int) -> int:
    """Take lines out of a note for good; return how many runs of them were in it."""
    place = place_of(workspace, path)

    def take_out() -> int:
        content = atomic.read(place.real, max_bytes, root=place.root)
        if content is None:
            return 0
        if len(content) > max_bytes:
            raise WriteError(f"{place.path!r} is too large", todo="Raise files.max_bytes")
        mark = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b""
        rest, taken = without(_text_of(place, content.removeprefix(mark)), lines, place.path)
        if taken:
            new = mark + rest.encode()
            _write_journal(workspace, place, _hash(new))
            atomic.sweep(place.real.parent, root=place.root)
            atomic.replace(place.real, new, expected=content, root=place.root)
        return taken

    with writing(workspace):
        return attempt(place, take_out)


def erase_note(workspace: Workspace, path: str, expected: str) -> int:
    """Remove a note for good; return 1, or 0 if it is gone already.

    One that does not hold the expected text any more is left alone.
    """
    place = place_of(workspace, path)

    def take_out() -> int:
        content = atomic.read(place.real, root=place.root)
        if content is None:
            return 0
        if decode(content) != expected:
            raise WriteError(
                f"{place.path!r} has changed since it was read", todo="Look at it again before you forget it"
            )
        _write_journal(workspace, place, _GONE)
        atomic.sweep(place.real.parent, root=place.root)
        atomic.remove(place.real, content, root=place.root)
        return 1

    with writing(workspace):
        return attempt(place, take_out)


def erase_kept(workspace: Workspace, path: str) -> tuple[int, int]:
    """Remove everything that is kept of a note; return how many versions and how many removed notes went.

    Nothing that was written before can be taken back then.
    """
    place = place_of(workspace, path)

    def take_out() -> tuple[int, int]:
        versions, removed = _kept_of(workspace, place.path)
        for files, name in zip((versions, removed), KEPT_DIRS, strict=True):
            _remove(workspace, files, workspace.private / name)
        journal.clear(workspace)
        return len(versions), len(removed)

    with writing(workspace):
        return attempt(place, take_out)


def redact_kept(workspace: Workspace, redact: Callable[[str], str]) -> Counter[str]:
    """Rewrite everything that is kept of notes; return how many files changed, by folder.

    A file of which nothing is left is removed. Nothing that was written before can be taken back then.
    """
    changed: Counter[str] = Counter()

    def rewrite() -> None:
        for name, file in _kept_files(workspace):
            changed[name] += _redact(workspace, file, redact, workspace.private / name)
        journal.clear(workspace)

    with writing(workspace):
        attempt(Place("history", workspace.private / KEPT_DIRS[0], workspace.root), rewrite)
    return changed


def kept_texts(workspace: Workspace) -> Iterator[tuple[str, str]]:
    """Yield everything that is kept of notes: its place in the private folder, and what it says."""
    with reading("what is kept of notes"):
        for _, file in _kept_files(workspace):
            content = atomic.read(file, root=workspace.root) or b""
            text = content.decode("utf-8", "replace").removeprefix("\ufeff")
            yield file.relative_to(workspace.private).as_posix(), text


def kept_text(workspace: Workspace, path: str) -> str | None:
    """Return what is kept of a note that is gone: the newest from the trash, else from its history."""
    place = place_of(workspace, path)
    with reading(f"what is kept of {place.path!r}"):
        versions, removed = _kept_of(workspace, place.path)
        newest = next(iter([*removed, *versions]), None)
        content = None if newest is None else atomic.read(newest, root=workspace.root)
    return None if content is None else _text_of(place, content)


def _kept_of(workspace: Workspace, path: str) -> tuple[list[Path], list[Path]]:
    """Return where versions of a note are kept, and where it is in the trash, each the newest first."""
    kept, removed = (workspace.private / name for name in KEPT_DIRS)
    return (
        [kept / path / version.name for version in history.versions(workspace, path)],
        [removed / item.name / path for item in trash.items(workspace) if item.path == path],
    )


def is_done(workspace: Workspace, path: str) -> bool:
    """Return whether a run that was cut short took out of a note what it should."""
    after = _read_journal(workspace).get(path)
    if after is None:
        return False
    with reading(f"{path!r}"):
        content = atomic.read(place_of(workspace, path).real, root=workspace.root)
    return after == (_GONE if content is None else _hash(content))


def finish(workspace: Workspace) -> None:
    """Note that a run is over."""
    place = Place(JOURNAL, workspace.private / JOURNAL, workspace.root)
    with writing(workspace):
        if atomic.exists(place.real, root=place.root):
            attempt(place, lambda: atomic.unlink(place.real, root=place.root, durable=False))


def without_forgotten(
    gone: Forgotten, path: str, content: bytes, standing: Collection[str] = ()
) -> tuple[bytes | None, list[str]]:
    """Return a note without what was forgotten, `None` if nothing is left of it, and what was left out.

    Entries whose text is in `standing` stay: they are in the note already, so they do not come back.
    """
    mark = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b""
    text = content.removeprefix(mark).decode()
    if not gone.drops(text):
        return content, []
    passages = entries_of(text)
    rest, left_out, stays = text, [], False
    for passage in reversed(passages):
        if not gone.drops(passage.text):
            continue
        if passage.text in standing:
            stays = True
            continue
        rest = _without(rest, passage, gone.redact(passage.text))
        left_out.append(cite(path, passage.first, passage.last))
    if not stays and gone.drops(rest):  # it spans what are several passages here
        rest = gone.redact(rest) + line_end_of(text)
        left_out.append(path)
    if _only_headings(entries_of(rest)) and not _only_headings(passages):
        return None, left_out
    return mark + rest.encode(), left_out


def _without(text: str, passage: Entry, rest: str) -> str:
    """Return a text with what is left of one of its passages."""
    if not RUN.search(bare(rest)):
        return cut(text, passage.first, passage.last)
    lines = split(text)
    last = lines[passage.last - 1]
    end = last[len(last.rstrip("\r\n")) :]
    return "".join([*lines[: passage.first - 1], rest.rstrip("\r") + end, *lines[passage.last :]])


def _only_headings(passages: Sequence[Entry]) -> bool:
    return all(passage.kind == "heading" for passage in passages)


def _kept_files(workspace: Workspace) -> Iterator[tuple[str, Path]]:
    """Yield the files that are kept of notes, each with the name of its folder."""
    for name in KEPT_DIRS:
        for path, info in files_below(workspace.private / name, workspace.root):
            if path.name.endswith(SUFFIX) and stat.S_ISREG(info.st_mode):
                yield name, path


def _holds(text: str, expected: str) -> bool:
    lines, wanted = tidy_end(text).split("\n"), tidy_end(expected).split("\n")
    return any(lines[at : at + len(wanted)] == wanted for at in range(len(lines) - len(wanted) + 1))


def _write_journal(workspace: Workspace, place: Place, after: str) -> None:
    path = workspace.private / JOURNAL
    root = workspace.root
    old = atomic.read(path, root=root)
    new = json.dumps({**_read_journal(workspace), place.path: after}).encode()
    atomic.replace(path, new, expected=old, mode=PRIVATE_FILE, root=root)


def _read_journal(workspace: Workspace) -> dict[str, str]:
    try:
        with reading(f"what is being forgotten, in {str(workspace.private / JOURNAL)!r},"):
            data = json.loads(atomic.read(workspace.private / JOURNAL, root=workspace.root) or b"{}")
    except ValueError:  # it was changed by hand; then nothing is known
        return {}
    return data if isinstance(data, dict) else {}


def _text_of(place: Place, content: bytes) -> str:
    try:
        decode(content)
    except ValueError as error:
        raise WriteError(f"{place.path!r} {error}", todo="Only UTF-8 text can be forgotten") from None
    return content.decode("utf-8").removeprefix("\ufeff")


def _redact(workspace: Workspace, file: Path, redact: Callable[[str], str], top: Path) -> bool:
    content = atomic.read(file, root=workspace.root) or b""
    text = content.decode("utf-8", "replace")
    rest = redact(text)
    if rest == text:
        return False
    if rest.strip():
        atomic.replace(file, f"{rest}\n".encode(), expected=content, root=workspace.root)
    else:
        _remove(workspace, [file], top)
    return True


def _remove(workspace: Workspace, files: Iterable[Path], top: Path) -> None:
    """Remove files, and the folders up to another one that are empty then: their names say something."""
    for file in files:
        atomic.unlink(file, root=workspace.root)
        for folder in file.parents:
            if folder == top:
                break
            with suppress(OSError), open_folder(folder.parent, workspace.root) as above:
                above.rmdir(folder.name)  # unless it holds something else


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
