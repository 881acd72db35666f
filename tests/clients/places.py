"""What the tests of the installation share: a client's files of their own, and a look at a whole tree."""

from __future__ import annotations

import stat
from pathlib import Path

from memlines.clients import opencode
from memlines.clients.client import Target

FILES = {
    "commands/memory.md": "the command\n",
    "skills/memory/SKILL.md": "the skill\n",
    "memlines/plugin.js": "export default { id, server, setup }\n",
    "memlines/tools.json": "[]\n",
    "plugins/memlines.js": "the plugin\n",
}
OURS = {f"memlines/{name}" for name in (".gitignore", "command.json", "manifest.json", "receipt.json")}
MADE = {*FILES, *OURS, ".npmrc"}
"""What an installation leaves in a project that had nothing."""


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}


def tree(folder: Path) -> dict[str, tuple[int, bytes | str]]:
    """Return every file, folder and link with its permissions and what it holds."""
    found: dict[str, tuple[int, bytes | str]] = {}
    for path in folder.rglob("*"):
        mode = path.lstat().st_mode
        held: bytes | str = ""
        if stat.S_ISLNK(mode):
            held = str(path.readlink())
        elif stat.S_ISREG(mode):
            held = path.read_bytes()
        found[path.relative_to(folder).as_posix()] = (mode, held)
    return found


class Place:
    """A project and a user's home, and an integration to install into them."""

    def __init__(self, top: Path) -> None:
        self.project = top / "project"
        self.project.mkdir(parents=True)
        self.source = write(top / "source", FILES)
        self.folder = self.project / ".opencode"

    @property
    def targets(self) -> tuple[Target, ...]:
        return opencode.targets(self.project, self.source)

    @property
    def everywhere(self) -> tuple[Target, ...]:
        return opencode.targets(None, self.source)
