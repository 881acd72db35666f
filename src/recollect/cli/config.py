"""`recollect config`: show settings and where they come from; trust a project's file."""

from __future__ import annotations

import json
from pathlib import Path

import click

from recollect.cli.common import (
    folder_option,
    harmless_name,
    json_option,
    nearest_workspace,
    print_json,
    warn,
    workspace_option,
)
from recollect.errors import SettingsError, UsageError
from recollect.files.begin import holds_memory
from recollect.paths import Workspace
from recollect.settings import distrust, load, shown, trust


@click.group("config")
def command() -> None:
    """Show settings and where they come from."""


@command.command("show")
@click.argument("key", required=False)
@workspace_option
@json_option
def show(key: str | None, workspace: Path | None, as_json: bool) -> None:
    """Show every setting (or those that start with KEY), its value and its origin."""
    loaded = load(Workspace.at(nearest_workspace(workspace)))
    rows = shown(loaded)
    wanted = [row for row in rows if key is None or row.key == key or row.key.startswith(f"{key}.")]
    if not wanted:
        raise SettingsError(f"there is no setting {key!r}", todo="'recollect config show' lists them all")
    if as_json:
        print_json({row.key: {"value": row.value, "origin": row.origin} for row in wanted})
    else:
        width = max(len(row.key) for row in wanted)
        for row in wanted:
            value = harmless_name(json.dumps(row.value, ensure_ascii=False))
            line = f"{row.key:<{width}}  {value:<24}  {harmless_name(row.origin)}"
            click.secho(line, bold=row.origin != "default")
    for sentence in loaded.warnings:
        warn(sentence)


@command.command("off")
@folder_option
@json_option
def off(workspace: Path | None, as_json: bool) -> None:
    """Switch the memory of this workspace off: nothing is searched, kept or indexed until it is on."""
    _switch(workspace, as_json, on=False)


@command.command("on")
@folder_option
@json_option
def on(workspace: Path | None, as_json: bool) -> None:
    """Switch the memory of this workspace on again."""
    _switch(workspace, as_json, on=True)


def _switch(named: Path | None, as_json: bool, *, on: bool) -> None:
    from recollect.writing.switch import switch

    workspace = Workspace.at(nearest_workspace(named))
    load(workspace)  # settings that cannot be read are told before anything is written
    if not on and not holds_memory(workspace):
        raise UsageError(
            f"there is no memory in {str(workspace.root)!r} to switch off", todo="Name another folder"
        )
    changed = switch(workspace, on=on)
    loaded = load(workspace)
    if loaded.settings.enabled is not on:
        raise SettingsError(
            f"{workspace.config_file} was written, but {loaded.origins['enabled']} overrules it",
            todo="Change it there as well",
        )
    if as_json:
        print_json(
            {"file": str(workspace.config_file), "changed": changed, "enabled": loaded.settings.enabled}
        )
        return
    click.echo("memory is on" if on else "memory is off; 'recollect config on' switches it on again")


@command.command("trust")
@click.option("--revoke", is_flag=True, help="Take the trust back.")
@folder_option
@json_option
def trust_project(revoke: bool, workspace: Path | None, as_json: bool) -> None:
    """Let the project's own settings file set every key.

    Read the file first: it may have come with a repository that somebody else wrote. The trust
    holds for its present content only.
    """
    file = Workspace.at(nearest_workspace(workspace)).config_file
    if revoke:
        was = distrust(file)
        sentence = f"{file} is no longer trusted" if was else f"{file} was not trusted"
        result = {"file": str(file), "trusted": False}
    else:
        digest = trust(file)
        sentence = f"{file} is trusted as it is now (SHA-256 {digest[:12]}…)"
        result = {"file": str(file), "trusted": True, "sha256": digest}
    if as_json:
        print_json(result)
    else:
        click.echo(harmless_name(sentence))
