"""Measures how well search answers ordinary questions: the notes and questions of `tests/index/everyday`.

Each question is asked with the default settings, in a temporary copy of the notes. Run
`python -m bench.everyday` for the *dev* questions, which ranking may be chosen on, or with `--unseen` for
those that are looked at once, for a report. Both keep their figures in `bench/results/`.

With `--facts` the same person's facts are stored and asked instead, once by explicit search and once unasked,
as before every message to an agent; the latter also with prompts that no fact helps with.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from bench.common import circumstances, default_settings, finish, keep, parser
from memlines.admin.evaluation.run import copy_workspace
from memlines.admin.evaluation.sets import Gold
from memlines.agent.auto_recall import fitting_facts
from memlines.memory.memory import Memory
from memlines.types import Band, Hit, Mode

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

DATA = Path(__file__).resolve().parents[1] / "tests/index/everyday"
NOTES = DATA / "notes"
COMMAND = "python -m bench.everyday"
MODES: tuple[Mode, ...] = ("hybrid", "words", "vectors")
GROUPS = (
    *("all", "paraphrase 1", "paraphrase 2", "paraphrase 3", "typo"),
    *("en", "nl", "de", "fr", "es", "another language"),
)
"""What answerable questions are counted by; the last group asks in another language than its note."""

Part = Literal["dev", "unseen"]
Figures = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, the lines that answer it, and the groups it is counted in."""

    text: str
    now: datetime
    gold: tuple[Gold, ...]
    groups: tuple[str, ...]
    bare: str
    """The question alone, if the text says more."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a question got: the first right hit, counted from 1, and what the first hit is like."""

    question: Question
    place: int | None
    score: float
    band: Band | Literal["nothing"]
    lines: int


def questions_of(name: str) -> list[Question]:
    """Return the questions of a file."""
    text = (DATA / f"{name}.jsonl").read_text(encoding="utf-8")
    questions = []
    for row in map(json.loads, text.splitlines()):
        kind = f"{row['type']} {row['degree']}" if row["type"] == "paraphrase" else row["type"]
        groups = ["all", kind, row["lang"]]
        if row["gold"] and row["lang"] != row["note_lang"]:
            groups.append("another language")
        now = datetime.fromisoformat(row["now"]).replace(tzinfo=UTC)
        gold = tuple(Gold(**lines) for lines in row["gold"])
        questions.append(Question(row["query"], now, gold, tuple(groups), row.get("question", "")))
    return questions


def is_right(hit: Hit, gold: Sequence[Gold]) -> bool:
    """Return whether the lines that a hit shows hold one of the answer."""
    return any(
        lines.path == hit.path and lines.start <= hit.end_line and hit.start_line <= lines.end
        for lines in gold
    )


def measure(part: Part, modes: Sequence[Mode] = MODES) -> Figures:
    """Ask every question in every mode, with the default settings and none of yours."""
    questions, rambling = questions_of(part), questions_of(f"rambling_{part}")
    with default_settings(), tempfile.TemporaryDirectory(prefix="memlines-bench-") as folder:
        copy_workspace(NOTES, Path(folder))
        with Memory(folder) as memory:
            memory.sync()
            return {
                mode: {
                    **_figures([_ask(memory, one, one.text, mode) for one in questions]),
                    "rambling": {
                        "whole message": _shares([_ask(memory, one, one.text, mode) for one in rambling]),
                        "bare question": _shares([_ask(memory, one, one.bare, mode) for one in rambling]),
                    },
                }
                for mode in modes
            }


def _ask(memory: Memory, question: Question, text: str, mode: Mode) -> Answer:
    result = memory.search(text, now=question.now, mode=mode)
    right = [place for place, hit in enumerate(result, 1) if is_right(hit, question.gold)]
    place = right[0] if right else None
    if not result:
        return Answer(question, place, result.nearest or 0.0, "nothing", 0)
    first = result[0]
    return Answer(question, place, first.score, first.band, first.end_line - first.start_line + 1)


