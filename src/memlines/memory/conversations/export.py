"""Write conversations as notes into a folder, for a search engine that reads nothing else.

A turn is on the line that it has in its transcript, so a line that is found in the export is cited as a line
of the transcript. What was forgotten, and secrets, are left out. The first line of every export begins with a
title, by which it is known as ours.
"""

from __future__ import annotations

import stat
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from memlines.files import atomic
from memlines.files.scan import SUFFIX
from memlines.folders import PRIVATE_FILE
from memlines.index.sync.transcripts import read_transcript, transcript_of
from memlines.memory.conversations.conversation import Cleaning
from memlines.transcripts.finding import PREFIX
from memlines.types import Document, FoundFile

TITLE, TITLE_END = "# Session ", "\t"
_DAY = 86_400.0


def name_exports(files: Iterable[FoundFile], folder: Path, retention_days: int) -> dict[str, FoundFile]:
    """Return the transcripts to export into a folder, by where; old ones are left out."""
    oldest = (time.time() - retention_days * _DAY) * 1e9 if retention_days else 0.0
    return {
        str(
            folder / (file.path.removeprefix(PREFIX).removesuffix(".jsonl").replace("/", "--") + SUFFIX)
        ): file
        for file in files
        if file.path.startswith(PREFIX) and file.fingerprint.mtime_ns >= oldest
    }


def export_sessions(
    cleaning: Cleaning, folder: Path, wanted: Mapping[str, FoundFile], *, again: bool
) -> None:
    """Make a folder hold the exports of these transcripts and no others; unchanged ones stay as they are.

    So do files that are no exports. `again` writes all of them, because something may have been forgotten
    since the last time.
    """
    there = {
        str(folder / name): at.st_mtime_ns
        for name, at in atomic.listing(folder).items()
        if name.endswith(SUFFIX) and stat.S_ISREG(at.st_mode) and _is_export(folder / name)
    }
    times = {export: file.fingerprint.mtime_ns for export, file in wanted.items()}
    stale = {export for export, time_ns in there.items() if again or times.get(export) != time_ns}
    for export in stale:
        atomic.unlink(Path(export), durable=False)
    for export in times.keys() - (there.keys() - stale):
        document = read_transcript(wanted[export])
        turns = transcript_of(document).turns if isinstance(document, Document) else ()
        lines = {1: f"{TITLE}{' '.join(Path(export).stem.split())}{TITLE_END}"}
        for turn in cleaning.clean(wanted[export].path, turns):
            said = f"{turn.role}: {' '.join(turn.text.split())}"
            lines[turn.line] = f"{lines.get(turn.line, '')} {said}".lstrip()
        text = "\n".join(lines.get(line, "") for line in range(1, max(lines) + 1))
        atomic.create(Path(export), f"{text}\n", PRIVATE_FILE, mtime_ns=times[export])


def _is_export(file: Path) -> bool:
    """Return whether a file begins as every export does; a user may keep other notes beside them."""
    return (atomic.read(file, len(TITLE)) or b"").startswith(TITLE.encode())
