"""`memlines history`: show earlier versions of a note, and bring one back."""

from __future__ import annotations

from pathlib import Path

import click

from memlines.cli.common import (
    counted,
    harmless_name,
    json_option,
    local_time,
    nearest_workspace,
    print_json,
    workspace_option,
)
from memlines.cli.undo import change_json, print_changes, print_diff, print_left_out
from memlines.errors import UsageError
from memlines.files.history import Version
from memlines.memory.memory import Memory
from memlines.memory.notes.undo import diff_of

_MOST_NAMES = 3


@click.command("history")
@click.argument("path", required=False)
@click.option(
    "--diff",
    is_flag=False,
    flag_value="1",
    metavar="[N]",
    help="Show what changed since version N. [default: 1]",
)
@click.option("--restore", metavar="N", help="Make the note what it was in version N.")
@click.option("--dry-run", is_flag=True, help="With --restore: show what would change, and change nothing.")
@click.option("--with-forgotten", is_flag=True, help="With --restore: bring back what was forgotten, too.")
@workspace_option
@json_option
def command(
    path: str | None,
    diff: str | None,
    restore: str | None,
    dry_run: bool,
    with_forgotten: bool,
    workspace: Path | None,
    as_json: bool,
) -> None:
    """List the earlier versions of the note PATH, the newest first; without PATH, what was written last.

    A version goes by its number in the list, 1 being the newest, or by its name in --json. What the note
    holds when one is brought back becomes a version itself, and 'memlines undo' takes the restoring back.
    """
    if diff is not None and restore is not None:
        raise UsageError("--diff and --restore are given together", todo="Give one of them")
    if restore is None and (dry_run or with_forgotten):
        raise UsageError("--dry-run and --with-forgotten go with --restore", todo="Add --restore N")
    if path is None and diff is not None and not diff.isdecimal():  # '--diff PATH' means the newest version
        path, diff = diff, "1"
    with Memory(nearest_workspace(workspace)) as memory:
        if path is None:
            if diff is not None or restore is not None:
                raise UsageError("no note is named", todo="Name it: memlines history memory/x.md")
            _print_writes(memory, as_json=as_json)
        elif restore is not None:
            _restore(memory, path, restore, with_forgotten=with_forgotten, dry_run=dry_run, as_json=as_json)
        elif diff is not None:
            _print_diff(memory, path, diff, as_json=as_json)
        else:
            _print_versions(memory.history(path), path, as_json=as_json)


def _print_writes(memory: Memory, *, as_json: bool) -> None:
    """List what was written last."""
    rows = [
        (one.command, one.time, list(dict.fromkeys(write.path for write in one.writes)))
        for one in memory.writes()
    ]
    if as_json:
        told = [{"command": name, "time": time.isoformat(), "paths": paths} for name, time, paths in rows]
        print_json({"writes": told})
        return
    if not rows:
        click.echo("Nothing is known to have been written.")
    for name, time, paths in rows:
        names = ", ".join(harmless_name(path) for path in paths[:_MOST_NAMES])
        more = f" and {len(paths) - _MOST_NAMES} more" if len(paths) > _MOST_NAMES else ""
        click.echo(f"{local_time(time)}  {name:<14} {names}{more}")


def _print_versions(versions: tuple[Version, ...], path: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"path": path, "versions": [_version_json(version) for version in versions]})
        return
    if not versions:
        click.echo(f"There is no earlier version of {harmless_name(path)}")
    for number, version in enumerate(versions, 1):
        why = f"  before {version.command}" if version.command else ""
        click.echo(f"{number:>3}  {local_time(version.time)}  {counted(version.size, 'byte'):>12}{why}")


def _print_diff(memory: Memory, path: str, name: str, *, as_json: bool) -> None:
    change = memory.restore_version(path, name, with_forgotten=True, dry_run=True).change
    told = diff_of(path, change.after or "", change.before or "")
    if as_json:
        print_json({"path": path, "version": name, "diff": told})
    elif told:
        print_diff(told)
    else:
        click.echo(f"{harmless_name(path)} is what it was in that version")


def _restore(
    memory: Memory, path: str, name: str, *, with_forgotten: bool, dry_run: bool, as_json: bool
) -> None:
    done = memory.restore_version(path, name, with_forgotten=with_forgotten, dry_run=dry_run)
    if as_json:
        print_json(
            {
                "version": _version_json(done.version),
                "dry_run": dry_run,
                **change_json(done.change),
                "forgotten": list(done.forgotten),
            }
        )
        return
    click.echo(f"{'Would be restored' if dry_run else 'Restored'}: {local_time(done.version.time)}")
    print_changes([done.change])
    print_left_out(done.forgotten)


def _version_json(version: Version) -> dict[str, object]:
    return {
        "name": version.name,
        "time": version.time.isoformat(),
        "size": version.size,
        "command": version.command,
    }
