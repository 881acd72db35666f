"""The workspace's private folder, which keeps itself out of version control."""

from __future__ import annotations

from recollect.errors import StoreReadOnly
from recollect.paths import Workspace


def ensure_private(workspace: Workspace) -> None:
    """Make the folder for derived and private files, with a `.gitignore` that hides all of it."""
    ignore = workspace.private / ".gitignore"
    try:
        workspace.private.mkdir(exist_ok=True)
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")
    except OSError as error:
        raise StoreReadOnly(
            f"the folder {str(workspace.private)!r} cannot be written: {(error.strerror or '').lower()}",
            todo="Check its permissions and the space on the disk",
        ) from error
