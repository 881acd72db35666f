"""What the documentation shows of a session at the shell is what the program prints."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.docs.pages import ROOT, blocks

FIRST = ""
_NOTES = """
mkdir -p notes/memory laptop
printf '# Memory\\n\\n- Prefers tea over coffee\\n' > notes/MEMORY.md
printf '# Memory\\n\\n- Prefers coffee over tea\\n' > laptop/MEMORY.md
printf '# Today\\n\\n- 10:15 We chose Postgres\\n- 11:40 Ana has the key\\n' > notes/memory/2026-11-16.md
"""
_CHANGE = "echo '- Prefers tabs' >> notes/MEMORY.md; memlines backup /media/stick -w notes > /dev/null"
_DAMAGE = "for file in /media/stick/objects/*/*; do sed -i s:key:KEY: $file; done"
_FORGET = """
(memlines export old.zip -w notes; memlines forget 'memory/2026-11-16.md#L4' --yes -w notes) > /dev/null
"""

_OPENCLAW = """
mkdir -p .openclaw/workspace .openclaw/agents/main
printf '# Memory\\n\\n- We chose Postgres 17 for billing.\\n' > .openclaw/workspace/MEMORY.md
echo '{agents: {defaults: {memorySearch: {query: {maxResults: 8}}}}} // mine' > .openclaw/openclaw.json
"""

SESSIONS: Mapping[str, Mapping[str, str]] = {
    "README.md": {},
    "docs/quickstart.md": {},
    "docs/facts.md": {FIRST: "mkdir notes; cd notes"},
    "docs/openclaw.md": {FIRST: _OPENCLAW},
    "docs/search.md": {
        FIRST: "mkdir memory; echo We picked Postgres 17 for the billing service. > memory/db.md"
    },
    "docs/evaluation.md": {FIRST: f"cp -r '{ROOT}/examples/notes' notes; cd notes"},
    "docs/backup.md": {
        FIRST: _NOTES,
        "memlines restore /media/stick --list": _CHANGE,
        "memlines restore /media/stick --to check --dry-run": _DAMAGE,
        "memlines import old.zip -w notes": _FORGET,
    },
}
"""Pages that are played from their first line to the last: what is done before some of the commands."""

NOT_PLAYED = re.compile(
    r"make |pip |opencode|export "
    r"|memlines (watch|web|install|backup s3:|forget .*#|facts review|facts store .Pull)"
    r"|memlines (eval [qs]|config try|model try)"
)
"""What installs, waits for somebody, needs a service or sets of questions, or shows how hits are ranked."""

VARYING = {
    r"\d{8}T\d{6}\.\d{6}Z-[0-9a-f]{8}": "BACKUP",
    r"\d{4}-\d\d-\d\d": "DAY",
    r"(?<=^0\.\d)\d(?= (?:strong|likely|weak))": "N",  # the day of an entry is embedded with it
    r"\d\d:\d\d(?::\d\d)?": "TIME",
    r"[0-9a-f]{64}": "SHA256",
    r"objects/[0-9a-f]{2}": "OBJECTS",
    r" *\d+ bytes": " BYTES",
    r"^(?:top-[13]|mrr) .*": "FIGURES",
    r"(?<=^DAY) +\.\d\d +#+": "BAR",
    r"\b[a-z2-7]{10}\b(?= \[|  |:| in |\n|$)": "ID",
}
"""What differs from one day, or one run, to the next."""


class Step(NamedTuple):
    """A command of a page, and what the page shows as its output."""

    command: str
    output: list[str]


def steps(page: Path) -> list[Step]:
    """Return the commands and the programs of a page in their order.

    A command may bring a text that ends with NOTE.
    """
    found: list[Step] = []
    for block in blocks(page):
        if block.language == "python":
            found.append(Step(f"python <<'NOTE'\n{block.text}NOTE", []))
        if block.language != "console":
            continue
        lines = iter(block.text.splitlines())
        for line in lines:
            if not line.startswith("$ "):
                found[-1].output.append(line)
                continue
            command = line.removeprefix("$ ").partition("  #")[0].strip()
            while "<<" in command and not command.endswith("\nNOTE"):
                command += f"\n{next(lines)}"
            found.append(Step(command, []))
    return [step for step in found if not NOT_PLAYED.match(step.command)]


def played(commands: list[str], before: Mapping[str, str], home: Path) -> list[str]:
    """Run commands one after the other in one shell, and return what each printed."""
    home.mkdir(parents=True)
    script = [
        f'python() {{ "{sys.executable}" "$@"; }}',
        'memlines() { python -m memlines "$@"; }',
        before.get(FIRST, ""),
    ]
    for command in commands:
        script += [before.get(command, ""), "echo @@@", "{", command, "} 2>&1"]
    done = subprocess.run(
        ["bash", "-c", "\n".join(script).replace("/media", str(home))],
        cwd=home,
        env={**os.environ, "HOME": str(home), "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        timeout=100,
        check=False,
    )
    text = done.stdout.decode().replace(f"{home}/stick", "/media/stick").replace(str(home), "/home/you")
    return text.split("@@@\n")[1:]


def without_varying(text: str) -> str:
    for what, name in VARYING.items():
        text = re.sub(what, name, text, flags=re.MULTILINE)
    return "\n".join(line.rstrip() for line in text.splitlines()).strip()


@pytest.mark.skipif(sys.platform == "win32", reason="the pages show a POSIX shell")
@pytest.mark.parametrize("page", SESSIONS)
def test_a_session_goes_as_the_page_shows_it(page: str, tmp_path: Path) -> None:
    known = steps(ROOT / page)
    outputs = played([step.command for step in known], SESSIONS[page], tmp_path / "home" / "you")
    for step, output in zip(known, outputs, strict=True):
        told = without_varying("\n".join(step.output))
        if told:
            assert told == without_varying(output), step.command
        else:
            assert not re.search(r"^(Error|Traceback|Warning)", output, re.MULTILINE), (
                f"{step.command}: {output}"
            )
