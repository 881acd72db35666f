"""The commands that set things up: `init` creates a workspace, `config` shows and changes settings."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from memlines.cli.common import (
    FOLDER,
    choose_workspace,
    common_options,
    folder_option,
    json_option,
    nearest_workspace,
    trial_options,
)
from memlines.cli.output import answer_json, harmless_name, print_json, print_line, wants_json, warn
from memlines.errors import SettingsError, UsageError
from memlines.files.attributes import FILE_NAME as ATTRIBUTES
from memlines.files.attributes import ensure_union
from memlines.files.place import begin_workspace, holds_memory
from memlines.paths import Workspace, expand_home, user_config_file
from memlines.settings import distrust, flatten, list_settings, load, trust
from memlines.settings.keys import ALIASES, SESSION_MEMORY, Convert, known_keys, resolve, snake, unknown
from memlines.settings.values import Key, check_value, parse_value
from memlines.worktrees import repository_above

# init


@click.command("init")
@click.argument("folder", type=FOLDER, required=False)
@click.option("-w", "--workspace", type=FOLDER, help="The same as FOLDER.")
@click.option("--team", is_flag=True, help="Have git keep both sides when it merges daily logs and facts.")
@json_option
def init_command(folder: Path | None, workspace: Path | None, team: bool) -> None:
    """Create a workspace in FOLDER (default: here). Nothing that exists is changed.

    --team adds two lines to .gitattributes, so that several people can share the workspace in git.
    """
    if folder and workspace and folder != workspace:
        raise UsageError("FOLDER and --workspace name two different folders", todo="Give one of them")
    begun, made = begin_workspace(expand_home(folder or workspace or Path()))
    if team and ensure_union(begun, load(begun).settings.facts.file):
        made.append(ATTRIBUTES)
    answer_json({"workspace": str(begun.root), "made": made})
    print_line(f"Workspace {begun.root}")
    print_line(f"  made: {', '.join(made)}" if made else "  nothing to do: everything was there")
    if team:
        if repository_above(str(begun.root)) is None:
            click.echo("There is no git repository here yet: 'git init' begins one.")
        click.echo("Commit .gitattributes with your notes. 'memlines check --staged' refuses secrets.")
    click.echo('Write notes in MEMORY.md and memory/, then ask: memlines search "what did we decide?"')


# config


@click.group("config")
def config_command() -> None:
    """Show and change settings."""


@config_command.command("show")
@click.argument("key", required=False)
@common_options
def show_command(key: str | None, workspace: Path | None) -> None:
    """Show every setting (or KEY, or those below it), its value and its origin."""
    chosen = choose_workspace(workspace)
    opened = Workspace.at(chosen.folder)
    loaded = load(opened)
    rows = list_settings(loaded)
    name = resolve(snake(key))[0] if key else ""
    wanted = [row for row in rows if not name or row.key == name or row.key.startswith(f"{name}.")]
    if not wanted:
        raise SettingsError(f"there is no setting {key!r}", todo="'memlines config show' lists them all")
    warn(*loaded.warnings)
    values = {row.key: {"value": row.value, "origin": row.origin} for row in wanted}
    if "workspace" in values:
        values["workspace"] |= {"in_use": str(opened.root), "in_use_from": chosen.origin}
    answer_json(values)
    width = max(len(row.key) for row in wanted)
    for row in wanted:
        value = harmless_name(json.dumps(row.value, ensure_ascii=False))
        line = f"{row.key:<{width}}  {value:<24}  {harmless_name(row.origin)}"
        click.secho(line, bold=row.origin != "default")
    if key in (None, "workspace"):
        print_line(f"The workspace in use is {opened.root} ({chosen.origin}).")


@config_command.command("get")
@click.argument("name", metavar="KEY")
@common_options
def get_command(name: str, workspace: Path | None) -> None:
    """Print the value of the setting KEY, and nothing else. Secrets are masked."""
    key = _find_key(name)[0]
    loaded = load(nearest_workspace(workspace))
    (row,) = (row for row in list_settings(loaded) if row.key == key.name)
    answer_json({"key": row.key, "value": row.value, "origin": row.origin})
    if isinstance(row.value, str) or row.value is None:
        print_line(row.value or "")
    else:
        print_line(json.dumps(row.value, ensure_ascii=False))


_project_option = click.option(
    "--project",
    "in_project",
    is_flag=True,
    help="Change the project's file, .memory/config.yaml, instead of your own.",
)


@config_command.command("set")
@click.argument("name", metavar="KEY")
@click.argument("text", metavar="VALUE")
@_project_option
@folder_option
@json_option
def set_command(name: str, text: str, in_project: bool, workspace: Path | None) -> None:
    """Set KEY to VALUE in your own settings file, or in the project's.

    Separate the items of a list with commas, and write headers as name=value,name=value. The rest of the
    file, with its comments, is not changed. A wrong value changes nothing.
    """
    key, convert = _find_key(name)
    value, project = _parse_value(key, text, convert), _project(in_project, workspace)
    _write(key, value, project)
    _warn_if_overruled({key.name: value}, project)
    if key.rule.secret and key.rule.kind == "str" and "${" not in text:
        warn("the key itself is in the file now; '${VARIABLE}' would keep it out")


@config_command.command("unset")
@click.argument("name", metavar="KEY")
@_project_option
@folder_option
@json_option
def unset_command(name: str, in_project: bool, workspace: Path | None) -> None:
    """Remove KEY from your own settings file, or from the project's."""
    _write(_find_key(name)[0], None, _project(in_project, workspace))


