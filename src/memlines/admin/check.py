"""Check notes before they are shared: no secrets, nothing that is marked as private, nothing personal.

What is going to be committed is read from git's index, not from the folder: a secret that was staged and then
removed from the file would be committed all the same. No finding holds what was found.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from memlines.errors import WorkspaceError
from memlines.files.atomic import read
from memlines.files.git import HOOK_VARIABLE, run_git
from memlines.files.place import reading
from memlines.files.read import without_private_blocks
from memlines.files.scan import NOTES_DIR, ROOT_FILES, SUFFIX, USER_FILE, discover
from memlines.paths import PRIVATE_DIR, Workspace, contains, personal_folder
from memlines.records import dataclass
from memlines.settings import Settings
from memlines.text.chunk import weigh
from memlines.text.entries import entries_of
from memlines.text.matching import TELLING, bare, entry_id
from memlines.text.redaction import Rules, redact, rules_of
from memlines.text.redaction.copies import PLACEHOLDER
from memlines.types import FoundFile

_PUBLIC = frozenset({f"{PRIVATE_DIR}/config.yaml", f"{PRIVATE_DIR}/.gitignore"})
"""What a project may share of its private folder: settings of its own, which are not trusted elsewhere."""

_UNLIMITED = 1 << 60
_NO_FILE = frozenset({"120000", "160000"})
"""The modes of git for links and submodules, which hold no text."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Something that should not be shared: where it is, and what kind it is of. A whole file has no line."""

    path: str
    line: int | None
    kind: str
    reason: str


@dataclass(frozen=True, slots=True)
class Checked:
    """How many files were checked, and what should not be shared of them."""

    files: int
    refused: tuple[Refused, ...]


class _Reader:
    """What counts as secret or personal in one workspace."""

    def __init__(self, workspace: Workspace, settings: Settings) -> None:
        self._rules: Rules = rules_of(settings.redaction.rules)
        personal = Path(os.path.realpath(personal_folder(settings.personal_folder)))
        # A personal memory may have a repository of its own, where nothing in it is out of place.
        is_own = contains(personal, workspace.root)
        self._personal = None if is_own or not os.path.isdir(personal) else personal  # noqa: PTH112
        self._known: Mapping[str, str] | None = None

    def is_personal(self, file: Path) -> bool:
        """Return whether a file belongs to the user's personal memory."""
        return self._personal is not None and contains(self._personal, file)

    def check(self, path: str, text: str) -> Iterator[Refused]:
        """Yield what should not be shared of a text, in the order of its lines."""
        found = [*self._private(path, text), *self._secrets(path, text), *self._copied(path, text)]
        yield from sorted(found, key=lambda one: one.line or 0)

    def _private(self, path: str, text: str) -> Iterator[Refused]:
        shown = without_private_blocks(text).split("\n")
        was_private = False
        for number, (line, left) in enumerate(zip(text.split("\n"), shown, strict=True), 1):
            if line != left and not was_private:
                yield Refused(path, number, "private", "is marked as private")
            was_private = line != left

    def _secrets(self, path: str, text: str) -> Iterator[Refused]:
        clean = redact(text, self._rules).text.split("\n")
        for number, (line, left) in enumerate(zip(text.split("\n"), clean, strict=True), 1):
            kinds = Counter(PLACEHOLDER.findall(left)) - Counter(PLACEHOLDER.findall(line))
            for mark in kinds:
                kind = mark.removeprefix("[redacted:").removesuffix("]")
                yield Refused(path, number, kind, f"looks like a secret ({kind})")

    def _copied(self, path: str, text: str) -> Iterator[Refused]:
        if self._known is None:
            self._known = self._personal_entries()
        for entry in entries_of(text) if self._known else ():
            if where := self._known.get(entry_id(entry.text)):
                yield Refused(path, entry.first, "personal", f"is also in your personal memory ({where})")

    def _personal_entries(self) -> dict[str, str]:
        """Return where the entries of the personal memory are that are long enough to be recognised."""
        if self._personal is None:
            return {}
        return {
            entry_id(entry.text): file.path
            for file in discover(Workspace.at(self._personal), (), _UNLIMITED).files
            for entry in entries_of(_text_of(file))
            if entry.kind != "heading" and weigh(bare(entry.text)) >= TELLING
        }


