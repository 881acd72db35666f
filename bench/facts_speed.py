"""Measures recalling facts among a hundred thousand: by the LanceDB table, and by the main index's matrix.

Run `python -m bench.facts_speed`; `--facts 20000` is a quicker try, and `--bounds` measures what somebody
waits for instead. The facts are made up and stand in one note, which is indexed as it would be. Their
vectors are random ones around some thousand centres, as those of texts about the same things are, and so
are the queries'. What finds facts takes turns every few queries. The time of turning a query into a vector
is left out.
"""

from __future__ import annotations

import os
import random
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.common import RandomVectors, finish, parser, percentile, seconds, verdict
from bench.corpus import vocabulary
from memlines import Memory
from memlines.embed.base import embed_query, to_blobs
from memlines.embed.select import Choice
from memlines.index.store.sqlite.index import Index
from memlines.memory.facts.lance import LanceTable
from memlines.memory.facts.note import FactNote, FactStores
from memlines.memory.facts.places import remove_stamp, uri_of
from memlines.memory.facts.rebuild import open_table, rebuild
from memlines.text.facts import CATEGORIES, Fact, line_of

if TYPE_CHECKING:
    from memlines.embed.base import Vectors

RECALL_MS = 20
BOUNDS = {"search": 5.0, "store": 0.3, "forget": 1.0}
SAME = 0.98
_CENTRES = 2_000
_NOISE = 0.9
_TURN = 20
_WORDS = 6
_LIMITS = (10, 50, 200)
_ROOM = 100_000_000


