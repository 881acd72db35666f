"""Measures indexing by words beside the least that could be called an index, and re-syncs.

Run `python -m bench.indexing`. The bare loop reads the same files, cuts them with the same
function and inserts the chunks into one FTS5 table with the same tokeniser and the same
SQLite settings: no file table, no fingerprints, no names, no way to update anything. What we
do on top is the price of a memory that can be kept up to date; the ratio says how high it is.
Every index is made by a process of its own, in turns.

The memory figure is of the builtin model at work: its peak above what the loaded model needs.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bench.common import (
    MEMLINES,
    WORDS_ONLY,
    environment,
    finish,
    interleaved,
    medians,
    parser,
    peak_megabytes,
    run_fresh,
    seconds,
    verdict,
)
from bench.corpus import write_workspace

FILES = 15_000
EMBEDDED_FILES = 900
RATIO, UNCHANGED_S, ONE_FILE_S, SWEEPS, MEMORY_MB = 0.6, 1.0, 1.2, 1.5, 500

_CHUNK_TOKENS, _CHUNK_OVERLAP = 400, 80


# The jobs, each in a process of its own


def ours(root: Path) -> dict[str, float]:
    """Sync a workspace and say how long that took."""
    from memlines import Memory

    with Memory(root) as memory:
        taken = seconds(memory.sync)
        return {"seconds": taken, "peak_mb": peak_megabytes(), "chunks": memory.status().chunks}


def bare(root: Path, *, one_transaction: bool) -> dict[str, float]:
    """Put the terms of every note's chunks into an FTS5 table and do nothing else."""
    from memlines.index.store.sqlite.db import open_writer, transaction
    from memlines.text.chunk import chunk_text
    from memlines.text.language import language_of
    from memlines.text.terms import terms_of

    connection = open_writer(root / "bare.sqlite")
    connection.execute(
        "CREATE VIRTUAL TABLE notes USING fts5(terms, heading, text UNINDEXED, path UNINDEXED,"
        " first UNINDEXED, last UNINDEXED, tokenize=\"ascii tokenchars '_'\")"
    )

    def insert(path: str) -> None:
        with open(path, encoding="utf-8") as stream:  # noqa: PTH123 (the least there is)
            text = stream.read()
        language = language_of(text)
        connection.executemany(
            "INSERT INTO notes VALUES(?, ?, ?, ?, ?, ?)",
            [
                (
                    " ".join(terms_of(chunk.text, language)),
                    chunk.heading,
                    chunk.text,
                    path,
                    chunk.start_line,
                    chunk.end_line,
                )
                for chunk in chunk_text(text, _CHUNK_TOKENS, _CHUNK_OVERLAP)
            ],
        )

    def insert_all() -> None:
        for folder, _, names in os.walk(root / "memory"):
            for name in names:
                if one_transaction:
                    insert(f"{folder}/{name}")
                else:
                    with transaction(connection):
                        insert(f"{folder}/{name}")

    def run() -> None:
        if one_transaction:
            with transaction(connection):
                insert_all()
        else:
            insert_all()
        connection.close()

    return {"seconds": seconds(run), "peak_mb": peak_megabytes()}


def embedding(root: Path) -> dict[str, float]:
    """Sync with the builtin model, and say what that needs on top of the model."""
    from memlines import Memory
    from memlines.embed.base import embed_documents
    from memlines.embed.select import make_provider
    from memlines.settings import Settings

    provider = make_provider("builtin", Settings())
    assert provider is not None
    embed_documents(provider, ["one short text"])
    loaded = peak_megabytes()
    with Memory(root) as memory:
        taken = seconds(memory.sync)
        chunks = memory.status().chunks
    return {"seconds": taken, "chunks": chunks, "model_mb": loaded, "peak_mb": peak_megabytes()}


def sweep(root: Path) -> dict[str, float]:
    """Only look at the files, which is what a sync cannot do without."""
    from memlines import Memory

    with Memory(root) as memory:
        return {"seconds": seconds(memory._manager.discover)}


JOBS: dict[str, Callable[[Path], dict[str, float]]] = {
    "ours": ours,
    "sweep": sweep,
    "bare": lambda root: bare(root, one_transaction=False),
    "bare, one transaction": lambda root: bare(root, one_transaction=True),
    "embedding": embedding,
}


# What is measured


def measure_first_index(root: Path, variables: Mapping[str, str], rounds: int) -> dict[str, Any]:
    """Index everything anew in turns with the bare loops, and compare."""
    size = sum(file.stat().st_size for file in root.glob("memory/**/*.md"))
    figures: dict[str, list[dict[str, float]]] = {
        name: [] for name in JOBS if name not in ("embedding", "sweep")
    }
    index_bytes: dict[str, int] = {}

    def fresh(name: str) -> Callable[[], float]:
        def run() -> float:
            shutil.rmtree(root / ".memory", ignore_errors=True)
            (root / "bare.sqlite").unlink(missing_ok=True)
            figures[name].append(_in_process(name, root, variables))
            index_bytes[name] = sum(
                file.stat().st_size
                for file in (root / "bare.sqlite", root / ".memory/index.sqlite")
                if file.exists()
            )
            return figures[name][-1]["seconds"]

        return run

    taken = interleaved({name: fresh(name) for name in figures}, rounds)
    (root / "bare.sqlite").unlink(missing_ok=True)
    ratios = {
        name: [theirs / our for our, theirs in zip(taken["ours"], taken[name], strict=True)] for name in taken
    }
    return {
        "text_mb": size / 1e6,
        "chunks": int(figures["ours"][-1]["chunks"]),
        "seconds": medians(taken),
        "mb_per_second": {name: size / 1e6 / value for name, value in medians(taken).items()},
        "throughput_of_bare": medians(ratios),
        "throughput_range": {name: [min(values), max(values)] for name, values in ratios.items()},
        "index_mb": {name: value / 1e6 for name, value in index_bytes.items()},
        "peak_mb": {name: max(figure["peak_mb"] for figure in each) for name, each in figures.items()},
    }


