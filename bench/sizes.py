"""Measures what large notes, deep folders and many files cost: memory, whether commands survive, and time.

Run `python -m bench.sizes --before CHECKOUT`; `--before` names a checkout of an earlier version, which then
does the same work in turn. It writes some gigabytes of sparse files and as many small files as `--files` says
below `--folder`, and removes them. Each measurement is a process of its own, by words only.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from typing import Any

from bench.common import WORDS_ONLY, environment, finish, parser, verdict

LARGE_BYTES = 1_000_000_000
DEPTH = 1_000
SEARCHES = 20
SEARCH_SECONDS = 0.5

_PEAK = """
import json, resource, sys
from memlines.cli.main import run
code = run(sys.argv[1:])
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"code": code, "megabytes": peak / 1000}), file=sys.stderr)
"""

_WARM = """
import json, sys, time
from memlines import Memory
taken = []
with Memory(sys.argv[1], {"embeddings.provider": "none"}) as memory:
    for query in sys.argv[2:]:
        memory._manager._rest_until = 0.0  # files are due to be looked at
        begin = time.perf_counter()
        hits = len(memory.search(query))
        taken.append(time.perf_counter() - begin)
        assert hits, query
        time.sleep(0.2)
print(json.dumps(taken))
"""


class Version:
    """A version of the program: how its commands are run, and where it keeps its things."""

    def __init__(self, name: str, source: Path, folder: Path) -> None:
        """Name the folder with the package, and one for its home."""
        self.name = name
        self.folder = folder / name
        self._variables = environment(self.folder / "home", **WORDS_ONLY, PYTHONPATH=str(source))

    def run(self, program: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        """Run a Python program with the package of this version."""
        command = [sys.executable, "-c", program, *map(str, arguments)]
        return subprocess.run(
            command, env=self._variables, capture_output=True, encoding="utf-8", check=False
        )

    def command(self, *arguments: str | Path) -> dict[str, Any]:
        """Run a command; return its exit code, its peak of memory and its seconds."""
        begin = time.perf_counter()
        done = self.run(_PEAK, *arguments)
        took = time.perf_counter() - begin
        last = done.stderr.strip().rpartition("\n")[2]
        if done.returncode or not last.startswith("{"):
            return {"code": done.returncode, "died": last, "seconds": took}
        return {**json.loads(last), "seconds": took}


@contextmanager
def passing(folder: Path) -> Iterator[Path]:
    """Make a folder, and remove it with whatever is in it; some is too deep for `shutil`."""
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        subprocess.run(["rm", "-rf", str(folder)], check=True)


def large_notes(version: Version) -> dict[str, Any]:
    """Copy a workspace with one large note in every way; return what each command took."""
    with passing(version.folder / "large") as folder:
        notes = folder / "notes"
        (notes / "memory").mkdir(parents=True)
        with (notes / "memory/large.md").open("wb") as stream:
            stream.truncate(LARGE_BYTES)
        (folder / "imported").mkdir()
        return {
            "export": version.command("export", folder / "a.zip", "-w", notes),
            "import": version.command("import", folder / "a.zip", "-w", folder / "imported"),
            "backup": version.command("backup", folder / "place", "-w", notes),
            "restore": version.command("restore", folder / "place", "--to", folder / "restored"),
        }


def deep_folders(version: Version) -> dict[str, Any]:
    """Run commands where folders lie inside each other; return how they ended."""
    with passing(version.folder / "deep") as folder:
        notes = folder / "notes"
        for top in ("memory", ".memory/history"):
            (notes / top).mkdir(parents=True)
            handle = os.open(notes / top, os.O_RDONLY)
            for _ in range(DEPTH):
                os.mkdir("d", dir_fd=handle)
                handle, above = os.open("d", os.O_RDONLY, dir_fd=handle), handle
                os.close(above)
            os.close(handle)
        (notes / "MEMORY.md").write_text("The heron waits.\n", encoding="utf-8")
        return {
            "search": version.command("search", "heron", "-w", notes),
            "status": version.command("status", "-w", notes),
            "doctor": version.command("doctor", "-w", notes),
            "export --all": version.command("export", folder / "a.zip", "--all", "-w", notes),
        }


def write_many(notes: Path, count: int) -> list[str]:
    """Write small notes in folders of a thousand; return queries that find something."""
    chance = random.Random(1)
    syllables = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "ar", "en", "il", "or")]
    words = list({"".join(chance.choices(syllables, k=chance.randint(2, 4))): None for _ in range(30_000)})
    weights = list(accumulate(1 / (number + 3) for number in range(len(words))))  # as words are in real texts
    queries: list[str] = []
    for number in range(count):
        folder = notes / "memory" / f"d{number // 1_000:03}"
        if number % 1_000 == 0:
            folder.mkdir(parents=True)
        said = chance.choices(words, cum_weights=weights, k=22)
        (folder / f"note{number:06}.md").write_text(f"# {said[0]}\n\n- {' '.join(said)}.\n", encoding="utf-8")
        if number % (count // SEARCHES) == 0 and len(queries) < SEARCHES:
            queries.append(" ".join(said[3:6]))
    return queries


def many_files(version: Version, notes: Path, queries: list[str]) -> dict[str, Any]:
    """Index many files, then search them in one process and in processes of their own."""
    index = notes / ".memory"
    shutil.rmtree(index, ignore_errors=True)
    first = version.command("sync", "-w", notes)
    time.sleep(3)  # files that were just written are not trusted yet
    version.command("sync", "-w", notes)
    warm = json.loads(version.run(_WARM, notes, *queries).stdout)
    once = [version.command("search", query, "-w", notes)["seconds"] for query in queries[:5]]
    return {
        "first sync": first,
        "first search": warm[0],
        "later searches": warm[1:],
        "one command": statistics.median(once),
    }


def measure(versions: list[Version], notes: Path, files: int, parts: list[str]) -> dict[str, Any]:
    """Return the figures of every version, one after the other for each kind of work."""
    results: dict[str, Any] = {
        "large": {},
        "deep": {},
        "many": {},
        "files": files,
        "load": os.getloadavg()[0],
    }
    for version in versions:
        if "large" in parts:
            results["large"][version.name] = large_notes(version)
        if "deep" in parts:
            results["deep"][version.name] = deep_folders(version)
    if "many" in parts:
        with passing(notes):
            queries = write_many(notes, files)
            for version in versions:
                results["many"][version.name] = many_files(version, notes, queries)
    return results


def table(results: dict[str, Any]) -> str:
    """Write the results as Markdown."""
    lines = [
        f"One note of {LARGE_BYTES / 1e9:g} GB.",
        "",
        "| | command | exit | peak MB | s |",
        "|---|---|---|---|---|",
    ]
    for name, commands in results["large"].items():
        for command, told in commands.items():
            peak = f"{told['megabytes']:.0f}" if "megabytes" in told else told["died"]
            lines.append(f"| {name} | {command} | {told['code']} | {peak} | {told['seconds']:.1f} |")
    lines += [
        "",
        f"{DEPTH:,} folders inside each other, twice.",
        "",
        "| | command | exit | s |",
        "|---|---|---|---|",
    ]
    for name, commands in results["deep"].items():
        for command, told in commands.items():
            ended = told.get("died") or told["code"]
            lines.append(f"| {name} | {command} | {ended} | {told['seconds']:.1f} |")
    lines += ["", f"{results['files']:,} files, each search while files are due to be looked at.", ""]
    lines += ["| | first index s | first search s | later p50 s | later max s | target | a command s |"]
    lines += ["|---|---|---|---|---|---|---|"]
    for name, told in results["many"].items():
        later = told["later searches"]
        figures = [told["first sync"]["seconds"], told["first search"], statistics.median(later), max(later)]
        target = f"max ≤ {SEARCH_SECONDS}: {verdict(max(later), SEARCH_SECONDS)}"
        shown = " | ".join(f"{figure:.2f}" for figure in figures)
        lines.append(f"| {name} | {shown} | {target} | {told['one command']:.2f} |")
    return "\n".join(lines)


def main() -> None:
    """Measure, print the tables, and write the figures if asked."""
    options = parser(__doc__)
    options.add_argument("--before", type=Path, help="a checkout of an earlier version to compare with")
    options.add_argument("--files", type=int, default=200_000)
    options.add_argument("--parts", nargs="+", default=["large", "deep", "many"])
    options.add_argument("--folder", type=Path, required=True, help="where there is room for all of it")
    arguments = options.parse_args()
    folder = arguments.folder.resolve()
    sources = {
        "before": arguments.before and arguments.before.resolve() / "src",
        "now": Path("src").resolve(),
    }
    versions = [Version(name, source, folder) for name, source in sources.items() if source]
    results = measure(versions, folder / "many", arguments.files, arguments.parts)
    finish(results, table(results), arguments.json)


if __name__ == "__main__":
    main()