def _figures(answers: Sequence[Answer]) -> Figures:
    answerable = [one for one in answers if one.question.gold]
    bands = {}
    for band in (*get_args(Band), "nothing"):
        those = [one for one in answers if one.band == band]
        with_answer = [one for one in those if one.question.gold]
        bands[band] = {
            "answerable": len(with_answer),
            "right": sum(one.place == 1 for one in with_answer),
            "unanswerable": len(those) - len(with_answer),
        }
    return {
        "groups": {
            group: _shares([one for one in answerable if group in one.question.groups]) for group in GROUPS
        },
        "auroc": auroc([one.score for one in answers], [bool(one.question.gold) for one in answers]),
        "bands": bands,
    }


def _shares(answers: Sequence[Answer]) -> Figures:
    shown = [one.lines for one in answers if one.lines]
    return {
        "questions": len(answers),
        "top_1": _share(one.place == 1 for one in answers),
        "top_3": _share(one.place is not None and one.place <= 3 for one in answers),
        "confident": _share(one.band in ("strong", "likely") for one in answers),
        "silent": _share(one.band == "nothing" for one in answers),
        "lines": round(sum(shown) / max(1, len(shown)), 2),
    }


def _share(are: Iterable[bool]) -> float:
    every = list(are)  # a small set may have no question of a group
    return sum(every) / max(1, len(every))


@dataclass(frozen=True, slots=True)
class FactAnswer:
    """What a question to the facts got: the facts by their place, and whether it is a confident answer."""

    kind: str
    gold: frozenset[str]
    found: tuple[str, ...]
    confident: bool

    def is_right(self, first: int) -> bool:
        """Return whether one of the first facts answers."""
        return not self.gold.isdisjoint(self.found[:first])


def measure_facts(part: Part, aliases: str = "") -> Figures:
    """Store the facts, ask every question and say every prompt, with the default settings and none of yours.

    `aliases` is the text of the note of aliases, if the workspace has one.
    """
    questions = _rows(f"facts_questions_{part}")
    prompts = [{"kind": "prompt", "gold": [], **row} for row in _rows("facts_prompts")]
    with default_settings(), tempfile.TemporaryDirectory(prefix="memlines-bench-") as folder:
        if aliases:
            Path(folder, "memory").mkdir()
            Path(folder, "memory/aliases.md").write_text(aliases, encoding="utf-8")
        with Memory(folder) as memory:
            names = {}
            for row in _rows("facts"):
                stored = memory.facts.store(row["text"], category=row["category"])
                names[stored.line.fact.id] = row["id"]
            memory.sync()
            figures: Figures = {"stored": len(names), "true": len(memory.facts.list())}
            for way in ("search", "unasked"):
                answers = [_ask_facts(memory, row, names, way) for row in (*questions, *prompts)]
                kinds = ["all", *dict.fromkeys(one.kind for one in answers)]
                figures[way] = {
                    kind: _fact_shares(
                        [one for one in answers if one.kind == kind or (kind == "all" and one.gold)]
                    )
                    for kind in kinds
                }
    return figures


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def _ask_facts(memory: Memory, row: Figures, names: Mapping[str, str], way: str) -> FactAnswer:
    if way == "search":  # as `memlines facts search` does
        result = memory.facts.recall(row["query"], current_only=True)
        found, confident = result.found, result.confident
    else:  # as the hook of a client does
        found = fitting_facts(memory, row["query"]).facts
        confident = bool(found)
    got = tuple(names[one.fact.id] for one in found)
    return FactAnswer(row["kind"], frozenset(row["gold"]), got, confident)


def _fact_shares(answers: Sequence[FactAnswer]) -> Figures:
    return {
        "questions": len(answers),
        "top_1": _share(one.is_right(1) for one in answers),
        "top_3": _share(one.is_right(3) for one in answers),
        "all_in_3": _share(one.gold <= {*one.found[:3]} for one in answers if one.gold),
        "confident": _share(one.confident for one in answers),
        "silent": _share(not one.found for one in answers),
    }


def facts_table(runs: Mapping[str, Figures]) -> str:
    """Write the figures of facts as Markdown, of several runs by their names."""
    head = "| way | run | questions | n | top-1 | top-3 | all facts in 3 | confident | silent |"
    lines = [head, "|" + " --- |" * head.count(" | ") + " --- |"]
    for way in ("search", "unasked"):
        for kind in next(iter(runs.values()))[way]:
            for run, figures in runs.items():
                row = figures[way][kind]
                shares = [f"{row[name]:.3f}" for name in [*row][1:]]
                lines.append(f"| {' | '.join([way, run, kind, str(row['questions']), *shares])} |")
    stored = [f"{run}: {one['stored']} stored, {one['true']} still true" for run, one in runs.items()]
    return "\n".join([*lines, "", "; ".join(stored)])