def measure_resync(root: Path, variables: Mapping[str, str], rounds: int) -> dict[str, float]:
    """Sync again, with nothing changed and with one note changed: whole commands, and the sync itself."""
    _in_process("ours", root, variables)
    note = next(iter(sorted(root.glob("memory/**/*.md"))))
    command = [str(MEMLINES), "sync", "-w", str(root)]

    def edit() -> None:
        """Change a note, as if some time ago: a very recent change is looked at twice."""
        with note.open("a", encoding="utf-8") as stream:
            stream.write(f"\nOne more line, {os.urandom(4).hex()}.\n")
        earlier = note.stat().st_mtime - 60
        os.utime(note, (earlier, earlier))

    def after_edit(job: Callable[[], float]) -> Callable[[], float]:
        def run() -> float:
            edit()
            return job()

        return run

    def whole() -> float:
        return seconds(lambda: run_fresh(command, variables))

    def inner() -> float:
        return _in_process("ours", root, variables)["seconds"]

    jobs = {
        "python": lambda: seconds(lambda: run_fresh([sys.executable, "-c", "pass"], variables)),
        "command, nothing changed": whole,
        "command, one note changed": after_edit(whole),
        "look at the files": lambda: _in_process("sweep", root, variables)["seconds"],
        "sync, nothing changed": inner,
        "sync, one note changed": after_edit(inner),
    }
    return medians(interleaved(jobs, rounds))


def _in_process(name: str, root: Path, variables: Mapping[str, str]) -> dict[str, float]:
    printed = run_fresh([sys.executable, "-m", "bench.indexing", "--job", name, str(root)], variables)
    figures: dict[str, float] = json.loads(printed)
    return figures


def measure(rounds: int, files: int, embedded_files: int) -> dict[str, Any]:
    """Make the workspaces and run everything."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        words = environment(folder / "home", **WORDS_ONLY)
        root = folder / "large"
        write_workspace(root, files)
        first = measure_first_index(root, words, rounds)
        resync = measure_resync(root, words, 3 * rounds)
        shutil.rmtree(root)
        small = folder / "small"
        write_workspace(small, embedded_files)
        memory = _in_process("embedding", small, environment(folder / "home"))
    return {
        "files": files,
        "rounds": rounds,
        "first_index": first,
        "resync_seconds": resync,
        "embedding": memory | {"above_model_mb": memory["peak_mb"] - memory["model_mb"]},
    }


def table(results: dict[str, Any]) -> str:
    """Write the results as Markdown tables."""
    first, resync, memory = (results[name] for name in ("first_index", "resync_seconds", "embedding"))
    ratio = first["throughput_of_bare"]
    lines = [
        f"First index by words: {results['files']} notes, {first['text_mb']:.0f} MB, {first['chunks']}"
        f" chunks; median of {results['rounds']} interleaved rounds.",
        "",
        "| | s | MB/s | our throughput as a part of it | index, MB (of the text) | peak RSS, MB |",
        "|---|---|---|---|---|---|",
    ]
    for name, value in first["seconds"].items():
        low, high = first["throughput_range"][name]
        part = "" if name == "ours" else f"{ratio[name]:.2f} ({low:.2f} to {high:.2f})"
        size = first["index_mb"][name]
        lines.append(
            f"| {name} | {value:.1f} | {first['mb_per_second'][name]:.1f} | {part}"
            f" | {size:.0f} ({size / first['text_mb']:.2f}) | {first['peak_mb'][name]:.0f} |"
        )
    lines += [
        "",
        f"Target: at least {RATIO} of the bare loop: {verdict(ratio['bare'], RATIO, at_least=True)}.",
    ]
    lines += ["", "| sync again | s | target |", "|---|---|---|"]
    limits = {"command, nothing changed": UNCHANGED_S, "command, one note changed": ONE_FILE_S}
    for name, value in resync.items():
        limit = limits.get(name)
        lines.append(f"| {name} | {value:.3f} | {f'≤ {limit}: {verdict(value, limit)}' if limit else ''} |")
    part = resync["sync, one note changed"] / resync["look at the files"]
    told = f"{part:.2f} of the look at the files (target ≤ {SWEEPS}: {verdict(part, SWEEPS)})"
    lines += ["", f"One note changed takes {told}."]
    above = memory["above_model_mb"]
    lines += [
        "",
        f"With the builtin model: {memory['chunks']} chunks in {memory['seconds']:.0f} s"
        f" ({memory['chunks'] / memory['seconds']:.0f} a second); {memory['model_mb']:.0f} MB with the model"
        f" loaded, {memory['peak_mb']:.0f} MB at the peak, {above:.0f} MB above the model"
        f" (target ≤ {MEMORY_MB}: {verdict(above, MEMORY_MB)}).",
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure, print the tables, and write the figures if asked; or do one job for another process."""
    options = parser(__doc__)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--files", type=int, default=FILES)
    options.add_argument("--embedded-files", type=int, default=EMBEDDED_FILES)
    options.add_argument("--job", nargs=2, metavar=("NAME", "FOLDER"), help=argparse.SUPPRESS)
    arguments = options.parse_args()
    if arguments.job:
        print(json.dumps(JOBS[arguments.job[0]](Path(arguments.job[1]))))
        return
    results = measure(arguments.rounds, arguments.files, arguments.embedded_files)
    finish(results, table(results), arguments.json)


if __name__ == "__main__":
    main()
