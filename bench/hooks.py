"""Measures the hooks: what a prompt waits for, warm and cold, and whether engines outlive their clients.

Run `python -m bench.hooks`. Hooks are whole processes, started as the clients start them, in turns with an
interpreter that does nothing. Then a hundred programs play a client each, in a workspace each, and are ended
or killed at some moment; ten seconds later none of their engines may be left.
"""

from __future__ import annotations

import json
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from bench.common import (
    WORDS_ONLY,
    RandomVectors,
    circumstances,
    environment,
    finish,
    interleaved,
    parser,
    percentile,
    seconds,
    verdict,
)
from bench.corpus import queries, write_workspace
from recollect.hosts.hooks import hook_words

NOTES = 285
"""Makes about 1,000 chunks."""

PROMPT_MS, LEFT_SECONDS, STARTS = 60, 10, 100
BARE = [sys.executable, "-I", "-S", "-c", "pass"]
CLIENT = "claude-code"
SMALL_TALK = "Please rename this function."

PLAYED = """\
import subprocess, sys, time
for event in ("SessionStart", "UserPromptSubmit", "Stop"):
    words = [word if word != "EVENT" else event for word in sys.argv[2:]]
    given = '{"session_id": "s", "prompt": "What did we decide last week?"}'
    subprocess.run(words, cwd=sys.argv[1], input=given, encoding="utf-8", stdout=subprocess.DEVNULL)
time.sleep(60)
"""
"""A client: three events, and then it waits to be ended."""


class Hooks:
    """The hooks of one workspace, started as a client does it; the client is this very program."""

    def __init__(self, folder: Path, variables: Mapping[str, str]) -> None:
        """Name the workspace."""
        self.folder = folder
        self.variables = dict(variables)
        self.number = 0

    def run(self, event: str, prompt: str = "") -> str:
        """Run a hook of a session that has not been seen before, and return what it printed."""
        self.number += 1
        given = {"session_id": f"session-{self.number}", "cwd": str(self.folder), "prompt": prompt}
        finished = subprocess.run(
            hook_words(CLIENT, event)[:6],
            cwd=self.folder,
            env=self.variables,
            input=json.dumps(given),
            stdout=subprocess.PIPE,
            encoding="utf-8",
            check=True,
        )
        return finished.stdout

    def end_engine(self) -> None:
        """End the engine, and wait until it is gone."""
        for process in engines(self.folder):
            subprocess.run(["kill", str(process)], check=False)
        while engines(self.folder):
            time.sleep(0.05)


def engines(folder: Path) -> list[int]:
    """Return the processes of the engines of a workspace, by the list of all processes."""
    listed = subprocess.run(
        ["ps", "-wweo", "pid=,args="], stdout=subprocess.PIPE, encoding="utf-8", errors="replace", check=True
    )
    lines = [line for line in listed.stdout.splitlines() if "recollect.hooks.daemon" in line]
    return [int(line.split()[0]) for line in lines if str(folder) in line.split()]


def indexed(folder: Path) -> int:
    """Write notes with random vectors under the builtin model's name; return how many chunks that is."""
    from recollect import Memory
    from recollect.embed.builtin.provider import BuiltinProvider
    from recollect.embed.select import Choice

    write_workspace(folder, NOTES)
    real = BuiltinProvider
    with Memory(folder) as memory:
        memory._upkeep.choice = Choice("auto", RandomVectors(real.id, real.model, real.key))
        memory.sync()
        return memory.status().chunks


def warm(hooks: Hooks, rounds: int) -> dict[str, Any]:
    """Time prompts while the engine runs, in turns with a bare interpreter."""
    hooks.run("SessionStart")
    asked = [f"What did we decide about {query}" for query in queries(rounds + 40)]
    for prompt in asked[rounds:]:  # until the model is loaded
        hooks.run("UserPromptSubmit", prompt)
    told: list[str] = []
    jobs = {
        "bare": lambda: seconds(lambda: subprocess.run(BARE, env=hooks.variables, check=True)),
        "small talk": lambda: seconds(lambda: hooks.run("UserPromptSubmit", SMALL_TALK)),
        "about the past": lambda: seconds(lambda: told.append(hooks.run("UserPromptSubmit", asked.pop(0)))),
        "end of a turn": lambda: seconds(lambda: hooks.run("Stop")),
    }
    taken = interleaved(jobs, rounds)
    return {
        "rounds": rounds,
        "answered": sum(bool(answer) for answer in told),
        **{name: _spread(values) for name, values in taken.items()},
    }


def cold(hooks: Hooks, rounds: int) -> dict[str, Any]:
    """Time the first hook of all, which starts the engine."""
    taken: dict[str, list[float]] = {"start of a session": [], "prompt": []}
    for _ in range(rounds):
        for name, event in (("start of a session", "SessionStart"), ("prompt", "UserPromptSubmit")):
            hooks.end_engine()
            taken[name].append(seconds(partial(hooks.run, event, SMALL_TALK)))
    hooks.end_engine()
    return {"rounds": rounds, **{name: _spread(values) for name, values in taken.items()}}


