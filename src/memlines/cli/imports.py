"""`memlines import`: merge an archive into the workspace, or bring in what another program remembers."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memlines.admin.backup.archive import MAX_UNPACKED_BYTES, Imported, import_archive
from memlines.admin.backup.manifest import SETTINGS_NAME
from memlines.cli.common import (
    Function,
    counted,
    harmless_name,
    json_option,
    nearest_workspace,
    print_json,
    print_problems,
    progress_bar,
    workspace_option,
)
from memlines.paths import Workspace, expand_home
from memlines.settings import Settings, load, refuse_if_off

if TYPE_CHECKING:
    from memlines.admin.backup.snapshots import Restored
    from memlines.admin.imports import openclaw, vault
    from memlines.admin.imports.memories import Added

_MOST_NAMES = 20
_ARCHIVE = "archive"


class _Sources(click.Group):
    """The sources by their names; whatever is none of them is the name of an archive."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in (*self.commands, *ctx.help_option_names):
            args = [_ARCHIVE, *args]
        elif len(args) == 1 and args[0] in self.commands and Path(args[0]).is_file():
            raise click.UsageError(f"{args[0]!r} names a source. For the file, write ./{args[0]}", ctx)
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return ["ARCHIVE | SOURCE ..."]


@click.group("import", cls=_Sources)
def command() -> None:
    """Merge an ARCHIVE of 'memlines export' into the workspace, or import from another program.

    A SOURCE is one of the commands below. A file that has the name of one is written as ./NAME.
    Nothing is overwritten, and importing the same again adds nothing.
    """


def dry_run_option(function: Function) -> Function:
    """Add `--dry-run`."""
    return click.option("--dry-run", is_flag=True, help="Check everything and show what would happen.")(
        function
    )


def with_forgotten_option(function: Function) -> Function:
    """Add `--with-forgotten`."""
    return click.option(
        "--with-forgotten", is_flag=True, help="Bring back what was forgotten since the copy was made."
    )(function)


def _opened(workspace: Path | None) -> tuple[Workspace, Settings]:
    """Return a workspace and its settings, unless its memory is switched off."""
    found = Workspace.at(nearest_workspace(workspace))
    loaded = load(found)
    refuse_if_off(loaded)
    return found, loaded.settings


# An archive of our own


@command.command(_ARCHIVE, short_help="An archive of 'memlines export'.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Check the archive and show what would happen.")
@click.option(
    "--max-bytes",
    type=click.IntRange(min=1),
    default=MAX_UNPACKED_BYTES,
    help=f"Refuse an archive that unpacks to more. [default: {MAX_UNPACKED_BYTES}]",
)
@with_forgotten_option
@workspace_option
@json_option
def archive_command(
    file: Path,
    dry_run: bool,
    max_bytes: int,
    with_forgotten: bool,
    workspace: Path | None,
    as_json: bool,
) -> int:
    """Merge the archive FILE into the workspace; nothing is overwritten.

    Where a note differs, both are kept: the imported one as NAME-imported-DATE.md. What was forgotten
    since the archive was made is left out and listed. Settings in the archive are not applied. Exits with
    1 if a file could not be brought in.
    """
    opened = Workspace.at(nearest_workspace(workspace))
    settings = load(opened).settings
    with progress_bar() as progress:
        done = import_archive(
            opened,
            settings,
            file,
            dry_run=dry_run,
            with_forgotten=with_forgotten,
            max_bytes=max_bytes,
            progress=progress,
        )
    if as_json:
        print_json(asdict(done))
    else:
        print_merged(done)
        _print_settings(done)
    return 1 if done.failed else 0


def print_merged(done: Imported | Restored | vault.Imported) -> None:
    """Say what a merge did, or would do."""
    created, kept_both, failed = done.created, done.kept_both, done.failed
    counts = [
        f"{len(created)} created",
        f"{len(kept_both)} kept beside another version",
        f"{done.same} the same",
    ]
    if failed:
        counts.append(f"{len(failed)} failed")
    click.echo(f"{'Would be: ' if done.dry_run else ''}{', '.join(counts)}")
    _print_some(
        [f"{harmless_name(p.path)} differs; imported as {harmless_name(p.imported_as)}" for p in kept_both]
    )
    if done.forgotten:
        places = counted(len(done.forgotten), "passage")
        click.echo(f"Left out because forgotten since: {places} (--with-forgotten brings them back)")
        _print_some([harmless_name(place) for place in done.forgotten])
    print_problems("Brought in unchecked", done.unchecked, "yellow")
    print_problems("Failed", failed, "red")


