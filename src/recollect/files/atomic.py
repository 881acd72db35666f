"""Write whole files or none.

A file is written under another name in the same folder, made durable, and only then given its
own name: whoever reads it sees all of it, and a crash leaves what was there before.
"""

from __future__ import annotations

import os
import uuid
from pathlib import Path

TEMPORARY_PREFIX = ".recollect-"
TEMPORARY_SUFFIX = ".tmp"
"""Marks unfinished files; discovery takes `.md` files only, so it never sees them."""


def create(path: Path, text: str) -> bool:
    """Write a file that does not exist yet; return False, changing nothing, if it does."""
    temporary = path.with_name(f"{TEMPORARY_PREFIX}{uuid.uuid4().hex}{TEMPORARY_SUFFIX}")
    try:
        with temporary.open("x", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        try:
            os.link(temporary, path)  # unlike a rename, this never replaces a file
        except FileExistsError:
            return False
        except OSError:
            # A file system without links: take the small risk of two programs at the same instant.
            if os.path.lexists(path):
                return False
            temporary.rename(path)
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(path.parent)
    return True


def sync_folder(folder: Path) -> None:
    """Make a change of names in a folder durable, where the system can."""
    if os.name == "nt":
        return  # Windows has no way to do this, and makes names durable by itself
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
