"""Time from a machine with Python and npm to a first useful answer, beside memsearch and qmd.

python -m bench.first_answer

Each program is installed from its registry into an empty folder, without any cache, Memlines from the wheel
of this checkout. Then it indexes five notes and is asked a question that shares no word with the note that
answers, and one with words of that note; the first hit counts. Memlines uses its builtin model. The models of
the others are downloaded from a hub when they are first used, which this does not measure: memsearch gets the
vectors of our builtin model from a service on this machine, and qmd searches by words. "Installed" is the
packages, "written" all that the program has written by its first answer, such as the index and an unpacked
model.
"""

from __future__ import annotations

import os
import sys
import tempfile
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.common import circumstances, environment, keep, seconds
from bench.embedding_server import running
from bench.processes import CannotRunError, bytes_of, run_command
from bench.programs import Memlines, Memsearch, Program, Qmd

NOTES = {
    "memory/decisions.md": "# Decisions\n\n- We chose Postgres 17 for billing: one engine to patch.\n",
    "memory/people.md": "# People\n\n- Anna reviews everything that touches payments. She prefers tea.\n",
    "memory/runbooks.md": "# Runbooks\n\nTo roll back, point the load balancer at the blue group.\n",
    "memory/travel.md": "# Travel\n\n- The team meets in Lisbon in the first week of March.\n",
    "MEMORY.md": "# Memory\n\nThe shop sells books. Deploys happen on Tuesdays.\n",
}
ANSWER = "decisions.md"
QUESTIONS = {"question": "which database do invoices use?", "words": "Postgres billing"}
OTHER_DOWNLOADS = {
    "memsearch": "558 MB for its local model, or a key",
    "qmd": "about 2 GB for its models",
}
"""What the programs fetch before they answer by meaning, as their own pages say."""


class Released(Memlines):
    """The wheel of this checkout in an environment of its own, with default settings."""

    def variables(self) -> dict[str, str]:
        """Use the builtin model, and the modules that pip compiled."""
        return {
            name: value for name, value in environment(self.home).items() if name != "PYTHONPYCACHEPREFIX"
        }

    @property
    def _bin(self) -> Path:
        return self.cache / "venv" / ("Scripts" if os.name == "nt" else "bin")

    def install(self) -> None:
        """Make an environment with the wheel."""
        venv.create(self.cache / "venv", with_pip=True)
        wheel = next((self.cache.parent / "wheel").glob("*.whl"))
        run_command([str(self._bin / "pip"), "install", "-q", "--no-cache-dir", str(wheel)], os.environ)

    def installed_bytes(self) -> int:
        """Return what is in the environment, without the installer."""
        packages = (self.cache / "venv").glob("lib/python*/site-packages/*")
        return sum(bytes_of(place) for place in packages if not place.name.startswith(("pip", "setuptools")))

    def sync_command(self) -> list[str]:
        """Sync the workspace."""
        return [str(self._bin / "memlines"), "sync", "-w", str(self.notes)]

    def search_command(self, query: str) -> list[str]:
        """Search the workspace."""
        return [str(self._bin / "memlines"), "search", query, "-w", str(self.notes)]


def measure(program: Program, folder: Path, service: str) -> dict[str, Any]:
    """Install a program, index the notes and ask both questions."""
    program.settle(folder, service)
    for path, text in NOTES.items():
        (program.notes / path).write_text(text, encoding="utf-8")
    figures: dict[str, Any] = {"install": seconds(program.install)}
    figures["index"] = program.run(program.sync_command())[0]
    for name, query in QUESTIONS.items():
        try:
            figures[name], _, printed = run_command(program.search_command(query), program.variables())
        except CannotRunError:  # some programs end with an error where nothing is found
            printed = ""
        is_first = ANSWER in printed[: printed.find(".md") + 3]
        doubt = ", as its nearest lines" if "No confident match" in printed else ""
        figures[f"{name} answered"] = f"yes{doubt}" if is_first else "no"
    megabytes = {"installed": program.installed_bytes() / 1e6, "written": bytes_of(program.home) / 1e6}
    return figures | {"megabytes": megabytes}


def page(command: str, found: Mapping[str, Mapping[str, Any]], around: Mapping[str, Any]) -> str:
    """Return the page with the figures."""
    rows = [
        f"| {name} | {row['install']:.0f} | {row['index']:.1f} | {row['question']:.1f} "
        f"| {row['install'] + row['index'] + row['question']:.0f} "
        f"| {row['megabytes']['installed']:.0f} | {row['megabytes']['written']:.0f} "
        f"| {row['question answered']} | {row['words answered']} | {OTHER_DOWNLOADS.get(name, 'nothing')} |"
        for name, row in found.items()
    ]
    return "\n".join(
        [
            "# From nothing to a first answer",
            "",
            f"{around['date']}, `{command}`: Python {around['python']}, {around['system']}, "
            f"{around['cores']} cores, load {around['load']} at the start.",
            "",
            __doc__.split("\n\n")[2].replace("\n", " ").strip(),
            "",
            "| program | install s | index s | ask s | together s | installed MB | written MB "
            "| answers in other words | answers by words | fetches later, to answer by meaning |",
            "|---|---|---|---|---|---|---|---|---|---|",
            *rows,
            "",
            "Installing takes as long as the registry and the disk allow, and the machine had other work: "
            "read a figure beside the others of this run. Python and Node were there. qmd needs a newer Node "
            "than most systems have: installing it is in the seconds and not in the megabytes.",
            "",
        ]
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure all programs, one after the other, and write the page."""
    if arguments or sys.argv[1:]:
        sys.exit(__doc__)
    around = circumstances()
    source = Path(__file__).resolve().parents[1]
    with tempfile.TemporaryDirectory() as temporary, running(0.0, "builtin") as service:
        base = Path(temporary)
        pip_wheel = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps"]
        run_command([*pip_wheel, "-w", str(base / "wheel"), str(source)], os.environ)
        found = {}
        for kind in (Released, Memsearch, Qmd):
            folder = base / kind.__name__
            found[kind.name] = measure(kind(folder), folder / "run", service.base_url)
            print(kind.name, found[kind.name], file=sys.stderr)
    command = "python -m bench.first_answer"
    keep("first-answer", command, page(command, found, around), found, around)


if __name__ == "__main__":
    main()
