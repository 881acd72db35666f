"""Read a transcript, as a whole or on from where it ended, and cut it into chunks without its secrets."""

from __future__ import annotations

import hashlib
from codecs import BOM_UTF8
from collections.abc import Sequence
from dataclasses import replace

from recollect.errors import StoreError
from recollect.files import snapshots
from recollect.files.read import decode_lines, mark_at, read_from
from recollect.files.tombstones import Forgotten
from recollect.redaction import redact, rules_of
from recollect.settings import Settings
from recollect.sources.hosts import Found, host_of, read_session
from recollect.store.sqlite import foreign
from recollect.sync.finding import SNAPSHOTS
from recollect.text.turns import chunk_turns, stretches
from recollect.types import Chunk, Cut, Document, FoundFile, Problem, Tail, Transcript, Turn


def read_transcript(file: FoundFile, tail: Tail | None = None) -> Document | Problem | None:
    """Read a transcript; `None` if it is gone.

    With a tail, only what follows it is read, if everything before it is still the same.
    """
    if file.session:
        return _from_database(file)
    read = read_from(file, tail)
    if read is None or isinstance(read, Problem):
        return read
    mark = len(BOM_UTF8) if read.content.startswith(BOM_UTF8) else 0  # which is no part of the text
    return Document(
        file.path,
        "sessions",
        decode_lines(read.content),
        read.hash,
        read.fingerprint,
        read.settled,
        first_line=tail.line if tail and read.position else 1,
        position=read.position + mark,
        heading=tail.heading if tail and read.position else "",
    )


def _from_database(file: FoundFile) -> Document | Problem | None:
    host = host_of(file.path).name
    try:
        lines = read_session(Found(file.path, file.real, host, file.session), foreign.rows)
    except StoreError as error:
        return Problem(file.path, error.what, failed=True)
    if not lines:
        return None
    text = "\n".join(lines)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return Document(file.path, "sessions", text, digest, file.fingerprint)


def transcript_of(document: Document) -> Transcript:
    """Return what is said in a transcript, in the format of whoever wrote it."""
    if document.path.startswith(SNAPSHOTS):
        return snapshots.transcript_of(document.text)
    return host_of(document.path).parse(document.text, document.first_line)


def said_in(document: Document, settings: Settings, forgotten: Forgotten) -> tuple[Turn, ...]:
    """Return the turns of a transcript without secrets, and without what was forgotten."""
    return _cleaned(document.path, transcript_of(document).turns, settings, forgotten)


def _cleaned(path: str, turns: Sequence[Turn], settings: Settings, forgotten: Forgotten) -> tuple[Turn, ...]:
    rules = rules_of(settings.redaction.rules)
    kept = forgotten.turns(path, turns)
    return tuple(replace(turn, text=redact(turn.text, rules).text) for turn in kept)


def cut_transcript(
    document: Document, file: FoundFile, settings: Settings, forgotten: Forgotten
) -> Cut | Problem:
    """Cut a transcript into chunks."""
    transcript = transcript_of(document)
    is_whole = document.first_line == 1
    if is_whole and transcript.broken and not transcript.turns:
        return Problem(document.path, "is no transcript (no line of it is a message)")
    heading = document.heading
    if not heading and transcript.started:
        heading = f"{transcript.started:%Y-%m-%d %H:%M}"
    chunking = settings.chunking
    chunks: list[Chunk] = []
    # Divided before anything is taken out, so that where a stretch begins depends on the file alone.
    for stretch in stretches(transcript.turns):
        turns = _cleaned(document.path, stretch, settings, forgotten)
        chunks += chunk_turns(turns, heading, chunking.tokens, chunking.overlap)
    return Cut(chunks, _tail(document, file, transcript, heading))


def _tail(document: Document, file: FoundFile, transcript: Transcript, heading: str) -> Tail | None:
    """Return where the last stretch begins. It does not depend on what is redacted or forgotten."""
    last = [stretch[0].line for stretch in stretches(transcript.turns)][-1:]
    if not last or file.session or document.path.startswith(SNAPSHOTS):
        return None
    before = document.text.split("\n")[: last[0] - document.first_line]
    position = document.position + sum(len(part.encode("utf-8", "surrogateescape")) + 1 for part in before)
    mark = mark_at(file.real, position)
    return Tail(last[0], position, mark, heading) if mark else None
