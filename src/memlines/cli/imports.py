"""`memlines import`: merge an archive into the workspace, or import the memories of another program."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memlines.admin.backup.archive import MAX_UNPACKED_BYTES, import_archive
from memlines.admin.backup.manifest import SETTINGS_NAME
from memlines.cli.backup import print_merged, with_forgotten_option
from memlines.cli.common import FILE, common_options, dry_run_option, nearest_workspace, open_memory
from memlines.cli.output import (
    answer_json,
    counted,
    harmless_name,
    print_line,
    print_problems,
    progress_bar,
    warn,
)
from memlines.paths import Workspace, expand_home
from memlines.settings import Settings, load, refuse_if_off
from memlines.text.shell import quote_word

if TYPE_CHECKING:
    from memlines.admin.imports import openclaw
    from memlines.admin.imports.memories import Added
    from memlines.admin.imports.openclaw_memories import Memories
    from memlines.admin.imports.openclaw_vectors import Vectors
    from memlines.admin.imports.vault import CopiedNotes

_ARCHIVE = "archive"


class _Sources(click.Group):
    """The sources by name; any other name is the name of an archive."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in (*self.commands, *ctx.help_option_names):
            nearest = get_close_matches(args[0], self.commands, n=1)
            if nearest and not Path(args[0]).exists():
                raise click.UsageError(
                    f"{args[0]!r} is no file and no source. Did you mean {nearest[0]!r}?", ctx
                )
            args = [_ARCHIVE, *args]
        elif len(args) == 1 and args[0] in self.commands and Path(args[0]).is_file():
            raise click.UsageError(f"{args[0]!r} names a source. For the file, write ./{args[0]}", ctx)
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return ["ARCHIVE | SOURCE ..."]


@click.group("import", cls=_Sources)
def import_command() -> None:
    """Merge an ARCHIVE of 'memlines export' into your workspace, or import from another program.

    A SOURCE is one of the commands below; if your file has the name of one, write it as ./NAME. Nothing is
    overwritten, and importing the same again adds nothing.
    """


def _open(workspace: Path | None) -> tuple[Workspace, Settings]:
    """Return a workspace and its settings, unless its memory is switched off."""
    found = nearest_workspace(workspace)
    loaded = load(found)
    refuse_if_off(loaded)
    return found, loaded.settings


# An archive of our own


@import_command.command(_ARCHIVE, short_help="An archive of 'memlines export'.")
@click.argument("file", type=FILE)
@dry_run_option
@click.option(
    "--max-bytes",
    type=click.IntRange(min=1),
    default=MAX_UNPACKED_BYTES,
    help=f"Refuse an archive that unpacks to more. [default: {MAX_UNPACKED_BYTES}]",
)
@with_forgotten_option
@common_options
def archive_command(file: Path, workspace: Path | None, **options: Any) -> int:
    """Merge the archive FILE into your workspace; nothing is overwritten.

    If a note differs, you keep both: the imported one as NAME-imported-DATE.md. What you have forgotten
    since the archive was made is left out and listed. Settings in the archive are not applied. Exits with
    1 if a file could not be imported.
    """
    opened = nearest_workspace(workspace)
    settings = load(opened).settings
    with progress_bar() as progress:
        done = import_archive(opened, settings, file, progress=progress, **options)
    code = 1 if done.failed else 0
    answer_json(asdict(done), code)
    print_merged(done)
    if done.settings:
        look = f"unzip -p {quote_word(harmless_name(done.file))} {SETTINGS_NAME}"
        print_line(f"The archive holds settings, which were not applied; to look at them: {look}")
    return code


# Folders of Markdown


def _vault_command(name: str, what: str) -> None:
    @import_command.command(name, short_help=f"The notes of {what}.", help=_VAULT_HELP.format(what=what))
    @click.argument("folder", type=FILE)
    @click.option("--name", help="Copy into this folder below memory/. [default: the name of FOLDER]")
    @click.option("--link", is_flag=True, help="Copy nothing; show the setting that makes FOLDER searchable.")
    @dry_run_option
    @with_forgotten_option
    @common_options
    def vault_command(folder: Path, link: bool, workspace: Path | None, **options: Any) -> int:
        from memlines.admin.imports.vault import import_vault

        opened, settings = _open(workspace)
        if link:
            return _show_link(opened, settings, folder)
        with progress_bar() as progress:
            done = import_vault(opened, settings, folder, progress=progress, **options)
        code = 1 if done.failed else 0
        answer_json(asdict(done), code)
        _print_copied(done)
        return code


