"""Check notes before they are shared: no secrets, nothing private or personal, no conflict of a merge.

What is going to be committed is read from git's index, not from the folder: a secret that was staged and then
removed from the file would be committed all the same. No finding holds what was found.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from memlines.errors import WorkspaceError
from memlines.files.atomic import read
from memlines.files.git import HOOK_VARIABLE, run_git
from memlines.files.place import reading
from memlines.files.read import without_private_blocks
from memlines.files.scan import NOTES_DIR, ROOT_FILES, SUFFIX, USER_FILE, discover
from memlines.paths import PRIVATE_DIR, Workspace, contains, personal_folder
from memlines.records import dataclass
from memlines.settings import Settings, load
from memlines.text.chunk import weigh
from memlines.text.entries import conflicts_in, entries_of
from memlines.text.matching import TELLING, bare, entry_id
from memlines.text.redaction import Rules, redact, rules_of
from memlines.text.redaction.copies import PLACEHOLDER
from memlines.types import FoundFile
from memlines.worktrees import has_memory, memory_of

_PUBLIC = (f"{PRIVATE_DIR}/config.yaml", f"{PRIVATE_DIR}/.gitignore")
"""What a project may share of its private folder: settings of its own, which are not trusted elsewhere."""

_CONFLICT = "begins a merge conflict that is not resolved"
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
        self.max_bytes = settings.files.max_bytes
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
        found += [Refused(path, marks[0], "conflict", _CONFLICT) for marks in conflicts_in(text)]
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
    reader = _Reader(workspace, settings)
    return _Staged(workspace.root).check(lambda file: (reader, _is_shared(workspace.root, file)))


def check_repository(folder: Path) -> Checked:
    """Check what is staged of the repository that a folder is in: the notes of every memory in it.

    Git runs hooks in the root of a repository, wherever its memories are.
    """
    staged = _Staged(folder)
    return staged.check(_Memories(staged.top, staged.files).find_reader)


class _Staged:
    """What is staged of a folder's repository, or of the one whose hook this is."""

    def __init__(self, folder: Path) -> None:
        self._asked = None if HOOK_VARIABLE in os.environ else folder
        top = run_git(self._asked, "rev-parse", "--show-toplevel")
        self.top = Path(os.path.realpath(os.fsdecode(top).rstrip("\n")))
        self.files = {self.top / name: blob for name, blob in _staged(self._asked).items()}

    def check(self, find_reader: Callable[[Path], tuple[_Reader, bool]]) -> Checked:
        """Check all files, each with what reads it; only those that a memory shares have text to check."""
        notes: dict[_Reader, dict[str, str]] = {}
        refused: list[Refused] = []
        count = 0
        for file, blob in self.files.items():
            name = file.relative_to(self.top).as_posix()
            reader, is_shared = find_reader(file)
            if PRIVATE_DIR in Path(name).parts and not (is_shared and name.endswith(_PUBLIC)):
                refused.append(Refused(name, None, "private", f"is in {PRIVATE_DIR}, which is not shared"))
            elif reader.is_personal(file):
                refused.append(_personal_file(name))
            elif is_shared:
                notes.setdefault(reader, {})[name] = blob
            else:
                continue
            count += 1
        for reader, blobs in notes.items():
            texts = _read_blobs(self._asked, {*blobs.values()}, reader.max_bytes)
            for name, blob in blobs.items():
                refused += reader.check(name, texts[blob]) if blob in texts else [_too_large(name)]
        return Checked(count, tuple(refused))


class _Memories:
    """The memories whose notes are staged in one repository, each with settings of its own."""

    def __init__(self, top: Path, staged: Iterable[Path]) -> None:
        self._top = top
        self._with_memory = {file.parent: True for file in staged if file.name == ROOT_FILES[0]}
        self._readers: dict[Path, _Reader] = {}

    def find_reader(self, file: Path) -> tuple[_Reader, bool]:
        """Return what reads a staged file, and whether it is something that a memory shares.

        Where no folder of the repository around it has a memory, as in a clone that has no index yet, its
        place decides.
        """
        around = list(file.parents) if file.name.endswith(SUFFIX) or PRIVATE_DIR in file.parts else []
        inside = [folder for folder in around if contains(self._top, folder)]
        held = [folder for folder in around if self._has_memory(folder)]
        if not any(folder in inside for folder in held):
            held += inside
        found = next((folder for folder in held if _is_shared(folder, file)), None)
        return self._reader_of(found or self._top), found is not None

    def _has_memory(self, folder: Path) -> bool:
        if folder not in self._with_memory:
            self._with_memory[folder] = has_memory(str(folder))
        return self._with_memory[folder]

    def _reader_of(self, folder: Path) -> _Reader:
        if folder not in self._readers:
            settings = load(Workspace(Path(memory_of(str(folder)) or folder))).settings
            self._readers[folder] = _Reader(Workspace(self._top), settings)
        return self._readers[folder]


def _personal_file(path: str) -> Refused:
    return Refused(path, None, "personal", "is a file of your personal memory")


def _too_large(path: str) -> Refused:
    return Refused(path, None, "large", "is above files.max_bytes, so it was not checked")


def _is_shared(root: Path, file: Path) -> bool:
    """Return whether the memory in a folder shares a file, by its path, whatever is in its place now."""
    path = file.relative_to(root).as_posix() if contains(root, file) else ""
    is_note = path.startswith(f"{NOTES_DIR}/") or path in (*ROOT_FILES, USER_FILE)
    return path in _PUBLIC or (is_note and path.endswith(SUFFIX))


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
