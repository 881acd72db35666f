"""`memlines check`: refuse what should not be shared, before it is committed."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from memlines.admin.check import check_notes, check_repository, check_staged
from memlines.cli.common import choose_workspace, common_options
from memlines.cli.output import answer_json, counted, print_line
from memlines.paths import Workspace
from memlines.settings import load
from memlines.settings.workspace import current_folder


@click.command("check")
@click.option("--staged", is_flag=True, help="Check what is staged for the next commit, as git has it.")
@common_options
def check_command(staged: bool, workspace: Path | None) -> int:
    """Look for secrets and personal notes in what you are about to share.

    Checks all notes of the workspace, or what is staged in the git repository you are in: the notes of every
    memory in it, unless you name one. Names the place and the kind of what it finds, and never shows it.
    Exits with 1 if there is something.
    """
    chosen = choose_workspace(workspace)
    if staged and chosen.origin not in ("--workspace", "--personal"):
        checked = check_repository(current_folder())
    else:
        opened = Workspace.at(chosen.folder)
        checked = (check_staged if staged else check_notes)(opened, load(opened).settings)
    code = 1 if checked.refused else 0
    answer_json({"clean": not code, **asdict(checked)}, code)
    for one in checked.refused:
        print_line(f"{one.path}{f':{one.line}' if one.line else ''} {one.reason}")
    what = counted(len(checked.refused), "finding") if code else "nothing that should not be shared"
    none = "No note is staged, so nothing was checked." if staged else "There are no notes to check."
    click.echo(f"{counted(checked.files, 'file')} checked, {what}." if checked.files else none)
    if code:
        click.echo("Take it out, then stage the file again." if staged else "Take it out before you commit.")
    return code
