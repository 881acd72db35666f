"""What the commands share: options, output and progress."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import click

from memlines.errors import UsageError
from memlines.paths import AGENT_VARIABLE, check_agent, workspace_above
from memlines.settings.workspace import FoundWorkspace, current_folder, find_workspace
from memlines.text.neutral import CONTROLS, DIRECTION_MARKS
from memlines.types import Problem, Progress

if TYPE_CHECKING:
    from memlines.memory.arguments import Argument

Function = TypeVar("Function", bound=Callable[..., Any])

_CONTROL = re.compile(f"[{CONTROLS}]")
_DIRECTION = re.compile(f"[{DIRECTION_MARKS}]")
_LINE_BREAK = re.compile(r"[\t\n\u2028\u2029]")
_UNPRINTABLE = re.compile(f"[\x7f-\x9f{DIRECTION_MARKS}\ud800-\udfff]")
_MOST_PROBLEMS = 20
_MOST_INPUT = 1_000_000
"""Bytes that are read of standard input; far more than a text may have."""
_REDRAW_SECONDS = 0.05
_GUESS_AFTER_SECONDS = 2.0
_USUAL_COLUMNS = 80
_LABEL = 10
_END = " 100% 999:59"
_SHORTEST_BAR, _LONGEST_BAR = 10, 40


class _Folder(click.Path):
    """A folder's name; an empty one, such as of a variable that is not set, does not mean this folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            raise UsageError("the name of the workspace is empty", todo="Name a folder, or . for this one")
        return super().convert(value, param, ctx)


FOLDER = _Folder(path_type=Path, readable=False)
"""The type of an argument that names a folder; what may not be read is refused in our own words."""


def folder_option(function: Function) -> Function:
    """Add `--workspace` alone, for commands that are the same for every agent."""
    return click.option(
        "-w",
        "--workspace",
        type=FOLDER,
        default=None,
        help="The folder with the notes. [default: MEMLINES_WORKSPACE, the nearest one above with MEMORY.md,"
        " the setting workspace, else this one]",
    )(function)


def agent_option(function: Function) -> Function:
    """Add `--agent`, which says for one command what the variable of the setting says for all."""
    return click.option(
        "--agent",
        metavar="NAME",
        expose_value=False,
        callback=_use_agent,
        help="The agent whose settings, sessions and index are used. [default: the setting agent]",
    )(function)


def _use_agent(context: click.Context, parameter: click.Parameter, name: str | None) -> None:
    if name is None:
        return
    check_agent(name)
    before = os.environ.get(AGENT_VARIABLE)

    def restore() -> None:
        if before is None:
            os.environ.pop(AGENT_VARIABLE, None)
        else:
            os.environ[AGENT_VARIABLE] = before

    context.call_on_close(restore)
    os.environ[AGENT_VARIABLE] = name  # so that what this command starts serves the same agent


def workspace_option(function: Function) -> Function:
    """Add `--workspace` and `--agent`."""
    return folder_option(agent_option(function))


