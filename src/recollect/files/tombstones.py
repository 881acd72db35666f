"""What was forgotten, known again without being kept.

Forgetting takes a text out of the notes, but it may also stand in transcripts, which belong to other
programs and are read again and again. So `<private>/forgotten.jsonl` holds a salted SHA-256 of each
forgotten entry, and of each of its lines and sentences that is long enough to be told from others. A text is
compared word by word, whatever its case, white space, punctuation and list markers; the time at the
beginning of an entry does not count.

A line of the file says how many words its text had, and one byte that is made of the first of them, so that
not every place of a transcript has to be hashed for every forgotten text. The salt lies beside it: the same
text leaves another hash in every workspace, and nobody can look short texts up in a list made beforehand.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from recollect.errors import WorkspaceError
from recollect.files import atomic
from recollect.files.place import Place, attempt, reading, writing
from recollect.paths import Workspace
from recollect.text.chunk import weigh
from recollect.text.entries import Kind, entries_of
from recollect.text.facts import CATEGORIES
from recollect.text.terms import RUN, is_unspaced
from recollect.types import Turn

FILE_NAME = "forgotten.jsonl"
SALT_NAME = "forgotten.salt"

TELLING = 20
"""What a text weighs at least to be found inside a longer one; a shorter entry has to be a whole line."""

_LEAD = re.compile(
    r"\s*(?:(?:[-+*]|\d{1,9}[.)])\s+)*(?:\[[ xX]\]\s+)?"
    r"(?:[*_`(\[]*(?:\d{4}-\d{2}-\d{2}:?|\d{1,2}:\d{2}(?::\d{2})?)[*_`)\]]*(?=\s|$)\s*"
    r"(?:[-\u2013\u2014]\s+)?)?"
)
_SESSION_MARK = re.compile(r"\s*\[session [^\]\n]*\]")
_CATEGORY = re.compile(rf"\[(?:{'|'.join(CATEGORIES)})\]\s+")
_AFTER_FACT = re.compile(r"\s*(?:\{[^{}]*\}\s*)?\^[a-z2-7]{10}\s*$")
"""What stands around the words of a fact in its note: its category before, its origin and its name after."""

_BORDER = re.compile("\n+|(?<=[.!?])\\s+|(?<=[\u3002\uff01\uff1f])")
_AFTER = re.compile(r"[.,;:!?)\]\"'*_`\u2026\u3002\uff01\uff1f\uff0c]*")
_ASCII_WORD = re.compile(r"[a-z0-9](?:[a-z0-9_]*[a-z0-9])?")
_GAP = "\0"
_GAPS = re.compile(rf"\s*{_GAP}[\s{_GAP}]*")
_PRIVATE = 0o600


class _Token(NamedTuple):
    word: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Tombstone:
    """A forgotten text, or all of a session: what there is to know it again, and when it was forgotten."""

    hash: str
    time: str
    words: int = 0
    first: int = 0
    whole: bool = False
    session: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return it as a line of the file holds it."""
        if self.session:
            return {"hash": self.hash, "session": True, "time": self.time}
        told = {"hash": self.hash, "words": self.words, "first": self.first}
        return told | ({"whole": True} if self.whole else {}) | {"time": self.time}


