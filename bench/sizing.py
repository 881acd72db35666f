"""Measures what chunks cost on a Qdrant node, and compares that with the paper in `bench.sizing_paper`.

Run `python -m bench.sizing`; `--chunks` names other sizes, of which the paper's constants were chosen on all
but the largest. A real node is started on this machine, from the package that the tests use. Collections are
made and written by the code that a sync uses; texts and vectors are made up. Nothing needs a model.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.cluster import Nodes, run_cluster

from bench.common import RESULTS, circumstances, keep, parser
from bench.sizing_page import write_page
from bench.sizing_paper import Chunks
from memlines.index.store.qdrant.cluster import Cluster
from memlines.index.store.qdrant.collection import Collection
from memlines.index.store.qdrant.points import (
    CHUNK_FIELDS,
    MEANING,
    WORDS,
    Tenant,
    collection_of,
)
from memlines.index.store.qdrant.words import middling_length, sparse_vector
from memlines.index.store.qdrant.writer import CollectionWriter, Written
from memlines.types import IndexedChunk, Space

if TYPE_CHECKING:
    import numpy as np

DIMS = 512
CHUNKS_PER_FILE = 4
SENTENCE_CHARACTERS = 120
SENTENCE_BYTES = DIMS // 4 + 4
"""What `memlines.embed.codec.sentence_size` says."""

TERMS = 180.0
"""How many terms a chunk is said to have; only the weights of words depend on it, not their number."""

QUERIES = 300
SIZES = (10_000, 30_000, 100_000)
LAYOUTS: dict[str, dict[str, Any]] = {
    "none": {},
    "int8": {
        "vectors": {MEANING: {"on_disk": True}},
        "quantization_config": {"scalar": {"type": "int8", "quantile": 0.99, "always_ram": True}},
    },
    "binary": {"quantization_config": {"binary": {"always_ram": True}}},
}
"""What is changed in turn, in this order, of a collection as the program makes it: by the paper's codes."""

_FLUSH_SECONDS = 6
_GREEN_SECONDS = 900


