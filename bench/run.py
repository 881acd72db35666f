"""Runs the small speed runners one after the other and keeps their figures in `bench/results/`.

Run `python -m bench.run`, or `python -m bench.run cold embedding` for some of them. `bench.peers` and
`bench.scale`, which `make bench` runs, keep their own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.common import circumstances, keep

RUNNERS = {
    "cold": "What a command costs a person",
    "embedding": "The builtin model",
    "redaction": "Redaction",
}


def run(name: str) -> None:
    """Run one runner and write what it found, with the circumstances, as Markdown and as JSON."""
    around = circumstances()
    with tempfile.TemporaryDirectory() as temporary:
        figures_file = Path(temporary) / "figures.json"
        finished = subprocess.run(
            [sys.executable, "-m", f"bench.{name}", "--json", str(figures_file)],
            stdout=subprocess.PIPE,
            check=True,
            encoding="utf-8",
        )
        figures = json.loads(figures_file.read_text(encoding="utf-8"))
    command = f"python -m bench.{name}"
    keep(name, command, page(name, command, around, finished.stdout), figures, around)
    print(f"## {RUNNERS[name]}\n\n{finished.stdout}")


def page(name: str, command: str, around: dict[str, Any], table: str) -> str:
    """Write a runner's tables under what they were measured with."""
    return (
        f"# {RUNNERS[name]}\n\n"
        f"{around['date']}, `{command}`: Python {around['python']}, SQLite {around['sqlite']},"
        f" {around['system']}, {around['cores']} cores, load {around['load']} at the start.\n\n"
        f"{table.strip()}\n"
    )


def main() -> None:
    """Run the runners that were named, or all of them."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("names", nargs="*", metavar="NAME", help=f"one of: {', '.join(RUNNERS)}")
    names = options.parse_args().names or list(RUNNERS)
    unknown = [name for name in names if name not in RUNNERS]
    if unknown:
        options.error(f"there is no runner {unknown[0]!r}; there are {', '.join(RUNNERS)}")
    for name in names:
        run(name)


if __name__ == "__main__":
    main()
