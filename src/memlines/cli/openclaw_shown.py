"""How an import from OpenClaw is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memlines.cli.common import counted, harmless_name, warn
from memlines.cli.imports import print_counts, print_redacted, print_vault
from memlines.memory.notes.settings_file import written_settings

if TYPE_CHECKING:
    from memlines.admin.imports.openclaw import Imported, TheirSettings
    from memlines.admin.imports.openclaw_memories import Memories
    from memlines.admin.imports.openclaw_vectors import Vectors


def print_imported(done: Imported) -> None:
    """Say what an import did, or would do."""
    if done.trouble:
        warn(done.trouble)
    if done.notes:
        print_vault(done.notes)
    if done.memories:
        _print_memories(done.memories, dry_run=done.dry_run)
    if done.vectors:
        _print_vectors(done.vectors, dry_run=done.dry_run)
    if done.settings:
        _print_settings(done.settings)


def _print_memories(memories: Memories, *, dry_run: bool) -> None:
    if memories.reason:
        place = harmless_name(memories.place)
        warn(f"the memories in {place} were not brought in: {harmless_name(memories.reason)}")
        return
    counts = {
        "added as facts": memories.facts,
        "added to memory/imported/openclaw.md": memories.noted,
        "already there": memories.known,
        "forgotten before": memories.forgotten,
        "left out because they read like an order to a model": memories.orders,
        "unusable": memories.unusable,
    }
    print_counts(counts, dry_run=dry_run)
    print_redacted(memories.redacted)


def _print_vectors(vectors: Vectors, *, dry_run: bool) -> None:
    if vectors.texts:
        of_model = f"{vectors.there} vectors of {vectors.provider} ({vectors.model}) there"
        taken = f"{vectors.matching} would be taken" if dry_run else f"{vectors.taken} taken"
        known = f", {vectors.known} known already" if vectors.known else ""
        texts = counted(vectors.texts, "text")
        click.echo(f"{of_model}; {texts} here, {vectors.matching} alike, {taken}{known}")
    if vectors.reason:
        click.echo(f"Not taken: {harmless_name(vectors.reason)}")


def _print_settings(settings: TheirSettings) -> None:
    if settings.file:
        new = len(settings.values) - len(settings.kept)
        click.echo(f"Settings: {new} written to {harmless_name(settings.file)}")
        for name in settings.kept:
            click.echo(f"  {harmless_name(name)} is set there already and stays as it is")
    elif settings.values:
        click.echo("Its settings, as Memlines takes them (--settings user or project writes them):")
        for line in written_settings(settings.values).splitlines():
            click.echo(f"  {harmless_name(line)}")
    if settings.left_out:
        click.echo("Settings left out:")
        for sentence in settings.left_out:
            click.echo(f"  {harmless_name(sentence)}")
