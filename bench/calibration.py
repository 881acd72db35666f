"""Measures how true the score of a first hit is on sets that no curve was fitted to: leave one set out.

Each question is asked without a lowest score. A logistic curve over what is known of the first hit is fitted
on all other groups of sets, and reported on the group that was left out, beside the score as it is today. A
hit is right if the lines that it shows hold one of the answer. Questions without an answer are those of
another workspace; where a set has only one, those of another set; in `tests/index/everyday`, its own. Every
set weighs the same, and nine of ten of its questions have an answer. Run `python -m bench.calibration`, or
name some sets; both keep the figures in `bench/results/`.
"""

from __future__ import annotations

import math
import random
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.common import circumstances, default_settings, finish, keep, parser
from bench.everyday import MODES, NOTES, auroc, is_right, questions_of
from bench.quality import SETS, available
from memlines.admin.evaluation.run import copy_workspace
from memlines.admin.evaluation.sets import Gold, LabelledSet, Query, read_folder
from memlines.memory.memory import Memory
from memlines.types import Mode

COMMAND = "python -m bench.calibration"
EVERYDAY = "everyday"
LIMIT = 150
SEED = 7
ANSWERABLE = 0.9
BORDERS = (0.85, 0.7, 0.5, 0.35, 0.0)
FEATURES = ("log-odds of the score", "log-odds of an answer")
"""In each situation both are made of the evidence and the lead, so a curve over them is one over these."""


Numbers = NDArray[np.float64]
Figures = dict[str, Any]


class Case(NamedTuple):
    """A question for a workspace; `gold` is empty if it has no answer there."""

    text: str
    now: datetime | None
    gold: tuple[Gold, ...]


class First(NamedTuple):
    """What is known of the first hit of a question; without a hit there is no score."""

    features: tuple[float, ...]
    score: float | None
    right: bool
    answerable: bool


@dataclass(frozen=True, slots=True)
class Sample:
    """The first hits of a set in a mode, as columns."""

    features: Numbers
    score: Numbers
    right: NDArray[np.bool_]
    weights: Numbers
    answerable: int

    @classmethod
    def of(cls, firsts: Sequence[First]) -> Sample:
        """Weigh the questions that have a hit; together they weigh 1."""
        answerable = sum(one.answerable for one in firsts)
        each = {
            True: ANSWERABLE / max(1, answerable),
            False: (1 - ANSWERABLE) / max(1, len(firsts) - answerable),
        }
        hits = [one for one in firsts if one.score is not None]
        weights = np.array([each[one.answerable] for one in hits])
        return cls(
            np.array([one.features for one in hits]),
            np.array([one.score for one in hits]),
            np.array([one.right for one in hits]),
            weights / weights.sum(),
            sum(one.answerable for one in hits),
        )


def group_of(name: str) -> str:
    """Return which sets are left out together: the same texts in other languages or formats."""
    return name.partition("_")[0]


def ask_set(name: str, limit: int) -> dict[Mode, list[First]]:
    """Ask the questions of a set in every mode."""
    firsts: dict[Mode, list[First]] = {mode: [] for mode in MODES}
    for original, cases in _everyday() if name == EVERYDAY else _labelled(name, limit):
        with tempfile.TemporaryDirectory(prefix="memlines-bench-") as folder:
            copy_workspace(original, Path(folder))
            with Memory(folder, {"sources": ("memory", "sessions")}) as memory:
                memory.sync()
                for case in cases:
                    for mode in MODES:
                        firsts[mode].append(_ask(memory, case, mode))
    return firsts


def _everyday() -> Iterator[tuple[Path, list[Case]]]:
    yield NOTES, [Case(one.text, one.now, one.gold) for one in questions_of("dev")]


def _labelled(name: str, limit: int) -> Iterator[tuple[Path, list[Case]]]:
    """Yield the workspaces of a set with their own questions, and as many of another workspace or set."""
    labelled, queries = _sampled(name, limit)
    names = list(labelled.workspaces)
    others: Sequence[Query] = ()
    if len(names) == 1:
        groups = [one for one in available() if group_of(one) != group_of(name)]
        others = _sampled(next((one for one in groups if one > name), groups[0]), limit)[1] if groups else ()
    for at, workspace in enumerate(names):
        cases = [Case(one.text, one.now, one.gold) for one in queries if one.workspace == workspace]
        after = names[(at + 1) % len(names)]
        without = others or [one for one in queries if one.workspace == after != workspace]
        yield labelled.workspaces[workspace], cases + [Case(one.text, one.now, ()) for one in without]


def _sampled(name: str, limit: int) -> tuple[LabelledSet, list[Query]]:
    labelled = read_folder(SETS / name)
    return labelled, random.Random(SEED).sample(labelled.queries, min(limit, len(labelled.queries)))


def _ask(memory: Memory, case: Case, mode: Mode) -> First:
    result = memory.search(case.text, max_results=1, min_score=0, now=case.now, mode=mode)
    if not result:
        return First((), None, right=False, answerable=bool(case.gold))
    features = _log_odds(result[0].score), _log_odds(result.likelihood)
    return First(features, result[0].score, is_right(result[0], case.gold), bool(case.gold))


def _log_odds(score: float) -> float:
    score = min(0.99, max(0.01, score))
    return math.log(score / (1 - score))


def fit(samples: Sequence[Sample], steps: int = 50, penalty: float = 1e-3) -> Numbers:
    """Return the shift and the slopes of the logistic curve that fits some sets, each as heavy as another."""
    columns = _with_shift(np.concatenate([one.features for one in samples]))
    right = np.concatenate([one.right for one in samples])
    weights = np.concatenate([one.weights for one in samples]) / len(samples)
    slopes = np.zeros(columns.shape[1])
    held = penalty * np.diag([0.0] + [1.0] * (columns.shape[1] - 1))
    for _ in range(steps):  # Newton's method
        chance = 1 / (1 + np.exp(-columns @ slopes))
        gradient = columns.T @ (weights * (chance - right)) + held @ slopes
        curvature = (columns * (weights * chance * (1 - chance))[:, None]).T @ columns + held
        slopes = slopes - np.linalg.solve(curvature, gradient)
    return slopes


