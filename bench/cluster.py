"""Compares a Qdrant cluster of three nodes with the index on this machine: speed and quality.

Run `python -m bench.cluster`, or with `--chunks 10000` for less. All nodes run on this machine, beside the
program that asks, with two copies of each chunk; so the ratios say more than the times. Vectors are random
ones around some centres, which cost no time. Each question is asked of both, in turns, after a first one.

Copying is what a sync does after indexing. After it runs a bare loop that sends the same points, made before,
to a collection of the same settings, and does nothing else.

Quality is measured on the labelled sets in `../shared/bench`, where they are, with the builtin model.
"""

from __future__ import annotations

import json
import secrets
import statistics
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
from tests.cluster import VERSION, Nodes, run_cluster

from bench.common import RandomVectors, circumstances, default_settings, finish, keep, parser, percentile
from bench.corpus import queries, write_workspace
from bench.quality import SETS, available
from memlines import Memory
from memlines.admin.evaluation.run import MODES, evaluate, evaluation_json
from memlines.admin.evaluation.sets import read_folder
from memlines.embed.select import Choice
from memlines.index.store.qdrant.points import Head
from memlines.index.store.sqlite.index import Index
from memlines.index.sync.publish import Publisher, group_files
from memlines.memory.open_index import silent
from memlines.types import Mode

COMMAND = "python -m bench.cluster"
CHUNKS_A_NOTE = 3.53
QUESTIONS = 200
ASKED: tuple[Mode, ...] = ("words", "hybrid")
QUALITY = ("locomo_md", "xquad_en", "xquad_de", "xquad_es", "xquad_zh", "xquad_de_to_en", "xquad_es_to_en")
SHOWN = ("any@5", "rec@10", "mrr", "ndcg@10", "line@5", "line@10")
_AT_ONCE = 256

Figures = dict[str, Any]


@contextmanager
def opened(root: Path, settings: Mapping[str, Any]) -> Iterator[Memory]:
    """Open a memory with vectors that cost no time."""
    with Memory(root, settings) as memory:
        memory._manager.choice = Choice("random", RandomVectors())
        yield memory