def _spread(values: Sequence[float]) -> dict[str, float]:
    return {
        "p50_ms": 1000 * statistics.median(values),
        "p95_ms": 1000 * percentile(values, 0.95),
        "highest_ms": 1000 * max(values),
    }


def leftovers(top: Path, variables: Mapping[str, str], starts: int) -> dict[str, Any]:
    """Start clients and end them at some moment; return how many engines there were, and were left over."""
    randomly = random.Random(8)
    words = [word if word != "SessionStart" else "EVENT" for word in hook_words(CLIENT, "SessionStart")[:6]]
    left = seen = most = 0
    ended: list[tuple[float, Path]] = []
    for number in range(starts):
        folder = top / f"workspace-{number}"
        folder.mkdir(parents=True)
        (folder / "MEMORY.md").write_text("# Notes\n\n- We deploy on Tuesdays.\n", encoding="utf-8")
        client = subprocess.Popen(
            [sys.executable, "-c", PLAYED, str(folder), *words], env=dict(variables), start_new_session=True
        )
        time.sleep(randomly.uniform(0.05, 1.5))
        running = len(engines(folder))
        seen, most = seen + running, max(most, running)
        client.send_signal(signal.SIGKILL if number % 2 else signal.SIGTERM)
        client.wait()
        ended.append((time.monotonic(), folder))
        while ended and (number + 1 == starts or time.monotonic() - ended[0][0] > LEFT_SECONDS):
            moment, place = ended.pop(0)
            time.sleep(max(0.0, moment + LEFT_SECONDS - time.monotonic()))
            left += len(engines(place))
    return {"starts": starts, "seen": seen, "most_at_once": most, "left": left}


def table(results: dict[str, Any]) -> str:
    """Return the figures as Markdown."""
    found, first, ends = results["warm"], results["cold"], results["leftovers"]
    p50 = found["about the past"]["p50_ms"]
    rows = [
        ("an interpreter that does nothing", found["bare"]),
        ("a prompt, warm: small talk", found["small talk"]),
        ("a prompt, warm: about the past, with a search", found["about the past"]),
        ("the end of a turn, warm", found["end of a turn"]),
        ("the start of a session, without an engine", first["start of a session"]),
        ("a prompt, without an engine", first["prompt"]),
    ]
    return "\n".join(
        [
            "# Hooks",
            "",
            f"{results['date']}, `{results['command']}`: Python {results['python']}, {results['system']},"
            f" {results['cores']} cores, load {results['load']} at the start. {results['chunks']:,} chunks,"
            f" the builtin model; {found['rounds']} rounds warm, {first['rounds']} cold; whole processes.",
            "",
            "| | p50 ms | p95 ms | highest |",
            "|---|---|---|---|",
            *(
                f"| {label} | {row['p50_ms']:.1f} | {row['p95_ms']:.1f} | {row['highest_ms']:.1f} |"
                for label, row in rows
            ),
            "",
            f"A prompt about the past takes {p50:.1f} ms from end to end"
            f" (target p50 ≤ {PROMPT_MS} ms: {verdict(p50, PROMPT_MS)}),"
            f" {p50 - found['bare']['p50_ms']:.1f} ms more than an interpreter that does nothing;"
            f" {found['answered']} of {found['rounds']} were answered with something.",
            "",
            f"{ends['starts']} clients were ended or killed; {ends['seen']} engines ran at that moment, never"
            f" more than {ends['most_at_once']} for a workspace; {LEFT_SECONDS} seconds later"
            f" {ends['left']} were left (target 0: {verdict(ends['left'], 0)}).",
        ]
    )


def main() -> None:
    """Measure, print the table, and write the figures if asked."""
    options = parser(__doc__)
    options.add_argument("--rounds", type=int, default=100)
    options.add_argument("--starts", type=int, default=STARTS)
    arguments = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as temporary:
        folder = Path(temporary).resolve()
        variables = environment(folder / "home")
        variables.pop("CLAUDE_PROJECT_DIR", None)
        hooks = Hooks(folder / "notes", variables)
        results: dict[str, Any] = {
            **circumstances(),
            "command": " ".join(["python -m bench.hooks", *sys.argv[1:]]),
            "chunks": indexed(hooks.folder),
        }
        try:
            results["warm"] = warm(hooks, arguments.rounds)
            results["cold"] = cold(hooks, max(3, arguments.rounds // 10))
        finally:
            hooks.end_engine()
        results["leftovers"] = leftovers(folder / "ends", {**variables, **WORDS_ONLY}, arguments.starts)
    finish(results, table(results), arguments.json)


if __name__ == "__main__":
    main()
