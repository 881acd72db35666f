"""Measures how true the bands of hits are, and what a question without an answer gets.

Each workspace of the labelled sets is asked its own questions and as many that it cannot answer, as in
`bench.abstention`; the notes of `tests/index/recall_gate` are asked their questions and coding prompts. The
borders were chosen on every second question, beginning with the first; the others are reported. A hit is
right if its chunk holds a line of the answer; in the notes of `tests/index/recall_gate`, if it is of the
right note. Run `python -m bench.bands`, which keeps the figures in `bench/results/`, or name some sets,
which prints theirs.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

from bench.abstention import _cases
from bench.common import RESULTS, circumstances, default_settings, finish, parser
from bench.quality import SETS, available
from bench.recall_gate import DATA, prompts_of
from memlines.admin.evaluation.sets import read_folder
from memlines.memory.memory import Memory
from memlines.types import Band, Hit, Mode

COMMAND = "python -m bench.bands"
GATE = "recall_gate"
CHOSEN = ("locomo_md", "xquad_en", "xquad_de", "xquad_zh", "xquad_de_to_en", "beam_100K")
MODES: tuple[Mode, ...] = ("hybrid", "words")
NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)

Case = tuple[str, datetime | None, bool, Callable[[Hit], bool]]
"""A question, when it is asked, whether it has an answer, and what tells whether a hit holds it."""


def measure(names: Sequence[str]) -> list[dict[str, Any]]:
    """Ask the questions of every set in every mode, with the default settings and none of yours."""
    figures = []
    with default_settings():
        for name in names:
            counts: dict[Mode, Counter[str]] = {mode: Counter() for mode in MODES}
            for folder, cases in _gate() if name == GATE else _labelled(name):
                _ask(folder, cases[1::2], counts)
            figures += [{"set": name, "mode": mode, **counts[mode]} for mode in MODES]
            print(f"{name}: measured", file=sys.stderr)
    return figures


def _labelled(name: str) -> Iterator[tuple[Path, list[Case]]]:
    for folder, queries in _cases(read_folder(SETS / name)):
        yield folder, [(query.text, query.now, has, _holds(query.gold, has)) for query, has in queries]


def _holds(gold: Sequence[Any], has_answer: bool) -> Callable[[Hit], bool]:
    return lambda hit: (
        has_answer
        and any(
            lines.path == hit.path and lines.start <= hit.chunk_end_line and hit.chunk_start_line <= lines.end
            for lines in gold
        )
    )


def _gate() -> Iterator[tuple[Path, list[Case]]]:
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(DATA / "notes", folder, dirs_exist_ok=True)
        yield (
            Path(folder),
            [(row["prompt"], NOW, row["speak"], _is_of(row.get("expect", []))) for row in prompts_of("dev")],
        )


def _is_of(expected: str | Sequence[str]) -> Callable[[Hit], bool]:
    paths = [expected] if isinstance(expected, str) else expected
    return lambda hit: hit.path in paths


def _ask(folder: Path, cases: Sequence[Case], counts: dict[Mode, Counter[str]]) -> None:
    with Memory(folder, {"sources": ("memory", "sessions")}) as memory:
        memory.sync()
        for text, now, has_answer, is_right in cases:
            for mode in MODES:
                result = memory.search(text, now=now, mode=mode)
                right = [is_right(hit) for hit in result]
                kind = "answerable" if has_answer else "unanswerable"
                got = "confident" if result.confident else "weak" if result else "nothing"
                counts[mode].update([kind, f"{kind} {got}"])
                counts[mode].update([f"{kind} {got} right"] if any(right) else [])
                for hit, is_good in zip(result, right, strict=True):
                    counts[mode].update([f"{kind} {hit.band} hits", *[f"{hit.band} right"] * is_good])
                if result and result.confident:
                    first = result[0].band
                    counts[mode].update([f"{kind} {first} first", *[f"{first} first right"] * right[0]])
    shutil.rmtree(folder / ".memory")


def table(results: Sequence[dict[str, Any]]) -> str:
    """Write the figures as Markdown: how true bands are, then what questions got."""
    lines = [
        "| set | mode | first hit strong: right | first hit likely: right | strong hits: right"
        " | likely hits: right | weak hits: right |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in results:
        first = [_share(row, f"{band} first", f"{band} first right") for band in ("strong", "likely")]
        every = [_share(row, f"{band} hits", f"{band} right") for band in get_args(Band)]
        lines.append(f"| {' | '.join([row['set'], row['mode'], *first, *every])} |")
    lines += [
        "",
        "| set | mode | questions with an answer | confident (right) | weak lines (right) | nothing"
        " | questions without one | confident | weak lines | nothing |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in results:
        cells = [row["set"], row["mode"], str(row.get("answerable", 0))]
        cells += [
            f"{row.get(f'answerable {got}', 0)} ({row.get(f'answerable {got} right', 0)})"
            for got in ("confident", "weak")
        ]
        cells.append(str(row.get("answerable nothing", 0)))
        cells.append(str(row.get("unanswerable", 0)))
        cells += [str(row.get(f"unanswerable {got}", 0)) for got in ("confident", "weak", "nothing")]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _share(row: dict[str, Any], all_of: str, right: str) -> str:
    """Return how many are right, where nine of ten questions have an answer, and how many there were."""
    with_answer, without = row.get(f"answerable {all_of}", 0), row.get(f"unanswerable {all_of}", 0)
    if not with_answer + without:
        return ""
    return f"{row.get(right, 0) / (with_answer + without / 9):.2f} ({with_answer} + {without})"


def main() -> None:
    """Measure, print the tables, and keep them in `bench/results/` unless sets were named."""
    options = parser(__doc__)
    options.add_argument(
        "names", nargs="*", metavar="SET", help=f"the sets to measure, or {GATE} [default: all]"
    )
    arguments = options.parse_args()
    around = circumstances()
    results = measure(arguments.names or [GATE, *(name for name in CHOSEN if name in available())])
    if not arguments.names:
        page = f"# How true the bands are\n\n{around['date']}, `{COMMAND}`, builtin model. {_ABOUT}\n\n"
        (RESULTS / "bands.md").write_text(f"{page}{table(results)}\n", encoding="utf-8", newline="\n")
    finish({"sets": results, "circumstances": around}, table(results), arguments.json)


_ABOUT = (
    "Every second question: those that the borders were not chosen on. A hit is right if its chunk holds a"
    " line of the answer (in `recall_gate`, if it is of the right note). Shares count questions without an"
    " answer a ninth, so that nine of ten have one; in brackets how many hits questions with an answer had,"
    " and those without. The second table says what questions got: hits of which one at least is likely,"
    " weak lines only, or nothing; in brackets how often the answer was among the hits. A strict search, as"
    " for what is given unasked, gives nothing to those that get weak lines here."
)


if __name__ == "__main__":
    main()
