"""Write the memory as one page that needs no server: read-only, searchable, for sharing or an archive.

What it shows leaves the machine, so secrets are taken out and private blocks are left out. Line numbers stay
as they are in the notes, so that citations still fit.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from memlines.admin.backup.archive import Exported, write_whole
from memlines.errors import MemlinesError
from memlines.files.read import without_private_blocks
from memlines.memory.notes.entries import notes_in, text_in
from memlines.paths import Workspace
from memlines.serve.web.render import MOST_RENDERED, need_packages, read_asset, render_page
from memlines.settings import Settings
from memlines.text.redaction import redact, rules_of
from memlines.types import Problem, Progress


def export_page(
    workspace: Workspace, settings: Settings, file: Path, *, force: bool, progress: Progress
) -> Exported:
    """Write all notes of a workspace into one page, whole or not at all."""
    need_packages()
    failed: list[Problem] = []
    notes = [*_read(workspace, settings, failed, progress)]
    # What print and screen share with the page that is served; there is no menu to hide.
    style, script = (read_asset(name).decode() for name in ("page.css", "export.js"))
    made = render_page(
        "export.html",
        notes=notes,
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
    return Exported(str(file), len(notes), size, len(made), settings=False, failed=tuple(failed))


def _read(
    workspace: Workspace, settings: Settings, failed: list[Problem], progress: Progress
) -> Iterator[dict[str, Any]]:
    files, rules = notes_in(workspace, settings), rules_of(settings.redaction.rules)
    for at, found in enumerate(files):
        progress(at, len(files), "exporting")
        try:
            text = without_private_blocks(text_in(found, settings))
        except (MemlinesError, OSError) as error:
            failed.append(Problem(found.path, str(error), failed=True))
            continue
        yield {"path": found.path, "text": redact(text, rules).text}


def _hash(content: str) -> str:
    return "sha256-" + base64.b64encode(sha256(content.encode()).digest()).decode()
