"""Measures when memory speaks up: for questions that the notes answer, and not for ordinary coding prompts.

Run `python -m bench.recall_gate` for the *dev* prompts, which thresholds may be chosen on, or with
`--set unseen` for those that are only reported on. Each prompt of `tests/index/recall_gate/` is the first
message of a session in the workspace beside them, once with the model loaded and once without, by words
alone.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.common import RESULTS, circumstances, default_settings, finish, parser, percentile
from memlines.memory.memory import Memory
from memlines.serve.rpc.engine import PROTOCOL, Engine

DATA = Path(__file__).resolve().parents[1] / "tests/index/recall_gate"
SETS = ("dev", "unseen")
COMMAND = "python -m bench.recall_gate"

Figures = dict[str, Any]


def prompts_of(name: str) -> list[dict[str, Any]]:
    """Return the prompts of a set."""
    text = (DATA / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines() if line.strip()]


@contextmanager
def engine_at(folder: Path, *, warm: bool) -> Iterator[Engine]:
    """Give an engine over a copy of the notes, with or without the model."""
    shutil.copytree(DATA / "notes", folder, dirs_exist_ok=True)
    with Memory(folder) as memory:
        memory.sync()
    engine = Engine(folder)
    methods = engine.methods()
    methods["initialize"].call({"protocol": PROTOCOL, "directory": str(folder)})
    engine.prepare()
    if warm:
        engine._memory().warm_up()
    try:
        yield engine
    finally:
        engine.close()


def measure(name: str, *, warm: bool) -> Figures:
    """Send every prompt of a set in a session of its own, with the default settings and none of yours."""
    with (
        default_settings(),
        tempfile.TemporaryDirectory() as folder,
        engine_at(Path(folder), warm=warm) as engine,
    ):
        rows = [_answered(engine, at, prompt, warm=warm) for at, prompt in enumerate(prompts_of(name))]
    wanted = [row for row in rows if row["speak"]]
    silent = [row for row in rows if not row["speak"]]
    return {
        "set": name,
        "model": "loaded" if warm else "not loaded",
        "questions": len(wanted),
        "spoke": sum(bool(row["context"]) for row in wanted),
        "right": sum(row["right"] for row in wanted),
        "prompts": len(silent),
        "false": sum(bool(row["context"]) for row in silent),
        "p50_ms": 1000 * percentile([row["seconds"] for row in rows], 0.5),
        "p95_ms": 1000 * percentile([row["seconds"] for row in rows], 0.95),
        "missed": [row["prompt"] for row in wanted if not row["right"]] if name == "dev" else [],
        "falsely": [row["prompt"] for row in silent if row["context"]] if name == "dev" else [],
    }


def _answered(engine: Engine, at: int, prompt: Mapping[str, Any], *, warm: bool) -> dict[str, Any]:
    if not warm:
        engine._warm_soon = lambda memory: None  # type: ignore[method-assign]
    begin = time.perf_counter()
    answer = engine.methods()["session/message"].call({"session": f"s{at}", "text": prompt["prompt"]})
    taken = time.perf_counter() - begin
    expected = prompt.get("expect", [])
    paths = [expected] if isinstance(expected, str) else expected
    right = any(f"{path}#L" in answer["context"] for path in paths)
    return {**prompt, "context": str(answer["context"]), "right": right, "seconds": taken}


def table(results: Sequence[Figures]) -> str:
    """Write the figures as Markdown."""
    lines = [
        "| set | model | questions: spoke | right note quoted | coding prompts: spoke | p50, ms | p95, ms |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row['set']} | {row['model']} | {row['spoke']} of {row['questions']} | {row['right']}"
        f" | {row['false']} of {row['prompts']} | {row['p50_ms']:.0f} | {row['p95_ms']:.0f} |"
        for row in results
    ]
    for row in results:
        for title, key in (("Questions without the right note", "missed"), ("Spoke for", "falsely")):
            if row[key]:
                lines += ["", f"{title} (model {row['model']}):", "", *(f"- {text}" for text in row[key])]
    return "\n".join(lines)


def main() -> None:
    """Measure both ways of answering, print the table, and keep it in `bench/results/`."""
    options = parser(__doc__)
    options.add_argument("--set", choices=SETS, action="append", help="which prompts [default: dev]")
    arguments = options.parse_args()
    around = circumstances()
    names = arguments.set or ["dev"]
    for name in names:
        if not (DATA / f"{name}.jsonl").exists():
            options.error(f"there are no prompts of the set {name!r} in tests/index/recall_gate")
    results = [measure(name, warm=warm) for name in names for warm in (True, False)]
    shown = table(results)
    which = "".join(f" --set {name}" for name in names)
    page = f"# When memory speaks up\n\n{around['date']}, `{COMMAND}{which}`.\n\n{shown}\n"
    (RESULTS / "recall-gate.md").write_text(page, encoding="utf-8", newline="\n")
    finish({"sets": results, "circumstances": around}, shown, arguments.json)


if __name__ == "__main__":
    main()
