"""Measures which facts are given to an agent unasked: those that fit, and those that do not.

A thousand facts, questions that some of them answer in other words, and prompts that none of them helps
with are in `tests/memory/facts/recall/`. Run `python -m bench.facts_recall` for the *develop* questions,
which a threshold may be chosen on, or with `--set unseen` for those that are only reported on.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.common import circumstances, finish, parser, verdict
from memlines.agent.auto_recall import fitting_facts
from memlines.memory.facts.note import FactNote
from memlines.memory.memory import Memory
from memlines.settings import Settings
from memlines.text.facts import Fact, new_id

DATA = Path(__file__).resolve().parents[1] / "tests/memory/facts/recall"
SETS = ("develop", "unseen")
STORES = ("index", "lancedb")
LIMIT = Settings().facts.recall_max_results
DEFAULT = Settings().facts.recall_min_score
THRESHOLDS = tuple(step / 20 for step in range(1, 20))

HIT_RATE = 0.9
FALSE_RATE = 0.05
"""What recall has to reach at one threshold, on questions and on prompts that no fact helps with."""

Figures = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """A message, the facts that it should get, and those it got with their scores, best first."""

    text: str
    wanted: frozenset[int]
    found: tuple[tuple[int, float], ...]

    def place(self, threshold: float = 0.0) -> int | None:
        """Return the place of the first fact that it should get, counted from 1."""
        given = [number for number, score in self.found if score >= threshold]
        return next((place for place, number in enumerate(given, 1) if number in self.wanted), None)

    def gets_any(self, threshold: float) -> bool:
        """Tell whether anything is given."""
        return any(score >= threshold for _, score in self.found)


@dataclass(frozen=True, slots=True)
class Shares:
    """What comes of a threshold: questions that get one of their facts, prompts that get anything."""

    threshold: float
    hits: float
    false: float

    @property
    def is_enough(self) -> bool:
        """Whether it reaches what recall has to reach."""
        return self.hits >= HIT_RATE and self.false <= FALSE_RATE


class Recaller:
    """A memory with the thousand facts, to ask."""

    def __init__(self, memory: Memory, numbers: Mapping[str, int]) -> None:
        self._memory = memory
        self._numbers = numbers

    def ask(self, name: str) -> list[Asked]:
        """Return what the lines of a file get when nothing is held back for its score."""
        return [self._asked(line) for line in lines_of(name)]

    def _asked(self, line: Mapping[str, Any]) -> Asked:
        given = fitting_facts(self._memory, line["text"])
        found = tuple((self._numbers[one.fact.id], one.score) for one in given.facts)
        return Asked(line["text"], frozenset(line.get("facts", ())), found)


def lines_of(name: str) -> list[dict[str, Any]]:
    """Return the lines of a file of the data."""
    text = (DATA / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


@contextmanager
def recaller(folder: Path, store: str) -> Iterator[Recaller]:
    """Write the facts to a workspace, index it with the builtin model, and give it to be asked."""
    settings = {"embeddings.provider": "builtin", "facts.store": store, "facts.recall_min_score": 0.0}
    with Memory(folder, settings) as memory:
        names: set[str] = set()
        facts: list[Fact] = []
        for line in lines_of("facts"):
            facts.append(Fact(new_id(names), line["text"], line["category"]))
            names.add(facts[-1].id)
        FactNote(memory.workspace, memory.settings).add(facts)
        memory.sync()
        yield Recaller(memory, {fact.id: number for number, fact in enumerate(facts, 1)})


def shares_at(threshold: float, questions: Sequence[Asked], prompts: Sequence[Asked]) -> Shares:
    """Return what comes of a threshold."""
    hits = sum(one.place(threshold) is not None for one in questions)
    false = sum(one.gets_any(threshold) for one in prompts)
    return Shares(threshold, hits / len(questions), false / len(prompts))


def best_of(shares: Sequence[Shares]) -> Shares:
    """Return the threshold with the most hits among those with few enough false injections."""
    held = [one for one in shares if one.false <= FALSE_RATE] or shares[-1:]
    return max(held, key=lambda one: one.hits)


def measure(store: str, name: str) -> Figures:
    """Ask all questions and prompts of a set, with the default settings and none of yours."""
    for variable in [key for key in os.environ if key.startswith("MEMLINES_")]:
        del os.environ[variable]
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory() as folder:
        os.environ["MEMLINES_HOME"] = home
        begin = time.perf_counter()
        with recaller(Path(folder), store) as asking:
            ready = time.perf_counter()
            questions, prompts = asking.ask(f"questions_{name}"), asking.ask(f"prompts_{name}")
            asked = time.perf_counter()
    places = [one.place() for one in questions]
    return {
        "store": store,
        "set": name,
        "questions": len(questions),
        "prompts": len(prompts),
        "top_1": places.count(1) / len(places),
        "top_3": sum(place is not None for place in places) / len(places),
        "default": shares_at(DEFAULT, questions, prompts),
        "shares": [shares_at(threshold, questions, prompts) for threshold in THRESHOLDS],
        "missed": _missed(questions, DEFAULT) if name == "develop" else [],
        "injected": _injected(prompts, DEFAULT) if name == "develop" else [],
        "index_seconds": ready - begin,
        "ask_ms": 1000 * (asked - ready) / (len(questions) + len(prompts)),
    }


def _missed(questions: Sequence[Asked], threshold: float) -> list[str]:
    return [
        f"{one.text} (wants {_numbers(sorted(one.wanted))}; got {_scored(one)})"
        for one in questions
        if one.place(threshold) is None
    ]


def _injected(prompts: Sequence[Asked], threshold: float) -> list[str]:
    return [f"{one.text} (got {_scored(one)})" for one in prompts if one.gets_any(threshold)]


def _scored(one: Asked) -> str:
    return ", ".join(f"{number}: {score:.2f}" for number, score in one.found) or "nothing"


def _numbers(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


def table(figures: Figures) -> str:
    """Write the figures as Markdown."""
    best = best_of(figures["shares"])
    lines = [
        f"{figures['questions']} questions and {figures['prompts']} prompts ({figures['set']}),"
        f" store {figures['store']}; indexed in {figures['index_seconds']:.1f} s,"
        f" {figures['ask_ms']:.1f} ms a message.",
        "",
        f"Without a threshold: top-1 {figures['top_1']:.1%}, top-{LIMIT} {figures['top_3']:.1%}.",
        "",
        f"| threshold | top-{LIMIT} hit rate | false injections | ≥ {HIT_RATE:.0%} and ≤ {FALSE_RATE:.0%} |",
        "|---|---|---|---|",
        *(_row(f"{one.threshold:.2f}", one) for one in figures["shares"]),
        _row(f"{DEFAULT:g} (default)", figures["default"]),
        "",
        f"Most hits within the false injections: threshold {best.threshold:g}, hit rate {best.hits:.1%}"
        f" ({verdict(best.hits, HIT_RATE, at_least=True)}), false {best.false:.1%}.",
    ]
    for title, texts in (("Missed", figures["missed"]), ("Injected falsely", figures["injected"])):
        if texts:
            lines += ["", f"{title} at the default:", "", *(f"- {text}" for text in texts)]
    return "\n".join(lines)


def _row(threshold: str, one: Shares) -> str:
    return f"| {threshold} | {one.hits:.1%} | {one.false:.1%} | {'yes' if one.is_enough else 'no'} |"


def main() -> None:
    """Measure, print the table, and write the figures if a file was named."""
    options = parser(__doc__)
    options.add_argument("--store", choices=STORES, default="index", help="what finds facts by meaning")
    options.add_argument("--set", choices=SETS, default="develop", help="which questions and prompts")
    arguments = options.parse_args()
    figures = measure(arguments.store, arguments.set)
    written = figures | {
        "default": _json(figures["default"]),
        "shares": [_json(one) for one in figures["shares"]],
    }
    finish(written | {"circumstances": circumstances()}, table(figures), arguments.json)


def _json(one: Shares) -> Figures:
    return {"threshold": one.threshold, "hit_rate": one.hits, "false_injections": one.false}


if __name__ == "__main__":
    main()
