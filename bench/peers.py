"""Compares Memlines with OpenClaw, memsearch and qmd: the same notes, the same vectors, in turns.

Run `python -m bench.peers`. The programs are installed into the cache folder, in versions that are pinned in
`bench/programs.py`. Each has a copy of the notes and a home of its own; all ask one embedding service on this
machine. Every step runs once a round for each program before the next step begins, and figures are medians:
compare the ratios, as other work on the machine makes all of them slower alike. qmd is compared by words,
because no service can give it vectors.

A program that cannot be installed or fails is left out, and the page says why. Figures are kept in
`bench/results/` unless programs, sizes or a folder were named.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from bench import peers_page
from bench.common import circumstances, finish, keep, parser, percentile
from bench.corpus import write_workspace
from bench.embedding_server import Client, running
from bench.processes import Ask, CannotRunError, bytes_of, family_of
from bench.programs import HITS, PROGRAMS, Program
from bench.quality import SETS
from memlines.paths import user_cache_dir

COMMAND = "python -m bench.peers"
FILES = (100, 1_000)
EVERYDAY = Path(__file__).resolve().parents[1] / "tests/index/everyday"

_TURN = 10
_WORD = re.compile(r"\w{3,}")
_LONG_AGO = 1_700_000_000

Figures = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and the notes that answer it."""

    text: str
    paths: tuple[str, ...]


class Left:
    """The programs that take part, and why others do not."""

    def __init__(self, programs: Sequence[Program]) -> None:
        """Begin with all of them."""
        self.programs = list(programs)
        self.why: dict[str, str] = {}

    def each(self, job: Callable[[Program], None]) -> None:
        """Do something with every program, and leave out those that cannot."""
        for program in list(self.programs):
            with self.without(program):
                job(program)

    @contextmanager
    def without(self, program: Program) -> Iterator[None]:
        """Go on without a program if it fails."""
        try:
            yield
        except (CannotRunError, OSError, KeyError, ValueError) as error:
            kind = "" if isinstance(error, CannotRunError) else f"{type(error).__name__}: "
            self.why[program.name] = f"{kind}{error}"
            print(f"{program.name} is left out: {error}", file=sys.stderr)
            if program in self.programs:
                self.programs.remove(program)


# What is asked


def questions_from(notes: Path, count: int) -> list[Question]:
    """Make questions of two to six words of a line of some note, which is what should be found."""
    randomly = random.Random(3)
    files = sorted(notes.rglob("*.md"))
    made: list[Question] = []
    while len(made) < count:
        file = randomly.choice(files)
        lines = [
            _WORD.findall(line) for line in file.read_text(encoding="utf-8", errors="replace").split("\n")
        ]
        words = randomly.choice([line for line in lines if len(line) > 1] or [["nothing"]])
        asked = randomly.sample(words, min(len(words), randomly.randint(2, 6)))
        made.append(Question(" ".join(asked), (file.relative_to(notes).as_posix(),)))
    return made