class Forgotten:
    """The texts that may not come back into the index."""

    def __init__(self, salt: bytes, stones: Iterable[Tombstone], workspace: Workspace | None = None) -> None:
        self._salt = salt
        self._workspace = workspace
        every = list(stones)
        self._texts = {stone.hash: stone for stone in every if not stone.session}
        self._sessions = {stone.hash for stone in every if stone.session}
        self._lengths = _Lengths(salt, self._texts.values())

    @classmethod
    def load(cls, workspace: Workspace) -> Forgotten:
        """Return what was forgotten in a workspace."""
        with reading("what was forgotten"):
            content = atomic.read(workspace.private / FILE_NAME)
            salt = atomic.read(workspace.private / SALT_NAME)
        if content and not salt:
            raise WorkspaceError(
                f"{SALT_NAME} is missing, so {FILE_NAME} cannot tell what was forgotten",
                todo=f"Put it back into {str(workspace.private)!r}, or delete both files to start over",
            )
        return cls(salt or b"", _stones_in(content or b""), workspace)

    @classmethod
    def of(cls, texts: Iterable[str], sessions: Iterable[str] = ()) -> Forgotten:
        """Return what finds some texts again, and nothing that was forgotten before."""
        salt = secrets.token_bytes(32)
        return cls(salt, _stones_of(salt, texts, sessions))

    def __bool__(self) -> bool:
        return bool(self._texts or self._sessions)

    def drops(self, text: str) -> bool:
        """Tell whether a text holds something that was forgotten."""
        return next(self._found(_composed(text)), None) is not None

    def redact(self, text: str) -> str:
        """Return a text without what was forgotten; lines of which nothing is left go with it."""
        composed = _composed(text)
        spans = sorted({(start, end) for start, end, _ in self._found(composed)}, reverse=True)
        if not spans:
            return text
        for start, end in _joined(spans):
            composed = composed[:start] + _GAP + composed[end:]
        lines = [_closed(line) for line in composed.split("\n")]
        rest = "\n".join([line for line in lines if line is not None]).strip()
        return self.redact(rest)  # what stands side by side now may be it again

    def drops_session(self, path: str) -> bool:
        """Tell whether all of a transcript was forgotten."""
        return bool(self._sessions) and _session_hash(self._salt, session_of(path)) in self._sessions

    def turns(self, path: str, turns: Sequence[Turn]) -> Sequence[Turn]:
        """Return the turns of a transcript without what was forgotten."""
        if not self:
            return turns
        if self.drops_session(path):
            return ()
        kept = (replace(turn, text=self.redact(turn.text)) for turn in turns)
        return tuple(turn for turn in kept if turn.text)

    def lift(self, text: str) -> bool:
        """Let a text be remembered again, because somebody wrote it down again; tell if it was forgotten."""
        workspace = self._workspace
        if workspace is None or not self.drops(text):
            return False
        with writing(workspace):
            current = Forgotten.load(workspace)
            found = {digest for _, _, digest in current._found(_composed(text))}
            _rewrite(workspace, lambda stones: [stone for stone in stones if stone.hash not in found])
        return bool(found)

    def _found(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Yield where forgotten texts stand in a text, and their hashes."""
        words = _words(text) if self._texts else []
        lengths = self._lengths
        matches = [
            (at, count, stone)
            for at, word in enumerate(words)
            for count in lengths[word]
            if at + count <= len(words)
            and (stone := self._texts.get(_hash(self._salt, words[at : at + count])))
        ]
        tokens = list(_tokens(text)) if matches else []
        for at, count, stone in matches:
            if not (stone.whole and _goes_on(text, tokens, at, count)):
                yield tokens[at].start, tokens[at + count - 1].end, stone.hash


class _Lengths(dict[str, tuple[int, ...]]):
    """How many words the forgotten texts have that may begin with a word, worked out once for each."""

    def __init__(self, salt: bytes, stones: Iterable[Tombstone]) -> None:
        super().__init__()
        self._salt = salt
        self._by_first: dict[int, set[int]] = {}
        for stone in stones:
            self._by_first.setdefault(stone.first, set()).add(stone.words)

    def __missing__(self, word: str) -> tuple[int, ...]:
        self[word] = tuple(self._by_first.get(_first_byte(self._salt, word), ()))
        return self[word]


def bury(workspace: Workspace, texts: Iterable[str], sessions: Iterable[str] = ()) -> None:
    """Note texts, and all of some sessions, as forgotten; this is durable when it returns."""
    with writing(workspace):
        salt = attempt(Place(SALT_NAME, workspace.private / SALT_NAME), lambda: _salt(workspace))
        new = {stone.hash: stone for stone in _stones_of(salt, texts, sessions)}
        _rewrite(workspace, lambda stones: [*stones, *_without(new, stones)])


def pieces_of(text: str) -> tuple[list[str], bool]:
    """Return what a text is known again by, and whether that has to stand on lines of its own.

    That is the text itself and each of its lines and sentences, as far as they say something. Lines of code
    are the same everywhere, and so are headings: they do not count unless they are all there is.
    """
    entries = entries_of(text)
    telling = [entry for entry in entries if entry.kind != "heading"] or list(entries)
    pieces: dict[str, None] = {}
    for entry in telling:
        for piece in _pieces(entry.text, entry.kind):
            pieces.setdefault(piece)
    long = [piece for piece in pieces if _weight(piece) >= TELLING]
    return (long, False) if long else (list(pieces)[:1], True)


def bare(text: str) -> str:
    """Return an entry or a line without its list marker, its time and the mark of its session.

    Of a fact only its words are left.
    """
    rest = _SESSION_MARK.sub("", text)
    lead = _LEAD.match(rest)
    rest = rest[lead.end() :] if lead else rest
    category = _CATEGORY.match(rest)
    rest = rest[category.end() :] if category else rest
    fact = _AFTER_FACT.search(rest)
    if not (category or fact):
        return rest.strip()
    return (rest[: fact.start()] if fact else rest).strip().removeprefix("~~").removesuffix("~~").strip()


def session_of(path: str) -> str:
    """Return the name of the session whose transcript a file is."""
    return path.rpartition("/")[2].partition(".jsonl")[0]


def _pieces(text: str, kind: Kind) -> Iterator[str]:
    yield bare(text)
    if kind != "code":
        lines = [bare(line) for line in text.split("\n")]
        yield from lines
        for line in lines:
            yield from _BORDER.split(line)


def _weight(piece: str) -> int:
    return weigh(" ".join(_words(_composed(piece))))


def _stones_of(salt: bytes, texts: Iterable[str], sessions: Iterable[str]) -> Iterator[Tombstone]:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    for session in sessions:
        yield Tombstone(_session_hash(salt, session), now, session=True)
    for text in texts:
        pieces, whole = pieces_of(text)
        for piece in pieces:
            words = _words(_composed(piece))
            if words:
                yield Tombstone(_hash(salt, words), now, len(words), _first_byte(salt, words[0]), whole)


def _stones_in(content: bytes) -> Iterator[Tombstone]:
    for line in content.decode("utf-8", "replace").split("\n"):
        try:
            told = json.loads(line)
            yield Tombstone(
                str(told["hash"]),
                str(told["time"]),
                int(told.get("words", 0)),
                int(told.get("first", 0)),
                bool(told.get("whole", False)),
                bool(told.get("session", False)),
            )
        except (ValueError, KeyError, TypeError, AttributeError):
            continue  # a line that somebody changed says nothing; the others still do


def _rewrite(workspace: Workspace, change: Callable[[list[Tombstone]], list[Tombstone]]) -> None:
    """Write the file anew with other tombstones; whoever calls this holds the notes' lock."""
    path = workspace.private / FILE_NAME

    def write() -> None:
        old = atomic.read(path)
        lines = [json.dumps(stone.to_json()) for stone in change(list(_stones_in(old or b"")))]
        new = "".join(f"{line}\n" for line in lines).encode()
        if old is None:
            if not atomic.create(path, new, _PRIVATE):
                raise atomic.Changed
        elif new != old:
            atomic.replace(path, new, expected=old)

    attempt(Place(FILE_NAME, path), write)


def _salt(workspace: Workspace) -> bytes:
    path: Path = workspace.private / SALT_NAME
    salt = atomic.read(path)
    if not salt:
        if salt is not None:
            atomic.remove(path, b"")
        atomic.create(path, secrets.token_hex(32), _PRIVATE)
        salt = atomic.read(path) or b""
    return salt


def _without(new: dict[str, Tombstone], known: list[Tombstone]) -> list[Tombstone]:
    hashes = {stone.hash for stone in known}
    return [stone for stone in new.values() if stone.hash not in hashes]


def _composed(text: str) -> str:
    """Return a text in which letters with accents are one character each."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _words(text: str) -> list[str]:
    """Return the words of a text; in scripts without blanks every character is one."""
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    return [token.word for token in _tokens(text)]


def _tokens(text: str) -> Iterator[_Token]:
    """Yield the words of a text with their places."""
    for run in RUN.finditer(text):
        if is_unspaced(run[0]):
            for at, character in enumerate(run[0], run.start()):
                yield _Token(character, at, at + 1)
        elif word := run[0].strip("_").casefold():
            yield _Token(word, run.start(), run.end())


def _goes_on(text: str, tokens: list[_Token], at: int, count: int) -> bool:
    """Tell whether a line holds more than the words that were found in it."""
    before = text[tokens[at - 1].end : tokens[at].start] if at else "\n"
    last = at + count
    after = text[tokens[last - 1].end : tokens[last].start] if last < len(tokens) else "\n"
    return "\n" not in before or "\n" not in after


def _joined(spans: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Join spans that overlap; they come, and are given, the last of them first."""
    start, end = spans[0]
    for earlier, its_end in spans[1:]:
        if its_end >= start:
            start, end = earlier, max(end, its_end)
        else:
            yield start, end
            start, end = earlier, its_end
    yield start, end


def _closed(line: str) -> str | None:
    """Return a line with its gaps closed; nothing if no word is left in it."""
    if _GAP not in line:
        return line
    parts = line.split(_GAP)
    trimmed = [parts[0], *(part[len((_AFTER.match(part) or [""])[0]) :] for part in parts[1:])]
    rest = _GAPS.sub(" ", _GAP.join(trimmed)).rstrip()
    return rest if RUN.search(rest) else None


def _hash(salt: bytes, words: Sequence[str]) -> str:
    return hashlib.sha256(salt + " ".join(words).encode()).hexdigest()


def _session_hash(salt: bytes, session: str) -> str:
    return hashlib.sha256(salt + b"session\0" + session.encode()).hexdigest()


def _first_byte(salt: bytes, word: str) -> int:
    return hashlib.sha256(salt + b"first\0" + word.encode()).digest()[0]
