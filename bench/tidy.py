"""Measures what `memlines tidy` proposes: how much of what was planted it finds, and what it finds beside it.

The cases are in `bench/tidy_cases`: problems of every group, and lines that only look like one (other numbers
and names, paths that exist, days to come, the same sentence about other projects). Names are drawn from a
seed. Each set becomes a vault in a small git repository, with other notes around the cases; a main note that
is too long is one problem of each. The rules were made while looking at `develop`. `unseen` was written
before the first run, in other words; `--unseen` reports on it. Run `python -m bench.tidy`, or with that.
"""

from __future__ import annotations

import hashlib
import random
import re
import statistics
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.common import circumstances, default_settings, finish, parser, processor_seconds, verdict
from memlines import Memory
from memlines.memory.tidy.proposal import KINDS, TidyItem

CASES = Path(__file__).parent / "tidy_cases"
NOW = datetime(2026, 6, 15, 12, tzinfo=UTC)
SEED = 7
NOTES = {"develop": 200, "unseen": 100}
ROUNDS = 3

_SYLLABLES = re.findall("...?", "kaoberlozvestrimondalporfengarhulnibostpraqueronsattulverwimyorzan")
_FIRST = re.findall(
    "[A-Z][a-z]+", "AnnaBelaCarlDoraEmilFayGusHanaIvoJanaKarlLenaMiloNoraOttoPetraRosaSvenTaraUwe"
)
_LAST = re.findall(
    "[A-Z][a-z]+", "AbelBrandtCostaDreyerEversFabriGrandiHolmIbarraJansenKellerLindtMoreauNovak"
)
_SUBJECTS = (
    "The roof of {}",
    "The archive of {}",
    "A visitor from {}",
    "The library in {}",
    "The choir of {}",
)
_VERBS = ("overlooks", "borrows from", "belongs to", "was painted for", "grew out of", "is named after")
_OBJECTS = ("the harbour", "an orchard", "the old mill", "a walled garden", "the north gate", "a ropewalk")
_FILES = {
    "src/app/main.py": "def load_settings(): ...\n\n\nclass PaymentGateway: ...\n",
    "src/app/models/user.py": "class User:\n    pass\n",
    "src/app/workers/mail.py": "",
    "scripts/deploy.sh": "",
    "docs/guide.md": "# Guide\n",
    "config/base.toml": "",
    "tests/fixtures/one.json": "{}",
    ".gitignore": "build/\ndist/\n",
    ".git/HEAD": "ref: refs/heads/main\n",
    ".git/refs/heads/main": "0" * 40 + "\n",
    ".git/refs/heads/feature/checkout": "0" * 40 + "\n",
    ".git/packed-refs": f"# pack-refs\n{'0' * 40} refs/remotes/origin/release/2.0\n",
    ".git/config": '[remote "origin"]\n\turl = git@github.com:acme/shop.git\n',
}


@dataclass(frozen=True)
class Case:
    """Lines with their places, and the group that they are a problem of, or `none`."""

    group: str
    lines: list[tuple[str, str]]


def read_cases(name: str, randomly: random.Random) -> Iterator[Case]:
    """Yield the cases of a set with their slots filled, each with names of its own."""
    taken: set[str] = set()

    def draw(*words: Sequence[str]) -> str:
        while (one := " ".join(randomly.choice(some) for some in words)) in taken:
            pass
        taken.add(one)
        return one

    for block in (CASES / f"{name}.txt").read_text(encoding="utf-8").split("\n= ")[1:]:
        group, *lines = [line for line in block.split("\n") if line.strip()]
        projects = [draw(_SYLLABLES, _SYLLABLES, _SYLLABLES).replace(" ", "") for _ in "PQ"]
        slots = dict(zip("PQ", projects, strict=True)) | {name: draw(_FIRST, _LAST) for name in "NM"}
        one, other = randomly.sample(range(11, 99), 2)
        filled = [line.format(A=one, B=other, **slots) for line in lines]
        places = [line.partition(" | ")[::2] for line in filled]
        yield Case(group, [(place, text) for place, text in places])


def build(folder: Path, names: list[str]) -> dict[tuple[str, int], Case]:
    """Write the vault of some sets, and return which case each planted line is of."""
    randomly = random.Random(SEED)
    notes: dict[str, dict[str, list[tuple[str, Case | None]]]] = {}

    def put(path: str, heading: str, text: str, case: Case | None) -> None:
        notes.setdefault(path, {}).setdefault(heading, []).append((text, case))

    for case in (case for name in names for case in read_cases(name, randomly)):
        for place, text in case.lines:
            where, _, rest = place.partition(" ")
            if where == "fact":
                put("memory/facts.md", "", f"{rest} {text}", case)
            elif where == "main":
                put("MEMORY.md", rest, text, case)
            else:
                note, _, heading = rest.partition(" ")
                put(f"memory/{note}.md", heading, text, case)
    for section in ("Travel", "Garden", "Reading"):
        for _ in range(12):
            put("MEMORY.md", section, " ".join(_sentence(randomly) for _ in range(7)), None)
    while len(notes) < sum(NOTES[name] for name in names):
        note = f"memory/{''.join(randomly.choices(_SYLLABLES, k=4))}.md"
        for _ in range(randomly.randint(5, 20)):
            put(note, "", _sentence(randomly), None)
    for path, text in _FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return {place: case for path, note in notes.items() for place, case in _write(folder, path, note)}


