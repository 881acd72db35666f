"""Measures indexing through an embedding service, beside memsearch on the same notes and service.

Run `python -m bench.providers`, which keeps the figures in `bench/results/`, or with `--files 20` for a
try, which only prints them. The service is `bench.embedding_server` on this machine: what is measured is
how often a program asks, how much at a time, and what else it does meanwhile. Every index is made anew by
a command in a process of its own, in turns; both programs run with their default settings.

memsearch lives in a virtual environment of its own, which is made in the cache folder the first time, or
is named by `--memsearch`. Without it only Memlines is measured.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from bench.common import (
    MEMLINES,
    circumstances,
    environment,
    finish,
    keep,
    parser,
    run_fresh,
    seconds,
    verdict,
)
from bench.corpus import vocabulary
from bench.embedding_server import MODEL, Client, running
from memlines.paths import user_cache_dir

DELAY = 0.05
MEMSEARCH = "0.4.23"
RATIO = 5
COMMAND = "python -m bench.providers"

_SECTION_CHARACTERS = 1_190
_FILES_PER_FOLDER = 50
_LONG_AGO = 1_700_000_000
"""When every note was last changed: files changed just now are read again by the next sync."""
_OURS, _THEIRS = "Memlines", "memsearch"

_OUR_SYNC = """
import sys, time
from memlines import Memory
begin = time.perf_counter()
with Memory(sys.argv[1]) as memory:
    memory.sync()
print(time.perf_counter() - begin)
"""
_THEIR_INDEX = """
import asyncio, sys, time
from memsearch import MemSearch
folder, uri, model, base_url = sys.argv[1:]
begin = time.perf_counter()
with MemSearch([folder], embedding_provider="openai", embedding_model=model, embedding_base_url=base_url,
               embedding_api_key="x", milvus_uri=uri) as memory:
    asyncio.run(memory.index())
