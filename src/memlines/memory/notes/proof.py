"""Prove that a text is gone: look for what is left of it, byte by byte.

What is looked for are the telling lines of the forgotten texts, and in files that are not Markdown a few
words of each at a time, so that a copy is found even where it is cut. What the notes that remain hold as well
proves nothing and is left out.
"""

from __future__ import annotations

import json
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from typing import Any, NamedTuple

from memlines.errors import PathError
from memlines.files import erase, scan
from memlines.files.tombstones import Forgotten
from memlines.index.store.sqlite import erase as store
from memlines.index.store.sqlite.files import NO_TEXT, blocks
from memlines.memory.notes.entries import notes_in, text_in
from memlines.paths import PRIVATE_DIR, Workspace
from memlines.records import dataclass
from memlines.settings import Settings
from memlines.text.chunk import weigh
from memlines.text.entries import entries_of
from memlines.text.matching import bare
from memlines.types import cite

_SHORTEST = 12
_SHORTEST_ALONE = 6
"""What a line weighs at least to be looked for, and what a text that is shorter than that weighs."""

_LONGEST = 32
_MOST = 64
"""Pieces that are looked for at most; more would take long in a large index and prove nothing more."""

_LOCKS = (".lock", *NO_TEXT)


@dataclass(frozen=True, slots=True)
class ForgetReceipt:
    """What was forgotten, and what is left of it.

    `removed` counts by place. `left` names the places of this memory that still hold it: citations of notes,
    and files of the private folder. `transcripts` names files of other programs that still hold it; they are
    not changed, and it does not come back from them.
    """

    removed: dict[str, int] = field(default_factory=dict)
    """How much was removed, by place."""
    left: tuple[str, ...] = ()
    """The places of this memory that still hold it."""
    transcripts: tuple[str, ...] = ()
    """The files of other programs that still hold it."""

    @property
    def complete(self) -> bool:
        """Whether nothing is left in this memory."""
        return not self.left

    def to_json(self) -> dict[str, Any]:
        """Return it with field names that stay."""
        return {
            "removed": self.removed,
            "left": list(self.left),
            "transcripts": list(self.transcripts),
            "complete": self.complete,
        }


class Signs(NamedTuple):
    """What copies of the forgotten texts are found by: whole lines, and pieces of them."""

    lines: list[str]
    pieces: list[str]

    @classmethod
    def of(cls, texts: Iterable[str], remaining: Sequence[str]) -> Signs:
        """Return the signs of some texts that are in none of the texts that remain."""

        def rare(some: list[str]) -> list[str]:
            return sample([one for one in some if not any(one in text for text in remaining)])

        lines = telling_lines(texts)
        return cls(rare(lines), rare(pieces_of(lines)))


def find_remaining(workspace: Workspace, settings: Settings, found: Forgotten) -> Iterator[str]:
    """Yield the citations of entries of notes that still say what was forgotten."""
    for note in notes_in(workspace, settings):
        text = text_in(note, settings)
        for entry in entries_of(text) if found.drops(text) else ():
            if found.drops(entry.text):
                yield cite(note.path, entry.first, entry.last)


def find_traces(
    workspace: Workspace, indexes: Sequence[Path], signs: Signs, clean: Mapping[Path, tuple[int, ...]]
) -> Iterator[str]:
    """Yield the files that still hold pieces, except what an index holds of transcripts.

    An index that was read to its end, and to which nothing was written since, is not read again: `clean` has
    the state that it was in.
    """
    outside = [
        file
        for index in indexes
        if index.parent != workspace.private
        for file in index.parent.glob(f"{index.name}*")
        if file.is_file() and not file.name.endswith(NO_TEXT)
    ]
    kept = {workspace.private / name for name in erase.KEPT_DIRS}
    inside = [file for file in files_below(workspace.private, workspace.root) if not kept & set(file.parents)]
    unread = [file for file in (*inside, *outside) if file not in clean or clean[file] != state_of(file)]
    for file, held in (find_holders(unread, signs.pieces) | find_lines_kept(workspace, signs)).items():
        if file in indexes and all(store.is_live(file, piece) for piece in held):
            continue
        is_inside = file.is_relative_to(workspace.private)
        yield f"{PRIVATE_DIR}/{file.relative_to(workspace.private).as_posix()}" if is_inside else str(file)


