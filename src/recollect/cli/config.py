"""`recollect config`: show settings and where they come from; trust a project's file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from recollect.cli.common import (
    chosen_workspace,
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
    chosen = chosen_workspace(workspace)
    opened = Workspace.at(chosen.folder)
    loaded = load(opened)
    rows = shown(loaded)
    wanted = [row for row in rows if key is None or row.key == key or row.key.startswith(f"{key}.")]
    if not wanted:
        raise SettingsError(f"there is no setting {key!r}", todo="'recollect config show' lists them all")
    if as_json:
        values = {row.key: {"value": row.value, "origin": row.origin} for row in wanted}
        if "workspace" in values:
            values["workspace"] |= {"in_use": str(opened.root), "in_use_from": chosen.origin}
        print_json(values)
    else:
        width = max(len(row.key) for row in wanted)
        for row in wanted:
            value = harmless_name(json.dumps(row.value, ensure_ascii=False))
            line = f"{row.key:<{width}}  {value:<24}  {harmless_name(row.origin)}"
            click.secho(line, bold=row.origin != "default")
    if key in (None, "workspace") and not as_json:
        click.echo(harmless_name(f"The workspace in use is {opened.root} ({chosen.origin})."))
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
    """Let the project's own settings files set every key.

    Those are .memory/config.yaml, and the part of .opencode/config.yaml below `memory`. Read them first:
    they may have come with a repository that somebody else wrote. The trust holds for their present
    content only.
    """
    opened = Workspace.at(nearest_workspace(workspace))
    files = [file for file in opened.config_files if revoke or file.exists()] or [opened.config_file]
    results = [_revoked(file) if revoke else _trusted(file) for file in files]
    if as_json:
        print_json({**results[-1][0], "files": [result for result, _ in results]})
        return
    for _, sentence in results:
        click.echo(harmless_name(sentence))


def _trusted(file: Path) -> tuple[dict[str, Any], str]:
    """Trust a file; return that as data and as a sentence."""
    digest = trust(file)
    result = {"file": str(file), "trusted": True, "sha256": digest}
    return result, f"{file} is trusted as it is now (SHA-256 {digest[:12]}…)"


def _revoked(file: Path) -> tuple[dict[str, Any], str]:
    """Take the trust in a file back; return that as data and as a sentence."""
    was = distrust(file)
    sentence = f"{file} is no longer trusted" if was else f"{file} was not trusted"
    return {"file": str(file), "trusted": False}, sentence
