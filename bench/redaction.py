"""Measures redaction: which planted secrets it finds, what it takes for one that is none, and how fast it is.

The secrets are drawn anew from a seed and stand in settings that the rules were not developed with. The
clean lines are made up to look like secrets, or come from the pages of this project and from the modules of
Python's own library. Nothing of it is real, and nothing is kept. Run `python -m bench.redaction`, with
`--against ../other/src` to compare the speed with another version in the same run.
"""

from __future__ import annotations

import importlib
import json
import random
import statistics
import sys
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.text.redaction_clean import found, made_up
from tests.text.redaction_corpus import forms, planted, survives
from tests.text.redaction_unseen import unseen

from bench.common import finish, parser, seconds, verdict
from memlines.text.redaction import add_counts, redact

SEED = 20261116
EACH = 20
EACH_UNSEEN = 6
MADE_UP_LINES = 15_000
FOUND_LINES = 60_000
ROUNDS = 5

Figures = dict[str, Any]


def recall() -> list[Figures]:
    """Return for every form how many of its secrets are gone."""
    there: Counter[str] = Counter()
    gone: Counter[str] = Counter()
    for text in planted(SEED, held_out=True, each=EACH):
        there[text.form] += 1
        gone[text.form] += not survives(text, redact(text.text).text)
    return [
        {"form": form.name, "prefixed": form.prefixed, "planted": there[form.name], "hidden": gone[form.name]}
        for form in forms()
    ]


def recall_unseen() -> list[Figures]:
    """Return for every form that another author collected how many of its secrets are gone."""
    rows: dict[str, Figures] = {}
    for text in unseen(SEED, EACH_UNSEEN):
        new: Figures = {"form": text.form, "prefixed": text.prefixed, "planted": 0, "hidden": 0}
        row = rows.setdefault(text.form, new)
        row["planted"] += 1
        row["hidden"] += not survives(text, redact(text.text).text)
    return list(rows.values())


def second_copies() -> Figures:
    """Return how many secrets of one line that are hidden where they are told are hidden when said again."""
    there = gone = 0
    for text in planted(SEED, held_out=True, each=EACH):
        if "\n" not in text.secret and not survives(text, redact(text.text).text):
            there += 1
            again = redact(f"{text.text}\n\nThen I typed {text.secret} once more.").text
            gone += not survives(text, again)
    return {"planted": there, "hidden": gone}


def false_hits() -> list[Figures]:
    """Return how many secrets are found where there are none."""
    rows = []
    for name, texts in (("made up", made_up(SEED, MADE_UP_LINES)), ("found", list(found(FOUND_LINES)))):
        counts: dict[str, int] = {}
        for text in texts:
            counts = add_counts(counts, redact(text).counts)
        lines = sum(text.count("\n") + 1 for text in texts)
        rows.append({"lines": name, "count": lines, "hits": sum(counts.values()), "kinds": counts})
    return rows


def speed() -> list[Figures]:
    """Return how much a second is redacted of what was said, and of the files that hold it."""
    turns = _turns()
    records = [_record(turn) for turn in turns]
    files = ["\n".join(records[start : start + 50]) for start in range(0, len(records), 50)]
    return [
        _speed("turns", turns, target=5),
        _speed("lines of transcripts", records, target=5),
        _speed("whole transcripts", files),
    ]


def _turns() -> list[str]:
    """Return turns of 3 to 60 lines: text and code, every second one with a decoy, 3 in 100 with a secret."""
    randomly = random.Random(SEED)
    lines = [line for text in found(FOUND_LINES) for line in text.split("\n")]
    decoys = made_up(SEED + 1, 2000)
    secrets = [text.text for text in planted(SEED + 1, held_out=True, each=2)]
    turns = []
    while lines:
        size = randomly.randrange(3, 60)
        turn, lines = lines[:size], lines[size:]
        if randomly.random() < 0.5:
            turn.insert(randomly.randrange(len(turn) + 1), randomly.choice(decoys))
        if randomly.random() < 0.03:
            turn.insert(randomly.randrange(len(turn) + 1), randomly.choice(secrets))
        turns.append("\n".join(turn))
    return turns


def _record(turn: str) -> str:
    """Return a turn as a line of a transcript."""
    message = {"role": "user", "content": [{"type": "text", "text": turn}]}
    return json.dumps({"type": "message", "id": str(uuid.uuid4()), "message": message}, ensure_ascii=False)


def compared(source: Path) -> Figures:
    """Return how much a second this version and another one redact of the same turns, taking turns."""
    turns = _turns()
    size = sum(len(turn.encode()) for turn in turns) / 1e6
    versions = {"other": _other(source), "this": redact}
    taken: dict[str, list[float]] = {name: [] for name in versions}
    for _ in range(ROUNDS):
        for name, one in versions.items():
            taken[name].append(seconds(lambda one=one: [one(turn) for turn in turns]))  # type: ignore[misc]
    return {name: size / statistics.median(times) for name, times in taken.items()}