def check_notes(workspace: Workspace, settings: Settings) -> Checked:
    """Check all notes of a workspace as they are in its folder."""
    reader = _Reader(workspace, settings)
    files = discover(workspace, (), _UNLIMITED).files
    refused: list[Refused] = []
    for file in files:
        if reader.is_personal(Path(file.real)):
            refused.append(_personal_file(file.path))
        elif file.fingerprint.size > settings.files.max_bytes:
            refused.append(_too_large(file.path))
        else:
            refused += reader.check(file.path, _text_of(file))
    return Checked(len(files), tuple(refused))


def check_staged(workspace: Workspace, settings: Settings) -> Checked:
    """Check what is staged of the repository of a workspace: its notes, and no file that is private."""
    folder = None if HOOK_VARIABLE in os.environ else workspace.root
    reader = _Reader(workspace, settings)
    top = Path(os.path.realpath(os.fsdecode(run_git(folder, "rev-parse", "--show-toplevel")).rstrip("\n")))
    notes: dict[str, str] = {}
    refused: list[Refused] = []
    count = 0
    for name, blob in _staged(folder).items():
        file = top / name
        inside = file.relative_to(workspace.root).as_posix() if contains(workspace.root, file) else ""
        is_public = inside in _PUBLIC
        if PRIVATE_DIR in Path(name).parts and not is_public:
            refused.append(Refused(name, None, "private", f"is in {PRIVATE_DIR}, which is not shared"))
        elif reader.is_personal(file):
            refused.append(_personal_file(name))
        elif is_public or _is_note(inside):
            notes[name] = blob
        else:
            continue
        count += 1
    texts = _read_blobs(folder, {*notes.values()}, settings.files.max_bytes)
    for name, blob in notes.items():
        if blob in texts:
            refused += reader.check(name, texts[blob])
        else:
            refused.append(_too_large(name))
    return Checked(count, tuple(refused))


def _personal_file(path: str) -> Refused:
    return Refused(path, None, "personal", "is a file of your personal memory")


def _too_large(path: str) -> Refused:
    return Refused(path, None, "large", "is above files.max_bytes, so it was not checked")


def _is_note(path: str) -> bool:
    """Return whether a path is that of a note, whatever is in its place now."""
    return path.endswith(SUFFIX) and (path.startswith(f"{NOTES_DIR}/") or path in (*ROOT_FILES, USER_FILE))


def _text_of(file: FoundFile) -> str:
    with reading(f"{file.path!r}"):
        return _decode(read(Path(file.real), root=Path(file.root)) or b"")


def _decode(content: bytes) -> str:
    """Return a text in which secrets are found, whatever else is in it."""
    return content.decode("utf-8-sig", "replace").replace("\r\n", "\n")


def _staged(folder: Path | None) -> dict[str, str]:
    """Return the files that are staged as new or changed, each with the name of its content."""
    options = ("--no-ext-diff", "--no-relative", "--no-renames", "--no-abbrev", "--diff-filter=ACMRT")
    listed = run_git(folder, "diff", "--cached", "--raw", "-z", *options)
    fields = os.fsdecode(listed).split("\0")
    found: dict[str, str] = {}
    for status, name in zip(fields[:-1:2], fields[1::2], strict=True):
        _, mode, _, blob, _ = status.split(" ")
        if mode not in _NO_FILE:
            found[name] = blob
    return found


def _read_blobs(folder: Path | None, blobs: set[str], limit: int) -> dict[str, str]:
    """Return the contents with these names, except those above a limit."""
    asked = "".join(f"{blob}\n" for blob in sorted(blobs)).encode()
    sizes = run_git(folder, "cat-file", "--batch-check=%(objectname) %(objectsize)", stdin=asked).decode()
    known = (line.split(" ") for line in sizes.splitlines())
    small = [blob for blob, size in known if size.isdigit() and int(size) <= limit]
    content = run_git(folder, "cat-file", "--batch", stdin="".join(f"{blob}\n" for blob in small).encode())
    texts: dict[str, str] = {}
    at = 0
    for blob in small:
        start = content.index(b"\n", at) + 1
        name, _, size = content[at : start - 1].decode().split(" ")
        if name != blob:
            raise WorkspaceError("git did not answer what was asked", todo="Run 'git fsck'")
        at = start + int(size) + 1
        texts[blob] = _decode(content[start : at - 1])
    return texts