def labelled_sets() -> Iterator[tuple[str, Path, list[Question]]]:
    """Yield the sets that quality is measured on: those that are there, a hundred questions of each."""
    places = {"everyday": (EVERYDAY / "notes", EVERYDAY / "dev.jsonl")}
    places["XQuAD en"] = (SETS / "xquad_en/all", SETS / "xquad_en/queries.jsonl")
    for name, (notes, file) in places.items():
        if not file.exists():
            continue
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        asked = [
            Question(row["query"], tuple(gold["path"] for gold in row["gold"])) for row in rows if row["gold"]
        ]
        yield name, notes, asked[:: max(1, len(asked) // 100)]


def is_found(question: Question, paths: Sequence[str]) -> bool:
    """Return whether a note that answers is among the hits; some programs spell paths in their own way."""
    spelled = [_spelled(path) for path in paths[:HITS]]
    return any(found.endswith(_spelled(path)) for path in question.paths for found in spelled)


def _spelled(path: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", path.lower())


def copy_notes(source: Path, target: Path) -> None:
    """Copy the Markdown of a folder, without what is hidden."""
    for file in sorted(source.rglob("*.md")):
        path = file.relative_to(source)
        if not any(part.startswith(".") for part in path.parts):
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target / path)


# What is measured


def settle(left: Left, folder: Path, notes: Path, server: Client, *, run_once: bool = False) -> None:
    """Give every program a folder with a copy of the notes.

    With `run_once` each indexes and searches one note before, so that what it compiles or keeps at its first
    run is there.
    """

    def prepare(program: Program) -> None:
        program.settle(folder / program.name, server.base_url)
        if run_once:
            first = program.notes / "memory/first.md"
            first.write_text("# First\n\nThe heron waits.\n", encoding="utf-8")
            program.run(program.sync_command())
            program.run(program.search_command("heron"))
            program.forget()
            first.unlink()
        shutil.copytree(notes, program.notes, dirs_exist_ok=True)

    left.each(prepare)


def measure_steps(left: Left, server: Client, rounds: int, asked: Sequence[Question]) -> Figures:
    """Index, sync and search with commands, each step by every program in turn."""
    figures: Figures = {program.name: {} for program in left.programs}

    def timed(step: str, command: Callable[[Program], list[str]]) -> None:
        def job(program: Program) -> None:
            server.reset()
            seconds, work = program.run(command(program))
            row = figures[program.name].setdefault(step, {"seconds": [], "cpu_seconds": []})
            row["seconds"].append(seconds)
            row["cpu_seconds"].append(work)
            row |= server.counts()

        left.each(job)

    def sync(program: Program) -> list[str]:
        return program.sync_command()

    for number in range(rounds):
        left.each(lambda program: program.forget())
        timed("first index", sync)
        for program in left.programs:
            figures[program.name]["index_bytes"] = sum(map(bytes_of, program.index()))
        timed("sync, nothing changed", sync)
        kept = [change_a_note(program.notes, number) for program in left.programs]
        timed("sync, one note changed", sync)
        kept += [delete_a_note(program.notes, number) for program in left.programs]
        timed("sync, one note deleted", sync)
        text = asked[number % len(asked)].text
        timed("search, one command", lambda program, text=text: program.search_command(text))  # type: ignore[misc]
        for file, content in kept:
            file.write_bytes(content)
            os.utime(file, (_LONG_AGO, _LONG_AGO))
        print(f"round {number + 1} of {rounds} is done", file=sys.stderr)
    left.each(lambda program: program.run(program.sync_command()) and None)
    return figures


def change_a_note(notes: Path, number: int) -> tuple[Path, bytes]:
    """Add a line to a note; return it and what it held."""
    files = sorted(notes.rglob("*.md"))
    file = files[number % len(files)]
    content = file.read_bytes()
    file.write_bytes(content + b"\nThe release was moved to the second week of March.\n")
    return file, content


def delete_a_note(notes: Path, number: int) -> tuple[Path, bytes]:
    """Delete another note; return it and what it held."""
    files = sorted(notes.rglob("*.md"))
    file = files[-1 - number % len(files)]
    content = file.read_bytes()
    file.unlink()
    return file, content


@contextmanager
def all_warm(left: Left) -> Iterator[list[tuple[Program, str, int, Ask, float]]]:
    """Keep every program running in each of its ways, with the seconds from its start to the first answer."""
    with ExitStack() as stack:
        running_now = []
        for program in list(left.programs):
            with left.without(program):
                for way, start in program.warm().items():
                    begin = time.perf_counter()
                    process, ask = stack.enter_context(start())
                    ask("the first question")
                    running_now.append((program, way, process, ask, time.perf_counter() - begin))
        yield running_now


def measure_warm(left: Left, asked: Sequence[Question]) -> Figures:
    """Ask all programs that are kept running, some questions of each in turn."""
    figures: Figures = {program.name: {} for program in left.programs}
    with all_warm(left) as running_now:
        taken: dict[tuple[str, str], list[float]] = {(one[0].name, one[1]): [] for one in running_now}
        found = dict.fromkeys(taken, 0)
        for first in range(0, len(asked), _TURN):
            for program, way, _, ask, _ in running_now:
                if program not in left.programs:
                    continue
                with left.without(program):
                    for question in asked[first : first + _TURN]:
                        seconds, paths = ask(question.text)
                        taken[program.name, way].append(seconds)
                        found[program.name, way] += is_found(question, paths)
        for program, way, process, _, first_answer in running_now:
            values = taken[program.name, way]
            if program in left.programs:
                figures[program.name][way] = {
                    "p50_ms": 1000 * percentile(values, 0.5),
                    "p95_ms": 1000 * percentile(values, 0.95),
                    "start_to_first_answer_s": first_answer,
                    "resident_bytes": sum(family_of(process).values()),
                    "found": found[program.name, way] / len(values),
                }
    return figures


def measure_moved(left: Left, server: Client) -> Figures:
    """Give every note another folder and name, and sync once; at the first size only, as it takes long."""
    figures: Figures = {}

    def job(program: Program) -> None:
        for number, note in enumerate(sorted(program.notes.rglob("*.md"))):
            target = program.notes / f"memory/moved-{number % 7}/renamed-{number:05d}.md"
            target.parent.mkdir(exist_ok=True)
            note.rename(target)
        server.reset()
        seconds, work = program.run(program.sync_command())
        figures[program.name] = {"seconds": [seconds], "cpu_seconds": [work], **server.counts()}

    left.each(job)
    return figures


def measure_notes(left: Left, notes: Path, server: Client, arguments: Any, *, move: bool) -> Figures:
    """Measure everything about speed on a folder of notes."""
    asked = questions_from(notes, arguments.questions)
    files = sorted(notes.rglob("*.md"))
    with tempfile.TemporaryDirectory(prefix="memlines-peers-") as temporary:
        settle(left, Path(temporary), notes, server, run_once=True)
        steps = measure_steps(left, server, arguments.rounds, asked)
        warm = measure_warm(left, asked)
        moved = measure_moved(left, server) if move else {}
    programs: Figures = {}
    for name in (program.name for program in left.programs):
        index_bytes = steps[name].pop("index_bytes")
        if name in moved:
            steps[name]["sync, every note moved"] = moved[name]
        programs[name] = {
            "steps": {
                step: row | {key: median(row[key]) for key in ("seconds", "cpu_seconds")}
                for step, row in steps[name].items()
            },
            "index_bytes": index_bytes,
            "warm": warm[name],
        }
    return {
        "files": len(files),
        "bytes": sum(file.stat().st_size for file in files),
        "programs": programs,
    }


def measure_quality(left: Left) -> Figures:
    """Return how often a note that answers is among the hits, with vectors of the builtin model."""
    figures: Figures = {}
    with running(0, "builtin") as server:
        for name, notes, asked in labelled_sets():
            with tempfile.TemporaryDirectory(prefix="memlines-peers-") as temporary:
                settle(left, Path(temporary), notes, server)
                left.each(lambda program: program.run(program.sync_command()) and None)
                shares: dict[str, float] = {}
                with all_warm(left) as running_now:
                    for program, _, _, ask, _ in running_now:
                        with left.without(program):
                            right = sum(is_found(one, ask(one.text)[1]) for one in asked)
                            shares[program.name] = right / len(asked)
            figures[name] = {"questions": len(asked), "found": shares}
    return figures


def measure(left: Left, arguments: Any) -> Figures:
    """Install the programs, and measure every size."""

    def install(program: Program) -> None:
        if not arguments.offline:
            program.install()
        if not program.is_installed():
            raise CannotRunError("it is not in the cache, and --offline installs nothing")

    left.each(install)
    programs = {
        program.name: {
            "version": program.version,
            "mode": program.mode,
            "install_bytes": program.installed_bytes(),
        }
        for program in left.programs
    }
    sizes: list[Figures] = []
    with running(arguments.delay) as server, tempfile.TemporaryDirectory(prefix="memlines-notes-") as folder:
        for files in [0] if arguments.folder else arguments.files:
            notes = Path(folder) / str(files)
            if arguments.folder:
                copy_notes(arguments.folder, notes / "memory")
            else:
                write_workspace(notes, files, dated=False)
            print(f"{files} notes" if files else f"the notes of {arguments.folder}", file=sys.stderr)
            sizes.append(measure_notes(left, notes, server, arguments, move=not sizes))
    quality = {} if arguments.folder or arguments.no_quality else measure_quality(left)
    return {
        "rounds": arguments.rounds,
        "delay_seconds": arguments.delay,
        "questions": arguments.questions,
        "programs": programs,
        "left_out": left.why,
        "sizes": sizes,
        "quality": quality,
    }


def main() -> None:
    """Measure, print the page, and keep it with a picture if everything was measured."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends what was started, as Ctrl-C does
    options = parser(__doc__)
    options.add_argument("--only", nargs="+", choices=PROGRAMS, help="only these programs [default: all]")
    options.add_argument(
        "--files", nargs="+", type=int, default=FILES, help="how many notes [default: 100 1000]"
    )
    options.add_argument(
        "--rounds", type=int, default=3, help="how often each step runs [default: %(default)s]"
    )
    options.add_argument("--questions", type=int, default=100, help="warm searches [default: %(default)s]")
    options.add_argument("--folder", type=Path, help="a folder of Markdown of yours instead; it is copied")
    options.add_argument(
        "--delay", type=float, default=0.0, help="seconds that the service takes to answer [default: 0]"
    )
    options.add_argument("--no-quality", action="store_true", help="leave out the labelled questions")
    options.add_argument("--offline", action="store_true", help="install nothing: use what is in the cache")
    options.add_argument(
        "--cache", type=Path, default=user_cache_dir() / "bench", help="where programs are installed"
    )
    arguments = options.parse_args()
    around = circumstances()
    chosen = arguments.only or list(PROGRAMS)
    left = Left([kind(arguments.cache.resolve()) for name, kind in PROGRAMS.items() if name in chosen])
    results = measure(left, arguments)
    around |= {"load_at_end": circumstances()["load"]}
    shown = peers_page.table(results)
    if not (arguments.only or arguments.folder or arguments.delay or arguments.no_quality):
        keep("peers", COMMAND, peers_page.page(COMMAND, results, around), results, around)
        peers_page.draw(results, around)
    finish(results | {"circumstances": around}, shown, arguments.json)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
