"""Measures what a reranker adds to search, on the labelled sets beside this repository.

Run `python -m bench.rerank FOLDER locomo_md --questions 150`, where FOLDER holds `model.onnx` and
`tokenizer.json` of a cross-encoder. The model scores every question with the hits of search once; the order
of the hits is then measured without it, and with it at several numbers of candidates and weights. The sets
are third-party data in `../shared/bench` and no part of the project; without them nothing is measured.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench.common import default_settings, finish, parser, percentile
from bench.quality import SETS, available
from memlines import Memory
from memlines.admin.evaluation.run import DEPTH, copy_workspace
from memlines.admin.evaluation.sets import Gold, HitLines, Query, read_folder, scores
from memlines.embed.rerank.onnx import OnnxReranker
from memlines.memory.reranking import mix, text_of
from memlines.settings.rerank import Rerank

_METRICS = ("any@1", "any@5", "mrr", "line@5", "passage@5")
_CANDIDATES = (8, 20)
_WEIGHTS = (0.2, 0.35, 0.5, 1.0)
_MOST_SECONDS = 600.0
_SAMPLES = 2_000
"""How often the questions are drawn again to see how far a difference is chance."""


class Case(NamedTuple):
    """A question: the lines that answer it, its hits, what the reranker gave them, and how long that took."""

    gold: tuple[Gold, ...]
    found: tuple[HitLines, ...]
    given: list[float]
    seconds: float

    def measure(self, candidates: int, weight: float) -> dict[str, float]:
        """Return every metric of the hits in the order of both."""
        best = min(candidates, len(self.given))
        order = mix([hit.score for hit in self.found[:best]], self.given[:best], weight) if best else []
        found = [*(self.found[place] for place in order), *self.found[best:]]
        return scores(self.gold, found[:DEPTH])


def collect(name: str, reranker: OnnxReranker, questions: int | None) -> Iterator[Case]:
    """Yield the questions of a set that have an answer, spread evenly over it if not all are wanted."""
    chosen = read_folder(SETS / name)
    asked = [query for query in chosen.queries if query.gold]
    every = max(1, len(asked) // questions) if questions else 1
    wanted = asked[::every][: questions or None]
    most = max(_CANDIDATES)
    for workspace, original in chosen.workspaces.items():
        own: list[Query] = [query for query in wanted if query.workspace == workspace]
        with tempfile.TemporaryDirectory(prefix="memlines-bench-") as folder:
            copy_workspace(original, Path(folder))
            with Memory(folder, {"sources": ["memory", "sessions"]}) as memory:
                memory.sync()
                for query in own:
                    hits = memory.search(query.text, max_results=most, min_score=0.0, now=query.now).hits
                    begin = time.perf_counter()
                    given = reranker.score(
                        query.text, [text_of(hit) for hit in hits], time.monotonic() + _MOST_SECONDS
                    )
                    taken = time.perf_counter() - begin
                    yield Case(tuple(query.gold), tuple(map(HitLines.of, hits)), given, taken)


def interval(differences: Sequence[float]) -> tuple[float, float]:
    """Return where the mean of differences lies, 95 times of 100, if the questions are drawn again."""
    drawn = random.Random(7)
    means = sorted(statistics.fmean(drawn.choices(differences, k=len(differences))) for _ in range(_SAMPLES))
    return means[int(0.025 * _SAMPLES)], means[int(0.975 * _SAMPLES)]


def measure(name: str, cases: Sequence[Case]) -> dict[str, Any]:
    """Return the means of a set without a reranker and with one, and what is known of the differences."""
    plain = [case.measure(0, 0.0) for case in cases]
    rows: list[dict[str, Any]] = [{"candidates": 0, "weight": 0.0, **_means(plain)}]
    for candidates in _CANDIDATES:
        for weight in _WEIGHTS:
            with_it = [case.measure(candidates, weight) for case in cases]
            gains = {
                metric: interval([new[metric] - old[metric] for new, old in zip(with_it, plain, strict=True)])
                for metric in _METRICS
            }
            rows.append({"candidates": candidates, "weight": weight, **_means(with_it), "gains": gains})
    taken = [case.seconds for case in cases]
    times = {"p50": statistics.median(taken), "p95": percentile(taken, 0.95)}
    return {"set": name, "questions": len(cases), "rows": rows, "seconds": times}


def _means(measured: Sequence[dict[str, float]]) -> dict[str, float]:
    return {metric: statistics.fmean(one[metric] for one in measured) for metric in _METRICS}


def table(figures: Sequence[dict[str, Any]]) -> str:
    """Write the figures as Markdown: what differs from nothing by more than chance has a star."""
    head = ["set", "candidates", "weight", *_METRICS, "mrr, 95 %"]
    lines = [head, ["---"] * len(head)]
    for figure in figures:
        for row in figure["rows"]:
            gains = row.get("gains", {})
            values = [
                f"{row[metric]:.3f}{_star(*gains[metric]) if metric in gains else ''}" for metric in _METRICS
            ]
            low, high = gains.get("mrr", (0.0, 0.0))
            how = [str(row["candidates"]), f"{row['weight']:g}"] if gains else ["without", ""]
            lines.append([figure["set"], *how, *values, f"{low:+.3f} to {high:+.3f}" if gains else ""])
    times = [
        f"- {figure['set']}: {figure['questions']} questions; scoring {max(_CANDIDATES)} hits took"
        f" {figure['seconds']['p50'] * 1000:.0f} ms (p50), {figure['seconds']['p95'] * 1000:.0f} ms (p95)"
        for figure in figures
    ]
    return "\n".join([*(f"| {' | '.join(line)} |" for line in lines), "", *times])


def _star(low: float, high: float) -> str:
    return "*" if low > 0 or high < 0 else ""


def main() -> None:
    """Measure the sets that were named."""
    options = parser(__doc__)
    options.add_argument("folder", type=Path, help="holds model.onnx and tokenizer.json of a cross-encoder")
    options.add_argument("names", nargs="*", default=["locomo_md"], help="the sets [default: locomo_md]")
    options.add_argument("--questions", type=int, help="ask so many of each set [default: all]")
    arguments = options.parse_args()
    there = available()
    missing = [name for name in arguments.names if name not in there]
    if missing or not (arguments.folder / "model.onnx").is_file():
        what = f"set {missing[0]!r} in ../shared/bench" if missing else f"model in {arguments.folder}"
        print(f"There is no {what}; nothing to measure.")
        return
    reranker = OnnxReranker(Rerank(provider="onnx", path=str(arguments.folder)))
    figures = []
    with default_settings():
        for name in arguments.names:
            figures.append(measure(name, list(collect(name, reranker, arguments.questions))))
            print(f"{name}: measured", file=sys.stderr)
    finish({"sets": figures}, table(figures), arguments.json)


if __name__ == "__main__":
    main()
