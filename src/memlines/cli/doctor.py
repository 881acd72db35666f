"""`memlines doctor`: check what can be wrong, and repair it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from memlines.admin.doctor.examine import examine, examine_and_repair
from memlines.admin.doctor.findings import Finding
from memlines.cli.common import choose_workspace, common_options
from memlines.cli.output import answer_json, counted, harmless_name, progress_bar
from memlines.errors import UsageError

_COLOURS = {"ok": "green", "warning": "yellow", "problem": "red"}
_MOST_ALIKE = 20
"""How many findings of one check and one level are printed; `--json` has all."""


@click.command("doctor")
@click.option(
    "--repair",
    is_flag=True,
    help="Repair the index and other derived files, then check again.",
)
@click.option("--clean", is_flag=True, help="With --repair: also delete damaged indexes that were set aside.")
@click.option("--deep", is_flag=True, help="Check everything, and send provider and reranker a word or two.")
@common_options
def doctor_command(repair: bool, clean: bool, deep: bool, workspace: Path | None) -> int:
    """Check everything that can be wrong with your memory. Notes are never changed.

    Without --repair nothing is changed. Exits with 1 if there are problems; warnings do not count.
    """
    if clean and not repair:
        raise UsageError("--clean deletes, and without --repair nothing is changed", todo="Add --repair")
    folder = choose_workspace(workspace).folder
    if repair:
        with progress_bar() as progress:
            result = examine_and_repair(folder, deep=deep, clean=clean, progress=progress)
    else:
        result = examine(folder, deep=deep)
    problems, warnings = result.count("problem"), result.count("warning")
    counts = {"healthy": not problems, "problems": problems, "warnings": warnings}
    code = 1 if problems else 0
    answer_json(counts | asdict(result), code)
    for done in result.repairs:
        word, colour = ("repaired", "green") if done.done else ("failed", "red")
        _line(word, done.repair, done.message, colour)
    _print_findings(result.findings)
    summary = f"{counted(problems, 'problem')}, {counted(warnings, 'warning')}"
    click.echo(summary if problems or warnings else "Nothing is wrong.")
    return code


def _print_findings(findings: Sequence[Finding]) -> None:
    alike: Counter[tuple[str, str]] = Counter()
    for finding in findings:
        alike[finding.check, finding.level] += 1
        if alike[finding.check, finding.level] <= _MOST_ALIKE:
            options = {None: "", "clean": " (--repair --clean does)"}.get(finding.repair, " (--repair does)")
            todo = f". {finding.todo}{options}" if finding.todo else ""
            _line(finding.level, finding.check, f"{finding.message}{todo}", _COLOURS[finding.level])
    for (check, level), count in alike.items():
        if count > _MOST_ALIKE:
            _line(level, check, f"and {count - _MOST_ALIKE} more (--json lists all)", _COLOURS[level])


def _line(word: str, about: str, sentence: str, colour: str) -> None:
    click.echo(f"{click.style(f'{word:<8}', fg=colour)} {about:<10} {harmless_name(sentence)}")
