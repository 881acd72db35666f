"""Play a page of the documentation in a shell, and compare what it prints with what the page shows.

Every line of a `console` block that starts with `$ ` is run, in the order of the page and in one shell, as is
every `bash` and `python` block. An `output` block shows what the `python` block before it prints. What is not
run, and what is run in another way, is in the two tables below, each with its reason.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.docs.pages import blocks
from tests.programs import MAIN

WARM = Path(__file__).with_name("warm.py")
FIRST = ""
"""The key of what is done before the first command of a page."""

NOT_RUN: Mapping[str, str] = {
    r"(pip|uv tool|pipx) install |uvx |git clone http": "fetches from the network",
    r"make demo": "installs an environment; tests/docs/test_examples.py runs the demo",
    r"make test": "runs every test, this one too",
    r"(opencode|claude|codex)$": "a conversation with a model; tests/clients holds scripted ones",
    r"python <<'NOTE'\nimport json\n\nfrom mem0 ": "mem0 is not installed; the test has what it writes",
    r"export [A-Z_]+=": "a key of a service that is not there",
    r"memlines facts (review|store .Pull)": "asks a person",
    r"memlines (eval [qs]|config try|model try)": "needs more notes than the page has",
}
"""Beginnings of commands that no test can run, and why."""

INSTEAD: Mapping[str, tuple[str, str]] = {
    r"memlines web": ("until_ready http memlines web --no-browser", "it serves until it is stopped"),
    r"memlines watch": ("until_ready [Ww]atching memlines watch", "it watches until it is stopped"),
    r"memlines backup s3://\S+": (
        "memlines backup /media/bucket",
        "there is no bucket; a folder works alike",
    ),
    r"(codex mcp .*)": (r"\1 2> /dev/null", "it warns that its home is below a temporary folder"),
    r"(memlines forget \S+#\S+)": (r"\1 --yes", "no one is at the terminal to say yes"),
}
"""Beginnings of commands that are run in another way: how, and why."""

VARYING = {
    r"\d{8}T\d{6}\.\d{6}Z-[0-9a-f]{8}": "BACKUP",
    r"damaged-\d{8}-\d{6}-\d+": "damaged-WHEN",
    r"\d{4}-\d\d-\d\d": "DAY",
    r"\d\d:\d\d(?::\d\d)?": "TIME",
    r"[0-9a-f]{64}": "SHA256",
    r"objects/[0-9a-f]{2}": "OBJECTS",
    r" *[\d,.]+ (?:bytes|[kM]B)\b": " BYTES",
    r"^(?:top-[13]|mrr) .*": "FIGURES",
    r"(?<=^DAY) +\.\d\d +#+": "BAR",
    r"\b[a-z2-7]{10}\b(?= \[|  |:| in |\n|$)": "ID",
    r"127\.0\.0\.1:\d+/\S*": "ADDRESS",
    r"(?<=SQLite )\S+ numpy \S+": "VERSION, numpy VERSION,",
    r"\d+\.\d+\.\d+": "VERSION",
}
"""What differs from one day, one run or one installation to the next."""

_SCORE = re.compile(r"(?<![\d.])0\.\d{2,3}(?![\d.])")
MOST_APART = 0.2
"""Scores may differ by this: an entry is embedded with its day, which moved scores of 0.7 by up to 0.16."""

_FUNCTIONS = f"""
memlines() {{ '{sys.executable}' -I -S '{WARM}' "$WARM" memlines "$@"; }}
python() {{
  if [ $# = 0 ]; then '{sys.executable}' -I -S '{WARM}' "$WARM" python; else '{sys.executable}' "$@"; fi
}}
until_ready() {{  # a pattern, `memlines` and its arguments: end it after it has printed the pattern
  pattern=$1; shift 2
  '{sys.executable}' -u -c '{MAIN}' "$@" > "$HOME/.until_ready" 2>&1 &
  for _ in $(seq 600); do
    kill -0 $! 2> /dev/null || break
    grep -q "$pattern" "$HOME/.until_ready" && break
    sleep 0.1
  done
  kill $! 2> /dev/null; wait $! 2> /dev/null
  grep . "$HOME/.until_ready" || echo "Error: it printed nothing"
}}
"""


class Step(NamedTuple):
    """A command or a program of a page, and what the page shows as its output."""

    command: str
    output: list[str]


def all_steps(page: Path) -> list[Step]:
    """Return the commands and the programs of a page in their order.

    A command may bring a text that ends with NOTE.
    """
    found: list[Step] = []
    for block in blocks(page):
        if block.language == "python":
            found.append(Step(f"python <<'NOTE'\n{block.text}NOTE", []))
        elif block.language == "bash":
            found.append(Step(block.text.rstrip(), []))
        elif block.language == "output":
            found[-1].output.extend(block.text.splitlines())
        elif block.language == "console":
            found += _console(block.text)
    return found


def _console(text: str) -> Iterator[Step]:
    lines = iter(text.splitlines())
    step: Step | None = None
    for line in lines:
        if not line.startswith("$ "):
            assert step, f"{line!r} is shown before any command"
            step.output.append(line)
            continue
        if step:
            yield step
        command = line.removeprefix("$ ").partition("  #")[0].strip()
        while ("<<'NOTE'" in command and not command.endswith("\nNOTE")) or command.endswith("\\"):
            command += f"\n{next(lines)}"
        step = Step(command, [])
    if step:
        yield step


def is_run(step: Step) -> bool:
    return not any(begins_with(pattern, step.command) for pattern in NOT_RUN)


def begins_with(pattern: str, command: str) -> bool:
    """Return whether a command, or one of several in its line, begins with a pattern."""
    return re.search(rf"(?:^|&& |; )(?:{pattern})", command) is not None


def as_run(command: str) -> str:
    """Return a command in the way it is run."""
    for pattern, (other, _) in INSTEAD.items():
        command = re.sub(f"^{pattern}", other, command)
    return command


@contextmanager
def warm_interpreter(cache: Path) -> Iterator[dict[str, str]]:
    """Run the interpreter that answers calls; yield the variables that lead to it and to its model."""
    with tempfile.TemporaryDirectory(prefix="warm-") as folder:
        address = f"{folder}/socket"
        variables = {"WARM": address, "XDG_CACHE_HOME": str(cache)}
        with subprocess.Popen(
            [sys.executable, str(WARM), "serve", address],
            env={**_outside(), **variables, "OPENBLAS_NUM_THREADS": "1"},  # what has threads should not fork
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        ) as process:
            assert process.stdout
            assert process.stdout.readline() == b"ready\n"
            yield variables


def played(
    commands: list[str], before: Mapping[str, str], home: Path, variables: Mapping[str, str]
) -> list[tuple[str, int]]:
    """Run commands one after the other in one shell, and return what each printed and its exit code."""
    home.mkdir(parents=True)
    script = [_FUNCTIONS, before.get(FIRST, "")]
    for command in commands:
        script += [before.get(command, ""), "echo @@@", "{", as_run(command), "} 2>&1", 'echo "@code $?"']
    done = subprocess.run(
        ["bash", "-c", "\n".join(script).replace("/media", str(home.parent))],
        cwd=home,
        env={**_outside(), **variables, "HOME": str(home), "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        timeout=300,
        check=False,
    )
    text = done.stdout.decode()
    for real, shown in ((home, "/home/you"), (home.parent, "/media"), (sys.executable, "/abs/python")):
        text = text.replace(str(real), shown)
    parts = [part.rpartition("@code ") for part in text.split("@@@\n")[1:]]
    return [(output, int(code)) for output, _, code in parts]


def _outside() -> dict[str, str]:
    """Return what a person's shell has: nothing of the tests, and programs of this environment first."""
    names = {"LANG", "TMPDIR", "SYSTEMROOT"} & os.environ.keys()
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return {name: os.environ[name] for name in names} | {"PATH": path, "COLUMNS": "120"}


def play(page: Path, before: Mapping[str, str], home: Path, variables: Mapping[str, str]) -> None:
    """Run a page and fail where it shows something else, or where a command that shows nothing fails."""
    known = [step for step in all_steps(page) if is_run(step)]
    outputs = played([step.command for step in known], before, home, variables)
    for step, (output, code) in zip(known, outputs, strict=True):
        shown = "\n".join(step.output)
        if shown.strip():
            assert_same(shown, output, step.command)
        else:
            failed = code or re.search(r"^(Error|Traceback|Warning)", output, re.MULTILINE)
            assert not failed, f"{step.command}: {output}"


def assert_same(shown: str, printed: str, command: str) -> None:
    """Compare two outputs: lines and words exactly but for what varies, scores within a limit.

    A line that ends with … is the beginning of the real one.
    """
    shown, printed = without_varying(shown), without_varying(printed)
    beginnings = [line.removesuffix("…") for line in shown.splitlines()]
    lines = printed.splitlines()
    for number, (beginning, line) in enumerate(zip(shown.splitlines(), lines, strict=False)):
        if beginning.endswith("…") and line.startswith(beginnings[number]):
            lines[number] = beginning
    printed = "\n".join(lines)
    assert _SCORE.sub("0.NN", shown) == _SCORE.sub("0.NN", printed), command
    for one, other in zip(_SCORE.findall(shown), _SCORE.findall(printed), strict=True):
        assert abs(float(one) - float(other)) <= MOST_APART, f"{command}: {one} is shown, {other} printed"


def without_varying(text: str) -> str:
    for what, name in VARYING.items():
        text = re.sub(what, name, text, flags=re.MULTILINE)
    return "\n".join(line.rstrip() for line in text.splitlines()).strip()
