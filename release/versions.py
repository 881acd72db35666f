"""The files that hold the version of the project, read and changed together."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

PLACES = (
    ("src/memlines/version.py", r'__version__ = "([^"]+)"'),
    ("server.json", r'"version": "([^"]+)"'),
    ("integrations/*/.*-plugin/plugin.json", r'"version": "([^"]+)"'),
    ("integrations/*/.mcp.json", r"memlines@([\w.]+)"),
    ("integrations/*/hooks/hook.sh", r"memlines@([\w.]+)"),
    ("integrations/mcpb/manifest.json", r'"version": "([^"]+)"'),
    ("integrations/mcpb/pyproject.toml", r'(?:^version = "|memlines==)([^"]+)"'),
    ("docs/teams.md", r"^ +rev: v(\S+)"),
    ("docs/install.md", r"memlines[- ](\d+\.\d+\.\d+)"),
    ("docs/protocol.md", r'"version":"([^"]+)"'),
    ("integrations/**/package.json", r'^  "version": "([^"]+)"'),
)
"""Files, and what the version looks like in each. A package.json without a version is not published."""

_NEWEST = re.compile(r"^## (\S+) - \d{4}-\d{2}-\d{2}\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)


def read_versions(root: Path) -> dict[str, set[str]]:
    """Return by file the versions that it names."""
    found = {}
    for file, pattern in _files(root):
        versions = set(pattern.findall(file.read_text(encoding="utf-8")))
        if versions or file.name != "package.json":
            found[file.relative_to(root).as_posix()] = versions
    return found


def write_version(root: Path, version: str) -> None:
    """Put another version into every place."""
    for file, pattern in _files(root):
        text = file.read_text(encoding="utf-8")
        changed = pattern.sub(lambda match: match[0].replace(match[1], version), text)
        file.write_text(changed, encoding="utf-8", newline="")


def newest_change(root: Path) -> tuple[str, str]:
    """Return the newest version of the changelog that has a date, and what it says about it."""
    found = _NEWEST.search((root / "CHANGELOG.md").read_text(encoding="utf-8"))
    return (found[1], found[2].strip()) if found else ("", "")


def _files(root: Path) -> Iterator[tuple[Path, re.Pattern[str]]]:
    for glob, pattern in PLACES:
        for file in sorted(root.glob(glob)):
            if "node_modules" not in file.parts:
                yield file, re.compile(pattern, re.MULTILINE)