def _print_some(lines: Sequence[str]) -> None:
    for line in lines[:_MOST_NAMES]:
        click.echo(f"  {line}")
    if len(lines) > _MOST_NAMES:
        click.echo(f"  and {len(lines) - _MOST_NAMES} more (--json lists all)")


def _print_settings(done: Imported) -> None:
    if done.settings:
        look = f"unzip -p {shlex.quote(harmless_name(done.file))} {SETTINGS_NAME}"
        click.echo(f"The archive holds settings, which were not applied; to look at them: {look}")


# Folders of Markdown


def _vault_command(name: str, what: str) -> None:
    @command.command(name, short_help=f"The notes of {what}.", help=_VAULT_HELP.format(what=what))
    @click.argument("folder", type=click.Path(path_type=Path))
    @click.option("--name", "below", help="The folder below memory/. [default: the name of FOLDER]")
    @click.option("--link", is_flag=True, help="Copy nothing; tell the setting that has FOLDER searched.")
    @dry_run_option
    @with_forgotten_option
    @workspace_option
    @json_option
    def vault_command(
        folder: Path,
        below: str | None,
        link: bool,
        dry_run: bool,
        with_forgotten: bool,
        workspace: Path | None,
        as_json: bool,
    ) -> int:
        from memlines.admin.imports.vault import import_vault

        opened, settings = _opened(workspace)
        if link:
            return _tell_link(opened, settings, folder, as_json=as_json)
        with progress_bar() as progress:
            done = import_vault(
                opened,
                settings,
                folder,
                name=below,
                dry_run=dry_run,
                with_forgotten=with_forgotten,
                progress=progress,
            )
        if as_json:
            print_json(done.to_json())
        else:
            print_vault(done)
        return 1 if done.failed else 0


_VAULT_HELP = """Copy the notes of {what} below memory/NAME/, where they keep their paths.

    A note that is there already is left alone; where one differs both are kept. Attachments, links, what
    begins with a dot and what was forgotten here are left out. Exits with 1 if a note could not be
    brought in.
    """


def print_vault(done: vault.Imported) -> None:
    """Say what copying notes did, or would do."""
    print_merged(done)
    if done.attachments:
        click.echo(f"Not copied: {counted(done.attachments, 'attachment')}")
    print_problems("Left out", done.left_out, "yellow")


def _tell_link(workspace: Workspace, settings: Settings, folder: Path, *, as_json: bool) -> int:
    """Say which setting has a folder searched where it is."""
    from memlines.admin.imports.vault import checked_folder

    root = str(checked_folder(workspace, folder))
    paths = [*settings.extra_paths, *([] if root in settings.extra_paths else [root])]
    if as_json:
        print_json({"setting": "extra_paths", "value": paths})
        return 0
    click.echo(f"Nothing was copied. To have it searched where it is, set this in {workspace.config_file}")
    click.echo("and run 'memlines config trust':")
    click.echo("extra_paths:")
    for path in paths:
        click.echo(f"  - {json.dumps(path, ensure_ascii=False)}")  # which is YAML as well
    return 0


_vault_command("obsidian", "an Obsidian vault")
_vault_command("basic-memory", "a basic-memory project")
_vault_command("markdown", "any folder of Markdown")


# Exports


@command.command("mem0", short_help="The memories of a mem0 export.")
@click.argument("file", type=click.Path(path_type=Path))
@dry_run_option
@workspace_option
@json_option
def mem0_command(file: Path, dry_run: bool, workspace: Path | None, as_json: bool) -> None:
    """Write the memories of a mem0 export into memory/imported/mem0.md.

    FILE is JSON: a list of memories, or an object with the list under results. Each becomes an entry
    with its date, its categories as tags, and a mark by which it is known again. Secrets are taken out.
    """
    from memlines.admin.imports.memories import import_mem0

    opened, settings = _opened(workspace)
    with progress_bar() as progress:
        done = import_mem0(opened, settings, file, dry_run=dry_run, progress=progress)
    if as_json:
        print_json(done.to_json())
    else:
        print_counts(_memory_counts(done.memories) | {"skipped": done.skipped}, dry_run=dry_run)
        print_redacted(done.memories.redacted)
        for path in done.memories.paths:
            click.echo(f"  {path}")


