"""The plain values that flow through the layers, all of them frozen.

A file becomes a `Document`, a document (for a transcript, its `Turn`s) becomes `Chunk`s, a query turns
chunks into `Hit`s. Nothing in here does work; a value knows at most how it is written down.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from datetime import date, datetime
from typing import Any, Literal, NamedTuple

from memlines.records import dataclass

Source = Literal["memory", "sessions"]
"""Where a chunk comes from: notes, or conversations."""
Mode = Literal["hybrid", "words", "vectors"]
"""What a search goes by: words, vectors or both."""
Role = Literal["user", "assistant"]
Band = Literal["strong", "likely", "weak"]
"""How sure a hit is."""
Scope = Literal["project", "personal"]
"""Whose memory it is: that of the folder you work in, or your own, which goes with you everywhere."""
ClientName = Literal["opencode", "claude-code", "codex", "openclaw"]
"""The registry of clients: `claude-code` is in `clients/claude_code.py` and `transcripts/claude_code.py`."""

Progress = Callable[[int, int, str], None]
"""Called as `progress(completed, total, label)` during long work."""


class Fingerprint(NamedTuple):
    """What the file system says about a file, cheap enough to ask at every search.

    This, `FoundFile` and `IndexedFile` are tuples because thousands of them are made at every look for
    changes.
    """

    size: int
    mtime_ns: int
    inode: int


class FoundFile(NamedTuple):
    """A file that discovery found: its name in the index and where it really is."""

    path: str
    real: str
    source: Source
    fingerprint: Fingerprint
    session: str = ""
    """The session in a database, if that is what `real` is."""
    root: str = ""
    """The folder below which no link is followed to it; empty if that is its own folder."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A path that is not in the index, and the reason in words.

    `failed` means that it should have been read; others are left out on purpose (binary, too large, a link).
    """

    path: str
    reason: str
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Discovery:
    """Everything one walk over the workspace saw.

    `blind` are folders that could not be listed: nothing that the index holds below them counts as removed.
    `unread` is how many of the problems are files and folders that cannot be read, unlike links.
    """

    files: tuple[FoundFile, ...]
    problems: tuple[Problem, ...] = ()
    blind: tuple[str, ...] = ()
    unread: int = 0


class Spot(NamedTuple):
    """Where a line of a transcript begins."""

    line: int
    position: int
    """In bytes."""


LONGEST_LINE = 8 * 1024 * 1024
"""What a line of a transcript may have, in bytes; longer ones are pictures and output, not words."""


@dataclass(frozen=True, slots=True)
class Document:
    """The text of one file, ready to be cut into chunks.

    `settled` says whether the fingerprint can be trusted to change with the content.
    """

    path: str
    source: Source
    text: str
    hash: str
    fingerprint: Fingerprint
    settled: bool = True
    first_line: int = 1
    position: int = 0
    """Where the text begins, as a line and in bytes, if only the end of a transcript was read."""
    heading: str = ""
    """The headings above its chunks, if they are known from what was read before."""
    secrets: tuple[Spot, ...] = ()
    """The lines on which secrets first appear, as far as it was read before."""
    left_out: Mapping[int, int] = field(default_factory=dict)
    """The lines above `LONGEST_LINE` that were not read, and how many bytes each has; a sign replaces it."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What should be said about how it was read."""
        limit = f"a line may have {LONGEST_LINE / 1e6:.0f} MB"
        return tuple(
            f"line {line} of {self.path!r} was left out: it has {size / 1e6:.0f} MB, and {limit}"
            for line, size in self.left_out.items()
        )


