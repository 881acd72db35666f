"""Index an example workspace and ask it five questions that share no words with their answers.

Run it with `make demo`, or `python examples/demo.py` where Memlines is installed. The notes
are copied to ./demo-workspace, so that they can be searched and changed afterwards.
"""

from __future__ import annotations

import io
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from memlines import Memory

NOTES = Path(__file__).resolve().parent / "notes"
WORKSPACE = Path("demo-workspace")
MARKER = ".made-by-memlines-demo"
WIDTH = 96
LOOK_AT = 3


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the note that answers it, and how the answering lines begin."""

    text: str
    languages: str
    answered_by: str
    telling: tuple[str, ...]


QUESTIONS = (
    Question(
        "Who should I phone if something breaks at night?",
        "English, answered in English",
        "memory/runbooks/on-call.md",
        ("1. Call the primary", "2. Still nobody"),
    ),
    Question(
        "Which ingredients should the cook avoid?",
        "English, answered in English",
        "memory/people/lunch.md",
        ("- Joost: severe", "- Devon: coeliac", "- Baptiste: lactose"),
    ),
    Question(
        "How can I recover something I deleted?",
        "English, answered in German",
        "memory/runbooks/datensicherung.md",
        ("## Versehentlich", "2. Sicherung"),
    ),
    Question(
        "¿Cuántos días de vacaciones tenemos al año?",
        "Spanish, answered in English",
        "memory/people/time-off.md",
        ("Everyone has 27",),
    ),
    Question(
        "Warum haben wir den Anbieter für Kreditkarten gewechselt?",
        "German, answered in French",
        "memory/decisions/0002-prestataire-de-paiement.md",
        ("Depuis le printemps", "des plaisanciers"),
    ),
)


def main() -> int:
    """Run the demo and return 0 if every question found its note."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # the notes are in five languages
    if not _fresh_workspace():
        return 1
    click.secho("Memlines: Markdown in, cited lines out", bold=True)
    click.echo(f"A small team's notes in five languages, copied to {WORKSPACE}/\n")
    with Memory(WORKSPACE) as memory:
        _index(memory)
        click.echo(f"\n{len(QUESTIONS)} questions, worded unlike the notes that answer them:\n")
        found = sum([_ask(memory, number, question) for number, question in enumerate(QUESTIONS, 1)])
    _close(found)
    return 0 if found == len(QUESTIONS) else 1


def _fresh_workspace() -> bool:
    """Copy the notes; a folder of that name that the demo did not make is left alone."""
    if WORKSPACE.is_symlink() or WORKSPACE.exists():
        if WORKSPACE.is_symlink() or not (WORKSPACE / MARKER).is_file():
            click.echo(
                f"{WORKSPACE} exists and was not made by this demo, so it was left alone. "
                "Rename it, or run the demo in another folder.",
                err=True,
            )
            return False
        _make_room()
    WORKSPACE.mkdir()
    (WORKSPACE / MARKER).write_text("Made by examples/demo.py, which replaces it.\n", encoding="utf-8")
    shutil.copytree(NOTES, WORKSPACE, dirs_exist_ok=True)
    return True


def _make_room() -> None:
    """Remove the workspace of an earlier run, or set it aside if somebody changed it."""
    if _files(WORKSPACE) == _files(NOTES):
        click.echo(f"{WORKSPACE}/ of an earlier run is made anew.\n")
        shutil.rmtree(WORKSPACE)
        return
    aside = WORKSPACE.with_name(f"{WORKSPACE.name}-{time.strftime('%Y%m%d-%H%M%S')}")
    WORKSPACE.rename(aside)
    click.echo(f"{WORKSPACE}/ of an earlier run was changed, so it is kept as {aside}/ and made anew.\n")


def _files(folder: Path) -> dict[Path, bytes]:
    """Return what a folder holds, without what the demo and the index put there."""
    files = {file.relative_to(folder): file for file in folder.rglob("*") if file.is_file()}
    return {
        name: file.read_bytes() for name, file in files.items() if name.parts[0] not in (MARKER, ".memory")
    }