def _warn_if_overruled(values: Mapping[str, Any], project: Workspace | None) -> None:
    """Warn of settings that were written but are set elsewhere, too."""
    try:
        loaded = load(project)
    except SettingsError as error:  # such as a variable that is not set here
        warn(str(error))
        return
    own = f"project file {project.config_file}" if project else f"user file {user_config_file()}"
    for name, value in values.items():
        origin = loaded.origins[name]
        is_own = origin == own or origin.startswith(f"{own}, as ")  # one that was fitted to others may differ
        if flatten(loaded.settings)[name] != value and not known_keys()[name].rule.expands and not is_own:
            warn(f"it has no effect as long as {origin} sets {name}")


def _write(key: Key, value: Any, project: Workspace | None) -> None:
    """Write a setting, and say where; never what it is, which may be a secret."""
    from memlines.memory.notes.settings_file import write_settings

    file = project.config_file if project else user_config_file()
    changed = write_settings({key.name: value}, project)
    if wants_json():
        print_json({"key": key.name, "file": str(file), "changed": changed})
        return
    done = "is removed from" if value is None else "is written to"
    state = done if changed else "is not in" if value is None else "is so already in"
    print_line(f"{key.name} {state} {file}")


def _project(in_project: bool, workspace: Path | None) -> Workspace | None:
    """Return the project whose file is meant; nothing if it is the user's own file."""
    if in_project:
        return nearest_workspace(workspace)
    if workspace is not None:
        raise UsageError("--workspace names a project, and your own file is for all", todo="Add --project")
    return None


def _find_key(name: str) -> tuple[Key, Convert | None]:
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


def _parse_value(key: Key, text: str, convert: Convert | None) -> Any:
    """Read a value from the command line; one that would be brought into a range is refused instead."""
    origin = "the command line"
    if text.lstrip().startswith(("[", "{")) and key.rule.kind in ("list", "dict"):
        from memlines.settings.yaml_text import parse

        return check_value(key, parse(f"value: {text}".encode(), origin)["value"], origin)
    if key.rule.kind not in ("int", "float"):
        return parse_value(key, text, origin)
    try:
        number = float(text) if "." in text or "e" in text.lower() else int(text)
    except ValueError:
        return parse_value(key, text, origin)  # which says what is wrong with it, or that it means nothing
    number = convert(number) if convert else number
    value = check_value(key, number, origin)
    if value != number:
        raise key.wrong(number, origin, "out of range")
    return value


@config_command.command("try")
@click.argument("texts", metavar="KEY=VALUE...", nargs=-1, required=True)
@trial_options
@common_options
def try_command(texts: tuple[str, ...], workspace: Path | None, **options: Any) -> int:
    """Measure a change of settings on questions about your notes, before you make it.

    'memlines eval --mine' makes the questions. Settings below query are tried on your index as it is; for
    others, a temporary copy of your notes is indexed. Exits with 1 if the change is worse and not applied.
    """
    values: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"{text!r} has no value", todo="Write KEY=VALUE")
        key, convert = _find_key(name.strip())
        values[key.name] = _parse_value(key, value, convert)
    return try_values(values, workspace, **options)


