"""The commands that set Memlines up in a client, such as OpenCode, and remove it: `install`, `uninstall`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import click

from memlines.cli.common import Function, dry_run_option, folder_option, json_option, nearest_project
from memlines.cli.output import answer_json, counted, is_terminal, print_line, wants_json, warn
from memlines.clients.apply import install, uninstall, would_install, would_uninstall
from memlines.clients.client import Client, load_clients
from memlines.clients.plan import BROUGHT, Action, Step
from memlines.clients.receipt import read_receipt
from memlines.errors import SettingsError, UsageError
from memlines.files.place import begin_workspace, holds_memory
from memlines.files.scan import NOTES_DIR, ROOT_FILES
from memlines.paths import PRIVATE_DIR, Workspace, home_folder
from memlines.settings import load
from memlines.settings.workspace import shares_worktrees
from memlines.worktrees import main_worktree, memory_of, repository_above

CLIENTS = load_clients()

_DONE = {
    "make": "made",
    "replace": "replaced",
    "edit": "edited",
    "remove": "removed",
    "keep": "kept",
    "unchanged": "unchanged",
}

_MOST_ALIKE = 4
"""How many files of one folder are listed one by one; `--json` lists all."""


class _Client(click.Choice[str]):
    """The name of a client, in upper or lower case."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        name = str(value).lower()
        if name not in CLIENTS:
            raise UsageError(
                f"Memlines knows no client {value!r}; it knows {', '.join(sorted(CLIENTS))}",
                todo="Name one. For OpenClaw see docs/openclaw.md, for any other docs/mcp.md",
            )
        return name


def _host_options(function: Function) -> Function:
    """Add what both commands accept: which client, where, and whether only to look."""
    host = click.argument("host", type=_Client(list(CLIENTS)))
    project = click.option(
        "--project/--global",
        "in_project",
        default=True,
        help="Use the settings of this project, or your own for all projects. [default: --project]",
    )
    return host(project(dry_run_option(folder_option(json_option(function)))))


def _project_of(in_project: bool, workspace: Path | None) -> Path | None:
    """Return the real folder of the project, or None for the settings of the user."""
    if in_project:
        return nearest_project(workspace).root
    if workspace is not None:
        raise UsageError("--global is for all projects, and --workspace names one", todo="Leave one out")
    return None


@click.command("install")
@_host_options
def install_command(host: str, in_project: bool, dry_run: bool, workspace: Path | None) -> None:
    """Set Memlines up in a client. Files that are not from Memlines are not changed.

    A project without a memory gets one, as with 'memlines init'. Below a workspace, that workspace is the
    project; at a terminal you are asked first.
    """
    client, project = CLIENTS[host], _project_of(in_project, workspace)
    if project is not None and project in (home_folder().resolve(), Path(project.anchor)):
        _refuse_home(project)
    above = _say_above(project, dry_run=dry_run) if project is not None and workspace is None else []
    targets = client.targets(project)
    steps = would_install(targets) if dry_run else install(targets)
    home = project
    if project is not None and (linked := main_worktree(str(project))) and shares_worktrees():
        home = Path(memory_of(str(project)) or linked[1])
    begins = home is not None and not holds_memory(Workspace(home))
    made = begin_workspace(home)[1] if begins and home and not dry_run else []
    notes = _notes(client, project, begins=begins, dry_run=dry_run)
    try:
        load(None if project is None else Workspace(project))
    except SettingsError as error:
        warn(f"the memory cannot be used yet: {error}")
    folder = client.folder_of(project)
    answer_json(_steps_json(host, folder, steps, dry_run) | {"begun": made, "notes": above + notes})
    _print_steps(f"{client.title} in", folder, steps, dry_run=dry_run)
    for note in notes:
        print_line(note)
    if not dry_run:
        where = "" if project is None else f" in {project}"
        print_line(f"Next: start {client.program}{where}, and try {client.first_try}")


def _refuse_home(project: Path) -> NoReturn:
    which = "the root folder" if project == Path(project.anchor) else "your home folder"
    raise UsageError(
        f"{str(project)!r} is {which}: every project in it would share its memory",
        todo="Use --global for all projects, or name one with --workspace",
    )


