"""Print for people and programs: harmless text, JSON, warnings, shortened lists, and progress."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, TextIO

import click

from memlines.types import Problem, Progress

_LINE_BREAK = re.compile(r"[\t\n\u2028\u2029]")
_JSON = "memlines.json"
_MOST_LINES = 20
_REDRAW_SECONDS = 0.05
_GUESS_AFTER_SECONDS = 2.0
_USUAL_COLUMNS = 80
_LABEL = 10
_END = " 100% 999:59"
_SHORTEST_BAR, _LONGEST_BAR = 10, 40


# Text


def harmless(text: str) -> str:
    """Remove what commands a terminal or reverses its text: a note must not be able to do that.

    A control character becomes a space, so that the words beside it do not become one.
    """
    from memlines.text.neutral import CONTROLS, DIRECTION_MARKS  # which takes time to import

    return re.sub(f"[{DIRECTION_MARKS}]", "", re.sub(f"[{CONTROLS}]", " ", text))


def harmless_name(name: str) -> str:
    """Make a name harmless and keep it on one line."""
    return _LINE_BREAK.sub(" ", harmless(name))


def counted(number: int, noun: str) -> str:
    """Format a number of things: `1 file`, `2 files`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def size_in_words(size: float) -> str:
    """Format a number of bytes in the unit that suits it."""
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"


def local_time(moment: datetime) -> str:
    """Format a moment as the clock on the wall shows it, with its distance from UTC."""
    return moment.astimezone().isoformat(sep=" ", timespec="seconds")


# Lines


def is_terminal(stream: TextIO | None) -> bool:
    """Return whether a stream is a terminal; one that was closed before we started is `None`."""
    return stream is not None and stream.isatty()


def print_json(value: Any) -> None:
    """Print a value as JSON, readable on a terminal and compact elsewhere."""
    from memlines.text.neutral import DIRECTION_MARKS  # which takes time to import

    indent = 2 if is_terminal(sys.stdout) else None
    knows_every_letter = "utf" in (getattr(sys.stdout, "encoding", "") or "").lower()
    text = json.dumps(value, ensure_ascii=not knows_every_letter, indent=indent)
    unprintable = f"[\x7f-\x9f{DIRECTION_MARKS}\ud800-\udfff]"
    click.echo(re.sub(unprintable, lambda match: f"\\u{ord(match[0]):04x}", text))


def set_json(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    """Note whether a command was given `--json`."""
    context.meta[_JSON] = value


def wants_json() -> bool:
    """Return whether the command that runs was given `--json`."""
    return bool(click.get_current_context().meta.get(_JSON))


def answer_json(value: Any, code: int = 0) -> None:
    """With `--json`, print the answer and end the command with an exit code; without it, do nothing."""
    if wants_json():
        print_json(value)
        raise click.exceptions.Exit(code)


def print_line(text: str, colour: str | None = None, *, err: bool = False) -> None:
    """Print a text that may come from a note or a name as one harmless line."""
    click.secho(harmless_name(text), fg=colour, err=err)


def print_some(lines: Sequence[str]) -> None:
    """Print the first of some lines, indented, and how many more there are."""
    for line in lines[:_MOST_LINES]:
        print_line(f"  {line}")
    if len(lines) > _MOST_LINES:
        click.echo(f"  and {len(lines) - _MOST_LINES} more (--json lists all)")


def print_problems(**problems: Sequence[Problem]) -> None:
    """List files and what is wrong with them, each kind below its name."""
    for name, files in problems.items():
        if files:
            title = name.replace("_", " ").capitalize()
            click.secho(f"{title}:", fg="red" if name == "failed" else "yellow")
            print_some([f"{problem.path} {problem.reason}" for problem in files])


def warn(*sentences: str) -> None:
    """Print warnings to standard error."""
    for sentence in sentences:
        print_line(f"Warning: {sentence}", "yellow", err=True)


def print_error(sentence: str) -> None:
    """Print an error to standard error."""
    print_line(f"Error: {sentence}", "red", err=True)


# Progress


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """Show progress on a terminal; stay silent elsewhere."""
    if not is_terminal(sys.stderr):
        yield lambda completed, total, label: None
        return
    bar = _Bar(sys.stderr)
    try:
        yield bar.show
    finally:
        bar.finish()


class _Bar:
    """A line for each phase of the work, redrawn as it proceeds; it never fills the last column."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._label = ""
        self._began = self._drawn = 0.0
        self._shown = ""

    def show(self, completed: int, total: int, label: str) -> None:
        now = time.monotonic()
        if label != self._label:
            self.finish()
            self._label, self._began, self._drawn = label, now, 0.0
        if completed != total and now - self._drawn <= _REDRAW_SECONDS:
            return
        self._drawn = now
        share = min(1.0, completed / total) if total else 1.0
        line = bar_line(label, share, now - self._began, _columns(self._stream))
        if line != self._shown:
            self._stream.write(f"\r{line:<{len(self._shown)}}")
            self._stream.flush()
            self._shown = line

    def finish(self) -> None:
        if self._shown:
            self._stream.write("\n")
            self._stream.flush()
        self._label = self._shown = ""


def bar_line(label: str, share: float, seconds: float, columns: int) -> str:
    """Format how far a phase is in fewer characters than a terminal has columns.

    Without room for a bar there is only the share. The time that is left is shown once it can be estimated.
    """
    end = f"{share:5.0%}"
    if 0 < share < 1 and seconds > _GUESS_AFTER_SECONDS:
        minutes, left = divmod(round(seconds / share * (1 - share)), 60)
        end += f" {minutes:>3}:{left:02}"
    name = harmless_name(label)[: max(0, columns - 1 - len(end))]
    room = min(_LONGEST_BAR, columns - 1 - max(_LABEL, len(name)) - len(" []") - len(_END))
    if room < _SHORTEST_BAR:
        return f"{name}{end}"
    done = int(room * share)
    return f"{name:<{_LABEL}} [{'#' * done}{'.' * (room - done)}]{end}"


def _columns(stream: TextIO) -> int:
    """Return how wide a terminal is now."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or _USUAL_COLUMNS
    except (OSError, ValueError):  # something that only says it is a terminal
        return _USUAL_COLUMNS
