"""Write the page of the documentation that lists every command and option."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from memlines.cli.main import cli

_PAGE = """\
# Commands

<!-- Written by `make docs` from src/memlines/cli/; change it there. -->

| command | what it does |
|---|---|
{names}
`memlines COMMAND --help` (or `-h`) explains a command, `memlines --version` prints the version.
The list below leaves out what nearly every command accepts:

| option | meaning | not accepted by |
|---|---|---|
{shared}{commands}
## Names from OpenClaw

The names that OpenClaw has for its commands work too, though no help lists them: the word `memory` before
any command, as in `memory search`; `index` for `sync`; `sync --verbose` (names every file); `status --index`
(syncs first, and tries the provider as `--deep` does); `status --verbose` (status always shows everything);
`search --query TEXT`, which counts instead of other words.

## Exit codes and errors

[Errors](errors.md#all-errors) lists the exit codes, the errors and what to do about each. Exit code 1 without
an error means that something failed or was not found, and the output names it: the commands above say when.
"""

SHARED = ("--workspace", "--agent", "--json")
"""The options that are explained once, with the help that `search` has for them."""


def commands(group: click.Group = cli, above: str = "memlines") -> Iterator[tuple[str, click.Command]]:
    """Yield every command that is not hidden with the words that call it, each group before its own."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        yield f"{above} {name}", command
        if isinstance(command, click.Group):
            yield from commands(command, f"{above} {name}")


def without(option: str) -> list[str]:
    """Return the commands that do not accept an option, by the words that call them."""
    return [
        words
        for words, command in commands()
        if not isinstance(command, click.Group)
        and not any(option in parameter.opts for parameter in command.params)
    ]


def render_page() -> str:
    """Return the whole page as Markdown."""
    every = dict(commands())
    search = every["memlines search"]
    known = {name: one for one in search.params if isinstance(one, click.Option) for name in one.opts}
    shared = {name: known[name].help for name in SHARED}
    shared_rows = [
        f"{_row(known[name], search).rstrip()} {', '.join(f'`{words}`' for words in without(name))} |\n"
        for name in SHARED
    ]
    return _PAGE.format(
        names="".join(
            f"| [`{words}`](#{words.replace(' ', '-')}) | {_sentence(command)} |\n"
            for words, command in every.items()
        ),
        shared="".join(shared_rows),
        commands="".join(section(words, command, shared) for words, command in every.items()),
    )


def _sentence(command: click.Command) -> str:
    """Return the first sentence of a command's help on one line."""
    return " ".join(inspect.cleandoc(command.help or "").split("\n\n")[0].split())


def section(words: str, command: click.Command, shared: Mapping[str, str | None]) -> str:
    """Return what the page says about one command; `shared` is the help of options that it leaves out."""
    level = "##" if words.count(" ") == 1 else "###"
    usage = " ".join(command.collect_usage_pieces(click.Context(command)))
    text = inspect.cleandoc(command.help or "").replace("\b\n", "")
    options = [one for one in command.params if isinstance(one, click.Option) and not one.hidden]
    own = [one for one in options if all(shared.get(name, "") != one.help for name in one.opts)]
    rows = [_row(one, command) for one in own]
    table = "".join(["\n| option | meaning |\n|---|---|\n", *rows]) if rows else ""
    return f"\n{level} {words}\n\n```\n{words} {usage}\n```\n\n{text}\n{table}"


def _row(option: click.Option, command: click.Command) -> str:
    """Return the line of one option, with its default once."""
    has_default = "[default:" in (option.help or "")
    record = option.get_help_record(click.Context(command, show_default=not has_default)) or ("", "")
    name, meaning = (" ".join(text.split()).replace("|", "\\|") for text in record)
    return f"| `{name}` | {meaning} |\n"


def main(arguments: list[str]) -> None:
    """Write the page to the file that is named."""
    if len(arguments) != 1:
        sys.exit("usage: python docs/write_commands.py PATH")
    Path(arguments[0]).write_text(render_page(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
