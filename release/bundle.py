"""The .mcpb bundle: one file that Claude Desktop and other clients install with a click.

The same sources give the same bytes: names are sorted, nothing is compressed, and neither the time nor the
mode of a file is kept.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

_FILES = ("manifest.json", "pyproject.toml", "src/server.py")
_OLDEST = (1980, 1, 1, 0, 0, 0)
_PLAIN_FILE = 0o100644 << 16


def build_bundle(root: Path, target: Path) -> Path:
    """Write the bundle of a checkout, and return its file."""
    contents = {name: (root / "integrations" / "mcpb" / name).read_bytes() for name in _FILES}
    contents["LICENSE"] = (root / "LICENSE").read_bytes()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name, content in sorted(contents.items()):
            entry = zipfile.ZipInfo(name, _OLDEST)
            entry.create_system = 3  # Unix, on every system
            entry.external_attr = _PLAIN_FILE
            archive.writestr(entry, content)
    return target
