"""Measures what a personal memory, the record for blame and earlier days add. Run `python -m bench.daily`.

A project of 1,000 notes and a personal memory of 100, with the builtin model. What is compared takes turns in
one process: a search of the project alone and of both, a message to an agent with the record and without it,
and a search as of an earlier day, the first time and again.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from bench.common import circumstances, default_settings, finish, interleaved, medians, parser, seconds
from bench.corpus import queries, write_workspace
from memlines import Memory
from memlines.paths import personal_folder
from memlines.serve.rpc.engine import PROTOCOL, Engine

NOTES, PERSONAL, ROUNDS = 1_000, 100, 100
AS_OF = "2026-03-01"


def main() -> None:
    """Measure, print, and write the figures if asked to."""
    arguments = parser(__doc__).parse_args()
    with default_settings(), tempfile.TemporaryDirectory(prefix="memlines-bench-") as folder:
        figures = measure(Path(folder) / "project")
    results = {**circumstances(), "command": "python -m bench.daily", **figures}
    finish(results, table(figures), arguments.json)


def measure(project: Path) -> dict[str, Any]:
    """Return the median seconds of each job."""
    write_workspace(project, NOTES)
    write_workspace(personal_folder(), PERSONAL, seed=5)
    with Memory(project) as memory:
        memory.sync()
        memory.warm_up()
        first = search(memory, iter(queries(1)), as_of=AS_OF)
        asked = queries(
            3 * ROUNDS
        )  # each question is new to its job: what is cached of it would help the next
        jobs = {
            "search, project alone": partial(search, memory, iter(asked[::3]), scopes=["project"]),
            "search, both": partial(search, memory, iter(asked[1::3])),
            "search as of a day, again": partial(search, memory, iter(asked[2::3]), as_of=AS_OF),
        }
        figures = medians(interleaved(jobs, ROUNDS))
    messages = {}
    for name in ("record", "no record"):
        made = engine(project.with_name(name), record=name == "record")
        messages[f"message, {name}"] = partial(message, made, iter(queries(ROUNDS)))
    figures |= medians(interleaved(messages, ROUNDS))
    return {"seconds": {**figures, "search as of a day, first": first}}


def search(memory: Memory, asked: Iterator[str], **options: Any) -> float:
    """Return how long the next question takes."""
    return seconds(partial(memory.search, next(asked), **options))


def engine(project: Path, *, record: bool) -> Engine:
    """Return the engine that clients talk to, ready for messages about a project of its own."""
    write_workspace(project, NOTES)
    (project / ".memory").mkdir()
    (project / ".memory" / "config.yaml").write_text(f"blame: {{enabled: {record}}}\n", encoding="utf-8")
    with Memory(project) as memory:
        memory.sync()
    made = Engine(project)
    made.methods()["initialize"].call({"protocol": PROTOCOL, "directory": str(project)})
    made._memory().warm_up()
    return made


def message(made: Engine, asked: Iterator[str]) -> float:
    """Return how long an agent waits for what the memory holds about a message that asks for it."""
    params = {"session": "bench", "text": f"What did we decide about {next(asked)}"}
    return seconds(partial(made.methods()["session/message"].call, params))


def table(figures: dict[str, Any]) -> str:
    """Return the figures as lines."""
    return "\n".join(f"{value * 1000:8.1f} ms  {name}" for name, value in figures["seconds"].items())


if __name__ == "__main__":
    main()