def find_lines_kept(workspace: Workspace, signs: Signs) -> dict[Path, list[str]]:
    """Return the files of the history and the trash that hold whole lines, and which."""
    folders = [workspace.private / name for name in erase.KEPT_DIRS]
    files = [file for folder in folders for file in files_below(folder, workspace.root)]
    return find_holders(files, signs.lines)


def telling_lines(texts: Iterable[str]) -> list[str]:
    """Return the lines by which copies of some texts are found; headings only if there is nothing else."""
    found: dict[str, None] = {}
    for text in texts:
        entries = entries_of(text)
        telling = [entry for entry in entries if entry.kind != "heading"] or entries
        lines = [line for entry in telling for raw in entry.text.split("\n") if (line := bare(raw))]
        long = [line for line in lines if weigh(line) >= _SHORTEST]
        alone = [line for line in lines[:1] if weigh(line) >= _SHORTEST_ALONE]
        found.update(dict.fromkeys(long or alone))
    return list(found)


def pieces_of(lines: Iterable[str]) -> list[str]:
    """Return lines in pieces of a few words."""
    return list(dict.fromkeys(piece for line in lines for piece in _cut(line)))


def sample(pieces: Sequence[str]) -> list[str]:
    """Return as many pieces as can be looked for everywhere, from all parts of the text."""
    return list(pieces[:: -(-len(pieces) // _MOST) or 1])


def files_below(folder: Path, root: Path) -> Iterator[Path]:
    """Yield every file below a folder but those that are only locks; links are not followed."""
    with suppress(PathError):  # the folder is a link
        for file, info in scan.files_below(folder, root):
            if stat.S_ISREG(info.st_mode) and not file.name.endswith(_LOCKS):
                yield file


def state_of(file: Path) -> tuple[int, ...]:
    """Return what changes whenever something is written to a file; nothing if there is none."""
    try:
        info = file.stat()
    except FileNotFoundError:
        return ()
    return info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns


def find_holders(files: Iterable[Path], pieces: Sequence[str]) -> dict[Path, list[str]]:
    """Return the files that hold some of the pieces, and which; one that cannot be read may hold all."""
    needles: dict[bytes, str] = {}
    for piece in pieces:  # as it is, and as it is inside JSON with and without other letters
        inside = (json.dumps(piece, ensure_ascii=only)[1:-1] for only in (False, True))
        needles.update((form.encode(), piece) for form in (piece, *inside))
    if not needles:
        return {}
    found: dict[Path, list[str]] = {}
    for file in files:
        try:
            held = _held(file, needles)
        except FileNotFoundError:
            continue
        except OSError:
            held = list(pieces)
        if held:
            found[file] = held
    return found


def _held(file: Path, needles: dict[bytes, str]) -> list[str]:
    overlap = max(map(len, needles)) - 1
    found: dict[str, None] = {}
    tail = b""
    for block in blocks(file):
        seam = tail + block[:overlap]
        for needle, piece in needles.items():
            if piece not in found and (needle in block or needle in seam):
                found.setdefault(piece)
        tail = (tail + block)[-overlap:] if len(block) < overlap else block[len(block) - overlap :]
    return list(found)


def _cut(line: str) -> Iterator[str]:
    """Cut a long line into pieces, between words where there are any."""
    while weigh(line) > _LONGEST + _SHORTEST:
        end = line.rfind(" ", _SHORTEST, _LONGEST)
        end = end if end > 0 else min(_LONGEST, max(_SHORTEST, len(line) // 2))
        yield line[:end].strip()
        line = line[end:].strip()
    if line:
        yield line