print(time.perf_counter() - begin)
"""


@dataclass(frozen=True, slots=True)
class Layout:
    """Notes that make about a thousand chunks."""

    name: str
    files: int
    sections: int


LAYOUTS = (Layout("short notes", files=250, sections=4), Layout("long notes", files=20, sections=50))
"""The first is the one that the target is for."""


def write_notes(root: Path, layout: Layout) -> None:
    """Fill a workspace with notes whose sections are about as long as a chunk."""
    words, randomly = vocabulary("en"), random.Random(5)
    for number in range(layout.files):
        sections = []
        for _ in range(layout.sections):
            section = f"## {' '.join(words.draw(randomly, 4)).title()}\n\n"
            while len(section) < _SECTION_CHARACTERS:
                section += words.sentence(randomly) + "\n"
            sections.append(section)
        note = root / f"memory/area-{number // _FILES_PER_FOLDER}/topic-{number:03d}.md"
        _write(note, f"# Topic {number}\n\n" + "\n".join(sections))


def change_one_line(root: Path) -> None:
    """Write another line in the place of one in the middle of a note."""
    note = min(root.glob("memory/**/*.md"))
    lines = note.read_text(encoding="utf-8").split("\n")
    lines[len(lines) // 2] = "The release was moved to the second week of March."
    _write(note, "\n".join(lines), _LONG_AGO + 60)


def move_all(root: Path) -> None:
    """Give every note another folder and another name."""
    for number, note in enumerate(sorted(root.glob("memory/**/*.md"))):
        target = root / f"memory/moved-{number % 7}/renamed-{number:03d}.md"
        target.parent.mkdir(exist_ok=True)
        note.rename(target)


def _write(note: Path, text: str, changed: int = _LONG_AGO) -> None:
    note.parent.mkdir(parents=True, exist_ok=True)
    note.write_text(text, encoding="utf-8", newline="\n")
    os.utime(note, (changed, changed))


# The programs


@dataclass(frozen=True, slots=True)
class Program:
    """A program that indexes a workspace, as a command and as a library."""

    name: str
    command: list[str]
    timed: list[str]
    """Prints how long the index takes without the start of the process."""
    variables: dict[str, str]
    index: Path
    count: Callable[[Program], int]
    """Counts the chunks that have vectors."""

    def run(self, server: Client) -> dict[str, float]:
        """Run the command and return how long that took and what the service was asked."""
        server.reset()
        taken = seconds(lambda: run_fresh(self.command, self.variables))
        return {"seconds": taken, **server.counts()}

    def run_inside(self) -> float:
        """Index as a library would, and return how long that took."""
        return float(run_fresh(self.timed, self.variables))

    def forget(self) -> None:
        """Remove the index."""
        shutil.rmtree(self.index, ignore_errors=True)


def ours(root: Path, home: Path, server: Client) -> Program:
    """Return Memlines, with the service in its settings and everything else as it comes."""
    variables = environment(
        home,
        MEMLINES_EMBEDDINGS__PROVIDER="openai-compatible",
        MEMLINES_EMBEDDINGS__BASE_URL=server.base_url,
        MEMLINES_EMBEDDINGS__MODEL=MODEL,
        MEMLINES_EMBEDDINGS__API_KEY="x",
    )
    return Program(
        _OURS,
        command=[str(MEMLINES), "sync", "-w", str(root)],
        timed=[sys.executable, "-c", _OUR_SYNC, str(root)],
        variables=variables,
        index=root / ".memory",
        count=lambda program: _our_vectors(root, program.variables),
    )


def _our_vectors(root: Path, variables: dict[str, str]) -> int:
    status = json.loads(run_fresh([str(MEMLINES), "status", "-w", str(root), "--json"], variables))
    if status["dirty"]:
        raise RuntimeError("the index does not equal the notes, so nothing was measured")
    vectors: int = status["chunks"] - status["pending"]
    return vectors


def theirs(program: Path, root: Path, home: Path, server: Client) -> Program:
    """Return memsearch, with the service in its options and everything else as it comes."""
    home.mkdir(parents=True, exist_ok=True)
    variables = {name: value for name, value in environment(home).items() if name != "PYTHONPYCACHEPREFIX"}
    # Requests to this machine take no way over a proxy, as with Memlines.
    variables |= {"HOME": str(home), "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
    notes, index = str(root / "memory"), home / "milvus.db"
    store = ["--milvus-uri", str(index)]
    service = ["--provider", "openai", "--model", MODEL, "--base-url", server.base_url, "--api-key", "x"]
    python = str(program.with_name("python"))
    return Program(
        _THEIRS,
        command=[str(program), "index", *store, *service, notes],
        timed=[python, "-c", _THEIR_INDEX, notes, str(index), MODEL, server.base_url],
        variables=variables,
        index=index,
        count=lambda own: _first_number(run_fresh([str(program), "stats", *store], own.variables)),
    )


def _first_number(printed: str) -> int:
    found = re.search(r"\d+", printed)
    if found is None:
        raise ValueError(f"there is no number in {printed!r}")
    return int(found[0])


def memsearch_program(named: Path | None) -> Path | None:
    """Return where memsearch is; it is installed if need be, and nothing is returned if that fails."""
    if named:
        return named.absolute()
    folder = user_cache_dir() / f"bench-memsearch-{MEMSEARCH}"
    program = folder / ("Scripts" if os.name == "nt" else "bin") / "memsearch"
    if shutil.which(program):
        return program
    print(f"installing memsearch {MEMSEARCH} into a virtual environment of its own", file=sys.stderr)
    try:
        venv.create(folder, clear=True, with_pip=True)
        pip = [str(program.with_name("python")), "-m", "pip", "install", "--quiet", f"memsearch=={MEMSEARCH}"]
        subprocess.run(pip, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"memsearch cannot be installed, so only Memlines is measured: {error}", file=sys.stderr)
        shutil.rmtree(folder, ignore_errors=True)
        return None
    return program


# What is measured


def measure_first_index(programs: Sequence[Program], server: Client, rounds: int) -> dict[str, Any]:
    """Index everything anew in turns, as commands and as libraries."""
    commands: dict[str, list[dict[str, float]]] = {program.name: [] for program in programs}
    inside: dict[str, list[float]] = {program.name: [] for program in programs}
    for _ in range(rounds):
        for program in programs:
            program.forget()
            inside[program.name].append(program.run_inside())
            program.forget()
            commands[program.name].append(program.run(server))
    return {
        program.name: {
            "chunks": program.count(program),
            "seconds": median(run["seconds"] for run in commands[program.name]),
            "all_seconds": [run["seconds"] for run in commands[program.name]],
            "seconds_inside": median(inside[program.name]),
            "requests": commands[program.name][-1]["requests"],
            "texts": commands[program.name][-1]["texts"],
        }
        for program in programs
    }


def measure_again(root: Path, programs: Sequence[Program], server: Client) -> dict[str, Any]:
    """Index again after some changes of the notes, one after the other."""
    changes: dict[str, Callable[[Path], None]] = {
        "nothing changed": lambda _: None,
        "one line changed": change_one_line,
        "every note moved": move_all,
    }
    figures: dict[str, Any] = {}
    for name, change in changes.items():
        change(root)
        figures[name] = {
            program.name: {**program.run(server), "chunks": program.count(program)} for program in programs
        }
    return figures


@contextmanager
def prepared(layout: Layout, program: Path | None, server: Client) -> Iterator[tuple[Path, list[Program]]]:
    """Make a workspace, and programs that have run once and are compiled."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        root, home = folder / "workspace", folder / "home"
        programs = [ours(root, home / "ours", server)]
        if program:
            programs.append(theirs(program, root, home / "theirs", server))
        write_notes(root, Layout("a few notes to begin with", files=2, sections=1))
        for each in programs:
            each.run(server)
        shutil.rmtree(root)
        write_notes(root, layout)
        yield root, programs


