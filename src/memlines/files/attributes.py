"""Have git keep the lines of both sides when it merges daily logs and facts.

Both are lists that grow at their end, where two people who add something would always get a conflict. Other
notes are merged as usual.
"""

from __future__ import annotations

import re

from memlines.errors import PathError, WriteError
from memlines.files.atomic import read, replace
from memlines.files.git import run_git
from memlines.files.place import Place, attempt, writing
from memlines.paths import Workspace, note_path

FILE_NAME = ".gitattributes"

_COMMENT = "# Daily logs and facts: a merge keeps the lines of both sides (memlines init --team)"
_LOGS = "memory/[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9].md"
_ANY_LOG = "memory/2000-01-01.md"
_USUAL = "unspecified"
_MOST_BYTES = 1_000_000


def lacks_union(workspace: Workspace, facts_file: str) -> list[str]:
    """Return which of the daily logs and the facts git merges as it merges any file, by its own account."""
    names = {_ANY_LOG: "daily logs", note_path(facts_file): note_path(facts_file)}
    fields = run_git(workspace.root, "check-attr", "-z", "merge", "--", *names).decode().split("\0")
    return [names[path] for path, value in zip(fields[:-1:3], fields[2::3], strict=True) if value == _USUAL]


def ensure_union(workspace: Workspace, facts_file: str) -> bool:
    """Add to the workspace's `.gitattributes` what it lacks; return whether it was changed.

    Everything else in it stays byte for byte.
    """
    place = Place(FILE_NAME, workspace.root / FILE_NAME, workspace.root)

    def write() -> bool:
        old = read(place.real, _MOST_BYTES, root=place.root)
        before = old or b""
        try:
            lines = {line.strip() for line in before.decode("utf-8-sig").split("\n")}
        except UnicodeDecodeError:
            raise _refusal("it is not UTF-8 text") from None
        if len(before) > _MOST_BYTES:
            raise _refusal("it is larger than 1 MB")
        wanted = (_COMMENT, f"{_LOGS} merge=union", f"{_pattern(note_path(facts_file))} merge=union")
        missing = [line for line in wanted if line not in lines]
        if missing in ([], [_COMMENT]):
            return False
        end = b"\r\n" if b"\r\n" in before else b"\n"
        gap = b"" if not before or before.endswith(b"\n") else end
        added = b"".join(line.encode() + end for line in missing)
        replace(place.real, before + gap + added, expected=old, root=place.root)
        return True

    try:
        with writing(workspace):
            return attempt(place, write)
    except PathError:
        raise _refusal("it is a symbolic link, which git does not follow either") from None


def _refusal(why: str) -> WriteError:
    return WriteError(
        f"{FILE_NAME!r} cannot be extended: {why}",
        todo=f"Make it a plain file, or add '{_LOGS} merge=union' to your attributes yourself",
    )


def _pattern(path: str) -> str:
    """Return the pattern of git that matches a path and nothing else."""
    literal = re.sub(r"([\\*?\[])", r"\\\1", path)
    if not re.search(r'[\s"]', literal):
        return literal
    quoted = literal.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{quoted}"'