def _say_above(project: Path, *, dry_run: bool) -> list[str]:
    """Say that the project is a folder above; at a terminal ask first, unless it is the repository's root."""
    here = Path.cwd().resolve()
    if project == here:
        return []
    root = repository_above(str(here))
    is_root = root is not None and project == Path(root).resolve()
    what = "root of the repository" if is_root else "workspace above"
    note = f"This is in {project}, the {what}; '--workspace .' installs here."
    if not wants_json():
        print_line(note)
        if not is_root and not dry_run and is_terminal(sys.stdin):
            click.confirm("Install there?", default=False, abort=True, err=True)
    return [note]


def _notes(client: Client, project: Path | None, *, begins: bool, dry_run: bool) -> list[str]:
    notes = []
    if begins:
        verb = "would be" if dry_run else "was"
        notes.append(f"The project had no memory: one {verb} created, with MEMORY.md and memory/.")
    beside = None if project is not None else nearest_project(None).root
    other = client.folder_of(beside)
    receipt = read_receipt(other)
    if receipt is not None and receipt.is_installed() and not client.is_global(project or beside):
        notes.append(f"It is also installed in {other}; {client.if_both}.")
    if plugin := client.plugin_file(project):
        notes.append(
            f"It is also a plugin of {client.title}, enabled in {plugin}, so everything would run twice."
            f" Remove the plugin: '{client.remove_plugin}'"
        )
    return notes


# uninstall


@click.command("uninstall")
@click.option("--force", is_flag=True, help="Also remove files of Memlines that you changed.")
@_host_options
def uninstall_command(
    host: str, force: bool, in_project: bool, dry_run: bool, workspace: Path | None
) -> None:
    """Remove Memlines from a client. Notes, and files you changed, are kept.

    Your settings of the client are as they were before the installation.
    """
    client, project = CLIENTS[host], _project_of(in_project, workspace)
    if project is not None and client.is_global(project):  # what is installed there is for all projects
        _refuse_home(project)
    act = would_uninstall if dry_run else uninstall
    steps = act(client.targets(project), force=force)
    folder = client.folder_of(project)
    kept: list[str] = []
    if project is not None and steps:
        kept = [name for name in ROOT_FILES if (project / name).is_file()]
        kept += [f"{name}/" for name in (NOTES_DIR, PRIVATE_DIR) if (project / name).is_dir()]
    answer_json(_steps_json(host, folder, steps, dry_run) | {"kept": kept})
    if not steps:
        print_line(f"{client.title} in {folder}")
        click.echo("  it is not installed here")
        return
    _print_steps(f"{client.title} in", folder, steps, dry_run=dry_run)
    if kept:
        click.echo(f"Notes are kept: {', '.join(kept)}")


# Steps


def _steps_json(host: str, folder: Path, steps: Sequence[Step], dry_run: bool) -> dict[str, Any]:
    """Return what was done with stable field names."""
    return {
        "host": host,
        "folder": str(folder),
        "dry_run": dry_run,
        "files": [{"action": step.action, "path": str(step.path), "why": step.why} for step in steps],
    }


def _print_steps(title: str, folder: Path, steps: Sequence[Step], *, dry_run: bool) -> None:
    """List what was done; many files of one folder, and unchanged files, are only counted."""
    print_line(f"{title} {folder}")
    real = folder.resolve()
    alike: dict[tuple[Action, Path | str], list[Step]] = {}
    for step in steps:
        alike.setdefault((step.action, step.why or step.path.parent), []).append(step)
    for group in alike.values():
        first = group[0]
        word = f"would {first.action}" if dry_run and first.changes else _DONE[first.action]
        if first.action == "unchanged" and not first.why:
            continue
        if len(group) > _MOST_ALIKE and not first.why:
            lines = [f"{_relative_to(first.path.parent, real)}/ ({len(group)} files)"]
        elif len(group) > _MOST_ALIKE and first.why == BROUGHT:
            lines = [f"{len(group)} files: each {first.why}"]
        else:
            why = f": it {first.why}" if first.why else ""
            lines = [f"{_relative_to(step.path, real)}{why}" for step in group]
        for line in lines:
            print_line(f"  {word:<13} {line}")
    same = sum(step.action == "unchanged" and not step.why for step in steps)
    if same:
        click.echo(f"  {'unchanged':<13} {counted(same, 'file')}")
    if not any(step.changes for step in steps):
        click.echo("  nothing to do")


def _relative_to(path: Path, folder: Path) -> Path:
    return path.relative_to(folder) if path.is_relative_to(folder) else path