ALIASES = """# Aliases

- k8s = Kubernetes
- pg = Postgres, PostgreSQL
- js = JavaScript
- ts = TypeScript
- PO = product owner
- DBA = database administrator
- CI = continuous integration
- PR = pull request
- repo = repository
- prod = production
"""
"""What a person may have in the note of aliases: usual abbreviations at work."""


def auroc(scores: ArrayLike, is_positive: ArrayLike, weights: ArrayLike = 1.0) -> float:
    """Return how often a positive scores higher than a negative, ties counting a half; nan without a pair."""
    import numpy as np

    score, positive = np.asarray(scores, float), np.asarray(is_positive, bool)
    weight = np.broadcast_to(np.asarray(weights, float), score.shape)
    above = score[positive][:, None] - score[~positive]
    pairs = np.outer(weight[positive], weight[~positive])
    return float((pairs * (np.sign(above) + 1) / 2).sum() / pairs.sum()) if pairs.size else float("nan")


def table(modes: Figures) -> str:
    """Write the figures as Markdown: answers by group, bands, and rambling messages."""
    head = ["mode", "questions", "n", "top-1", "top-3", "confident", "silent", "lines"]
    rule = ["---"] * len(head)
    groups = [
        _row(mode, group, one) for mode, figures in modes.items() for group, one in figures["groups"].items()
    ]
    rambling = [
        _row(mode, text, one) for mode, figures in modes.items() for text, one in figures["rambling"].items()
    ]
    bands = [["mode", "AUROC", *(*get_args(Band), "nothing")], ["---"] * 6]
    bands += [
        [mode, f"{figures['auroc']:.3f}", *map(_band, figures["bands"].values())]
        for mode, figures in modes.items()
    ]
    tables = [
        ("Questions with an answer", [head, rule, *groups]),
        ("First hits by band: right of those with an answer, + those without an answer", bands),
        ("Rambling messages", [head, rule, *rambling]),
    ]
    return "\n\n".join(
        f"## {title}\n\n" + "\n".join(f"| {' | '.join(row)} |" for row in rows) for title, rows in tables
    )


def _row(mode: str, group: str, shares: Figures) -> list[str]:
    parts = [f"{shares[name]:.3f}" for name in ("top_1", "top_3", "confident", "silent")]
    return [mode, group, str(shares["questions"]), *parts, f"{shares['lines']:.1f}"]


def _band(counts: Figures) -> str:
    return f"{counts['right']} of {counts['answerable']} + {counts['unanswerable']}"


def main() -> None:
    """Measure, print the tables, and keep them in `bench/results/`."""
    options = parser(__doc__)
    options.add_argument("--unseen", action="store_true", help="the questions that are looked at once")
    options.add_argument("--facts", action="store_true", help="ask the facts instead of the notes")
    arguments = options.parse_args()
    part: Part = "unseen" if arguments.unseen else "dev"
    if arguments.facts:
        runs = {"without aliases": measure_facts(part), "with aliases": measure_facts(part, ALIASES)}
        finish({"set": part, **runs, "circumstances": circumstances()}, facts_table(runs), arguments.json)
        return
    command = f"{COMMAND} --unseen" if arguments.unseen else COMMAND
    around = circumstances()
    modes = measure(part)
    figures = {"set": part, "modes": modes}
    shown = table(modes)
    about = f"{around['date']}, `{command}`, builtin model. {_ABOUT}"
    page = f"# Ordinary questions ({part})\n\n{about}\n\n{shown}\n"
    keep("everyday-unseen" if arguments.unseen else "everyday", command, page, figures, around)
    finish(figures | {"circumstances": around}, shown, arguments.json)


_ABOUT = (
    "The questions of `tests/index/everyday`, with default settings. Top-1 and top-3: the lines shown by the"
    " first hit, or by one of the first three, hold the answer, whatever the band. Confident: the first hit"
    " is strong or likely. Silent: nothing is shown at all. Lines: how many the first hit shows, on average."
    " AUROC: how often a question with an answer has a higher first score than one without; where nothing is"
    " shown, the score is that of the nearest lines."
)


if __name__ == "__main__":
    main()