def try_values(values: Mapping[str, Any], workspace: Path | None, **options: Any) -> int:
    """Measure settings for `config try` and `model try`; with `apply`, write them."""
    from memlines.cli.eval import compare_settings
    from memlines.memory.notes.settings_file import write_settings

    apply, force, in_project = (options.pop(name) for name in ("apply", "force", "in_project"))
    if (force or in_project) and not apply:
        raise UsageError("--force and --project say how a change is applied", todo="Add --apply")
    opened = nearest_workspace(workspace)
    comparison, answer = compare_settings(opened, values, **options)
    is_refused = comparison.is_worse and not (apply and force)
    if apply and not is_refused:
        project = opened if in_project else None
        write_settings(values, project)
        _warn_if_overruled(values, project)
        file = project.config_file if project else user_config_file()
        answer |= {"applied": True, "file": str(file)}
    code = 1 if is_refused else 0
    answer_json(answer, code)
    verdict = "Worse" if comparison.is_worse else "Not worse"
    if answer["applied"]:
        needs_sync = any(name.startswith(("embeddings.", "chunking.", "store.")) for name in values)
        todo = "; 'memlines sync' indexes with it" if needs_sync else ""
        print_line(f"{verdict}: {' and '.join(values)} written to {answer['file']}{todo}")
    else:
        print_line(f"{verdict}: nothing was changed" + ("; --force applies it anyway" if apply else ""))
    return code


@config_command.command("path")
@common_options
def path_command(workspace: Path | None) -> None:
    """Print the settings files that are read here; a later one overrules an earlier one."""
    chosen = choose_workspace(workspace)
    opened = Workspace.at(chosen.folder)
    files = {
        "user": user_config_file(),
        "opencode": opened.opencode_config_file,
        "project": opened.config_file,
    }
    places = {name: {"file": str(file), "exists": os.path.lexists(file)} for name, file in files.items()}
    answer_json({**places, "workspace": {"folder": str(opened.root), "origin": chosen.origin}})
    for name, file in files.items():
        missing = "" if os.path.lexists(file) else "  (does not exist)"
        print_line(f"{name:<10}{file}{missing}")


@config_command.command("off")
@folder_option
@json_option
def off_command(workspace: Path | None) -> None:
    """Switch the memory of this workspace off: nothing is searched, kept or indexed until it is on."""
    _switch(workspace, on=False)


@config_command.command("on")
@folder_option
@json_option
def on_command(workspace: Path | None) -> None:
    """Switch the memory of this workspace on again."""
    _switch(workspace, on=True)


def _switch(named: Path | None, *, on: bool) -> None:
    from memlines.memory.notes.settings_file import switch

    workspace = nearest_workspace(named)
    load(workspace)  # settings that cannot be read are an error before anything is written
    if not on and not holds_memory(workspace):
        raise UsageError(
            f"there is no memory in {str(workspace.root)!r} to switch off", todo="Name another folder"
        )
    changed = switch(workspace, on=on)
    loaded = load(workspace)
    if loaded.settings.enabled is not on:
        raise SettingsError(
            f"{workspace.config_file} was written, but {loaded.origins['enabled']} overrules it",
            todo="Change it there, too",
        )
    answer_json({"file": str(workspace.config_file), "changed": changed, "enabled": on})
    click.echo("memory is on" if on else "memory is off; 'memlines config on' switches it on again")


@config_command.command("trust")
@click.option("--revoke", is_flag=True, help="Stop trusting them.")
@folder_option
@json_option
def trust_command(revoke: bool, workspace: Path | None) -> None:
    """Let the project's own settings files set every key.

    Those are .memory/config.yaml, and the part of .opencode/config.yaml below `memory`. Read them first:
    they may have come with a repository of someone else. You trust only their present content.
    """
    opened = nearest_workspace(workspace)
    files = [file for file in opened.config_files if revoke or file.exists()] or [opened.config_file]
    results: list[dict[str, Any]] = []
    for file in files:
        if revoke:
            was = distrust(file)
            results.append({"file": str(file), "trusted": False})
            sentence = f"{file} is no longer trusted" if was else f"{file} was not trusted"
        else:
            digest = trust(file)
            results.append({"file": str(file), "trusted": True, "sha256": digest})
            sentence = f"{file} is trusted as it is now (SHA-256 {digest[:12]}…)"
        if not wants_json():
            print_line(sentence)
    answer_json({**results[-1], "files": results})
