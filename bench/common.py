"""What the runners share: fresh processes, medians, the circumstances, and vectors without a model."""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memlines.embed.base import Limits, Provider

if TYPE_CHECKING:
    from memlines.embed.base import Vector, Vectors

MEMLINES = Path(sys.executable).parent / "memlines"
RESULTS = Path(__file__).parent / "results"


class RandomVectors(Provider):
    """A provider of random vectors around some centres: searching them takes as long, making them no time."""

    dims: int = 512
    by_sentence = True
    scale_known = True
    limits = Limits(text_bytes=1_000_000, request_bytes=100_000_000, request_texts=100_000)

    def __init__(self, name: str = "random", model: str = "random", key: str = "") -> None:
        """Take the names of a real provider to fill an index that the real one can search."""
        import numpy as np

        self.id, self.model, self.key = name, model, key
        self.seconds = 0.0
        """The time of the processor that making vectors took; what is measured leaves it out."""
        self._randomly = np.random.default_rng(7)
        self._centres = self._randomly.standard_normal((64, self.dims), dtype=np.float32)

    def embed_query(self, text: str) -> Vector:
        """Return a random vector near one of the centres."""
        vector: Vector = self.embed_documents([text])[0]
        return vector

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return random vectors, each near the centre that the hash of its text names."""
        import numpy as np

        begin = time.process_time()
        near = self._centres[[zlib.crc32(text.encode()) % len(self._centres) for text in texts]]
        vectors = near + self._randomly.standard_normal((len(texts), self.dims), dtype=np.float32)
        self.seconds += time.process_time() - begin
        return vectors


@contextmanager
def default_settings() -> Iterator[None]:
    """Measure with the default settings, and none of yours, in this process."""
    for variable in [name for name in os.environ if name.startswith("MEMLINES_")]:
        del os.environ[variable]
    with tempfile.TemporaryDirectory() as home:
        os.environ["MEMLINES_HOME"] = home
        yield


def circumstances() -> dict[str, Any]:
    """Return what the figures depend on, without names of machines or places."""
    import apsw

    return {
        "date": datetime.now(UTC).date().isoformat(),
        "python": platform.python_version(),
        "sqlite": apsw.sqlite_lib_version(),
        "system": platform.system(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
    }


def environment(home: Path, **settings: str) -> dict[str, str]:
    """Return the variables for a process of its own: no settings but these, a home of its own.

    Compiled modules are kept there, so that the source folder stays clean and no process has to
    compile, as in an installed package.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("MEMLINES_") and name != "PYTHONDONTWRITEBYTECODE"
    }
    return {**kept, "MEMLINES_HOME": str(home), "PYTHONPYCACHEPREFIX": str(home / "compiled"), **settings}


WORDS_ONLY = {"MEMLINES_EMBEDDINGS__PROVIDER": "none"}


def run_fresh(arguments: Sequence[str], variables: Mapping[str, str]) -> str:
    """Run a program to its end and return what it printed."""
    finished = subprocess.run(
        list(arguments), env=dict(variables), stdout=subprocess.PIPE, check=True, encoding="utf-8"
    )
    return finished.stdout


def seconds(job: Callable[[], object]) -> float:
    """Return how long a job takes."""
    begin = time.perf_counter()
    job()
    return time.perf_counter() - begin


def processor_seconds(job: Callable[[], object]) -> float:
    """Return how long the processor works on a job, in all threads of this process."""
    begin = time.process_time()
    job()
    return time.process_time() - begin


def interleaved(jobs: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, list[float]]:
    """Run every job once a round, so that the machine's other work hits all of them alike."""
    taken: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(rounds):
        for name, job in jobs.items():
            taken[name].append(job())
    return taken


def medians(taken: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Return the median of each job."""
    return {name: statistics.median(values) for name, values in taken.items()}


def percentile(values: Sequence[float], part: float) -> float:
    """Return the value below which a part of them lies."""
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


def peak_megabytes() -> float:
    """Return the most memory this process ever had resident."""
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def verdict(value: float, limit: float, *, at_least: bool = False) -> str:
    """Say whether a target is met."""
    return "met" if (value >= limit if at_least else value <= limit) else "MISSED"


def finish(results: dict[str, Any], table: str, target: Path | None) -> None:
    """Print the table, and write the figures if a file was named."""
    print(table)
    if target:
        target.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


def keep(name: str, command: str, page: str, figures: Mapping[str, Any], around: Mapping[str, Any]) -> None:
    """Write a page and its figures to `bench/results/`, with the circumstances, over those of before."""
    target = RESULTS / name
    target.with_suffix(".md").write_text(page, encoding="utf-8", newline="\n")
    everything = {"command": command, "circumstances": around, "figures": figures}
    text = json.dumps(everything, indent=2, ensure_ascii=False) + "\n"
    target.with_suffix(".json").write_text(text, encoding="utf-8", newline="\n")


def parser(description: str | None) -> argparse.ArgumentParser:
    """Return a parser with the option every runner has."""
    made = argparse.ArgumentParser(description=description)
    made.add_argument("--json", type=Path, help="write the figures to this file")
    return made