def measure_speed(nodes: Nodes, chunks: int) -> Figures:
    """Index so many chunks here, copy them to the cluster, and ask both."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_workspace(root, max(1, round(chunks / CHUNKS_A_NOTE)))
        shared = settings_of(nodes)
        with opened(root, {}) as own:
            own.sync()
            held = own.status().chunks
        with opened(root, shared) as memory:
            sharing = memory._manager.sharing
            assert sharing is not None
            begin = time.perf_counter()
            sharing.copy(wait=1)
            copied = time.perf_counter() - begin
            begin = time.perf_counter()
            sharing._copied = None
            sharing.copy(wait=1)
            unchanged = time.perf_counter() - begin
        bare = upsert_bare(nodes, root, held)
        return {
            "chunks": held,
            "copy_per_second": held / copied,
            "bare_per_second": held / bare,
            "unchanged_ms": 1000 * unchanged,
            "searches": ask_both(root, shared),
        }


def settings_of(nodes: Nodes) -> dict[str, Any]:
    """Return the settings of a memory on the cluster, with a collection of its own."""
    return {
        "store.driver": "qdrant",
        "store.uri": nodes.uri,
        "store.collection": f"bench{secrets.token_hex(3)}",
    }


def upsert_bare(nodes: Nodes, root: Path, chunks: int) -> float:
    """Return how many seconds it takes to send the points of an index to a collection, batch by batch."""
    index = Index.reader(root / ".memory/index.sqlite")
    assert index is not None
    with opened(root, settings_of(nodes)) as memory, index:
        sharing = memory._manager.sharing
        assert sharing is not None
        publisher: Publisher = sharing.publisher
        writer = publisher.writer(index)
        serving = index.state.serving
        writer.collection.prepare(serving.dims if serving else None)
        taken, sent = 0.0, 0
        with httpx2.Client(base_url=nodes.nodes[0].address, timeout=60) as client:
            path = f"/collections/{writer.collection.name}/points?wait=true"
            for group in group_files(index, index.paths()):
                heads = [Head(name, "", str(uuid.uuid4()), len(written), "") for name, written in group]
                points = [
                    point
                    for head, (_, written) in zip(heads, group, strict=True)
                    for point in writer.points_of(head, written)
                ]
                for start in range(0, len(points), _AT_ONCE):
                    begin = time.perf_counter()
                    body = json.dumps({"points": points[start : start + _AT_ONCE]}).encode()
                    client.put(
                        path, content=body, headers={"content-type": "application/json"}
                    ).raise_for_status()
                    taken += time.perf_counter() - begin
                sent += len(points)
        assert sent == chunks
        return taken


def ask_both(root: Path, shared: Mapping[str, Any]) -> Figures:
    """Return how long searches take here and on the cluster, in turns, in milliseconds."""
    found: Figures = {}
    with opened(root, {}) as own, opened(root, shared) as memory:
        for mode in ASKED:
            taken: dict[str, list[float]] = {"sqlite": [], "qdrant": []}
            for question in queries(QUESTIONS + 1):
                for name, asked in (("sqlite", own), ("qdrant", memory)):
                    begin = time.perf_counter()
                    result = asked.search(question, mode=mode)
                    taken[name].append(1000 * (time.perf_counter() - begin))
                    assert not any("only the notes" in warning for warning in result.warnings)
            found[mode] = {
                name: {"p50": statistics.median(values[1:]), "p95": percentile(values[1:], 0.95)}
                for name, values in taken.items()
            }
    return found


def measure_quality(nodes: Nodes) -> list[Figures]:
    """Evaluate labelled sets with the index here and with the cluster."""
    rows = []
    for name in QUALITY:
        if name in available():
            for driver, settings in (("sqlite", {}), ("qdrant", settings_of(nodes))):
                figures = evaluation_json(evaluate(read_folder(SETS / name), settings, MODES, silent))
                assert not any("only the notes" in note for note in figures["notes"]), figures["notes"]
                rows.append({"set": name, "driver": driver, "modes": figures["modes"]})
    return rows


def speed_table(results: list[Figures]) -> str:
    """Write the speeds as Markdown."""
    lines = [
        "| chunks | copied / s | bare loop / s | ratio | nothing changed, ms | search | here p50 / p95, ms |"
        " cluster p50 / p95, ms | ratio of p50 |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for one in results:
        for mode, taken in one["searches"].items():
            here, there = taken["sqlite"], taken["qdrant"]
            lines.append(
                f"| {one['chunks']:,} | {one['copy_per_second']:.0f} | {one['bare_per_second']:.0f}"
                f" | {one['copy_per_second'] / one['bare_per_second']:.2f} | {one['unchanged_ms']:.0f}"
                f" | {mode}"
                f" | {here['p50']:.1f} / {here['p95']:.1f} | {there['p50']:.1f} / {there['p95']:.1f}"
                f" | {there['p50'] / here['p50']:.1f} |"
            )
    return "\n".join(lines)


def quality_table(rows: list[Figures]) -> str:
    """Write the figures of both drivers as Markdown, and by how much the cluster differs."""
    lines = [f"| set | mode | store | {' | '.join(SHOWN)} |", "|---|---|---|" + "---|" * len(SHOWN)]
    for here, there in zip(rows[::2], rows[1::2], strict=True):
        for mode in here["modes"]:
            values = [one["modes"][mode]["metrics"] for one in (here, there)]
            for driver, own in zip(("sqlite", "qdrant"), values, strict=True):
                lines.append(
                    f"| {here['set']} | {mode} | {driver} | {' | '.join(f'{own[m]:.3f}' for m in SHOWN)} |"
                )
            change = " | ".join(f"{values[1][metric] - values[0][metric]:+.3f}" for metric in SHOWN)
            lines.append(f"| {here['set']} | {mode} | difference | {change} |")
    return "\n".join(lines)


def main() -> None:
    """Measure, print and keep the figures."""
    options = parser(__doc__)
    options.add_argument("--chunks", type=int, nargs="*", default=[10_000, 100_000])
    options.add_argument("--no-quality", action="store_true")
    arguments = options.parse_args()
    around = circumstances()
    with default_settings(), tempfile.TemporaryDirectory() as folder, run_cluster(Path(folder), 3) as nodes:
        speed = [measure_speed(nodes, chunks) for chunks in arguments.chunks]
        nodes.clear()
        quality = [] if arguments.no_quality else measure_quality(nodes)
    tables = f"{speed_table(speed)}\n\n{quality_table(quality)}" if quality else speed_table(speed)
    page = (
        f"# A Qdrant cluster beside the index on one machine\n\n{around['date']}, `{COMMAND}`: Python"
        f" {around['python']}, SQLite {around['sqlite']}, Qdrant {VERSION}, {around['system']},"
        f" {around['cores']} cores for three nodes and the program, load {around['load']} at the start."
        f" Two copies of each chunk.\n\n{tables}\n"
    )
    figures = {"speed": speed, "quality": quality}
    if not arguments.no_quality and len(arguments.chunks) > 1:
        keep("cluster", COMMAND, page, figures, around)
    finish(figures, tables, arguments.json)


if __name__ == "__main__":
    main()
