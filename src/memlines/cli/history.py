"""The commands that go back: `undo`, `history` and `log`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memlines.cli.common import argument_option, common_options, dry_run_option, open_memory
from memlines.cli.output import answer_json, counted, harmless, harmless_name, local_time, print_line
from memlines.errors import PathError, UsageError
from memlines.memory.arguments import LOG
from memlines.memory.notes.undo import NoteChange, diff_of
from memlines.memory.scopes import list_personal
from memlines.types import LOG_CHANGES

if TYPE_CHECKING:
    from memlines.files.history import Version
    from memlines.memory.memory import Memory
    from memlines.memory.notes.undo import Undone
    from memlines.memory.past.log import LoggedChange

_VERBS = {
    (False, False): "Took back",
    (True, False): "Brought back",
    (False, True): "Would take back",
    (True, True): "Would bring back",
}
_MOST_LINES = 60
_MOST_NAMES = 3
_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


# undo


@click.command("undo")
@click.option("--redo", is_flag=True, help="Bring back what the last undo removed.")
@dry_run_option
@common_options
def undo_command(redo: bool, dry_run: bool, workspace: Path | None) -> None:
    """Undo the last change that Memlines made to your notes, and show it.

    Run it again to undo the change before that. Everything that one command wrote is undone together, also
    in several notes; a note that it created goes to the trash. Your own edits since then are kept. What you
    have forgotten does not come back.
    """
    with open_memory(workspace) as memory:
        undone = memory.undo(redo=redo, dry_run=dry_run)
        personal = () if redo else [one.writes()[:1] for one in list_personal(memory, [])]
    show_undone(undone, redo=redo, dry_run=dry_run)
    if any(write.time > undone.time for latest in personal for write in latest):
        click.echo("A newer write is in your personal memory: memlines undo --personal", err=True)


def show_undone(undone: Undone, *, redo: bool, dry_run: bool) -> None:
    """Print what was undone or redone."""
    answer_json(
        {
            "command": undone.command,
            "time": undone.time.isoformat(),
            "redo": redo,
            "dry_run": dry_run,
            "changes": [_change_json(change) for change in undone.changes],
            "forgotten": list(undone.forgotten),
        }
    )
    click.echo(f"{_VERBS[redo, dry_run]}: {undone.command}, {local_time(undone.time)}")
    print_changes(undone.changes)
    if not undone.changes:
        click.echo("Nothing of it was left in the notes.")
    _print_forgotten(undone.forgotten)
    if not (redo or dry_run):
        click.echo("'memlines undo --redo' brings it back.")


def print_changes(changes: Sequence[NoteChange]) -> None:
    """Print a diff of each changed note."""
    for change in changes:
        name = harmless_name(change.path)
        if change.after is None:
            name += " goes to the trash"
        elif change.before is None:
            name += " is there again"
        click.secho(name, bold=True)
        _print_diff(change.diff)


def _print_forgotten(forgotten: tuple[str, ...]) -> None:
    """Print what did not come back because it was forgotten."""
    if forgotten:
        print_line(f"Left out because forgotten: {', '.join(forgotten)}")


def _print_diff(diff: str) -> None:
    """Print a unified diff without its header."""
    _print_lines(diff.split("\n")[2:])


def _print_lines(lines: Sequence[str]) -> None:
    for line in lines[:_MOST_LINES]:
        click.secho(f"  {harmless(line)}", fg=_COLOURS.get(line[:1]))
    if len(lines) > _MOST_LINES:
        click.echo(f"  and {counted(len(lines) - _MOST_LINES, 'line')} more (--json has all)")


def _change_json(change: NoteChange) -> dict[str, Any]:
    return {
        "path": change.path,
        "created": change.before is None,
        "removed": change.after is None,
        "diff": change.diff,
    }


# history


@click.command("history")
@click.argument("path", required=False)
@click.option(
    "--diff",
    is_flag=False,
    flag_value="1",
    metavar="[N]",
    help="Show what changed since version N. [default: 1]",
)
@click.option("--restore", metavar="N", help="Bring version N of the note back.")
@click.option("--dry-run", is_flag=True, help="With --restore: show what would change, and change nothing.")
@click.option("--with-forgotten", is_flag=True, help="With --restore: also bring back forgotten text.")
@common_options
def history_command(
    path: str | None,
    diff: str | None,
    restore: str | None,
    dry_run: bool,
    with_forgotten: bool,
    workspace: Path | None,
) -> None:
    """List the earlier versions of the note PATH, the newest first; without PATH, the latest changes.

    Name a version by its number in the list, where 1 is the newest, or by its name in --json. When you
    bring one back, the present text becomes a version itself, and 'memlines undo' undoes the change.
    """
    if diff is not None and restore is not None:
        raise UsageError("--diff and --restore are given together", todo="Give one of them")
    if restore is None and (dry_run or with_forgotten):
        raise UsageError("--dry-run and --with-forgotten go with --restore", todo="Add --restore N")
    if path is None and diff is not None and not diff.isdecimal():  # '--diff PATH' means the newest version
        path, diff = diff, "1"
    if path is None and (diff is not None or restore is not None):
        raise UsageError("no note is named", todo="Name it: memlines history memory/x.md")
    with open_memory(workspace) as memory:
        if path is None:
            _show_writes(memory)
        elif restore is not None:
            _restore(memory, path, restore, with_forgotten=with_forgotten, dry_run=dry_run)
        elif diff is not None:
            change = memory.restore_version(path, diff, with_forgotten=True, dry_run=True).change
            text = diff_of(path, change.after or "", change.before or "")
            answer_json({"path": path, "version": diff, "diff": text})
            if text:
                _print_diff(text)
            else:
                print_line(f"{path} is what it was in that version")
        else:
            versions = memory.history(path)
            if not versions and not memory.read(path, lines=1).found:
                raise PathError(f"there is no note {path!r}, and no version of one", todo="Name a note")
            _show_versions(versions, path)


def _show_writes(memory: Memory) -> None:
    """List what was written last."""
    rows = [
        (one.command, one.time, list(dict.fromkeys(write.path for write in one.writes)))
        for one in memory.writes()
    ]
    writes = [{"command": name, "time": time.isoformat(), "paths": paths} for name, time, paths in rows]
    answer_json({"writes": writes})
    if not rows:
        click.echo("Nothing is known to have been written.")
    for name, time, paths in rows:
        more = f" and {len(paths) - _MOST_NAMES} more" if len(paths) > _MOST_NAMES else ""
        print_line(f"{local_time(time)}  {name:<14} {', '.join(paths[:_MOST_NAMES])}{more}")


def _show_versions(versions: tuple[Version, ...], path: str) -> None:
    answer_json({"path": path, "versions": [_version_json(version) for version in versions]})
    if not versions:
        why = "a first write has none before it, and your own edits keep none"
        print_line(f"There is no earlier version of {path}: {why}")
    for number, version in enumerate(versions, 1):
        why = f"  before {version.command}" if version.command else ""
        click.echo(f"{number:>3}  {local_time(version.time)}  {counted(version.size, 'byte'):>12}{why}")


def _restore(memory: Memory, path: str, name: str, *, with_forgotten: bool, dry_run: bool) -> None:
    done = memory.restore_version(path, name, with_forgotten=with_forgotten, dry_run=dry_run)
    answer_json(
        {
            "version": _version_json(done.version),
            "dry_run": dry_run,
            **_change_json(done.change),
            "forgotten": list(done.forgotten),
        }
    )
    click.echo(f"{'Would be restored' if dry_run else 'Restored'}: {local_time(done.version.time)}")
    print_changes([done.change])
    _print_forgotten(done.forgotten)


def _version_json(version: Version) -> dict[str, object]:
    return {
        "name": version.name,
        "time": version.time.isoformat(),
        "size": version.size,
        "command": version.command,
    }


# log


@click.command("log")
@click.argument("path")
@argument_option(
    LOG["most"],
    "-n",
    "--most",
    default=LOG_CHANGES,
    show_default=True,
    help="Show at most so many changes.",
)
@common_options
def log_command(path: str, most: int, workspace: Path | None) -> None:
    """Show how the note PATH changed over time, the newest change first.

    With a citation such as memory/x.md#L3-L5 you see only what happened to these lines. Known are the changes
    that Memlines made, commits of the git repository around your notes, and edits by other programs since.
    """
    with open_memory(workspace) as memory:
        changes = memory.log(path, most=most)
    answer_json({"path": path, "changes": [change.to_json() for change in changes]})
    for change in changes:
        click.secho(f"{local_time(change.time)}  {_what_changed(change)}", bold=True)
        print_line(f"  {change.citation}")
        _print_lines(change.diff.split("\n"))
    if not changes:
        print_line(f"No change of {path} is known")


def _what_changed(change: LoggedChange) -> str:
    if change.origin == "git":
        return f"git {change.by[:12]}"
    return harmless_name(change.by) if change.by else "found like this"