@command.command("chatgpt", short_help="The conversations of a ChatGPT export.")
@click.argument("file", type=click.Path(path_type=Path))
@dry_run_option
@workspace_option
@json_option
def chatgpt_command(file: Path, dry_run: bool, workspace: Path | None, as_json: bool) -> None:
    """Bring conversations with ChatGPT into sessions/, and what it saved into memory/imported/chatgpt.md.

    FILE is the archive that ChatGPT sends when you export your data, or the conversations.json in it. Of
    a conversation the branch counts that was shown last. Secrets are taken out.
    """
    from memlines.admin.imports.chatgpt import import_chatgpt

    opened, settings = _opened(workspace)
    with progress_bar() as progress:
        done = import_chatgpt(opened, settings, file, dry_run=dry_run, progress=progress)
    if as_json:
        print_json(done.to_json())
        return
    counts = {"imported": done.imported, "replaced": done.replaced, "already there": done.same}
    print_counts(
        counts | {"left out": done.left_out, "skipped": done.skipped}, "conversations", dry_run=dry_run
    )
    print_redacted(done.redacted)
    if any(_memory_counts(done.memories).values()):
        print_counts(_memory_counts(done.memories), "memories", dry_run=dry_run)
    if "sessions" not in settings.sources:
        click.echo("Conversations are not searched yet: set sources to [memory, sessions].", err=True)


def _memory_counts(added: Added) -> dict[str, int]:
    return {
        "added": added.added,
        "already there": added.known,
        "forgotten before": added.forgotten,
        "unusable": added.unusable,
    }


def print_counts(counts: Mapping[str, int], what: str = "memories", *, dry_run: bool) -> None:
    """Say what became of things, those of which there are some; the first is always told."""
    first, *others = counts
    told = [f"{counts[name]} {name}" for name in (first, *(name for name in others if counts[name]))]
    click.echo(f"{what.capitalize()}: {'would be ' if dry_run else ''}{', '.join(told)}")


def print_redacted(redacted: Mapping[str, int]) -> None:
    """Say how many secrets were taken out, if any."""
    if redacted:
        click.echo(f"{counted(sum(redacted.values()), 'secret')} taken out")


# OpenClaw


@command.command("openclaw", short_help="The memories and vectors, and if asked the notes, of OpenClaw.")
@click.option(
    "--state-dir",
    type=click.Path(path_type=Path),
    help="Where OpenClaw keeps its state. [default: OPENCLAW_STATE_DIR, else ~/.openclaw]",
)
@click.option("--copy-notes", is_flag=True, help="Copy its notes into this workspace first.")
@click.option(
    "--notes", type=click.Path(path_type=Path), help="Its workspace. [default: what its settings say]"
)
@click.option(
    "--settings",
    "settings_to",
    type=click.Choice(["user", "project"]),
    help="Write its memory settings into your own file, or into the project's. [default: only show them]",
)
@dry_run_option
@with_forgotten_option
@workspace_option
@json_option
def openclaw_command(
    state_dir: Path | None,
    copy_notes: bool,
    notes: Path | None,
    settings_to: openclaw.SettingsFile | None,
    dry_run: bool,
    with_forgotten: bool,
    workspace: Path | None,
    as_json: bool,
) -> int:
    """Take over the memories of OpenClaw's LanceDB plugin as facts, and vectors that were paid for.

    The notes stay where they are: a workspace of OpenClaw can be used as it is (-w FOLDER). A vector is
    taken if it is of the model in the settings and of a text that is cut and embedded alike; the provider
    is asked for a few vectors to make sure. Its memory settings are shown as ours, without keys. OpenClaw's
    files are only read. Exits with 1 if something that
    is there could not be brought in.
    """
    from memlines.admin.imports.openclaw import default_state_dir, import_openclaw, workspace_of
    from memlines.cli.openclaw_shown import print_imported
    from memlines.memory.memory import Memory

    opened, settings = _opened(workspace)
    state = expand_home(state_dir) if state_dir else default_state_dir()
    theirs = (notes or workspace_of(state, settings.agent)) if copy_notes or notes else None
    with Memory(opened.root) as memory, progress_bar() as progress:
        done = import_openclaw(
            memory,
            state_dir=state,
            notes_from=theirs,
            dry_run=dry_run,
            with_forgotten=with_forgotten,
            settings_to=settings_to,
            progress=progress,
        )
    if as_json:
        print_json(done.to_json())
    else:
        print_imported(done)
    return 1 if done.failed else 0
