"""Measures what large notes and deep folders cost: memory, whether commands survive, and time.

Run `python -m bench.sizes --before CHECKOUT`; `--before` names a checkout of an earlier version, which then
does the same work in turn. It writes some gigabytes of sparse files below `--folder`, and removes them. Each
measurement is a process of its own, by words only. Many files are what `bench.scale` measures.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.common import WORDS_ONLY, environment, finish, parser

LARGE_BYTES = 1_000_000_000
DEPTH = 1_000

_PEAK = """
import json, resource, sys
from memlines.cli.main import run
code = run(sys.argv[1:])
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"code": code, "megabytes": peak / 1000}), file=sys.stderr)
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


def measure(versions: list[Version], parts: list[str]) -> dict[str, Any]:
    """Return the figures of every version, one after the other for each kind of work."""
    results: dict[str, Any] = {"large": {}, "deep": {}, "load": os.getloadavg()[0]}
    for version in versions:
        if "large" in parts:
            results["large"][version.name] = large_notes(version)
        if "deep" in parts:
            results["deep"][version.name] = deep_folders(version)
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
    return "\n".join(lines)


def main() -> None:
    """Measure, print the tables, and write the figures if asked."""
    options = parser(__doc__)
    options.add_argument("--before", type=Path, help="a checkout of an earlier version to compare with")
    options.add_argument("--parts", nargs="+", default=["large", "deep"])
    options.add_argument("--folder", type=Path, required=True, help="where there is room for all of it")
    arguments = options.parse_args()
    folder = arguments.folder.resolve()
    sources = {
        "before": arguments.before and arguments.before.resolve() / "src",
        "now": Path("src").resolve(),
    }
    versions = [Version(name, source, folder) for name, source in sources.items() if source]
    results = measure(versions, arguments.parts)
    finish(results, table(results), arguments.json)


if __name__ == "__main__":
    main()
