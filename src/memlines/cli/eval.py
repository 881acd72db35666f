"""`memlines eval`: measure how well search finds what it should."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import click

from memlines.admin.evaluation.run import MODES, Evaluation, evaluate, evaluation_json, hits_json
from memlines.admin.evaluation.sets import METRICS, LabelledSet, read_file, read_folder
from memlines.cli.common import choose_workspace, common_options
from memlines.cli.main import INTERRUPTED
from memlines.cli.output import answer_json, harmless, progress_bar, wants_json, warn
from memlines.errors import UsageError, reason_of
from memlines.settings.keys import known_keys, snake, unknown
from memlines.settings.values import parse_value
from memlines.types import Mode

_PATH = click.Path(path_type=Path, readable=False)


@click.command("eval")
@click.argument("sets", metavar="SET...", nargs=-1, required=True, type=_PATH)
@click.option(
    "--mode", "modes", type=click.Choice(MODES), multiple=True, help="Measure only this mode; repeatable."
)
@click.option("--set", "settings", metavar="KEY=VALUE", multiple=True, help="Use this setting; repeatable.")
@click.option("--by-type", is_flag=True, help="Also show each type of query separately.")
@click.option("--hits", type=_PATH, help="Write the hits of the hybrid mode to this file, a line per query.")
@common_options
def eval_command(
    sets: tuple[Path, ...],
    modes: tuple[str, ...],
    settings: tuple[str, ...],
    by_type: bool,
    hits: Path | None,
    workspace: Path | None,
) -> int:
    """Measure how well search finds the lines it should.

    SET is a folder with queries.jsonl and the workspaces it names, or a .jsonl file of queries
    about your workspace. Every workspace is copied, indexed and asked in a temporary folder.
    """
    given = _settings(settings)
    wanted = cast("tuple[Mode, ...]", modes) or MODES
    labelled = _read(sets, workspace)
    if hits is not None and len(sets) > 1:
        raise UsageError("--hits holds the hits of one set", todo="Evaluate the sets one by one")
    if hits is not None and (hits.is_dir() or not hits.absolute().parent.is_dir()):
        raise UsageError(f"--hits {str(hits)!r} is not a file that can be written", todo="Name another file")
    done: list[dict[str, Any]] = []
    try:
        for each in labelled:
            with progress_bar() as progress:
                evaluation = evaluate(each, given, wanted, progress)
            done.append(evaluation_json(evaluation))
            if not wants_json():
                _print(done[-1], by_type=by_type)
            if hits is not None:
                _write_hits(hits, evaluation)
    except KeyboardInterrupt:
        click.echo("Interrupted. The copies that were measured are removed.", err=True)
        return INTERRUPTED
    answer_json({"sets": done})
    return 0


def _settings(texts: Sequence[str]) -> dict[str, Any]:
    """Read KEY=VALUE, with values written as in environment variables."""
    given: dict[str, Any] = {}
    for text in texts:
        spelled, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"--set {text!r} has no value", todo="Write KEY=VALUE")
        name = snake(spelled.strip())
        if name not in known_keys():
            raise unknown(spelled.strip(), "--set", known_keys())
        key = known_keys()[name]
        parsed = parse_value(key, value, "--set")
        given[name] = dict(parsed) if key.rule.kind == "dict" else parsed
    return given


def _read(sets: Sequence[Path], workspace: Path | None) -> list[LabelledSet]:
    """Read every set before anything is measured, so that a mistake in the last shows at once."""
    if workspace is not None and all(place.is_dir() for place in sets):
        raise UsageError(
            "--workspace is for a file of queries; a folder brings its workspaces", todo="Leave it out"
        )
    return [
        read_folder(place) if place.is_dir() else read_file(place, choose_workspace(workspace).folder)
        for place in sets
    ]


def _write_hits(file: Path, evaluation: Evaluation) -> None:
    """Write the hits of the hybrid mode, or of what was measured in its place."""
    mode = next(mode for mode in reversed(MODES) if mode in evaluation.answers)
    if mode != "hybrid":
        warn(f"{file} holds the hits by {mode}, because hybrid was not measured")
    lines = [json.dumps(hits_json(answer), ensure_ascii=False) for answer in evaluation.answers[mode]]
    try:
        file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(
            f"--hits {str(file)!r} cannot be written: {reason_of(error)}",
            todo="Name another file",
        ) from error


def _print(figures: dict[str, Any], *, by_type: bool) -> None:
    warn(*figures["notes"])
    model = f"{figures['provider']} ({figures['model']})" if figures["model"] else "words only"
    click.secho(harmless(figures["set"]), bold=True, nl=False)
    click.echo(
        f": queries {figures['queries']}, workspaces {figures['workspaces']}, files {figures['files']},"
        f" chunks {figures['chunks']}, indexed in {figures['index_seconds']:.1f} s, {harmless(model)}"
    )
    rows = [_row(mode, group) for mode, group in figures["modes"].items()]
    if by_type:
        rows += [
            _row(f"{mode}, {harmless(kind)}", group)
            for mode, whole in figures["modes"].items()
            for kind, group in whole["types"].items()
        ]
    head = ("mode", "queries", *METRICS, "silent", "p50 ms", "p95 ms")
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for row in (head, *rows):
        numbers = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        click.echo("  ".join([row[0].ljust(widths[0]), *numbers]).rstrip())
    click.echo()


def _row(name: str, group: dict[str, Any]) -> tuple[str, ...]:
    shares = [*group["metrics"].values(), group["silent"]]
    times = [f"{group[name]:.1f}" if name in group else "" for name in ("p50_ms", "p95_ms")]
    return (name, str(group["queries"]), *(f"{share:.3f}" for share in shares), *times)
