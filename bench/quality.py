"""Measures how well search finds what it should, on the labelled sets beside this repository.

Run `python -m bench.quality` for all sets, which keeps the figures in `bench/results/`, or
`python -m bench.quality locomo_md xquad_en` for some, which only prints them. The sets are
third-party data in `../shared/bench` and no part of the project; without them nothing is measured.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.common import circumstances, default_settings, finish, keep, parser
from memlines.admin.evaluation.run import MODES, evaluate, evaluation_json
from memlines.admin.evaluation.sets import METRICS, QUERIES_FILE, read_folder

SETS = Path(__file__).resolve().parents[2] / "shared" / "bench"
COMMAND = "python -m bench.quality"

Figures = dict[str, Any]


def available() -> list[str]:
    """Return the names of the sets that are there."""
    return sorted(file.parent.name for file in SETS.glob(f"*/{QUERIES_FILE}"))


def measure(names: list[str]) -> list[Figures]:
    """Evaluate sets with the default settings, and none of yours."""
    with default_settings():
        return [_measured(name) for name in names]


def _measured(name: str) -> Figures:
    figures = evaluation_json(evaluate(read_folder(SETS / name), {}, MODES, lambda *_: None))
    for note in figures["notes"]:
        print(f"{name}: {note}", file=sys.stderr)
    print(f"{name}: measured", file=sys.stderr)
    return figures


def gains(modes: dict[str, Figures]) -> dict[str, float]:
    """Return by how much hybrid is better than the better one of its legs, in every metric."""
    values = {mode: figures["metrics"] for mode, figures in modes.items()}
    return {
        name: values["hybrid"][name] - max(values["words"][name], values["vectors"][name]) for name in METRICS
    }


def table(results: list[Figures]) -> str:
    """Write the figures as Markdown, a row for every set and mode."""
    head = ["set", "mode", *METRICS, "silent", "p50, ms", "p95, ms"]
    rows = [head, ["---"] * len(head)]
    for figures in results:
        rows.extend([figures["set"], *row] for row in _rows(figures["modes"]))
    sizes = [
        f"- {figures['set']}: {figures['queries']} queries, {figures['files']} files,"
        f" {figures['chunks']} chunks, indexed in {figures['index_seconds']:.1f} s"
        for figures in results
    ]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([*lines, "", *sizes])


def _rows(modes: dict[str, Figures]) -> Iterator[list[str]]:
    for mode, figures in modes.items():
        shares = [*figures["metrics"].values(), figures["silent"]]
        times = [figures["p50_ms"], figures["p95_ms"]]
        yield [mode, *(f"{share:.3f}" for share in shares), *(f"{time:.1f}" for time in times)]
    if len(modes) == len(MODES):
        better = [f"{gain:+.3f}" for gain in gains(modes).values()]
        yield ["hybrid - max(words, vectors)", *better, "", "", ""]


def page(results: list[Figures], around: Figures) -> str:
    """Write the page with the figures and their circumstances."""
    return (
        f"# Quality of search\n\n"
        f"{around['date']}, `{COMMAND}`: Python {around['python']}, SQLite {around['sqlite']},"
        f" {around['system']}, {around['cores']} cores, load {around['load']} at the start."
        f" `docs/evaluation.md` says what the columns mean.\n\n{table(results)}\n"
    )


@dataclass(frozen=True, slots=True)
class Runner:
    """What is measured on the labelled sets, and how it is shown."""

    command: str
    about: str
    measure: Callable[[list[str]], list[Figures]]
    table: Callable[[list[Figures]], str]
    page: Callable[[list[Figures], Figures], str]

    def run(self) -> None:
        """Measure the sets that were named, or all of them, which keeps the figures."""
        options = parser(self.about)
        options.add_argument("names", nargs="*", metavar="SET", help="the sets to measure [default: all]")
        arguments = options.parse_args()
        there = available()
        if not there:
            print("There are no labelled sets in ../shared/bench; nothing to measure.")
            return
        unknown = [name for name in arguments.names if name not in there]
        if unknown:
            options.error(f"there is no set {unknown[0]!r}; there are {', '.join(there)}")
        around = circumstances()
        results = self.measure(arguments.names or there)
        if not arguments.names:
            name = self.command.rpartition(".")[2]
            keep(name, self.command, self.page(results, around), {"sets": results}, around)
        finish({"sets": results}, self.table(results), arguments.json)


if __name__ == "__main__":
    Runner(COMMAND, __doc__ or "", measure, table, page).run()
