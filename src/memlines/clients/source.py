"""Where the files are that get copied into a client."""

from __future__ import annotations

from pathlib import Path

from memlines.errors import WorkspaceError

_PACKAGE = Path(__file__).resolve().parents[1]


def integration(name: str) -> Path:
    """Return the folder of a client's files: in an installed package, or else in the checkout."""
    for folder in (_PACKAGE, _PACKAGE.parents[1]):
        found = folder / "integrations" / name
        if found.is_dir():
            return found
    raise WorkspaceError(
        f"this installation of Memlines lacks its files for {name}",
        todo="Install Memlines again: 'pip install --force-reinstall memlines'",
    )
