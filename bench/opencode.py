"""Measures what the memory costs inside the real OpenCode: a search, the start, and the first turn.

Run `python -m bench.opencode`. OpenCode comes from the npm registry and answers to a scripted model, so a
turn takes as long as OpenCode itself does. Three kinds of projects take turns: one without any plugin, one
with a plugin that does nothing, and one with Memlines. Beside the clock of whole starts, which is as noisy
as starts are, the plugin's own parts are timed inside OpenCode.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.clients.npm import client
from tests.clients.opencode.machine import Machine
from tests.clients.opencode.model import Model
from tests.clients.opencode.window import Window

from bench.common import RandomVectors, circumstances, finish, parser, percentile, verdict
from bench.corpus import queries, write_workspace

VERSION = "1.18.33"
NOTES = 285
"""Makes about 1,000 chunks."""

SEARCHES, WARM_UP, PER_SESSION = 100, 10, 10
SEARCH_MS, START_MS, BLOCKING_MS = 40, 50, 0
NONE, EMPTY, OURS = "no plugin", "a plugin that does nothing", "Memlines"
REAL_MODEL: Mapping[str, str | None] = {"MEMLINES_EMBEDDINGS__PROVIDER": None}

EMPTY_PLUGIN = 'export default { id: "empty", server: async () => ({}) }\n'
TIMED_PLUGIN = """\
import { appendFileSync } from "node:fs"

const tell = (name, begin) =>
  appendFileSync(%(file)s, JSON.stringify({ name, ms: performance.now() - begin }) + "\\n")
const timed = (name, work) => async (...given) => {
  const begin = performance.now()
  try {
    return await work(...given)
  } finally {
    tell(name, begin)
  }
}

const server = async (input, options) => {
  let begin = performance.now()
  const { server } = await import("../memlines/plugin.js")
  tell("load", begin)
  begin = performance.now()
  const hooks = await server(input, options)
  tell("init", begin)
  for (const [name, hook] of Object.entries(hooks)) {
    if (typeof hook === "function") hooks[name] = timed(name, hook)
  }
  for (const [name, tool] of Object.entries(hooks.tool)) tool.execute = timed(name, tool.execute)
  return hooks
}

export default { id: "memlines", server }
"""
"""Stands in the place of the file that OpenCode loads, and times what that would do."""

AWAITED = ("chat.message", "experimental.chat.system.transform", "experimental.chat.messages.transform")
"""The hooks that a model call waits for."""


class Projects:
    """The three kinds of projects in one home."""

    def __init__(self, folder: Path, model: Model) -> None:
        """Make them; the one with Memlines has notes with vectors."""
        self.machine = Machine(folder, client("opencode-ai", VERSION), model)
        self.folders = {
            name: self.machine.project(place)
            for name, place in ((NONE, "none"), (EMPTY, "empty"), (OURS, "ours"))
        }
        _write(self.folders[EMPTY] / ".opencode/plugins/empty.js", EMPTY_PLUGIN)
        os.environ["MEMLINES_HOME"] = self.machine.environment()["MEMLINES_HOME"]
        self.timings = folder / "timings.jsonl"
        ours = self.folders[OURS]
        self.chunks = _indexed(ours)
        self.machine.memlines(ours, "install", "opencode", "--project")
        named = {"file": json.dumps(str(self.timings))}
        _write(ours / ".opencode/plugins/memlines.js", TIMED_PLUGIN % named)

    def timed(self) -> dict[str, list[float]]:
        """Return the times that the plugin told since this was last asked, by name."""
        found: dict[str, list[float]] = {}
        for line in self.timings.read_text(encoding="utf-8").splitlines() if self.timings.exists() else []:
            told = json.loads(line)
            found.setdefault(told["name"], []).append(told["ms"])
        self.timings.unlink(missing_ok=True)
        return found


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def _indexed(folder: Path) -> int:
    """Fill a project with notes whose vectors are random ones under the builtin model's name."""
    from memlines import Memory
    from memlines.embed.builtin.files import BuiltinProvider
    from memlines.embed.select import Choice

    write_workspace(folder, NOTES)
    real = BuiltinProvider
    with Memory(folder) as memory:
        memory._manager.choice = Choice("auto", RandomVectors(real.id, real.model, real.key))
        memory.sync()
        return memory.status().chunks


def searches(projects: Projects) -> dict[str, Any]:
    """Let the model search, and return how long the tool took: by OpenCode's clock, and by the plugin's."""
    told: list[float] = []
    with projects.machine.serve(**REAL_MODEL) as server:
        window = Window(server, projects.folders[OURS])
        for number, query in enumerate(queries(WARM_UP + SEARCHES)):
            if number % PER_SESSION == 0:
                session = window.session()
            if number == WARM_UP:
                told = []
                projects.timed()
            (call,) = window.call("memory_search", session, query=query).calls
            if call.status != "completed" or call.output.startswith("memory unavailable"):
                raise SystemExit(f"a search failed: {call.output}")
            told.append(call.milliseconds)
    inside = projects.timed()["memory_search"]
    return {"chunks": projects.chunks, "opencode": _spread(told), "plugin": _spread(inside)}


