"""Draws how our own costs grow with the number of chunks, beside what the machine cannot do without.

Run `python -m bench.scale`, or with `--chunks 1000 10000 100000 1000000` for more. Vectors are random ones
around some centres and go into the index as a sync writes them; the time of making them is left out, so no
model's speed is in any figure. Each size is a workspace of its own; each job is a process of its own.

Seconds are those of the processor, with one thread for numpy: on a machine without other work a person waits
about as long, and on a busy one the figures stay the same.

The limits: a loop that cuts the same notes and puts their terms into one FTS5 table, for the first index; one
query to that table, for a search by words; one product of a float32 matrix of the same shape with a vector,
and choosing the 200 largest, for vectors; one walk that looks at every file, for a sync.

The slope is that of a line through the points, both axes logarithmic: 1 is as many times longer as there are
chunks, 0 is as long whatever their number.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench import scale_page
from bench.common import (
    RandomVectors,
    circumstances,
    environment,
    finish,
    interleaved,
    keep,
    parser,
    peak_megabytes,
    percentile,
    processor_seconds,
    run_fresh,
)
from bench.corpus import queries, write_workspace
from bench.processes import bytes_of, run_command
from memlines.types import Mode

if TYPE_CHECKING:
    from memlines import Memory

COMMAND = "python -m bench.scale"
CHUNKS = (1_000, 10_000, 100_000)
LARGE = 50_000
"""Chunks from which the first index is made once: it takes minutes, in which other work evens out."""
CHUNKS_A_NOTE = 3.53
MODES: tuple[Mode, ...] = ("words", "vectors", "hybrid")

_DEPTH = 200
_TURN = 20
_CHUNK_TOKENS, _CHUNK_OVERLAP = 400, 80

Figures = dict[str, Any]


# The jobs, each in a process of its own


@contextmanager
def _opened(root: Path) -> Iterator[tuple[Memory, RandomVectors]]:
    """Open a memory with vectors that cost no time."""
    from memlines import Memory
    from memlines.embed.select import Choice

    provider = RandomVectors()
    with Memory(root) as memory:
        memory._manager.choice = Choice("random", provider)
        yield memory, provider


def first_index(root: Path) -> Figures:
    """Sync a workspace by words; the settings of the process ask for no vectors."""
    from memlines import Memory

    with Memory(root) as memory:
        taken = processor_seconds(memory.sync)
        return {"seconds": taken, "peak_mb": peak_megabytes(), "chunks": memory.status().chunks}


def add_vectors(root: Path) -> Figures:
    """Sync again with vectors; return how long that takes without making them."""
    with _opened(root) as (memory, provider):
        taken = processor_seconds(memory.sync) - provider.seconds
        status = memory.status()
        assert not status.pending
        return {"seconds": taken, "peak_mb": peak_megabytes()}


def bare_index(root: Path) -> Figures:
    """Put the terms of every note's chunks into an FTS5 table and do nothing else."""
    import apsw

    from memlines.text.chunk import chunk_text
    from memlines.text.language import language_of
    from memlines.text.terms import terms_of

    connection = apsw.Connection(str(root / "bare.sqlite"))
    connection.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL")
    connection.execute(
        "CREATE VIRTUAL TABLE notes USING fts5(terms, heading, text UNINDEXED, path UNINDEXED,"
        " first UNINDEXED, last UNINDEXED, tokenize=\"ascii tokenchars '_'\")"
    )

    def insert(file: str) -> None:
        text = Path(file).read_text(encoding="utf-8")
        language = language_of(text)
        connection.executemany(
            "INSERT INTO notes VALUES(?, ?, ?, ?, ?, ?)",
            [
                (
                    " ".join(terms_of(one.text, language)),
                    one.heading,
                    one.text,
                    file,
                    one.start_line,
                    one.end_line,
                )
                for one in chunk_text(text, _CHUNK_TOKENS, _CHUNK_OVERLAP)
            ],
        )

    def run() -> None:
        with connection:
            for folder, _, names in os.walk(root / "memory"):
                for name in names:
                    insert(f"{folder}/{name}")

    return {"seconds": processor_seconds(run)}