_VAULT_HELP = """Copy the notes of {what} below memory/NAME/, where they keep their paths.

    A note that you already have is not copied again; if one differs, you keep both. Attachments, links,
    names that begin with a dot and what you have forgotten here are left out. Exits with 1 if a note could
    not be imported.
    """


def _print_copied(done: CopiedNotes) -> None:
    print_merged(done)
    if done.attachments:
        click.echo(f"Not copied: {counted(done.attachments, 'attachment')}")
    print_problems(left_out=done.left_out)


def _show_link(workspace: Workspace, settings: Settings, folder: Path) -> int:
    """Show the setting that makes a folder searchable where it is."""
    from memlines.admin.imports.vault import check_folder

    root = str(check_folder(workspace, folder))
    paths = [*settings.extra_paths, *([] if root in settings.extra_paths else [root])]
    answer_json({"setting": "extra_paths", "value": paths})
    print_line(f"Nothing was copied. To search it where it is, set this in {workspace.config_file}")
    click.echo("and run 'memlines config trust':")
    click.echo("extra_paths:")
    for path in paths:
        click.echo(f"  - {json.dumps(path, ensure_ascii=False)}")  # which is also YAML
    return 0


_vault_command("obsidian", "an Obsidian vault")
_vault_command("basic-memory", "a basic-memory project")
_vault_command("markdown", "any folder of Markdown")


# Exports


@import_command.command("mem0", short_help="The memories of a mem0 export.")
@click.argument("file", type=FILE)
@dry_run_option
@common_options
def mem0_command(file: Path, dry_run: bool, workspace: Path | None) -> None:
    """Write the memories of a mem0 export into memory/imported/mem0.md.

    FILE is JSON: a list of memories, or an object with the list under results. Each becomes an entry
    with its date, its categories as tags, and a mark that identifies it. Secrets are removed.
    """
    from memlines.admin.imports.memories import import_mem0

    opened, settings = _open(workspace)
    with progress_bar() as progress:
        done = import_mem0(opened, settings, file, dry_run=dry_run, progress=progress)
    answer_json(done.to_json())
    _print_counts(_memory_counts(done.memories) | {"skipped": done.skipped}, dry_run=dry_run)
    _print_redacted(done.memories.redacted)
    for path in done.memories.paths:
        click.echo(f"  {path}")


@import_command.command("chatgpt", short_help="The conversations of a ChatGPT export.")
@click.argument("file", type=FILE)
@dry_run_option
@common_options
def chatgpt_command(file: Path, dry_run: bool, workspace: Path | None) -> None:
    """Copy conversations with ChatGPT into sessions/, and what it saved into memory/imported/chatgpt.md.

    FILE is the archive that ChatGPT sends when you export your data, or the conversations.json in it. From
    each conversation you get the branch that was shown last. Secrets are removed.
    """
    from memlines.admin.imports.chatgpt import import_chatgpt

    opened, settings = _open(workspace)
    with progress_bar() as progress:
        done = import_chatgpt(opened, settings, file, dry_run=dry_run, progress=progress)
    answer_json(asdict(done))
    counts = {"imported": done.imported, "replaced": done.replaced, "already there": done.same}
    _print_counts(
        counts | {"left out": done.left_out, "skipped": done.skipped}, "conversations", dry_run=dry_run
    )
    _print_redacted(done.redacted)
    if any(_memory_counts(done.memories).values()):
        _print_counts(_memory_counts(done.memories), "memories", dry_run=dry_run)
    if "sessions" not in settings.sources:
        click.echo("Conversations are not searched yet: set sources to [memory, sessions].", err=True)


def _memory_counts(added: Added) -> dict[str, int]:
    return {
        "added": added.added,
        "already there": added.known,
        "forgotten before": added.forgotten,
        "unusable": added.unusable,
    }


def _print_counts(counts: Mapping[str, int], what: str = "memories", *, dry_run: bool) -> None:
    """Print the counts by name; only the first is printed if it is zero."""
    first, *others = counts
    shown = [f"{counts[name]} {name}" for name in (first, *(name for name in others if counts[name]))]
    click.echo(f"{what.capitalize()}: {'would be ' if dry_run else ''}{', '.join(shown)}")


