"""Write the memory as one page that needs no server: read-only, searchable, for sharing or an archive.

What it shows leaves the machine, so secrets are taken out and private blocks are left out. Line numbers stay
as they are in the notes, so that citations still fit. What could not be read is named.
"""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from memlines.admin.backup.archive import Exported, write_whole
from memlines.files.read import read_document, without_private_blocks
from memlines.files.scan import discover
from memlines.paths import Workspace
from memlines.serve.web.render import MOST_RENDERED, need_packages, read_asset, render_page
from memlines.settings import Settings
from memlines.text.redaction import redact, rules_of
from memlines.types import Document, Problem, Progress


def export_page(
    workspace: Workspace, settings: Settings, file: Path, *, force: bool, progress: Progress
) -> Exported:
    """Write all notes of a workspace into one page, whole or not at all."""
    need_packages()
    notes, problems = _read(workspace, settings, progress)
    # What print and screen share with the page that is served; there is no menu to hide.
    style, script = (read_asset(name).decode() for name in ("page.css", "export.js"))
    made = render_page(
        "export.html",
        notes=notes,
        problems=problems,
        name=workspace.root.name,
        day=datetime.now(UTC).date(),
        style=style,
        script=script,
        hashes=[_hash(style), _hash(script)],
        most_rendered=MOST_RENDERED,
    ).body
    with write_whole(file, replace=force) as stream:
        stream.write(made)
    size = sum(len(note["text"].encode("utf-8", "replace")) for note in notes)
    left_out = tuple([problem for problem in problems if not problem.failed])
    failed = tuple([problem for problem in problems if problem.failed])
    return Exported(str(file), len(notes), size, len(made), False, left_out, failed)


def _read(
    workspace: Workspace, settings: Settings, progress: Progress
) -> tuple[list[dict[str, Any]], list[Problem]]:
    """Return the notes with their text, and what cannot be shown."""
    limit, rules = settings.files.max_bytes, rules_of(settings.redaction.rules)
    found = discover(workspace, settings.extra_paths, limit)
    notes, problems = [], [*found.problems]
    for at, file in enumerate(found.files):
        progress(at, len(found.files), "exporting")
        note = read_document(file, limit)
        if isinstance(note, Document):
            text = redact(without_private_blocks(note.text), rules).text
            notes.append({"path": file.path, "text": text})
        elif note is not None:
            problems.append(note)
    return notes, problems


def _hash(content: str) -> str:
    return "sha256-" + base64.b64encode(sha256(content.encode()).digest()).decode()
