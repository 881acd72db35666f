"""What commands share: options, the folder they work on, and text from standard input."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import click

from memlines.cli.output import is_terminal, set_json
from memlines.errors import UsageError, WorkspaceError
from memlines.paths import AGENT_VARIABLE, Workspace, check_agent, personal_folder
from memlines.settings import load
from memlines.settings.workspace import FoundWorkspace, current_folder, find_workspace
from memlines.types import Mode
from memlines.worktrees import is_below, memory_of, repository_above

if TYPE_CHECKING:
    from memlines.memory.arguments import Argument
    from memlines.memory.memory import Memory

Function = TypeVar("Function", bound=Callable[..., Any])

_PERSONAL = "memlines.personal"
"""Where the context of a command keeps whether the personal memory is meant."""

_MOST_INPUT = 1_000_000
"""How many bytes of standard input are read; far more than a text may have."""


class _Folder(click.Path):
    """The name of a folder; an empty one, as from a variable that is not set, is not the current folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            raise UsageError("the name of the workspace is empty", todo="Name a folder, or . for this one")
        return super().convert(value, param, ctx)


FOLDER = _Folder(path_type=Path, readable=False)
"""The type of an argument that names a folder; an unreadable one is refused with our own message."""

QUESTIONS = click.IntRange(5, 500)
USUAL_QUESTIONS = 60
"""How many questions about the notes may be asked, and how many are if no number is given."""

FILE = click.Path(path_type=Path)
"""The type of an argument that names a file."""


# Options


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


folder_option = click.option(
    "-w",
    "--workspace",
    type=FOLDER,
    help="The folder with your notes. [default: MEMLINES_WORKSPACE, the nearest folder above with MEMORY.md"
    " or .memory, the setting workspace, else the current folder]",
)
agent_option = click.option(
    "--agent",
    metavar="NAME",
    expose_value=False,
    callback=_use_agent,
    help="Use the settings, sessions and index of this agent. [default: the setting agent]",
)


def _use_personal(context: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    context.meta[_PERSONAL] = wanted


_personal_option = click.option(
    "--personal",
    is_flag=True,
    expose_value=False,
    callback=_use_personal,
    help="Use your personal memory, instead of the project's.",
)
json_option = click.option(
    "--json",
    is_flag=True,
    expose_value=False,
    callback=set_json,
    help="Print JSON with stable field names.",
)
dry_run_option = click.option("--dry-run", is_flag=True, help="Show what would happen, and change nothing.")
allow_secret_option = click.option("--allow-secret", is_flag=True, help="Write it even if it holds a secret.")


def workspace_option(function: Function) -> Function:
    """Add `--workspace` and `--agent`."""
    return folder_option(agent_option(function))


def common_options(function: Function) -> Function:
    """Add `--workspace`, `--personal`, `--agent` and `--json`."""
    return folder_option(_personal_option(agent_option(json_option(function))))


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
    """Add the options of every search: how many hits, how good, how they are found, how much of each."""
    from memlines.memory.arguments import SEARCH

    most = argument_option(
        SEARCH["max_results"], "-n", "--max-results", help="Show at most this many hits (1 to 1000)."
    )
    least = argument_option(SEARCH["min_score"], "--min-score", help="Leave out lower scores (0 to 1).")
    mode = argument_option(SEARCH["mode"], "--mode", default="hybrid", show_default=True)
    full = click.option("--full", is_flag=True, help="Show the whole chunk around each passage.")
    return most(least(mode(full(function))))


def trial_options(function: Function) -> Function:
    """Add the options of the commands that measure a change of settings before it is made."""
    options = (
        click.option("--apply", is_flag=True, help="Make the change if it is not worse."),
        click.option("--force", is_flag=True, help="With --apply, make it even if it is worse."),
        click.option(
            "--project", "in_project", is_flag=True, help="With --apply, change the project's settings file."
        ),
        click.option("--yes", is_flag=True, help="Send text to a service without asking for confirmation."),
        click.option("--mode", type=click.Choice(get_args(Mode)), help="Search in this mode only."),
        click.option(
            "--questions",
            type=QUESTIONS,
            default=USUAL_QUESTIONS,
            show_default=True,
            help="Ask so many questions.",
        ),
    )
    for option in reversed(options):
        function = option(function)
    return function


# Where


def choose_workspace(named: Path | None, *, begin: bool = False) -> FoundWorkspace:
    """Return the folder that was named, or the one to use without a name, and what decided that.

    With `begin`, a personal memory that does not exist yet is made.
    """
    if not click.get_current_context().meta.get(_PERSONAL):
        return find_workspace() if named is None else FoundWorkspace(named, "--workspace")
    folder = personal_folder(load().settings.personal_folder)
    if named not in (None, folder):
        raise UsageError("--personal and --workspace name two memories", todo="Leave one of them out")
    if not os.path.isdir(folder):  # noqa: PTH112 (pathlib raises where a folder above is closed)
        if not begin:
            raise WorkspaceError(
                f"there is no personal memory in {str(folder)!r} yet",
                todo="Begin one: memlines remember --personal, or memlines facts store --personal",
            )
        from memlines.files.place import begin_workspace

        begin_workspace(folder, personal=True)
    return FoundWorkspace(folder, "--personal")


def nearest_workspace(named: Path | None) -> Workspace:
    """Return the workspace that was named, or the one to use without a name."""
    return Workspace.at(choose_workspace(named).folder)


def nearest_project(named: Path | None) -> Workspace:
    """Return the workspace that was named, or the nearest one upwards in this repository, or its root.

    For changes to a project itself, wherever its user keeps notes.
    """
    if named is not None:
        return Workspace.at(named)
    here = str(current_folder())
    root, found = repository_above(here), memory_of(here, shared=False)
    inside = found if found and (root is None or is_below(found, root)) else root
    return Workspace.at(inside or here)


def open_memory(named: Path | None, *, begin: bool = False) -> Memory:
    """Open the memory that was named, or the one to use without a name; see `choose_workspace`."""
    from memlines.memory.memory import Memory

    return Memory(choose_workspace(named, begin=begin).folder)


# Text


def read_text(words: tuple[str, ...], purpose: str, example: str) -> str:
    """Return the words of an argument, or the standard input if there are none or a single dash."""
    if words not in ((), ("-",)):
        return " ".join(words)
    if sys.stdin is None or is_terminal(sys.stdin):
        raise UsageError(f"there is no text to {purpose}", todo=f"Give it as words, {example}, or pipe it in")
    content = sys.stdin.buffer.read(_MOST_INPUT + 1)
    if len(content) > _MOST_INPUT:
        raise UsageError(f"there is too much text to {purpose}", todo=f"Give what matters in it to {purpose}")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError("the standard input is not UTF-8 text", todo="Convert it first") from None
