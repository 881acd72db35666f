"""Measures warm searches inside one process: how long an answer takes once everything is open.

Run `python -m bench.searching`. The vectors are random ones, so that making an index takes
seconds: exact search takes as long whatever they mean. The time of turning the query into a
vector is left out of the searches and measured by itself with the builtin model. Sizes,
engines and modes take turns every few queries.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from bench.common import RandomVectors, finish, parser, percentile, seconds, verdict
from bench.corpus import queries, write_workspace
from memlines import Memory
from memlines.embed.base import embed_query, to_blobs
from memlines.embed.select import Choice, make_provider
from memlines.index.search.words import find, look_up
from memlines.index.sync.discovery import is_dirty
from memlines.settings import Settings
from memlines.types import Mode, Source

SIZES = {"10k": 2_850, "1k": 285}
"""Notes that make about so many chunks."""

HYBRID_MS = 10
_DEPTH = 200
_TURN = 25
_SOURCES: tuple[Source, ...] = ("memory",)


class Opened:
    """A synced workspace and the provider whose time is not counted."""

    def __init__(self, root: Path, files: int, engine: str) -> None:
        """Make the notes and index them."""
        write_workspace(root, files)
        self.provider = RandomVectors()
        self.memory = Memory(root, {"store.vector.engine": engine})
        self.memory._manager.choice = Choice("random", self.provider)
        self.memory.sync()
        self.chunks = self.memory.status().chunks

    def search(self, query: str, mode: Mode, *, after_a_pause: bool = False) -> float:
        """Return how long a search takes without its query's vector."""
        if after_a_pause:
            self.memory._manager._rest_until = 0.0
        before = self.provider.query_seconds
        taken = seconds(lambda: self.memory.search(query, mode=mode))
        return taken - (self.provider.query_seconds - before)

    def legs(self, query: str) -> dict[str, float]:
        """Return how long the parts of a hybrid search take when called one by one."""
        index = self.memory._manager.open_reader()
        assert index is not None
        vector = to_blobs(embed_query(self.provider, query)[None, :])[0]
        begin = time.perf_counter()
        found = find(index, look_up(index, query), _DEPTH, _SOURCES)
        words = time.perf_counter()
        near = index.vectors.nearest(vector, _DEPTH, also=found)
        vectors = time.perf_counter()
        index.chunks(near)
        texts = time.perf_counter()
        is_dirty(self.memory._manager.discover(), index.files())
        swept = time.perf_counter()
        return {
            "words": words - begin,
            "vectors": vectors - words,
            "texts of the candidates": texts - vectors,
            "sweep for changed files": swept - texts,
        }


def measure_searches(folder: Path, asked: list[str]) -> dict[str, Any]:
    """Ask every query of every index in every mode."""
    with ExitStack() as stack:
        opened = {
            f"{size}, {engine}": Opened(folder / f"{size}-{engine}", files, engine)
            for size, files in SIZES.items()
            for engine in ("matrix", "sqlite-vec")
        }
        for each in opened.values():
            stack.callback(each.memory.close)
        jobs = dict(_jobs(opened))
        taken: dict[str, list[float]] = {name: [] for name in jobs}
        legs: dict[str, list[float]] = {}
        for first in range(0, len(asked), _TURN):
            turn = asked[first : first + _TURN]
            for name, job in jobs.items():
                job(turn[-1])  # brings what it needs back into the processor's caches
                taken[name].extend(map(job, turn))
            for query in turn:
                for name, value in opened["10k, matrix"].legs(query).items():
                    legs.setdefault(name, []).append(value)
        return {
            "chunks": {name: each.chunks for name, each in opened.items()},
            "searches": {name: _summary(values) for name, values in taken.items()},
            "parts_10k": {name: _summary(values) for name, values in legs.items()},
        }


def _jobs(opened: dict[str, Opened]) -> Iterable[tuple[str, Callable[[str], float]]]:
    modes: tuple[Mode, ...] = ("hybrid", "words", "vectors")
    for name, each in opened.items():
        for mode in modes:
            if mode != "words" or "matrix" in name:
                yield f"{name}, {mode}", partial(each.search, mode=mode)
    for size in SIZES:
        search = opened[f"{size}, matrix"].search
        yield f"{size}, matrix, hybrid, after a pause", partial(search, mode="hybrid", after_a_pause=True)


def measure_query_embedding(asked: list[str]) -> dict[str, float]:
    """Return the milliseconds the builtin model takes for a query."""
    provider = make_provider("builtin", Settings())
    assert provider is not None
    embed_query(provider, "warm")
    return _summary([seconds(partial(embed_query, provider, query)) for query in asked])


def _summary(values: list[float]) -> dict[str, float]:
    return {
        "p50_ms": 1000 * percentile(values, 0.5),
        "p95_ms": 1000 * percentile(values, 0.95),
        "max_ms": 1000 * max(values),
    }


def measure(count: int) -> dict[str, Any]:
    """Make the indexes and run everything."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        os.environ["MEMLINES_HOME"] = str(folder / "home")
        asked = queries(count)
        return {
            "queries": count,
            **measure_searches(folder, asked),
            "query_embedding": measure_query_embedding(asked[:100]),
        }


def table(results: dict[str, Any]) -> str:
    """Write the results as Markdown tables."""
    chunks = ", ".join(f"{count} ({name})" for name, count in results["chunks"].items())
    lines = [
        f"{results['queries']} queries; chunks: {chunks}. Without the time of the query's vector.",
        "",
        "| search | p50, ms | p95, ms | max, ms | target |",
        "|---|---|---|---|---|",
    ]
    for name, row in results["searches"].items():
        target = (
            f"p50 ≤ {HYBRID_MS}: {verdict(row['p50_ms'], HYBRID_MS)}" if name == "10k, matrix, hybrid" else ""
        )
        lines.append(f"| {name} | {_row(row)} | {target} |")
    lines += ["", "| part, at 10k with the matrix | p50, ms | p95, ms | max, ms |", "|---|---|---|---|"]
    lines += [f"| {name} | {_row(row)} |" for name, row in results["parts_10k"].items()]
    lines += [f"| vector of the query, builtin model | {_row(results['query_embedding'])} |", ""]
    lines.append(
        "Looking for changed files is part of a search; when searches follow each other it is left out most"
        " of the time, so `after a pause` is what a single question costs."
    )
    return "\n".join(lines)


def _row(row: dict[str, float]) -> str:
    return f"{row['p50_ms']:.2f} | {row['p95_ms']:.2f} | {row['max_ms']:.2f}"


def main() -> None:
    """Measure, print the tables, and write the figures if asked."""
    options = parser(__doc__)
    options.add_argument("--queries", type=int, default=400)
    arguments = options.parse_args()
    results = measure(arguments.queries)
    finish(results, table(results), arguments.json)


if __name__ == "__main__":
    main()