def _other(source: Path) -> Callable[[str], Any]:
    """Return `redact` of another source tree; what was imported before stays as it is."""
    kept = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "memlines"}
    for name in kept:
        del sys.modules[name]
    sys.path.insert(0, str(source))
    try:
        found: Callable[[str], Any] = importlib.import_module("memlines.text.redaction").redact
    finally:
        sys.path.remove(str(source))
        for name in [name for name in sys.modules if name.split(".")[0] == "memlines"]:
            del sys.modules[name]
        sys.modules.update(kept)
    return found


def _speed(name: str, texts: Sequence[str], target: float | None = None) -> Figures:
    size = sum(len(text.encode()) for text in texts) / 1e6
    taken = statistics.median([seconds(lambda: [redact(text) for text in texts]) for _ in range(ROUNDS)])
    rate = {"megabytes": size, "megabytes_a_second": size / taken}
    return {"texts": name, "count": len(texts), **rate, "target": target}


def _share(rows: Sequence[Figures]) -> float:
    share: float = sum(row["hidden"] for row in rows) / sum(row["planted"] for row in rows)
    return share


def table(
    found_shares: list[Figures],
    others: list[Figures],
    copies: Figures,
    hits: list[Figures],
    speeds: list[Figures],
) -> str:
    """Write the figures as Markdown."""
    prefixed = [row for row in found_shares if row["prefixed"]]
    lines = [
        f"Secrets, seed {SEED}, in settings not developed with:",
        "",
        "| secrets | forms | planted | hidden | share | target |",
        "|---|---|---|---|---|---|",
        _recall_row("with a prefix", prefixed, 0.99),
        _recall_row("all", found_shares, 0.95),
        _recall_row(
            "of another author, with a prefix, bare", [row for row in others if row["prefixed"]], 0.97
        ),
        _recall_row("of another author, all", others, 0.95),
        _recall_row("said a second time, bare", [copies], 0.95).replace("| 1 |", "| |", 1),
        "",
        "| clean lines | lines | false hits | in 10,000 | target |",
        "|---|---|---|---|---|",
    ]
    for row in hits:
        share = 10_000 * row["hits"] / row["count"]
        lines.append(
            f"| {row['lines']} | {row['count']:,} | {row['hits']} | {share:.2f} | ≤ 1: {verdict(share, 1)} |"
        )
    lines += ["", "| texts | count | MB | MB a second | target |", "|---|---|---|---|---|"]
    for row in speeds:
        rate = row["megabytes_a_second"]
        goal = f"≥ {row['target']}: {verdict(rate, row['target'], at_least=True)}" if row["target"] else ""
        lines.append(f"| {row['texts']} | {row['count']:,} | {row['megabytes']:.1f} | {rate:.1f} | {goal} |")
    lines += [
        "",
        "Turns are what is redacted; a whole transcript as one text meets most rules, and twice.",
    ]
    lines += ["", "By form, those with a prefix only where one was missed:", ""]
    lines += ["| form | planted | hidden |", "|---|---|---|"]
    for row in found_shares:
        if not row["prefixed"] or row["hidden"] < row["planted"]:
            lines.append(f"| {row['form']} | {row['planted']} | {row['hidden']} |")
    return "\n".join(lines)


def _recall_row(name: str, rows: Sequence[Figures], target: float) -> str:
    share, there = _share(rows), sum(row["planted"] for row in rows)
    hidden = sum(row["hidden"] for row in rows)
    goal = f"≥ {target:.0%}: {verdict(share, target, at_least=True)}"
    return f"| {name} | {len(rows)} | {there:,} | {hidden:,} | {share:.2%} | {goal} |"


def main() -> None:
    """Measure, print the tables, and write the figures if a file was named."""
    options = parser(__doc__)
    options.add_argument("--against", type=Path, metavar="SRC", help="the source tree of another version")
    arguments = options.parse_args()
    shares, others, copies, hits, speeds = recall(), recall_unseen(), second_copies(), false_hits(), speed()
    figures: Figures = {
        "recall": shares,
        "unseen": others,
        "copies": copies,
        "false_hits": hits,
        "speed": speeds,
    }
    shown = table(shares, others, copies, hits, speeds)
    if arguments.against:
        figures["compared"] = rates = compared(arguments.against)
        shown += (
            f"\n\nTurns in one run: {rates['this']:.1f} MB a second, the other version {rates['other']:.1f}."
        )
    finish(figures, shown, arguments.json)


if __name__ == "__main__":
    main()