def sync_again(root: Path) -> Figures:
    """Sync what is in the index, beside one look at every file; in turns."""

    def look() -> None:
        waiting = [str(root / "memory")]
        while waiting:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        entry.stat(follow_symlinks=False)

    note = min((root / "memory").rglob("*.md"))

    def after_change(sync: Callable[[], object]) -> float:
        with note.open("a", encoding="utf-8") as stream:
            stream.write(f"\nOne more line, {os.urandom(4).hex()}.\n")
        return processor_seconds(sync)

    with _opened(root) as (memory, _):
        memory.sync()
        taken = interleaved(
            {
                "look": lambda: processor_seconds(look),
                "unchanged": lambda: processor_seconds(memory.sync),
                "changed": lambda: after_change(memory.sync),
            },
            5,
        )
    return {name: statistics.median(values) for name, values in taken.items()}


def first_search(root: Path) -> Figures:
    """Answer one question by words and vectors; the whole process is what counts."""
    with _opened(root) as (memory, _):
        assert memory.search("which decision about the budget?", mode="hybrid")
    return {"peak_mb": peak_megabytes()}


def first_words(root: Path) -> Figures:
    """Answer one question by words, without anything that only vectors need."""
    from memlines import Memory

    with Memory(root) as memory:
        assert memory.search("which decision about the budget?", mode="words")
    return {"peak_mb": peak_megabytes()}


def warm_searches(root: Path) -> Figures:
    """Ask many questions in every mode and of both bare limits, some of each in turn."""
    import apsw
    import numpy as np

    from memlines.text.language import language_of
    from memlines.text.terms import terms_of

    count = int(os.environ["BENCH_QUERIES"])
    with _opened(root) as (memory, provider):
        chunks = memory.status().chunks

        def search(query: str, mode: Mode, *, due: bool = False) -> float:
            if due:
                memory._manager._rest_until = 0.0
            before = provider.seconds
            taken = processor_seconds(lambda: memory.search(query, mode=mode))
            return taken - (provider.seconds - before)

        jobs: dict[str, Callable[[str], float]] = {mode: partial(search, mode=mode) for mode in MODES}
        jobs["hybrid, files looked at"] = partial(search, mode="hybrid", due=True)
        for job in jobs.values():
            job("which decision about the budget?")
        resident = peak_megabytes()

        bare = apsw.Connection(str(root / "bare.sqlite"), flags=apsw.SQLITE_OPEN_READONLY)
        matrix = np.random.default_rng(1).standard_normal((chunks, RandomVectors.dims), dtype=np.float32)

        def bare_words(query: str) -> float:
            terms = " OR ".join(f'"{term}"' for term in terms_of(query, language_of(query)))
            find = "SELECT rowid FROM notes WHERE notes MATCH ? ORDER BY rank LIMIT ?"
            return processor_seconds(lambda: bare.execute(find, (terms, _DEPTH)).fetchall())

        def bare_vectors(query: str) -> float:
            vector = provider.embed_query(query)

            def multiply() -> None:
                cosines = matrix @ vector
                np.argpartition(cosines, -min(_DEPTH, chunks))[-_DEPTH:]

            return processor_seconds(multiply)

        jobs |= {"bare FTS5 query": bare_words, "bare matrix pass": bare_vectors}
        taken: dict[str, list[float]] = {name: [] for name in jobs}
        asked = iter(queries(count * len(jobs)))  # each is asked once: the second time is quicker
        while len(taken[name := min(jobs, key=lambda each: len(taken[each]))]) < count:
            taken[name].extend(map(jobs[name], islice(asked, _TURN)))
    return {
        "resident_mb": resident,
        "searches": {
            name: {"p50_ms": 1000 * percentile(values, 0.5), "p95_ms": 1000 * percentile(values, 0.95)}
            for name, values in taken.items()
        },
    }


JOBS: dict[str, Callable[[Path], Figures]] = {
    job.__name__: job
    for job in (first_index, add_vectors, bare_index, sync_again, first_search, first_words, warm_searches)
}


# What is measured