def _spread(values: list[float]) -> dict[str, float]:
    return {
        "count": len(values),
        "p50_ms": statistics.median(values),
        "p95_ms": percentile(values, 0.95),
        "highest_ms": max(values),
    }


def start(projects: Projects, kind: str) -> dict[str, float]:
    """Start OpenCode, say one thing, and return milliseconds: until it listened, was asked, answered."""
    model = projects.machine.model
    begin = time.perf_counter()
    with projects.machine.serve(**REAL_MODEL) as server:
        listening = time.perf_counter()
        window = Window(server, projects.folders[kind])
        session = window.session()
        before = len(model.requests)
        said = time.perf_counter()
        window.say("Good morning", session)
        answered = time.perf_counter()
        asked = next(request.received for request in model.requests[before:] if request.tools)
    return {
        "listening": 1000 * (listening - begin),
        "prompt to model": 1000 * (asked - said),
        "start to answer": 1000 * (answered - begin),
    }


def starts(projects: Projects, rounds: int) -> dict[str, Any]:
    """Start with each kind of project in turn."""
    for kind in projects.folders:
        start(projects, kind)  # the disk's cache, and the model of the vectors
    projects.timed()
    taken: list[dict[str, dict[str, float]]] = []
    inside: list[dict[str, list[float]]] = []
    for number in range(rounds):
        kinds = list(projects.folders)
        order = kinds[number % len(kinds) :] + kinds[: number % len(kinds)]
        taken.append({kind: start(projects, kind) for kind in order})
        inside.append(projects.timed())
    steps = taken[0][NONE]
    return {
        "rounds": rounds,
        "milliseconds": {
            kind: {step: statistics.median(turn[kind][step] for turn in taken) for step in steps}
            for kind in projects.folders
        },
        "more_than": {
            kind: {
                step: statistics.median(turn[OURS][step] - turn[kind][step] for turn in taken)
                for step in steps
            }
            for kind in (NONE, EMPTY)
        },
        "every_round": taken,
        "load_and_init_ms": statistics.median(turn["load"][0] + turn["init"][0] for turn in inside),
        "first_turn_hooks_ms": {
            name: statistics.median(sum(turn.get(name, [0.0])) for turn in inside) for name in AWAITED
        },
        "first_turn_hooks_highest_ms": {
            name: max(sum(turn.get(name, [0.0])) for turn in inside) for name in AWAITED
        },
    }


def table(results: dict[str, Any]) -> str:
    """Return the figures as Markdown."""
    found, begun = results["searches"], results["starts"]
    p50 = found["opencode"]["p50_ms"]
    lines = [
        "# Inside OpenCode",
        "",
        f"{results['date']}, `{results['command']}`: OpenCode {VERSION}, Python {results['python']},"
        f" {results['system']}, {results['cores']} cores, load {results['load']} at the start.",
        "",
        f"`memory_search` on {found['chunks']:,} chunks with the builtin model, warm, {SEARCHES} queries"
        f" (target p50 ≤ {SEARCH_MS} ms: {verdict(p50, SEARCH_MS)}):",
        "",
        "| | p50 ms | p95 ms | highest |",
        "|---|---|---|---|",
        *(
            f"| {label} | {found[key]['p50_ms']:.1f} | {found[key]['p95_ms']:.1f} |"
            f" {found[key]['highest_ms']:.1f} |"
            for label, key in (("the tool, by OpenCode", "opencode"), ("the tool, by the plugin", "plugin"))
        ),
        "",
        f"A fresh `opencode serve` and its first turn, medians of {begun['rounds']} rounds in turns, in ms:",
        "",
        "| | until it listens | prompt to first model call | start to first answer |",
        "|---|---|---|---|",
        *(
            f"| {kind} | " + " | ".join(f"{value:.0f}" for value in row.values()) + " |"
            for kind, row in begun["milliseconds"].items()
        ),
        *(
            f"| {OURS} above {kind} | " + " | ".join(f"{value:+.0f}" for value in row.values()) + " |"
            for kind, row in begun["more_than"].items()
        ),
        "",
        f"Inside OpenCode, loading the plugin and starting it took {begun['load_and_init_ms']:.1f} ms"
        f" (target ≤ {START_MS} ms: {verdict(begun['load_and_init_ms'], START_MS)}). What the first turn"
        " waited for, all calls of a hook together:",
        "",
        "| hook | median ms | highest |",
        "|---|---|---|",
        *(
            f"| `{name}` | {value:.1f} | {begun['first_turn_hooks_highest_ms'][name]:.1f} |"
            for name, value in begun["first_turn_hooks_ms"].items()
        ),
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure, print the table, and write the figures if asked."""
    options = parser(__doc__)
    options.add_argument("--rounds", type=int, default=7)
    arguments = options.parse_args()
    model = Model()
    try:
        with tempfile.TemporaryDirectory(prefix="memlines-bench-") as folder:
            projects = Projects(Path(folder), model)
            results = {
                **circumstances(),
                "command": " ".join(["python -m bench.opencode", *sys.argv[1:]]),
                "opencode": VERSION,
                "searches": searches(projects),
                "starts": starts(projects, arguments.rounds),
            }
    finally:
        model.close()
    finish(results, table(results), arguments.json)


if __name__ == "__main__":
    main()
