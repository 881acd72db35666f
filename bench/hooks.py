"""Measures the hooks: what a prompt waits for, warm and cold, and whether engines outlive their clients.

Run `python -m bench.hooks`. Hooks are whole processes, started as the clients start them, in turns with an
interpreter that does nothing. What happens without an engine is measured in turns with an earlier version, if
`--before` names a checkout of it. Then programs play a client each, in a workspace each, and are ended or
killed at some moment; ten seconds after the time that an engine stays, none of theirs may be left.
"""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
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
from memlines.clients.client import SCRIPT, hook_words
from memlines.serve.hooks import thin
from memlines.serve.hooks.daemon import LINGER_SECONDS

NOTES = 285
"""Makes about 1,000 chunks."""
FEW_NOTES = 20

PROMPT_MS, FIRST_ANSWER_MS, STARTS = 60, 500, 30
LEFT_SECONDS = LINGER_SECONDS + 10
BARE = [sys.executable, "-I", "-S", "-c", "pass"]
CLIENT = "claude-code"
SMALL_TALK = "Please rename this function."
ABOUT_THE_PAST = "What did we decide about the lighthouse?"
NOTE = "# Harbour\n\n- We decided that the lighthouse is painted white.\n"
KNOWN = "painted white"

COLD = {
    "first answer": "from the start of the engine to its answer to a prompt, without a limit",
    "prompt alone": "a prompt that starts the engine",
    "start of a session": "the start of a session, which starts the engine",
    "prompt behind it": "the prompt right behind that",
}

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

    def __init__(self, folder: Path, variables: Mapping[str, str], source: Path | None = None) -> None:
        """Name the workspace, and the folder of another version's packages."""
        self.folder = folder
        self.variables = {**variables, **({"PYTHONPATH": str(source)} if source else {})}
        self.script = source / "memlines/hooks" / SCRIPT.name if source else SCRIPT
        self.number = 0

    def run(self, event: str, prompt: str = "", *, same_session: bool = False) -> str:
        """Run a hook of a session that has not been seen before, and return what it printed."""
        self.number += not same_session
        given = {"session_id": f"session-{self.number}", "cwd": str(self.folder), "prompt": prompt}
        finished = subprocess.run(
            [sys.executable, "-I", "-S", str(self.script), CLIENT, event],
            cwd=self.folder,
            env=self.variables,
            input=json.dumps(given),
            stdout=subprocess.PIPE,
            encoding="utf-8",
            check=True,
        )
        return finished.stdout

    def first_answer(self) -> str:
        """Start an engine, and return its answer to the first prompt, however long that takes."""
        root = str(self.folder)
        words = [sys.executable, "-P", "-m", "memlines.serve.hooks.daemon", root, str(os.getpid())]
        subprocess.Popen(words, env=self.variables, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self.number += 1
        given = {"session_id": f"session-{self.number}", "prompt": ABOUT_THE_PAST}
        asks = {"version": thin.version(), "process": os.getpid(), "client": CLIENT, "input": given}
        params = {**asks, "event": "UserPromptSubmit"}
        request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "hook", "params": params}) + "\n"
        while True:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
                try:
                    connection.connect(thin.socket_file(root))
                except OSError:
                    time.sleep(0.005)
                    continue
                connection.sendall(request.encode())
                return connection.makefile(encoding="utf-8").readline()

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
    lines = [line for line in listed.stdout.splitlines() if "memlines.serve.hooks.daemon" in line]
    return [int(line.split()[0]) for line in lines if str(folder) in line.split()]


def indexed(folder: Path) -> int:
    """Write notes with random vectors under the builtin model's name; return how many chunks that is."""
    from memlines import Memory
    from memlines.embed.builtin.files import BuiltinProvider
    from memlines.embed.select import Choice

    write_workspace(folder, NOTES)
    real = BuiltinProvider
    with Memory(folder) as memory:
        memory._manager.choice = Choice("auto", RandomVectors(real.id, real.model, real.key))
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


def cold(versions: Mapping[str, Hooks], rounds: int) -> dict[str, dict[str, Any]]:
    """Time what happens where no engine runs, the versions in turns; count the answers that were in time."""
    taken: dict[str, dict[str, list[float]]] = {name: defaultdict(list) for name in versions}
    answered: dict[str, Counter[str]] = {name: Counter() for name in versions}
    for hooks in versions.values():  # each has an index of its own making, and its modules compiled
        write_workspace(hooks.folder, FEW_NOTES)
        (hooks.folder / "memory/harbour.md").write_text(NOTE, encoding="utf-8")
        sync = [sys.executable, "-P", "-m", "memlines", "sync"]
        subprocess.run(sync, cwd=hooks.folder, env=hooks.variables, stdout=subprocess.DEVNULL, check=True)
        hooks.run("SessionStart")
        hooks.run("UserPromptSubmit", ABOUT_THE_PAST)
        hooks.end_engine()
    for _ in range(rounds):
        for name, hooks in versions.items():
            steps: dict[str, Callable[[], str]] = {
                "first answer": hooks.first_answer,
                "prompt alone": partial(hooks.run, "UserPromptSubmit", ABOUT_THE_PAST),
                "start of a session": partial(hooks.run, "SessionStart"),
                "prompt behind it": partial(hooks.run, "UserPromptSubmit", ABOUT_THE_PAST, same_session=True),
            }
            for step, work in steps.items():
                if step != "prompt behind it":  # which comes at once, as in `claude -p`
                    hooks.end_engine()
                took, told = _timed(work)
                taken[name][step].append(took)
                answered[name][step] += KNOWN in told
            hooks.end_engine()
    return {
        name: {
            step: {**_spread(values), "answered": answered[name][step]}
            for step, values in taken[name].items()
        }
        for name in versions
    }


