"""`recollect uninstall`: take Recollect out of a client again."""

from __future__ import annotations

from pathlib import Path

import click

from recollect.cli.common import print_json
from recollect.cli.install import as_values, host_options, print_steps, project_of
from recollect.hosts.apply import uninstall, would_uninstall
from recollect.hosts.catalogue import HOSTS


@click.command("uninstall")
@click.option("--force", is_flag=True, help="Remove files of Recollect that you changed, too.")
@host_options
def command(
    host: str, force: bool, in_project: bool, dry_run: bool, workspace: Path | None, as_json: bool
) -> None:
    """Take Recollect out of a client. Notes, and files you changed, are kept.

    What was there before the installation is as it was then.
    """
    client, project = HOSTS[host], project_of(in_project, workspace)
    targets = client.targets(project)
    act = would_uninstall if dry_run else uninstall
    steps = act(targets, force=force)
    if as_json:
        print_json(as_values(host, client.folder_of(project), steps, dry_run))
        return
    print_steps(f"{client.title} in", client.folder_of(project), steps, dry_run=dry_run)
