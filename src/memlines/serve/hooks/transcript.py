"""Read the end of a client's transcript, which may be large and may be written to meanwhile."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from memlines.transcripts import claude_code, codex
from memlines.types import Transcript, Turn

PARSERS: Mapping[str, Callable[[str], Transcript]] = {
    "claude-code": claude_code.parse,
    "codex": codex.parse,
}
"""How the transcripts of each client are read."""

MOST_BYTES = 16 * 1024 * 1024
_FIRST_LOOK = 256 * 1024
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def last_turns(file: Path, client: str, count: int | None = None) -> tuple[Turn, ...]:
    """Return at least so many of the last turns of a conversation, or all of them; at most 16 MiB are read.

    What is not there, or is no file, holds none.
    """
    try:
        handle = os.open(file, _FLAGS)
    except OSError:
        return ()
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            return ()
        size = min(found.st_size, MOST_BYTES)
        look = size if count is None else min(size, _FIRST_LOOK)
        while True:
            turns = _turns(handle, found.st_size - look, look, client)
            if look >= size or (count is not None and len(turns) >= count):
                return turns
            look = min(size, look * 8)
    finally:
        os.close(handle)


def _turns(handle: int, begin: int, length: int, client: str) -> tuple[Turn, ...]:
    os.lseek(handle, begin, os.SEEK_SET)
    content = b""
    while len(content) < length and (piece := os.read(handle, length - len(content))):
        content += piece
    if begin:  # most likely in the middle of a line
        content = content[content.find(b"\n") + 1 :]
    return PARSERS[client](content.decode("utf-8", "surrogateescape")).turns


def with_last_answer(turns: tuple[Turn, ...], answer: object) -> tuple[Turn, ...]:
    """Return turns that end with an answer; the client may not have written it to its transcript yet."""
    if not isinstance(answer, str) or not answer.strip():
        return turns
    if turns and turns[-1].role == "assistant" and turns[-1].text.strip() == answer.strip():
        return turns
    if turns and turns[-1].role == "assistant" and answer.strip().endswith(turns[-1].text.strip()):
        return (*turns[:-1], replace(turns[-1], text=answer))
    return (*turns, Turn("assistant", answer, turns[-1].line + 1 if turns else 1))
