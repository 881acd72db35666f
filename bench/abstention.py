"""Measures whether search says nothing when there is no answer, on the sets beside this repository.

Each workspace is asked its own questions and as many questions of the others, whose answers it
cannot hold. Of a set with one workspace, every second file is left out, so that the questions
about those have no answer. Run `python -m bench.abstention`, which keeps the figures in
`bench/results/`, or name some sets, which only prints them.
"""

from __future__ import annotations

import random
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.common import default_settings
from bench.quality import SETS, Runner
from memlines.admin.evaluation.run import copy_workspace
from memlines.admin.evaluation.sets import HitLines, LabelledSet, Query, read_folder, scores
from memlines.memory.memory import Memory

COMMAND = "python -m bench.abstention"
CUTS = (0.2, 0.35, 0.5)
SEED = 7

Asked = tuple[Query, bool, float, bool]
"""A question, whether it has an answer here, the best score, and whether the first five hold the answer."""


def measure(names: Sequence[str]) -> list[dict[str, Any]]:
    """Ask every set what it knows and what it does not."""
    figures = []
    with default_settings():
        for name in names:
            asked = [
                row for folder, queries in _cases(read_folder(SETS / name)) for row in _ask(folder, queries)
            ]
            figures.append({"set": name, "cuts": [_figures(asked, cut) for cut in CUTS]})
            print(f"{name}: measured", file=sys.stderr)
    return figures


def _cases(labelled: LabelledSet) -> Iterator[tuple[Path, list[tuple[Query, bool]]]]:
    """Yield copies of workspaces with questions, and whether each has an answer there."""
    randomly = random.Random(SEED)
    for name, original in labelled.workspaces.items():
        own = [query for query in labelled.queries if query.workspace == name]
        others = [query for query in labelled.queries if query.workspace != name]
        with tempfile.TemporaryDirectory(prefix="memlines-bench-") as folder:
            copy_workspace(original, Path(folder))
            if others:
                strange = randomly.sample(others, min(len(own), len(others)))
                yield Path(folder), [(query, True) for query in own] + [(query, False) for query in strange]
            else:
                gone = _thin_out(Path(folder))
                yield Path(folder), [(query, query.gold[0].path not in gone) for query in own]


def _thin_out(folder: Path) -> set[str]:
    """Remove every second file, and return which."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    gone = {path.relative_to(folder).as_posix() for path in files[1::2]}
    for path in gone:
        (folder / path).unlink()
    return gone


def _ask(folder: Path, queries: Sequence[tuple[Query, bool]]) -> Iterator[Asked]:
    with Memory(folder, {"sources": ("memory", "sessions")}) as memory:
        memory.sync()
        for query, has_answer in queries:
            hits = memory.search(query.text, max_results=5, min_score=0, now=query.now)
            found = [HitLines.of(hit) for hit in hits]
            right = has_answer and scores(query.gold, found)["line@5"] > 0
            yield query, has_answer, hits[0].score if hits else 0.0, right
    shutil.rmtree(folder / ".memory")


def _figures(asked: Sequence[Asked], cut: float) -> dict[str, float]:
    silent = [row for row in asked if row[2] < cut]
    unknown = [row for row in asked if not row[1]]
    right = [row for row in asked if row[3]]
    rightly = [row for row in silent if not row[1]]
    return {
        "min_score": cut,
        "answerable": len(asked) - len(unknown),
        "unanswerable": len(unknown),
        "precision": len(rightly) / len(silent) if silent else 1.0,
        "recall": len(rightly) / len(unknown),
        "lost": sum(row[2] < cut for row in right) / len(right),
    }


def table(results: Sequence[dict[str, Any]]) -> str:
    """Write the figures as Markdown, a row for every set and cut."""
    head = ["set", "min_score", "answerable", "unanswerable", "precision", "recall", "lost"]
    rows = [head, ["---"] * len(head)]
    for figures in results:
        for cut in figures["cuts"]:
            counts = [f"{cut[name]:g}" for name in head[1:4]]
            rows.append([figures["set"], *counts, *(f"{cut[name]:.3f}" for name in head[4:])])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def page(results: Sequence[dict[str, Any]], around: dict[str, Any]) -> str:
    """Write the page with the figures."""
    return (
        f"# Silence where there is no answer\n\n{around['date']}, `{COMMAND}`, builtin model."
        " Precision: of the questions that got nothing, the share that has no answer. Recall: of those that"
        " have none, the share that got nothing. Lost: of the questions whose answer is among the first five"
        f" hits, the share that got nothing.\n\n{table(results)}\n"
    )


if __name__ == "__main__":
    Runner(COMMAND, __doc__ or "", measure, table, page).run()