@dataclass(frozen=True, slots=True)
class Turn:
    """What one side said at once in a conversation, and the line of the transcript that holds it."""

    role: Role
    text: str
    line: int
    time: datetime | None = None
    tools: tuple[str, ...] = ()
    """The names of the tools that it called."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """A conversation: what was said, when it began, and how many lines say nothing.

    `skipped` counts the lines that hold neither a turn nor a header; `broken` those among them that are
    no record at all.
    """

    turns: tuple[Turn, ...]
    started: datetime | None = None
    skipped: int = 0
    broken: int = 0


class Tail(NamedTuple):
    """Where the last stretch of a transcript begins: everything before it stays as it is while it grows."""

    line: int
    position: int
    """In bytes."""
    mark: str
    """Shows whether what comes before is still the same."""
    heading: str
    secrets: tuple[Spot, ...] = ()
    """The lines on which secrets first appear: their values are read there again, and never kept."""


Turns = tuple[tuple[int, int], ...]
"""The turns in a chunk of a conversation: the line of its text, counted from 0, that each begins on, and the
line of the transcript that it is on."""

Days = tuple[str, ...]
"""The days of the entries or turns in a chunk, as `2026-11-16`, empty where none is known: one for each of
them, one for all, or none if the path of its daily log or the heading of its session says it."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A run of whole lines (or a piece of one long line) that is indexed as a unit."""

    start_line: int
    end_line: int
    text: str
    hash: str
    heading: str = ""
    turns: Turns = ()
    days: Days = ()

    @property
    def embedded_text(self) -> str:
        """The text that is turned into a vector."""
        return _under_heading(self.heading, self.text)


@dataclass(frozen=True, slots=True)
class Cut:
    """The chunks of a document, and where to read it on if it is a transcript that may grow."""

    chunks: list[Chunk]
    tail: Tail | None = None


def _under_heading(heading: str, text: str) -> str:
    """Put the headings above a chunk before it, as context for its vector."""
    return f"{heading}\n{text}" if heading else text


@dataclass(frozen=True, slots=True)
class Space:
    """A vector space: vectors from two different ones can never be compared."""

    provider: str
    model: str
    key: str
    """What the vectors depend on besides the model."""

    def __str__(self) -> str:
        return f"{self.provider} ({self.model})"


class IndexedFile(NamedTuple):
    """What the index remembers of a file, to see whether it changed."""

    path: str
    source: Source
    hash: str
    fingerprint: Fingerprint
    settled: bool = True
    problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class IndexedChunk:
    """A chunk as the index holds it."""

    number: int
    path: str
    source: Source
    start_line: int
    end_line: int
    text: str
    heading: str
    mtime_ns: int
    language: str = ""
    turns: Turns = ()
    days: Days = ()

    @property
    def embedded_text(self) -> str:
        """The text that was turned into a vector."""
        return _under_heading(self.heading, self.text)


@dataclass(frozen=True, slots=True)
class Why:
    """The reasons for a hit's score."""

    words: tuple[str, ...] = ()
    """The words of the query that it holds; those with a corrected spelling as the notes spell them."""
    lexical: float | None = None
    """The score of the words."""
    vector: float | None = None
    """The score of the vectors; nothing if none were compared."""
    fusion: str = ""
    """How the scores became one."""
    by_words: float | None = None
    """What the score would be by words alone, where scores are probabilities."""
    days: float | None = None
    """How well its days fit those that the query names, if it names any."""
    reranked: float | None = None
    """What the reranker gave it, on a scale of its own; it counts for the order of the hits only."""


@dataclass(frozen=True, slots=True)
class Hit:
    """The lines that answer a query, with their score and the reasons for it."""

    path: str
    start_line: int
    end_line: int
    score: float
    """How likely just these lines answer, from 0 to 1."""
    snippet: str
    """The lines from `start_line` to `end_line`; a very long one in part."""
    source: Source
    heading: str = ""
    why: Why = field(default_factory=Why)
    """The reasons for the score."""
    chunk_start_line: int = 0
    """The first line of the chunk that was ranked, which is around the lines."""
    chunk_end_line: int = 0
    """Its last line."""
    band: Band = "weak"
    """How sure it is that just these lines answer."""
    scope: Scope = "project"
    """Whose memory holds the lines."""

    @property
    def citation(self) -> str:
        """Where the hit is, as `path#L3` or `path#L3-L9`."""
        return cite(self.path, self.start_line, self.end_line)


_CITATION = re.compile(r"(?P<path>.+)#L(?P<first>\d{1,9})(?:-L?(?P<last>\d{1,9}))?", re.DOTALL)


Lines = tuple[str, int, int]
"""The path of a file, and the first and the last of some of its lines."""

LOG_CHANGES = 10
"""How many changes of a note are shown, unless a caller says otherwise."""

CONTEXT_TOKENS = 800
"""How long what the memory holds about a message is at most, unless a caller says otherwise."""

SESSION_TOKENS = 3_000
"""The same for what a session starts with, of which the main note is the largest part."""


def cited(citation: str) -> Lines | None:
    """Return the path and the lines of a citation, or None if it is not one."""
    found = _CITATION.fullmatch(citation)
    return (found["path"], int(found["first"]), int(found["last"] or found["first"])) if found else None