def measure(layouts: Sequence[Layout], program: Path | None, rounds: int) -> dict[str, Any]:
    """Measure every layout."""
    measured = []
    with running(DELAY) as server:
        for layout in layouts:
            with prepared(layout, program, server) as (root, programs):
                size = sum(note.stat().st_size for note in root.glob("memory/**/*.md"))
                first = measure_first_index(programs, server, rounds)
                again = measure_again(root, programs, server)
            measured.append(
                {"name": layout.name, "files": layout.files, "bytes": size, "first": first, "again": again}
            )
    version = run_fresh([str(program), "--version"], os.environ).split()[-1] if program else None
    return {"delay_seconds": DELAY, "rounds": rounds, "memsearch": version, "layouts": measured}


# How it is shown


def table(results: dict[str, Any]) -> str:
    """Write the results as Markdown tables."""
    lines = [
        f"A service on this machine answers every request {1000 * results['delay_seconds']:.0f} ms after it"
        f" came. The first index is the median of {results['rounds']} interleaved rounds, the others are one"
        f" run each. memsearch is {results['memsearch'] or 'not measured'}; each of its runs asks for one"
        " text more, to learn how long a vector is. Seconds are of whole commands; inside: without the start"
        " of the process.",
    ]
    for layout in results["layouts"]:
        lines += ["", *_layout_lines(layout)]
    target = results["layouts"][0]
    lines += ["", *_verdicts(target["first"], target["again"])]
    return "\n".join(lines)


def _layout_lines(layout: dict[str, Any]) -> Iterator[str]:
    yield f"{layout['files']} {layout['name']}, {layout['bytes'] / 1e6:.1f} MB:"
    yield ""
    yield "| | program | s | inside, s | requests | texts | chunks with vectors |"
    yield "|---|---|---|---|---|---|---|"
    for step, figures in {"first index": layout["first"], **layout["again"]}.items():
        for name, figure in figures.items():
            inside = f"{figure['seconds_inside']:.2f}" if "seconds_inside" in figure else ""
            yield (
                f"| {step} | {name} | {figure['seconds']:.2f} | {inside} | {figure['requests']:.0f}"
                f" | {figure['texts']:.0f} | {figure['chunks']} |"
            )
    first = layout["first"]
    if _THEIRS in first:
        yield ""
        yield (
            f"memsearch takes {first[_THEIRS]['seconds'] / first[_OURS]['seconds']:.1f} times as long for the"
            f" first index ({first[_THEIRS]['seconds_inside'] / first[_OURS]['seconds_inside']:.1f} times"
            f" inside) and asks {first[_THEIRS]['requests'] / first[_OURS]['requests']:.1f} times as often."
        )


def _verdicts(first: dict[str, Any], again: dict[str, Any]) -> Iterator[str]:
    if _THEIRS in first:
        ratio = first[_THEIRS]["seconds"] / first[_OURS]["seconds"]
        met = verdict(ratio, RATIO, at_least=True)
        yield f"Target: {RATIO} times fewer seconds than memsearch on short notes: {ratio:.1f}, {met}."
    else:
        yield "memsearch was not there to compare with."
    moved = again["every note moved"][_OURS]
    asked = verdict(moved["requests"], 0)
    yield f"Target: no requests after every note was moved: {moved['requests']}, {asked}."


def page(results: dict[str, Any], around: dict[str, Any]) -> str:
    """Write the tables under what they were measured with."""
    return (
        f"# Indexing through an embedding service\n\n"
        f"{around['date']}, `{COMMAND}`: Python {around['python']}, SQLite {around['sqlite']},"
        f" {around['system']}, {around['cores']} cores, load {around['load']} at the start and"
        f" {around['load_at_end']} at the end.\n\n{table(results)}\n"
    )


def main() -> None:
    """Measure, print the tables, and keep the figures of a whole run."""
    options = parser(__doc__)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--files", type=int, help="only so many short notes, to try it out")
    options.add_argument("--memsearch", type=Path, metavar="PROGRAM", help="where memsearch is installed")
    arguments = options.parse_args()
    program = memsearch_program(arguments.memsearch)
    layouts: Sequence[Layout] = LAYOUTS
    if arguments.files:
        layouts = (Layout(LAYOUTS[0].name, arguments.files, LAYOUTS[0].sections),)
    around = circumstances()
    results = measure(layouts, program, arguments.rounds)
    if program and not arguments.files:
        around |= {"load_at_end": circumstances()["load"]}
        keep("providers", COMMAND, page(results, around), results, around)
    finish(results, table(results), arguments.json)


if __name__ == "__main__":
    main()