def _index(memory: Memory) -> None:
    started = time.perf_counter()
    with _progress() as progress:
        report = memory.sync(progress=progress)
    seconds = time.perf_counter() - started
    click.echo(f"{len(report.indexed)} notes indexed in {seconds:.1f} s")
    for problem in report.failed:
        click.echo(f"  could not index {problem.path}: {problem.reason}")


@contextmanager
def _progress() -> Iterator[Callable[[int, int, str], None]]:
    """Give a progress callable: a bar on a terminal, a line at every quarter elsewhere."""
    if not sys.stdout.isatty():
        printed: list[tuple[str, int]] = []

        def print_quarter(completed: int, total: int, label: str) -> None:
            step = label, 4 * completed // max(total, 1)
            if printed[-1:] != [step]:
                printed.append(step)
                click.echo(f"  {label}: {completed} of {total}")

        yield print_quarter
        return
    with click.progressbar(length=1, label="indexing", width=40, show_eta=False) as bar:

        def move_bar(completed: int, total: int, label: str) -> None:
            bar.label = f"{label:<9}"
            bar.length = max(total, 1)
            bar.update(completed - bar.pos)

        yield move_bar


def _ask(memory: Memory, number: int, question: Question) -> bool:
    """Ask, print what was found, and tell whether the expected note is among the first few."""
    hits = list(memory.search(question.text, max_results=LOOK_AT))
    click.echo(click.style(f"{number}. {question.text}", bold=True) + f"  ({question.languages})")
    place = next((i for i, hit in enumerate(hits) if hit.path == question.answered_by), None)
    if place is None:
        click.secho(f"   ✗ {question.answered_by} is not among the first {LOOK_AT}", fg="red")
        shown, lead = hits[:1], "     first was "
    else:
        lead = f"   {click.style('✓', fg='green')} place {place + 1}: "
        shown = [hits[place]]
    for hit in shown:
        click.echo(f"{lead}{click.style(hit.citation, fg='cyan')}, score {hit.score:.2f} ({hit.band})")
        for line in _telling_lines(hit.snippet, question.telling):
            click.echo(f"     │ {textwrap.shorten(line, WIDTH - 7, placeholder=' …')}")
        click.secho(f"     {_reason(hit.why.words, hit.why.vector)}", dim=True)
    click.echo()
    return place is not None


def _reason(words: tuple[str, ...], similarity: float | None) -> str:
    """Say by what a hit was found."""
    shared = f"words in common: {', '.join(words)}" if words else "no word in common"
    return shared if similarity is None else f"{shared}, similarity of meaning {similarity:.2f}"


def _telling_lines(snippet: str, beginnings: tuple[str, ...]) -> list[str]:
    """Pick the lines that answer, or the first two lines of text when they are not known."""
    lines = [line.strip() for line in snippet.splitlines() if line.strip()]
    told = [line for line in lines if line.startswith(beginnings)]
    return told or [line for line in lines if not line.startswith(("#", "|", "```"))][:2]


def _close(found: int) -> None:
    click.secho(f"{found} of {len(QUESTIONS)} answered from the expected note.", bold=True)
    command = _command()
    click.echo("\nTry next:")
    click.echo(f'  {command} search "In which pub are the Christmas drinks?" --workspace {WORKSPACE}')
    click.echo(f'  {command} search "certificate expired" --why --workspace {WORKSPACE}')
    click.echo(f'  {command} search "Which database for billing?" --as-of 2026-08-10 --workspace {WORKSPACE}')
    click.echo(f"  {command} status --workspace {WORKSPACE}")


def _command() -> str:
    """Return how to call Memlines from here: the environment of the demo may not be active."""
    beside = Path(sys.executable).with_name("memlines")
    if not beside.exists() or not beside.is_relative_to(Path.cwd()):
        return "memlines"
    return str(beside.relative_to(Path.cwd()))


if __name__ == "__main__":
    sys.exit(main())