_PAST = re.compile(r"(?P<path>.+\.md)@(?P<day>\d{4}-\d{2}-\d{2})", re.DOTALL)


def cited_day(path: str) -> tuple[str, str] | None:
    """Return the note and the day in `memory/x.md@2026-03-01`, or None if a path names no day.

    The name of a note ends with `.md`, so none can be taken for this.
    """
    found = _PAST.fullmatch(path)
    return (found["path"], found["day"]) if found else None


def cite(path: str, start_line: int, end_line: int) -> str:
    """Write lines of a file the way people and agents point at them."""
    return f"{path}#L{start_line}" if start_line == end_line else f"{path}#L{start_line}-L{end_line}"


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The answer to a query: its hits, best first, and how they were found."""

    hits: tuple[Hit, ...]
    """The hits, best first. The result is itself a sequence of them."""
    provider: str
    model: str
    mode: Mode
    """Whether it was searched by words, by vectors or both."""
    pending: int
    warnings: tuple[str, ...] = ()
    likelihood: float = 0.0
    """How likely the notes answer at all, whichever of the hits does."""
    confident: bool = False
    """Whether that reaches `query.min_score` or a hit is likely; if not, the hits are only the nearest."""
    nearest: float | None = None
    """The best score of what was left out, if nothing is shown."""
    chunks: int = 0
    """How many chunks were searched; `pending` of them have no vector yet."""
    unindexed: int = 0
    """How many files were not searched, because they are not indexed yet."""
    fallback: Mapping[str, Any] | None = None
    """Which provider was wanted and why another one, or none, answered; nothing if all is as wanted."""
    corrections: Mapping[str, str] = field(default_factory=dict)
    """Words and quoted phrases that no note holds, and what was searched instead."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Names in the query, and others for the same that were searched too."""
    missing_sources: tuple[Source, ...] = ()
    """Sources that were asked for by name and of which nothing is indexed; `warnings` says what to do."""
    as_of: date | None = None
    """The day at whose end the notes were as they are quoted; nothing if they are as they are now."""

    @property
    def unfinished(self) -> str:
        """What is not indexed yet, in a sentence; empty if all is."""
        files = "1 file is" if self.unindexed == 1 else f"{self.unindexed:,} files are"
        left = [f"{files} not indexed yet"] if self.unindexed else []
        if self.pending:
            others = "searched by words" if self.mode == "words" else "the others are found by words"
            left.append(f"{self.chunks - self.pending:,} of {self.chunks:,} passages have vectors; {others}")
        todo = "The next search goes on; 'memlines sync' finishes it."
        return f"Still indexing: {'; '.join(left)}. {todo}" if left else ""

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def __getitem__(self, place: int) -> Hit:
        return self.hits[place]


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines of a note, as `Memory.read` returns them."""

    path: str
    text: str
    start: int
    """The first line of the text, counted from 1."""
    lines: int
    """How many lines it has."""
    found: bool = True
    """Whether there is such a note."""
    truncated: bool = False
    """Whether there is more to read."""
    next_start: int | None = None
    """The line to go on with, if there is more."""
    next_column: int | None = None
    """The character of that line to go on with, if it was cut inside; the line is then the same."""
    total_lines: int = 0
    """How many lines the note has."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a sync did."""

    indexed: tuple[str, ...] = ()
    """The files that were new or changed."""
    unchanged: int = 0
    """How many files were as before."""
    removed: tuple[str, ...] = ()
    """The files that are gone."""
    pending: int = 0
    skipped: tuple[Problem, ...] = ()
    failed: tuple[Problem, ...] = ()
    rebuilt: str = ""
    """Why the whole index was rebuilt; empty if it was not."""
    warnings: tuple[str, ...] = ()
    held_back: int = 0
    """How many files look deleted and stay in the index, because so many are gone at once."""
    switched: str = ""
    """From which model's vectors to which the answers changed, if they did."""
    unindexed: int = 0
    """How many files were not looked at, because the time was over."""
    vectors_made: int = 0
    """How many chunks got a vector that was made for them."""
    vectors_cached: int = 0
    """How many chunks got a vector that was known."""

    @property
    def changed(self) -> bool:
        """Whether the index is not what it was before."""
        return bool(self.indexed or self.removed or self.rebuilt or self.switched)
