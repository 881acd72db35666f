"""`memlines eval`: measure how well search finds what it should, also with other settings."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from memlines.admin.evaluation.mine import Comparison, Figures, Moved, measure, prepare, try_settings
from memlines.admin.evaluation.run import MODES, Evaluation, evaluate, evaluation_json, hits_json
from memlines.admin.evaluation.sets import METRICS, LabelledSet, read_file, read_folder
from memlines.cli.common import (
    QUESTIONS,
    USUAL_QUESTIONS,
    choose_workspace,
    common_options,
    open_memory,
)
from memlines.cli.main import INTERRUPTED
from memlines.cli.output import (
    answer_json,
    counted,
    harmless,
    is_terminal,
    print_line,
    progress_bar,
    wants_json,
    warn,
)
from memlines.errors import UsageError, reason_of
from memlines.paths import Workspace
from memlines.settings.keys import known_keys, snake, unknown
from memlines.settings.values import parse_value
from memlines.types import Mode

if TYPE_CHECKING:
    from memlines.index.sync.plan import SyncPlan

_RUNS_SHOWN = 10
_MOVED_SHOWN = 10
_SHORTEST_BAR, _LONGEST_BAR = 10, 40
_PATH = click.Path(path_type=Path, readable=False)


@click.command("eval")
@click.argument("sets", metavar="SET...", nargs=-1, type=_PATH)
@click.option("--mine", is_flag=True, help="Ask questions that are made from your own notes.")
@click.option(
    "--questions", type=QUESTIONS, help=f"With --mine, ask so many questions. [default: {USUAL_QUESTIONS}]"
)
@click.option("--rebuild", is_flag=True, help="With --mine, make all questions again.")
@click.option(
    "--mode", "modes", type=click.Choice(MODES), multiple=True, help="Measure only this mode; repeatable."
)
@click.option("--set", "settings", metavar="KEY=VALUE", multiple=True, help="Use this setting; repeatable.")
@click.option("--by-type", is_flag=True, help="Also show each type of query separately.")
@click.option("--hits", type=_PATH, help="Write the hits of the hybrid mode to this file, a line per query.")
@common_options
def eval_command(
    sets: tuple[Path, ...],
    mine: bool,
    questions: int | None,
    rebuild: bool,
    modes: tuple[str, ...],
    settings: tuple[str, ...],
    by_type: bool,
    hits: Path | None,
    workspace: Path | None,
) -> int:
    """Measure how well search finds the lines it should.

    SET is a folder with queries.jsonl and the workspaces it names, or a .jsonl file of queries
    about your workspace. Every workspace is copied, indexed and asked in a temporary folder.

    With --mine, questions are made from your notes and kept in .memory/eval. Your index answers them with
    today's settings, and the figures are compared with those of earlier runs.
    """
    wanted = cast("tuple[Mode, ...]", modes)
    if mine:
        if sets or settings or by_type or hits or len(modes) > 1:
            raise UsageError(
                "--mine takes no sets, one --mode at most, and no --set, --by-type or --hits",
                todo="'memlines config try' measures a change of settings on the same questions",
            )
        mode = wanted[0] if wanted else None
        _measure_mine(workspace, mode, questions or USUAL_QUESTIONS, rebuild=rebuild)
        return 0
    if not sets or questions or rebuild:
        raise UsageError(
            "--questions and --rebuild are for --mine" if sets else "there is no SET to measure",
            todo="Name a folder or a file of questions, or give --mine",
        )
    given = _settings(settings)
    wanted = wanted or MODES
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


# Questions about the user's own notes


def _measure_mine(workspace: Path | None, mode: Mode | None, count: int, *, rebuild: bool) -> None:
    with open_memory(workspace) as memory, progress_bar() as progress:
        asked = prepare(memory, count, progress, rebuild=rebuild)
        figures, runs = measure(memory, asked, mode, progress)
        folder = memory.workspace.eval_folder
    # What was asked in another mode, or with another number of questions, cannot be compared.
    same = [run for run in runs if all(run[name] == runs[-1][name] for name in ("questions", "mode"))]
    before = same[-2] if len(same) > 1 else None
    queries = [
        {"id": query.id, "type": query.kind, "query": query.text, "place": figures.places[query.id]}
        | {"gold": [gold._asdict() for gold in query.gold]}
        for query in asked.labelled.queries
    ]
    change = {name: round(runs[-1][name] - before[name], 4) for name in _NAMES} if before else None
    warnings = [*asked.warnings, *figures.notes]
    answer_json(
        {**runs[-1], "made": asked.made, "change": change, "folder": str(folder), "queries": queries}
        | {"history": runs, "warnings": warnings}
    )
    warn(*warnings)
    new = f" ({asked.made} new)" if asked.made else ""
    print_line(f"{counted(len(queries), 'question')} about your notes{new}, {_searched_by(figures)}")
    for name, label in _NAMES.items():
        since = f"  {_number(change[name], sign='+')}" if change else ""
        click.echo(f"{label:<6} {_number(runs[-1][name]):>5}{since}")
    if before:
        differs = [what for what in ("set", "settings", "model") if before[what] != runs[-1][what]]
        others = [
            {"set": "other questions", "model": "another model"}.get(what, f"other {what}")
            for what in differs
        ]
        print_line(f"since {_day(before)}" + (f", with {' and '.join(others)} then" if others else ""))
    if len(runs) > 1:
        click.echo()
        click.echo("\n".join(chart(runs[-_RUNS_SHOWN:], shutil.get_terminal_size().columns)))


_NAMES = {"top1": "top-1", "top3": "top-3", "mrr": "mrr"}


def chart(runs: Sequence[Mapping[str, Any]], columns: int) -> Iterator[str]:
    """Yield a line for each run, with a bar as long as its `mrr` where there is room for one."""
    for run in runs:
        text = f"{_day(run)}  {_number(float(run['mrr'])):>4}"
        room = min(_LONGEST_BAR, columns - len(text) - 3)
        yield f"{text}  {'#' * round(room * run['mrr'])}".rstrip() if room >= _SHORTEST_BAR else text


def _day(run: Mapping[str, Any]) -> str:
    return f"{datetime.fromisoformat(run['at']).astimezone():%Y-%m-%d}"


def _number(value: float, sign: str = "") -> str:
    """Format a count, or a share without its zero: `48`, `.86`, `+2`."""
    if isinstance(value, int):
        return f"{value:{sign}}"
    return f"{round(value, 2) + 0.0:{sign}.2f}".replace("0.", ".", 1)  # without a zero below zero


def _searched_by(figures: Figures) -> str:
    model = f"{figures.provider} ({figures.model})" if figures.model else "no model"
    return f"searched by {figures.mode}, {model}"


def compare_settings(
    workspace: Workspace, values: Mapping[str, Any], *, mode: Mode | None, questions: int, yes: bool
) -> tuple[Comparison, dict[str, Any]]:
    """Measure a change of settings and print it; return it, also as JSON."""
    changes = {
        name: dict(value) if known_keys()[name].rule.kind == "dict" else value
        for name, value in values.items()
    }
    with progress_bar() as progress:
        found = try_settings(workspace, changes, mode, questions, progress, partial(_approve, yes=yes))
    answer = {
        "change": {name: {"now": now, "changed": changed} for name, (now, changed) in found.change.items()},
        "now": found.now.to_json(),
        "changed": found.changed.to_json(),
        "better": [moved.to_json() for moved in found.better],
        "worse": [moved.to_json() for moved in found.worse],
        "is_worse": found.is_worse,
        "applied": False,
        "warnings": list(found.warnings),
    }
    if not wants_json():
        _print_comparison(found, answer)
    return found, answer


def _approve(plan: SyncPlan, *, yes: bool) -> None:
    """Say what a trial costs and where text goes, and ask for confirmation."""
    from memlines.cli.sync import describe_cost

    if is_terminal(sys.stderr):
        click.echo(err=True)  # the line of the progress bar is not ended
    print_line(describe_cost(plan), err=True)
    if plan.stopped_by:
        warn(f"it would stop before the end: {plan.stopped_by}")
    if yes:
        return
    if not is_terminal(sys.stdin):
        raise UsageError(
            "there is no terminal to confirm on, and nothing was sent", todo="Add --yes to send it"
        )
    if not click.confirm("Send this text for the trial?", default=False, err=True):
        raise UsageError("the trial was not confirmed, and nothing was sent")


def _print_comparison(found: Comparison, answer: Mapping[str, Any]) -> None:
    warn(*found.warnings)
    for name, values in found.change.items():
        before, after = (json.dumps(value, ensure_ascii=False) for value in values)
        print_line(f"{name}: {before} now, {after} tried")
    now, changed = answer["now"], answer["changed"]
    click.echo(f"{'':<9} {'now':>5}  tried")
    for name, label in {"questions": "questions", **_NAMES}.items():
        click.echo(f"{label:<9} {_number(now[name]):>5}  {_number(changed[name]):>5}")
    print_line(" and ".join(dict.fromkeys([_searched_by(found.now), _searched_by(found.changed)])))
    _print_moved("better", found.better)
    _print_moved("worse", found.worse)


def _print_moved(title: str, moved: Sequence[Moved]) -> None:
    if not moved:
        return
    click.echo(f"{counted(len(moved), 'question')} {title}:")
    for one in moved[:_MOVED_SHOWN]:
        places = (str(place) if place else "not found" for place in (one.now, one.changed))
        print_line(f"  {one.query.id}  {' to '.join(places)}: {one.query.text}")
    if len(moved) > _MOVED_SHOWN:
        click.echo(f"  and {len(moved) - _MOVED_SHOWN} more (--json lists all)")