def _with_shift(features: Numbers) -> Numbers:
    return np.column_stack([np.ones(len(features)), features])


def judge(sample: Sample, chance: Numbers) -> Figures:
    """Return how true some probabilities are for the first hits of a set."""
    weights, right = sample.weights, sample.right
    bands = {}
    for low, high in zip(BORDERS, (math.inf, *BORDERS), strict=False):
        inside = (chance >= low) & (chance < high)
        weight = float(weights[inside].sum())
        share = float(weights[inside] @ right[inside]) / weight if weight else None
        bands[f"{low:g}"] = {"hits": int(inside.sum()), "right": share}
    return {
        "auroc": auroc(chance, right, weights),
        "difference": float(weights @ chance - weights @ right),
        "bands": bands,
    }


def leave_out(samples: Mapping[str, Sample]) -> Figures:
    """Judge every set by today's score, and by a curve fitted on the sets of the other groups."""
    sets = {}
    for name, sample in samples.items():
        others = [one for other, one in samples.items() if group_of(other) != group_of(name)]
        sets[name] = {
            "answerable": sample.answerable,
            "unanswerable": len(sample.right) - sample.answerable,
            "right": float(sample.weights @ sample.right),
            "today": judge(sample, sample.score),
        }
        if others:
            chance = 1 / (1 + np.exp(-_with_shift(sample.features) @ fit(others)))
            sets[name]["fitted"] = judge(sample, chance)
    return {"sets": sets, "curve": fit(list(samples.values())).tolist()}


def measure(names: Sequence[str], limit: int) -> Figures:
    """Ask every set with the default settings, and none of yours; then leave each out in turn."""
    asked = {}
    with default_settings():
        for name in names:
            asked[name] = ask_set(name, limit)
            print(f"{name}: asked", file=sys.stderr)
    return {
        mode: leave_out(
            {
                name: Sample.of(firsts[mode])
                for name, firsts in asked.items()
                if any(one.score is not None for one in firsts[mode])
            }
        )
        for mode in MODES
    }


def table(modes: Figures) -> str:
    """Write the figures as Markdown, a table for every mode."""
    bands = [
        f"p ≥ {BORDERS[0]:g}",
        *(f"{low:g} to {high:g}" for low, high in zip(BORDERS[1:-1], BORDERS, strict=False)),
    ]
    head = ["set", "hits", "right", "by", "AUROC", "difference", *bands, f"< {BORDERS[-2]:g}"]
    lines = []
    for mode, figures in modes.items():
        rows = [head, ["---"] * len(head)]
        for name, one in figures["sets"].items():
            about = [name, f"{one['answerable']} + {one['unanswerable']}", f"{one['right']:.2f}"]
            rows += [[*about, by, *_cells(one[by])] for by in ("today", "fitted") if by in one]
        shift, *slopes = figures["curve"]
        curve = ", ".join(f"{slope:+.2f} {name}" for name, slope in zip(FEATURES, slopes, strict=True))
        lines += [f"## {mode}", "", *(f"| {' | '.join(row)} |" for row in rows), ""]
        lines += [f"The curve of all sets: log-odds {shift:+.2f}, {curve}.", ""]
    return "\n".join(lines).rstrip()


def _cells(figures: Figures) -> list[str]:
    bands = [
        f"{band['right']:.2f} ({band['hits']})" if band["hits"] else "" for band in figures["bands"].values()
    ]
    return [f"{figures['auroc']:.3f}", f"{figures['difference']:+.3f}", *bands]


def main() -> None:
    """Measure, print the tables, and keep them in `bench/results/`."""
    there = [*available(), EVERYDAY]
    options = parser(__doc__)
    options.add_argument("names", nargs="*", metavar="SET", help=f"of {', '.join(there)} [default: all]")
    options.add_argument("--limit", type=int, default=LIMIT, help="questions of a set [default: %(default)s]")
    arguments = options.parse_args()
    unknown = [name for name in arguments.names if name not in there]
    if unknown:
        options.error(f"there is no set {unknown[0]!r}; there are {', '.join(there)}")
    around = circumstances()
    modes = measure(arguments.names or there, arguments.limit)
    shown = table(modes)
    command = " ".join(
        [COMMAND, *arguments.names, *["--limit", str(arguments.limit)] * (arguments.limit != LIMIT)]
    )
    about = f"{around['date']}, `{command}`, builtin model. {_ABOUT}"
    figures = {"limit": arguments.limit, "features": FEATURES, "modes": modes}
    keep(
        "calibration",
        command,
        f"# How true scores are on other sets\n\n{about}\n\n{shown}\n",
        figures,
        around,
    )
    finish(figures | {"circumstances": around}, shown, arguments.json)


_ABOUT = (
    "First hits of a search without a lowest score. *Today* is the score as it is; *fitted* is a logistic"
    " curve over the log-odds of the score and of whether the notes answer at all, fitted in each mode on"
    " the sets of all other groups (`xquad_*` is one, `locomo_*` one). Hits: those of questions with an"
    " answer + those of questions without one. Right: the shown lines hold a line of the answer. Every"
    " share, mean and AUROC weighs the questions so that nine of ten have an answer. Difference: the mean"
    " probability minus the share that is right. The other columns say how often hits of that"
    " probability are right, and in brackets how many there are."
)


if __name__ == "__main__":
    main()
