"""`memlines config`: show and change settings, say where they come from, trust a project's file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import click

from memlines.cli.common import (
    Function,
    chosen_workspace,
    folder_option,
    harmless_name,
    json_option,
    nearest_workspace,
    print_json,
    warn,
    workspace_option,
)
from memlines.errors import SettingsError, UsageError
from memlines.files.place import holds_memory
from memlines.paths import Workspace, user_config_file
from memlines.settings import distrust, flatten, load, shown, trust
from memlines.settings.keys import ALIASES, SESSION_MEMORY, Convert, known_keys, resolve, snake, unknown
from memlines.settings.rules import Key, checked, from_text


@click.group("config")
def command() -> None:
    """Show and change settings."""


@command.command("show")
@click.argument("key", required=False)
@workspace_option
@json_option
def show(key: str | None, workspace: Path | None, as_json: bool) -> None:
    """Show every setting (or KEY, or those below it), its value and its origin."""
    chosen = chosen_workspace(workspace)
    opened = Workspace.at(chosen.folder)
    loaded = load(opened)
    rows = shown(loaded)
    name = resolve(snake(key))[0] if key else ""
    wanted = [row for row in rows if not name or row.key == name or row.key.startswith(f"{name}.")]
    if not wanted:
        raise SettingsError(f"there is no setting {key!r}", todo="'memlines config show' lists them all")
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


@command.command("get")
@click.argument("name", metavar="KEY")
@workspace_option
@json_option
def get(name: str, workspace: Path | None, as_json: bool) -> None:
    """Print the value of the setting KEY, and nothing else. Secrets are masked."""
    key = _key(name)[0]
    loaded = load(Workspace.at(nearest_workspace(workspace)))
    (row,) = (row for row in shown(loaded) if row.key == key.name)
    if as_json:
        print_json({"key": row.key, "value": row.value, "origin": row.origin})
    elif isinstance(row.value, str) or row.value is None:
        click.echo(harmless_name(row.value or ""))
    else:
        click.echo(harmless_name(json.dumps(row.value, ensure_ascii=False)))


def _in_project(function: Function) -> Function:
    """Add `--project`."""
    help_text = "Write it into the project's file, .memory/config.yaml, instead of your own."
    return click.option("--project", "in_project", is_flag=True, help=help_text)(function)


@command.command("set")
@click.argument("name", metavar="KEY")
@click.argument("text", metavar="VALUE")
@_in_project
@folder_option
@json_option
def set_value(name: str, text: str, in_project: bool, workspace: Path | None, as_json: bool) -> None:
    """Set KEY to VALUE in your own settings file, or in the project's.

    Lists are separated by commas, headers are written name=value,name=value. The rest of the file stays as it
    is, with its comments. A value that is wrong changes nothing.
    """
    key, convert = _key(name)
    value, project = _value(key, text, convert), _project(in_project, workspace)
    _write(key, value, project, as_json)
    try:
        loaded = load(project)
    except SettingsError as error:  # such as a variable that is not set here
        warn(str(error))
    else:
        origin = loaded.origins[key.name]
        own = f"project file {project.config_file}" if project else f"user file {user_config_file()}"
        is_own = origin == own or origin.startswith(f"{own}, as ")  # one that was fitted to others may differ
        if flatten(loaded.settings)[key.name] != value and not key.rule.expands and not is_own:
            warn(f"it has no effect as long as {origin} sets {key.name}")
    if key.rule.secret and key.rule.kind == "text" and "${" not in text:
        warn("the key itself stands in the file now; '${VARIABLE}' would keep it out")


@command.command("unset")
@click.argument("name", metavar="KEY")
@_in_project
@folder_option
@json_option
def unset(name: str, in_project: bool, workspace: Path | None, as_json: bool) -> None:
    """Take KEY out of your own settings file, or out of the project's."""
    _write(_key(name)[0], None, _project(in_project, workspace), as_json)


def _write(key: Key, value: Any, project: Workspace | None, as_json: bool) -> None:
    """Write a setting, and say where; never what it is, which may be a secret."""
    from memlines.memory.notes.settings_file import write_setting

    file = project.config_file if project else user_config_file()
    changed = write_setting(key.name, value, project)
    if as_json:
        print_json({"key": key.name, "file": str(file), "changed": changed})
        return
    done = "is taken out of" if value is None else "is written to"
    state = done if changed else "is not in" if value is None else "is so already in"
    click.echo(harmless_name(f"{key.name} {state} {file}"))


def _project(in_project: bool, workspace: Path | None) -> Workspace | None:
    """Return the project whose file is meant; nothing if it is the user's own file."""
    if in_project:
        return Workspace.at(nearest_workspace(workspace))
    if workspace is not None:
        raise UsageError("--workspace names a project, and your own file is for all", todo="Add --project")
    return None


def _key(name: str) -> tuple[Key, Convert | None]:
    """Return the setting that a name or an alias means."""
    resolved, convert = resolve(snake(name))
    key = known_keys().get(resolved)
    if key is not None:
        return key, convert
    if resolved == SESSION_MEMORY:
        raise SettingsError(f"{name!r} is only a part of sources", todo="Name sources instead")
    inside = [key for key in known_keys() if key.startswith(f"{resolved}.")]
    if inside:
        raise SettingsError(f"{name!r} is a group of settings", todo=f"Name one of: {', '.join(inside)}")
    raise unknown(name, "the command line", {*known_keys(), *ALIASES}, resolved)


def _value(key: Key, text: str, convert: Convert | None) -> Any:
    """Read a value from the command line; one that would be brought into a range is refused instead."""
    origin = "the command line"
    if text.lstrip().startswith(("[", "{")) and key.rule.kind in ("list", "pairs"):
        from memlines.settings.yaml_text import parse

        return checked(key, parse(f"value: {text}".encode(), origin)["value"], origin)
    if key.rule.kind not in ("whole", "number"):
        return from_text(key, text, origin)
    try:
        number = float(text) if "." in text or "e" in text.lower() else int(text)
    except ValueError:
        return from_text(key, text, origin)  # which says what is wrong with it, or that it means nothing
    number = convert(number) if convert else number
    value = checked(key, number, origin)
    if value != number:
        raise key.wrong(number, origin, "out of range")
    return value


@command.command("path")
@workspace_option
@json_option
def path(workspace: Path | None, as_json: bool) -> None:
    """Print the settings files that are read here, in the order in which later ones win."""
    chosen = chosen_workspace(workspace)
    opened = Workspace.at(chosen.folder)
    files = {
        "user": user_config_file(),
        "opencode": opened.opencode_config_file,
        "project": opened.config_file,
    }
    if as_json:
        places = {name: {"file": str(file), "exists": os.path.lexists(file)} for name, file in files.items()}
        print_json({**places, "workspace": {"folder": str(opened.root), "origin": chosen.origin}})
        return
    for name, file in files.items():
        missing = "" if os.path.lexists(file) else "  (does not exist)"
        click.echo(harmless_name(f"{name:<10}{file}{missing}"))


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
    from memlines.memory.notes.settings_file import switch

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
    click.echo("memory is on" if on else "memory is off; 'memlines config on' switches it on again")


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
