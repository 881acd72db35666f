"""What was forgotten, known again without being kept.

Forgetting takes a text out of the notes, but it may also be in transcripts, which belong to other
programs and are read again and again. So `<private>/forgotten.jsonl` holds a salted SHA-256 of each
forgotten entry, and of each of its lines and sentences that is long enough to be data from others
(`text.matching`).

A line of the file says how many words its text had, and one byte that is made of the first of them, so that
not every place of a transcript has to be hashed for every forgotten text. The salt lies beside it: the same
text leaves another hash in every workspace, and short texts cannot be looked up in a list made beforehand.

The file travels with archives and backups. A line that came from another workspace names its salt. A text
that is remembered again keeps its line, marked as lifted, so that an older copy of the file does not bring
the ban back: of two lines about the same hash the later one counts.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Literal

from memlines.errors import WorkspaceError
from memlines.files import atomic
from memlines.files.place import Place, attempt, reading, writing
from memlines.folders import PRIVATE_FILE
from memlines.paths import Workspace
from memlines.records import dataclass
from memlines.text.matching import compose, cut_spans, goes_on, pieces_of, tokens_in, words_in
from memlines.types import Turn

FILE_NAME = "forgotten.jsonl"
SALT_NAME = "forgotten.salt"

About = Literal["text", "session", "file"]
"""What was forgotten: words, all of a session, or a whole note or snapshot."""

_BETWEEN = "[\\W_\u03b9]*"
"""What may be between two words where case is folded: a combining iota becomes a letter there."""

_FEW = 16
"""Texts that are looked for one by one before words are hashed; that pays for no more of them."""


@dataclass(frozen=True, slots=True)
class Tombstone:
    """Something that was forgotten: what there is to know it again, and when it was forgotten or lifted."""

    hash: str
    time: str
    salt: bytes
    words: int = 0
    first: int = 0
    whole: bool = False
    about: About = "text"
    lifted: bool = False

    def to_json(self, own_salt: bytes) -> dict[str, Any]:
        """Return it as a line of the file holds it; only the salt of another workspace is written down."""
        data: dict[str, Any] = {"hash": self.hash}
        if self.about == "text":
            data |= {"words": self.words, "first": self.first}
        else:
            data[self.about] = True
        data |= {name: True for name in ("whole", "lifted") if getattr(self, name)}
        return data | ({} if self.salt == own_salt else {"salt": self.salt.decode()}) | {"time": self.time}


class Forgotten:
    """The texts that may not come back into the index."""

    def __init__(
        self, stones: Iterable[Tombstone], salt: bytes = b"", workspace: Workspace | None = None
    ) -> None:
        self.salt = salt
        self._workspace = workspace
        self._stones = _latest(stones)
        by_salt: dict[bytes, list[Tombstone]] = {}
        for stone in self._stones.values():
            if not stone.lifted:
                by_salt.setdefault(stone.salt, []).append(stone)
        self._groups = [_Group(salt, group) for salt, group in by_salt.items()]
        self._wordings: tuple[re.Pattern[str], ...] = ()
        """What the forgotten texts read like, if they are known: a quick look before words are hashed."""

    @classmethod
    def load(cls, workspace: Workspace) -> Forgotten:
        """Return what was forgotten in a workspace."""
        with reading(f"what was forgotten, in {str(workspace.private / FILE_NAME)!r},"):
            content = atomic.read(workspace.private / FILE_NAME, root=workspace.root)
        with reading(f"what was forgotten, with {str(workspace.private / SALT_NAME)!r},"):
            salt = atomic.read(workspace.private / SALT_NAME, root=workspace.root)
        if content and not salt:
            raise WorkspaceError(
                f"{SALT_NAME} is missing, so {FILE_NAME} does not say what was forgotten",
                todo=f"Put it back into {str(workspace.private)!r}, or delete both files to start over",
            )
        return cls.read(content or b"", salt or b"", workspace)

    @classmethod
    def read(cls, content: bytes, salt: bytes, workspace: Workspace | None = None) -> Forgotten:
        """Return what the two files of a workspace, or of a copy of one, say."""
        return cls(_stones_in(content, salt), salt, workspace)

    @classmethod
    def of(cls, texts: Iterable[str], sessions: Iterable[str] = ()) -> Forgotten:
        """Return what finds some texts again, and nothing that was forgotten before."""
        salt = secrets.token_hex(32).encode()
        known = list(texts)
        found = cls(_stones_of(salt, known, sessions), salt)
        pieces = [words for text in known for words, _ in _words_of_pieces(text)]
        if len(pieces) <= _FEW:
            found._wordings = tuple(re.compile(_BETWEEN.join(map(re.escape, words))) for words in pieces)
        return found

    def merge(self, other: Forgotten) -> Forgotten:
        """Return what either of two knows; where both know something, the later one counts."""
        return Forgotten([*self._stones.values(), *other._stones.values()], self.salt or other.salt)

    def beyond(self, copy: Forgotten) -> Forgotten:
        """Return what was forgotten here after a copy was made, or where that copy knows nothing of it."""
        return Forgotten(
            (
                stone
                for key, stone in self._stones.items()
                if (known := copy._stones.get(key)) is None or known.time < stone.time
            ),
            self.salt,
        )

    def __bool__(self) -> bool:
        return bool(self._groups)

    def __len__(self) -> int:
        return len(self._stones)

    @property
    def salts(self) -> int:
        """How many workspaces these tombstones come from."""
        return len({stone.salt for stone in self._stones.values()})

    def drops(self, text: str) -> bool:
        """Return whether a text holds something that was forgotten."""
        return next(self._found(compose(text)), None) is not None

    def redact(self, text: str, *, keep_lines: bool = False) -> str:
        """Return a text without what was forgotten; lines of which nothing is left go with it.

        With `keep_lines` they are left empty instead.
        """
        composed = compose(text)
        spans = {(start, end) for start, end, _ in self._found(composed)}
        if not spans:
            return text
        rest = cut_spans(composed, spans, keep_lines=keep_lines)
        return self.redact(rest, keep_lines=keep_lines)  # what is side by side now may be it again

    def drops_session(self, path: str) -> bool:
        """Return whether all of a transcript was forgotten."""
        return any(group.holds("session", session_of(path)) for group in self._groups)

    def drops_file(self, path: str) -> bool:
        """Return whether a note or a snapshot was forgotten whole."""
        return any(group.holds("file", path) for group in self._groups)

    def turns(self, path: str, turns: Sequence[Turn]) -> Sequence[Turn]:
        """Return the turns of a transcript without what was forgotten."""
        if not self:
            return turns
        if self.drops_session(path):
            return ()
        kept = (replace(turn, text=self.redact(turn.text)) for turn in turns)
        return tuple(turn for turn in kept if turn.text)

    def lift(self, text: str) -> bool:
        """Let a text be remembered again, because it was written again; return whether it was forgotten."""
        workspace = self._workspace
        if workspace is None or not self.drops(text):
            return False
        with writing(workspace):
            current = Forgotten.load(workspace)
            now = _now()
            found = {stone for _, _, stone in current._found(compose(text))}
            _rewrite(workspace, current.salt, [replace(stone, time=now, lifted=True) for stone in found])
        return bool(found)

    def _found(self, text: str) -> Iterator[tuple[int, int, Tombstone]]:
        """Yield where forgotten texts are in a text, and their tombstones."""
        if self._wordings:
            folded = text.casefold()
            if not any(wording.search(folded) for wording in self._wordings):
                return
        words = words_in(text) if self._groups else []
        matches = [match for group in self._groups for match in group.matches(words)]
        tokens = list(tokens_in(text)) if matches else []
        for at, count, stone in matches:
            if not (stone.whole and goes_on(text, tokens, at, count)):
                yield tokens[at].start, tokens[at + count - 1].end, stone


class _Group:
    """The tombstones that were made with one salt."""

    def __init__(self, salt: bytes, stones: Iterable[Tombstone]) -> None:
        self._salt = salt
        every = list(stones)
        self._texts = {stone.hash: stone for stone in every if stone.about == "text"}
        self._names = {(stone.about, stone.hash) for stone in every if stone.about != "text"}
        self._by_first: dict[int, set[int]] = {}
        for stone in self._texts.values():
            self._by_first.setdefault(stone.first, set()).add(stone.words)
        self._lengths: dict[str, tuple[int, ...]] = {}
        """How many words the forgotten texts have that may begin with a word, worked out once for each."""

    def holds(self, about: About, name: str) -> bool:
        """Return whether a session or a file of this name was forgotten."""
        return bool(self._names) and (about, _name_hash(self._salt, about, name)) in self._names

    def matches(self, words: Sequence[str]) -> Iterator[tuple[int, int, Tombstone]]:
        """Yield where forgotten texts may be among words: the first word, how many, and the tombstone."""
        lengths = self._lengths
        for at, word in enumerate(words) if self._texts else ():
            if word not in lengths:
                lengths[word] = tuple(self._by_first.get(_first_byte(self._salt, word), ()))
            for count in lengths[word]:
                if at + count <= len(words):
                    stone = self._texts.get(_hash(self._salt, words[at : at + count]))
                    if stone is not None:
                        yield at, count, stone


def bury(
    workspace: Workspace, texts: Iterable[str], sessions: Iterable[str] = (), files: Iterable[str] = ()
) -> None:
    """Note texts, and all of some sessions and files, as forgotten; this is durable when it returns."""
    with writing(workspace):
        salt = _own_salt(workspace)
        _rewrite(workspace, salt, _stones_of(salt, texts, sessions, files))


def adopt(workspace: Workspace, theirs: Forgotten) -> int:
    """Forget what was forgotten where a copy was made; return how much of it is new here.

    A text that was remembered again since then stays. A workspace that forgot nothing yet also gets
    the salt, so that a restored one continues as the one that was lost.
    """
    if not len(theirs):
        return 0
    with writing(workspace):
        salt = _own_salt(workspace, theirs.salt)
        return _rewrite(workspace, salt, theirs._stones.values(), only_later=True)


def session_of(path: str) -> str:
    """Return the name of the session whose transcript a file is."""
    return path.rpartition("/")[2].partition(".jsonl")[0]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


def _stones_of(
    salt: bytes, texts: Iterable[str], sessions: Iterable[str] = (), files: Iterable[str] = ()
) -> Iterator[Tombstone]:
    now = _now()
    named: list[tuple[About, Iterable[str]]] = [("session", sessions), ("file", files)]
    for about, names in named:
        for name in names:
            yield Tombstone(_name_hash(salt, about, name), now, salt, about=about)
    for text in texts:
        for words, whole in _words_of_pieces(text):
            yield Tombstone(_hash(salt, words), now, salt, len(words), _first_byte(salt, words[0]), whole)


def _words_of_pieces(text: str) -> Iterator[tuple[list[str], bool]]:
    """Yield the words of each piece a text is known again by, and whether it needs lines of its own."""
    pieces, whole = pieces_of(text)
    for piece in pieces:
        if words := words_in(compose(piece)):
            yield words, whole


def _stones_in(content: bytes, salt: bytes) -> Iterator[Tombstone]:
    for line in content.decode("utf-8", "replace").split("\n"):
        try:
            data = json.loads(line)
            yield Tombstone(
                str(data["hash"]),
                str(data["time"]),
                str(data["salt"]).encode() if "salt" in data else salt,
                int(data.get("words", 0)),
                int(data.get("first", 0)),
                bool(data.get("whole", False)),
                "session" if data.get("session") else "file" if data.get("file") else "text",
                bool(data.get("lifted", False)),
            )
        except (ValueError, KeyError, TypeError, AttributeError):
            continue  # a line that was changed by hand says nothing; the others still do


def _latest(stones: Iterable[Tombstone]) -> dict[tuple[bytes, str], Tombstone]:
    """Return one tombstone for each hash, the latest, in the order in which they were first seen."""
    latest: dict[tuple[bytes, str], Tombstone] = {}
    for stone in stones:
        key = (stone.salt, stone.hash)
        if key not in latest or latest[key].time < stone.time:
            latest[key] = stone
    return latest


def _rewrite(
    workspace: Workspace, salt: bytes, more: Iterable[Tombstone], *, only_later: bool = False
) -> int:
    """Write the file again with more tombstones, and return how many changed.

    They take the place of known ones: always, or only where they are later. The caller holds the lock of the
    notes.
    """
    path, root = workspace.private / FILE_NAME, workspace.root
    added = _latest(more)

    def write() -> int:
        old = atomic.read(path, root=root)
        known = _latest(_stones_in(old or b"", salt))
        stones = _latest([*known.values(), *added.values()]) if only_later else known | added
        lines = [json.dumps(stone.to_json(salt)) for stone in stones.values()]
        new = "".join(f"{line}\n" for line in lines).encode()
        if new != old:
            atomic.replace(path, new, expected=old, mode=PRIVATE_FILE, root=root)
        return sum(known.get(key) != stone for key, stone in stones.items())

    return attempt(Place(FILE_NAME, path, root), write)


def _own_salt(workspace: Workspace, preferred: bytes = b"") -> bytes:
    """Return the salt of a workspace; where there is none yet, it gets the preferred or a new one."""
    path, root = workspace.private / SALT_NAME, workspace.root

    def make() -> bytes:
        salt = atomic.read(path, root=root)
        if not salt:
            if salt is not None:
                atomic.remove(path, b"", root=root)
            atomic.create(path, preferred or secrets.token_hex(32), PRIVATE_FILE, root=root)
            salt = atomic.read(path, root=root) or b""
        return salt

    return attempt(Place(SALT_NAME, path, root), make)


def _hash(salt: bytes, words: Sequence[str]) -> str:
    return hashlib.sha256(salt + " ".join(words).encode()).hexdigest()


def _name_hash(salt: bytes, about: About, name: str) -> str:
    return hashlib.sha256(salt + f"{about}\0{name}".encode()).hexdigest()


def _first_byte(salt: bytes, word: str) -> int:
    return hashlib.sha256(salt + b"first\0" + word.encode()).digest()[0]