def _timed(work: Callable[[], str]) -> tuple[float, str]:
    told: list[str] = []
    return seconds(lambda: told.append(work())), told[0]


def _spread(values: Sequence[float]) -> dict[str, float]:
    return {
        "p50_ms": 1000 * statistics.median(values),
        "p95_ms": 1000 * percentile(values, 0.95),
        "highest_ms": 1000 * max(values),
    }


def leftovers(top: Path, variables: Mapping[str, str], starts: int) -> dict[str, Any]:
    """Start clients and end them at some moment; return how many engines there were, and were left over."""
    randomly = random.Random(8)
    words = [word if word != "SessionStart" else "EVENT" for word in hook_words(CLIENT, "SessionStart")[:9]]
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
    found, cold_ones, ends = results["warm"], results["cold"], results["leftovers"]
    p50 = found["about the past"]["p50_ms"]
    first = cold_ones["now"]["first answer"]["p50_ms"]
    rows = [
        ("an interpreter that does nothing", found["bare"]),
        ("a prompt, warm: small talk", found["small talk"]),
        ("a prompt, warm: about the past, with a search", found["about the past"]),
        ("the end of a turn, warm", found["end of a turn"]),
    ]
    return "\n".join(
        [
            "# Hooks",
            "",
            f"{results['date']}, `{results['command']}`: Python {results['python']}, {results['system']},"
            f" {results['cores']} cores, load {results['load']} at the start. {results['chunks']:,} chunks,"
            f" the builtin model; {found['rounds']} rounds warm, {results['cold_rounds']} cold;"
            " whole processes.",
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
            f"Without an engine, which the first hook starts; {FEW_NOTES} notes with true vectors:",
            "",
            "| | version | p50 ms | p95 ms | brought the right line |",
            "|---|---|---|---|---|",
            *(
                f"| {label} | {name} | {row[step]['p50_ms']:.0f} | {row[step]['p95_ms']:.0f}"
                f" | {row[step]['answered']} of {results['cold_rounds']} |"
                for step, label in COLD.items()
                for name, row in cold_ones.items()
            ),
            "",
            f"From the start of the engine to its first answer: {first:.0f} ms"
            f" (target p50 ≤ {FIRST_ANSWER_MS} ms: {verdict(first, FIRST_ANSWER_MS)}).",
            "",
            f"{ends['starts']} clients were ended or killed; {ends['seen']} engines ran at that moment, never"
            f" more than {ends['most_at_once']} for a workspace; {LEFT_SECONDS:.0f} seconds later"
            f" {ends['left']} were left (target 0: {verdict(ends['left'], 0)}).",
        ]
    )


def main() -> None:
    """Measure, print the table, and write the figures if asked."""
    options = parser(__doc__)
    options.add_argument("--rounds", type=int, default=100)
    options.add_argument("--starts", type=int, default=STARTS)
    options.add_argument("--before", type=Path, help="a checkout of an earlier version to compare with")
    arguments = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="memlines-bench-") as temporary:
        folder = Path(temporary).resolve()
        variables = environment(folder / "home")
        variables.pop("CLAUDE_PROJECT_DIR", None)
        os.environ["MEMLINES_HOME"] = variables["MEMLINES_HOME"]  # where the socket is looked for
        hooks = Hooks(folder / "notes", variables)
        versions = {"now": Hooks(folder / "now", variables)}
        if arguments.before:
            source = arguments.before.resolve() / "src"
            versions = {"before": Hooks(folder / "before", variables, source), **versions}
        results: dict[str, Any] = {
            **circumstances(),
            "command": " ".join(["python -m bench.hooks", *sys.argv[1:]]),
            "chunks": indexed(hooks.folder),
        }
        try:
            results["warm"] = warm(hooks, arguments.rounds)
            hooks.end_engine()
            results["cold_rounds"] = max(3, arguments.rounds // 10)
            results["cold"] = cold(versions, results["cold_rounds"])
        finally:
            for each in [hooks, *versions.values()]:
                each.end_engine()
        results["leftovers"] = leftovers(folder / "ends", {**variables, **WORDS_ONLY}, arguments.starts)
    finish(results, table(results), arguments.json)


if __name__ == "__main__":
    main()