class MadeUp:
    """Chunks that look like real ones: words by Zipf's law, vectors around centres."""

    def __init__(self, seed: int = 7) -> None:
        """Make the words and the centres."""
        import numpy as np

        self._random = np.random.default_rng(seed)
        parts = [a + b for a in "bdfgklmnprstvw" for b in ("a", "e", "i", "o", "u", "an", "er", "ol", "ist")]
        lengths = self._random.integers(1, 5, 60_000)
        self._words = np.array(["".join(self._random.choice(parts, count)) for count in lengths])
        self._ranks = np.cumsum(1 / (np.arange(len(self._words)) + 2.7))
        centres = self._random.standard_normal((256, DIMS))
        self._centres = centres / np.linalg.norm(centres, axis=1, keepdims=True)

    def text(self) -> str:
        """Return 1,200 to 1,600 characters in sentences."""
        want = int(self._random.integers(1_200, 1_600))
        places = self._ranks.searchsorted(self._random.random(want // 4) * self._ranks[-1])
        words = self._words[places].tolist()
        length = int(self._random.integers(SENTENCE_CHARACTERS - 40, SENTENCE_CHARACTERS + 40))
        sentences = re.findall(rf".{{1,{length}}}(?: |$)", " ".join(words)[:want])
        return "\n".join(f"{one.strip().capitalize()}." for one in sentences)

    def vectors(self, count: int) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return unit vectors, each near one of the centres."""
        import numpy as np

        near = self._centres[self._random.integers(0, len(self._centres), count)]
        rows = near + self._random.standard_normal((count, DIMS)) / DIMS**0.5
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(rows.round(6))

    def file(self, number: int) -> tuple[str, str, list[Written]]:
        """Return a file as a sync writes it: its path, its key and its chunks."""
        day = f"20{10 + number // 336 % 20}-{number // 28 % 12 + 1:02}-{number % 28 + 1:02}"
        path, mtime = f"memory/topics/{number:07}.md", 1_700_000_000_000_000_000 + number * 1_000_003
        chunks = []
        for place, vector in enumerate(self.vectors(CHUNKS_PER_FILE).tolist()):
            text = self.text()
            start = place * 30 + 1
            chunk = IndexedChunk(
                0, path, "memory", start, start + 29, text, f"Topic {number}", mtime, "en", (), (day,)
            )
            sentences = self._random.bytes(SENTENCE_BYTES * (text.count("\n") + 1))
            chunks.append(Written(chunk, vector, sentences, [day]))
        return path, f"{number:016x}", chunks


def fill(writer: CollectionWriter, made: MadeUp, chunks: int) -> tuple[float, Chunks]:
    """Write chunks in groups as a sync does; return the seconds of the cluster, and their mean sizes."""
    taken, characters, terms, sentences = 0.0, 0, 0, 0
    files = chunks // CHUNKS_PER_FILE
    group_files = 512 // CHUNKS_PER_FILE
    for start in range(0, files, group_files):
        group = [made.file(number) for number in range(start, min(files, start + group_files))]
        begin = time.perf_counter()
        writer.put(group)
        taken += time.perf_counter() - begin
        written = [one for _, _, held in group for one in held]
        characters += sum([len(one.chunk.text) for one in written])
        sentences += sum([len(one.sentences) // SENTENCE_BYTES for one in written])
        terms += len(sparse_vector(written[0].chunk, TERMS)["indices"]) * len(written)
    count = files * CHUNKS_PER_FILE
    return taken, Chunks(count, DIMS, characters / count, terms / count, sentences / count, CHUNKS_PER_FILE)


def wait_until_green(nodes: Nodes, collection: str) -> dict[str, Any]:
    """Return what the node says of a collection as soon as nothing is left to optimise."""
    until, seen = time.monotonic() + _GREEN_SECONDS, 0
    while seen < 4:  # it is green for a moment between two optimisations
        info: dict[str, Any] = nodes.ask("GET", f"/collections/{collection}")
        seen = seen + 1 if info["status"] == "green" else 0
        assert time.monotonic() < until, info
        time.sleep(0.25)
    return info


def part_of(path: str) -> str:
    """Return the part of a collection that a file is of."""
    kind = re.search(r"/segments/[^/]+/([a-z_]+(?:-[a-z]+)?)", path)
    return kind[1] if kind else "wal" if "/wal/" in path else ""


def parts_on_disk(folder: Path) -> dict[str, int]:
    """Return what the files of each part take on the disk."""
    parts: Counter[str] = Counter()
    for parent, _, names in os.walk(folder):
        for name in names:
            file = Path(parent, name)
            parts[part_of(file.as_posix())] += file.lstat().st_blocks * 512
    return dict(parts.most_common())


def parts_in_memory(process: int) -> dict[str, int]:
    """Return what is resident of the files of each part, and of the process's own memory.

    A page that is mapped twice counts once, unlike in the resident set size.
    """
    parts: Counter[str] = Counter()
    at = ""
    for line in Path(f"/proc/{process}/smaps").read_text(encoding="utf-8").splitlines():
        if mapped := re.match(r"[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ \S+ *(.*)", line):
            at = part_of(mapped[1]) or ("own" if not mapped[1].startswith("/") else "")
        elif line.startswith("Pss:"):
            parts[at] += int(line.split()[1]) * 1024
    return dict(parts.most_common())


def resident(process: int) -> int:
    """Return the resident set size of a process in bytes."""
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    (kilobytes,) = re.findall(r"^VmRSS:\s+(\d+) kB", status, re.MULTILINE)
    return int(kilobytes) * 1024


def ask_like_searches(collection: Collection, made: MadeUp) -> None:
    """Search by vectors and by words, and read the best, so that what searches need is in memory."""
    for vector in made.vectors(QUERIES).tolist():
        words = sparse_vector(made.file(0)[2][0].chunk, TERMS)["indices"][:6]
        searches: list[dict[str, Any]] = [
            {"query": vector, "using": MEANING},
            {"query": {"indices": words, "values": [1.0] * len(words)}, "using": WORDS},
        ]
        limits = {"limit": 50, "with_payload": ["file", "version"]}
        found = collection.ask("points/query/batch", {"searches": [one | limits for one in searches]})
        collection.points([point["id"] for one in found for point in one["points"][:10]], CHUNK_FIELDS)


def restart(nodes: Nodes) -> None:
    """End the node in order and start it again."""
    (node,) = nodes.nodes
    assert node.process is not None
    node.signal(signal.SIGTERM)
    node.process.wait()
    node.start()


def measure(folder: Path, chunks: int, codes: Sequence[str]) -> dict[str, Any]:
    """Fill a collection on a fresh node; return what its chunks are like, and what each layout takes."""
    made, layouts = MadeUp(), {}
    with run_cluster(folder, variables={"QDRANT__STORAGE__WAL__WAL_CAPACITY_MB": "32"}) as nodes:
        (node,) = nodes.nodes
        assert node.process is not None
        empty = parts_in_memory(node.process.pid)["own"]
        cluster = Cluster(nodes.uri)
        name = collection_of("sizing", Space("made", "up", ""))
        tenant = Tenant("sizing", "main")
        collection = Collection(cluster, name)
        collection.prepare(DIMS)
        writer = CollectionWriter(collection, tenant, "0" * 12, middling_length(TERMS))
        taken, shape = fill(writer, made, chunks)
        for layout in codes:
            begin = time.monotonic()
            if LAYOUTS[layout]:
                nodes.ask("PATCH", f"/collections/{name}", LAYOUTS[layout])
            info = wait_until_green(nodes, name)
            green = time.monotonic() - begin
            highest = resident(node.process.pid)
            time.sleep(_FLUSH_SECONDS)
            restart(nodes)
            wait_until_green(nodes, name)
            ask_like_searches(collection, made)
            layouts[layout] = {
                "points": info["points_count"],
                "segments": info["segments_count"],
                "seconds until green": green,
                "disk": parts_on_disk(folder / "node0/storage"),
                "memory": parts_in_memory(node.process.pid),
                "own memory of an empty node": empty,
                "resident before the restart": highest,
                "resident": resident(node.process.pid),
            }
    return {"chunks": shape._asdict(), "seconds to write": taken, "layouts": layouts}


def main() -> None:
    """Measure every size, or take what is kept; write the page."""
    options = parser(__doc__)
    options.add_argument("--chunks", type=int, nargs="+", default=SIZES)
    options.add_argument(
        "--kept", action="store_true", help="measure nothing: write the page of what is kept"
    )
    arguments = options.parse_args()
    if arguments.kept:
        found = json.loads((RESULTS / "sizing.json").read_text(encoding="utf-8"))
        command, around, sizes = found["command"], found["circumstances"], found["figures"]["sizes"]
    else:
        command = " ".join(["python -m bench.sizing", *sys.argv[1:]])
        around, sizes = circumstances(), []
        for chunks in sorted(arguments.chunks):
            codes = [*LAYOUTS] if chunks < max(arguments.chunks) else [*LAYOUTS][:1]
            with tempfile.TemporaryDirectory() as folder:
                sizes.append(measure(Path(folder), chunks, codes))
            print(f"{chunks:,} chunks are measured", flush=True)
    page = write_page(command, around, sizes)
    keep("sizing", command, page, {"sizes": sizes}, around)
    print(page)


if __name__ == "__main__":
    main()