def measure_size(root: Path, chunks: int, variables: Mapping[str, str], rounds: int) -> Figures:
    """Measure everything at one size."""
    text = write_workspace(root, round(chunks / CHUNKS_A_NOTE))
    words_only = {**variables, "MEMLINES_EMBEDDINGS__PROVIDER": "none"}

    def job(name: str, environ: Mapping[str, str] = variables) -> Figures:
        print(f"{chunks:,} chunks: {name}", file=sys.stderr)
        printed = run_fresh([sys.executable, "-m", "bench.scale", "--job", name, str(root)], environ)
        figures: Figures = json.loads(printed)
        return figures

    index, bare = root / ".memory", root / "bare.sqlite"
    firsts, bares = [], []
    for _ in range(rounds if chunks < LARGE else 1):
        shutil.rmtree(index, ignore_errors=True)
        bare.unlink(missing_ok=True)
        bares.append(job("bare_index", words_only)["seconds"])
        firsts.append(job("first_index", words_only))
    words_bytes = bytes_of(index)
    new = interleaved(
        {
            "python": lambda: _started(variables, "-c", "pass"),
            "words": lambda: _fresh("first_words", root, words_only),
        },
        5,
    )
    vectors = job("add_vectors")
    new |= interleaved({"hybrid": lambda: _fresh("first_search", root, variables)}, 5)
    return {
        "chunks": firsts[-1]["chunks"],
        "files": round(chunks / CHUNKS_A_NOTE),
        "text_bytes": text,
        "first_index_s": statistics.median(one["seconds"] for one in firsts),
        "bare_index_s": statistics.median(bares),
        "first_index_peak_mb": firsts[-1]["peak_mb"],
        "add_vectors_s": vectors["seconds"],
        "index_bytes_words": words_bytes,
        "index_bytes": bytes_of(index),
        "bare_bytes": bare.stat().st_size,
        "new_process_s": {name: statistics.median(values) for name, values in new.items()},
        "sync_s": job("sync_again"),
        **job("warm_searches"),
    }


def _fresh(name: str, root: Path, variables: Mapping[str, str]) -> float:
    return _started(variables, "-m", "bench.scale", "--job", name, str(root))


def _started(variables: Mapping[str, str], *arguments: str) -> float:
    return run_command([sys.executable, *arguments], variables)[1]


def measure(chunks: list[int], rounds: int, count: int) -> Figures:
    """Measure every size, the smallest first."""
    sizes = []
    for number in sorted(chunks):
        with tempfile.TemporaryDirectory(prefix="memlines-scale-") as temporary:
            home = Path(temporary) / "home"
            one_thread = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
            variables = environment(home, BENCH_QUERIES=str(count), **one_thread)
            sizes.append(measure_size(Path(temporary) / "notes", number, variables, rounds))
    found = scale_page.curves(sizes)
    counts = [one["chunks"] for one in sizes]
    return {
        "queries": count,
        "rounds": rounds,
        "sizes": sizes,
        "curves": found,
        "slopes": {name: scale_page.slope(counts, values) for name, values in found.items()},
    }


def main() -> None:
    """Measure, print the table, and keep it with a picture; or do one job for another process."""
    options = parser(__doc__)
    options.add_argument(
        "--chunks", nargs="+", type=int, default=CHUNKS, help="the sizes [default: 1000 10000 100000]"
    )
    options.add_argument("--rounds", type=int, default=3, help="first indexes [default: %(default)s]")
    options.add_argument("--queries", type=int, default=200, help="warm searches [default: %(default)s]")
    options.add_argument("--draft", action="store_true", help="print the figures, and keep nothing")
    options.add_argument("--job", nargs=2, metavar=("NAME", "FOLDER"), help=argparse.SUPPRESS)
    arguments = options.parse_args()
    if arguments.job:
        print(json.dumps(JOBS[arguments.job[0]](Path(arguments.job[1]))))
        return
    around = circumstances()
    results = measure(arguments.chunks, arguments.rounds, arguments.queries)
    around |= {"load_at_end": circumstances()["load"]}
    if not arguments.draft:
        sizes = tuple(arguments.chunks)
        command = COMMAND if sizes == CHUNKS else f"{COMMAND} --chunks {' '.join(map(str, sizes))}"
        keep("scale", command, scale_page.page(command, results, around), results, around)
        scale_page.draw(results, around)
    finish(results | {"circumstances": around}, scale_page.table(results), arguments.json)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