class ClusteredVectors(RandomVectors):
    """A provider whose vectors lie around centres; texts with the same first word share one."""

    def __init__(self) -> None:
        """Make the centres."""
        import numpy as np

        super().__init__("clustered", "clustered")
        self._centres = np.random.default_rng(3).standard_normal((_CENTRES, self.dims), dtype=np.float32)

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return vectors near the centres of the texts."""
        import numpy as np

        places = [zlib.crc32(text.split(" ", 1)[0].encode()) % _CENTRES for text in texts]
        near: Vectors = self._centres[places] + _NOISE * super().embed_documents(texts)
        return near.astype(np.float32)


def write_facts(root: Path, count: int) -> list[str]:
    """Write the note and return the texts of its facts."""
    randomly = random.Random(5)
    words = vocabulary("en")
    lines, texts = [], []
    for number in range(count):
        text = f"Item{number % (3 * _CENTRES)} {' '.join(words.draw(randomly, 4 + number % 9))} {number}."
        texts.append(text)
        lines.append(line_of(Fact(_name(number), text, CATEGORIES[number % len(CATEGORIES)])))
    (root / "memory").mkdir(parents=True)
    (root / "memory" / "facts.md").write_text("# Facts\n\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return texts


def _name(number: int) -> str:
    letters = "abcdefghijklmnopqrstuvwxyz"
    return "fact" + "".join(letters[number // 26**place % 26] for place in range(6))


class Asked:
    """A synced workspace with so many facts, and the ways to ask for them."""

    def __init__(self, memory: Memory, provider: ClusteredVectors) -> None:
        """Open what is asked."""
        self.memory = memory
        self.provider = provider
        manager = memory._manager
        self.note = FactNote(manager.workspace, manager.settings)
        self.uri = uri_of(manager.workspace, manager.settings)
        index = Index.reader(manager.index_file)
        assert index is not None
        self.index = index

    def rebuild(self) -> None:
        """Write the table again if the index changed."""
        rebuild(self.index, self.note, self.uri, FactStores())

    def table(self) -> LanceTable:
        """Return the open table."""
        opened = open_table(self.uri)
        assert opened is not None
        return opened[1]

    def by_matrix(self, vector: bytes, limit: int) -> set[int]:
        """Return the chunks of the facts that are really the nearest."""
        return set(self.index.vectors.nearest(vector, limit))


@contextmanager
def opened_memory(root: Path, store: str, provider: ClusteredVectors) -> Iterator[Memory]:
    """Open a memory whose facts are found by one store."""
    memory = Memory(root, {"facts.store": store, "files.max_bytes": _ROOM})
    memory._manager.choice = Choice(provider.id, provider)
    try:
        yield memory
    finally:
        memory.close()


def measure(facts: int, count: int) -> dict[str, Any]:
    """Make the workspace and ask it in every way."""
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary, "workspace")
        os.environ["MEMLINES_HOME"] = str(Path(temporary, "home"))
        texts = write_facts(root, facts)
        provider = ClusteredVectors()
        with (
            opened_memory(root, "index", provider) as by_index,
            opened_memory(root, "lancedb", provider) as by_table,
        ):
            syncing = seconds(by_index.sync)
            asked = Asked(by_table, provider)
            made = _made(asked)
            queries = _questions(texts, count)
            return {
                "facts": facts,
                "dims": provider.dims,
                "queries": count,
                "sync_seconds": syncing,
                **made,
                "searches": _searches(asked, {"index": by_index, "table": by_table}, queries),
                "found": _found(asked, queries),
                **_changed(asked, root),
            }


def bounds(facts: int) -> dict[str, Any]:
    """Measure what somebody waits for with so many facts: the first search, a store, a forget.

    Each is a call in a process that has the memory open, the first search its first call. Stores follow each
    other at once, while the background indexes what the one before wrote, and again after a rest.
    """
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary, "workspace")
        os.environ["MEMLINES_HOME"] = str(Path(temporary, "home"))
        texts = write_facts(root, facts)
        provider = ClusteredVectors()
        with opened_memory(root, "index", provider) as memory:
            memory.sync()
        with opened_memory(root, "index", provider) as memory:
            found = {"first search": [_taken(lambda: memory.facts.recall(texts[7], 5))]}
            found["next search"] = [_taken(lambda: memory.facts.recall(texts[9], 5))]
            stores = [f"Zork {number} keeps its lamp in drawer {number}" for number in range(10)]
            found["store, one after the other"] = [
                _taken(partial(memory.facts.store, text)) for text in stores[:5]
            ]
            rested = []
            for text in stores[5:]:
                memory.sync()
                rested.append(_taken(partial(memory.facts.store, text)))
            found["store, after a sync"] = rested
            memory.sync()
            name = memory.facts.list()[facts // 2].fact.id
            found["forget"] = [_taken(lambda: memory.facts.forget([name]))]
    return {"facts": facts, "calls": found}


def _taken(work: Callable[[], object]) -> tuple[float, float]:
    """Return how long work takes, and how much of that the thread of the caller was at work."""
    begin, cpu = time.perf_counter(), time.thread_time()
    work()
    return time.perf_counter() - begin, time.thread_time() - cpu


def bounds_table(results: dict[str, Any]) -> str:
    """Write what somebody waits for as a Markdown table."""
    lines = [
        f"{results['facts']:,} facts. The slowest of so many calls.",
        "",
        "| call | calls | seconds | of them the caller's thread at work | bound |",
        "|---|---|---|---|---|",
    ]
    for name, calls in results["calls"].items():
        bound = BOUNDS[name.partition(",")[0].split(" ")[-1]]
        wall, cpu = max(one for one, _ in calls), max(one for _, one in calls)
        lines.append(f"| {name} | {len(calls)} | {wall:.2f} | {cpu:.2f} | ≤ {bound:g} s |")
    return "\n".join(lines)


def _questions(texts: Sequence[str], count: int) -> list[str]:
    """Return the first words of some facts, about as many as a question has."""
    return [" ".join(text.split(" ")[:_WORDS]) for text in random.Random(9).sample(texts, count)]


def _made(asked: Asked) -> dict[str, Any]:
    importing = seconds(lambda: __import__("lancedb"))
    building = seconds(asked.rebuild)
    checking = seconds(asked.rebuild)
    files = [file for file in Path(asked.uri).rglob("*") if file.is_file()]
    return {
        "import_seconds": importing,
        "build_seconds": building,
        "unchanged_ms": 1000 * checking,
        "table_megabytes": sum(file.stat().st_size for file in files) / 1e6,
        "is_indexed": asked.table()._is_indexed,
    }


def _searches(asked: Asked, memories: Mapping[str, Memory], queries: Sequence[str]) -> dict[str, Any]:
    table, matrix = asked.table(), asked.index.vectors
    asks: dict[str, Callable[[bytes], object]] = {
        **{f"LanceTable.nearest, {limit}": partial(table.nearest, limit=limit) for limit in _LIMITS},
        "LanceTable.nearest, 10, current facts only": partial(table.nearest, limit=10, current_only=True),
        "the index's matrix, 10": partial(matrix.nearest, limit=10),
    }
    jobs: dict[str, Callable[[str], float]] = {
        name: partial(_timed, asked, ask) for name, ask in asks.items()
    }
    for name, memory in memories.items():
        jobs[f"facts.recall by the {name}"] = partial(_recalled, asked, memory)
    taken: dict[str, list[float]] = {name: [] for name in jobs}
    for first in range(0, len(queries), _TURN):
        turn = queries[first : first + _TURN]
        for name, job in jobs.items():
            job(turn[-1])
            taken[name].extend(map(job, turn))
    return {name: _summary(values) for name, values in taken.items()}


def _timed(asked: Asked, ask: Callable[[bytes], object], query: str) -> float:
    vector = _vector(asked, query)
    begin = time.perf_counter()
    ask(vector)
    return time.perf_counter() - begin


def _recalled(asked: Asked, memory: Memory, query: str) -> float:
    before = asked.provider.seconds
    taken = seconds(lambda: memory.facts.recall(query, 5))
    return taken - (asked.provider.seconds - before)


def _vector(asked: Asked, query: str) -> bytes:
    return to_blobs(embed_query(asked.provider, query)[None, :])[0]


def _found(asked: Asked, queries: Sequence[str]) -> dict[str, float]:
    """Return which part of the ten really nearest facts the table finds, by how many it is asked for."""
    parts: dict[str, list[float]] = {str(limit): [] for limit in _LIMITS}
    table = asked.table()
    for query in queries[:100]:
        vector = _vector(asked, query)
        exact = asked.by_matrix(vector, 10)
        for limit in _LIMITS:
            near = [*table.nearest(vector, limit)][:10]
            parts[str(limit)].append(len(exact.intersection(near)) / len(exact))
    return {limit: sum(values) / len(values) for limit, values in parts.items()}


def _changed(asked: Asked, root: Path) -> dict[str, float]:
    """Return how long it takes until one changed fact is in the table, beside the sync."""
    note = root / "memory" / "facts.md"
    text = note.read_text(encoding="utf-8")
    note.write_text(text.replace(" 7. ^", " seven. ^", 1), encoding="utf-8")
    with opened_memory(root, "index", asked.provider) as memory:
        memory.sync()
    remove_stamp(asked.uri)  # a large table that was written a moment ago would be left as it is
    return {"rebuild_seconds": seconds(asked.rebuild)}


def _summary(values: list[float]) -> dict[str, float]:
    return {"p50_ms": 1000 * percentile(values, 0.5), "p95_ms": 1000 * percentile(values, 0.95)}


def table(results: dict[str, Any]) -> str:
    """Write the results as Markdown tables."""
    lines = [
        f"{results['facts']:,} facts with vectors of {results['dims']} numbers, {results['queries']} queries."
        " Without the time of the query's vector.",
        "",
        "| search | p50, ms | p95, ms | target |",
        "|---|---|---|---|",
    ]
    for name, row in results["searches"].items():
        target = f"p50 ≤ {RECALL_MS}: {verdict(row['p50_ms'], RECALL_MS)}" if name.endswith("table") else ""
        lines.append(f"| {name} | {row['p50_ms']:.2f} | {row['p95_ms']:.2f} | {target} |")
    lines += ["", "| asked for | of the ten nearest, found | target |", "|---|---|---|"]
    for limit, part in results["found"].items():
        lines.append(f"| {limit} | {part:.3f} | ≥ {SAME}: {verdict(part, SAME, at_least=True)} |")
    lines += [
        "",
        "| what | how long or large |",
        "|---|---|",
        f"| first sync of the note | {results['sync_seconds']:.1f} s |",
        f"| importing LanceDB | {results['import_seconds']:.1f} s |",
        f"| making the table{' and its index' if results['is_indexed'] else ''}"
        f" | {results['build_seconds']:.1f} s |",
        f"| looking whether anything changed | {results['unchanged_ms']:.0f} ms |",
        f"| writing it again after a change | {results['rebuild_seconds']:.1f} s |",
        f"| the table on disk | {results['table_megabytes']:.0f} MB |",
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure, print the tables, and write the figures if asked."""
    options = parser(__doc__)
    options.add_argument("--facts", type=int, default=100_000)
    options.add_argument("--queries", type=int, default=200)
    options.add_argument("--bounds", action="store_true", help="only what somebody waits for")
    arguments = options.parse_args()
    if arguments.bounds:
        results = bounds(arguments.facts)
        finish(results, bounds_table(results), arguments.json)
        return
    results = measure(arguments.facts, arguments.queries)
    finish(results, table(results), arguments.json)


if __name__ == "__main__":
    main()
