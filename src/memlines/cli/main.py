"""The entry point: find the command, run it, and show every error in the same words.

Commands are imported when they are called, so that `memlines --help` costs almost nothing.
"""

from __future__ import annotations

import io
import os
import sys
from importlib import import_module
from typing import Any

import click

from memlines.errors import MemlinesError, UsageError, reason_of
from memlines.version import __version__

COMMANDS = {
    "init": ("config", "Create a workspace: MEMORY.md and memory/."),
    "sync": ("sync", "Bring the index up to date with your files."),
    "search": ("search", "Find the lines that answer a question."),
    "context": ("search", "Print what the memory holds about a message, for a model."),
    "remember": ("remember", "Write something into your notes."),
    "recall": ("search", "Show recent entries, decisions and topics."),
    "undo": ("history", "Undo the last change that Memlines made to your notes."),
    "history": ("history", "Show earlier versions of a note, and bring one back."),
    "log": ("history", "Show how a note, or lines of it, changed over time."),
    "forget": ("remember", "Remove something for good, and prove it."),
    "tidy": ("tidy", "Propose how to tidy your notes, and apply what you choose."),
    "facts": ("facts", "Keep short long-term memories: preferences, decisions, people."),
    "get": ("search", "Show lines of a note."),
    "blame": ("blame", "Show which remembered lines an agent saw, and when."),
    "sessions": ("sessions", "List, read, search and import conversations."),
    "snapshots": ("sessions", "Show the last messages of sessions, and continue from there."),
    "web": ("web", "Open a page to see, search and edit your memory."),
    "status": ("status", "Show what is indexed, and how."),
    "model": ("status", "Show which model answers; stop or undo a change of model."),
    "migrate": ("sync", "Move the index to a Qdrant cluster, or back."),
    "watch": ("sync", "Keep the index up to date while files change."),
    "doctor": ("doctor", "Check what can be wrong, and repair it."),
    "check": ("check", "Refuse secrets and personal notes before they are committed."),
    "export": ("backup", "Write all notes into one archive."),
    "import": ("imports", "Merge an archive, or import other memories."),
    "backup": ("backup", "Copy the notes to a folder or a bucket."),
    "restore": ("backup", "Bring notes back from a backup."),
    "eval": ("eval", "Measure how well search finds what it should."),
    "install": ("install", "Set Memlines up in an agent's client, such as OpenCode."),
    "uninstall": ("install", "Remove it from a client."),
    "hook": ("serve", "Answer an event of a client."),
    "mcp": ("serve", "Serve your memory to any MCP client."),
    "serve": ("serve", "Serve your memory to a team (MCP) or a client program."),
    "config": ("config", "Show and change settings."),
}
"""The module of each command, which has it as `<name>_command`, and what it does in one sentence."""

GROUP = "memory"
"""The word before commands in OpenClaw: `memlines memory search` is `memlines search`."""

OTHER_NAMES = {"index": "sync"}
"""Names of commands in OpenClaw; no help lists them."""

INTERRUPTED = 130
"""The exit code of a program that was stopped with Ctrl-C, by convention of shells."""


MEANT = {
    **dict.fromkeys(("add", "save", "store", "note", "write"), "remember"),
    **dict.fromkeys(("ask", "find", "query", "grep"), "search"),
    **dict.fromkeys(("list", "ls", "recent"), "recall"),
    **dict.fromkeys(("show", "read", "cat", "open"), "get"),
    **dict.fromkeys(("delete", "remove", "rm"), "forget"),
    "help": "--help",
    "version": "--version",
}
"""Words that are no commands, and what does what they say: an error names it."""


class _Commands(click.Group):
    """Commands that are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name == GROUP:
            return _Commands(GROUP, hidden=True)
        name = OTHER_NAMES.get(cmd_name, cmd_name)
        if name not in COMMANDS:
            return None
        module = import_module(f"memlines.cli.{COMMANDS[name][0]}")
        command: click.Command = getattr(module, f"{name}_command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            nearest = [MEANT[args[0]]] if args[0] in MEANT else get_close_matches(args[0], COMMANDS, n=1)
            if not nearest:
                raise
            raise click.UsageError(f"{error.message} Did you mean {nearest[0]!r}?", ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="memlines")
def cli() -> None:
    """Memlines: file-first memory for AI agents.

    Notes are Markdown in MEMORY.md and memory/. Questions are answered with cited lines.
    """


def main() -> int:
    """Run the command line and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a letter the terminal lacks must not stop us
    try:
        code = run(sys.argv[1:])
    except OSError as error:
        # A full disk behind our output, most likely. What is still buffered would fail again at the end.
        if sys.stdout is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        click.secho(f"Error: the output cannot be written: {reason_of(error)}", fg="red", err=True)
        code = 1
    _mention_old_name()
    return code


def _mention_old_name() -> None:
    """Say in one line what is still used by the project's first name; not to clients."""
    if sys.argv[1:2] in (["hook"], ["mcp"], ["serve"]):
        return
    folder, _, program = sys.argv[0].replace("\\", "/").rpartition("/")
    is_called_so = "recollect" in (program.partition(".")[0], folder.rpartition("/")[2])
    if not is_called_so and "memlines.old_name" not in sys.modules:
        return  # nothing can have been read by that name, and importing it would slow `--help` down
    from memlines import old_name

    found = dict(old_name.in_use)
    if is_called_so:
        found[f"the command {old_name.NAME}"] = old_name.NEW_NAME
    if found:
        names = ", ".join(f"{old} (now {new})" for old, new in found.items())
        click.echo(f"Still in use by its old name: {names}. 'memlines doctor' says what to do.", err=True)


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code."""
    as_json = "--json" in arguments
    try:
        plain: dict[str, Any] = {"color": False} if os.environ.get("NO_COLOR") else {}
        result = cli.main(args=arguments, prog_name="memlines", standalone_mode=False, **plain)
        return result if isinstance(result, int) else 0
    except MemlinesError as error:
        _show(error, as_json=as_json)
        return error.exit_code
    except click.ClickException as error:
        if isinstance(error, click.NoSuchOption):
            error = _with_place(error, arguments)
        if as_json:
            _show(UsageError(error.format_message().rstrip(".")), as_json=True)
        else:
            error.show()
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("Interrupted. Progress is saved; run the command again to continue.", err=True)
        return INTERRUPTED
    except SystemExit:
        # click exits like this when the reader of our output has left (`| head`); that is not a failure.
        return 0


def _with_place(error: click.NoSuchOption, arguments: list[str]) -> click.UsageError:
    """Return the error about an option; if it was given before a command, it says where it belongs."""
    context = error.ctx
    if context is None or not isinstance(context.command, click.Group):
        return error
    commands = context.command.list_commands(context)
    named = next((one for one in arguments if one in commands), None)
    if named is None:
        return error
    place = f"{context.command_path} {named} {error.option_name} …"
    return click.UsageError(f"{error.message.rstrip('.')}. Write it after the command: {place}", context)


def _show(error: MemlinesError, *, as_json: bool) -> None:
    from memlines.cli.output import print_error, print_json

    if as_json:
        print_json(error.to_json())
    else:
        print_error(str(error))
