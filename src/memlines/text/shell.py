"""Write words as a line for the shell of this system, and read such a line.

On Windows that is cmd.exe: only double quotes hold words together, and a backslash separates folders. Nothing
keeps it from replacing a variable between percent signs.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence

IS_WINDOWS = os.name == "nt"

_PLAIN_ON_WINDOWS = re.compile(r"[\w:./\\+-]+")
_BEFORE_QUOTE = re.compile(r'(\\*)("|\Z)')
_COMMANDS_OF_CMD = re.compile(r'[\x00-\x1f&|<>^%!"]')


def quote_word(word: str, *, windows: bool = IS_WINDOWS) -> str:
    """Return a word as a line for the shell has it."""
    if not windows:
        return shlex.quote(word)
    if _PLAIN_ON_WINDOWS.fullmatch(word):
        return word
    # A program takes backslashes as they are, but for those before a quote, and two quotes as one. To cmd.exe
    # two are an end and a beginning, so it reads nothing of the word as a command.
    escaped = _BEFORE_QUOTE.sub(lambda found: found[1] * 2 + found[2] * 2, word)
    return f'"{escaped}"'


def join_words(words: Sequence[str], *, windows: bool = IS_WINDOWS) -> str:
    """Return a line for the shell."""
    return " ".join(quote_word(word, windows=windows) for word in words)


def split_line(line: str, *, windows: bool = IS_WINDOWS) -> list[str]:
    """Return the words of a line; raise `ValueError` if its quotes are not closed."""
    if not windows:
        return shlex.split(line)
    return [word.strip('"') for word in shlex.split(line, posix=False)]


def is_batch_file(program: str, *, windows: bool = IS_WINDOWS) -> bool:
    """Return whether cmd.exe runs a program: it is a script such as npm makes for each of its programs."""
    return windows and program.lower().endswith((".bat", ".cmd"))


def commands_cmd(word: str) -> bool:
    """Return whether cmd.exe might run something else when a batch file gets a word."""
    return bool(_COMMANDS_OF_CMD.search(word))
