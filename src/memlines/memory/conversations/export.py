"""Write conversations as notes into a folder, for a search engine that reads nothing else.

The first line of every export is a title, by which it is known as ours. Below it, each turn is one line
further down than in its transcript, so a line that is found is cited as a line of the transcript. What was
forgotten, and secrets, are left out.
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

_TITLE = b"# Session "
_DAY = 86_400.0


def name_exports(files: Iterable[FoundFile], folder: Path, retention_days: int) -> dict[str, FoundFile]:
    """Return the transcripts to export into a folder, by where; old ones are left out."""
    oldest = (time.time() - retention_days * _DAY) * 1e9 if retention_days else 0.0
    exports = {}
    for file in files:
        if file.path.startswith(PREFIX) and file.fingerprint.mtime_ns >= oldest:
            name = file.path.removeprefix(PREFIX).removesuffix(".jsonl").replace("/", "--")
            exports[str(folder / f"{name}{SUFFIX}")] = file
    return exports


def export_sessions(
    cleaning: Cleaning, folder: Path, wanted: Mapping[str, FoundFile], *, again: bool
) -> None:
    """Make a folder hold the exports of these transcripts and no others; other files stay as they are.

    So do exports of unchanged transcripts. With `again` all are written, because something may have been
    forgotten since the last time.
    """
    for name, info in atomic.listing(folder).items():
        export = folder / name
        if not name.endswith(SUFFIX) or not stat.S_ISREG(info.st_mode):
            continue
        is_ours = (atomic.read(export, len(_TITLE)) or b"").startswith(_TITLE)
        file = wanted.get(str(export))
        is_changed = file is None or info.st_mtime_ns != file.fingerprint.mtime_ns
        if is_ours and (again or is_changed):
            atomic.unlink(export, durable=False)
    for export, file in ((Path(name), file) for name, file in wanted.items()):
        if not export.exists():
            text = _format_note(file, export.stem, cleaning)
            atomic.create(export, text, PRIVATE_FILE, mtime_ns=file.fingerprint.mtime_ns)


def _format_note(file: FoundFile, session: str, cleaning: Cleaning) -> bytes:
    document = read_transcript(file)
    turns = transcript_of(document).turns if isinstance(document, Document) else ()
    lines = {0: " ".join(session.split())}
    for turn in cleaning.clean(file.path, turns):  # of which several may be on one line
        said = f"{turn.role}: {' '.join(turn.text.split())}"
        lines[turn.line] = f"{lines.get(turn.line, '')} {said}".lstrip()
    text = "".join(f"{lines.get(line, '')}\n" for line in range(max(lines) + 1))
    return _TITLE + text.encode()
