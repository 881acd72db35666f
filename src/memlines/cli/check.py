"""`memlines check`: refuse what should not be shared, before it is committed."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from memlines.admin.check import check_notes, check_staged
from memlines.cli.common import common_options, nearest_workspace
from memlines.cli.output import answer_json, counted, print_line
from memlines.settings import load


@click.command("check")
@click.option("--staged", is_flag=True, help="Check what is staged for the next commit, as git has it.")
@common_options
def check_command(staged: bool, workspace: Path | None) -> int:
    """Look for secrets and personal notes in what you are about to share.

    Checks all notes of the workspace, or what is staged in its git repository. Names the place and the kind
    of what it finds, and never shows it. Exits with 1 if there is something.
    """
    opened = nearest_workspace(workspace)
    checked = (check_staged if staged else check_notes)(opened, load(opened).settings)
    code = 1 if checked.refused else 0
    answer_json({"clean": not code, **asdict(checked)}, code)
    for one in checked.refused:
        print_line(f"{one.path}{f':{one.line}' if one.line else ''} {one.reason}")
    what = counted(len(checked.refused), "finding") if code else "nothing that should not be shared"
    click.echo(f"{counted(checked.files, 'file')} checked, {what}.")
    if code:
        click.echo("Take it out, then stage the file again." if staged else "Take it out before you commit.")
    return code