def _print_redacted(redacted: Mapping[str, int]) -> None:
    if redacted:
        click.echo(f"{counted(sum(redacted.values()), 'secret')} removed")


# OpenClaw


@import_command.command("openclaw", short_help="The memories, vectors and, if asked, notes of OpenClaw.")
@click.option(
    "--state-dir",
    type=FILE,
    help="Where OpenClaw keeps its state. [default: OPENCLAW_STATE_DIR, else ~/.openclaw]",
)
@click.option("--copy-notes", is_flag=True, help="Copy its notes into this workspace first.")
@click.option("--notes", type=FILE, help="The workspace of OpenClaw. [default: from its settings]")
@click.option(
    "--settings",
    "settings_to",
    type=click.Choice(["user", "project"]),
    help="Write its memory settings into your own file, or into the project's. [default: only show them]",
)
@dry_run_option
@with_forgotten_option
@common_options
def openclaw_command(
    state_dir: Path | None, copy_notes: bool, notes: Path | None, workspace: Path | None, **options: Any
) -> int:
    """Import the memories of OpenClaw's LanceDB plugin as facts, and vectors that you already paid for.

    The notes stay where they are: you can use a workspace of OpenClaw as it is (-w FOLDER). A vector is
    used if it is from the model in your settings and from a text that is cut and embedded the same way; the
    provider is asked for a few vectors to make sure. Its memory settings are shown as ours, without keys.
    OpenClaw's files are only read. Exits with 1 if something could not be imported.
    """
    from memlines.admin.imports.openclaw import default_state_dir, import_openclaw, workspace_of

    opened, settings = _open(workspace)
    state = expand_home(state_dir) if state_dir else default_state_dir()
    theirs = (notes or workspace_of(state, settings.agent)) if copy_notes or notes else None
    with open_memory(opened.root) as memory, progress_bar() as progress:
        done = import_openclaw(memory, state_dir=state, notes_from=theirs, progress=progress, **options)
    code = 1 if done.failed else 0
    answer_json(done.to_json(), code)
    if done.trouble:
        warn(done.trouble)
    if done.notes:
        _print_copied(done.notes)
    if done.memories:
        _print_memories(done.memories, dry_run=done.dry_run)
    if done.vectors:
        _print_vectors(done.vectors, dry_run=done.dry_run)
    if done.settings:
        _print_settings(done.settings)
    return code


def _print_memories(memories: Memories, *, dry_run: bool) -> None:
    if memories.reason:
        warn(f"the memories in {memories.place} were not imported: {memories.reason}")
        return
    counts = {
        "added as facts": memories.facts,
        "added to memory/imported/openclaw.md": memories.noted,
        "already there": memories.known,
        "forgotten before": memories.forgotten,
        "left out because they read like an order to a model": memories.orders,
        "unusable": memories.unusable,
    }
    _print_counts(counts, dry_run=dry_run)
    _print_redacted(memories.redacted)


def _print_vectors(vectors: Vectors, *, dry_run: bool) -> None:
    if vectors.texts:
        of_model = f"{vectors.there} vectors of {vectors.provider} ({vectors.model}) there"
        taken = f"{vectors.matching} would be taken" if dry_run else f"{vectors.taken} taken"
        known = f", {vectors.known} known already" if vectors.known else ""
        texts = counted(vectors.texts, "text")
        click.echo(f"{of_model}; {texts} here, {vectors.matching} alike, {taken}{known}")
    if vectors.reason:
        print_line(f"Not taken: {vectors.reason}")


def _print_settings(settings: openclaw.TheirSettings) -> None:
    from memlines.memory.notes.settings_file import format_settings

    if settings.file:
        new = len(settings.values) - len(settings.kept)
        print_line(f"Settings: {new} written to {settings.file}")
        for name in settings.kept:
            print_line(f"  {name} is set there already and stays as it is")
    elif settings.values:
        click.echo("Its settings, in the words of Memlines (--settings user or project writes them):")
        for line in format_settings(settings.values).splitlines():
            print_line(f"  {line}")
    if settings.left_out:
        click.echo("Settings left out:")
        for sentence in settings.left_out:
            print_line(f"  {sentence}")
