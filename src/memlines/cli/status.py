"""The commands about the index: `status`, and `model` to change the embedding model."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memlines.cli.common import choose_workspace, common_options, open_memory, trial_options
from memlines.cli.output import (
    answer_json,
    counted,
    harmless_name,
    local_time,
    print_line,
    print_problems,
    progress_bar,
    warn,
)
from memlines.embed.spending.budget import in_dollars
from memlines.errors import EmbeddingError, PathError
from memlines.types import Space

if TYPE_CHECKING:
    from memlines.memory.status import Status

_MOST_WORKSPACES = 10

_STATES = {
    "serving": "answers",
    "filling": "is being made; 'memlines sync' continues",
    "kept": "is kept; 'memlines model rollback' goes back to it",
}


# status


@click.command("status")
@click.option("--deep", is_flag=True, help="Test provider and reranker with one call each, of a word or two.")
@click.option("--index", is_flag=True, hidden=True, help="Sync first, then do as --deep does.")
@click.option("--verbose", is_flag=True, hidden=True, expose_value=False, help="Show everything, as always.")
@common_options
def status_command(deep: bool, index: bool, workspace: Path | None) -> int:
    """Show what is indexed, and how. Changes nothing.

    Exits with 6 if --deep finds that the provider or the reranker does not work.
    """
    from memlines.memory.status import read_runs

    chosen = choose_workspace(workspace)
    with open_memory(chosen.folder) as memory, progress_bar() as progress:
        if index:
            memory.sync(progress=progress)
        status = memory.status(deep=deep or index)
        last = None
        with suppress(PathError):  # figures that cannot be read are not worth an error here
            last = next(iter(read_runs(memory.workspace, 1)), None)
    probes = filter(None, (status.probe, status.rerank.get("probe")))
    code = 0 if all(probe["ok"] for probe in probes) else EmbeddingError.exit_code
    answer_json(asdict(status) | {"workspace_from": chosen.origin, "eval": last}, code)
    warn(*status.warnings)
    for name, value in [*_rows(status, chosen.origin), ("eval", _describe_run(last))]:
        click.echo(f"{click.style(f'{name:<10}', bold=True)} {harmless_name(value)}")
    print_problems(skipped=status.skipped, failed=status.failed)
    return code


def _rows(status: Status, origin: str) -> list[tuple[str, str]]:
    model = f"{status.provider} ({status.model})" if status.model else "none: search by words"
    made = status.chunks - status.pending
    is_set_elsewhere = origin.startswith(("user file", "environment", "the main worktree"))
    vectors = "off"
    if status.model:
        vectors = f"{made} of {counted(status.chunks, 'chunk')}"
        vectors += f", {status.vector['dims']} numbers each" if status.vector["dims"] else ""
        vectors += f", searched by {status.vector['engine']}" if status.vector["engine"] else ""
    rows = [
        ("workspace", status.workspace + (f" ({origin})" if is_set_elsewhere else "")),
        ("agent", status.agent),
        ("index", f"{status.index_path} ({status.index_bytes / 1e6:.1f} MB)"),
        *([("", status.index_note)] if status.index_note else []),
        ("state", _describe_state(status)),
        ("last sync", local_time(datetime.fromisoformat(status.last_sync)) if status.last_sync else "never"),
        ("files", f"{counted(status.files, 'file')}, {counted(status.chunks, 'chunk')}"),
        ("sources", ", ".join(status.sources)),
        ("model", model),
        ("vectors", vectors),
        ("text goes", status.sends_text_to),
        ("cache", f"{status.cache['entries']} of at most {status.cache['max_entries']} vectors"),
    ]
    answering = [space for space in status.spaces if space["state"] == "serving"]
    if answering and (answering[0]["provider"], answering[0]["model"]) != (status.provider, status.model):
        rows.append(("answers", f"{answering[0]['provider']} ({answering[0]['model']}), if it can be asked"))
    if status.personal:
        rows.append(("personal", _describe_personal(status.personal)))
    if status.cluster:
        rows.append(("cluster", _describe_cluster(status.cluster)))
    if status.extra_paths:
        rows.append(("extra", ", ".join(status.extra_paths)))
    if status.fallback:
        fallback = status.fallback
        instead = "words" if fallback["to"] == "none" else fallback["to"]
        rows.append(("fallback", f"{instead} instead of {fallback['from']}: {fallback['reason']}"))
    for space in status.spaces:
        if space["state"] == "filling":
            made_new = f"{space['vectors']} of {space['chunks']} vectors made"
            change = f"to {space['provider']} ({space['model']}): {made_new}; until then the old ones answer"
            rows.append(("change", change))
    if status.declined:
        rows.append(("declined", f"{status.declined}; 'memlines model resume' accepts it again"))
    if batch := _describe_batches(status.batch):
        rows.append(("batches", batch))
    if status.spending["total"]["requests"]:
        rows.append(("spent", _describe_spending(status)))
    if status.redactions:
        kinds = ", ".join(f"{count} {kind}" for kind, count in status.redactions.items())
        rows.append(("redacted", kinds))
    if status.probe is not None:
        rows.append(("provider", status.probe["message"]))
    if status.rerank:
        rows.append(("reranker", _describe_reranker(status.rerank)))
    return rows


def _describe_personal(personal: Mapping[str, Any]) -> str:
    """Say where the personal memory is, and what it holds or what is wrong with it."""
    if personal["trouble"]:
        return f"left out: {personal['trouble']}"
    if not personal["exists"]:
        return f"none yet in {personal['workspace']}"
    files, chunks = counted(personal["files"], "file"), counted(personal["chunks"], "chunk")
    return f"{personal['workspace']}: {files}, {chunks}"


def _describe_cluster(cluster: Mapping[str, Any]) -> str:
    """Say which nodes answer, and what they hold of this workspace and of others."""
    silent = [f"{node} does not: {reason}" for node, reason in cluster["nodes"].items() if reason]
    nodes = f"{len(cluster['nodes']) - len(silent)} of {counted(len(cluster['nodes']), 'node')} answer"
    if not cluster["collection"] or cluster["error"]:
        return "; ".join(filter(None, [nodes, *silent, cluster["error"]]))
    held = f"{counted(cluster['files'], 'file')}, {counted(cluster['chunks'], 'chunk')} of this workspace, "
    others = sorted(cluster["workspaces"].keys() - {cluster["workspace"]})
    beside = [f"beside {', '.join(others[:_MOST_WORKSPACES])}"] if others else []
    beside += [f"and {len(others) - _MOST_WORKSPACES} more"] if len(others) > _MOST_WORKSPACES else []
    return "; ".join([nodes, *silent, f"{held}{cluster['workspace']!r}", *beside])


def _describe_run(run: Mapping[str, Any] | None) -> str:
    """Say how well questions about the notes were answered when they were asked last."""
    if run is None:
        return "never measured; 'memlines eval --mine' does it"
    days = (datetime.now(UTC) - datetime.fromisoformat(run["at"])).days
    when = ("today", "yesterday")[days] if 0 <= days < 2 else f"{days} days ago"
    mrr = f"{run['mrr']:.2f}".removeprefix("0")
    return f"{run['top1']} of {run['questions']} questions find their lines first (mrr {mrr}), {when}"


def _describe_reranker(rerank: Mapping[str, Any]) -> str:
    """Say what reranks, how many hits, and what is wrong with it or came of trying it."""
    name = f"{rerank['provider']} ({rerank['model']})" if rerank["model"] else rerank["provider"]
    probe = rerank["probe"]["message"] if rerank["probe"] else rerank["error"]
    return f"{name}, the best {rerank['candidates']} hits{f'; {probe}' if probe else ''}"


def _describe_batches(batch: Mapping[str, Any]) -> str:
    """Say what batches do; nothing if none is or was asked for."""
    parts = ["on" if batch["enabled"] else "off"]
    if batch["waiting"]:
        parts.append(f"{counted(batch['waiting'], 'text')} handed in")
    if batch["failures"]:
        parts.append(f"failed {counted(batch['failures'], 'time')} in a row ({batch['last_error']})")
    if batch["paused_until"]:
        until = local_time(datetime.fromisoformat(batch["paused_until"]))
        parts.append(f"none is handed in until {until}")
    return "; ".join(parts) if batch["enabled"] or len(parts) > 1 else ""


def _describe_spending(status: Status) -> str:
    """Say what was sent to paid providers, today and in the last two months."""
    today, total = status.spending["today"], status.spending["total"]
    parts = [
        f"today {today['tokens']:,} tokens, {in_dollars(today['dollars'])}",
        f"62 days {total['tokens']:,} tokens, {in_dollars(total['dollars'])}",
    ]
    if total["saved"]:
        parts.append(f"saved by batches {in_dollars(total['saved'])}")
    if total["unknown_price_tokens"]:
        parts.append(f"{total['unknown_price_tokens']:,} tokens of unknown price")
    return "; ".join(parts)


def _describe_state(status: Status) -> str:
    """Say in words what keeps the index from being up to date, if anything does."""
    if not status.enabled:
        return "switched off"
    if not status.fts["available"] and status.index_bytes:
        return "not usable; the next sync or search rebuilds it if it can"
    doubts = []
    if status.last_sync is None:
        doubts.append("never synced; the first sync or search does it")
    elif status.dirty:
        doubts.append("behind the files; the next sync or search catches up")
    if status.pending:
        verb = "waits" if status.pending == 1 else "wait"
        doubts.append(f"{counted(status.pending, 'chunk')} {verb} for vectors")
    if status.failed:
        doubts.append(f"{counted(len(status.failed), 'file')} could not be read")
    return "; ".join(doubts) or "up to date"


# model


@click.group("model", invoke_without_command=True)
@common_options
@click.pass_context
def model_command(context: click.Context, workspace: Path | None) -> None:
    """Show which model's vectors answer, and how far a change to another model is.

    You choose the model with the settings embeddings.provider and embeddings.model. 'memlines sync' makes
    its vectors while the old model keeps answering, and then switches to the new one at once.
    """
    if context.invoked_subcommand is not None:
        return
    with open_memory(workspace) as memory:
        status = memory.status()
    wanted = {"provider": status.provider, "model": status.model}
    answer_json({"wanted": wanted, "spaces": list(status.spaces)})
    if not status.spaces:
        click.echo("There are no vectors yet; 'memlines sync' makes them.")
    for space in status.spaces:
        name = f"{space['provider']} ({space['model']})"
        share = f"{space['vectors']} of {counted(space['chunks'], 'chunk')}"
        doing = "was declined" if space["declined"] else _STATES[space["state"]]
        reason = f" (because {space['note']})" if space["note"] else ""
        print_line(f"{name}: {doing}, {share}{reason}")
    if status.declined:
        print_line(f"{status.declined} is declined; 'memlines model resume' accepts it again")


@model_command.command("try")
@click.argument("name")
@click.option("--provider", help="The provider of the model, as embeddings.provider names it.")
@trial_options
@common_options
def try_model(name: str, provider: str | None, workspace: Path | None, **options: Any) -> int:
    """Measure another model on questions about your notes, before you change to it.

    NAME is a model, or a provider to try with its usual model. 'memlines eval --mine' makes the questions. A
    temporary copy of your notes is indexed. Exits with 1 if the model is worse and not applied.
    """
    from memlines.cli.config import try_values
    from memlines.settings.keys import known_keys
    from memlines.settings.tree import PROVIDERS
    from memlines.settings.values import parse_value

    texts = {"embeddings.provider": provider, "embeddings.model": name}
    if provider is None and name in PROVIDERS:
        texts = {"embeddings.provider": name}
    keys = known_keys()
    values = {key: parse_value(keys[key], text, "the command line") for key, text in texts.items() if text}
    return try_values(values, workspace, **options)


@model_command.command("cancel")
@common_options
def cancel(workspace: Path | None) -> None:
    """Stop a change of model that is under way. The current model keeps answering."""
    with open_memory(workspace) as memory:
        _report(
            memory.change_model("cancel"), "The change to {} is stopped; 'memlines model resume' continues it"
        )


@model_command.command("rollback")
@common_options
def rollback(workspace: Path | None) -> None:
    """Go back to the vectors of the previous model. Makes no call to a provider."""
    sentence = "{} answers again; set embeddings.provider and embeddings.model to keep it"
    with open_memory(workspace) as memory:
        _report(memory.change_model("roll_back"), sentence)


@model_command.command("resume")
@common_options
def resume(workspace: Path | None) -> None:
    """Change to the model of the settings again, after a cancel or a rollback."""
    with open_memory(workspace) as memory:
        _report(memory.change_model("resume"), "{} is accepted again; 'memlines sync' makes its vectors")


@model_command.command("renew")
@common_options
def renew(workspace: Path | None) -> None:
    """Make all vectors of the model again, because the service changed it under the same name."""
    with open_memory(workspace) as memory:
        _report(
            memory.change_model("renew"), "The vectors of {} are dropped; 'memlines sync' makes them again"
        )


def _report(space: Space, sentence: str) -> None:
    answer_json({"provider": space.provider, "model": space.model})
    print_line(sentence.format(space))