def _sentence(randomly: random.Random) -> str:
    town = "".join(randomly.choices(_SYLLABLES, k=4)).capitalize()
    subject = randomly.choice(_SUBJECTS).format(town)
    other = "".join(randomly.choices(_SYLLABLES, k=3)).capitalize()
    return f"{subject} {randomly.choice(_VERBS)} {randomly.choice(_OBJECTS)} of {other}."


def _write(
    folder: Path, path: str, note: dict[str, list[tuple[str, Case | None]]]
) -> Iterator[tuple[tuple[str, int], Case]]:
    lines = [f"# {Path(path).stem}", ""]
    for heading in sorted(note):  # what is below no heading comes first
        if heading:
            lines += ["", f"## {heading}", ""]
        for text, case in note[heading]:
            lines.append(f"- {text}")
            if case is not None:
                yield (path, len(lines)), case
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text("\n".join(lines) + "\n", encoding="utf-8")


def measure(name: str, *, show: bool) -> dict[str, Any]:
    """Return precision and recall of each group, and how many notes were changed without being asked."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        cases = build(folder, [name])
        before = _hashes(folder)
        with Memory(folder, {"embeddings.provider": "none"}) as memory:
            items = memory.tidy.propose(now=NOW).items
        changed = sum(before[path] != digest for path, digest in _hashes(folder).items())
    planted = Counter(case.group for case in {id(one): one for one in cases.values()}.values())
    del planted["none"]
    planted["long"] = 1
    right: Counter[str] = Counter()
    proposed: Counter[str] = Counter()
    found: dict[str, set[int]] = {kind: set() for kind in KINDS}
    for item in items:
        proposed[item.kind] += 1
        case = _case_of(item, cases)
        if item.kind == "long" or (case is not None and case.group == item.kind):
            right[item.kind] += 1
            found[item.kind].add(0 if item.kind == "long" else id(case))
        elif show:
            print(f"wrong: {item.kind}: {item.why}", *(f"\n    {one.text}" for one in item.cited))
    if show:
        for case in {id(one): one for one in cases.values()}.values():
            if case.group != "none" and id(case) not in found[case.group]:
                print(f"missed: {case.group}", *(f"\n    {place} | {text}" for place, text in case.lines))
    groups: dict[str, dict[str, float]] = {
        kind: {
            "planted": planted[kind],
            "proposed": proposed[kind],
            "precision": right[kind] / max(1, proposed[kind]),
            "recall": len(found[kind]) / planted[kind],
        }
        for kind in KINDS
    }
    groups["all"] = {
        "planted": planted.total(),
        "proposed": proposed.total(),
        "precision": right.total() / max(1, proposed.total()),
        "recall": sum(map(len, found.values())) / planted.total(),
    }
    return {"groups": groups, "changed": changed}


def _case_of(item: TidyItem, cases: dict[tuple[str, int], Case]) -> Case | None:
    """Return the case that all lines of an item are of."""
    found = {id(one): one for one in (cases.get((each.path, each.first)) for each in item.cited)}
    return next(iter(found.values())) if len(found) == 1 else None


def _hashes(folder: Path) -> dict[str, str]:
    files = (file for file in folder.rglob("*") if file.is_file() and ".memory" not in file.parts)
    return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def speed() -> dict[str, Any]:
    """Return how long the processor works on a proposal for both sets together."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        build(folder, list(NOTES))
        with Memory(folder, {"embeddings.provider": "none"}) as memory:
            taken = [processor_seconds(lambda: memory.tidy.propose(now=NOW)) for _ in range(ROUNDS)]
        return {"notes": len(list(folder.glob("memory/*.md"))) + 1, "seconds": statistics.median(taken)}


def page(name: str, figures: dict[str, Any]) -> str:
    """Return the figures of a set as a table."""
    lines = [f"{name}:", "", "| group | planted | proposed | precision | recall |", "|---|---|---|---|---|"]
    for kind, one in figures["groups"].items():
        precision, recall = f"{one['precision']:.2f}", f"{one['recall']:.2f}"
        if kind == "all":
            precision += f" (≥ .9: {verdict(one['precision'], 0.9, at_least=True)})"
            recall += f" (≥ .7: {verdict(one['recall'], 0.7, at_least=True)})"
        lines.append(f"| {kind} | {one['planted']} | {one['proposed']} | {precision} | {recall} |")
    lines += [
        "",
        f"Notes changed without apply: {figures['changed']} (0: {verdict(figures['changed'], 0)})",
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure, print the tables, and keep the figures."""
    arguments = parser(__doc__)
    arguments.add_argument("--unseen", action="store_true", help="report on the set that is not tuned on")
    options = arguments.parse_args()
    names = ["develop", "unseen"] if options.unseen else ["develop"]
    with default_settings():
        results: dict[str, Any] = {name: measure(name, show=not options.unseen) for name in names}
        results |= {"speed": speed(), "circumstances": circumstances()}
    table = "\n".join(page(name, results[name]) for name in names)
    fast = results["speed"]
    finish(
        results,
        f"{table}\n{fast['notes']} notes take {fast['seconds']:.2f} s of the processor.",
        options.json,
    )


if __name__ == "__main__":
    main()
