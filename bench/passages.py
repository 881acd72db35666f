"""Measures what choosing the passage of a hit costs: warm searches with passages beside searches with chunks.

Run `python -m bench.passages`. Both answer the same queries in one process, in turns, and what counts is the
time of the processor, so that whatever else the machine does matters little. The vectors are random, as in
`bench.searching`; how often a passage holds the answer is `passage@5` of `python -m bench.quality`.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any
from unittest import mock

from bench.common import finish, parser
from bench.corpus import queries
from bench.searching import SIZES, Opened
from memlines.index.search import run as engine
from memlines.index.search.passages import excerpt_of
from memlines.types import Mode

MODES: tuple[Mode, ...] = ("hybrid", "words")


def measure(count: int) -> dict[str, Any]:
    """Make the indexes and ask each query twice, in changing order."""
    figures: dict[str, Any] = {"queries": count}
    with tempfile.TemporaryDirectory() as temporary:
        os.environ["MEMLINES_HOME"] = str(Path(temporary) / "home")
        for size, files in SIZES.items():
            opened = Opened(Path(temporary) / size, files, "matrix")
            with opened.memory:
                for mode in MODES:
                    figures[f"{size}, {mode}"] = _compared(opened, queries(count), mode)
    return figures


def _compared(opened: Opened, asked: list[str], mode: Mode) -> dict[str, float]:
    chunks, passages = list[float](), list[float]()
    for at, query in enumerate(asked):
        with mock.patch.object(engine, "_passages", _excerpts):
            _seconds(opened, query, mode)  # brings what both need into the processor's caches
        for with_passages in (at % 2 == 0, at % 2 == 1):
            if with_passages:
                passages.append(_seconds(opened, query, mode))
                continue
            with mock.patch.object(engine, "_passages", _excerpts):
                chunks.append(_seconds(opened, query, mode))
    before, after = statistics.median(chunks), statistics.median(passages)
    return {"chunks_ms": 1000 * before, "passages_ms": 1000 * after, "more": after / before - 1}


def _seconds(opened: Opened, query: str, mode: Mode) -> float:
    begin = time.process_time()
    opened.memory.search(query, mode=mode)
    return time.process_time() - begin


def _excerpts(index: object, query: object, shown: Any, chunks: Any, vector: object) -> list[Any]:
    """Show as much of each chunk as a snippet holds."""
    return [excerpt_of(chunk, chunks) for chunk in shown]


def table(figures: dict[str, Any]) -> str:
    """Write the figures as Markdown."""
    rows = [
        f"| {name} | {row['chunks_ms']:.2f} | {row['passages_ms']:.2f} | {row['more']:+.1%} |"
        for name, row in figures.items()
        if isinstance(row, dict)
    ]
    head = [
        "| chunks, mode | hits are chunks, p50 ms | hits are passages, p50 ms | more |",
        "|---|---|---|---|",
    ]
    return "\n".join([f"{figures['queries']} queries.", "", *head, *rows])


def main() -> None:
    """Measure, print the table, and write the figures if asked."""
    options = parser(__doc__)
    options.add_argument("--queries", type=int, default=400)
    arguments = options.parse_args()
    figures = measure(arguments.queries)
    finish(figures, table(figures), arguments.json)


if __name__ == "__main__":
    main()