def argument_option(argument: Argument, *names: str, **more: Any) -> Callable[[Function], Function]:
    """Return an option for an argument of an operation, with its type, choices, limits and help."""

    def refuse_wrong(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
        from memlines.memory.arguments import check

        option = parameter.opts[-1]
        check({option: argument}, **{option: value})
        return value

    if argument.kind == "bool":
        more["is_flag"] = True
    else:
        kinds = {"int": click.INT, "number": click.FLOAT}
        more["type"] = click.Choice(argument.choices) if argument.choices else kinds.get(argument.kind)
    return click.option(
        *names, callback=refuse_wrong, multiple=argument.kind == "list", **{"help": argument.help, **more}
    )


def search_options(function: Function) -> Function:
    """Add what every search takes: how many hits, how good, by what they are found, and how much of each."""
    from memlines.memory.arguments import SEARCH

    most = argument_option(
        SEARCH["max_results"], "-n", "--max-results", help="How many hits at most (1 to 1000)."
    )
    least = argument_option(
        SEARCH["min_score"], "--min-score", help="Show no hit that scores lower (0 to 1)."
    )
    mode = argument_option(SEARCH["mode"], "--mode", default="hybrid", show_default=True)
    full = click.option("--full", is_flag=True, help="Show all of the chunk around each passage.")
    return most(least(mode(full(function))))


def allow_secret_option(function: Function) -> Function:
    """Add `--allow-secret`."""
    return click.option("--allow-secret", is_flag=True, help="Write it even if it holds a secret.")(function)


def json_option(function: Function) -> Function:
    """Add `--json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON with stable field names.")(
        function
    )


def chosen_workspace(named: Path | None) -> FoundWorkspace:
    """Return the folder that was named or is meant if none was, and what says so."""
    return find_workspace() if named is None else FoundWorkspace(named, "--workspace")


def nearest_workspace(named: Path | None) -> Path:
    """Return the folder that was named, or the one that is meant if none was."""
    return chosen_workspace(named).folder


def nearest_project(named: Path | None) -> Path:
    """Return the folder that was named, or the nearest one from here upwards that is a workspace.

    For what is done to a project itself, wherever its user keeps notes.
    """
    here = named or current_folder()
    return named or workspace_above(here) or here


def print_json(value: Any) -> None:
    """Print a value as JSON, readable on a terminal and compact elsewhere."""
    indent = 2 if is_terminal(sys.stdout) else None
    knows_every_letter = "utf" in (getattr(sys.stdout, "encoding", "") or "").lower()
    text = json.dumps(value, ensure_ascii=not knows_every_letter, indent=indent)
    click.echo(_UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text))


def is_terminal(stream: TextIO | None) -> bool:
    """Tell whether somebody watches a stream; one that was closed before we started is `None`."""
    return stream is not None and stream.isatty()


def standard_input(purpose: str, example: str) -> str:
    """Return the text that was piped in, or say what to give instead: a text to do something with."""
    if sys.stdin is None or is_terminal(sys.stdin):
        raise UsageError(f"there is no text to {purpose}", todo=f"Give it as words, {example}, or pipe it in")
    content = sys.stdin.buffer.read(_MOST_INPUT + 1)
    if len(content) > _MOST_INPUT:
        raise UsageError(f"there is too much text to {purpose}", todo=f"Give what matters in it to {purpose}")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError("what came from standard input is not UTF-8 text", todo="Convert it first") from None


def harmless(text: str) -> str:
    """Take out what commands a terminal or turns its text around: a note must not be able to do that.

    A space stands in for a control character, so that the words beside it do not become one.
    """
    return _DIRECTION.sub("", _CONTROL.sub(" ", text))


def harmless_name(name: str) -> str:
    """Make a name harmless and keep it on one line."""
    return _LINE_BREAK.sub(" ", harmless(name))


def counted(number: int, noun: str) -> str:
    """Write a number of things: `1 file`, `2 files`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def local_time(moment: datetime) -> str:
    """Write a moment as the clock on the wall shows it, with its distance from UTC."""
    return moment.astimezone().isoformat(sep=" ", timespec="seconds")


def warn(sentence: str) -> None:
    """Print a warning beside the output."""
    click.secho(f"Warning: {harmless_name(sentence)}", fg="yellow", err=True)


def print_problems(title: str, problems: tuple[Problem, ...], colour: str) -> None:
    """List files and why they are not in the index."""
    if not problems:
        return
    click.secho(f"{title}:", fg=colour)
    for problem in problems[:_MOST_PROBLEMS]:
        click.echo(f"  {harmless_name(problem.path)} {harmless_name(problem.reason)}")
    if len(problems) > _MOST_PROBLEMS:
        click.echo(f"  and {len(problems) - _MOST_PROBLEMS} more (--json lists all)")


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """Give a progress callable that draws a bar on a terminal and is silent elsewhere."""
    if not is_terminal(sys.stderr):
        yield lambda completed, total, label: None
        return
    with _Bar(sys.stderr) as bar:
        yield bar.show


class _Bar:
    """A line for each phase of the work, drawn again as that goes on; it never fills the last column."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._label = ""
        self._began = self._drawn = 0.0
        self._shown = ""

    def __enter__(self) -> _Bar:
        return self

    def __exit__(self, *_: object) -> None:
        self._finish()

    def show(self, completed: int, total: int, label: str) -> None:
        now = time.monotonic()
        if label != self._label:
            self._finish()
            self._label, self._began, self._drawn = label, now, 0.0
        if completed == total or now - self._drawn > _REDRAW_SECONDS:
            share = min(1.0, completed / total) if total else 1.0
            self._draw(bar_line(label, share, now - self._began, _columns(self._stream)))
            self._drawn = now

    def _draw(self, line: str) -> None:
        if line != self._shown:
            self._stream.write(f"\r{line:<{len(self._shown)}}")
            self._stream.flush()
            self._shown = line

    def _finish(self) -> None:
        if self._shown:
            self._stream.write("\n")
            self._stream.flush()
        self._label = self._shown = ""


def bar_line(label: str, share: float, seconds: float, columns: int) -> str:
    """Return how far a phase is in fewer characters than a terminal has columns.

    Where there is no room for a bar, the share stands alone. How long it will still take is told once that
    can be guessed.
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
