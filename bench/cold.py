"""Measures what a command costs a person: whole processes, beside a Python that does nothing.

Run `python -m bench.cold`. All commands take turns, so read the differences: the machine's
other work hits every one of them.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bench.common import (
    MEMLINES,
    WORDS_ONLY,
    RandomVectors,
    environment,
    finish,
    interleaved,
    medians,
    parser,
    run_fresh,
    seconds,
    verdict,
)
from bench.corpus import write_workspace

FILES = 1_000
QUERY = "which decision about the budget?"
HELP_MS, SEARCH_MS = 150, 250
HEAVY = ("numpy", "sentencepiece", "yaml", "platformdirs")

_LOADED = (
    "import sys\nfrom memlines.cli.main import run\n"
    f"run(sys.argv[1:])\nprint('loaded:', *[name for name in {HEAVY!r} if name in sys.modules])"
)


def prepared(folder: Path) -> dict[str, Path]:
    """Make the same notes twice: indexed by words only, and with vectors.

    The vectors are random ones under the builtin model's name: how long a search takes does not
    depend on what they mean.
    """
    from memlines import Memory
    from memlines.embed.builtin.files import BuiltinProvider
    from memlines.embed.select import Choice

    places = {name: folder / name for name in ("words", "hybrid")}
    for root in places.values():
        write_workspace(root, FILES)
    with Memory(places["words"], {"embeddings.provider": "none"}) as memory:
        memory.sync()
    real = BuiltinProvider
    with Memory(places["hybrid"]) as memory:
        memory._manager.choice = Choice("auto", RandomVectors(real.id, real.model, real.key))
        memory.sync()
    return places


def measure(rounds: int) -> dict[str, Any]:
    """Run every command in turn and return the medians of the whole processes."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        home = folder / "home"
        os.environ["MEMLINES_HOME"] = str(home)  # an index of another home is not trusted, and rebuilt
        places = prepared(folder)
        words = environment(home, **WORDS_ONLY)
        jobs = _jobs(places, words, environment(home))
        interleaved(jobs, 2)  # the model's cache, the disk's cache, the compiled modules
        taken = interleaved(jobs, rounds)
        loaded = {
            "help": _loaded(["--help"], words),
            "words search": _loaded(["search", QUERY, "-w", str(places["words"])], words),
        }
    middle = medians(taken)
    return {
        "files": FILES,
        "rounds": rounds,
        "milliseconds": {name: 1000 * value for name, value in middle.items()},
        "lowest_milliseconds": {name: 1000 * min(values) for name, values in taken.items()},
        "over_python_milliseconds": {
            name: 1000 * statistics.median(a - b for a, b in zip(values, taken["python"], strict=True))
            for name, values in taken.items()
        },
        "heavy_modules_loaded": loaded,
    }


def _jobs(
    places: Mapping[str, Path], words: Mapping[str, str], hybrid: Mapping[str, str]
) -> dict[str, Callable[[], float]]:
    command = str(MEMLINES)
    search = [command, "search", QUERY, "-w"]
    calls = {
        "python": ([sys.executable, "-c", "pass"], words),
        "help": ([command, "--help"], words),
        "words search": ([*search, str(places["words"])], words),
        "status": ([command, "status", "-w", str(places["words"])], words),
        "hybrid search": ([*search, str(places["hybrid"])], hybrid),
    }
    return {name: _timed(arguments, variables) for name, (arguments, variables) in calls.items()}


def _timed(arguments: list[str], variables: Mapping[str, str]) -> Callable[[], float]:
    return lambda: seconds(lambda: run_fresh(arguments, variables))


def _loaded(arguments: list[str], variables: Mapping[str, str]) -> list[str]:
    """Return which of the heavy modules a command imports."""
    printed = run_fresh([sys.executable, "-c", _LOADED, *arguments], variables)
    return printed.rpartition("loaded:")[2].split()


def table(results: dict[str, Any]) -> str:
    """Write the results as a Markdown table."""
    over = results["over_python_milliseconds"]
    limits = {"help": HELP_MS, "words search": SEARCH_MS}
    lines = ["| command | ms | lowest | above `python -c pass` | target |", "|---|---|---|---|---|"]
    for name, whole in results["milliseconds"].items():
        limit = limits.get(name)
        target = f"≤ {limit}: {verdict(over[name], limit)}" if limit else ""
        lowest = results["lowest_milliseconds"][name]
        lines.append(f"| {name} | {whole:.0f} | {lowest:.0f} | {over[name]:.0f} | {target} |")
    lines += ["", f"{results['files']} files, median of {results['rounds']} interleaved rounds."]
    for name, modules in results["heavy_modules_loaded"].items():
        lines.append(f"Heavy modules imported by {name}: {', '.join(modules) or 'none'}.")
    return "\n".join(lines)


def main() -> None:
    """Measure, print the table, and write the figures if asked."""
    options = parser(__doc__)
    options.add_argument("--rounds", type=int, default=21)
    arguments = options.parse_args()
    results = measure(arguments.rounds)
    finish(results, table(results), arguments.json)


if __name__ == "__main__":
    main()
