"""Read a transcript, all of it or what was added, and cut it into chunks without its secrets."""

from __future__ import annotations

import hashlib
from codecs import BOM_UTF8
from collections.abc import Sequence
from dataclasses import replace

from memlines.errors import PathError, StoreError
from memlines.files import snapshots
from memlines.files.read import decode_lines, mark_at, read_from, read_line
from memlines.files.tombstones import Forgotten
from memlines.index.store.sqlite import foreign
from memlines.index.sync.discovery import SNAPSHOTS
from memlines.settings import Settings
from memlines.text.days import join_days
from memlines.text.redaction import Rules, redact, redact_together, rules_of
from memlines.text.turns import chunk_turns, stretches
from memlines.transcripts.catalogue import format_of
from memlines.types import Chunk, Cut, Document, FoundFile, Problem, Spot, Tail, Transcript, Turn


def read_transcript(file: FoundFile, tail: Tail | None = None) -> Document | Problem | None:
    """Read a transcript, or what follows its tail if all before that is the same; `None` if it is gone."""
    if file.session:
        return _from_database(file)
    read = read_from(file, tail)
    if read is None or isinstance(read, Problem):
        return read
    first_line = tail.line if tail and read.position else 1
    mark = len(BOM_UTF8) if read.content.startswith(BOM_UTF8) else 0  # not a part of the text
    return Document(
        file.path,
        "sessions",
        decode_lines(read.content),
        read.hash,
        read.fingerprint,
        read.settled,
        first_line=first_line,
        position=read.position + mark,
        heading=tail.heading if tail and read.position else "",
        secrets=tail.secrets if tail and read.position else (),
        left_out={first_line + line: size for line, size in read.left_out},
    )


def _from_database(file: FoundFile) -> Document | Problem | None:
    read = format_of(file.path).read_session
    try:
        lines = read(foreign.rows, file.real, file.session) if read else []
    except StoreError as error:
        return Problem(file.path, error.what, failed=True)
    if not lines:
        return None
    text = "\n".join(lines)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return Document(file.path, "sessions", text, digest, file.fingerprint)


def transcript_of(document: Document) -> Transcript:
    """Return what is said in a transcript, in the format of the client that wrote it."""
    if document.path.startswith(SNAPSHOTS):
        return snapshots.transcript_of(document.text)
    return format_of(document.path).parse(document.text, document.first_line)


def cut_transcript(
    document: Document, file: FoundFile, settings: Settings, forgotten: Forgotten
) -> Cut | Problem | None:
    """Cut a transcript into chunks without its secrets; nothing if it has to be read whole for that."""
    transcript = transcript_of(document)
    is_whole = document.first_line == 1
    if is_whole and transcript.broken and not transcript.turns:
        why = f" ({document.warnings[0]})" if document.warnings else ""
        return Problem(document.path, f"is no transcript (no line of it is a message){why}")
    heading = document.heading
    if not heading and transcript.started:
        heading = f"{transcript.started:%Y-%m-%d %H:%M}"
    # Divided before anything is taken out, so that where a stretch begins depends on the file alone.
    parts = list(stretches(transcript.turns))
    kept = [forgotten.turns(document.path, part) for part in parts]
    redacted = _redact_stretches(document, file, kept, rules_of(settings.redaction.rules), forgotten)
    if redacted is None:
        return None
    clean, secret_lines = redacted
    chunking = settings.chunking
    chunks: list[Chunk] = []
    for stretch in clean:
        chunks += chunk_turns(stretch, heading, chunking.tokens, chunking.overlap)
    days = {turn.line: turn.time.date().isoformat() for turn in transcript.turns if turn.time}
    began = heading[:10]
    chunks = [
        replace(chunk, days=join_days([days.get(line, began) for _, line in chunk.turns], began))
        for chunk in chunks
    ]
    last_line = parts[-1][0].line if parts else 0
    return Cut(chunks, _tail(document, file, last_line, heading, secret_lines))


def _redact_stretches(
    document: Document, file: FoundFile, parts: list[Sequence[Turn]], rules: Rules, forgotten: Forgotten
) -> tuple[list[list[Turn]], list[int]] | None:
    """Return stretches without secrets and their copies, and the lines on which a secret came first.

    If the end of a transcript holds a secret that did not come before, a copy of it may be further up, so
    nothing is returned; nor is it if the lines of earlier secrets cannot be read any more.
    """
    try:
        known = _known_secrets(document, file, rules, forgotten)
    except (OSError, PathError):  # the file went, or changed its place, since its end was read
        return None
    redacted = iter(redact_together([turn.text for part in parts for turn in part], rules, known))
    lines_before = {spot.line for spot in document.secrets}
    secret_lines = [spot.line for spot in document.secrets if spot.line < document.first_line]
    clean: list[list[Turn]] = []
    for part in parts:
        clean.append([])
        for turn in part:
            one = next(redacted)
            clean[-1].append(replace(turn, text=one.text))
            if one.values.keys() <= known.keys():
                continue
            if document.first_line > 1 and turn.line not in lines_before:
                return None
            known |= one.values
            secret_lines.append(turn.line)
    return clean, secret_lines


def _known_secrets(document: Document, file: FoundFile, rules: Rules, forgotten: Forgotten) -> dict[str, str]:
    """Return the secrets that came before the end of a transcript, read from their lines."""
    known: dict[str, str] = {}
    for spot in document.secrets:
        if spot.line < document.first_line:
            line = replace(document, text=read_line(file, spot.position), first_line=spot.line)
            for turn in forgotten.turns(document.path, transcript_of(line).turns):
                for value, kind in redact(turn.text, rules).values.items():
                    known.setdefault(value, kind)
    return known


def _tail(
    document: Document, file: FoundFile, last_line: int, heading: str, secret_lines: Sequence[int]
) -> Tail | None:
    """Return where the last stretch begins. It does not depend on what is redacted or forgotten."""
    if not last_line or file.session or document.path.startswith(SNAPSHOTS):
        return None
    wanted = {last_line, *secret_lines}
    positions = {spot.line: spot.position for spot in document.secrets}
    position = document.position
    for number, line in enumerate(document.text.split("\n"), document.first_line):
        if number in wanted:
            positions[number] = position
        size = document.left_out.get(number)
        position += (len(line.encode("utf-8", "surrogateescape")) if size is None else size) + 1
    mark = mark_at(file, positions[last_line])
    secrets = tuple(Spot(line, positions[line]) for line in dict.fromkeys(secret_lines))
    return Tail(last_line, positions[last_line], mark, heading, secrets) if mark else None
