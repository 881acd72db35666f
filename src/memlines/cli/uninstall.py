"""`memlines uninstall`: take Memlines out of a client again."""

from __future__ import annotations

from pathlib import Path

import click

from memlines.cli.common import harmless_name, print_json
from memlines.cli.install import as_values, host_options, print_steps, project_of
from memlines.clients.apply import uninstall, would_uninstall
from memlines.clients.catalogue import HOSTS
from memlines.files.scan import NOTES_DIR, ROOT_FILES
from memlines.paths import PRIVATE_DIR


@click.command("uninstall")
@click.option("--force", is_flag=True, help="Remove files of Memlines that you changed, too.")
@host_options
def command(
    host: str, force: bool, in_project: bool, dry_run: bool, workspace: Path | None, as_json: bool
) -> None:
    """Take Memlines out of a client. Notes, and files you changed, are kept.

    What was there before the installation is as it was then.
    """
    client, project = HOSTS[host], project_of(in_project, workspace)
    targets = client.targets(project)
    act = would_uninstall if dry_run else uninstall
    steps = act(targets, force=force)
    folder = client.folder_of(project)
    kept = _notes_in(project) if steps else []
    if as_json:
        print_json(as_values(host, folder, steps, dry_run) | {"kept": kept})
    elif not steps:
        click.echo(f"{client.title} in {harmless_name(str(folder))}\n  it is not installed here")
    else:
        print_steps(f"{client.title} in", folder, steps, dry_run=dry_run)
        if kept:
            click.echo(f"Notes are kept: {', '.join(kept)}")


def _notes_in(project: Path | None) -> list[str]:
    """Return what there is of a memory in a project; an installation for all has none."""
    if project is None:
        return []
    files = [name for name in ROOT_FILES if (project / name).is_file()]
    return files + [f"{name}/" for name in (NOTES_DIR, PRIVATE_DIR) if (project / name).is_dir()]
